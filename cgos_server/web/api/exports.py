"""Bulk exports of the API: games, their files, ratings and ledgers, as streams in constant memory.

The reader sets the pace: a portion is read from the database when the one before it has been taken, and nothing is
asked any more once the reader is gone. Running games are left out, so that no export tells a move too early. Must not
know: SQL, how lines and archives are written.
"""

from __future__ import annotations

import asyncio
import functools
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

import msgspec
import structlog
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from cgos_protocol.api import route as api_route
from cgos_protocol.api.bulk import ExportedChange, ExportedGame
from cgos_protocol.api.figures import LedgerEntry
from cgos_protocol.errors import OurFault
from cgos_protocol.sgf import writing as sgf
from cgos_server.storage.answers import GameDetail
from cgos_server.storage.game_answers import GamesAsked
from cgos_server.web.api.asked import exported_games, system_among, systems_of
from cgos_server.web.api.bulk_forms import Csv, File, Form, Ndjson, Tar, stream
from cgos_server.web.api.framework import Asked, Handler
from cgos_server.web.api.reading_games import games_asked
from cgos_server.web.leaving import while_there
from cgos_server.web.pages.asked import Systems
from cgos_server.web.site import Site
from cgos_server.web.stored_game import StoredGame

log = structlog.get_logger(__name__)

STALLED_S: Final = 120.0
"""A reader who takes nothing for so long is gone."""

NEXT_AFTER: Final = "Next-After"
"""The header that says what to give as `after` the next time, to get what is new."""

Chunks = AsyncIterator[Sequence[Any]]


class Exports:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def games(self, asked: Asked) -> Bulk:
        """Ended games, oldest first."""
        chunks = self._site.history.bulk.rated_games(await self._found(asked), asked.count("after"))
        rows = functools.partial(exported_games, headline=Systems(self._site).headline)
        return self._lines(
            asked, chunks, kind=ExportedGame, name="games", next_after=await self._next_after(), rows=rows
        )

    async def files(self, asked: Asked) -> Bulk:
        """The same games as files in an archive, a folder a venue."""
        chunks = self._site.history.bulk.details(await self._found(asked), asked.count("after"))
        files = functools.partial(game_files, place=self._site.settings.server_name)
        return self._bulk(asked, chunks, rows=files, form=Tar(), name="games.tar", after=await self._next_after())

    async def ratings(self, asked: Asked) -> Bulk:
        """Every change of every rating in a venue under a system, by the ledger's entries, in order."""
        venue = asked.word("venue")
        last = await self._site.history.ledger.last_entry(venue)
        system = system_among(asked.text("system"), await systems_of(self._site, venue), venue)
        chunks = self._site.history.bulk.changes(venue, system, asked.count("after"))
        return self._lines(asked, chunks, kind=ExportedChange, name=f"{venue}-ratings", next_after=last)

    async def refits(self, asked: Asked) -> Bulk:
        """Every refit of a system in a venue, by its number, with what it moved."""
        venue = asked.word("venue")
        system = system_among(asked.text("system"), await systems_of(self._site, venue), venue)
        latest = await self._site.history.refits.recorded(venue, system, limit=1)
        chunks = self._site.history.bulk.refits(venue, system, asked.count("after"))
        name, last = f"{venue}-refits.ndjson", latest[-1].number if latest else 0
        return self._bulk(asked, chunks, rows=list, form=Ndjson(), name=name, after=last)

    async def ledger(self, asked: Asked) -> Bulk:
        """A venue's numbered entries, in order."""
        venue = asked.word("venue")
        last = await self._site.history.ledger.last_entry(venue)
        chunks = self._site.history.bulk.ledger(venue, asked.count("after"))
        return self._lines(asked, chunks, kind=LedgerEntry, name=f"{venue}-ledger", next_after=last)

    def _lines(
        self,
        asked: Asked,
        chunks: Chunks,
        kind: type[msgspec.Struct],
        name: str,
        next_after: int,
        rows: Callable[[Any], Sequence[Any]] = list,
    ) -> Bulk:
        as_table = asked.operation.media == (api_route.CSV,)
        form = Csv(kind) if as_table else Ndjson()
        return self._bulk(
            asked,
            chunks,
            rows=rows,
            form=form,
            name=f"{name}.{'csv' if as_table else 'ndjson'}",
            after=next_after,
        )

    def _bulk(
        self, asked: Asked, chunks: Chunks, rows: Callable[[Any], Sequence[Any]], form: Form[Any], name: str, after: int
    ) -> Bulk:
        (media,) = asked.operation.media
        headers = {
            "Cache-Control": "no-store",
            "Content-Disposition": f'attachment; filename="{re.sub(r"[^A-Za-z0-9_.-]", "_", name)}"',
            "X-Accel-Buffering": "no",
            NEXT_AFTER: str(after),
        }
        return Bulk(stream(chunks, rows, form), headers, media)

    async def _found(self, asked: Asked) -> GamesAsked:
        """What is asked for, of which every name is known: once the answer has begun it is too late to refuse."""
        wanted = games_asked(asked, running=False)
        await self._site.history.games.search(wanted, 1)
        return wanted

    async def _next_after(self) -> int:
        """The largest number up to which every game has ended."""
        running = await self._site.history.games.running()
        if running:
            return min(game.id for game in running) - 1
        newest = await self._site.history.games.find(GamesAsked(), 1)
        return newest[0].id if newest else 0


class Bulk(StreamingResponse):
    """A stream that ends with its reader: its source is closed whatever happens."""

    def __init__(self, body: AsyncGenerator[bytes, None], headers: Mapping[str, str], media: str) -> None:
        super().__init__(body, 200, headers, media)
        self._source = body

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        async def in_time(message: Message) -> None:
            async with asyncio.timeout(STALLED_S):
                await send(message)

        async with aclosing(self._source):
            try:
                await while_there(receive, self.stream_response(in_time))
            except ExceptionGroup as failures:
                raise failures.exceptions[0] from None


def game_files(details: Sequence[GameDetail], place: str) -> list[File]:
    """Games as files. One that cannot be read is left out and logged: the others are wanted all the same.

    :param place: the server's name
    """
    found = []
    for detail in details:
        row = detail.game
        try:
            text = sgf.write(StoredGame(detail).record(place))
        except (OurFault, ValueError) as error:
            log.warning("a game is missing in an export", game=row.id, why=str(error))
            continue
        found.append(File(row.venue, f"{row.id}.sgf", row.started_at // 1000, text.encode()))
    return found


def handlers(site: Site) -> dict[str, Handler]:
    """Operation id -> its handler."""
    exports = Exports(site)
    return {
        "export_games_ndjson": exports.games,
        "export_games_csv": exports.games,
        "export_games_tar": exports.files,
        "export_ratings_ndjson": exports.ratings,
        "export_ratings_csv": exports.ratings,
        "export_refits_ndjson": exports.refits,
        "export_ledger_ndjson": exports.ledger,
        "export_ledger_csv": exports.ledger,
    }
