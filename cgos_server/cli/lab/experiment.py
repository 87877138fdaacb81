"""What all experiments have in common at the command line: seed, processes, progress, tables, JSON, a picture.

Must not know: any experiment.
"""

from __future__ import annotations

import functools
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec

import click
import msgspec
from click.core import ParameterSource

from cgos_server import __version__
from cgos_server.cli.common import json_option, plot_option
from cgos_server.cli.output import apart, print_json, print_table, say
from cgos_server.cli.progress import progress_bar
from cgos_server.lab.drawing import draw, require_drawable
from cgos_server.lab.report import Report, Table, table_of_checks, written
from cgos_server.lab.running import Work

P = ParamSpec("P")

INTERRUPTED: Final = 130
"""Exit code after Ctrl-C, as shells have it."""

_SEED_MOST: Final = 2**63 - 1
_OF_THE_RUN: Final = ("jobs", "as_json", "plot", "cache")
"""Options that change no figure."""

_jobs = click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    default=1,
    show_default=True,
    help="How many processes compute; the figures are the same for any number.",
)


def experiment(what: str, seed: int = 0) -> Callable[[Callable[Concatenate[Work, P], Report]], Callable[..., None]]:
    """Make a command of a function from how it is carried out, and its own options, to a report.

    It prints the tables and what was checked, or JSON with --json: the fields of the report, `command` (the words that
    give the same figures again) and `version`. It exits with 1 where a check does not hold, and with 130 after Ctrl-C.

    :param what: is counted while it runs, for the bar
    :param seed: with which it is carried out where no other one is given
    """
    seed_option = click.option(
        "--seed",
        type=click.IntRange(0, _SEED_MOST),
        default=seed,
        show_default=True,
        help="Of everything drawn by lot.",
    )

    def decorate(command: Callable[Concatenate[Work, P], Report]) -> Callable[..., None]:
        @seed_option
        @_jobs
        @json_option
        @plot_option
        @functools.wraps(command)
        def run(*args: Any, seed: int, jobs: int, as_json: bool, plot: Path | None, **kwargs: Any) -> None:
            if plot is not None:
                require_drawable(plot)
            with progress_bar(what) as progress:
                report = command(Work(seed, jobs, progress), *args, **kwargs)
            if as_json:
                print_json({"command": _words(), "version": __version__, **msgspec.structs.asdict(report)})
            else:
                _print(report)
            if plot is not None and (report.pictures or not report.interrupted):
                draw(report, plot)
            if report.interrupted:
                say("Interrupted: this is what was done until then.")
                sys.exit(INTERRUPTED)
            if not report.holds:
                sys.exit(1)

        return run

    return decorate


def _words() -> str:
    """The command line that gives the same figures."""
    context = click.get_current_context()
    words = [context.command_path]
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in _OF_THE_RUN or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        for each in value if isinstance(value, tuple) else (value,):
            flag = parameter.opts[-1]
            words += [flag] if each is True else [flag, shlex.quote(str(each))]
    return " ".join(words)


def _print(report: Report) -> None:
    tables = [*report.tables, *([table_of_checks(report.checks)] if report.checks else [])]
    for table in apart([each for each in tables if each.rows]):
        print_table([column.name for column in table.columns], _cells(table), table.title)
    if report.notes:
        click.echo()
    for note in report.notes:
        click.echo(note)


def _cells(table: Table) -> list[list[str]]:
    return [[written(cell, column) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]
