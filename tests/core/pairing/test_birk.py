"""Birk's matchmaker with the server's options: fair byes, last opponents, forbidden pairs, sentences."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.pairing.base import Candidate, Pairing
from cgos_server.core.pairing.birk import BYES, FORMULAS, Birk, sample


class Scripted:
    """A source of randomness that can do nothing but hand out the given numbers."""

    def __init__(self, *numbers: float) -> None:
        self._numbers = list(numbers)

    def random(self) -> float:
        return self._numbers.pop(0)


def field(*ratings: float, **same: int) -> list[Candidate]:
    """Candidates 1, 2, ... called A, B, ..."""
    return [Candidate(i, chr(64 + i), rating, **same) for i, rating in enumerate(ratings, 1)]


def ids(pairing: Pairing) -> list[tuple[int, int]]:
    return [(pair.high, pair.low) for pair in pairing.pairs]


@st.composite
def fields(draw: st.DrawFn, least: int = 0, most: int = 13) -> list[Candidate]:
    size = draw(st.integers(least, most))
    last = st.none() | st.integers(1, size + 1)
    return [
        Candidate(
            i,
            f"bot-{i}",
            draw(st.integers(-2, 3)) * 100.0,
            waited=draw(st.integers(0, 5)),
            sat_out=draw(st.integers(0, 2)),
            last_sit_out=draw(st.none() | st.integers(1, 9)),
            last_opponent=draw(last.filter(lambda other, me=i: other != me)),  # type: ignore[misc]
        )
        for i in draw(st.permutations(range(1, size + 1)))
    ]


methods = st.builds(Birk, st.sampled_from(sorted(FORMULAS)), st.sampled_from(BYES), st.booleans())
forbidding = st.none() | st.sets(st.tuples(st.integers(1, 13), st.integers(1, 13)), max_size=40)


def keep(candidates: list[Candidate], barred: set[tuple[int, int]] | None) -> list[Candidate]:
    """`candidates`, kept apart as `barred` says (one of the two says so, which is enough)."""
    return [c._replace(apart=tuple(sorted(q for p, q in barred or () if p == c.id != q))) for c in candidates]


@given(fields(), methods, forbidding, st.integers())
def test_everybody_is_paired_once_or_sits_out(
    candidates: list[Candidate], method: Birk, barred: set[tuple[int, int]] | None, seed: int
) -> None:
    pairing = method.pair(keep(candidates, barred), random.Random(seed))
    seen = [v for pair in ids(pairing) for v in pair] + list(pairing.sits_out)
    assert sorted(seen) == sorted(c.id for c in candidates)
    assert barred or len(pairing.sits_out) == len(candidates) % 2
    rank = {c.id: (-c.rating, c.id) for c in candidates}
    assert all(rank[high] < rank[low] for high, low in ids(pairing))
    assert all(rank[one.high] < rank[next_.high] for one, next_ in pairwise(pairing.pairs))


@given(fields(), methods, st.integers(), st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(
    candidates: list[Candidate], method: Birk, seed: int, shuffler: random.Random
) -> None:
    shuffled = list(candidates)
    shuffler.shuffle(shuffled)
    assert method.pair(shuffled, random.Random(seed)) == method.pair(candidates, random.Random(seed))


@given(fields(), methods, forbidding, st.integers())
def test_nobody_meets_whom_it_must_not_and_its_last_opponent_only_with_a_note(
    candidates: list[Candidate], method: Birk, barred: set[tuple[int, int]] | None, seed: int
) -> None:
    pairing = method.pair(keep(candidates, barred), random.Random(seed))
    by_id = {c.id: c for c in candidates}
    for high, low in ids(pairing):
        assert not {(high, low), (low, high)} & (barred or set())
        if method.avoid_last and by_id[high].last_opponent == low:
            assert any(note.startswith(f"{by_id[high].name} (") for note in pairing.notes)


def test_nobody_or_one() -> None:
    assert Birk().pair([], Scripted()) == Pairing([], {}, [])
    alone = Birk().pair(field(1800.0), Scripted())
    assert (alone.pairs, alone.sits_out) == ([], {1: "A (1800) is alone: there is nobody to meet."})


def test_the_sentence_names_the_numbers() -> None:
    pairing = Birk("half").pair(field(1873.4, 1804.0, 1700.0, 1600.0), Scripted(0.99, 0.0, 0.0))
    first, second = pairing.pairs
    assert first.reason == "A (1873) drew 2 of 3 opponents below it and met the strongest of them, B (1804)."
    assert first.detail == {"formula": "half", "avail": 3, "n": 2, "drawn": [2, 3]}
    assert second.reason == "C (1700) met the only opponent it could: D (1600)."
    pairing = Birk("one").pair(field(1873.4, 1804.0, 1700.0, 1600.0), Scripted(0.99, 0.0))
    assert pairing.pairs[0].reason == "A (1873) drew 1 of 3 opponents below it: D (1600)."


def test_equal_ratings_rank_by_ascending_id() -> None:
    pairing = Birk("half").pair(field(1800.0, 1800.0)[::-1], Scripted(0.5))
    assert ids(pairing) == [(1, 2)]


@pytest.mark.parametrize(("size", "n"), [(1, 1), (5, 2), (5, 5), (30, 7)])
def test_sample_draws_n_times_and_gives_different_numbers(size: int, n: int) -> None:
    for edge in (0.0, 1 - 2**-53):
        drawn = sample(size, n, Scripted(*[edge] * n))
        assert len(set(drawn)) == n
        assert drawn == sorted(drawn)
        assert 0 <= drawn[0] <= drawn[-1] < size


def test_the_last_opponent_is_avoided_while_there_is_another() -> None:
    a, b, c, d = field(2000.0, 1900.0, 1800.0, 1700.0)
    candidates = [a._replace(last_opponent=2), b._replace(last_opponent=1), c, d]
    for seed in range(50):
        pairing = Birk().pair(candidates, random.Random(seed))
        assert (1, 2) not in ids(pairing)
        assert pairing.notes == []
        assert pairing.pairs[0].detail["avail"] == 2
        assert pairing.pairs[0].detail["kept_from"] == [2]
        assert pairing.pairs[0].reason.endswith(" It was kept from B.")
    plain = Birk(avoid_last=False)
    assert any((1, 2) in ids(plain.pair(candidates, random.Random(seed))) for seed in range(50))


def test_two_that_just_met_meet_again_with_a_note() -> None:
    a, b = field(2000.0, 1900.0)
    pairing = Birk().pair([a._replace(last_opponent=2), b], Scripted(0.0))
    assert ids(pairing) == [(1, 2)]
    assert pairing.notes == ["A (2000) had no choice but its last opponent: allowed for this pick."]


def test_avoid_last_gives_way_where_all_others_must_not_be_met() -> None:
    a, b, c, d = field(2000.0, 1900.0, 1800.0, 1700.0)
    for seed in range(20):
        pairing = Birk().pair([a._replace(last_opponent=2, apart=(3, 4)), b, c, d], random.Random(seed))
        assert ids(pairing)[0] == (1, 2)
        assert "last opponent" in pairing.notes[0]


def test_who_may_meet_nobody_sits_out_and_the_others_play() -> None:
    a, b, c, d = field(2000.0, 1900.0, 1800.0, 1700.0)
    pairing = Birk().pair([a, b._replace(apart=(1, 3, 4)), c, d], random.Random(1))
    assert pairing.sits_out[2] == "B (1900) must not meet anybody who was left."
    assert len(pairing.pairs) == 1


def test_many_that_must_not_be_met_are_counted_rather_than_named() -> None:
    first, *rest = field(*range(2000, 1900, -10))
    pairing = Birk("one").pair([first._replace(apart=tuple(range(2, 9))), *rest], random.Random(1))
    assert pairing.pairs[0].reason.endswith(" It was kept from 7 others.")


def test_fair_bye_goes_to_the_shortest_wait_of_those_that_have_not_sat_out() -> None:
    a, b, c = field(2000.0, 1900.0, 1800.0)
    candidates = [a._replace(waited=5_000_000), b._replace(waited=3_200_000), c._replace(waited=1, last_sit_out=4)]
    pairing = Birk().pair(candidates, Scripted(0.0))
    assert pairing.sits_out == {
        2: "B (1900) sits out, as 3 is an odd number: of those that have not sat out since their last game it had"
        " waited shortest (3.2 s)."
    }
    assert ids(pairing) == [(1, 3)]


def test_fair_bye_among_those_that_all_sat_out_goes_to_the_least_recent() -> None:
    candidates = [c._replace(last_sit_out=n) for c, n in zip(field(3, 2, 1), (7, 5, 6), strict=True)]
    pairing = Birk().pair(candidates, Scripted(0.0))
    assert list(pairing.sits_out) == [2]
    assert "least recently (round 5)" in pairing.sits_out[2]


def test_ties_for_the_bye_are_drawn_by_lot() -> None:
    candidates = field(3, 2, 1)
    drawn = {next(iter(Birk().pair(candidates, Scripted(x, 0.0)).sits_out)) for x in (0.0, 0.5, 0.99)}
    assert drawn == {1, 2, 3}
    assert "drawn by lot from 3 alike" in Birk().pair(candidates, Scripted(0.0, 0.0)).sits_out[1]


def test_natural_bye_is_whoever_is_left() -> None:
    pairing = Birk("half", bye="natural").pair(field(3, 2, 1), Scripted(0.0, 0.0))
    assert pairing.sits_out == {3: "C (1) was left over when all others had been paired."}


@given(fields(least=3), st.integers())
def test_nobody_sits_out_twice_running_while_another_candidate_did_not(candidates: list[Candidate], seed: int) -> None:
    latest = max((c.last_sit_out for c in candidates if c.last_sit_out is not None), default=0)
    for out in Birk().pair(candidates, random.Random(seed)).sits_out:
        if next(c for c in candidates if c.id == out).last_sit_out == latest:
            assert all(c.last_sit_out == latest for c in candidates)


def test_over_many_rounds_everybody_sits_out_equally_often() -> None:
    """Seven that are always ready: a game clears the sit-out, waiting starts anew, so the bye goes by lot."""
    rng = random.Random(7)
    candidates = field(*range(1700, 2400, 100))
    count = dict.fromkeys(range(1, 8), 0)
    before: int | None = None
    for number in range(1, 7001):
        out = next(iter(Birk().pair(candidates, rng).sits_out))
        assert out != before
        count[out] += 1
        before = out
        candidates = [c._replace(last_sit_out=number if c.id == out else None) for c in candidates]
    assert all(850 < times < 1150 for times in count.values())


def test_all_options_are_told() -> None:
    method = Birk("sqrt", "natural", False)
    assert method.name == "birk"
    assert method.options == {"formula": "sqrt", "bye": "natural", "avoid_last": False}


def reaches(candidates: Sequence[Candidate], method: Birk) -> set[tuple[int, int]]:
    return {pair for seed in range(300) for pair in ids(method.pair(candidates, random.Random(seed)))}


def test_any_gap_occurs_with_one_candidate_but_not_with_many() -> None:
    """With `one` rank 1 meets everybody; with `half` of 8 it draws 4 of 7, so the 3 lowest are out of reach."""
    candidates = field(*range(2000, 1920, -10))
    assert {low for high, low in reaches(candidates, Birk("one")) if high == 1} == set(range(2, 9))
    assert {low for high, low in reaches(candidates, Birk("half")) if high == 1} == {2, 3, 4, 5}
