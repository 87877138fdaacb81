"""What commands share: options for the configuration, values with names, and passwords.

Must not know: any single command.
"""

from __future__ import annotations

import functools
import getpass
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import click

from cgos_protocol.errors import Code, ConfigError, Invalid
from cgos_server.config.loader import load
from cgos_server.config.schema import Config
from cgos_server.config.values import scalar
from cgos_server.storage.location import Location

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Setup(NamedTuple):
    """The configuration that a command works under.

    :ivar origin: where it comes from, for messages
    """

    config: Config
    origin: str

    @property
    def database(self) -> Location:
        return self.config.server.location


def load_setup(config_path: Path | None, data: Path | None, more: Mapping[str, Any] | None = None) -> Setup:
    """The configuration by file, environment and options; `more` are further dotted keys from the command line."""
    overrides = {"server.data": data, **(more or {})}
    return Setup(load(config_path, os.environ, overrides), str(config_path or "the built-in configuration"))


config_option = click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path),
    envvar="CGOS_CONFIG",
    metavar="FILE",
    help="Configuration (TOML); without it the environment variable CGOS_CONFIG, else the built-in one.",
)
data_option = click.option(
    "--data", type=click.Path(path_type=Path), metavar="DIR", help="Data directory, instead of the configured one."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
plot_option = click.option(
    "--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the figures into FILE (.svg or .png) too."
)
game_number = click.IntRange(1, 2**63 - 1)
game_number.name = "number"
"""A game's number as the database can hold it."""


def named_value(text: str) -> tuple[str, bool | int | float | str]:
    """``avoid_last=false`` as a pair; true, false and numbers are such. Raises BadParameter."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--option")
    return name, scalar(value)


class WordOf(click.Choice[str]):
    """One of the words of a registry, which is asked for them when the command is used: plug-ins bring some.

    :param words: what there is to choose from
    """

    def __init__(self, words: Callable[[], Sequence[str]]) -> None:
        self._words = words
        self.case_sensitive = True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self._words())


venue_option = click.option("--venue", metavar="VENUE", help="Only this venue.")


def configured(command: Callable[Concatenate[Setup, P], T]) -> Callable[..., T]:
    """Give a command ``--config`` and ``--data``, and the configuration as its first argument."""

    @config_option
    @data_option
    @functools.wraps(command)
    def run(*args: Any, config_path: Path | None, data: Path | None, **kwargs: Any) -> T:
        return command(load_setup(config_path, data), *args, **kwargs)

    return run


def gathered(record: Callable[..., R]) -> Callable[[Callable[Concatenate[R, ...], T]], Callable[..., T]]:
    """Give a command those of its options that a record has as fields as one argument, its first: that record."""
    fields = inspect.signature(record).parameters

    def decorate(command: Callable[Concatenate[R, ...], T]) -> Callable[..., T]:
        @functools.wraps(command)
        def run(*args: Any, **kwargs: Any) -> T:
            own = {name: kwargs.pop(name) for name in fields}
            return command(record(**own), *args, **kwargs)

        return run

    return decorate


def one_venue(setup: Setup, venue: str | None) -> str:
    """`venue`, or the only one that is configured. Raises ConfigError."""
    names = [each.name for each in setup.config.venue]
    if venue is not None and venue in names:
        return venue
    if venue is None and len(names) == 1:
        return names[0]
    problem = "there are several venues" if venue is None else f"there is no venue {venue} in {setup.origin}"
    raise ConfigError("--venue", problem, f"Choose one of: {', '.join(names)}.")


def caller() -> str:
    """Who gives the command, for the audit."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        user = f"user {os.getuid()}"
    return f"{user} (command)"


password_option = click.option(
    "--password-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File whose first line is the password. Without it a terminal is asked, else standard input is read.",
)


def password(whose: str, file: Path | None, rule: str) -> str:
    """The password from a file, a hidden prompt or standard input; never an argument. Raises Refused.

    :param rule: what it consists of
    """
    source = file or "standard input"
    try:
        if file is not None:
            lines = file.read_text("utf-8").splitlines()
        elif sys.stdin.isatty():
            question = f"New password of {whose} ({rule})"
            lines = [click.prompt(question, hide_input=True, confirmation_prompt=True, err=True)]
        else:
            lines = sys.stdin.readline().splitlines()
    except OSError as error:
        raise Invalid(Code.PASSWORD_FILE, f"{source} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise Invalid(Code.PASSWORD_FILE, f"{source} is not text. Its first line is to be the password.") from error
    if not lines or not lines[0]:
        raise Invalid(Code.NO_PASSWORD, f"There is no password in {source}: its first line is empty.")
    return lines[0]
