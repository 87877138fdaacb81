"""Many sequential tests at once, each to its end: decided pair by pair by the log-likelihood ratio of the server.

A ratio for every pair of every test would take hours. By the envelope theorem the ratio after some more pairs is nearly
the ratio now plus what each of them adds at the shares of now, log(p1/p0) of its cell. That screens: the ratio itself
is computed wherever the sum comes within :data:`MARGIN` of a bound, and where counts are small; it alone decides. How
far the sum was off at the most is measured where blocks of pairs end, and told. Must not know: what a pair's chances
are, which study it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from cgos_server.core.sequential import Hypotheses, log_likelihood_ratios
from cgos_server.core.sequential.likelihood import log_ratios, regularized
from cgos_server.lab.questions.asked import PAIRED, Bools, Ints
from cgos_server.lab.ratings.pools import Floats

Cells: TypeAlias = NDArray[np.int8]

MARGIN: Final = 0.5
"""So near a bound the ratio itself is computed."""

EARLY: Final = 64
"""Up to so many pairs the ratio is computed after each: cells are empty, and shares change much."""

FEW: Final = 8
"""After a pair in a cell with fewer than so many before, the ratio is computed, too, until the block ends."""

AT_ONCE: Final = 8
"""So many ratios of a test are computed before it is seen whether one of them ends it."""

LONGEST: Final = 256
"""Pairs in a block, at most."""

PART: Final = 32
"""A block is at most such a part of the pairs before it: then shares change little in it."""

Draw: TypeAlias = Callable[[Ints, int], Cells]
"""The next results of some of the tests, by their numbers, (m,): (m, length) cells from 0 to 4."""


class Ends(NamedTuple):
    """How n tests ended.

    :ivar accepted: (n,) whether; the others rejected
    :ivar counts: (n, 5) counts of pairs
    :ivar off: how far the screen was off at most, of tests that went on
    """

    accepted: Bools
    counts: Ints
    off: float

    @property
    def pairs(self) -> Ints:
        """(n,) pairs of each test."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.int64)


def drawn(rng: Generator, chances: Floats) -> Draw:
    """Results by lot.

    :param chances: (5,) of all tests, or (n, 5) of each
    """
    limits = np.cumsum(chances, axis=-1)[..., : PAIRED - 1]

    def draw(tests: Ints, length: int) -> Cells:
        lots = rng.random((len(tests), length))
        own = limits if limits.ndim == 1 else limits[tests][:, None, :]
        cells = np.zeros(lots.shape, dtype=np.int8)
        for cell in range(PAIRED - 1):
            cells += lots >= own[..., cell]
        return cells

    return draw


def walked(draw: Draw, tests: int, hypotheses: Hypotheses) -> Ends:
    """Each of so many tests to its end."""
    counts = np.zeros((tests, PAIRED), dtype=np.int64)
    accepted = np.zeros(tests, dtype=np.bool_)
    going = np.arange(tests)
    pairs, off = 0, 0.0
    ahead = np.full(tests, np.nan)  # by the screen
    while len(going):
        length = max(1, min(LONGEST, pairs // PART))
        before, cells = counts[going], draw(going, length)
        screen, now = _screened(before, cells, hypotheses)
        off = max(off, float(np.abs(now - ahead).max(where=~np.isnan(ahead), initial=0.0)))
        unscreened = _after_rare(before, cells) if pairs > EARLY else np.ones(cells.shape, dtype=np.bool_)
        near = (screen >= hypotheses.accept_at - MARGIN) | (screen <= hypotheses.reject_at + MARGIN) | unscreened
        taken, ratios = _first(before, cells, near, hypotheses)
        counts[going] = before + _counted(np.where(np.arange(length) < taken[:, None], cells, -1))
        accepted[going] = ratios >= hypotheses.accept_at
        still = np.isnan(ratios)
        ahead = np.where(unscreened[still, -1], np.nan, screen[still, -1])
        going, pairs = going[still], pairs + length
    return Ends(accepted, counts, off)


def _screened(before: Ints, cells: Cells, hypotheses: Hypotheses) -> tuple[Floats, Floats]:
    """About the ratio after each pair, (m, length), and the ratio before them, (m,)."""
    filled = regularized(before.astype(np.float64))
    adds = log_ratios(filled / filled.sum(axis=1, keepdims=True), hypotheses)
    now = (filled * adds).sum(axis=1)
    return now[:, None] + np.cumsum(np.take_along_axis(adds, cells.astype(np.intp), axis=1), axis=1), now


def _after_rare(before: Ints, cells: Cells) -> Bools:
    """(m, length) whether these pairs, so far, have one of a cell that had few before: shares change much by it."""
    rare = np.take_along_axis(before < FEW, cells.astype(np.intp), axis=1)
    return np.logical_or.accumulate(rare, axis=1)


def _first(before: Ints, cells: Cells, near: Bools, hypotheses: Hypotheses) -> tuple[Ints, Floats]:
    """Of each test how many of these pairs it takes, (m,), and the ratio with which it ended; NaN: it goes on.

    :param near: (m, length) after which of them the ratio is computed
    """
    taken = np.full(len(cells), cells.shape[1], dtype=np.int64)
    ratios = np.full(len(cells), np.nan)
    going = np.flatnonzero(near.any(axis=1))
    place = np.cumsum(near[going], axis=1)
    counts = before[going, None] + np.cumsum(cells[going, :, None] == np.arange(PAIRED), axis=1)
    for begin in range(0, cells.shape[1], AT_ONCE):
        open_ = np.isnan(ratios[going])
        looked = near[going] & open_[:, None] & (place > begin) & (place <= begin + AT_ONCE)
        rows, steps = np.nonzero(looked)
        if not len(rows):
            break
        exact = log_likelihood_ratios(counts[rows, steps], hypotheses)
        ends = np.flatnonzero((exact >= hypotheses.accept_at) | (exact <= hypotheses.reject_at))
        which, first = np.unique(rows[ends], return_index=True)  # the earliest, since steps ascend in a row
        taken[going[which]] = steps[ends[first]] + 1
        ratios[going[which]] = exact[ends[first]]
    return taken, ratios


def _counted(cells: Cells) -> Ints:
    """(m, 5) how often each cell comes in a row."""
    return np.stack([np.count_nonzero(cells == cell, axis=1) for cell in range(PAIRED)], axis=1)
