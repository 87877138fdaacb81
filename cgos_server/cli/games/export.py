"""`cgos-server export`: games, ratings, ledgers and game files, all of them, to a file.

The same lines and archives that the API streams, read from the database in constant memory. Must not know: the live
server, how lines and archives are written.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import click
import msgspec

from cgos_protocol.api.bulk import ExportedChange, ExportedGame, ExportedRank
from cgos_protocol.api.figures import LedgerEntry
from cgos_protocol.errors import Code, Invalid
from cgos_server.cli.common import Setup, WordOf, configured, json_option, one_venue
from cgos_server.cli.games.games import filters
from cgos_server.cli.output import print_json, say
from cgos_server.cli.progress import progress_bar
from cgos_server.cli.reading import headline, read
from cgos_server.core.rating.registry import systems
from cgos_server.presentation.export_forms import Csv, Form, Ndjson, Tar, stream
from cgos_server.presentation.exports import exported_games, game_files
from cgos_server.presentation.words import count
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History

_target = click.argument("target", metavar="FILE", type=click.Path(path_type=Path))
_after_option = click.option(
    "--after", type=click.IntRange(0), default=0, metavar="N", help="Only what is numbered above N: what is new."
)
_system_option = click.option(
    "--system",
    type=WordOf(lambda: systems().names),
    help="Under this rating system; without it under the venue's headline.",
)


class _Stream(NamedTuple):
    """What is to be written.

    :ivar chunks: what is read, in portions
    :ivar last: number of the last one that there is, to tell how far it is
    :ivar number: the number of one
    :ivar rows: makes rows of a portion
    """

    chunks: AsyncIterator[Sequence[Any]]
    form: Form[Any]
    last: int
    number: Callable[[Any], int]
    rows: Callable[[Any], Sequence[Any]] = list


@click.group()
def export() -> None:
    """All games, ratings, entries or game files to a file.

    FILE is written when it is whole; - is standard output. Names that end in .csv become tables, others lines of JSON;
    with .gz behind they are packed.
    """


@export.command("games")
@filters
@_target
@_after_option
@json_option
@configured
def export_games(setup: Setup, filters: GameFilter, target: Path, after: int, as_json: bool) -> None:
    """Ended games, oldest first, a line each."""
    ended = msgspec.structs.replace(filters, running=False)

    async def ask(history: History) -> _Stream:
        return _Stream(
            chunks=history.bulk.rated_games(ended, after),
            form=_form(target, ExportedGame),
            last=await _last_game(history, ended, after),
            number=lambda row: row.game.id,
            rows=functools.partial(exported_games, headline=functools.partial(headline, setup)),
        )

    _export(setup, target, ask, as_json=as_json)


@export.command("sgf")
@filters
@_target
@_after_option
@json_option
@configured
def export_sgf(setup: Setup, filters: GameFilter, target: Path, after: int, as_json: bool) -> None:
    """Ended games as SGF files in an archive (tar).

    A folder a venue, a file a game.
    """
    ended = msgspec.structs.replace(filters, running=False)

    async def ask(history: History) -> _Stream:
        return _Stream(
            chunks=history.bulk.details(ended, after),
            form=Tar(),
            last=await _last_game(history, ended, after),
            number=lambda row: row.game.id,
            rows=functools.partial(game_files, place=setup.config.server.name),
        )

    _export(setup, target, ask, as_json=as_json)


@export.command("ratings")
@click.argument("venue")
@_target
@_system_option
@_after_option
@json_option
@configured
def export_ratings(setup: Setup, venue: str, target: Path, system: str | None, after: int, as_json: bool) -> None:
    """Every change of every rating of VENUE by an entry.

    In the ledger's order, with all digits.
    """
    where = one_venue(setup, venue)

    async def ask(history: History) -> _Stream:
        chosen = system or headline(setup, where, await history.ratings.rated_counts(where))
        return await _by_entries(
            history, where, history.bulk.changes(where, chosen, after), _form(target, ExportedChange)
        )

    _export(setup, target, ask, as_json=as_json)


@export.command("refits")
@click.argument("venue")
@_target
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

    async def ask(history: History) -> _Stream:
        chosen = system or headline(setup, where, await history.ratings.rated_counts(where))
        return _Stream(
            chunks=history.bulk.refits(where, chosen, after),
            form=Ndjson(),
            last=await history.refits.last(where, chosen),
            number=lambda row: row.number,
        )

    _export(setup, target, ask, as_json=as_json)


@export.command("ranks")
@click.argument("venue")
@_target
@_system_option
@_after_option
@json_option
@configured
def export_ranks(setup: Setup, venue: str, target: Path, system: str | None, after: int, as_json: bool) -> None:
    """What refits of a rating system of VENUE said of ranks.

    In the order of the refits' numbers, which --after means.
    """
    where = one_venue(setup, venue)

    async def ask(history: History) -> _Stream:
        chosen = system or headline(setup, where, await history.ratings.rated_counts(where))
        return _Stream(
            chunks=history.bulk.ranks(where, chosen, after),
            form=_form(target, ExportedRank),
            last=await history.refits.last(where, chosen),
            number=lambda row: row.number,
        )

    _export(setup, target, ask, as_json=as_json)


@export.command("ledger")
@click.argument("venue")
@_target
@_after_option
@json_option
@configured
def export_ledger(setup: Setup, venue: str, target: Path, after: int, as_json: bool) -> None:
    """Every numbered entry of VENUE, in order.

    All that ratings follow from: with it anybody can compute them again.
    """
    where = one_venue(setup, venue)

    async def ask(history: History) -> _Stream:
        return await _by_entries(history, where, history.bulk.ledger(where, after), _form(target, LedgerEntry))

    _export(setup, target, ask, as_json=as_json)


async def _last_game(history: History, ended: GameFilter, after: int) -> int:
    newest = await history.games.find(ended, 1)
    return newest[0].id if newest else after


async def _by_entries(history: History, venue: str, chunks: AsyncIterator[Sequence[Any]], form: Form[Any]) -> _Stream:
    """What has the numbers of a venue's entries."""
    last = await history.ledger.last_entry(venue)
    return _Stream(chunks=chunks, form=form, last=last, number=lambda row: row.seq)


def _export(setup: Setup, target: Path, ask: Callable[[History], Awaitable[_Stream]], *, as_json: bool) -> None:
    """Write the stream, and say how many rows, and the number of the last one."""
    if as_json and str(target) == "-":
        raise click.UsageError("--json goes with a file.")
    rows = last = 0

    async def write(history: History) -> None:
        wanted = await ask(history)

        async def counted() -> AsyncIterator[Sequence[Any]]:
            nonlocal rows, last
            async for chunk in wanted.chunks:
                rows += len(chunk)
                last = wanted.number(chunk[-1])
                progress(last, max(wanted.last, last))
                yield chunk

        with _whole(target) as file, progress_bar(str(target)) as progress:
            async for portion in stream(counted(), wanted.rows, wanted.form):
                file.write(portion)

    read(setup, write)
    if as_json:
        print_json({"file": str(target), "rows": rows, "last": last})
    else:
        say(f"{count(rows, 'row')} to {target}; the last one is number {last}.")


@contextlib.contextmanager
def _whole(target: Path) -> Iterator[IO[bytes]]:
    """A file that takes its name when it is whole; - is standard output. Raises Refused."""
    if str(target) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        try:
            with part.open("wb") as raw:
                if target.suffix == ".gz":
                    with gzip.GzipFile("", "wb", 6, raw, 0) as packed:
                        yield cast("IO[bytes]", packed)
                else:
                    yield raw
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise Invalid(Code.CANNOT_WRITE, f"{target} cannot be written: {error.strerror}.") from error


def _form(target: Path, kind: type[msgspec.Struct]) -> Form[Any]:
    return Csv(kind) if _is_table(target) else Ndjson()


def _is_table(target: Path) -> bool:
    return ".csv" in (target.suffix, Path(target.stem).suffix)
