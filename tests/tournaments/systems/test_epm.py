"""EPM: McMahon groups, the search inside them, and what makes an opponent suit."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments.events import by_lot, entrants, play

from cgos_server.tournaments.base import DRAWN, Entrant, Event, Game, Request, Round
from cgos_server.tournaments.event import Field, begin, field_of, request_bye
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.systems.epm import strengths
from cgos_server.tournaments.tournament import next_round, standings

EIGHT = entrants([2400.0, 2310.0, 2200.0, 2190.0, 2000.0, 1950.0, 1800.0, 1700.0])


def epm(field: tuple[Entrant, ...] = EIGHT, **options: Any) -> Event:
    return Event(system="epm", entrants=field, options={"floor": "20k", "bar": "20k", **options}, seed=5)


def pairs(round_: Round) -> list[tuple[int, int]]:
    return sorted(game.pair for game in round_.games)


def test_the_best_takes_the_nearest_rating_and_so_on_down() -> None:
    assert pairs(next_round(epm())) == [(1, 2), (3, 4), (5, 6), (7, 8)]
    assert pairs(next_round(epm(cost="folding"))) == [(1, 8), (2, 7), (3, 6), (4, 5)]
    assert pairs(next_round(epm(cost="translation"))) == [(1, 5), (2, 6), (3, 7), (4, 8)]


@pytest.mark.parametrize("what", ["country", "club"])
def test_one_country_or_club_costs_as_many_points(what: str) -> None:
    mates = tuple(replace(entrant, **{what: "x" if entrant.id in (1, 2) else ""}) for entrant in EIGHT)
    # 1 and 2 are 90 points apart, 1 and 3 200.
    assert (1, 2) in pairs(next_round(epm(mates)))
    assert (1, 3) in pairs(next_round(epm(mates, **{f"same_{what}": 120})))
    assert (1, 2) in pairs(next_round(epm(mates, **{f"same_{what}": 109})))
    places = epm(mates, cost="adjacent", **{f"same_{what}": 5})
    assert (1, 3) in pairs(next_round(places))
    nearer = epm(mates, cost="adjacent", **{f"same_{what}": 1})  # the next opponents are 2 places off
    assert (1, 2) in pairs(next_round(nearer))


def test_the_search_takes_the_first_in_its_order_not_the_cheapest() -> None:
    field = tuple(
        replace(entrant, club="x" if entrant.id > 2 else "") for entrant in entrants([1000.0, 995.0, 990.0, 985.0])
    )
    # 1-3 and 2-4 would cost 20 together; 1-2 costs 5, and then 3-4 105.
    assert pairs(next_round(epm(field))) == [(1, 2), (3, 4)]


def completions(order: list[int], cost: Any, barred: Any) -> Iterator[list[tuple[int, int]]]:
    if not order:
        yield []
        return
    first, *rest = order
    for other in sorted(rest, key=lambda id_: (cost(first, id_), rest.index(id_))):
        if not barred(first, other):
            for more in completions([id_ for id_ in rest if id_ != other], cost, barred):
                yield [(first, other), *more]


@settings(max_examples=25)
@given(half=st.integers(1, 4), seed=st.integers(0, 10_000), rounds=st.integers(0, 4))
def test_one_group_is_paired_as_by_trying_everything(half: int, seed: int, rounds: int) -> None:
    rng = random.Random(seed)
    field = tuple(
        replace(entrant, start=0, country=rng.choice(["", "x", "y"]), club=rng.choice(["", "c"]))
        for entrant in entrants([float(rng.randrange(1000, 1300)) for _ in range(2 * half)])
    )
    event = Event(system="epm", entrants=field, options={"same_club": 50}, seed=seed)
    for number in range(1, rounds + 1):  # rounds of draws leave one group
        ids = rng.sample(range(1, 2 * half + 1), 2 * half)
        event = begin(
            event,
            Round(
                number=number,
                games=tuple(Game(black=b, white=a, result=DRAWN) for a, b in zip(ids[::2], ids[1::2], strict=True)),
            ),
        )
    met = ledger(event).met
    round_ = next_round(event)
    order = round_.explanation.details["groups"][0]
    rating = {entrant.id: entrant.rating or 0.0 for entrant in field}
    who = {entrant.id: entrant for entrant in field}

    def cost(a: int, b: int) -> float:
        first, second = who[a], who[b]
        country = 100 * bool(first.country and first.country == second.country)
        return abs(rating[a] - rating[b]) + country + 50 * bool(first.club and first.club == second.club)

    expected = next(completions(order, cost, lambda a, b: tuple(sorted((a, b))) in met), None)
    if expected is None:
        assert round_.explanation.details["rematches"]
    else:
        assert pairs(round_) == sorted(tuple(sorted(pair)) for pair in expected)


def test_odd_groups_send_their_middle_down() -> None:
    starts = (4, 4, 4, 2, 2, 2, 0, 0)
    field = tuple(replace(entrant, start=start) for entrant, start in zip(EIGHT, starts, strict=True))
    round_ = next_round(epm(field))
    assert round_.explanation.details["groups"] == [[1, 2, 3], [4, 5, 6], [7, 8]]
    assert round_.explanation.details["floats"] == [[2, 5, 1]]
    assert pairs(round_) == [(1, 3), (2, 5), (4, 6), (7, 8)]
    reasons = {game.pair: game.reason for game in round_.games}
    assert reasons[(2, 5)].startswith("groups of 2 and 1 points")
    assert reasons[(7, 8)].startswith("both in the group of 0 points, by rating")


def test_absences_count_for_pairing_but_not_in_the_own_final_score() -> None:
    event = request_bye(request_bye(epm(), Request(8, 1)), Request(8, 2))
    event = play(event, by_lot(1, draws=1.0), 2)
    row = next(row for row in standings(event).rows if row.entrant == 8)
    assert standings(event).order[0] == "mms"
    assert row.values[0] == 0.0
    assert next_round(event).explanation.details["scores"]["8"] == 1.0
    counted = replace(event, options={**event.options, "absences": "all"})
    row = next(row for row in standings(counted).rows if row.entrant == 8)
    assert row.values[0] == 1.0


def test_strengths_of_those_without_a_rating() -> None:
    field = (Entrant(id=1, name="a", rating=2000.0), Entrant(id=2, name="b", grade="1d"), Entrant(id=3, name="c"))
    assert strengths(Field(1, field, ())) == {1: 2000.0, 2: 2100.0, 3: 2050.0}
    assert strengths(Field(1, field[2:], ())) == {3: 0.0}
    assert strengths(field_of(epm(()))) == {}


@settings(max_examples=20)
@given(size=st.integers(0, 11), seed=st.integers(0, 10_000), rounds=st.integers(1, 4))
def test_whole_events_from_the_top_down(size: int, seed: int, rounds: int) -> None:
    rng = random.Random(seed)
    field = tuple(
        replace(entrant, start=2 * rng.randrange(4)) for entrant in entrants([1500.0 + 13 * k for k in range(size)])
    )
    event = play(Event(system="epm", entrants=field, seed=seed), by_lot(seed), rounds)
    for round_ in event.rounds:
        details = round_.explanation.details
        ids = [id_ for game in round_.games for id_ in game.pair] + [bye.entrant for bye in round_.byes]
        assert sorted(ids) == list(range(1, size + 1))
        tops = [max(details["scores"][str(id_)] for id_ in group) // 1 for group in details["groups"]]
        assert tops == sorted(set(tops), reverse=True)
        assert sorted(itertools.chain(*details["groups"])) == sorted(id_ for game in round_.games for id_ in game.pair)
