"""Lots: numbers drawn from an event's seed, a round and a purpose, each by itself.

The generator is our own arithmetic (SplitMix64's output function: Steele, Lea & Flood 2014), so that neither Python nor
numpy can change what an event has drawn. Must not know: what is drawn for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from cgos_server.tournaments.base import Chance, Floats, Ints

T = TypeVar("T")
Words = NDArray[np.uint64]

COLOR_LOT: Final = "colour"  # codespell:ignore colour
"""The purpose for which colors are drawn. It is part of the arithmetic: under another word other colors are drawn."""

_WORD: Final = (1 << 64) - 1
_GAMMA: Final = 0x9E3779B97F4A7C15
_ONE: Final = 0xBF58476D1CE4E5B9
_TWO: Final = 0x94D049BB133111EB
_STEP: Final = 2.0**-53


class Lots:
    """The lots of one round. A :class:`cgos_server.tournaments.base.Chance`.

    :param seed: of the event
    :param number: of the round; 0 for what is drawn before the first
    """

    def __init__(self, seed: int, number: int) -> None:
        self._where = f"{seed}/{number}/"
        self._states: dict[str, int] = {}

    def unit(self, purpose: str, *keys: int) -> float:
        state = self._state(purpose)
        for key in keys:
            state = _mixed(state + _GAMMA * (key + 1) & _WORD)
        return (_mixed(state + _GAMMA & _WORD) >> 11) * _STEP

    def row(self, purpose: str, keys: Sequence[int], last: Iterable[int]) -> list[float]:
        """:meth:`unit` of these keys and each last one."""
        before = self._state(purpose)
        for key in keys:
            before = _mixed(before + _GAMMA * (key + 1) & _WORD)
        drawn = []
        for key in last:  # _mixed twice, written out
            word = before + _GAMMA * (key + 1) & _WORD
            word = (word ^ word >> 30) * _ONE & _WORD
            word = (word ^ word >> 27) * _TWO & _WORD
            word = (word ^ word >> 31) + _GAMMA & _WORD
            word = (word ^ word >> 30) * _ONE & _WORD
            word = (word ^ word >> 27) * _TWO & _WORD
            drawn.append(((word ^ word >> 31) >> 11) * _STEP)
        return drawn

    def units(self, purpose: str, first: Ints, second: Ints) -> Floats:
        return _units(np.full(len(first), self._state(purpose), dtype=np.uint64), first, second)

    def _state(self, purpose: str) -> int:
        if purpose not in self._states:
            digest = hashlib.sha256((self._where + purpose).encode()).digest()
            self._states[purpose] = int.from_bytes(digest[:8], "big")
        return self._states[purpose]


class ManyLots:
    """The lots of one round of many events at once.

    :param seeds: of the events
    :param number: of the round, as in :class:`Lots`
    """

    def __init__(self, seeds: Sequence[int], number: int) -> None:
        self._lots = [Lots(seed, number) for seed in seeds]

    def units(self, purpose: str, *keys: Ints) -> Floats:
        """(b, m) what :meth:`Lots.unit` gives in event b for its keys, each (b, m) or (m,)."""
        states = np.array([lots._state(purpose) for lots in self._lots], dtype=np.uint64)[:, None]
        return _units(states, *keys)


def below(rng: Chance, count: int, purpose: str, *keys: int) -> int:
    """A whole number from 0 to `count` - 1; `count` is at most 2^32, so that all are as likely within 1e-6."""
    return int(rng.unit(purpose, *keys) * count)


def coin(rng: Chance, purpose: str, *keys: int) -> bool:
    """True in half of the cases: where the number drawn is below one half."""
    return rng.unit(purpose, *keys) < 0.5


def choice(rng: Chance, among: Sequence[T], purpose: str, *keys: int) -> T:
    """One of them; their order matters."""
    return among[below(rng, len(among), purpose, *keys)] if len(among) > 1 else among[0]


def shuffled(rng: Chance, ids: Iterable[int], purpose: str, *keys: int) -> list[int]:
    """The ids in an order by lot, whatever order they come in."""
    drawn = lots_of(rng, tuple(ids), purpose, *keys)
    return sorted(drawn, key=lambda id_: (drawn[id_], id_))


def lots_of(rng: Chance, ids: Collection[int], purpose: str, *keys: int) -> dict[int, float]:
    """By id: ``rng.unit(purpose, *keys, id)``."""
    if isinstance(rng, Lots):
        return dict(zip(ids, rng.row(purpose, keys, ids), strict=True))
    return {id_: rng.unit(purpose, *keys, id_) for id_ in ids}


def _mixed(word: int) -> int:
    word = (word ^ word >> 30) * _ONE & _WORD
    word = (word ^ word >> 27) * _TWO & _WORD
    return word ^ word >> 31


def _units(states: Words, *keys: Ints) -> Floats:
    """What :meth:`Lots.unit` draws from these states, for many keys at once."""
    for key in keys:
        states = _mixed_words(states + np.uint64(_GAMMA) * (key.astype(np.uint64) + np.uint64(1)))
    return (_mixed_words(states + np.uint64(_GAMMA)) >> np.uint64(11)).astype(np.float64) * _STEP


def _mixed_words(words: Words) -> Words:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(_ONE)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(_TWO)
    return words ^ (words >> np.uint64(31))
