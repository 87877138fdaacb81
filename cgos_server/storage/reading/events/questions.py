"""Which events there are, what their logs say, which games were played in them, who has entered.

Must not know: what follows from a log.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqlalchemy import BigInteger, RowMapping, bindparam, func, select

from cgos_protocol.api.events import GameInEvent
from cgos_protocol.api.route import LARGEST
from cgos_protocol.ids import BotId, EventId, GameId, VenueId
from cgos_server.storage import tables
from cgos_server.storage.parameters import number
from cgos_server.storage.reading.source import Read, Subject, no_event, value, venue_id

_events, _log, _event_games, _entrants = (
    tables.events,
    tables.event_log,
    tables.event_games,
    tables.event_entrants,
)
_games, _venues, _bots, _owners = tables.games, tables.venues, tables.bots, tables.owners


class EventRow(NamedTuple):
    """One event. `venue`: its name; `seq`: number of the last entry of its log."""

    id: EventId
    name: str
    venue_id: VenueId
    venue: str
    created_at: int
    phase: str
    seq: int


class LogRow(NamedTuple):
    """One entry of an event's log; `body` is JSON of :mod:`cgos_server.tournaments.running.log`."""

    seq: int
    at: int
    actor: str
    body: str


class EventGameRow(NamedTuple):
    """A game of the server that is one of an event; of the game itself what says how it ended.

    :ivar number: in the event
    :ivar reason: of its verdict; None while it runs
    """

    game_id: GameId
    event_id: EventId
    round: int
    number: int
    reason: str | None
    winner: int | None
    plies: int | None
    detail: str


_EVENT: Final = bindparam("event", type_=BigInteger)
_last = select(func.max(_log.c.seq)).where(_log.c.event_id == _events.c.id).correlate(_events).scalar_subquery()
_ROWS: Final = (
    select(
        _events.c.id,
        _events.c.name,
        _events.c.venue_id,
        _venues.c.name.label("venue"),
        _events.c.created_at,
        _events.c.phase,
        func.coalesce(_last, 0).label("seq"),
    )
    .join(_venues, _venues.c.id == _events.c.venue_id)
    .order_by(_events.c.id.desc())
)
_BY_NAME: Final = _ROWS.where(_events.c.name == bindparam("name"))
_OF_BOT: Final = _ROWS.where(
    _events.c.id.in_(select(_entrants.c.event_id).where(_entrants.c.bot_id == bindparam("bot", type_=BigInteger)))
)
_OF_NAMED_BOT: Final = _ROWS.where(
    _events.c.id.in_(
        select(_entrants.c.event_id)
        .join(_bots, _bots.c.id == _entrants.c.bot_id)
        .where(_bots.c.name == bindparam("bot"))
    )
)
_LOG: Final = (
    select(_log.c.seq, _log.c.at, _log.c.actor, _log.c.body)
    .where(_log.c.event_id == _EVENT, _log.c.seq > bindparam("since", type_=BigInteger))
    .order_by(_log.c.seq)
    .limit(bindparam("most", type_=BigInteger))
)
_played = select(
    _event_games.c.game_id,
    _event_games.c.event_id,
    _event_games.c.round,
    _event_games.c.number,
    _games.c.reason,
    _games.c.winner,
    _games.c.plies,
    _games.c.detail,
).join(_games, _games.c.id == _event_games.c.game_id)
_PLAYED: Final = _played.where(_event_games.c.event_id == _EVENT).order_by(_event_games.c.number)
_GAME: Final = _played.where(_event_games.c.game_id == bindparam("game", type_=BigInteger))
_BOTS: Final = (
    select(_bots.c.id, _bots.c.name, _owners.c.name.label("owner"))
    .select_from(_bots.outerjoin(_owners, _owners.c.id == _bots.c.owner_id))
    .where(_bots.c.id.in_(select(_entrants.c.bot_id).where(_entrants.c.event_id == _EVENT)))
)
_HOLDING: Final = (
    select(_events.c.name.label("event"), _event_games.c.round, _event_games.c.number)
    .join_from(_event_games, _events, _events.c.id == _event_games.c.event_id)
    .where(_event_games.c.game_id == bindparam("game", type_=BigInteger))
)


class Events(Subject):
    """Asked about events."""

    async def all(self) -> list[EventRow]:
        """Every event, the latest announced first."""
        return [value(EventRow, row) for row in await self._source.rows(_ROWS)]

    async def page(
        self, limit: int, before: int | None = None, phase: str | None = None, venue: str | None = None
    ) -> list[EventRow]:
        """Up to `limit` events, the latest announced first: those before this number, in this phase, in this venue.
        Raises Refused where there is no such venue."""

        async def ask(read: Read) -> Sequence[RowMapping]:
            wanted = _ROWS.limit(limit)
            if before is not None:
                wanted = wanted.where(_events.c.id < number(before))
            if phase is not None:
                wanted = wanted.where(_events.c.phase == phase)
            if venue is not None:
                wanted = wanted.where(_events.c.venue_id == await venue_id(read, venue))
            return await read(wanted)

        return [value(EventRow, row) for row in await self._source.answer(ask)]

    async def named(self, name: str) -> EventRow:
        """The event of this name. Raises Refused (``no-event``)."""
        rows = await self._source.rows(_BY_NAME, name=name)
        if not rows:
            raise no_event(name)
        return value(EventRow, rows[0])

    async def of_bot(self, bot: BotId) -> list[EventRow]:
        """The events that a version of this bot ever entered, the latest announced first."""
        return [value(EventRow, row) for row in await self._source.rows(_OF_BOT, bot=bot)]

    async def of_bot_named(self, name: str) -> list[EventRow]:
        """The same of the bot of this name; none where there is no such bot."""
        return [value(EventRow, row) for row in await self._source.rows(_OF_NAMED_BOT, bot=name)]

    async def log(self, event: EventId, since: int = 0, most: int = LARGEST) -> list[LogRow]:
        """Its log after entry `since`, or the first `most` entries of that."""
        return [value(LogRow, row) for row in await self._source.rows(_LOG, event=event, since=since, most=most)]

    async def bots(self, event: EventId) -> dict[BotId, tuple[str, str | None]]:
        """Of the bots whose versions ever entered it: name, and the owner's where it has one."""
        rows = await self._source.rows(_BOTS, event=event)
        return {BotId(row["id"]): (row["name"], row["owner"]) for row in rows}

    async def games(self, event: EventId) -> list[EventGameRow]:
        """The games that were played in it, by their numbers there."""
        return [value(EventGameRow, row) for row in await self._source.rows(_PLAYED, event=event)]

    async def holding(self, game: GameId) -> GameInEvent | None:
        """The event in which a game was played, its round there and its number; None: it is in none."""
        rows = await self._source.rows(_HOLDING, game=game)
        return value(GameInEvent, rows[0]) if rows else None

    async def of_game(self, game: GameId) -> EventGameRow | None:
        """In which event a game was played; None: in none."""
        rows = await self._source.rows(_GAME, game=game)
        return value(EventGameRow, rows[0]) if rows else None
