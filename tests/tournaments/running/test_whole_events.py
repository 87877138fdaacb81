"""Events from their announcement to their end, by their logs alone: every system, folded again at every entry."""

from __future__ import annotations

import random

import pytest

from cgos_protocol.ids import BotId, GameId, VersionId
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, VOID, WHITE_WINS
from cgos_server.tournaments.registry import SYSTEMS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.admission import Candidate, entering
from cgos_server.tournaments.running.settings import EventSettings
from cgos_server.tournaments.running.state import EventState, Phase, after, announced, fold
from cgos_server.tournaments.running.steps import closing, next_step, paired, pairs_now
from cgos_server.tournaments.tournament import ready_games, standings


class Hall:
    """An event, its log, and a clock that is moved by hand."""

    def __init__(self, settings: EventSettings) -> None:
        self.now = 1_000_000
        self.state = announced(settings)
        self.entries: list[log.LogEntry] = []
        self.away: dict[VersionId, int] = {}
        self.say(log.Announced(settings=settings))

    def say(self, said: log.Said) -> EventState:
        entry = log.LogEntry(self.state.seq + 1, self.now, "somebody", log.decode(log.encode(said)))
        self.state = after(self.state, entry)
        self.entries.append(entry)
        return self.state

    def enter(self, number: int, rating: float | None = None) -> None:
        who = Candidate(VersionId(number), BotId(number), f"Bot-{number}", BotId(number), None, rating)
        self.say(entering(self.state, who, by_operator=False))

    def advance(self) -> None:
        while True:
            said = next_step(self.state, self.now, self.away, lambda version: 2000.0 - version)
            if said is None and pairs_now(self.state):
                said = paired(self.state, ready_games(self.state.event))
            if said is None:
                return
            self.say(said)

    def start(self, entrants: int) -> None:
        self.say(log.Opened())
        for number in range(1, entrants + 1):
            self.enter(number)
        self.say(closing(self.state, lambda version: 2000.0 - version))
        self.say(log.Started())
        self.advance()


@pytest.mark.parametrize("system", SYSTEMS)
def test_an_event_runs_to_its_end_and_its_log_says_the_same_again(system: str) -> None:
    rng = random.Random(system)
    rounds = None if system in ("cup", "double-elimination", "bubble", "round-robin") else 3
    hall = Hall(EventSettings(name="E", venue="9x9", system=system, rounds=rounds, seed=5))
    hall.start(8)
    played = 0
    while hall.state.phase is Phase.RUNNING:
        due = hall.state.due_games
        assert due, "an event that runs has something to play"
        for _, game in due:
            played += 1
            hall.now += 1000
            hall.say(log.Began(game=game.id, played_as=GameId(100 + played)))
        for _, game in list(hall.state.open_games):
            result = VOID if rng.random() < 0.05 else rng.choice((BLACK_WINS, WHITE_WINS, WHITE_WINS, DRAWN))
            hall.say(log.Ended(game=game.id, result=result))
            hall.advance()
        assert played < 2_000
    assert hall.state.phase is Phase.OVER
    assert len(standings(hall.state.event).rows) == 8
    again = fold(hall.entries)
    assert again == hall.state
