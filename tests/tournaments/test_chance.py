"""Lots: each by itself, alike for numbers and arrays, evenly spread."""

from __future__ import annotations

import hashlib
import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.tournaments.chance import Lots, below, choice, coin, shuffled

_MASK = 2**64 - 1


def _splitmix(state: int) -> int:
    """SplitMix64's output function, written down a second time."""
    z = state
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def test_the_generator_is_the_published_one() -> None:
    """SplitMix64 seeded with 1234567 begins with 6457827717110365317 (Steele, Lea & Flood 2014)."""
    assert _splitmix(1234567 + 0x9E3779B97F4A7C15) == 6457827717110365317
    lots = Lots(1, 1)
    lots._states["x"] = 1234567
    assert lots.unit("x") == (6457827717110365317 >> 11) * 2.0**-53


def test_the_state_is_the_one_that_recorded_events_were_drawn_with() -> None:
    for seed, number, purpose, keys in ((7, 3, "color", (4, 9)), (-1, 0, "order", (10**9,)), (2**40, 12, "", ())):
        state = int.from_bytes(hashlib.sha256(f"{seed}/{number}/{purpose}".encode()).digest()[:8], "big")
        for key in (*keys, 0):
            state = _splitmix((state + 0x9E3779B97F4A7C15 * (key + 1)) & _MASK)
        assert Lots(seed, number).unit(purpose, *keys) == (state >> 11) * 2.0**-53


@given(st.integers(), st.integers(0, 99), st.text(max_size=5), st.lists(st.integers(0, 2**40), min_size=1, max_size=20))
def test_arrays_draw_what_numbers_draw(seed: int, number: int, purpose: str, keys: list[int]) -> None:
    lots = Lots(seed, number)
    first, second = np.array(keys), np.array(keys[::-1])
    expected = [lots.unit(purpose, a, b) for a, b in zip(keys, keys[::-1], strict=True)]
    assert lots.units(purpose, first, second).tolist() == expected
    assert all(0.0 <= lot < 1.0 for lot in expected)


def test_a_draw_depends_on_seed_round_purpose_and_keys_and_on_nothing_else() -> None:
    first = Lots(7, 3)
    drawn = first.unit("color", 1, 2)
    first.unit("other")
    assert first.unit("color", 1, 2) == drawn == Lots(7, 3).unit("color", 1, 2)
    others = [Lots(8, 3).unit("color", 1, 2), Lots(7, 4).unit("color", 1, 2), first.unit("colors", 1, 2)]
    others += [first.unit("color", 2, 1), first.unit("color", 1), first.unit("color", 1, 2, 0)]
    assert len({drawn, *others}) == 7


def test_lots_are_even() -> None:
    count = 40_000
    ids = np.arange(count)
    drawn = Lots(2, 1).units("u", ids, ids + 1)
    assert abs(drawn.mean() - 0.5) < 5 * math.sqrt(1 / 12 / count)
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 5 / math.sqrt(count)
    lots = Lots(3, 1)
    faces = Counter(below(lots, 6, "die", k) for k in range(6_000))
    assert set(faces) == set(range(6))
    assert all(abs(times - 1_000) < 5 * math.sqrt(6_000 * 5 / 36) for times in faces.values())
    heads = sum(coin(lots, "coin", k) for k in range(4_000))
    assert abs(heads - 2_000) < 5 * math.sqrt(1_000)
    assert {choice(lots, "abc", "letter", k) for k in range(60)} == set("abc")


def test_a_shuffle_does_not_depend_on_the_order_given_and_every_order_is_as_likely() -> None:
    lots = Lots(5, 2)
    assert shuffled(lots, [4, 1, 3, 2], "seeds") == shuffled(lots, [1, 2, 3, 4], "seeds")
    orders = Counter(tuple(shuffled(lots, [1, 2, 3], "seeds", k)) for k in range(6_000))
    assert len(orders) == 6
    assert all(abs(count - 1_000) < 5 * math.sqrt(6_000 * 5 / 36) for count in orders.values())
