"""Venues in simulated time with an event director: their events and games, and a restart of the server between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cgos_protocol.errors import Refused
from cgos_protocol.games.base import Color
from cgos_protocol.ids import BotId, EventId, GameId, VersionId
from cgos_protocol.terms import encode_terms
from cgos_server.live.events.director import EventDirector
from cgos_server.live.events.event_pairer import ready
from cgos_server.live.games.live_game import LiveGame
from cgos_server.live.games.recovery import restore
from cgos_server.live.venue.live_venue import LiveVenue
from cgos_server.service.holds import Hold
from cgos_server.storage.reading.events.questions import EventGameRow, EventRow, LogRow
from cgos_server.storage.reading.stored import StoredGame
from cgos_server.storage.writing import records as rows
from cgos_server.tournaments.base import Event, Game, Result, Round
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.admission import Candidate, entering
from cgos_server.tournaments.running.settings import EventSettings, Times
from cgos_server.tournaments.running.state import AFTER, EventState, Phase, fold
from cgos_server.tournaments.running.steps import closing
from cgos_server.tournaments.tournament import standings
from support.live.house import House, S

NAMES = ("anna", "bert", "carl", "dora", "emil", "fred", "gina", "hugo")
GRACE_S = 60


class InlinePairer:
    """Computes here and now; `fault` is raised instead."""

    def __init__(self) -> None:
        self.fault: Exception | None = None

    async def ready(self, event: Event) -> tuple[Round, ...] | Refused:
        if self.fault is not None:
            raise self.fault
        return ready(event)


class EventRoom:
    """Events of one or two venues.

    :ivar owners: bots that have one: name -> number of the account
    """

    def __init__(self, house: House, *others: House) -> None:
        self.houses = (house, *others)
        self.house = house
        self.pairer = InlinePairer()
        self.owners: Mapping[str, int] = {}
        self.director = self._director()
        self._answer_from_records()

    @classmethod
    async def open(cls, *names: str) -> EventRoom:
        """With these bots signed in."""
        room = cls(await House().open())
        await room.house.arrive(*names)
        await room.director.open()
        return room

    def _director(self) -> EventDirector:
        return self.director_of({house.venue.name: house.live for house in self.houses})

    def director_of(self, venues: Mapping[str, LiveVenue]) -> EventDirector:
        """One of a server that has these venues configured."""
        house = self.house
        return EventDirector(
            venues,
            house.store,  # type: ignore[arg-type]
            time=house.time,
            ids=house.ids,
            pairer=self.pairer,
        )

    async def restart(self, *names: str, restored: Sequence[LiveGame] = ()) -> None:
        """The server is killed and starts again; these bots sign in. Of the games that ran these are restored."""
        for at, house in enumerate(self.houses):
            again = House(beside=self.house if at else None)
            again.time, again.store, again.accounts, again.ids = house.time, house.store, house.accounts, house.ids
            again.live = (await again.open()).live
            self.houses = (*self.houses[:at], again, *self.houses[at + 1 :])
            self.house = self.houses[0]
        roster = self.house.live.roster
        roster.names.update({VersionId(version): name for name, version in self.house.accounts.versions.items()})
        restore([stored(game, self.house) for game in restored], {self.house.venue.id: self.house.live})
        self.director = self._director()
        await self.director.open()
        await self.house.arrive(*names)

    # -- the events

    async def hold(self, *names: str, start: bool = True, **settings: Any) -> str:
        """An event with these entrants, started; its name."""
        filled = {"name": "E", "venue": "9x9", "system": "round-robin", "times": Times(grace_s=GRACE_S), **settings}
        event = EventSettings(**filled)
        self.director.announce(event, "operator")
        self.say(log.Opened(), event.name)
        for name in names:
            self.enter(name, event.name)
        if start:
            await self.start(event.name)
        return event.name

    async def start(self, event: str = "E") -> None:
        """Close entry and start it now."""
        if self.state(event).phase is not Phase.CLOSED:
            self.say(closing(self.state(event), lambda _version: None), event)
        self.say(log.Started(), event)
        await self.look()

    def enter(self, name: str, event: str = "E", by_operator: bool = True) -> EventState:
        version = self.version(name)
        candidate = Candidate(version, BotId(version), name, BotId(version), self.owners.get(name), None)
        return self.say(entering(self.state(event), candidate, by_operator), event)

    def say(self, said: log.Said, event: str = "E") -> EventState:
        return self.director.say(event, said, "operator")

    def state(self, event: str = "E") -> EventState:
        """Where it stands by its log; the director says the same, where it has it at hand."""
        (id_,) = (added.id for added in self.house.store.of(rows.EventAdded) if added.name == event)
        state = fold(read(self.log(id_)))
        if event in self.director.runners or state.phase not in AFTER:
            assert self.director.state(event) == state
        return state

    def log(self, event: EventId) -> list[LogRow]:
        return [
            LogRow(record.seq, record.at, record.actor, record.body)
            for record in self.house.store.of(rows.EventLogged)
            if record.event_id == event
        ]

    def seat(self, name: str, event: str = "E") -> int:
        seat = self.state(event).seat_of(self.version(name))
        assert seat is not None
        return seat.entrant

    def version(self, name: str) -> VersionId:
        accounts = self.house.accounts
        return VersionId(accounts.versions.setdefault(name, len(accounts.versions) + 1))

    def ranking(self, event: str = "E") -> list[tuple[int, str]]:
        """(place, name), best first."""
        return [(row.place, row.name) for row in standings(self.state(event).event).rows]

    def results(self, event: str = "E") -> dict[frozenset[str], Result | None]:
        """Of the latest game of each two who have met."""
        state = self.state(event)
        return {frozenset(self.names(state, game)): game.result for _, game in state.event.games}

    def names(self, state: EventState, game: Game) -> tuple[str, str]:
        """Black's, White's."""
        return state.seats[game.black].name, state.seats[game.white].name

    # -- time and games

    async def look(self, seconds: float = 0) -> None:
        """Let so much time pass, a look of the director each second, and then whatever is due at once."""
        left = round(seconds * S)
        while left > 0:
            step = min(left, S)
            self.house.time.advance(step)
            left -= step
            await self._look_once()
        while True:
            before = len(self.house.store.records)
            await self._look_once()
            if len(self.house.store.records) == before:
                return

    async def _look_once(self) -> None:
        self.director.look(self.house.spawn)
        await self.house.settle()
        self.house.time.advance(0)

    @property
    def running(self) -> list[LiveGame]:
        """Games of all venues."""
        return [game for house in self.houses for game in house.live.roster.games()]

    def playing(self) -> set[frozenset[str]]:
        return {frozenset(side.name for side in game.sides) for game in self.running}

    def game_of(self, *names: str) -> LiveGame:
        """The running game of these two."""
        (game,) = (game for game in self.running if {side.name for side in game.sides} == set(names))
        return game

    async def end(self, game: LiveGame, winner: str) -> None:
        """Play it until `winner` has won: a move if it is its turn, then the other one resigns. Both say ready."""
        color = Color.BLACK if game.sides[0].name == winner else Color.WHITE
        if game.referee.to_play is color:
            game.move(color, "A1" if game.ply == 0 else "pass", None, self.house.time.received())
        game.move(color.other, "resign", None, self.house.time.received())
        self.ready()
        await self.look()

    async def play_on(self, event: str = "E") -> None:
        """Until the event is over; whoever comes first in the alphabet wins."""
        while self.state(event).phase is Phase.RUNNING:
            assert self.running
            for game in self.running:
                await self.end(game, min(side.name for side in game.sides))

    def ready(self) -> None:
        """Everybody who owes it says ready."""
        for house in self.houses:
            for player in list(house.live.roster.players.values()):
                house.live.lobby.ready(player)

    def leave(self, name: str) -> None:
        """Its connection is gone."""
        seat = self.house.sessions[name].seat
        assert seat is not None
        seat.left(False)

    def holds(self, name: str, house: House | None = None) -> set[Hold]:
        return set((house or self.house).live.roster.players[self.version(name)].holds)

    # -- the past, from the records

    def _answer_from_records(self) -> None:
        store: Any = self.house.store
        venues = {house.venue.id: house.venue.name for house in self.houses}

        async def every_event() -> list[EventRow]:
            phases = {added.id: added.phase for added in store.of(rows.EventAdded)}
            phases |= {changed.id: changed.phase for changed in store.of(rows.EventPhase)}
            return [
                EventRow(
                    id=added.id,
                    name=added.name,
                    venue_id=added.venue_id,
                    venue=venues[added.venue_id],
                    created_at=added.created_at,
                    phase=phases[added.id],
                    seq=len(self.log(added.id)),
                )
                for added in store.of(rows.EventAdded)
            ]

        async def of_game(game: GameId) -> EventGameRow | None:
            return next((self._played(record) for record in store.of(rows.EventGame) if record.game_id == game), None)

        async def named(name: str) -> EventRow:
            (row,) = (row for row in await every_event() if row.name == name)
            return row

        async def of_event(event: EventId) -> list[EventGameRow]:
            return [self._played(record) for record in store.of(rows.EventGame) if record.event_id == event]

        async def log_of(event: EventId) -> list[LogRow]:
            return self.log(event)

        store.events_all, store.events_log, store.events_games = every_event, log_of, of_event
        store.events_named, store.events_of_game = named, of_game

    def _played(self, record: rows.EventGame) -> EventGameRow:
        store = self.house.store
        end = next((end for end in store.of(rows.GameEnded) if end.id == record.game_id), None)
        moves = sum(move.game_id == record.game_id for move in store.of(rows.MoveAdded))
        return EventGameRow(
            game_id=record.game_id,
            event_id=record.event_id,
            round=record.round,
            number=record.number,
            reason=None if end is None else end.reason,
            winner=None if end is None else end.winner,
            plies=None if end is None else moves,
            detail="" if end is None else end.detail,
        )


def stored(game: LiveGame, house: House) -> StoredGame:
    """A game that nobody has moved in yet, as the store has it."""
    black, white = game.sides
    return StoredGame(
        id=game.id,
        venue_id=house.venue.id,
        black_id=black.version,
        white_id=white.version,
        black=black.name,
        white=white.name,
        black_label=black.label,
        white_label=white.label,
        terms=encode_terms(game.referee.terms),
        start="",
        started_at=game.started_at,
        moves=(),
    )


def read(entries: list[LogRow]) -> list[log.LogEntry]:
    return [log.LogEntry(entry.seq, entry.at, entry.actor, log.decode(entry.body)) for entry in entries]
