"""The commands that people type: ``cgos-client run``, ``bot``, ``init``, ``check`` and ``conformance``.

Reads options and puts the parts together; decides nothing else. Those that play are in :mod:`cgos_client.cli.playing`.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console

from cgos_client.bridge.gtp_engine import GtpEngine
from cgos_client.check import running as check
from cgos_client.check.cases import CASES
from cgos_client.cli import report
from cgos_client.cli.playing import EngineCommand, bot, init_file, run
from cgos_client.conformance.command import conformance
from cgos_client.version import __version__

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.group()
@click.version_option(__version__, prog_name="cgos-client")
def main() -> None:
    """Connects game engines to a rating server, over the CGOS line protocol or WebSocket."""


for _command in (run, bot, init_file, conformance):
    main.add_command(_command)


def _seconds(name: str, usual: float, sentence: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """An option that is a time."""
    return click.option(name, type=click.FloatRange(0, min_open=True), default=usual, show_default=True, help=sentence)


@main.command("check", cls=EngineCommand)
@click.option("--size", type=click.Choice(["9", "13", "19"]), default="9", show_default=True, help="The board.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one JSON array.")
@_seconds("--seconds", 30.0, "How long the engine may take for any answer.")
@_seconds("--load-seconds", 120.0, "How long it may take to start.")
@click.option("--log", "log_file", type=_FILE, metavar="FILE", help="Write all that is said to and by the engine.")
@click.argument("engine", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- ENGINE...")
def check_engine(
    engine: tuple[str, ...], size: str, as_json: bool, seconds: float, load_seconds: float, log_file: Path | None
) -> None:
    """Find out what goes wrong with a GTP engine.

    Puts it through what happens on a server, and says what would have gone wrong there and what to do about it. Takes
    seconds with a fast engine, some minutes with a slow one. Exit status 1 where something failed.

    Example: cgos-client check --size 9 -- gnugo --mode gtp --chinese-rules
    """
    report.set_up_logs(logging.CRITICAL, log_file)
    broken: set[str] = set()
    with Console(stderr=True).status("start") as status:
        findings = asyncio.run(
            check.run_cases(CASES, lambda: GtpEngine(engine, seconds, broken, load_seconds), int(size), status.update)
        )
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    for line in [check.as_json(findings)] if as_json else check.lines(findings, columns):
        click.echo(line)
    sys.exit(check.exit_status(findings))
