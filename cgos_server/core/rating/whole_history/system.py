"""Whole-history rating as a fold: strengths that drift, each result weighed by its date, refits beside.

After Coulom (2008), "Whole-History Rating". Decides what an entry of the ledger means to it and what is shown; what a
strength was in the past is an answer of the last refit. Must not know: storage, processes, how a refit computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final, NamedTuple

import numpy as np

from cgos_protocol.ids import VersionId
from cgos_server.core.rating import checks
from cgos_server.core.rating.base import Entry, Rating, Wanted
from cgos_server.core.rating.bayes.belief import Belief
from cgos_server.core.rating.bayes.joint import LEAST_SD
from cgos_server.core.rating.bayes.pool import Ints
from cgos_server.core.rating.curvature import covariance, today
from cgos_server.core.rating.plain_state import dumped, rebuilt
from cgos_server.core.rating.posterior_fold import PosteriorFold
from cgos_server.core.rating.posterior_state import Kept, Link
from cgos_server.core.rating.timeline import Dumped, Timeline
from cgos_server.core.rating.whole_history.fit import HistoryFit, Job, Model, iterations_in, nothing, refitted
from cgos_server.core.rating.whole_history.state import State, belief_of

_LAYOUT: Final = 4


class _Saved(NamedTuple):
    """:ivar fit: the last refit without means and covariance of today"""

    kept: Kept
    timeline: Dumped
    fit: HistoryFit


def dump_state(state: State, system: str) -> bytes:
    """The state as bytes.

    :param system: what the system calls itself with its options
    """
    fit = state.fit._replace(x=np.zeros(0), C=np.zeros(0))
    return dumped(system, _LAYOUT, _Saved(state.kept(fit.included), state.timeline.dumped(), fit))


def load_state(data: bytes, system: str, model: Model) -> State:
    """What :func:`dump` wrote; costs one inverse of all that the last refit determined. Raises ValueError for anything
    else, and for a state of other options."""
    return rebuilt(data, system, layout=_LAYOUT, form=_Saved, build=partial(_restored, model=model))


def _restored(saved: _Saved, model: Model) -> State:
    curvature = saved.fit.curvature
    means = np.array([span.mean for span in saved.fit.spans], dtype=np.float64)
    if len(means) != len(curvature.alone):
        raise ValueError("spans and precisions do not fit together")
    fit = saved.fit._replace(x=means[curvature.last], C=today(curvature, covariance(curvature)))
    timeline = Timeline.restored(model.drift > 0, saved.timeline)
    state = State(fit=fit, belief=belief_of(fit, model), timeline=timeline)
    state.restore(saved.kept, fit.included, state.belief)
    if timeline.versions != len(state.ids):
        raise ValueError("its versions and their time do not fit together")
    return state


@dataclass(frozen=True, slots=True)
class WholeHistory(PosteriorFold[State]):
    """Bradley-Terry (1952) with Davidson's draws (1970) and a first-move advantage, every strength a Wiener process.

    Time is cut into a version's own spans of days (:mod:`~cgos_server.core.rating.timeline`). In its first span a
    version's strength is normal with `prior_sd` about `initial`; an ENTER with a rating and an `sd` says besides that
    it is that, to that sd. A successor's first span is tied to what its predecessor was then instead. An anchor has one
    strength for all time, tied to its value, and is shown with that. Games that repeat others are not counted.

    Between refits a result moves the strengths of today in O(n), as if it fell into the last span that the refit knew;
    drift comes in with the next refit. All refits seek the same maximum: a cold one begins at `initial`, a warm one
    where the last one ended. Without anchors the mean of the versions that were established when the last refit began
    is held at `initial` (of all that joined, before two are), and every sd refers to the rating minus that mean.

    :ivar drift: standard deviation of a strength's change in a day, Elo; it grows with the square root of time, so that
        3 Elo a day are 57 a year (our choice: a version of an engine hardly changes)
    :ivar lineage_sd: between a version and its predecessor where the entry gives none, Elo
    :ivar provisional: half of the 95 % interval, in Elo, above which a rating is provisional
    :ivar advantage_sd: of what the first move is worth, Elo; 0: nothing
    """

    name: ClassVar[str] = "whole-history"

    initial: float
    drift: float = 3.0
    prior_sd: float = 500.0
    anchor_sd: float = 1.0
    lineage_sd: float = 150.0
    provisional: float = 100.0
    advantage_sd: float = 50.0

    def start(self) -> State:
        """The empty pool."""
        fit = nothing()
        return State(fit=fit, belief=belief_of(fit, self._model), timeline=Timeline(self.drift > 0))

    def _deviation(self, entry: Entry, default: float) -> float:
        return max(checks.deviation(entry, default), LEAST_SD)

    def _precision(self, sd: float) -> float:
        return float(sd**-2.0)

    def _as_taken(self, link: Link) -> Link:
        return link if link.sd is not None else link._replace(sd=self.lineage_sd)

    def standings(self, state: State) -> Mapping[VersionId, Rating]:
        """Every version's rating, as it is now."""
        shown = {version: self._rating(state, version) for version in state.ids}
        return self._and_waiting(state, shown)

    # -- refits

    def wanted(self, state: State) -> Wanted:
        """What came since the installed refit; a cold one is due only where there was none."""
        return Wanted(state.pending, bool(state.ids) and not state.fit.spans, state.needs_refit)

    def job(self, state: State, cold: bool, follow: str | None = None) -> Job:
        """A snapshot. Raises OurFault for notes that are not this system's."""
        fit = state.fit
        cold = cold or not fit.spans
        known = {(span.version, span.span): span.mean for span in fit.spans}
        anchored = [state.anchors.get(at, (self.initial, 0.0))[0] for at in range(len(state.ids))]
        now = tuple(anchored if cold else state.belief.all_shown(centered=False).mean.tolist())
        everybody = [] if state.anchors else enumerate(self._ratings(state, *state.ids))
        established = tuple(at for at, rating in everybody if not rating.provisional)
        return Job(
            included=state.seq,
            cold=cold,
            model=self._model,
            results=state.timeline.snapshot(),
            anchors=dict(sorted(state.anchors.items())),
            own=dict(sorted(state.own.items())),
            links=tuple(self._as_taken(link) for _, link in sorted(state.links.items())),
            # One alone would be the origin itself: known exactly, and so established for ever.
            established=established if len(established) > 1 else (),
            begin=({} if cold else known, now),
            advantage=0.0 if cold else fit.advantage,
            draw=0.0 if cold else fit.draw,
            iterations=None if follow is None else iterations_in(follow),
        )

    def refit(self, job: Job) -> HistoryFit:
        """The most probable histories. Repeatable bit for bit where the linear algebra runs on one thread."""
        return refitted(job)

    def stale(self, state: State, fit: HistoryFit) -> bool:
        """True for any fit that counts less than the installed one: cold ones are no better here."""
        return fit.included < state.fit.included

    def install(self, state: State, fit: HistoryFit) -> State:
        """The state with the fit in it, and the later entries on top; updated in place, unchanged where stale."""
        if not self.stale(state, fit):
            state.install(fit, belief_of(fit, self._model))
        return state

    def _fitted(self, job: Job, fit: HistoryFit) -> tuple[Belief, bool, Ints | None]:
        return belief_of(fit, self._model), bool(job.anchors), None

    def _wins(self, state: State) -> Ints | None:  # noqa: ARG002 - what a result is worth depends on its day
        return None

    @property
    def _model(self) -> Model:
        return Model(self.initial, self.prior_sd, self.drift, self.advantage_sd)

    # -- bytes

    def dump(self, state: State) -> bytes:
        """The state as bytes, whole and exact."""
        return dump_state(state, repr(self))

    def load(self, data: bytes) -> State:
        """The state that `dump` wrote, bit for bit; costs as much as a step of a refit. Raises ValueError for anything
        else, and for a state of other options."""
        return load_state(data, repr(self), self._model)
