"""AccelRat: the nearest rating not yet met, how ratings follow results, who should wait."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.core import vectors
from support.core.gor_updates import update
from support.tournaments.events import better_wins, by_lot, entrants, finish, play

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import VOID, Entrant, Event, Result, Round
from cgos_server.tournaments.event import begin
from cgos_server.tournaments.ledger import Ledger, Line, ledger
from cgos_server.tournaments.pairing.byes import odd_one_out
from cgos_server.tournaments.pairing.groups import by_rating
from cgos_server.tournaments.pairing.rematches import pair_of
from cgos_server.tournaments.systems.accelrat import AccelRat, best_first, pair_nearest
from cgos_server.tournaments.tournament import next_round

SIX = entrants([2000.0, 1990.0, 1900.0, 1890.0, 1700.0, 1500.0])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        vectors.parametrize(
            metafunc, "case", "accelrat", named=lambda case: f"{len(case['ratings'])}-met-{len(case['met'])}"
        )


def accelrat(field: tuple[Entrant, ...] = SIX, planned: int | None = None, **options: Any) -> Event:
    return Event(system="accelrat", entrants=field, options=options, seed=5, planned=planned)


def pairs(round_: Round) -> list[tuple[int, int]]:
    return sorted(game.pair for game in round_.games)


def number(name: str) -> int:
    return ord(name) - ord("A") + 1


def test_the_vectors(case: dict[str, Any]) -> None:
    ratings = {number(name): float(value) for name, value in case["ratings"].items()}
    order = best_first(ratings)
    met = Counter(pair_of(*map(number, pair)) for pair in case["met"])
    byes = {number(name): count for name, count in case["byes"].items()}
    if len(order) % 2:
        lines = Ledger({id_: Line(byes=byes.get(id_, 0)) for id_ in order}, met)
        out = odd_one_out(order, lines)
        assert out == number(case["free"])
        order.remove(out)
    else:
        assert case["free"] is None
    nearest = pair_nearest(order, by_rating(ratings), met)
    assert nearest.pairs == [tuple(map(number, pair)) for pair in case["pairs"]]
    assert nearest.rematches == case["rematch_allowed"]


@given(half=st.integers(1, 5), seed=st.integers(0, 10**6), often=st.integers(1, 3))
def test_where_all_have_met_everybody_takes_whom_he_has_met_least(half: int, seed: int, often: int) -> None:
    rng = random.Random(seed)
    ids = list(range(1, 2 * half + 1))
    ratings = {id_: float(rng.randrange(1000, 1020)) for id_ in ids}
    met = Counter({pair: rng.randint(1, often) for pair in itertools.combinations(ids, 2)})
    left = best_first(ratings)
    expected = []
    while left:
        first = left.pop(0)
        other = min(
            left, key=lambda id_: (met[pair_of(first, id_)], abs(ratings[first] - ratings[id_]), left.index(id_))
        )
        left.remove(other)
        expected.append((first, other))
    assert pair_nearest(best_first(ratings), by_rating(ratings), met) == (expected, True)


def test_forbidden_pairs_are_kept_apart_even_among_rematches() -> None:
    met = Counter(dict.fromkeys(itertools.combinations(range(1, 5), 2), 1))
    ratings = {1: 2000.0, 2: 1999.0, 3: 1500.0, 4: 1499.0}
    cost = by_rating(ratings)
    assert pair_nearest([1, 2, 3, 4], cost, met, {(1, 2)}).pairs == [(1, 3), (2, 4)]
    assert pair_nearest([1, 2, 3, 4], cost, Counter(), {(1, 2), (1, 3)}).pairs == [(1, 4), (2, 3)]
    with pytest.raises(Refused, match="must not meet"):
        pair_nearest([1, 2, 3, 4], cost, met, {(1, 2), (1, 3), (1, 4)})


def test_a_round_pairs_the_nearest_by_ratings_as_they_are_now() -> None:
    event = accelrat(update="none")
    first = next_round(event)
    assert pairs(first) == [(1, 2), (3, 4), (5, 6)]
    assert "10 apart" in first.games[0].reason
    event = play(event, better_wins, 1)
    assert pairs(next_round(event)) == [(1, 3), (2, 5), (4, 6)]  # with 2-4, 5 and 6 would meet again
    moved = play(accelrat(k=400), lambda game: Result(0, 2) if game.white > game.black else Result(2, 0), 1)
    now = next_round(moved).explanation.details["ratings"]
    assert now["2"] > now["1"]  # the worse have won, by more than was between them


def after(update: str, results: list[Result], **options: float) -> dict[int, float]:
    event = accelrat(entrants([2000.0, 1900.0, 2100.0]), update=update)
    for at, result in enumerate(results):
        white, black = [(1, 2), (3, 1), (2, 3)][at]
        event = begin(event, Round(number=at + 1, games=(replace(GAME, white=white, black=black, result=result),)))
    return AccelRat(update=update, **options).ratings(event, ledger(event))


GAME = next_round(accelrat()).games[0]


def test_elo_moves_by_k_times_score_less_expectancy() -> None:
    def expected(first: float, second: float) -> float:
        return 1 / (1 + 10 ** ((second - first) / 400))

    result = after("elo", [Result(0, 2), Result(1, 1)], k=40)
    winner = 2000 + 40 * (1 - expected(2000, 1900))
    assert result[2] == pytest.approx(1900 + 40 * (0 - expected(1900, 2000)))
    assert result[3] == pytest.approx(2100 + 40 * (0.5 - expected(2100, winner)))
    assert result[1] == pytest.approx(winner + 40 * (0.5 - expected(winner, 2100)))
    assert sum(result.values()) == pytest.approx(6000)


def test_gor_moves_as_the_rating_system_does() -> None:
    once, second = update(2000.0, 1900.0, 1.0)
    third, twice = update(2100.0, once, 0.0)
    assert after("gor", [Result(0, 2), Result(2, 0)]) == pytest.approx({1: twice, 2: second, 3: third})


@pytest.mark.parametrize("result", [VOID, Result(0, 2, "forfeit"), Result(0, 0, "forfeit")])
def test_what_was_not_played_moves_nothing(result: Result) -> None:
    assert after("elo", [result]) == {1: 2000.0, 2: 1900.0, 3: 2100.0}
    assert after("gor", [result]) == {1: 2000.0, 2: 1900.0, 3: 2100.0}


def test_the_games_of_a_round_count_together() -> None:
    event = accelrat(update="elo")
    games = tuple(replace(GAME, white=a, black=b, result=Result(0, 2)) for a, b in [(1, 2), (2, 3), (3, 1)])
    for order in itertools.permutations(games):
        of = begin(event, Round(number=1, games=order))
        assert AccelRat().ratings(of, ledger(of)) == AccelRat().ratings(
            begin(event, Round(number=1, games=games)), ledger(begin(event, Round(number=1, games=games)))
        )


def test_ratings_of_the_egf_end_at_their_floor_for_those_who_play() -> None:
    field = entrants([110.0, 110.0, 40.0])
    event = begin(
        accelrat(field, update="gor"), Round(number=1, games=(replace(GAME, white=1, black=2, result=Result(0, 2)),))
    )
    ratings = AccelRat(update="gor").ratings(event, ledger(event))
    assert ratings[1] > 110.0
    assert (ratings[2], ratings[3]) == (100.0, 40.0)
    assert AccelRat(update="elo").ratings(event, ledger(event))[2] == 110.0 - 16.0


def test_none_and_the_unrated() -> None:
    assert after("none", [Result(0, 2)]) == {1: 2000.0, 2: 1900.0, 3: 2100.0}
    round_ = next_round(accelrat(entrants([None, 1600.0, 1400.0, None]), unrated=1550))
    assert round_.explanation.details["ratings"] == {"2": 1600.0, "1": 1550.0, "4": 1550.0, "3": 1400.0}
    assert pairs(round_) == [(1, 2), (3, 4)]


def test_neighbors_and_club_mates_wait_if_asked() -> None:
    event = accelrat(planned=4, update="none", defer_neighbors=True)
    first = next_round(event)
    assert pairs(first) == [(1, 3), (2, 5), (4, 6)]
    assert first.explanation.details["deferred"] == []
    in_clubs = tuple(replace(entrant, club="a" if entrant.id in (1, 3) else "") for entrant in SIX)
    apart = next_round(replace(event, entrants=in_clubs))
    assert pairs(apart) == [(1, 4), (2, 5), (3, 6)]
    assert pairs(next_round(accelrat(in_clubs, planned=4, update="none"))) == [(1, 2), (3, 4), (5, 6)]


def test_the_top_two_meet_in_the_last_round_at_the_earliest() -> None:
    event = accelrat(planned=4, update="none", defer_neighbors=True)
    met_in = {}
    for number_ in range(1, 5):
        event = play(event, by_lot(number_), 1)
        met_in.update(dict.fromkeys(pairs(event.rounds[-1]), number_))
    assert met_in[(1, 2)] == 4


def test_who_should_wait_meets_all_the_same_where_there_is_no_other_way() -> None:
    round_ = next_round(accelrat(SIX[:2], planned=4, defer_neighbors=True))
    assert pairs(round_) == [(1, 2)]
    assert round_.explanation.details["deferred"] == [[1, 2]]
    assert "should have waited" in round_.explanation.summary


def test_rematches_are_told_and_the_lowest_sits_out() -> None:
    event = finish(begin(accelrat(SIX[:3]), next_round(accelrat(SIX[:3]))), better_wins)
    assert [bye.entrant for bye in event.rounds[0].byes] == [3]
    event = play(event, better_wins, 2)
    assert sorted(bye.entrant for round_ in event.rounds for bye in round_.byes) == [1, 2, 3]
    again = next_round(event)
    assert len(again.explanation.details["rematches"]) == 1
    assert "1 rematch: without any" in again.explanation.summary


def test_hardly_anybody() -> None:
    assert next_round(accelrat(())).games == ()
    assert [bye.entrant for bye in next_round(accelrat(SIX[:1])).byes] == [1]
    assert pairs(next_round(accelrat(SIX[:2]))) == [(1, 2)]
