"""Swiss by weights: the formula, the optimum, the second best, lots among equals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.core.vectors import parametrize
from support.tournaments.events import by_lot, entrants, finish

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import DRAWN, Entrant, Event, Game, Ints, Round
from cgos_server.tournaments.chance import Lots
from cgos_server.tournaments.event import begin
from cgos_server.tournaments.systems.weighted import METHODS, PLACES, Placed, heaviest, weights
from cgos_server.tournaments.tournament import next_round

Pair = tuple[int, int]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        parametrize(
            metafunc, "case", "weighted_matching", named=lambda case: f"{len(case['players'])}-{case['optimal_total']}"
        )


def read(case: dict[str, Any]) -> tuple[list[str], Ints]:
    """The names in order, and our weights by their indices."""
    names = list(case["players"])
    placed = [
        Placed(player["group"], player["size"], player["place"], player["wb"], player["nb_du"], player["nb_dd"])
        for player in case["players"].values()
    ]
    met = {(names.index(a), names.index(b)) for a, b in case["met"]}
    return names, weights(placed, met, case["n_groups"], case["seeding"])


def matchings(left: Sequence[int]) -> Iterator[list[Pair]]:
    """All ways to pair an even number of them."""
    if not left:
        yield []
    for at in range(1, len(left)):
        for rest in matchings([*left[1:at], *left[at + 1 :]]):
            yield [(left[0], left[at]), *rest]


def test_vectors_weights(case: dict[str, Any]) -> None:
    names, result = read(case)
    assert {(names[a], names[b]): result[a, b] for a, b in combinations(range(len(names)), 2)} == {
        (weight["i"], weight["j"]): weight["w"] for weight in case["weights"]
    }


@pytest.mark.parametrize("seed", range(8))
def test_vectors_optimum(case: dict[str, Any], seed: int) -> None:
    names, result = read(case)
    pairs = heaviest(range(1, len(names) + 1), result, (), Lots(seed, 1))
    assert sum(result[pair] for pair in pairs) == case["optimal_total"]
    optima = [{tuple(pair) for pair in matching} for matching in case["optimal_matchings"]]
    assert {(names[a], names[b]) for a, b in pairs} in optima


def test_vectors_second_best(case: dict[str, Any]) -> None:
    names, result = read(case)
    totals = {sum(result[pair] for pair in matching) for matching in matchings(range(len(names)))}
    assert sorted(totals)[-2:] == [case["second_best_total"], case["optimal_total"]]


def test_all_optima_are_drawn(case: dict[str, Any]) -> None:
    names, result = read(case)
    drawn = {tuple(heaviest(range(1, len(names) + 1), result, (), Lots(seed, 1))) for seed in range(40)}
    assert len(drawn) == len(case["optimal_matchings"])


@st.composite
def fields(draw: st.DrawFn) -> tuple[list[Placed], set[Pair], int]:
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6).filter(lambda sizes: sum(sizes) % 2 == 0))
    placed = [
        Placed(group, size, place, draw(st.integers(-3, 3)), draw(st.integers(0, 2)), draw(st.integers(0, 2)))
        for group, size in enumerate(sizes)
        for place in range(size)
    ]
    pairs = list(combinations(range(len(placed)), 2))
    return placed, draw(st.sets(st.sampled_from(pairs))), len(sizes)


def by_the_formula(a: Placed, b: Placed, groups: int, seeding: str, above: str, below: str) -> int:
    """Everything but rematches, in exact fractions."""
    color = 0
    if a.balance * b.balance < 0:
        color = 10**6
    elif a.balance * b.balance == 0 and max(abs(a.balance), abs(b.balance)) >= 2:
        color = 5 * 10**5
    upper, lower = sorted((a, b))
    apart = lower.group - upper.group
    x = Fraction(apart, groups)
    score = 10**11 * (1 - x) * (1 + x / 2)
    seed = draw = Fraction(0)
    if apart == 0:
        n = a.size
        if seeding == "folding":
            y = Fraction(a.place + b.place - (n - 1), n - 1)
        else:
            y = Fraction(2 * abs(a.place - b.place) - n, n)
        seed = 5 * 10**6 * (1 - y**2)
    elif apart <= 3:
        s = 2 - min(1, upper.drawn_down) - min(1, lower.drawn_up)
        for first, second in ((upper.drawn_up, upper.drawn_down), (lower.drawn_down, lower.drawn_up)):
            s += s > 0 and first > second
        wish = Fraction(0)
        for who, where in ((upper, above), (lower, below)):
            n, p = who.size, who.place
            wish += Fraction({"middle": n - 1 - abs(2 * p - n + 1), "top": n - 1 - p, "bottom": p}[where], n)
        draw = s * 2 * 10**7 + 10**7 * wish
    return color + score.__floor__() + seed.__floor__() + draw.__floor__()


@given(fields(), st.sampled_from(METHODS), st.sampled_from(PLACES), st.sampled_from(PLACES))
def test_weights_are_the_formula_rounded_down(
    field: tuple[list[Placed], set[Pair], int], seeding: str, above: str, below: str
) -> None:
    placed, met, groups = field
    table = weights(placed, met, groups, seeding, above, below)
    for a, b in combinations(range(len(placed)), 2):
        rest = by_the_formula(placed[a], placed[b], groups, seeding, above, below)
        assert table[a, b] == table[b, a] == rest + (0 if (a, b) in met else 5 * 10**14)
    turned = weights(
        placed[::-1], {(len(placed) - 1 - b, len(placed) - 1 - a) for a, b in met}, groups, seeding, above, below
    )
    above_diagonal = np.triu_indices(len(placed), 1)
    assert sorted(turned[above_diagonal]) == sorted(table[above_diagonal])


@settings(max_examples=30)
@given(fields().filter(lambda field: len(field[0]) <= 8), st.integers(0, 99))
def test_nothing_is_heavier(field: tuple[list[Placed], set[Pair], int], seed: int) -> None:
    placed, met, groups = field
    table = weights(placed, met, groups)
    pairs = heaviest(range(1, len(placed) + 1), table, (), Lots(seed, 1))
    ways = [sum(table[pair] for pair in matching) for matching in matchings(range(len(placed)))]
    assert sum(table[pair] for pair in pairs) == max(ways)


def test_forbidden_pairs_never_meet_though_all_else_is_a_rematch() -> None:
    by_pair = np.array([[0, 5, 0, 9], [5, 0, 9, 0], [0, 9, 0, 5], [9, 0, 5, 0]])
    assert heaviest([1, 2, 3, 4], by_pair, {(1, 4), (1, 2)}, Lots(0, 1)) == [(0, 2), (1, 3)]
    with pytest.raises(Refused, match="must not meet"):
        heaviest([1, 2, 3, 4], by_pair, {(1, 2), (1, 3), (1, 4)}, Lots(0, 1))


def flat(n: int, **options: Any) -> Event:
    """All start with the same; smaller ids are better."""
    people = entrants([2_000.0 - at for at in range(n)])
    return Event(system="weighted", entrants=people, options={"floor": "1k", "bar": "1k", **options})


def pairs_of(round_: Round) -> set[Pair]:
    return {game.pair for game in round_.games}


def test_seeding_in_the_first_round() -> None:
    assert pairs_of(next_round(flat(6))) == {(1, 6), (2, 5), (3, 4)}
    assert pairs_of(next_round(flat(6, method="translation"))) == {(1, 4), (2, 5), (3, 6)}


@pytest.mark.parametrize(("above", "below"), [("middle", "middle"), ("top", "bottom"), ("bottom", "top")])
def test_where_floaters_are_taken_from(above: str, below: str) -> None:
    people = tuple(
        Entrant(id=at, name=f"bot-{at}", rating=2_000.0 - at, start=4 if at <= 5 else 0) for at in range(1, 11)
    )
    event = Event(system="weighted", entrants=people, options={"from_above": above, "from_below": below})
    across = [pair for pair in pairs_of(next_round(event)) if pair[0] <= 5 < pair[1]]
    place = {"top": 1, "middle": 3, "bottom": 5}
    assert across == [(place[above], 5 + place[below])]


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ((Game(black=3, white=1, result=DRAWN), Game(black=4, white=2, result=DRAWN)), {(1, 4), (2, 3)}),
        ((Game(black=3, white=1, result=DRAWN), Game(black=2, white=4, result=DRAWN)), {(1, 2), (3, 4)}),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_colors_that_fit_decide_between_equals(first: tuple[Game, ...], expected: set[Pair], seed: int) -> None:
    event = replace(begin(flat(4, method="translation"), Round(number=1, games=first)), seed=seed)
    assert pairs_of(next_round(event)) == expected


def test_who_was_drawn_down_is_not_drawn_down_again_though_best_placed_for_it() -> None:
    people = tuple(
        Entrant(id=at, name=f"bot-{at}", rating=2_000.0 - at, start=4 if at <= 5 else 0) for at in range(1, 11)
    )
    event = Event(system="weighted", entrants=people, options={"from_above": "bottom", "from_below": "top"})
    first = next_round(event)
    assert (5, 6) in pairs_of(first)
    event = finish(begin(event, first), lambda _: DRAWN)
    second = next_round(event)
    groups = second.explanation.details["groups"]
    assert (groups[0][-1], groups[1][0]) == (5, 6)
    assert second.explanation.details["total"] == sum(second.explanation.details["weights"])
    across = [pair for pair in pairs_of(second) if pair[0] <= 5 < pair[1]]
    assert len(across) == 1
    assert not {5, 6} & set(across[0])


@settings(max_examples=15)
@given(size=st.integers(0, 9), rounds=st.integers(1, 5), seed=st.integers(0, 99))
def test_the_least_number_of_rematches(size: int, rounds: int, seed: int) -> None:
    event = replace(flat(size), seed=seed)
    for number in range(rounds):
        round_ = next_round(event)
        met = {game.pair for played_round in event.rounds for game in played_round.games}
        there = sorted({entrant.id for entrant in event.entrants} - {bye.entrant for bye in round_.byes})
        fewest = min(sum(pair in met for pair in matching) for matching in matchings(there))
        assert sum(pair in met for pair in pairs_of(round_)) == fewest
        assert ("rematch" in round_.explanation.summary) == (fewest > 0)
        event = finish(begin(event, round_), by_lot(seed + number))
