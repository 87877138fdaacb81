"""A gallery without a server: spectators that write down what they are told, games and an archive that wait."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

import pytest

from cgos_protocol.clock import ClockState, TimeControl, TimeSystem
from cgos_protocol.errors import StoreError
from cgos_protocol.facts import Fact, GameEnded, GameStarted
from cgos_protocol.games.base import Color, Ruleset
from cgos_protocol.session import GameOver, ListedGame, ShownGame, Turn
from cgos_protocol.terms import encode_terms
from cgos_server.core.venue import Venue, terms_of
from cgos_server.live.bus import Bus
from cgos_server.live.games.live_game import VenueContext
from cgos_server.live.venue.gallery import Gallery
from cgos_server.live.venue.roster import Roster
from cgos_server.storage.reading.stored import StoredGame, StoredMove
from support.live.simulated import SimulatedTime
from support.storage.subjects import Subjects

S = 1_000_000
VENUE = Venue(
    id=1,
    name="9x9",
    rules=Ruleset(),
    time=TimeControl(system=TimeSystem.ABSOLUTE, main=60 * S),
    move_limit=243,
    first_move_limit=60 * S,
)


class Spectator:
    """Writes down what it is told. `room` is how many deliveries it still takes; None is any number."""

    def __init__(self) -> None:
        self.room: int | None = None
        self.entries: list[tuple[Any, ...]] = []

    @property
    def has_room(self) -> bool:
        return self.room is None or self.room > 0

    def _note(self, *entry: Any) -> None:
        assert self.has_room, "told without room"
        if self.room is not None:
            self.room -= 1
        self.entries.append(entry)

    def listed(self, games: Sequence[ListedGame], missed: int) -> None:
        self._note("listed", [(game.game, game.result) for game in games], missed)

    def facts(self, facts: Sequence[Fact]) -> None:
        self._note("facts", list(facts))

    def shown(self, game: int, shown: ShownGame | None, since: int) -> None:
        if shown is None:
            self._note("none", game)
        else:
            result = shown.over.result if shown.over is not None else None
            self._note("shown", game, [move for move, _ in shown.setup.moves], result, since)

    def moved(self, game: int, turns: Sequence[Turn]) -> None:
        self._note("moved", game, [turn.move for turn in turns])

    def ended(self, game: int, over: GameOver) -> None:
        self._note("ended", game, over.result)

    def heard(self) -> list[tuple[Any, ...]]:
        """What it was told since the last time."""
        entries, self.entries = self.entries, []
        return entries

    def facts_heard(self) -> list[Fact]:
        return [fact for entry in self.heard() if entry[0] == "facts" for fact in entry[1]]


class Archive:
    """A store of games that have ended. It can be made to wait."""

    def __init__(self) -> None:
        self.history: Any = Subjects(self)
        self.stored: dict[int, StoredGame] = {}
        self.gate = asyncio.Event()
        self.gate.set()
        self.reading = self.most = self.reads = 0
        self.broken = False

    async def games_recent(self, venue_id: int, limit: int) -> list[StoredGame]:
        return [game for game in self.stored.values() if game.venue_id == venue_id][-limit:]

    async def games_stored(self, game_id: int) -> StoredGame | None:
        self.reads += 1
        self.reading += 1
        self.most = max(self.most, self.reading)
        await self.gate.wait()
        self.reading -= 1
        if self.broken:
            raise StoreError("no disk")
        return self.stored.get(game_id)


class FakeGame:
    """As much of a live game as a gallery looks at."""

    def __init__(self, number: int) -> None:
        self.id = number
        self.over: GameOver | None = None
        self.started_at = 1_700_000_000_000
        self.moves: list[str] = []
        self.sides = tuple(
            type("Side", (), {"version": n, "name": name, "label": "1800?"}) for n, name in enumerate(("Alpha", "Beta"))
        )

    @property
    def ply(self) -> int:
        return len(self.moves)

    def setup(self) -> Any:
        return type("Setup", (), {"moves": tuple((move, 60_000) for move in self.moves)})

    def turns(self, since: int) -> list[Turn]:
        return [
            Turn(
                ply=ply,
                color=Color((ply - 1) % 2),
                move=self.moves[ply - 1],
                left_ms=60_000,
                other_left_ms=60_000,
                at=0,
                on=False,
            )
            for ply in range(since + 1, self.ply + 1)
        ]

    def finish(self, result: str = "B+Resign") -> None:
        self.over = GameOver("2023-11-14", result, Color.BLACK, "resignation", "", self.ply)


class Room:
    """A gallery with everything that it needs."""

    def __init__(self) -> None:
        self.time = SimulatedTime()
        self.store = Archive()
        self.bus = Bus(lambda error: pytest.fail(repr(error)))
        self.games: dict[int, FakeGame] = {}
        self.tasks: list[asyncio.Task[None]] = []
        self.gallery = self.new_gallery(VENUE)

    def new_gallery(self, venue: Venue) -> Gallery:
        fake: Any = self
        nobody: Any = None
        context = VenueContext(
            venue=venue,
            store=fake.store,
            time=self.time,
            bus=self.bus,
            rater=nobody,
            meter=nobody,
            spawn=self.spawn,
        )
        roster = Roster({}, nobody)
        roster.running = fake.games
        return Gallery(context, roster)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    async def settle(self) -> None:
        """Everything that can be read is read, everything that can be told is told."""
        for _ in range(6):
            await asyncio.sleep(0)
            await self.gallery.turn()

    async def enter(self, everything: bool = True) -> Spectator:
        spectator = Spectator()
        self.gallery.enter(spectator, everything)
        await self.gallery.turn()
        return spectator

    def start(self, number: int) -> FakeGame:
        game = self.games[number] = FakeGame(number)
        self.bus.publish(
            GameStarted(
                venue="9x9",
                game=number,
                black="Alpha",
                white="Beta",
                at=1_700_000_000.0,
                black_label="1800?",
                white_label="1800?",
            )
        )
        return game

    def end(self, number: int, result: str = "B+Resign") -> None:
        game = self.games[number]
        game.finish(result)
        self.bus.publish(GameEnded(venue="9x9", game=number, result=result, reason="resignation", at=1_700_000_100.0))
        del self.games[number]


def stored(number: int, moves: str = "D4 E5", result: str | None = "W+Resign", venue: int = 1) -> StoredGame:
    clock = ClockState(50 * S)
    return StoredGame(
        number, venue, 1, 2, "Alpha", "Beta", "1800?", "1750", encode_terms(terms_of(VENUE)), "", 1_700_000_000_000,
        tuple(StoredMove(move, clock) for move in moves.split()), result, "", 1_700_000_100_000, 2, 2, 1, "resignation",
    )  # fmt: skip
