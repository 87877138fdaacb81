"""What the fold of the headline rating keeps: counts, facts, the last refit, and what came after it.

Must not know: what an entry means, when a refit is due, bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from cgos_protocol.ids import VersionId

from .belief import Belief
from .pool import Floats, Hyper, Ints, Pool, Prior, Sites


class Step(NamedTuple):
    """One change of mean and covariance, in dense indices, as it is applied again after a refit.

    :ivar seq: the entry that caused it
    :ivar what: one of the words in :class:`What`
    :ivar a: first version
    :ivar b: second version, -1: none
    :ivar score2: of a result
    :ivar value: Elo
    :ivar precision: 1/Elo^2
    """

    seq: int
    what: int
    a: int = -1
    b: int = -1
    score2: int = 0
    value: float = 0.0
    precision: float = 0.0

    def move(self, belief: Belief) -> None:
        """Take it in mean and covariance."""
        if self.what == StepKind.RESULT:
            belief.result(self.a, self.b, self.score2)
        elif self.what == StepKind.ENTER:
            belief.enter()
        elif self.what == StepKind.FACT:
            belief.fact(self.a, None if self.b < 0 else self.b, self.value, self.precision)
        elif self.what == StepKind.FREE:
            belief.free(self.a)


class StepKind:
    """The kinds of :class:`Step`."""

    RESULT: Final = 0
    ENTER: Final = 1
    FACT: Final = 2
    FREE: Final = 3
    NEEDS_REFIT: Final = 4
    """Something was taken back, of which only a refit can say what it means: until then the ratings are wrong."""


class Known(NamedTuple):
    """What is known of strengths besides results, by dense index: all that a posterior needs besides its sites."""

    n: int
    anchors: tuple[tuple[int, float, float], ...]
    own: tuple[tuple[int, float, float], ...]
    links: tuple[tuple[int, int, float], ...]


class Mark(NamedTuple):
    """The counts at which the last cold refit began: what the schedule compares with.

    :ivar passed: thresholds of the mean number of games that had been passed
    :ivar n: versions
    :ivar drawn: True where there were drawn games
    """

    passed: int
    n: int
    drawn: bool


@dataclass(frozen=True, slots=True)
class Base:
    """The installed refit.

    :ivar included: the entry up to which it counts
    :ivar colds: how many cold refits were installed up to now, this one included
    :ivar mark: of the last cold one
    :ivar sites: None before the first refit
    :ivar x: its means (versions, centers), as a warm refit starts from them
    :ivar established: versions that were established when it was installed; None: none was
    """

    included: int
    colds: int
    mark: Mark | None
    hyper: Hyper
    known: Known
    sites: Sites | None
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

    def has(self, first: int | None, second: int | None, score2: int) -> bool:
        """Whether there is such a result to take back."""
        row = None if first is None or second is None else self._row.get((first, second))
        return row is not None and bool(self._counts[row, 2 - score2] >= 1)

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


@dataclass(slots=True)
class State:
    """All of it. Versions are dense indices in order of joining, but for `index`, whose keys are version ids.

    A version joins when there is something to know of it: a game, a stated rating, a predecessor. Until then it costs
    nothing, and stands where anybody would.

    :ivar waiting: ids of the versions that have entered and not joined
    :ivar seq: the last entry
    :ivar anchors: value and sd
    :ivar own: value and sd of outside knowledge besides the prior
    :ivar links: (new, old) -> sd
    :ivar games: rated games played, repeats included
    :ivar steps: what came after the refit that is installed (entries after `base.included`), and before it as far as a
        cold refit on its way needs it: all of the entries after `floor`
    :ivar hold: where the last cold refit began that is not installed yet
    :ivar pending: entries after `base.included` that a refit would make use of
    :ivar needs_refit: True where one of them took something back
    """

    base: Base
    belief: Belief
    index: dict[VersionId, int] = field(default_factory=dict)
    waiting: dict[VersionId, None] = field(default_factory=dict)
    ids: list[VersionId] = field(default_factory=list)
    games: list[int] = field(default_factory=list)
    anchors: dict[int, tuple[float, float]] = field(default_factory=dict)
    own: dict[int, tuple[float, float]] = field(default_factory=dict)
    links: dict[tuple[int, int], float] = field(default_factory=dict)
    cells: Cells = field(default_factory=Cells)
    steps: list[Step] = field(default_factory=list)
    seq: int = 0
    floor: int = 0
    hold: int | None = None
    pending: int = 0
    needs_refit: bool = False

    def join(self, version: VersionId, seq: int) -> int:
        """The index of a version that has entered; it joins if it has not. Raises KeyError for any other."""
        if version in self.waiting:
            del self.waiting[version]
            self.index[version] = len(self.ids)
            self.ids.append(version)
            self.games.append(0)
            self.take(Step(seq, StepKind.ENTER, self.index[version]))
        return self.index[version]

    def find(self, version: VersionId) -> int | None:
        """The index of a version that has entered, None where it has not joined. Raises KeyError for any other."""
        return None if version in self.waiting else self.index[version]

    def known(self) -> Known:
        """Everything but the results, in canonical order."""
        return Known(
            len(self.ids),
            tuple((at, *self.anchors[at]) for at in sorted(self.anchors)),
            tuple((at, *self.own[at]) for at in sorted(self.own)),
            tuple((*pair, self.links[pair]) for pair in sorted(self.links)),
        )

    def take(self, step: Step) -> None:
        """A new step: remembered and applied."""
        self._note(step, self.steps[-1].seq if self.steps else 0)
        self.steps.append(step)
        step.move(self.belief)

    def _note(self, step: Step, previous: int) -> None:
        self.pending += step.seq != previous
        self.needs_refit = self.needs_refit or step.what == StepKind.NEEDS_REFIT

    def replace(self, base: Base, belief: Belief) -> None:
        """A refit takes its place, and what it does not know is applied to it again."""
        self.base, self.belief = base, belief
        self.pending, self.needs_refit, previous = 0, False, 0
        for step in self.steps:
            if step.seq > base.included:
                self._note(step, previous)
                step.move(self.belief)
                previous = step.seq

    def trim(self) -> None:
        """Forget the steps that nobody can need any more."""
        self.floor = self.base.included if self.hold is None else min(self.hold, self.base.included)
        if self.steps and self.steps[0].seq <= self.floor:
            self.steps = [step for step in self.steps if step.seq > self.floor]


def pool_of(known: Known, prior: Prior, counts: Counts) -> Pool:
    """What a refit is given."""
    pairs, results = counts.canonical()
    return Pool(
        n=known.n,
        prior=prior,
        anchors=_valued(known.anchors),
        own=_valued(known.own),
        links=(
            np.array([new for new, _, _ in known.links], dtype=np.int64),
            np.array([old for _, old, _ in known.links], dtype=np.int64),
            np.array([sd for _, _, sd in known.links], dtype=np.float64),
        ),
        first=pairs[:, 0].copy(),
        second=pairs[:, 1].copy(),
        wins=results[:, 0].astype(np.float64),
        draws=results[:, 1].astype(np.float64),
        losses=results[:, 2].astype(np.float64),
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
    hyper = Hyper(prior.width, (1.0 / q,) * q) if prior.learned else Hyper(prior.sd, (1.0,))
    x, C = np.zeros(0), np.zeros((0, 0))
    if prior.learned:
        x = np.full(q + 1, prior.initial)
        C = np.full((q + 1, q + 1), prior.mean_sd**2)
        C[:q, :q] += np.eye(q) * prior.center_sd**2
    base = Base(
        included=0, colds=0, mark=None, hyper=hyper, known=Known(0, (), (), ()), sites=None, x=x, established=None
    )
    return State(base, Belief(x=x, C=C, own_precision=np.zeros(0), hyper=hyper, prior=prior, established=None))


def belief_of(hyper: Hyper, sites: Sites, x: Floats, C: Floats, prior: Prior, established: Ints | None) -> Belief:
    """The belief of a refit; `x` and `C` in the order (centers, versions), see :func:`~.belief.head`."""
    own = sites.PS[:, 0, 0] if prior.learned else np.zeros(len(x))
    return Belief(x=x, C=C, own_precision=own, hyper=hyper, prior=prior, established=established)
