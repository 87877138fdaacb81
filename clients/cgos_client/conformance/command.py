"""``cgos-client conformance``: reads options and puts the parts together; decides nothing else."""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

import click
from rich.console import Console

from cgos_client.addresses import server_address
from cgos_client.conformance import report
from cgos_client.conformance.expectations import RunSettings
from cgos_client.conformance.language import BadTranscript, Case
from cgos_client.conformance.outcome import Outcome, Verdict
from cgos_client.conformance.runner import all_cases, chosen, play_all
from cgos_client.errors import CannotConnect
from cgos_client.playing.transport import connect
from cgos_client.settings import BadSetting
from cgos_protocol.names import bot_name_fault

_PREFIX_MAX = 10
_SECONDS = click.FloatRange(0, 3600, min_open=True)


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
@click.option(
    "--patience",
    type=_SECONDS,
    default=150.0,
    show_default=True,
    metavar="SECONDS",
    help="How long two bots wait for their game; old servers pair in rounds.",
)
@click.option(
    "--answer",
    type=_SECONDS,
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long the server may take for an answer.",
)
@click.option(
    "--quiet",
    type=_SECONDS,
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="How long nothing has to come where nothing is expected.",
)
@click.option(
    "--longest",
    type=_SECONDS,
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="The longest time control whose flag is waited for.",
)
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
def conformance(
    server: str | None,
    only: tuple[str, ...],
    listing: bool,
    transcripts: Path | None,
    prefix: str,
    patience: float,
    answer: float,
    quiet: float,
    longest: float,
    jobs: int,
    gentle: bool,
    seed: int | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Hold a server against the CGOS line protocol, one case after another.

    Every bot has a fresh name and a random password. The server needs open registration, and other bots on it
    do not matter: a game with a stranger is resigned.

    Exit status: 0 nothing differs, 1 something differs, 2 wrong usage, 3 the server cannot be reached.
    """
    cases = _cases(transcripts, only, gentle)
    if listing:
        report.print_list(cases)
        return
    if server is None:
        raise click.UsageError("give --server HOST:PORT, or --list.")
    host, port = _host_and_port(server, prefix)
    settings = RunSettings(
        host=host, port=port, prefix=prefix, patience=patience, answer=answer, quiet=quiet, longest=longest
    )
    rng = random.Random(seed) if seed is not None else random.SystemRandom()
    outcomes = _played(cases, settings, jobs, rng, as_json=as_json)
    click.echo(report.summary(outcomes), err=as_json)
    failures = {Verdict.DIFFERS, Verdict.QUIRK, Verdict.SKIPPED} if strict else {Verdict.DIFFERS}
    sys.exit(1 if any(outcome.verdict in failures for outcome in outcomes) else 0)


def _cases(transcripts: Path | None, only: tuple[str, ...], gentle: bool) -> list[Case]:
    """The cases to play. Raises UsageError where there is none."""
    try:
        everything = all_cases(transcripts)
    except BadTranscript as bad:
        raise click.UsageError(str(bad)) from None
    cases = [case for case in chosen(everything, only) if not (gentle and case.harsh)]
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


def _played(cases: list[Case], settings: RunSettings, jobs: int, rng: random.Random, *, as_json: bool) -> list[Outcome]:
    """Play the cases and show how they went. Exits with 3 where the server cannot be reached."""
    console = Console()
    pretty = console.is_terminal and not as_json
    server = f"{settings.host}:{settings.port}"
    status = console.status(f"{len(cases)} cases against {server} ...")
    played = 0

    def show(outcome: Outcome) -> None:
        nonlocal played
        played += 1
        if as_json:
            click.echo(report.as_json(outcome))
        elif not pretty:
            click.echo(report.as_line(outcome))
        status.update(f"{played} of {len(cases)} cases against {server}; last: {outcome.case.name}")

    async def play() -> list[Outcome]:
        await (await connect(settings.host, settings.port)).close()
        return await play_all(cases, settings, jobs=jobs, rng=rng, done=show)

    try:
        if not pretty:
            return asyncio.run(play())
        with status:
            outcomes = asyncio.run(play())
    except CannotConnect as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(3)
    report.print_table(outcomes, console)
    return outcomes
