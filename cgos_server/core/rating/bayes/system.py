"""The headline rating as a fold: counts, one step a result, and a refit beside it whenever there is time.

Decides what an entry of the ledger means to the posterior, when a refit is due and cold, and what is shown. Must not
know: storage, processes, how a refit computes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import sqrt
from typing import ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cgos_protocol.errors import OurFault
from cgos_protocol.ids import VersionId
from cgos_server.core.rating import checks
from cgos_server.core.rating.base import Z95, Entry, Rating, Wanted
from cgos_server.core.rating.plain_state import dumped, rebuilt
from cgos_server.core.rating.posterior_fold import PosteriorFold
from cgos_server.core.rating.posterior_state import Kept, Known

from . import fit as engine
from . import state as states
from .belief import AllShown, Belief, head
from .joint import LEAST_SD, MOST_SD
from .pool import Floats, Hyper, Ints, Pool, Prior, Sites
from .state import Base, Cells, Counts, Mark, State, pool_of, unseen

_LAYOUT: Final = 3


class _Saved(NamedTuple):
    """:ivar base: the last refit without its means"""

    kept: Kept
    counts: Counts
    base: Base


Rebuild = Callable[[Pool, Hyper, Sites], tuple[Floats, Floats]]


def dump_state(state: State, prior: Prior) -> bytes:
    """The state as bytes, but for what a cold refit on its way would need. Raises ValueError where there are games that
    no ledger has."""
    if state.neutral.results:
        raise ValueError("games in which nobody had the first move are kept by no ledger")
    base = state.base
    saved = _Saved(state.kept(base.included), state.cells.copy(), replace(base, x=np.zeros(0)))
    return dumped(_system(prior), _LAYOUT, saved)


def load_state(data: bytes, prior: Prior, rebuild: Rebuild) -> State:
    """What :func:`dump` wrote. Raises ValueError for anything else, and for a state of a pool with another prior."""
    build = partial(_restored, prior=prior, rebuild=rebuild)
    return rebuilt(data, _system(prior), layout=_LAYOUT, form=_Saved, build=build)


def _restored(saved: _Saved, prior: Prior, rebuild: Rebuild) -> State:
    state = unseen(prior)
    base, belief, sites = saved.base, state.belief, saved.base.sites
    if sites is None:
        base = replace(base, x=state.base.x)
    else:
        # The sites say what the games said; of the games themselves only who met whom matters here.
        met = np.stack((sites.one, sites.two), axis=1)
        pool = pool_of(base.known, prior, Counts(met, np.ones((len(met), 3), dtype=np.int64)))
        x, C = rebuild(pool, base.hyper, sites)
        base = replace(base, x=x)
        x, C = head(x, pool.n), head(C, pool.n)
        belief = Belief(x=x, C=C, ends=base.ends, hyper=base.hyper, prior=prior, established=base.established)
    state.base, state.floor = base, base.included
    state.cells = Cells.of(saved.counts)
    state.restore(saved.kept, base.included, belief)
    return state


def _system(prior: Prior) -> str:
    return f"bayes with {prior}"


MODEL: Final = 2
"""The model's number, in the notes of each refit; 1, which no notes name: lineage, tails and equals were others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a refit needs; nothing in it changes any more.

    :ivar mark: of the counts, for a cold refit
    :ivar base: the refit that is installed
    :ivar neutral: results of games in which nobody had the first move; None: there are none
    """

    known: Known
    counts: Counts
    included: int
    cold: bool
    mark: Mark
    base: Base
    follow: engine.Follow | None
    neutral: Counts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BayesFit:
    """What a refit found.

    :ivar base: what is to be installed; who is established is seen then
    :ivar mean: in the belief's order (centers, versions)
    :ivar C: likewise
    """

    included: int
    cold: bool
    notes: str
    base: Base
    mean: Floats
    C: Floats


class AnchorResidual(NamedTuple):
    """What the games say of an anchor, without what is stated of it.

    :ivar value: its stated rating, Elo
    :ivar sd: its stated sd
    :ivar mean: where the others and the games would put it
    :ivar mean_sd: how sure they are
    :ivar z: (mean - value) in standard deviations of that difference
    """

    version: VersionId
    value: float
    sd: float
    mean: float
    mean_sd: float
    z: float


@dataclass(frozen=True, slots=True)
class Bayes(PosteriorFold[State]):
    """Bradley-Terry (1952) with Davidson's draws (1970), a first-move advantage and a full normal posterior.

    Without anchors the mean of the versions that were established when the last refit was installed is held at
    `initial` (of all, before two are: our choice), and every sd refers to the rating minus that mean. A version without
    games is never established, whatever is known of it.

    :meth:`superiority` and :meth:`difference` take the joint covariance and add, as for a shown sd, the share of the
    prior in either variance (it stands in for what is not known of the mixture); :meth:`predict` takes the joint
    covariance as it is. Both are what came out best.

    :ivar initial: where the pool is expected, Elo
    :ivar learned: the prior is learned from the pool; False: normal with sd `prior_sd` about `initial`
    :ivar provisional: half of the 95 % interval, in Elo, above which a rating is provisional
    :ivar advantage_sd: of what the first move is worth, Elo; 0: nothing
    :ivar color_sd: between versions, of strength as Black minus strength as White, beyond what the first move is worth
        to all, Elo. It widens what is said of a game of given colors, and changes no rating
    """

    name: ClassVar[str] = "bayes"
    model: ClassVar[int] = MODEL

    initial: float
    learned: bool = True
    prior_sd: float = 500.0
    anchor_sd: float = 1.0
    provisional: float = 100.0
    advantage_sd: float = 50.0
    color_sd: float = 0.0

    @property
    def prior(self) -> Prior:
        """The constants of the prior."""
        return Prior(
            initial=self.initial,
            learned=self.learned,
            sd=self.prior_sd,
            advantage_sd=self.advantage_sd,
            color_sd=self.color_sd,
        )

    def start(self) -> State:
        """The empty pool."""
        return states.unseen(self.prior)

    def _deviation(self, entry: Entry, default: float) -> float:
        return checks.deviation(entry, default)

    def _precision(self, sd: float) -> float:
        return 1.0 / min(max(sd, LEAST_SD), MOST_SD) ** 2

    # --- what is shown ------------------------------------------------------------------------------------------

    def _all(self, state: State) -> tuple[AllShown, NDArray[np.bool_]]:
        """All versions as they are shown, and their provisional marks."""
        shown = state.belief.all_shown(centered=not state.anchors)
        half = 0.5 * (shown.upper - shown.lower)
        provisional = (half > self.provisional) | (np.array(state.games, dtype=np.int64) == 0)
        for at, (value, sd) in state.anchors.items():
            provisional[at] = False
            for row, number in zip(shown, (value, sd, value - Z95 * sd, value + Z95 * sd), strict=True):
                row[at] = number
        return shown, provisional

    def standings(self, state: State) -> Mapping[VersionId, Rating]:
        """Every version's rating, as it is now."""
        (means, sds, *ends), provisional = self._all(state)
        anchors = [False] * len(state.ids)
        every = means.tolist(), sds.tolist(), state.games, provisional.tolist(), anchors, *(e.tolist() for e in ends)
        rows = zip(*every, strict=True)
        shown = dict(zip(state.ids, map(Rating._make, rows), strict=True))
        for at in state.anchors:
            version = state.ids[at]
            shown[version] = shown[version]._replace(anchor=True)
        return self._and_waiting(state, shown)

    def anchor_residuals(self, state: State) -> list[AnchorResidual]:
        """For each anchor, what games and the other anchors say of it: its own statement is taken out of its marginal.

        Empty with fewer than two anchors: then nothing else holds the scale. An anchor of which nothing else is known,
        or that no refit has seen as one, is left out. |z| above 3 or so says that it does not play like its number.
        """
        residuals: list[AnchorResidual] = []
        if len(state.anchors) < 2:
            return residuals
        fitted = {at for at, _, _ in state.base.known.anchors}
        for at, (value, sd) in sorted(state.anchors.items()):
            if at not in fitted:
                continue
            mean, variance = state.belief.marginal(at)
            precision = 1.0 / variance - self._precision(sd)
            if precision < 1e-8:
                continue
            without = (mean / variance - value * self._precision(sd)) / precision
            z = (without - value) / sqrt(1.0 / precision + sd**2)
            residuals.append(
                AnchorResidual(
                    version=state.ids[at], value=value, sd=sd, mean=without, mean_sd=sqrt(1.0 / precision), z=z
                )
            )
        return residuals

    # --- refits -------------------------------------------------------------------------------------------------

    def wanted(self, state: State) -> Wanted:
        """What came since the installed refit, and whether the next one should be cold."""
        return Wanted(state.pending, self._cold_due(state), state.needs_refit)

    @staticmethod
    def _cold_due(state: State) -> bool:
        n = len(state.ids)
        if n == 0:
            return False
        mark = state.base.mark
        if mark is None:
            return True
        now = _mark(state)
        grown = n > mark.n and 10 * n >= 11 * mark.n
        relinked = 10 * (now.relinked - mark.relinked) > n
        return now.passed != mark.passed or grown or relinked or (now.drawn and not mark.drawn)

    def job(self, state: State, cold: bool, follow: str | None = None) -> Job:
        """A snapshot. Cold where nothing is installed to go on from, whatever is asked. A state remembers what it needs
        to install the last cold refit begun, however many warm ones overtake it."""
        cold = cold or state.base.sites is None
        if cold:
            state.hold = state.seq
            state.trim()
        return Job(
            known=state.known(),
            counts=state.cells.copy(),
            included=state.seq,
            cold=cold,
            mark=_mark(state),
            base=state.base,
            follow=None if follow is None else _followed(follow),
            neutral=state.neutral.copy() if state.neutral.results else None,
        )

    def refit(self, job: Job) -> BayesFit:
        """The posterior of a job's counts. Repeatable bit for bit where the linear algebra runs on one thread."""
        pool, before = states.pool_of(job.known, self.prior, job.counts, job.neutral), job.base
        if job.cold or before.sites is None:
            posterior = engine.cold(pool, follow=job.follow)
        else:
            posterior = engine.warm(pool, before.hyper, before.sites, before.x, follow=job.follow)
        hyper = posterior.hyper
        notes = asdict(hyper) | {
            "model": MODEL,
            "iterations": posterior.iterations,
            "start": posterior.start,
            "versions": pool.n,
            "links": len(pool.links.new),
            "mean_step": float(posterior.x[-1]) if len(pool.links.new) and pool.prior.learned else 0.0,
        }
        base = Base(
            included=job.included,
            colds=before.colds + job.cold,
            mark=job.mark if job.cold else before.mark,
            hyper=hyper,
            known=job.known,
            sites=posterior.sites,
            ends=posterior.ends,
            x=posterior.x,
            established=None,
        )
        return BayesFit(
            included=job.included,
            cold=job.cold,
            notes=json.dumps(notes, sort_keys=True, separators=(",", ":")),
            base=base,
            mean=head(posterior.x, pool.n),
            C=head(posterior.C, pool.n),
        )

    def stale(self, state: State, fit: BayesFit) -> bool:
        """True for a warm fit that counts less than the installed refit, or that began from another cold one than the
        last installed; and for a cold fit that another cold job has overtaken."""
        colds = fit.base.colds
        if fit.cold:
            return fit.included < state.floor or colds <= state.base.colds
        return fit.included < state.base.included or colds != state.base.colds

    def install(self, state: State, fit: BayesFit) -> State:
        """The state with the fit in it, and the later entries on top; updated in place, unchanged where stale."""
        if self.stale(state, fit):
            return state
        base = fit.base
        chosen = np.flatnonzero(~self._all(state)[1])
        # One alone would be the origin itself: known exactly, and so established for ever.
        established = chosen if len(chosen) > 1 else None
        belief = Belief(
            x=fit.mean, C=fit.C, ends=base.ends, hyper=base.hyper, prior=self.prior, established=established
        )
        state.install(replace(base, established=established), belief)
        if fit.cold:
            state.hold = None
        state.trim()
        return state

    # --- what is known jointly ----------------------------------------------------------------------------------

    def _fitted(self, job: Job, fit: BayesFit) -> tuple[Belief, bool, Ints | None]:
        base = fit.base
        belief = Belief(x=fit.mean, C=fit.C, ends=base.ends, hyper=base.hyper, prior=self.prior, established=None)
        return belief, bool(job.known.anchors), job.counts.wins()

    def _wins(self, state: State) -> Ints | None:
        return state.cells.copy().wins()

    # --- bytes --------------------------------------------------------------------------------------------------

    def dump(self, state: State) -> bytes:
        """The state as bytes, whole and exact, but for what a cold refit on its way would need."""
        return dump_state(state, self.prior)

    def load(self, data: bytes) -> State:
        """The state that `dump` wrote; costs one Cholesky. Raises ValueError for anything else."""
        return load_state(data, self.prior, engine.rebuild)


def _mark(state: State) -> Mark:
    n, every = len(state.ids), (state.cells, state.neutral)
    results, drawn = sum(cells.results for cells in every), any(cells.drawn for cells in every)
    return Mark(thresholds_passed(results, n), n, drawn=drawn, relinked=state.relinked)


def thresholds_passed(results: int, n: int) -> int:
    """How many of 1, 2, 3, 4 and the whole parts of 5 * 2^(k/2), k = 0, 1, ..., the mean number of games has reached.

    :param results: counted games of n versions, two of them in each
    """
    if n == 0:
        return 0
    passed = 0
    while passed < 4 and 2 * results >= (passed + 1) * n:
        passed += 1
    k = 0
    while passed >= 4 and 2 * results >= int(5.0 * 2.0 ** (k / 2)) * n:
        passed += 1
        k += 1
    return passed


def _followed(notes: str) -> engine.Follow:
    try:
        decoded = json.loads(notes)
        start = decoded["start"]
        return (None if start is None else int(start)), tuple(int(count) for count in decoded["iterations"])
    except (ValueError, TypeError, KeyError) as error:
        raise OurFault(f"The notes of a refit cannot be read: {notes[:200]!r}.") from error
