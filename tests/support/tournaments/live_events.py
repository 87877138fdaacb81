"""Events on a live server without a server: their logs alone, and whatever can happen to one, by lot.

Who begins games and hears of their ends is played here as the director does it; the clock is moved by hand.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

from cgos_protocol.errors import Refused
from cgos_protocol.games.base import Color
from cgos_protocol.ids import BotId, GameId, VersionId
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, VOID, WHITE_WINS, Game, OptionValue, Result
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.admission import Candidate, entering
from cgos_server.tournaments.running.settings import EventSettings
from cgos_server.tournaments.running.state import EventState, Phase, after, announced
from cgos_server.tournaments.running.steps import (
    BOTH_FORFEIT,
    closing,
    forfeited_by,
    next_step,
    paired,
    pairs_now,
    seat_of,
    stuck,
)
from cgos_server.tournaments.tournament import ready_games, standings

LONG_MS: Final = 400_000
"""Longer than the grace."""

MOST_STEPS: Final = 2_000
"""An event that has not ended by then does not end."""

ENDING: Final = frozenset({"cup", "double-elimination", "bubble", "round-robin", "double-round-robin"})
"""Systems that have an end of their own; the others take any number of rounds."""


def settings_of(system: str, seed: int, options: Mapping[str, OptionValue] | None = None) -> EventSettings:
    """An event of four rounds, or of as many as its system takes, that takes latecomers."""
    rounds = None if system in ENDING else 4
    return EventSettings(
        name="E", venue="9x9", system=system, options=dict(options or {}), rounds=rounds, seed=seed, late=True
    )


def candidate(number: int, rating: float | None = None) -> Candidate:
    """A version that is its bot's only one; bots are their own families. Four owners have them all."""
    return Candidate(VersionId(number), BotId(number), f"Bot-{number}", BotId(number), 1 + number % 4, rating)


class LiveEvent:
    """One event from its announcement on.

    :ivar entries: its log
    :ivar refusals: sentences of what could not be
    :ivar away: versions that are not connected -> since when, Unix ms
    """

    def __init__(self, settings: EventSettings, lots: random.Random) -> None:
        self.lots = lots
        self.now = 1_000_000
        self.state = announced(settings)
        self.entries: list[log.LogEntry] = []
        self.refusals: list[str] = []
        self.away: dict[VersionId, int] = {}
        self._games = 100
        self.say(log.Announced(settings=settings))

    def say(self, said: log.Said) -> EventState:
        """Write an entry, by way of its JSON."""
        entry = log.LogEntry(self.state.seq + 1, self.now, "somebody", log.decode(log.encode(said)))
        self.state = after(self.state, entry)
        self.entries.append(entry)
        return self.state

    def attempt(self, said: log.Said) -> None:
        """Write an entry where it can be."""
        try:
            self.say(said)
        except Refused as refusal:
            self.refusals.append(refusal.sentence)

    def start(self, entrants: int) -> None:
        """Numbers 1, 2... enter, the first one best rated, and play begins."""
        self.say(log.Opened())
        for number in range(1, entrants + 1):
            self.say(entering(self.state, candidate(number), by_operator=False))
        self.say(closing(self.state, lambda version: 2000.0 - 50 * version))
        self.say(log.Started())
        self.advance()

    def advance(self) -> None:
        """Everything that follows by itself."""
        while True:
            said = next_step(self.state, self.now, self.away, lambda version: 2000.0 - 50 * version)
            if said is None and pairs_now(self.state):
                try:
                    said = paired(self.state, ready_games(self.state.event))
                except Refused as refusal:
                    said = stuck(refusal)
            if said is None:
                said = self._forfeited()
            if said is None:
                return
            self.say(said)

    def begin(self, game: Game) -> None:
        """A game that is due begins."""
        self._games += 1
        self.say(log.Began(game=game.id, played_as=GameId(self._games)))

    def run(self, disturbances: int) -> None:
        """Play it to its end, or until nothing can be paired, and disturb it so often."""
        for _ in range(MOST_STEPS):
            if self.state.paused is not None:
                self._let_all_meet()
            if self.state.phase is not Phase.RUNNING or self.state.paused is not None:
                return
            while disturbances and self.lots.random() < 0.5:
                disturbances -= 1
                self._disturb()
                self.advance()
                self.require_sound()
            if not disturbances:
                self.away.clear()
            self.now += LONG_MS
            self.advance()
            self._play()
            self.advance()
            self.require_sound()
        raise AssertionError(f"{self.state.settings.system} does not end")

    def _let_all_meet(self) -> None:
        """What an operator does where those who are due must not meet."""
        state = self.state
        for pair in sorted(state.forbidden):
            self.say(log.Lifted(entrants=pair, reason="so"))
        for word in state.settings.apart:
            self.say(log.Lifted(same=word, reason="so"))
        if self.state is not state:
            self.say(log.Resumed())
            self.advance()

    def require_sound(self) -> None:
        """What holds at any time."""
        state = self.state
        rows = standings(state.event).rows
        assert sorted(row.entrant for row in rows) == sorted(one.id for one in state.event.entrants)
        for _, game in state.open_games:
            assert not any(seat_of(state, game, color).out for color in Color), "an open game of one who is out"
        if state.phase is Phase.RUNNING and state.paused is None:
            assert state.open_games, "an event that runs has something to play"

    def drawn_result(self) -> Result:
        """Any result that a game of the server can have in an event."""
        special = [VOID, BOTH_FORFEIT, forfeited_by(Color.BLACK), forfeited_by(Color.WHITE)]
        usual = [BLACK_WINS, WHITE_WINS, DRAWN]
        return self.lots.choice(special if self.lots.random() < 0.25 else usual)

    def _forfeited(self) -> log.Ended | None:
        """A game that runs though one of its players has withdrawn."""
        for _, game in self.state.open_games:
            out = [color for color in Color if seat_of(self.state, game, color).out]
            if out:
                return log.Ended(game=game.id, result=WHITE_WINS if out[0] is Color.BLACK else BLACK_WINS)
        return None

    def _play(self) -> None:
        """Most of what is due begins, and one game that runs ends."""
        for _, game in self.state.due_games:
            absent = any(seat_of(self.state, game, color).version in self.away for color in Color)
            if not absent and self.lots.random() < 0.8:
                self.begin(game)
        running = [game for _, game in self.state.open_games if game.id in self.state.played_as]
        if running:
            self.say(log.Ended(game=self.lots.choice(running).id, result=self.drawn_result()))

    def _disturb(self) -> None:
        """Somebody, or the operator, does something that may be possible or not."""
        lots, state = self.lots, self.state
        there, number = [seat.entrant for seat in state.there], len(state.event.rounds)
        games = [game.id for _, game in state.event.games]
        anybody = lots.choice(list(state.seats))
        insider = lots.choice(there) if there else anybody
        match lots.randrange(12):
            case 0:
                self.attempt(log.Withdrawn(entrant=insider))
            case 1:
                self.attempt(log.Rejoined(entrant=anybody))
            case 2:
                self._enter_late()
            case 3:
                points = lots.choice((0, 1, 2))
                self.attempt(log.ByeAsked(entrant=insider, round=number + lots.choice((1, 2)), points=points))
            case 4 | 5 if games:
                forced = lots.random() < 0.5
                result = self.drawn_result()
                self.attempt(log.Ruled(game=lots.choice(games), result=result, reason="so", with_results=forced))
            case 6:
                self.attempt(log.TakenBack(reason="so", with_results=lots.random() < 0.5))
            case 7:
                self.attempt(log.Extended(rounds=lots.randint(1, number + 2)))
            case 8:
                said = lots.choice((log.Forbidden, log.Lifted))
                pair = tuple({insider, anybody})
                same = lots.choice(("owner", None, None))
                self.attempt(said(entrants=pair if lots.random() < 0.8 else (), same=same, reason="so"))
            case 9:
                self.attempt(log.ByeCancelled(entrant=anybody, round=number + lots.choice((1, 2))))
            case 10:
                self._enter_late()
                self.attempt(log.Struck(entrant=lots.choice(list(self.state.seats)), reason="so"))
            case _:
                version = state.seats[insider].version
                if self.away.pop(version, None) is None:
                    self.away[version] = self.now

    def _enter_late(self) -> None:
        try:
            said = entering(self.state, candidate(self.state.entered + 1, 1500.0), by_operator=False)
        except Refused as refusal:
            self.refusals.append(refusal.sentence)
        else:
            self.attempt(said)
