"""What the fold of the headline rating keeps besides what such systems share: counts by pairs and the last refit.

Must not know: what an entry means, when a refit is due, bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import nan
from typing import Final, NamedTuple

import numpy as np

from cgos_server.core.rating.posterior_state import Known, PosteriorState

from .belief import Belief
from .pool import MEAN_STEP_SD, Ends, Floats, Hyper, Ints, Links, Pool, Prior, Sites, even_ends


class Mark(NamedTuple):
    """The counts at which the last cold refit began: what the schedule compares with.

    :ivar passed: thresholds of the mean number of games that had been passed
    :ivar n: versions
    :ivar drawn: True where there were drawn games
    :ivar relinked: how many links of versions that had joined had been declared, changed or withdrawn
    """

    passed: int
    n: int
    drawn: bool
    relinked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The installed refit.

    :ivar included: the entry up to which it counts
    :ivar colds: how many cold refits were installed up to now, this one included
    :ivar mark: of the last cold one
    :ivar sites: None before the first refit
    :ivar ends: of its intervals
    :ivar x: its means (versions, centers), as a warm refit starts from them
    :ivar established: versions that were established when it was installed; None: none was
    """

    included: int
    colds: int
    mark: Mark | None
    hyper: Hyper
    known: Known
    sites: Sites | None
    ends: Ends
    x: Floats
    established: Ints | None


_ROOM: Final = 64


class Counts(NamedTuple):
    """Results by ordered pair: (p, 2) first and second mover, (p, 3) wins, draws and losses of the first mover."""

    pairs: Ints
    results: Ints

    def canonical(self) -> Counts:
        """Pairs that have results, in ascending order: the same whatever the order in which the results came."""
        some = np.flatnonzero(self.results.any(axis=1))
        some = some[np.lexsort((self.pairs[some, 1], self.pairs[some, 0]))]
        return Counts(self.pairs[some], self.results[some])

    def wins(self) -> Ints:
        """(p, 3) rows (winner, loser, games) of all games that were won, one for each winner and loser, in order."""
        both, row = np.unique(np.concatenate((self.pairs, self.pairs[:, ::-1])), axis=0, return_inverse=True)
        games = np.bincount(row.ravel(), np.concatenate((self.results[:, 0], self.results[:, 2])), len(both))
        wins = np.column_stack((both, games.astype(np.int64)))
        won: Ints = wins[wins[:, 2] > 0]
        return won


class Cells:
    """Counts by ordered pair (first mover, second mover): wins, draws and losses of the first mover."""

    def __init__(self) -> None:
        self._row: dict[tuple[int, int], int] = {}
        self._pairs: Ints = np.zeros((_ROOM, 2), dtype=np.int64)
        self._counts: Ints = np.zeros((_ROOM, 3), dtype=np.int64)
        self.results = 0
        self.drawn = 0

    def add(self, first: int, second: int, score2: int, by: int = 1) -> bool:
        """Count `by` more results, less where negative. False, and nothing done, where there are too few."""
        row = self._row.get((first, second))
        if row is None:
            if by < 0:
                return False
            row = self._row[(first, second)] = len(self._row)
            if row == len(self._pairs):
                self._pairs = np.concatenate((self._pairs, np.zeros_like(self._pairs)))
                self._counts = np.concatenate((self._counts, np.zeros_like(self._counts)))
            self._pairs[row] = first, second
        if self._counts[row, 2 - score2] + by < 0:
            return False
        self._counts[row, 2 - score2] += by
        self.results += by
        if score2 == 1:
            self.drawn += by
        return True

    def copy(self) -> Counts:
        """A snapshot."""
        used = len(self._row)
        return Counts(self._pairs[:used].copy(), self._counts[:used].copy())

    @classmethod
    def of(cls, counts: Counts) -> Cells:
        """The cells that :meth:`copy` took."""
        cells = cls()
        used = len(counts.pairs)
        room = max(_ROOM, used)
        cells._pairs = np.zeros((room, 2), dtype=np.int64)
        cells._counts = np.zeros((room, 3), dtype=np.int64)
        cells._pairs[:used], cells._counts[:used] = counts.pairs, counts.results
        cells._row = {(first, second): row for row, (first, second) in enumerate(counts.pairs.tolist())}
        cells.results, cells.drawn = int(counts.results.sum()), int(counts.results[:, 1].sum())
        return cells


@dataclass(slots=True, kw_only=True)
class State(PosteriorState):
    """All of it.

    :ivar base: the installed refit. Besides the steps after `base.included` those before it are kept as far as a cold
        refit on its way needs them: all of the entries after `floor`
    :ivar cells: the results
    :ivar neutral: those of games in which nobody had the first move, where `first` is just one of the two. A ledger has
        none, and a state with any has no bytes
    :ivar hold: where the last cold refit began that is not installed yet
    """

    base: Base
    cells: Cells = field(default_factory=Cells)
    neutral: Cells = field(default_factory=Cells)
    floor: int = 0
    hold: int | None = None

    def count(self, first: int, second: int, score2: int, at: int) -> None:  # noqa: ARG002 - strengths do not drift
        self.cells.add(first, second, score2)

    def recount(
        self,
        first: int,
        second: int,
        was2: int | None,
        score2: int | None,
        at: int,  # noqa: ARG002 - strengths do not drift
    ) -> bool:
        if was2 is not None and not self.cells.add(first, second, was2, by=-1):
            return False
        if score2 is not None:
            self.cells.add(first, second, score2)
        return True

    def install(self, base: Base, belief: Belief) -> None:
        """A refit takes its place, and what it does not know is applied to it again."""
        self.base = base
        self.go_on_from(base.included, belief)

    def trim(self) -> None:
        """Forget the steps that nobody can need any more."""
        self.floor = self.base.included if self.hold is None else min(self.hold, self.base.included)
        if self.steps and self.steps[0].seq <= self.floor:
            self.steps = [step for step in self.steps if step.seq > self.floor]


def pool_of(known: Known, prior: Prior, counts: Counts, neutral: Counts | None = None) -> Pool:
    """What a refit is given."""
    pairs, results = counts.canonical()
    nobody = None
    if neutral is not None:
        level = neutral.canonical()
        nobody = np.repeat([False, True], (len(pairs), len(level.pairs)))
        pairs, results = np.concatenate((pairs, level.pairs)), np.concatenate((results, level.results))
    return Pool(
        n=known.n,
        prior=prior,
        anchors=_valued(known.anchors),
        own=_valued(known.own),
        links=Links(
            np.array([link.new for link in known.links], dtype=np.int64),
            np.array([link.old for link in known.links], dtype=np.int64),
            sd=np.array([nan if link.sd is None else link.sd for link in known.links], dtype=np.float64),
            surely=np.array([link.surely for link in known.links], dtype=np.int64),
        ),
        first=pairs[:, 0].copy(),
        second=pairs[:, 1].copy(),
        wins=results[:, 0].astype(np.float64),
        draws=results[:, 1].astype(np.float64),
        losses=results[:, 2].astype(np.float64),
        neutral=nobody,
    )


def _valued(facts: tuple[tuple[int, float, float], ...]) -> tuple[Ints, Floats, Floats]:
    return (
        np.array([at for at, _, _ in facts], dtype=np.int64),
        np.array([value for _, value, _ in facts], dtype=np.float64),
        np.array([sd for _, _, sd in facts], dtype=np.float64),
    )


def unseen(prior: Prior) -> State:
    """The state before the first entry: only the prior is known."""
    q = prior.components
    hyper = Hyper(s=prior.width, w=(1.0 / q,) * q) if prior.learned else Hyper(s=prior.sd, w=(1.0,))
    x, C = np.zeros(0), np.zeros((0, 0))
    if prior.learned:
        x = np.full(q + 2, prior.initial)
        C = np.full((q + 2, q + 2), prior.mean_sd**2)
        C[:q, :q] += np.eye(q) * prior.center_sd**2
        x[-1], C[-1], C[:, -1] = 0.0, 0.0, 0.0
        C[-1, -1] = MEAN_STEP_SD**2
        hyper = replace(hyper, tail=prior.tail)
    nothing = even_ends(0)
    base = Base(
        included=0,
        colds=0,
        mark=None,
        hyper=hyper,
        known=Known(0, (), (), ()),
        sites=None,
        ends=nothing,
        x=x,
        established=None,
    )
    return State(base=base, belief=Belief(x=x, C=C, ends=nothing, hyper=hyper, prior=prior, established=None))
