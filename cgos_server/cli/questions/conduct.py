"""How declared commands of questions are performed: here, or on a server elsewhere; and waiting for the answer.

Must not know: single commands.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import click

from cgos_protocol.api.questions import AskedQuestion
from cgos_protocol.errors import Code, Invalid
from cgos_server.cli.commands.answers import show
from cgos_server.cli.commands.declared import Conduct
from cgos_server.cli.common import Setup
from cgos_server.cli.questions.elsewhere import Elsewhere
from cgos_server.cli.questions.sources import Place
from cgos_server.cli.questions.waiting import failing, wait_and_show
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.surfaces import CommandLine

SERVER: Final = (
    click.option(
        "--server",
        metavar="URL",
        help="Ask the server whose pages are at URL over its API, not the one of this machine's data directory.",
    ),
    click.option(
        "--token-file",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="File whose first line is a token of that API; without it the environment variable CGOS_TOKEN.",
    ),
)
"""Options of every command about questions."""

WAIT: Final = click.option(
    "--wait",
    is_flag=True,
    help="Wait until it has ended: exit code 0 where it is accepted or answered, 1 rejected, 3 not answered or "
    "stopped, 2 where it could not be asked.",
)


def place_of(setup: Setup, more: Mapping[str, Any]) -> Place:
    """Where a command asks. Raises Refused where the address or the file with the token cannot be used.

    :param more: what was given of the options `SERVER`
    """
    address: str | None = more["server"]
    if address is None:
        if more["token_file"] is not None:
            raise click.UsageError("--token-file is for a server elsewhere: give --server, too.")
        return Place(setup, None)
    return Place(setup, Elsewhere(address, _token(more["token_file"])))


class QuestionConduct(Conduct):
    """Of `cgos-server question`."""

    options: tuple[Callable[[Any], Any], ...] = SERVER

    def venue(self, setup: Setup, named: str | None, more: Mapping[str, Any]) -> str:
        elsewhere = place_of(setup, more).elsewhere
        return super().venue(setup, named, more) if elsewhere is None else elsewhere.venue(named)

    def perform(self, setup: Setup, command: Command[Any], line: CommandLine, more: Mapping[str, Any]) -> Any:
        elsewhere = place_of(setup, more).elsewhere
        return super().perform(setup, command, line, more) if elsewhere is None else elsewhere.perform(command)


class AskConduct(QuestionConduct):
    """Of `cgos-server ask`, which may wait."""

    options = (WAIT, *SERVER)

    def run(self, setup: Setup, line: CommandLine, made: Callable[[], Command[Any]], more: Mapping[str, Any]) -> None:
        with failing() if more["wait"] else nullcontext():
            command = made()
            if not more["wait"]:
                super().run(setup, line, lambda: command, more)
                return
            if getattr(command, "dry", False):
                raise click.UsageError("Nothing is asked with --dry, so that there is nothing to wait for.")
            answer: AskedQuestion = self.perform(setup, command, line, more)
        assert answer.question is not None
        show(command, answer, aside=True)
        wait_and_show(place_of(setup, more), answer.question, as_json=more["as_json"])


def _token(file: Path | None) -> str | None:
    """Of the file, or of the environment; never an argument, which others on the machine see. Raises Invalid."""
    if file is None:
        return os.environ.get("CGOS_TOKEN") or None
    try:
        first = file.read_text("utf-8").splitlines()[:1]
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(Code.PASSWORD_FILE, f"{file} cannot be read: its first line is to be a token.") from error
    if not first or not first[0].strip():
        raise Invalid(Code.NO_PASSWORD, f"There is no token in {file}: its first line is empty.")
    return first[0].strip()
