"""One game in simulated time, both players present, whose phases are watched."""

from __future__ import annotations

from typing import Any

import pytest

from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.facts import GameEnded, MovePlayed
from cgos_protocol.games.base import Color, Ruleset
from cgos_protocol.referee import Referee
from cgos_server.core.rating.registry import rating_system
from cgos_server.core.venue import PairingSettings, Venue, terms_of
from cgos_server.live.bus import Bus
from cgos_server.live.games.live_game import LiveGame, Side, VenueContext
from cgos_server.live.games.phases import GAME, GamePhase, check
from cgos_server.live.ratings.rater import Rater
from cgos_server.observability.metrics import RefusalTally, VenueMeter
from cgos_server.service.ratings.venue_ratings import VenueRatings
from support.live.simulated import MemoryStore, RecordingSession, SimulatedTime

S = 1_000_000


class WatchedGame(LiveGame):
    """Goes only the ways of the table, also those that the game itself does not check.

    :ivar ways: those that it went
    """

    def __init__(self, **settings: Any) -> None:
        self.ways: list[tuple[GamePhase, GamePhase]] = []
        super().__init__(**settings)

    @property
    def phase(self) -> GamePhase:  # type: ignore[override]
        return self._phase

    @phase.setter
    def phase(self, phase: GamePhase) -> None:
        if hasattr(self, "_phase"):
            check(GAME, self._phase, phase)
            self.ways.append((self._phase, phase))
        self._phase = phase


def control(**changes: object) -> TimeControl:
    return TimeControl(system=TimeSystem.ABSOLUTE, main=60 * S, lag=250_000, **changes)  # type: ignore[arg-type]


class Table:
    """A game with both players present, in simulated time."""

    def __init__(self, time_control: TimeControl | None = None, size: int = 9, first_move_limit: int = 60 * S) -> None:
        self.time = SimulatedTime()
        self.store = MemoryStore()
        self.facts: list[object] = []
        self.ended: list[LiveGame] = []
        bus = Bus(on_error=lambda error: pytest.fail(str(error)))
        for kind in (MovePlayed, GameEnded):
            bus.subscribe(kind, self.facts.append)
        venue = Venue(
            id=1,
            name="9x9",
            rules=Ruleset(size=size, komi2=14),
            time=time_control or control(),
            move_limit=3 * size * size,
            first_move_limit=first_move_limit,
            pairing=PairingSettings(settle=S),
        )
        ratings = VenueRatings(1, rating_system("cgos-elo", 1800.0, {}))
        for version in (1, 2):
            ratings.enter(version, 1800.0, 0)
        rater = Rater("9x9", ratings, {1: "anna", 2: "bert"}.__getitem__, bus, lambda _: None)
        meter = VenueMeter("9x9", RefusalTally())
        self.context = VenueContext(
            venue=venue,
            store=self.store,  # type: ignore[arg-type]
            time=self.time,
            bus=bus,
            rater=rater,
            meter=meter,
            spawn=lambda work: work.close(),
            ended=[self.ended.append],
        )
        self.black, self.white = RecordingSession(1), RecordingSession(2)
        self.game = self.new_game()

    def new_game(self) -> WatchedGame:
        return WatchedGame(
            game_id=7,
            context=self.context,
            referee=Referee(terms_of(self.context.venue)),
            black=Side(1, "anna", "1800?"),
            white=Side(2, "bert", "1800?"),
            started_at=self.time.wall_ms(),
        )

    def begin(self) -> None:
        self.game.begin(self.black, self.white)
        self.time.advance(S)

    def sessions(self) -> tuple[RecordingSession, RecordingSession]:
        return self.black, self.white

    def move(self, color: Color, text: str, after: int = 0) -> None:
        self.time.advance(after)
        self.game.move(color, text, None, self.time.received())
