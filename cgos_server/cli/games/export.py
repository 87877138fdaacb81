"""`cgos-server export`: games, ratings, ledgers and game files, all of them, to a file.

The same lines and archives that the API streams, read from the database in constant memory. Must not know: the live
server, how lines and archives are written.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from cgos_protocol.api.bulk import ExportedChange, ExportedGame, ExportedRank
from cgos_protocol.api.figures import LedgerEntry
from cgos_server.cli.common import Setup, WordOf, configured, json_option, one_venue
from cgos_server.cli.games.games import filters
from cgos_server.cli.games.writing import Stream, incarnation_option, target_argument, write_stream
from cgos_server.cli.reading import headline
from cgos_server.core.rating.registry import systems
from cgos_server.presentation.export_forms import Csv, Form, Ndjson, Tar
from cgos_server.presentation.exports import exported_games, game_files
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History

C = TypeVar("C", bound=Callable[..., Any])


def _after_option(command: C) -> C:
    """Give a command where it goes on: the last number of an earlier export, and what was said with it."""
    command = incarnation_option(command)
    return click.option(
        "--after", type=click.IntRange(0), default=0, metavar="N", help="Only what is numbered above N: what is new."
    )(command)


_system_option = click.option(
    "--system",
    type=WordOf(lambda: systems().names),
    help="Under this rating system; without it under the venue's headline.",
)


@click.group()
def export() -> None:
    """All games, ratings, entries or game files to a file.

    FILE is written when it is whole; - is standard output. Names that end in .csv become tables, others lines of JSON;
    with .gz behind they are packed.
    """


@export.command("games")
@filters
@target_argument
@_after_option
@json_option
@configured
def export_games(setup: Setup, filters: GameFilter, target: Path, after: int, as_json: bool) -> None:
    """Ended games, oldest first, a line each."""
    ended = msgspec.structs.replace(filters, running=False)

    async def ask(history: History) -> Stream:
        return Stream(
            chunks=history.bulk.rated_games(ended, after),
            form=_form(target, ExportedGame),
            last=await _last_game(history, ended, after),
            number=lambda row: row.game.id,
            rows=functools.partial(exported_games, headline=functools.partial(headline, setup)),
        )

    write_stream(setup, target, ask, as_json=as_json)


@export.command("sgf")
@filters
@target_argument
@_after_option
@json_option
@configured
def export_sgf(setup: Setup, filters: GameFilter, target: Path, after: int, as_json: bool) -> None:
    """Ended games as SGF files in an archive (tar).

    A folder a venue, a file a game.
    """
    ended = msgspec.structs.replace(filters, running=False)

    async def ask(history: History) -> Stream:
        return Stream(
            chunks=history.bulk.details(ended, after),
            form=Tar(),
            last=await _last_game(history, ended, after),
            number=lambda row: row.game.id,
            rows=functools.partial(game_files, place=setup.config.server.name),
        )

    write_stream(setup, target, ask, as_json=as_json)


@export.command("ratings")
@click.argument("venue")
@target_argument
@_system_option
@_after_option
@json_option
@configured
def export_ratings(setup: Setup, venue: str, target: Path, system: str | None, after: int, as_json: bool) -> None:
    """Every change of every rating of VENUE by an entry.

    In the ledger's order, with all digits.
    """
    where = one_venue(setup, venue)

    async def ask(history: History) -> Stream:
        chosen = system or headline(setup, where, await history.ratings.rated_counts(where))
        return await _by_entries(
            history, where, history.bulk.changes(where, chosen, after), _form(target, ExportedChange)
        )

    write_stream(setup, target, ask, as_json=as_json)


@export.command("refits")
@click.argument("venue")
@target_argument
@_system_option
@_after_option
@json_option
@configured
def export_refits(setup: Setup, venue: str, target: Path, system: str | None, after: int, as_json: bool) -> None:
    """Every refit of a rating system of VENUE with what it moved.

    Lines of JSON, in the order of their numbers, which --after means.
    """
    where = one_venue(setup, venue)
    if _is_table(target):
        raise click.UsageError("Refits are no table. Name a FILE that does not end in .csv.")

    async def ask(history: History) -> Stream:
        chosen = system or headline(setup, where, await history.ratings.rated_counts(where))
        return Stream(
            chunks=history.bulk.refits(where, chosen, after),
            form=Ndjson(),
            last=await history.refits.last(where, chosen),
            number=lambda row: row.number,
        )

    write_stream(setup, target, ask, as_json=as_json)


@export.command("ranks")
@click.argument("venue")
@target_argument
@_system_option
@_after_option
@json_option
@configured
def export_ranks(setup: Setup, venue: str, target: Path, system: str | None, after: int, as_json: bool) -> None:
    """What refits of a rating system of VENUE said of ranks.

    In the order of the refits' numbers, which --after means.
    """
    where = one_venue(setup, venue)

    async def ask(history: History) -> Stream:
        chosen = system or headline(setup, where, await history.ratings.rated_counts(where))
        return Stream(
            chunks=history.bulk.ranks(where, chosen, after),
            form=_form(target, ExportedRank),
            last=await history.refits.last(where, chosen),
            number=lambda row: row.number,
        )

    write_stream(setup, target, ask, as_json=as_json)


@export.command("ledger")
@click.argument("venue")
@target_argument
@_after_option
@json_option
@configured
def export_ledger(setup: Setup, venue: str, target: Path, after: int, as_json: bool) -> None:
    """Every numbered entry of VENUE, in order.

    All that ratings follow from: with it anybody can compute them again.
    """
    where = one_venue(setup, venue)

    async def ask(history: History) -> Stream:
        return await _by_entries(history, where, history.bulk.ledger(where, after), _form(target, LedgerEntry))

    write_stream(setup, target, ask, as_json=as_json)


async def _last_game(history: History, ended: GameFilter, after: int) -> int:
    newest = await history.games.find(ended, 1)
    return newest[0].id if newest else after


async def _by_entries(history: History, venue: str, chunks: AsyncIterator[Sequence[Any]], form: Form[Any]) -> Stream:
    """What has the numbers of a venue's entries."""
    last = await history.ledger.last_entry(venue)
    return Stream(chunks=chunks, form=form, last=last, number=lambda row: row.seq)


def _form(target: Path, kind: type[msgspec.Struct]) -> Form[Any]:
    return Csv(kind) if _is_table(target) else Ndjson()


def _is_table(target: Path) -> bool:
    return ".csv" in (target.suffix, Path(target.stem).suffix)
