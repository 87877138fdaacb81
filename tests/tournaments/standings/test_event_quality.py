"""The quality of an event that was played: counted by hand, and against the measures that it is made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments.drawn_events import events
from support.tournaments.events import better_wins, by_lot, entrants, play

from cgos_server.tournaments import tournament as pure
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, WHITE_WINS, Entrant, Event, Game, Result, Round
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.standings.event_quality import Band, EventQuality, event_quality, kendall_of_places
from cgos_server.tournaments.standings.quality import colors, float_pairs, kendall, longest_run
from cgos_server.tournaments.standings.total_error import relative_strengths, total_error
from cgos_server.tournaments.systems.from_starts import scores_before


def quality_of(event: Event) -> EventQuality:
    return event_quality(event, pure.standings(event), scores_before(event, pure.system_of(event)))


def test_an_event_counted_by_hand() -> None:
    event = Event(
        system="swiss",
        entrants=entrants([2000, 1960, 1700, None]),
        rounds=(
            Round(
                number=1, games=(Game(black=2, white=1, result=BLACK_WINS), Game(black=4, white=3, result=WHITE_WINS))
            ),
            Round(
                number=2,
                games=(Game(black=3, white=1, result=DRAWN), Game(black=4, white=2, result=Result(0, 2, "forfeit"))),
            ),
            Round(number=3, games=(Game(black=3, white=2, result=WHITE_WINS, handicap=2),)),
        ),
    )
    quality = quality_of(event)
    assert (quality.players, quality.rated, quality.games, quality.uneven, quality.unrated) == (4, 3, 4, 1, 1)
    assert quality.kendall == pytest.approx(-1 / 3)  # the places of 1, 2, 3 are 3, 1, 2
    assert quality.mean_difference == pytest.approx((40 + 300) / 2)
    used = [band for band in quality.bands if band.games]
    assert [(band.low, band.high, band.games, band.score) for band in used] == [(0, 50, 1, 0.0), (300, 400, 1, 0.5)]
    assert used[0].expected == pytest.approx(1 / (1 + 10 ** (-40 / 400)))
    assert [(round_.pairs, round_.floats, round_.largest_float) for round_ in quality.rounds] == [
        (2, 0, 0),
        (2, 2, 1),
        (1, 1, 0.5),
    ]
    assert [round_.color_difference for round_ in quality.rounds] == [4, 4, 4]
    assert quality.balances == ((-1, 2), (0, 1), (2, 1))
    assert quality.streaks == ((1, 2), (2, 2))


@given(events())
def test_it_is_made_of_the_measures_of_single_things(event: Event) -> None:
    event = replace(event, system="swiss", options={})
    quality = quality_of(event)
    assert quality.total_error == total_error(event, relative_strengths(event))
    assert sum(round_.floats for round_ in quality.rounds) == float_pairs(event)
    assert tuple(round_.color_difference for round_ in quality.rounds) == colors(event).differences
    assert max((run for run, _ in quality.streaks), default=0) == max(
        map(longest_run, ledger(event).lines.values()), default=0
    )
    assert sum(band.games for band in quality.bands) + quality.uneven + quality.unrated == quality.games
    assert sum(count for _, count in quality.balances) == len(event.entrants)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=8))
def test_without_shared_places_tau_is_that_of_a_ranking(ratings: list[int]) -> None:
    order = list(range(len(ratings)))
    expected = kendall(order, dict(enumerate(map(float, ratings))))
    assert kendall_of_places([(at, ratings[at]) for at in order]) == pytest.approx(expected)


def test_a_shared_place_counts_nothing() -> None:
    assert kendall_of_places([(1, 2000.0), (1, 1900.0), (3, 1800.0)]) == pytest.approx(2 / 3)


def test_floats_of_mcmahon_are_of_mcmahon_scores() -> None:
    players = tuple(
        Entrant(id=at, name=f"bot-{at}", grade=grade) for at, grade in enumerate(("4d", "4d", "10k", "10k"), 1)
    )
    event = play(Event(system="mcmahon", entrants=players), better_wins, 1)
    assert {game.pair for game in event.rounds[0].games} == {(1, 2), (3, 4)}
    first = quality_of(event).rounds[0]
    assert (first.floats, first.largest_float) == (0, 0)
    crossed = Event(
        system="mcmahon",
        entrants=players,
        rounds=(
            Round(
                number=1, games=(Game(black=3, white=1, result=WHITE_WINS), Game(black=4, white=2, result=WHITE_WINS))
            ),
        ),
    )
    first = quality_of(crossed).rounds[0]
    assert (first.floats, first.largest_float) == (2, 13)


def test_nothing_played_has_no_figures() -> None:
    event = Event(system="cup", entrants=entrants([None, 1500]))
    quality = quality_of(event)
    assert (quality.kendall, quality.mean_difference, quality.games, quality.rounds) == (None, None, 0, ())
    assert {band.score for band in quality.bands} == {None}
    assert quality.bands[-1] == Band(low=600, high=None, games=0, score=None, expected=None)


def test_of_very_many_no_strengths_are_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgos_server.tournaments.standings.event_quality.MOST_SOLVED", 3)
    event = play(Event(system="swiss", entrants=entrants([1500] * 4)), by_lot(1), 1)
    assert quality_of(event).total_error is None
