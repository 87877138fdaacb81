"""Events played through in simulated time: how long they take, and when which round begins."""

from __future__ import annotations

import statistics

import pytest
from msgspec.structs import replace

from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import WHITE_WINS, Event
from cgos_server.tournaments.event import begin, end, withdraw
from cgos_server.tournaments.running.forecast import (
    MOST_REPLICATES,
    Forecast,
    Lengths,
    Rehearsal,
    Span,
    assumed_ratings,
    by_other_clock,
    forecast,
    lengths_by_clock,
    lengths_seen,
    rehearsed,
    replicates_for,
    with_field,
)
from cgos_server.tournaments.running.settings import EventSettings, empty_event
from cgos_server.tournaments.tournament import next_round

EXACT = Lengths(600.0, 0.0)
"""Every game lasts ten minutes."""


def event_of(system: str, entrants: int, rounds: int | None = None) -> Event:
    empty = empty_event(EventSettings(name="E", venue="9x9", system=system, rounds=rounds, seed=3))
    return with_field(empty, {f"Bot-{at}": 2000.0 - 10 * at for at in range(1, entrants + 1)})


def forecast_of(rehearsal: Rehearsal, replicates: int = 5) -> Forecast:
    return forecast(rehearsal, list(rehearsed(rehearsal, replicates)))


def test_rounds_follow_one_another_where_all_games_last_as_long() -> None:
    ahead = forecast_of(Rehearsal(event=event_of("swiss", 8, 5), lengths=EXACT, pause_s=10.0))
    assert ahead.duration == Span(median=5 * 610.0, likely=5 * 610.0)
    assert ahead.rounds == Span(median=5.0, likely=5.0)
    assert ahead.games == Span(median=20.0, likely=20.0)
    assert [each.number for each in ahead.schedule] == [1, 2, 3, 4, 5]
    assert [each.begins and each.begins.median for each in ahead.schedule] == [0.0, 610.0, 1220.0, 1830.0, 2440.0]
    assert all(each.share == 1.0 for each in ahead.schedule)


def test_games_wait_for_the_other_games_that_entrants_play_between_them() -> None:
    event = event_of("swiss", 8, 5)
    alone = forecast_of(Rehearsal(event=event, lengths=Lengths(600.0, 200.0)), 60).duration.median
    with_others = [
        forecast_of(Rehearsal(event=event, lengths=Lengths(600.0, 200.0), others=others), 60).duration.median
        for others in (Lengths(60.0, 20.0), Lengths(600.0, 200.0), Lengths(1800.0, 600.0))
    ]
    assert alone < with_others[0] < with_others[1] < with_others[2]
    assert with_others[0] < alone + 6 * 120
    assert with_others[1] > alone + 5 * 200, "somebody has begun another game when a round is over"


def test_who_has_another_slot_waits_less() -> None:
    rehearsal = Rehearsal(event=event_of("swiss", 8, 5), lengths=Lengths(600.0, 200.0), others=Lengths(600.0, 200.0))
    one, four = (forecast_of(replace(rehearsal, slots=slots), 40).duration.median for slots in (1, 4))
    assert four < one


def test_other_games_that_are_short_are_not_drawn_one_by_one_for_hours() -> None:
    rehearsal = Rehearsal(
        event=event_of("swiss", 8, 3), lengths=Lengths(36_000.0, 9_000.0), others=Lengths(0.01, 0.001)
    )
    ahead = forecast_of(replace(rehearsal, pause_s=0.0), 2)
    assert ahead.duration.median > 3 * 36_000


def test_a_round_lasts_as_long_as_its_longest_game() -> None:
    lengths = Lengths(600.0, 200.0)
    ahead = forecast_of(Rehearsal(event=event_of("swiss", 16, 4), lengths=lengths), 60)
    assert 4 * 600 * 1.3 < ahead.duration.median < 4 * 600 * 2.2
    assert ahead.duration.median < ahead.duration.likely


@pytest.mark.parametrize(
    ("slots", "at_once", "duration"), [(1, None, 1800.0), (1, 2, 1800.0), (1, 1, 3600.0), (2, 1, 3600.0)]
)
def test_games_wait_for_their_players_and_for_slots(slots: int, at_once: int | None, duration: float) -> None:
    rehearsal = Rehearsal(event=event_of("round-robin", 4), lengths=EXACT, slots=slots, at_once=at_once, pause_s=0.0)
    assert forecast_of(rehearsal, 1).duration.median == duration


def test_the_same_seed_says_the_same_and_another_one_something_else() -> None:
    rehearsal = Rehearsal(event=event_of("swiss", 10, 3), lengths=Lengths(600.0, 200.0), seed=1)
    assert forecast_of(rehearsal) == forecast_of(rehearsal)
    assert forecast_of(rehearsal).duration != forecast_of(replace(rehearsal, seed=2)).duration
    first_two, first_five = list(rehearsed(rehearsal, 2)), list(rehearsed(rehearsal, 5))
    assert first_two == first_five[:2], "stopping early leaves the others as they are"


@pytest.mark.parametrize("system", ["cup", "double-elimination", "bubble", "round-robin", "epm", "mcmahon"])
def test_other_systems_end_by_themselves(system: str) -> None:
    rounds = 3 if system in ("epm", "mcmahon") else None
    ahead = forecast_of(Rehearsal(event=event_of(system, 6, rounds), lengths=Lengths(600.0, 200.0)), 3)
    assert ahead.games.median >= 5
    assert ahead.duration.median > 1200
    assert sum(ahead.first.values()) == pytest.approx(1.0)


def test_the_better_one_wins_more_often() -> None:
    empty = empty_event(EventSettings(name="E", venue="9x9", system="round-robin"))
    event = with_field(empty, {"Weak": 1000.0, "Strong": 2500.0, "Middle": 1500.0})
    ahead = forecast_of(Rehearsal(event=event, lengths=EXACT), 20)
    (likeliest, *_) = ahead.first
    assert event.names[likeliest] == "Strong"
    assert ahead.first[likeliest] > 0.9


def test_a_running_event_goes_on_from_where_it_stands() -> None:
    event = event_of("swiss", 4, 3)
    event = begin(event, next_round(event))
    event = end(event, 1, WHITE_WINS)
    rehearsal = Rehearsal(event=event, lengths=EXACT, ages={2: 400.0}, pause_s=0.0)
    ahead = forecast_of(rehearsal, 1)
    first, second, _ = ahead.schedule
    assert first.begins is None
    assert first.ends.median == pytest.approx(200.0)
    assert second.begins is not None
    assert second.begins.median == pytest.approx(200.0)
    assert ahead.duration.median == pytest.approx(1400.0)


def test_a_game_that_lasts_longer_than_others_may_last_longer_still() -> None:
    event = event_of("round-robin", 2)
    event = begin(event, next_round(event))

    def left(age: float) -> float:
        rehearsal = Rehearsal(event=event, lengths=Lengths(600.0, 200.0), ages={1: age})
        return statistics.fmean(each.duration for each in rehearsed(rehearsal, 200))

    assert left(1.0) == pytest.approx(599.0, rel=0.1)
    assert 0 < left(900.0) < 200


def test_who_has_withdrawn_is_not_counted() -> None:
    event = event_of("swiss", 5, 2)
    ahead = forecast_of(Rehearsal(event=withdraw(event, 5), lengths=EXACT), 1)
    assert ahead.entrants == 4
    assert ahead.games.median == 4


def test_what_cannot_be_rehearsed_is_refused() -> None:
    with pytest.raises(Refused, match="fewer than two entrants"):
        next(rehearsed(Rehearsal(event=event_of("swiss", 1, 3), lengths=EXACT), 1))
    with pytest.raises(Refused, match="takes any number of rounds"):
        next(rehearsed(Rehearsal(event=event_of("swiss", 4), lengths=EXACT), 1))


def test_larger_fields_are_rehearsed_less_often() -> None:
    numbers = [replicates_for(Rehearsal(event=event_of("swiss", n, 3), lengths=EXACT)) for n in (2, 16, 64, 300)]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] == MOST_REPLICATES
    assert numbers[-1] >= 10


def test_lengths_are_taken_from_games_or_else_from_the_clocks() -> None:
    assert lengths_seen([10.0]) is None
    assert lengths_seen([10.0, 20.0]) == Lengths(15.0, 5.0, 2)
    absolute = lengths_by_clock(TimeControl(system=TimeSystem.ABSOLUTE, main=300_000_000), 9)
    assert absolute.mean == pytest.approx(360.0)
    assert absolute.games == 0
    fischer = lengths_by_clock(TimeControl(system=TimeSystem.FISCHER, main=300_000_000, increment=2_000_000), 9)
    assert fischer.mean == pytest.approx(360.0 + 0.75 * 81 * 2)
    for system in (TimeSystem.BYOYOMI, TimeSystem.CANADIAN, TimeSystem.FIXED):
        time = TimeControl(system=system, main=60_000_000, period=10_000_000, periods=3, stones=5)
        assert lengths_by_clock(time, 9).mean > 60
    assert by_other_clock(Lengths(100.0, 20.0, 50), Lengths(360.0, 1.0), Lengths(720.0, 1.0)) == Lengths(
        200.0, 40.0, 50
    )


def test_assumed_entrants_are_spread_as_the_known_ones() -> None:
    assumed = assumed_ratings([1400.0, 1500.0, 1600.0], 9)
    assert assumed == sorted(assumed, reverse=True)
    assert statistics.median(assumed) == pytest.approx(1500.0)
    assert 50 < statistics.pstdev(assumed) < 100
    assert len(assumed_ratings([], 4)) == 4
