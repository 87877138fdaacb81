"""Games that went exactly like an earlier one of the same two."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.rating.repeats import Repeats, game_digest

SIDES = st.sampled_from([(1, 2), (2, 1), (1, 3)])
MOVES = st.lists(st.sampled_from(["C3", "D4", "PASS"]), max_size=3)


@given(MOVES, MOVES, st.integers(0, 2), st.integers(0, 2))
def test_a_digest_tells_games_apart_by_moves_and_result(first: list[str], second: list[str], a: int, b: int) -> None:
    digests = game_digest(first, a), game_digest(second, b)
    assert (digests[0] == digests[1]) == ((first, a) == (second, b))
    assert all(0 <= digest < 2**63 for digest in digests)


@given(st.lists(st.tuples(SIDES, st.integers(0, 5), st.booleans()), max_size=40))
def test_repeats_are_those_that_were_there_and_not_taken_back(events: list[tuple[tuple[int, int], int, bool]]) -> None:
    repeats, there = Repeats(), set[tuple[tuple[int, int], int]]()
    for sides, digest, add in events:
        if add:
            assert repeats.add(*sides, digest) == ((sides, digest) in there)
            there.add((sides, digest))
        else:
            repeats.discard(*sides, digest)
            there.discard((sides, digest))
