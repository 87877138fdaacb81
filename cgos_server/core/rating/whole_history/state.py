"""What the fold of whole-history rating keeps besides what such systems share: counts by time and the last refit.

Must not know: what an entry means, when a refit is due, bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgos_server.core.rating.bayes.belief import Belief
from cgos_server.core.rating.bayes.pool import Hyper, Prior, even_ends
from cgos_server.core.rating.posterior_state import PosteriorState
from cgos_server.core.rating.timeline import Timeline
from cgos_server.core.rating.whole_history.fit import HistoryFit, Model


@dataclass(slots=True, kw_only=True)
class State(PosteriorState):
    """All of it. `belief` is the last spans' joint distribution; the steps are those after `fit.included`.

    :ivar fit: the installed refit; one of nothing before the first
    """

    fit: HistoryFit
    timeline: Timeline

    def joined(self, at: int) -> None:
        self.timeline.join(at)

    def count(self, first: int, second: int, score2: int, at: int) -> None:
        self.timeline.add(first, second, score2, at)

    def recount(self, first: int, second: int, was2: int | None, score2: int | None, at: int) -> bool:
        return self.timeline.correct(first, second, was2, score2, at=at)

    def install(self, fit: HistoryFit, belief: Belief) -> None:
        """A refit takes its place, and what it does not know is applied to it again."""
        self.fit = fit
        self.steps = [step for step in self.steps if step.seq > fit.included]
        self.go_on_from(fit.included, belief)


def belief_of(fit: HistoryFit, model: Model) -> Belief:
    """The belief of a refit, before anything came after it."""
    prior = Prior(initial=model.initial, learned=False, sd=model.prior_sd)
    established = np.array(fit.established, dtype=np.int64) if fit.established else None
    hyper = Hyper(s=model.prior_sd, w=(1.0,), advantage=fit.advantage, draw=fit.draw)
    return Belief(x=fit.x, C=fit.C, ends=even_ends(len(fit.x)), hyper=hyper, prior=prior, established=established)
