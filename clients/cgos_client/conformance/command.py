"""``cgos-client conformance``: reads options, puts the parts together, and shows what came out."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import click
import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cgos_client.addresses import server_address
from cgos_client.conformance.expectations import RunSettings
from cgos_client.conformance.language import BadTranscript, Case
from cgos_client.conformance.outcome import Outcome, Verdict
from cgos_client.conformance.runner import all_cases, chosen, play_all
from cgos_client.errors import CannotConnect
from cgos_client.playing.transport import connect
from cgos_client.settings import BadSetting
from cgos_protocol.names import bot_name_fault

_STYLES: Final = {
    Verdict.PASSED: "green",
    Verdict.DIFFERS: "bold red",
    Verdict.QUIRK: "yellow",
    Verdict.SKIPPED: "dim",
}
_DIALOGUE_LINES: Final = 12


def as_json(outcome: Outcome) -> str:
    """One outcome as one line of JSON; times in seconds."""
    step = outcome.step
    return json.dumps(
        {
            "case": outcome.case.name,
            "title": outcome.case.title,
            "topic": outcome.case.topic,
            "verdict": outcome.verdict.value,
            "why": outcome.why,
            "step": None if step is None else {"file": outcome.case.file, "line": step.line, "text": step.text},
            "expected": outcome.expected,
            "got": outcome.got,
            "peers": list(outcome.quirks),
            "seconds": round(outcome.seconds, 2),
            "dialogue": list(outcome.dialogue) if outcome.verdict is Verdict.DIFFERS else [],
        },
        separators=(",", ":"),
    )


def as_line(outcome: Outcome) -> str:
    """One outcome as one line for people without a terminal."""
    why = f"  {_how(outcome)}" if outcome.why else ""
    return f"{outcome.verdict.value:10}  {outcome.case.name:28}{why}".rstrip()


def print_table(outcomes: Sequence[Outcome], console: Console) -> None:
    """All outcomes as a table, and the dialogues of those that differ."""
    table = Table(box=SIMPLE_HEAD)
    for name in ("topic", "case", "verdict", "how"):
        table.add_column(name)
    for outcome in outcomes:
        verdict = Text(outcome.verdict.value, _STYLES[outcome.verdict])
        table.add_row(Text(outcome.case.topic), Text(outcome.case.name), verdict, Text(_how(outcome)))
    console.print(table)
    for outcome in outcomes:
        if outcome.verdict is Verdict.DIFFERS:
            console.print(Text(f"{outcome.case.name}: {outcome.case.title}", "bold"))
            for line in outcome.dialogue[-_DIALOGUE_LINES:]:
                console.print(Text(f"  {line}"))


def summarize(outcomes: Sequence[Outcome]) -> str:
    """``61 cases: 58 passed, 2 peer quirk, 1 skipped``."""
    count = Counter(outcome.verdict for outcome in outcomes)
    parts = [f"{count[verdict]} {verdict.value}" for verdict in Verdict if count[verdict]]
    return f"{len(outcomes)} cases: {', '.join(parts) or 'none'}"


def print_list(cases: Sequence[Case]) -> None:
    """What there is, one case a line."""
    for case in cases:
        click.echo(f"{case.topic:12}  {case.name:28}  {case.title}" + (" (harsh)" if case.harsh else ""))


def _how(outcome: Outcome) -> str:
    where = f"line {outcome.step.line}: " if outcome.step is not None and outcome.verdict is Verdict.DIFFERS else ""
    return "".join(letter if letter.isprintable() else "?" for letter in where + outcome.why)


_PREFIX_MAX = 10


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What was given on the command line, beside the :class:`RunSettings`."""

    server: str | None
    only: tuple[str, ...]
    listing: bool
    transcripts: Path | None
    jobs: int
    gentle: bool
    seed: int | None
    strict: bool
    as_json: bool


def _seconds(name: str, usual: float, sentence: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """An option that is a time."""
    kind = click.FloatRange(0, 3600, min_open=True)
    return click.option(name, type=kind, default=usual, show_default=True, metavar="SECONDS", help=sentence)


@click.command()
@click.option("--server", metavar="HOST:PORT", help="The server's CGOS port.")
@click.option("--only", multiple=True, metavar="NAME", help="Play these cases only; * and ? are allowed. Repeatable.")
@click.option("--list", "listing", is_flag=True, help="List the cases and play none.")
@click.option(
    "--transcripts",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Play the *.txt files of DIR in place of the kit's own.",
)
@click.option("--prefix", default="kit-", show_default=True, metavar="TEXT", help="How the bots' names begin.")
@_seconds("--patience", 150.0, "How long two bots wait for their game; old servers pair in rounds.")
@_seconds("--answer", 10.0, "How long the server may take for an answer.")
@_seconds("--quiet", 1.0, "How long nothing has to come where nothing is expected.")
@_seconds("--longest", 60.0, "The longest time control whose flag is waited for.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    metavar="N",
    help="Cases at once; those with games are played one after another.",
)
@click.option("--gentle", is_flag=True, help="Leave out what is known to harm some servers.")
@click.option("--seed", type=int, metavar="N", help="Make names and passwords repeatable.")
@click.option("--strict", is_flag=True, help="Quirks and skipped cases count as failures too.")
@click.option("--json", "as_json", is_flag=True, help="Print outcomes as JSON, one object a line.")
def conformance(**given: Any) -> None:
    """Hold a server against the CGOS line protocol, one case after another.

    Every bot has a fresh name and a random password. The server needs open registration, and other bots on it
    do not matter: a game with a stranger is resigned.

    Exit status: 0 nothing differs, 1 something differs, 2 wrong usage, 3 the server cannot be reached.
    """
    options = Options(**{name: given.pop(name) for name in Options.__struct_fields__})
    cases = _cases(options)
    if options.listing:
        print_list(cases)
        return
    if options.server is None:
        raise click.UsageError("give --server HOST:PORT, or --list.")
    host, port = _host_and_port(options.server, given["prefix"])
    outcomes = _played(cases, RunSettings(host=host, port=port, **given), options)
    click.echo(summarize(outcomes), err=options.as_json)
    failures = {Verdict.DIFFERS, Verdict.QUIRK, Verdict.SKIPPED} if options.strict else {Verdict.DIFFERS}
    sys.exit(1 if any(outcome.verdict in failures for outcome in outcomes) else 0)


def _cases(options: Options) -> list[Case]:
    """The cases to play. Raises UsageError where there is none."""
    only = options.only
    try:
        everything = all_cases(options.transcripts)
    except BadTranscript as bad:
        raise click.UsageError(str(bad)) from None
    cases = [case for case in chosen(everything, only) if not (options.gentle and case.harsh)]
    if not cases:
        raise click.UsageError(f"no case is called {', '.join(only)}; --list shows them." if only else "no cases.")
    return cases


def _host_and_port(server: str, prefix: str) -> tuple[str, int]:
    """Where the server is. Raises UsageError where no bot could sign in there under a name that begins so."""
    if len(prefix) > _PREFIX_MAX or bot_name_fault(prefix + "xxx") is not None:
        raise click.UsageError(
            f"--prefix {prefix!r} cannot begin a name: at most {_PREFIX_MAX} letters, digits, '_', '.' or '-', "
            "no digit first."
        )
    try:
        address = server_address(server)
    except BadSetting as bad:
        raise click.UsageError(str(bad)) from None
    if address.scheme != "tcp":
        raise click.UsageError(f"--server {server}: the cases are about bytes on TCP; give the server's CGOS port.")
    return address.host, address.port


def _played(cases: list[Case], settings: RunSettings, options: Options) -> list[Outcome]:
    """Play the cases and show how they went. Exits with 3 where the server cannot be reached."""
    rng = random.Random(options.seed) if options.seed is not None else random.SystemRandom()
    console = Console()
    pretty = console.is_terminal and not options.as_json
    server = f"{settings.host}:{settings.port}"
    status = console.status(f"{len(cases)} cases against {server} ...")
    played = 0

    def show(outcome: Outcome) -> None:
        nonlocal played
        played += 1
        if options.as_json:
            click.echo(as_json(outcome))
        elif not pretty:
            click.echo(as_line(outcome))
        status.update(f"{played} of {len(cases)} cases against {server}; last: {outcome.case.name}")

    async def play() -> list[Outcome]:
        await (await connect(settings.host, settings.port)).close()
        return await play_all(cases, settings, jobs=options.jobs, rng=rng, done=show)

    try:
        with status if pretty else nullcontext():
            outcomes = asyncio.run(play())
    except CannotConnect as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(3)
    if pretty:
        print_table(outcomes, console)
    return outcomes
