"""`cgos-server`: the group of all commands, loaded when they are called, and what errors look like to the shell.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage or configuration, 74 the disk did not take it (EX_IOERR of
sysexits.h), 75 another node of the cluster has taken over, 130 interrupted with partial results; whoever waits
for a question is told by it how that ended (`cli.questions.waiting`), and `rate sprt` what it decided. Must not
know: what the commands do.
"""

from __future__ import annotations

import importlib
from typing import Any

import click

from cgos_protocol.errors import EXIT_DISK, EXIT_OVERTAKEN, CgosError, CommitFailed, ConfigError, Overtaken, StoreError
from cgos_server import __version__
from cgos_server.storage.writing.causes import Cause, cause_of

DECLARED = ""
"""In place of a module: the command is made of its declaration."""

COMMANDS = {
    "init": "server.setup:init",
    "check": "server.setup:check",
    "doctor": "doctor.command:doctor",
    "serve": "server.serve:serve",
    "demo": "server.demo:demo",
    "status": DECLARED,
    "drain": DECLARED,
    "reload": DECLARED,
    "upgrade": "server.upgrading:upgrade",
    "match": DECLARED,
    "abort": DECLARED,
    "correct": DECLARED,
    "pause": DECLARED,
    "resume": DECLARED,
    "kick": DECLARED,
    "standings": "ratings.standings:standings",
    "games": "games.games:games",
    "show": "games.games:show",
    "sgf": "games.games:sgf",
    "watch": "games.watch:watch",
    "wall": "games.watch:wall",
    "connect": "server.connecting:connect",
    "export": "games.export:export",
    "history": "ratings.standings:history",
    "pair": "ratings.figures:pair",
    "crosstable": "ratings.figures:crosstable",
    "odds": "ratings.odds:odds",
    "rounds": "ratings.figures:rounds",
    "rules": "ratings.figures:rules",
    "rate": "ratings.rate:rate",
    "pairing": "pairing.pairing:pairing",
    "ask": "questions.group:ask",
    "question": "questions.group:question",
    "event": "events.group:event",
    "tournament": "tournaments.group:tournament",
    "lab": "lab.group:lab",
    "bots": "bots.bots:bots",
    "bot": "bots.bots:bot",
    "approve": DECLARED,
    "token": "bots.bots:token",
    "account": "bots.accounts:account",
    "webhook": "bots.accounts:webhook",
    "audit": "server.audit:audit",
    "anchor": "ratings.anchors:anchor",
    "family": "bots.families:family",
    "version": "bots.versions:version",
    "db": "server.setup:db",
    "cluster": "server.cluster:cluster",
    "web": "server.web:web",
    "protocol": "server.protocol:protocol",
}
"""Command -> module of this package and object in it, in the order in which help lists them."""


class _Failure(click.ClickException):
    """Refused, or failed."""


class _DiskFailure(_Failure):
    """The disk is at fault."""

    exit_code = EXIT_DISK


class _NodeOvertaken(_Failure):
    """Another node of the cluster has taken over."""

    exit_code = EXIT_OVERTAKEN


class _Misuse(click.ClickException):
    """The configuration is at fault."""

    exit_code = 2


class Commands(click.Group):
    """Loads a command's module when the command is named."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        if COMMANDS[name] is DECLARED:
            made: click.Command = importlib.import_module("cgos_server.cli.commands.declared").command(name)
            return made
        module, attribute = COMMANDS[name].split(":")
        command: click.Command = getattr(importlib.import_module(f"cgos_server.cli.{module}"), attribute)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Overtaken as error:
            raise _NodeOvertaken(str(error)) from error
        except CommitFailed as error:
            raise _DiskFailure(str(error)) from error
        except StoreError as error:
            cause = cause_of(error) or (Cause.UNREACHABLE if "postgresql://" in str(error) else Cause.ACCESS)
            raise _failure(f"Sorry, {error}. {cause.value}", cause) from error
        except ConfigError as error:
            raise _Misuse(str(error)) from error
        except CgosError as error:
            raise _failure(str(error), cause_of(error)) from error
        except Exception as error:
            at_fault = cause_of(error)
            if at_fault is Cause.MEMORY:
                raise _failure(f"This command cannot go on. {at_fault.value}", at_fault) from error
            if isinstance(error, OSError) and error.filename is not None:
                remedy = (at_fault or Cause.ACCESS).value
                raise _failure(f"{error.filename} cannot be used: {error.strerror}. {remedy}", at_fault) from error
            if isinstance(error, OSError) and at_fault is not None and at_fault.of_disk:
                raise _DiskFailure(f"What this command says cannot be written: {error.strerror}.") from error
            raise  # no file is to blame: a closed pipe, which click knows, or a fault of ours


def _failure(sentence: str, cause: Cause | None) -> click.ClickException:
    return (_DiskFailure if cause is not None and cause.of_disk else _Failure)(sentence)


@click.command(cls=Commands)
@click.version_option(__version__, prog_name="cgos-server")
def main() -> None:
    """A rating server where game engines meet, play around the clock and find out how strong they are.

    `cgos-server serve` runs it, without any configuration; `cgos-server demo` shows it. Results go to standard output,
    everything else to standard error. Exit codes: 0 done, 1 refused or failed, 2 wrong usage or configuration,
    74 the disk did not take it, 75 another node of the cluster has taken over.
    """
