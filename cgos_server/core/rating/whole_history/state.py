"""What the fold of whole-history rating keeps: counts by time, facts, the last refit, and what came after it.

Must not know: what an entry means, when a refit is due, bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cgos_protocol.ids import VersionId
from cgos_server.core.rating.bayes.belief import Belief
from cgos_server.core.rating.bayes.pool import Hyper, Prior
from cgos_server.core.rating.bayes.state import Step, StepKind
from cgos_server.core.rating.timeline import Timeline
from cgos_server.core.rating.whole_history.fit import HistoryFit, Model


@dataclass(slots=True)
class State:
    """All of it. Versions are dense indices in order of joining, but for `index`, whose keys are version ids.

    A version joins when there is something to know of it: a game, a stated rating, a relative. Until then it costs
    nothing, and stands where anybody would.

    :ivar fit: the installed refit; one of nothing before the first
    :ivar belief: the last spans' joint distribution since then
    :ivar waiting: ids of the versions that have entered and not joined
    :ivar games: rated games played, repeats included
    :ivar anchors: value and sd
    :ivar own: value and sd of outside knowledge besides the prior
    :ivar links: (new, old) -> sd
    :ivar steps: what came after `fit.included`, as it was applied to `belief`
    :ivar seq: the last entry
    :ivar pending: entries among the steps that a refit would make use of
    :ivar needs_refit: True where one of them took something back
    """

    fit: HistoryFit
    belief: Belief
    timeline: Timeline
    index: dict[VersionId, int] = field(default_factory=dict)
    waiting: dict[VersionId, None] = field(default_factory=dict)
    ids: list[VersionId] = field(default_factory=list)
    games: list[int] = field(default_factory=list)
    anchors: dict[int, tuple[float, float]] = field(default_factory=dict)
    own: dict[int, tuple[float, float]] = field(default_factory=dict)
    links: dict[tuple[int, int], float] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    seq: int = 0
    pending: int = 0
    needs_refit: bool = False

    def join(self, version: VersionId, seq: int, at: int) -> int:
        """The index of a version that has entered. If it has not joined it does, by entry `seq`, and its time begins
        `at` then (Unix milliseconds). Raises KeyError for any other."""
        if version in self.waiting:
            del self.waiting[version]
            self.index[version] = len(self.ids)
            self.ids.append(version)
            self.games.append(0)
            self.timeline.join(at)
            self.take(Step(seq, StepKind.ENTER, self.index[version]))
        return self.index[version]

    def find(self, version: VersionId) -> int | None:
        """The index of a version that has entered, None where it has not joined. Raises KeyError for any other."""
        return None if version in self.waiting else self.index[version]

    def take(self, step: Step) -> None:
        """A new step: remembered and applied."""
        self.steps.append(step)
        self._apply(step)

    def _apply(self, step: Step) -> None:
        step.move(self.belief)
        self.needs_refit = self.needs_refit or step.what == StepKind.NEEDS_REFIT

    def replace(self, fit: HistoryFit, belief: Belief) -> None:
        """A refit takes its place, and what it does not know is applied to it again."""
        self.fit, self.belief = fit, belief
        self.steps = [step for step in self.steps if step.seq > fit.included]
        self.pending = len({step.seq for step in self.steps})
        self.needs_refit = False
        for step in self.steps:
            self._apply(step)


def belief_of(fit: HistoryFit, model: Model) -> Belief:
    """The belief of a refit, before anything came after it."""
    prior = Prior(model.initial, learned=False, sd=model.prior_sd)
    established = np.array(fit.established, dtype=np.int64) if fit.established else None
    hyper = Hyper(model.prior_sd, (1.0,), fit.advantage, fit.draw)
    return Belief(
        x=fit.x, C=fit.C, own_precision=np.zeros(len(fit.x)), hyper=hyper, prior=prior, established=established
    )
