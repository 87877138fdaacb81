"""Pairing in groups: the methods' patterns, floaters, groups that must be merged, byes."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.core import vectors

from cgos_protocol.errors import Refused
from cgos_server.tournaments.chance import Lots
from cgos_server.tournaments.ledger import Ledger, Line
from cgos_server.tournaments.pairing import groups as groups_module
from cgos_server.tournaments.pairing.byes import odd_one_out
from cgos_server.tournaments.pairing.epm_search import Outcome, explore
from cgos_server.tournaments.pairing.groups import (
    METHODS,
    Paired,
    by_method,
    middle,
    pair_group,
    pair_groups,
    pairs_of,
    seeded,
)
from cgos_server.tournaments.pairing.rematches import pair_of

Pair = tuple[int, int]
PATTERNS = ("folding", "double_folding", "translation")
LOTS = Lots(1, 1)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seeding" in metafunc.fixturenames:
        vectors.parametrize(metafunc, "seeding", "group_seeding", named=lambda case: str(case["n"]))
    if "field" in metafunc.fixturenames:
        vectors.parametrize(
            metafunc, "field", "group_pairing", named=lambda case: f"{case['method']}-{case['sizes']}".replace(" ", "")
        )


def sorted_pairs(pairs: Any) -> list[list[int]]:
    return sorted(sorted(pair) for pair in pairs)


def groups_of(sizes: list[int]) -> list[list[int]]:
    ids = iter(range(1, sum(sizes) + 1))
    return [list(itertools.islice(ids, size)) for size in sizes]


def lines(ids: list[int], byes: dict[int, int] | None = None) -> Ledger:
    return Ledger({id_: Line(byes=(byes or {}).get(id_, 0)) for id_ in ids}, Counter())


def paired(groups: list[list[int]], method: str = "folding", met: list[Pair] | None = None) -> Paired:
    return pair_groups(groups, by_method(method, LOTS), Counter(pair_of(*pair) for pair in met or []))


def test_the_patterns_of_the_vectors(seeding: dict[str, Any]) -> None:
    n = seeding["n"]
    assert seeding["floater"] == (middle(n) if n % 2 else None)
    for method in PATTERNS:
        assert sorted_pairs(pairs_of(method.replace("_", "-"), n)) == sorted_pairs(seeding[method]), method


def test_whole_fields_of_the_vectors(field: dict[str, Any]) -> None:
    groups = groups_of(field["sizes"])
    ids = list(itertools.chain(*groups))
    if len(ids) % 2:
        out = odd_one_out(ids, lines(ids))
        assert out == field["free"]
        groups = [[id_ for id_ in group if id_ != out] for group in groups]
    pairing = paired(groups, field["method"].replace("_", "-"))
    assert pairing.pairs == [tuple(pair) for pair in field["pairs"]]
    assert not pairing.merged
    assert not pairing.rematches


@pytest.mark.parametrize("n", range(14))
@pytest.mark.parametrize("method", METHODS)
def test_a_method_pairs_every_place_once(method: str, n: int) -> None:
    if method == "random":
        pairs = seeded(method, range(1, n - n % 2 + 1), LOTS)
        places = set(range(1, n - n % 2 + 1))
    else:
        pairs = pairs_of(method, n)
        places = set(range(1, n + 1)) - ({middle(n)} if n % 2 else set())
    assert sorted(itertools.chain(*pairs)) == sorted(places)
    assert all(better < other for better, other in pairs)


def test_all_random_pairings_are_as_likely_and_do_not_depend_on_the_order_of_the_members() -> None:
    counts: Counter[tuple[Pair, ...]] = Counter()
    for seed in range(3000):
        pairs = seeded("random", [1, 2, 3, 4], Lots(seed, 1))
        assert {pair_of(*pair) for pair in pairs} == {
            pair_of(*pair) for pair in seeded("random", [4, 2, 1, 3], Lots(seed, 1))
        }
        counts[tuple(sorted(pairs))] += 1
    assert len(counts) == 3
    assert all(abs(count - 1000) < 5 * (3000 * 2 / 9) ** 0.5 for count in counts.values())


def test_the_cost_of_a_method_is_nothing_for_its_own_pairs_alone() -> None:
    for method in METHODS:
        members = [11, 12, 13, 14, 15, 16, 17, 18]
        cost = by_method(method, LOTS)(members)
        own = {frozenset(pair) for pair in seeded(method, members, LOTS)}
        for pair in itertools.combinations(members, 2):
            assert cost(*pair) == cost(*reversed(pair)) >= 0
            assert (cost(*pair) == 0) == (frozenset(pair) in own)


def test_a_rematch_is_replaced_by_the_nearest_to_the_methods_partner() -> None:
    # For 1 it is 5: |5-6| + |1-2|. For 2, whose 5 is taken, 4 and 6 cost 2 each, and 4 is the better placed.
    assert paired([[1, 2, 3, 4, 5, 6]], met=[(1, 6)]).pairs == [(1, 5), (2, 4), (3, 6)]


def test_a_floater_meets_the_nearest_to_the_middle_whom_he_has_not_met() -> None:
    groups = [[1, 2, 3], [4, 5, 6, 7, 8]]
    assert paired(groups).floats == [(2, 6, 1)]
    assert paired(groups, met=[(2, 6)]).floats == [(2, 5, 1)]
    assert paired(groups, met=[(2, 6), (2, 5)]).floats == [(2, 7, 1)]


def test_a_floater_who_has_met_a_whole_group_goes_on_to_the_next() -> None:
    pairing = paired([[1, 2, 3], [4, 5], [6, 7, 8]], met=[(2, 4), (2, 5)])
    assert pairing.floats == [(2, 7, 2)]
    assert sorted_pairs(pairing.pairs) == [[1, 3], [2, 7], [4, 5], [6, 8]]


def test_one_who_has_met_everybody_below_does_not_float() -> None:
    pairing = paired([[1, 2, 3], [4, 5, 6]], met=[(2, 4), (2, 5), (2, 6)])
    assert pairing.floats == [(1, 5, 1)]
    assert sorted_pairs(pairing.pairs) == [[1, 5], [2, 3], [4, 6]]


def test_a_group_that_cannot_be_paired_is_merged_with_the_one_below() -> None:
    pairing = paired([[1, 2], [3, 4], [5, 6]], met=[(1, 2)])
    assert pairing.merged == [[1, 2]]
    assert pairing.pairs == [(1, 4), (2, 3), (5, 6)]


def test_the_last_group_is_merged_with_the_one_above_whose_pairs_are_taken_back() -> None:
    pairing = paired([[1, 2], [3, 4], [5, 6]], met=[(5, 6)])
    assert pairing.merged == [[2, 3]]
    assert pairing.pairs == [(1, 2), (3, 6), (4, 5)]
    again = paired([[1, 2], [3, 4], [5, 6]], met=[(5, 6), (3, 6), (4, 6)])
    assert again.merged == [[1, 2, 3]]
    assert again.pairs == [(1, 6), (2, 5), (3, 4)]


def test_a_merged_group_that_is_odd_has_a_floater() -> None:
    pairing = paired([[1], [2, 3], [4, 5, 6]], met=[(1, 2), (1, 3), (1, 4), (1, 5), (1, 6)])
    assert pairing.rematches  # 1 has met everybody
    pairing = paired([[1, 2, 3], [4, 5], [6, 7, 8]], met=[(1, 2), (1, 3), (2, 3)])
    assert pairing.merged == [[1, 2]]
    assert pairing.floats == [(3, 7, 2)]  # from the first group of all to the third
    assert sorted_pairs(pairing.pairs) == [[1, 5], [2, 4], [3, 7], [6, 8]]


def test_where_all_have_met_rematches_stay_near() -> None:
    met = list(itertools.combinations(range(1, 9), 2))
    pairing = paired([[1, 2], [3, 4, 5, 6], [7, 8]], met=met)
    assert sorted_pairs(pairing.pairs) == [[1, 2], [3, 6], [4, 5], [7, 8]]
    assert len(pairing.rematches) == 4
    pairing = paired([[1, 2], [3, 4, 5, 6], [7, 8]], met=[*met, (1, 2)])
    assert (1, 2) not in pairing.pairs


def test_forbidden_pairs_never_meet_and_nobody_is_left_out_in_silence() -> None:
    pairing = pair_groups([[1, 2], [3, 4]], by_method("folding", LOTS), {(1, 3): 1, (1, 4): 1}, {(1, 2)})
    assert (1, 2) not in pairing.pairs
    assert len(pairing.rematches) == 1
    with pytest.raises(Refused, match="must not meet"):
        pair_groups([[1, 2], [3, 4]], by_method("folding", LOTS), {}, {(1, 2), (1, 3), (1, 4)})


def test_nobody_at_all() -> None:
    assert paired([]).pairs == []
    assert paired([[], []]).pairs == []


@st.composite
def fields(draw: st.DrawFn) -> tuple[list[list[int]], list[Pair], set[Pair]]:
    """Groups of an even field of up to 10, pairs that have met, pairs that are forbidden."""
    n = 2 * draw(st.integers(1, 5))
    cuts = sorted(draw(st.sets(st.integers(1, n - 1), max_size=4)))
    ids = draw(st.permutations(range(1, n + 1)))
    groups = [ids[a:b] for a, b in itertools.pairwise([0, *cuts, n])]
    rng = random.Random(draw(st.integers(0, 10**6)))
    share = draw(st.sampled_from([0.1, 0.4, 0.7, 0.9]))
    pairs = list(itertools.combinations(range(1, n + 1), 2))
    met = [pair for pair in pairs for _ in range(2) if rng.random() < share]
    return groups, met, {pair for pair in pairs if rng.random() < draw(st.sampled_from([0.0, 0.1, 0.3]))}


def pairings(ids: list[int]) -> list[list[Pair]]:
    """All pairings of them."""
    if not ids:
        return [[]]
    first = ids[0]
    return [
        [pair_of(first, other), *rest]
        for other in ids[1:]
        for rest in pairings([remaining for remaining in ids[1:] if remaining != other])
    ]


@settings(max_examples=60)
@given(fields(), st.sampled_from(METHODS))
def test_there_are_only_as_many_rematches_as_there_must_be(
    field: tuple[list[list[int]], list[Pair], set[Pair]], method: str
) -> None:
    groups, met, forbidden = field
    ids = list(itertools.chain(*groups))
    allowed = [pairs for pairs in pairings(ids) if not forbidden & set(pairs)]
    counts = Counter(met)
    if not allowed:
        with pytest.raises(Refused, match="must not meet"):
            pair_groups(groups, by_method(method, LOTS), counts, forbidden)
        return
    pairing = pair_groups(groups, by_method(method, LOTS), counts, forbidden)
    pairs = {pair_of(*pair) for pair in pairing.pairs}
    assert sorted(itertools.chain(*pairs)) == sorted(ids)
    assert not pairs & forbidden
    assert all(ids.index(better) < ids.index(other) for better, other in pairing.pairs)
    fewest = min(sum(counts[pair] > 0 for pair in choice) for choice in allowed)
    assert sum(counts[pair] > 0 for pair in pairs) == fewest == len(pairing.rematches)
    merged = set(itertools.chain(*pairing.merged))
    number = {id_: at for at, group in enumerate(groups, 1) for id_ in group}
    if not fewest:
        floats = {pair_of(a, b) for a, b, _ in pairing.floats}
        for a, b in pairs - floats:
            assert number[a] == number[b] or {number[a], number[b]} <= merged


def outwards(group: list[int]) -> list[int]:
    """From the middle outwards, the upper one first."""
    center = (len(group) + 1) // 2
    places = [place for d in range(len(group)) for place in ((center - d, center + d) if d else (center,))]
    return [group[place - 1] for place in places if 1 <= place <= len(group)]


def first_pairing(members: list[int], method: str, met: set[Pair]) -> list[Pair] | None:
    """Of all pairings the first in the order of preferences."""
    cost = by_method(method, LOTS)(members)

    def completions(left: list[int]) -> Any:
        if not left:
            yield []
            return
        head, *others = left
        for other in sorted(others, key=lambda id_: (cost(head, id_), members.index(id_))):
            if pair_of(head, other) not in met:
                for rest in completions([id_ for id_ in others if id_ != other]):
                    yield [(head, other), *rest]

    return next(completions(members), None)


def step_by_step(groups: list[list[int]], method: str, met: set[Pair]) -> list[Pair] | None:
    """The rules read word for word; None where a group would have to be merged."""
    left = [list(group) for group in groups]
    collected: list[Pair] = []
    for number, group in enumerate(left):
        if len(group) % 2:
            options = [
                (floater, other)
                for floater in outwards(group)
                for below in left[number + 1 :]
                for other in outwards(below)
                if pair_of(floater, other) not in met
            ]
            if not options:
                return None
            floater, other = options[0]
            collected.append((floater, other))
            group.remove(floater)
            next(below for below in left if other in below).remove(other)
        pairs = first_pairing(group, method, met)
        if pairs is None:
            return None
        collected += pairs
    return collected


@settings(max_examples=100)
@given(fields(), st.sampled_from(METHODS))
def test_where_nothing_is_merged_it_is_the_rules_word_for_word(
    field: tuple[list[list[int]], list[Pair], set[Pair]], method: str
) -> None:
    groups, met, _ = field
    expected = step_by_step(groups, method, set(met))
    pairing = pair_groups(groups, by_method(method, LOTS), Counter(met))
    if expected is None:
        assert pairing.merged or pairing.rematches
    else:
        assert pairing.pairs == expected
        assert not pairing.merged
        assert not pairing.rematches


def cliques(a: int, b: int) -> bool:
    """Odd and even numbers do not meet."""
    return a % 2 != b % 2


def test_a_hopeless_group_is_noticed_long_before_the_search_has_tried_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = []

    def counted(*args: Any) -> Outcome:
        outcome = explore(*args)
        tried.append(outcome.tried)
        return outcome

    monkeypatch.setattr(groups_module, "explore", counted)
    assert pair_group(range(1, 31), lambda _: lambda a, b: abs(a - b), cliques, limit=100_000) is None
    assert sum(tried) < 100_000


def test_where_the_search_gives_up_the_cheapest_pairing_is_taken() -> None:
    members = range(1, 27)

    def only_the_first(a: int, b: int) -> bool:
        """The last one may meet 1 alone, who likes all others better."""
        return max(a, b) == 26 and min(a, b) != 1

    pairs = pair_group(members, lambda _: lambda a, b: abs(a - b), only_the_first, limit=30_000)
    assert pairs is not None
    assert sorted(itertools.chain(*pairs)) == list(members)
    assert pairs == [(1, 26), *((a, a + 1) for a in range(2, 26, 2))]
