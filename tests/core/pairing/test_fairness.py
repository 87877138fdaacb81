"""Colors: even per pair first, then over all games, then by lot."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.pairing.fairness import colors


class Lot:
    """Hands out one number, and counts how often it was asked."""

    def __init__(self, number: float) -> None:
        self._number = number
        self.draws = 0

    def random(self) -> float:
        self.draws += 1
        return self._number


def test_the_pair_comes_first() -> None:
    black_games = {(1, 2): 3, (2, 1): 2}
    lot = Lot(0.0)
    black, white, why = colors(1, 2, lambda x, y: black_games[x, y], lambda x: -9 if x == 1 else 9, lot)
    assert (black, white) == (2, 1)
    assert why == "Black has been Black in 2 of their 5 games against each other."
    assert lot.draws == 0


def test_then_all_games() -> None:
    balance = {1: 2, 2: -1}
    lot = Lot(0.0)
    black, white, why = colors(1, 2, lambda _x, _y: 4, balance.__getitem__, lot)
    assert (black, white) == (2, 1)
    assert why == (
        "Even between the two (4 each); over all games Black's balance of colors is the lower one (-1 against +2)."
    )
    assert lot.draws == 0


def test_then_by_lot() -> None:
    sides = [colors(1, 2, lambda _x, _y: 0, lambda _x: 0, Lot(x))[:2] for x in (0.0, 0.49, 0.5, 0.99)]
    assert sides == [(1, 2), (1, 2), (2, 1), (2, 1)]
    assert "by lot" in colors(1, 2, lambda _x, _y: 0, lambda _x: 0, Lot(0.0)).why


@given(st.lists(st.sampled_from([(1, 2), (1, 3), (2, 3), (3, 1), (2, 1)]), max_size=80), st.integers())
def test_every_pair_stays_even_and_so_does_everybody(pairs: list[tuple[int, int]], seed: int) -> None:
    rng = random.Random(seed)
    black: Counter[tuple[int, int]] = Counter()
    balance: Counter[int] = Counter()
    for a, b in pairs:
        first, second, _ = colors(a, b, lambda x, y: black[x, y], lambda x: balance[x], rng)
        assert {first, second} == {a, b}
        black[first, second] += 1
        balance[first] += 1
        balance[second] -= 1
        assert abs(black[a, b] - black[b, a]) <= 1
    assert all(abs(value) <= 2 for value in balance.values())
