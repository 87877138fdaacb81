"""What the fold of a rating system keeps that has a posterior over all strengths: versions, facts, and what came after
the last refit.

Must not know: what an entry means, how results are counted, when a refit is due, bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from cgos_protocol.ids import VersionId
from cgos_server.core.rating.bayes.belief import Belief


class Step(NamedTuple):
    """One change of mean and covariance, in dense indices, as it is applied again after a refit.

    :ivar seq: the entry that caused it
    :ivar what: one of the numbers in :class:`StepKind`
    :ivar a: first version; of what needs a refit the one whose link was declared, -1: it is something else
    :ivar b: second version, -1: none
    :ivar score2: of a result; of a successor 1 where its link is sure; of a freed one 1 where it has a predecessor
    :ivar value: Elo; of a successor the sd of its step, 0: none is stated
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
        elif self.what == StepKind.SUCCEED:
            belief.succeed(self.b, sd=self.value or None, surely=bool(self.score2))
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
    SUCCEED: Final = 5


class Link(NamedTuple):
    """A version and its predecessor, by dense index.

    :ivar sd: of the step between them, Elo; None where none is stated
    :ivar surely: True where nobody doubts it
    """

    new: int
    old: int
    sd: float | None = None
    surely: bool = False


class Known(NamedTuple):
    """What is known of strengths besides results, by dense index, in ascending order.

    :ivar n: versions
    :ivar anchors: (index, value, sd)
    :ivar own: (index, value, sd)
    :ivar links: at most one for a successor
    """

    n: int
    anchors: tuple[tuple[int, float, float], ...]
    own: tuple[tuple[int, float, float], ...]
    links: tuple[Link, ...]


class Kept(NamedTuple):
    """A :class:`PosteriorState` as plain values, without the belief, which follows from the last refit and the
    steps after it."""

    seq: int
    ids: list[VersionId]
    waiting: list[VersionId]
    games: list[int]
    known: Known
    steps: list[Step]
    relinked: int


@dataclass(slots=True, kw_only=True)
class PosteriorState:
    """Versions are dense indices in order of joining, but for `index`, whose keys are version ids.

    A version joins when there is something to know of it: a game, a stated rating, a relative. Until then it costs
    nothing, and stands where anybody would.

    :ivar belief: the joint distribution of all strengths, as it is now
    :ivar waiting: ids of the versions that have entered and not joined
    :ivar games: rated games played, repeats included
    :ivar anchors: value and sd
    :ivar own: value and sd of outside knowledge besides the prior
    :ivar links: successor -> its link
    :ivar steps: what came after the refit that is installed, as it was applied to `belief`
    :ivar included: the last entry that the refit counts which is installed
    :ivar seq: the last entry
    :ivar pending: entries after the installed refit that a refit would make use of
    :ivar needs_refit: True where one of them took something back
    :ivar relinked: how many links were declared, changed or withdrawn of versions that had joined
    """

    belief: Belief
    index: dict[VersionId, int] = field(default_factory=dict)
    waiting: dict[VersionId, None] = field(default_factory=dict)
    ids: list[VersionId] = field(default_factory=list)
    games: list[int] = field(default_factory=list)
    anchors: dict[int, tuple[float, float]] = field(default_factory=dict)
    own: dict[int, tuple[float, float]] = field(default_factory=dict)
    links: dict[int, Link] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    included: int = 0
    seq: int = 0
    pending: int = 0
    needs_refit: bool = False
    relinked: int = 0

    # -- each system's own

    def joined(self, at: int) -> None:
        """A version more, whose time begins `at` then (Unix milliseconds)."""

    def count(self, first: int, second: int, score2: int, at: int) -> None:
        """A result more, `score2` half points for the side with the first move, `at` in Unix milliseconds."""
        raise NotImplementedError

    def recount(self, first: int, second: int, was2: int | None, score2: int | None, at: int) -> bool:
        """A result that counted as `was2` counts as `score2` (None: not). False, and nothing has changed, where there
        is none."""
        raise NotImplementedError

    # -- versions

    def join(self, version: VersionId, seq: int, at: int, link: Link | None = None) -> int:
        """The index of a version that has entered. If it has not joined it does, by entry `seq`, and its time begins
        `at` then (Unix milliseconds); as a successor where there is a `link`. Raises KeyError for any other version."""
        if version in self.waiting:
            del self.waiting[version]
            self.index[version] = len(self.ids)
            self.ids.append(version)
            self.games.append(0)
            self.joined(at)
            if link is None:
                self.take(Step(seq, StepKind.ENTER, self.index[version]))
            else:
                step = Step(seq=seq, what=StepKind.SUCCEED, a=link.new, b=link.old, value=link.sd or 0.0)
                self.take(step._replace(score2=int(link.surely)))
        return self.index[version]

    def relink(self, link: Link, seq: int) -> None:
        """A version that has joined is a successor from the next refit on."""
        ancestor = self.links.get(link.old)
        while ancestor is not None and ancestor.old != link.new:
            ancestor = self.links.get(ancestor.old)
        if ancestor is not None:
            del self.links[ancestor.new]
        self.links[link.new] = link
        self.relinked += 1
        self.take(Step(seq, StepKind.NEEDS_REFIT, link.new))

    def unlink(self, new: int, old: int, seq: int) -> bool:
        """A version succeeds none from the next refit on. False, and nothing is done, where it did not succeed this
        one."""
        if new not in self.links or self.links[new].old != old:
            return False
        del self.links[new]
        self.relinked += 1
        self.take(Step(seq, StepKind.NEEDS_REFIT))
        return True

    def find(self, version: VersionId) -> int | None:
        """The index of a version that has entered, None where it has not joined. Raises KeyError for any other."""
        return None if version in self.waiting else self.index[version]

    def known(self) -> Known:
        """Everything but the results, in canonical order."""
        return Known(
            len(self.ids),
            tuple((at, *self.anchors[at]) for at in sorted(self.anchors)),
            tuple((at, *self.own[at]) for at in sorted(self.own)),
            tuple(self.links[new] for new in sorted(self.links)),
        )

    # -- steps

    def take(self, step: Step) -> None:
        """A new step: remembered and applied."""
        self._apply(step, self.steps[-1].seq if self.steps else 0)
        self.steps.append(step)

    def go_on_from(self, included: int, belief: Belief) -> None:
        """A refit takes its place, and the steps of the entries after `included`, which it does not know, are applied
        to it again."""
        self.belief, self.included, self.pending, self.needs_refit = belief, included, 0, False
        previous = 0
        for step in self.steps:
            if step.seq > included:
                self._apply(step, previous)
                previous = step.seq

    def _apply(self, step: Step, previous: int) -> None:
        self.pending += step.seq != previous
        self.needs_refit = self.needs_refit or step.what == StepKind.NEEDS_REFIT
        if step.what == StepKind.FREE and step.score2 and not self._is_relinked(step.a, step.seq):
            return  # its predecessor says where it stands
        step.move(self.belief)

    def _is_relinked(self, at: int, seq: int) -> bool:
        """Whether, by entry `seq`, a link of a successor was declared after it had joined that `belief` does not have.
        Steps applied again see later entries, too: those say nothing of this moment."""
        return any(
            step.what == StepKind.NEEDS_REFIT and step.a == at and self.included < step.seq <= seq
            for step in self.steps
        )

    # -- plain values

    def kept(self, included: int) -> Kept:
        """All of it, with the steps after entry `included`."""
        return Kept(
            seq=self.seq,
            ids=self.ids,
            waiting=list(self.waiting),
            games=self.games,
            known=self.known(),
            steps=[step for step in self.steps if step.seq > included],
            relinked=self.relinked,
        )

    def restore(self, kept: Kept, included: int, belief: Belief) -> None:
        """Become what :meth:`kept` was of, on top of the refit's belief. Raises ValueError where the parts do not fit
        together."""
        self.seq, self.ids, self.games, self.steps = kept.seq, kept.ids, kept.games, kept.steps
        self.index = {version: at for at, version in enumerate(kept.ids)}
        self.waiting = dict.fromkeys(kept.waiting)
        self.relinked = kept.relinked
        self.anchors = {at: (value, sd) for at, value, sd in kept.known.anchors}
        self.own = {at: (value, sd) for at, value, sd in kept.known.own}
        self.links = {link.new: link for link in kept.known.links}
        self.go_on_from(included, belief)
        sizes = {self.belief.n, kept.known.n, len(self.ids), len(self.index), len(self.games)}
        if len(sizes) > 1 or self.index.keys() & self.waiting.keys():
            raise ValueError("its parts do not fit together")
