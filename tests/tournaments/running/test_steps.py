"""What an event that nobody tends does next: it opens, closes, starts with those who came, forfeits, ends."""

from __future__ import annotations

from typing import Any

import pytest

from cgos_protocol.errors import Refused
from cgos_protocol.games.base import Color
from cgos_protocol.ids import BotId, GameId, VersionId
from cgos_protocol.referee import no_first_move
from cgos_protocol.verdict import Reason, Verdict
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, VOID, WHITE_WINS, Result
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.admission import Candidate, entering
from cgos_server.tournaments.running.settings import EventSettings, Limits, Times
from cgos_server.tournaments.running.state import EventState, Phase, after, announced
from cgos_server.tournaments.running.steps import (
    BOTH_FORFEIT,
    forfeited_by,
    next_step,
    paired,
    pairs_now,
    result_of,
    seat_of,
)
from cgos_server.tournaments.tournament import ready_games

MIN = 60_000


class Watched:
    """One event, and a clock in minutes.

    :ivar away: who is not there -> since when, Unix ms
    """

    def __init__(self, limits: Limits | None = None, late: bool = False, **times: Any) -> None:
        settings = EventSettings(
            name="E",
            venue="9x9",
            system="round-robin",
            late=late,
            limits=limits or Limits(),
            times=Times(**{"grace_s": 60, **times}),
        )
        self.minute = self.up_since = 0.0
        self.away: dict[VersionId, int] = {}
        self.state = announced(settings)
        self.say(log.Announced(settings=settings))

    @property
    def now(self) -> int:
        return round(self.minute * MIN)

    def say(self, said: log.Said) -> EventState:
        self.state = after(self.state, log.LogEntry(self.state.seq + 1, self.now, "x", said))
        return self.state

    def enter(self, *numbers: int, by_operator: bool = False) -> None:
        for number in numbers:
            who = Candidate(VersionId(number), BotId(number), f"Bot-{number}", BotId(number), None, 2000.0 - number)
            self.say(entering(self.state, who, by_operator))

    def check_in(self, *entrants: int) -> None:
        for entrant in entrants:
            self.say(log.CheckedIn(entrant=entrant))

    def at(self, minute: float) -> EventState:
        """Whatever is due by then."""
        self.minute = minute
        while True:
            said = next_step(
                self.state, self.now, self.away, lambda version: 1000.0 + version, up_since=round(self.up_since * MIN)
            )
            if said is None and pairs_now(self.state):
                said = paired(self.state, ready_games(self.state.event))
            if said is None:
                return self.state
            self.say(said)

    @property
    def there(self) -> list[str]:
        return [seat.name for seat in self.state.there]


def test_everything_happens_by_its_times() -> None:
    event = Watched(opens_at=MIN, closes_at=3 * MIN, starts_at=5 * MIN)
    assert event.at(0.9).phase is Phase.ANNOUNCED
    with pytest.raises(Refused, match="has not opened yet"):
        event.enter(1)
    assert event.at(1).phase is Phase.ENTRY
    event.enter(1, 2, 3)
    assert event.at(3).phase is Phase.CLOSED
    assert [seat.rating for seat in event.state.there] == [1001.0, 1002.0, 1003.0], "ratings are taken at the close"
    assert event.at(5).phase is Phase.RUNNING
    assert [one.name for one in event.state.event.entrants] == ["Bot-3", "Bot-2", "Bot-1"]
    assert event.state.due_games


def test_it_starts_as_soon_as_enough_are_in() -> None:
    event = Watched(opens_at=0, starts_with=3)
    event.at(0)
    event.enter(1, 2)
    assert event.at(1).phase is Phase.ENTRY
    event.enter(3)
    assert event.at(2).phase is Phase.RUNNING


def test_without_two_entrants_it_is_cancelled() -> None:
    event = Watched(opens_at=0, starts_at=5 * MIN)
    event.at(0)
    event.enter(1)
    assert event.at(5).phase is Phase.CANCELLED


def test_who_waits_gets_the_place_of_who_withdraws() -> None:
    event = Watched(Limits(most=2), opens_at=0, starts_at=5 * MIN)
    event.at(0)
    event.enter(1, 2, 3, 4)
    assert event.there == ["Bot-1", "Bot-2"]
    event.say(log.Withdrawn(entrant=1))
    assert [seat.name for seat in event.at(1).waiting] == ["Bot-4"]
    assert event.there == ["Bot-2", "Bot-3"]
    event.at(5)
    with pytest.raises(Refused, match="fixed"):
        event.say(log.Admitted(entrant=4))


def test_who_does_not_check_in_is_out_and_who_waits_comes_in_its_place() -> None:
    event = Watched(Limits(most=2), opens_at=0, starts_at=5 * MIN, check_in_s=120)
    event.at(0)
    event.enter(1, 2, 3, 4)
    event.minute = 2
    with pytest.raises(Refused, match="opens in 1 minute, 2 minutes before"):
        event.check_in(1)
    event.at(3)
    event.check_in(1, 4)
    event.at(5)
    assert event.there == ["Bot-1", "Bot-4"]
    assert event.state.phase is Phase.RUNNING
    with pytest.raises(Refused, match="over"):
        event.check_in(2)


@pytest.mark.parametrize(("grace_s", "until"), [(60, 7.0), (3600, 8.0)])
def test_a_server_that_stood_still_during_the_check_in_gives_time_for_it(grace_s: int, until: float) -> None:
    event = Watched(opens_at=0, starts_at=5 * MIN, check_in_s=120, grace_s=grace_s)
    event.at(0)
    event.enter(1, 2, 3)
    event.at(3)
    event.check_in(1)
    event.up_since = 6.0
    event.at(6)
    event.check_in(2)
    assert event.at(until - 0.01).phase is Phase.CLOSED
    assert event.at(until).phase is Phase.RUNNING
    assert event.there == ["Bot-1", "Bot-2"]


def test_a_start_waits_for_nobody_who_has_checked_in_nor_where_the_server_stood_still_before() -> None:
    for up_since, checked_in in ((4.9, (1, 2)), (3.0, (1,)), (2.9, (1,))):
        event = Watched(opens_at=0, starts_at=5 * MIN, check_in_s=120)
        event.at(0)
        event.enter(1, 2)
        event.up_since = up_since
        event.at(3)
        event.check_in(*checked_in)
        assert event.at(5).phase is (Phase.RUNNING if len(checked_in) > 1 else Phase.CANCELLED)


def test_a_check_in_that_nobody_asks_for_is_refused() -> None:
    event = Watched(opens_at=0)
    event.at(0)
    event.enter(1)
    with pytest.raises(Refused, match="asks for no check-in"):
        event.check_in(1)


def test_who_opens_entry_again_leaves_it_open_until_the_start() -> None:
    event = Watched(opens_at=0, closes_at=2 * MIN, starts_at=9 * MIN)
    event.at(0)
    event.enter(1, 2)
    assert event.at(2).phase is Phase.CLOSED
    event.minute = 3
    event.say(log.Opened())
    assert event.at(4).phase is Phase.ENTRY
    event.enter(3)
    assert event.at(9).phase is Phase.RUNNING
    assert len(event.there) == 3


def test_nobody_enters_a_round_robin_that_has_begun_however_late_it_takes_them() -> None:
    for late, sentence in ((False, "takes nobody late"), (True, "cannot enter")):
        event = Watched(late=late, opens_at=0, starts_with=2)
        event.at(0)
        event.enter(1, 2)
        event.at(1)
        with pytest.raises(Refused, match=sentence):
            event.enter(3)


def test_what_is_played_stays_once_entry_has_opened() -> None:
    event = Watched(opens_at=0)
    event.at(0)
    settings = event.state.settings
    unrated = EventSettings(name="E", venue="9x9", system="cup", rated=False, times=settings.times)
    with pytest.raises(Refused, match="stays as it was when entry opened"):
        event.say(log.Announced(settings=unrated))
    event.say(log.Announced(settings=EventSettings(name="E", venue="9x9", system="cup", times=settings.times)))


def test_the_grace_is_of_each_game_and_counts_from_the_latest_of_all() -> None:
    event = Watched(opens_at=0, starts_with=2)
    event.at(0)
    event.enter(1, 2)
    event.away[VersionId(1)] = 0
    event.at(3)
    assert event.state.due_games
    event.at(3.9)
    event.say(log.Paused(reason="lunch"))
    event.at(20)
    event.say(log.Resumed())
    event.at(20.9)
    assert event.state.due_games
    assert event.at(21).phase is Phase.OVER
    (_, game) = next(iter(event.state.event.games))
    gone = Color.BLACK if seat_of(event.state, game, Color.BLACK).name == "Bot-1" else Color.WHITE
    assert game.result == forfeited_by(gone)


def test_who_has_withdrawn_forfeits_at_once_and_two_of_them_both() -> None:
    event = Watched(opens_at=0, starts_with=2)
    event.at(0)
    event.enter(1, 2)
    event.at(1)
    event.say(log.Withdrawn(entrant=1))
    event.say(log.Withdrawn(entrant=2))
    event.at(1)
    (_, game) = next(iter(event.state.event.games))
    assert game.result == BOTH_FORFEIT


def test_a_longer_grace_holds_for_games_that_are_due() -> None:
    event = Watched(opens_at=0, starts_with=2)
    event.at(0)
    event.enter(1, 2)
    event.away[VersionId(1)] = 0
    event.at(0)
    event.say(log.Extended(grace_s=600, reason="A storm."))
    event.at(9)
    assert event.state.due_games
    assert event.at(10).phase is Phase.OVER


def test_a_game_that_runs_is_nobodys_absence() -> None:
    event = Watched(opens_at=0, starts_with=2)
    event.at(0)
    event.enter(1, 2)
    event.at(0)
    event.say(log.Began(game=1, played_as=GameId(7)))
    event.away = {VersionId(1): 0, VersionId(2): 0}
    assert event.at(100).open == {1: 1}


@pytest.mark.parametrize(
    ("verdict", "played", "result"),
    [
        (Verdict(Color.BLACK, Reason.RESIGNATION), 0, BLACK_WINS),
        (Verdict(Color.WHITE, Reason.SCORE, -3), 60, WHITE_WINS),
        (Verdict(None, Reason.SCORE, 0), 60, DRAWN),
        (Verdict(Color.WHITE, Reason.FORFEIT), 1, WHITE_WINS),
        (Verdict(Color.WHITE, Reason.FORFEIT), 0, forfeited_by(Color.BLACK)),
        (Verdict(Color.WHITE, Reason.TIME), 0, forfeited_by(Color.BLACK)),
        (Verdict(None, Reason.ABORT, None, no_first_move(Color.WHITE)), 1, forfeited_by(Color.WHITE)),
        (Verdict(None, Reason.ABORT, None, "An operator."), 0, VOID),
        (Verdict(None, Reason.VOID), 20, VOID),
    ],
)
def test_what_a_game_counts_as(verdict: Verdict, played: int, result: Result) -> None:
    assert result_of(verdict, played) == result
