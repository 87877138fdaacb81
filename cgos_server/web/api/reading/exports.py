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
from types import MappingProxyType
from typing import Annotated, Any, Final

from msgspec import Struct
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from cgos_protocol.api import route as api_route
from cgos_protocol.api.bulk import ExportedChange, ExportedGame, ExportedRank, ExportedRefit
from cgos_protocol.api.figures import LedgerEntry
from cgos_protocol.api.route import Operation
from cgos_protocol.errors import Code, Invalid
from cgos_server.presentation.export_forms import Csv, File, Form, Joined, Ndjson, Tar, Zip, stream
from cgos_server.presentation.exports import exported_games, game_files
from cgos_server.presentation.personal import personal_json, personal_zip
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.stored import Person
from cgos_server.web.api.reading.games import games_asked
from cgos_server.web.api.reading.parameters import Cursor, EventName, GameFilters, System, VenueName
from cgos_server.web.api.reading.rated import system_meant
from cgos_server.web.api.typed import Group, HandlerT
from cgos_server.web.around.disconnect import while_there
from cgos_server.web.pages.requests import Systems
from cgos_server.web.site import Site

STALLED_S: Final = 120.0
"""A reader who takes nothing for so long is gone."""

NEXT_AFTER: Final = "Next-After"
"""The header that says what to give as `after` the next time, to get what is new."""

INCARNATION: Final = "Incarnation"
"""The header that says what to give as `incarnation` with it."""

_CONSTANT: Final = "A stream of any length, packed where `Accept-Encoding` names gzip. "
_NEXT_TIME: Final = (
    "the headers `Next-After` and `Incarnation` say what to give as `after` and `incarnation` the next time."
)
_GO_ON: Final = f"After an interruption go on with the last line's number as `after`; {_NEXT_TIME}"
_GAMES: Final = _CONSTANT + "Ended games only, by their numbers, oldest first. " + _GO_ON
_REFITS: Final = _CONSTANT + "By the refits' numbers, in order. " + _GO_ON
_RANKS: Final = (
    _CONSTANT + "By the refits' numbers, in order. One refit may change several ranks: after an interruption leave out "
    f"the lines of the last number that came, and go on with the number before it as `after`; {_NEXT_TIME}"
)
_LEDGER: Final = _CONSTANT + "By the ledger's entries, in order. " + _GO_ON
_RATINGS: Final = (
    _CONSTANT + "By the ledger's entries, in order. One entry may change several ratings: after an interruption leave "
    f"out the lines of the last number that came, and go on with the number before it as `after`; {_NEXT_TIME}"
)
_EVENT: Final = (
    "By the games' numbers, oldest first. `RE` is the result of the game; what it counts as in the event after a "
    "ruling is in `/events/{event}/games`."
)
_LEFT_OUT: Final = (
    " A game whose record breaks the rules of its own venue (a fault that the server logs) has no file; nothing else "
    "is left out."
)
_MEDIA: Final = {
    "ndjson": api_route.NDJSON,
    "csv": api_route.CSV,
    "tar": api_route.TAR,
    "sgf": api_route.SGF,
    "zip": api_route.ZIP,
}
_FILES: Final[Mapping[str, type[Form[File]]]] = MappingProxyType(
    {api_route.TAR: Tar, api_route.SGF: Joined, api_route.ZIP: Zip}
)

_exports = Group("Exports")


def export(path: str, summary: str, about: str) -> Callable[[HandlerT], HandlerT]:
    """The method below answers an export, whose form is the suffix of its path."""
    name, suffix = path.rpartition("/")[2].split(".")
    return _exports.get(
        f"/export{path}",
        summary=summary,
        id=f"export_{name}_{suffix}",
        about=about,
        media=(_MEDIA[suffix],),
        limit=api_route.Limit.BULK,
    )


class Bulk(StreamingResponse):
    """A stream that ends with its reader: its source is closed whatever happens.

    :ivar ended: called then
    """

    def __init__(self, body: AsyncGenerator[bytes, None], headers: Mapping[str, str], media: str) -> None:
        super().__init__(body, 200, headers, media)
        self._source = body
        self.ended: Callable[[], object] = lambda: None

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        async def in_time(message: Message) -> None:
            async with asyncio.timeout(STALLED_S):
                await send(message)

        try:
            async with aclosing(self._source):
                try:
                    await while_there(receive, self.stream_response(in_time))
                except ExceptionGroup as failures:
                    raise failures.exceptions[0] from None
        finally:
            self.ended()


class Exports:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._history = site.history

    @export("/games.ndjson", "Games as lines of JSON.", _GAMES)
    @export("/games.csv", "Games as a table.", _GAMES)
    async def games(self, operation: Operation, filters: GameFilters, cursor: Cursor) -> Annotated[Bulk, ExportedGame]:
        """Ended games, oldest first."""
        chunks = self._history.bulk.rated_games(await self._known(filters), cursor.after)
        rows = functools.partial(exported_games, headline=Systems(self._site).headline)
        last = await self._next_game(filters.venue, cursor.after)
        return await self._bulk(
            operation, cursor, chunks, rows, name="games", last=last, gapless=False, kind=ExportedGame
        )

    @export("/games.tar", "Games as files (SGF) in an archive.", _GAMES + _LEFT_OUT)
    async def files(self, operation: Operation, filters: GameFilters, cursor: Cursor) -> Annotated[Bulk, File]:
        """The same games as files in an archive, a folder a venue."""
        chunks = self._history.bulk.details(await self._known(filters), cursor.after)
        rows = functools.partial(game_files, place=self._site.settings.server_name)
        last = await self._next_game(filters.venue, cursor.after)
        return await self._bulk(operation, cursor, chunks, rows, name="games", last=last, gapless=False)

    @export("/events/{event}/games.sgf", "An event's games as one SGF collection.", _EVENT)
    @export("/events/{event}/games.zip", "An event's games as files (SGF) in an archive.", _EVENT)
    async def event_games(self, operation: Operation, event: EventName) -> Annotated[Bulk, File]:
        """The ended games of an event with its name (`EV`) and their rounds (`RO`), those that were taken back too."""
        wanted = GameFilter(event=event, running=False)
        chunks = self._history.bulk.details(await self._of_known(wanted))
        rows = functools.partial(game_files, place=self._site.settings.server_name, event=event)
        last = await self._next_game(None, 0)
        return await self._bulk(operation, Cursor(), chunks, rows, name=event, last=last)

    @export("/venues/{venue}/ratings.ndjson", "Every change of every rating as lines of JSON.", _RATINGS)
    @export("/venues/{venue}/ratings.csv", "Every change of every rating as a table.", _RATINGS)
    async def ratings(
        self, operation: Operation, venue: VenueName, cursor: Cursor, system: System = None
    ) -> Annotated[Bulk, ExportedChange]:
        """Every change of every rating in a venue under a system, by the ledger's entries, in order."""
        last = await self._history.ledger.last_entry(venue)
        system = await system_meant(self._site, venue, system)
        chunks = self._history.bulk.changes(venue, system, cursor.after)
        return await self._bulk(
            operation, cursor, chunks, list, name=f"{venue}-ratings", last=last, kind=ExportedChange
        )

    @export(
        "/venues/{venue}/refits.ndjson",
        "Every refit of a rating system and what it moved, as lines of JSON.",
        _REFITS,
    )
    async def refits(
        self, operation: Operation, venue: VenueName, cursor: Cursor, system: System = None
    ) -> Annotated[Bulk, ExportedRefit]:
        """Every refit of a system in a venue, by its number, with what it moved."""
        system = await system_meant(self._site, venue, system)
        latest = await self._history.refits.recorded(venue, system, limit=1)
        chunks = self._history.bulk.refits(venue, system, cursor.after)
        last = latest[-1].number if latest else 0
        return await self._bulk(operation, cursor, chunks, list, name=f"{venue}-refits", last=last, kind=ExportedRefit)

    @export("/venues/{venue}/ranks.ndjson", "What refits said of ranks, as lines of JSON.", _RANKS)
    @export("/venues/{venue}/ranks.csv", "What refits said of ranks, as a table.", _RANKS)
    async def ranks(
        self, operation: Operation, venue: VenueName, cursor: Cursor, system: System = None
    ) -> Annotated[Bulk, ExportedRank]:
        """What the refits of a system said of the ranks in a venue, by their numbers, in order."""
        system = await system_meant(self._site, venue, system)
        last = await self._history.refits.last(venue, system)
        chunks = self._history.bulk.ranks(venue, system, cursor.after)
        return await self._bulk(operation, cursor, chunks, list, name=f"{venue}-ranks", last=last, kind=ExportedRank)

    @export("/venues/{venue}/ledger.ndjson", "A ledger as lines of JSON.", _LEDGER)
    @export("/venues/{venue}/ledger.csv", "A ledger as a table.", _LEDGER)
    async def ledger(self, operation: Operation, venue: VenueName, cursor: Cursor) -> Annotated[Bulk, LedgerEntry]:
        """A venue's numbered entries, in order."""
        last = await self._history.ledger.last_entry(venue)
        chunks = self._history.bulk.ledger(venue, cursor.after)
        return await self._bulk(operation, cursor, chunks, list, name=f"{venue}-ledger", last=last, kind=LedgerEntry)

    async def _known(self, filters: GameFilters) -> GameFilter:
        """What is asked for, of which every name is known: once the answer has begun it is too late to refuse."""
        return await self._of_known(games_asked(filters, running=False))

    async def _of_known(self, wanted: GameFilter) -> GameFilter:
        await self._history.games.search(wanted, 1)
        return wanted

    async def _next_game(self, venue: str | None, after: int) -> int:
        """The largest number up to which every game of the venue, or (None) of all, has ended.

        :raises Invalid: where games of all venues are to go on after one, and these have no common order
        """
        if venue is None and after and self._site.settings.several_groups:
            raise Invalid(
                Code.BAD_REQUEST,
                "The venues of this server are in several groups, whose games have numbers in no common order. With "
                "`after` name one venue.",
            )
        running = await self._history.games.running(venue)
        if running:
            return min(game.id for game in running) - 1
        newest = await self._history.games.find(GameFilter(venue=venue), 1)
        return newest[0].id if newest else 0

    async def _bulk(
        self,
        operation: Operation,
        cursor: Cursor,
        chunks: AsyncIterator[Sequence[Any]],
        rows: Callable[[Any], Sequence[Any]],
        *,
        name: str,
        last: int,
        gapless: bool = True,
        kind: type[Struct] | None = None,
    ) -> Bulk:
        """The export as this operation writes it.

        :param cursor: where it goes on
        :param chunks: portions of rows, an asynchronous generator
        :param rows: makes of a portion the lines or files
        :param name: of the file, without its suffix
        :param last: what to give as `after` the next time
        :param gapless: `last` is the largest number that there is
        :param kind: of the lines; None where files are exported
        """
        incarnation = await self._site.history.server.check_cursor(
            cursor.incarnation, cursor.after if gapless else 0, last
        )
        (media,) = operation.media
        form: Form[Any] = _FILES[media]() if kind is None else Csv(kind) if media == api_route.CSV else Ndjson()
        file = re.sub(r"[^A-Za-z0-9_.-]", "_", f"{name}.{operation.path.rpartition('.')[2]}")
        headers = {
            "Cache-Control": "no-store",
            "Content-Disposition": f'attachment; filename="{file}"',
            "X-Accel-Buffering": "no",
            NEXT_AFTER: str(last),
            INCARNATION: incarnation,
        }
        return Bulk(stream(chunks, rows, form), headers, media)


async def personal_data(site: Site, person: Person, *, packed: bool) -> Bulk:
    """All that is kept about a person and its bots; `packed` with transcripts."""
    personal, now = site.history.personal, site.now_ms()
    about = await personal.about(person.owner_id, [])
    transcripts = site.server.transcripts
    body = personal_zip(personal, about, now, transcripts) if packed else personal_json(personal, about, now)
    file = f"{person.name}.{'zip' if packed else 'json'}"
    headers = {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{file}"'}
    return Bulk(body, headers, api_route.ZIP if packed else api_route.JSON)
