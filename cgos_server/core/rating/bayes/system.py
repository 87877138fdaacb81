"""The headline rating as a fold: counts, one step a result, and a refit beside it whenever there is time.

Decides what an entry of the ledger means to the posterior, when a refit is due and cold, and what is shown. Must not
know: storage, processes, how a refit computes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

from cgos_protocol.errors import OurFault
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Z95, Change, Entry, Kind, Rating, Wanted

from . import fit as engine
from . import saved
from . import state as states
from .answers import Answers
from .belief import head
from .joint import LEAST_SD, MOST_SD
from .pool import Floats, Hyper, Ints, Prior, Sites
from .state import Base, Counts, Known, Mark, State, Step, StepKind


@dataclass(frozen=True, slots=True)
class Job:
    """What a refit needs; nothing in it changes any more."""

    known: Known
    counts: Counts
    included: int
    cold: bool
    colds: int
    mark: Mark | None
    hyper: Hyper
    sites: Sites | None
    x: Floats
    follow: tuple[int | None, tuple[int, ...]] | None


@dataclass(frozen=True, slots=True)
class BayesFit:
    """What a refit found. `x` is in the engine's order (versions, centers), `mean` and `C` in the belief's."""

    included: int
    cold: bool
    notes: str
    colds: int
    mark: Mark | None
    known: Known
    hyper: Hyper
    sites: Sites
    x: Floats
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
class Bayes(Answers):
    """Bradley-Terry (1952) with Davidson's draws (1970), a first-move advantage and a full normal posterior.

    Without anchors the mean of the versions that were established when the last refit was installed is held at
    `initial` (of all, before two are: our choice), and every sd refers to the rating minus that mean. A version without
    games is never established, whatever is known of it.

    :meth:`superiority` and :meth:`difference` take the joint covariance and add, as for a shown sd, the share of the
    prior in either variance (it stands in for what is not known of the mixture); :meth:`predict` takes the joint
    covariance as it is. Both are what came out best.

    :ivar initial: where the pool is expected, Elo
    :ivar learned: the prior is learned from the pool; False: normal with sd `prior_sd` about `initial`
    :ivar anchor_sd: of an anchor whose entry gives none, Elo
    :ivar lineage_sd: between a version and its predecessor where the entry gives none, Elo
    :ivar provisional: half of the 95 % interval, in Elo, above which a rating is provisional
    :ivar advantage_sd: of what the first move is worth, Elo; 0: nothing
    """

    initial: float
    learned: bool = True
    prior_sd: float = 500.0
    anchor_sd: float = 1.0
    lineage_sd: float = 150.0
    provisional: float = 100.0
    advantage_sd: float = 50.0

    @property
    def name(self) -> str:
        return "bayes"

    @property
    def sure(self) -> bool:
        return True

    @property
    def prior(self) -> Prior:
        """The constants of the prior."""
        return Prior(self.initial, self.learned, self.prior_sd, advantage_sd=self.advantage_sd)

    def start(self) -> State:
        """The empty pool."""
        return states.unseen(self.prior)

    # --- the fold -----------------------------------------------------------------------------------------------

    def fold(self, state: State, entry: Entry) -> tuple[State, tuple[Change, ...]]:
        """Apply one entry; `state` is updated in place.

        The changes are those of the versions that the entry names; the others' are published by the next refit.
        A CORRECTION changes the counts and numbers of games at once and the ratings by the next refit. Raises KeyError
        where the entry names a version that never entered, OurFault where it makes no sense; nothing is changed then.
        """
        match entry.kind:
            case Kind.GAME:
                return state, self._game(state, entry)
            case Kind.CORRECTION:
                return state, self._correction(state, entry)
            case Kind.ENTER:
                return state, self._enter(state, entry)
            case Kind.ANCHOR | Kind.UNANCHOR:
                return state, self._anchor(state, entry)
            case Kind.LINK | Kind.UNLINK:
                return state, self._link(state, entry)

    def _game(self, state: State, entry: Entry) -> tuple[Change, ...]:
        black, white = _players(entry)
        if entry.score2 not in (0, 1, 2):
            raise OurFault(f"Ledger entry {entry.seq} is a game without a result.")
        before = self._rating(state, black), self._rating(state, white)
        a, b = state.join(black, entry.seq), state.join(white, entry.seq)
        state.games[a] += 1
        state.games[b] += 1
        if not entry.repeat:
            state.cells.add(a, b, entry.score2)
            state.take(Step(seq=entry.seq, what=StepKind.RESULT, a=a, b=b, score2=entry.score2))
        return self._changes(state, entry.seq, (black, white), before)

    def _correction(self, state: State, entry: Entry) -> tuple[Change, ...]:
        black, white = _players(entry)
        was, now = entry.was2, entry.score2
        if was not in (None, 0, 1, 2) or now not in (None, 0, 1, 2):
            raise OurFault(f"Ledger entry {entry.seq} corrects a game from {was} to {now} half points.")
        before = self._rating(state, black), self._rating(state, white)
        was, more = entry.counted_once()
        if was is not None and not state.cells.has(state.find(black), state.find(white), was):
            raise OurFault(f"Ledger entry {entry.seq} takes back a game that was never counted.")
        a, b = state.join(black, entry.seq), state.join(white, entry.seq)
        if was != now:
            if was is not None:
                state.cells.add(a, b, was, by=-1)
            if now is not None:
                state.cells.add(a, b, now)
            state.take(Step(entry.seq, StepKind.NEEDS_REFIT))
        state.games[a] += more
        state.games[b] += more
        return self._changes(state, entry.seq, (black, white), before)

    def _enter(self, state: State, entry: Entry) -> tuple[Change, ...]:
        version = _version(entry)
        if version in state.index or version in state.waiting:
            raise OurFault(f"Ledger entry {entry.seq} enters version {version}, which has entered already.")
        if entry.value is not None and not isfinite(entry.value):
            raise OurFault(f"Ledger entry {entry.seq} carries no usable rating: {entry.value}.")
        given = None if entry.sd is None else _sd(entry)
        old = None if entry.other is None else state.join(entry.other, entry.seq)
        state.waiting[version] = None
        if entry.value is not None and old is None and given is not None:
            # With a spread it is knowledge from elsewhere; without one it is where newcomers stood at that time.
            at = state.join(version, entry.seq)
            state.own[at] = float(entry.value), given
            state.take(Step(entry.seq, StepKind.FACT, at, value=float(entry.value), precision=_precision(given)))
        if old is not None:
            sd = self.lineage_sd if given is None else given
            at = state.join(version, entry.seq)
            state.links[(at, old)] = sd
            state.take(Step(entry.seq, StepKind.FACT, at, old, precision=_precision(sd)))
        state.seq = entry.seq
        entered = self._rating(state, version)
        return (Change(version, entered, entered),)

    def _anchor(self, state: State, entry: Entry) -> tuple[Change, ...]:
        version = _version(entry)
        before = self._rating(state, version)
        if entry.kind is Kind.ANCHOR:
            if entry.value is None or not isfinite(entry.value):
                raise OurFault(f"Ledger entry {entry.seq} carries no usable rating: {entry.value}.")
            sd = self.anchor_sd if entry.sd is None else _sd(entry)
            at = state.join(version, entry.seq)
            held = state.anchors.get(at)
            state.anchors[at] = float(entry.value), sd
            state.take(Step(entry.seq, StepKind.FACT, at, value=float(entry.value), precision=_precision(sd)))
        elif not before.anchor:
            state.seq = entry.seq
            return ()
        else:
            at = state.index[version]
            held = state.anchors.pop(at)
            state.take(Step(entry.seq, StepKind.FREE, at))
        if held is not None:
            state.take(Step(entry.seq, StepKind.FACT, at, value=held[0], precision=-_precision(held[1])))
            state.take(Step(entry.seq, StepKind.NEEDS_REFIT))
        return self._changes(state, entry.seq, (version,), (before,))

    def _link(self, state: State, entry: Entry) -> tuple[Change, ...]:
        version, other = _version(entry), entry.other
        if other is None or other == version:
            raise OurFault(f"Ledger entry {entry.seq} ({entry.kind}) names no two versions.")
        before = self._rating(state, version), self._rating(state, other)
        new, old = state.find(version), state.find(other)
        held = None if new is None or old is None else state.links.get((new, old))
        if entry.kind is Kind.LINK:
            sd = self.lineage_sd if entry.sd is None else _sd(entry)
            new, old = state.join(version, entry.seq), state.join(other, entry.seq)
            state.links[(new, old)] = sd
            state.take(Step(entry.seq, StepKind.FACT, new, old, precision=_precision(sd)))
        elif new is None or old is None or held is None:
            state.seq = entry.seq
            return ()
        else:
            del state.links[(new, old)]
        if held is not None:
            state.take(Step(entry.seq, StepKind.FACT, new, old, precision=-_precision(held)))
            state.take(Step(entry.seq, StepKind.NEEDS_REFIT))
        return self._changes(state, entry.seq, (version, other), before)

    def _changes(
        self, state: State, seq: int, versions: tuple[VersionId, ...], before: tuple[Rating, ...]
    ) -> tuple[Change, ...]:
        state.seq = seq
        return tuple(
            Change(version, was, self._rating(state, version)) for version, was in zip(versions, before, strict=True)
        )

    # --- what is shown ------------------------------------------------------------------------------------------

    def _all(self, state: State) -> tuple[Floats, Floats, Any]:
        """Means, sds and the provisional marks of all versions."""
        means, sds = state.belief.all_shown(centered=not state.anchors)
        provisional = (Z95 * sds > self.provisional) | (np.array(state.games, dtype=np.int64) == 0)
        for at, (value, sd) in state.anchors.items():
            means[at], sds[at], provisional[at] = value, sd, False
        return means, sds, provisional

    def standings(self, state: State) -> Mapping[VersionId, Rating]:
        """Every version's rating, as it is now."""
        means, sds, provisional = self._all(state)
        rows = zip(means.tolist(), sds.tolist(), state.games, provisional.tolist(), strict=True)
        shown = dict(zip(state.ids, map(Rating._make, ((*row, False) for row in rows)), strict=True))
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
            precision = 1.0 / variance - _precision(sd)
            if precision < 1e-8:
                continue
            without = (mean / variance - value * _precision(sd)) / precision
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
        return now.passed != mark.passed or (n > mark.n and 10 * n >= 11 * mark.n) or (now.drawn and not mark.drawn)

    def job(self, state: State, cold: bool, follow: str | None = None) -> Job:
        """A snapshot. Cold where nothing is installed to go on from, whatever is asked. A state remembers what it needs
        to install the last cold refit begun, however many warm ones overtake it."""
        base = state.base
        cold = cold or base.sites is None
        if cold:
            state.hold = state.seq
            state.trim()
        return Job(
            known=state.known(),
            counts=state.cells.copy(),
            included=state.seq,
            cold=cold,
            colds=base.colds,
            mark=_mark(state) if cold else base.mark,
            hyper=base.hyper,
            sites=base.sites,
            x=base.x,
            follow=None if follow is None else _followed(follow),
        )

    def refit(self, job: Job) -> BayesFit:
        """The posterior of a job's counts. Repeatable bit for bit where the linear algebra runs on one thread."""
        pool = states.pool_of(job.known, self.prior, job.counts)
        if job.cold or job.sites is None:
            posterior = engine.cold(pool, follow=job.follow)
        else:
            posterior = engine.warm(pool, job.hyper, job.sites, job.x, follow=job.follow)
        fitted = posterior.hyper
        hyper = Hyper(float(fitted.s), tuple(map(float, fitted.w)), float(fitted.advantage), float(fitted.draw))
        notes = {
            "advantage": hyper.advantage,
            "draw": hyper.draw,
            "iterations": list(posterior.iterations),
            "s": hyper.s,
            "start": posterior.start,
            "versions": pool.n,
            "w": list(hyper.w),
        }
        return BayesFit(
            included=job.included,
            cold=job.cold,
            notes=json.dumps(notes, sort_keys=True, separators=(",", ":")),
            colds=job.colds + job.cold,
            mark=job.mark,
            known=job.known,
            hyper=hyper,
            sites=posterior.sites,
            x=posterior.x,
            mean=head(posterior.x, pool.n),
            C=head(posterior.C, pool.n),
        )

    def stale(self, state: State, fit: BayesFit) -> bool:
        """True for a warm fit that counts less than the installed refit, or that began from another cold one than the
        last installed; and for a cold fit that another cold job has overtaken."""
        if fit.cold:
            return fit.included < state.floor or fit.colds <= state.base.colds
        return fit.included < state.base.included or fit.colds != state.base.colds

    def install(self, state: State, fit: BayesFit) -> State:
        """The state with the fit in it, and the later entries on top; updated in place, unchanged where stale."""
        if self.stale(state, fit):
            return state
        established = self._established(state)
        base = Base(
            included=fit.included,
            colds=fit.colds,
            mark=fit.mark,
            hyper=fit.hyper,
            known=fit.known,
            sites=fit.sites,
            x=fit.x,
            established=established,
        )
        belief = states.belief_of(fit.hyper, fit.sites, x=fit.mean, C=fit.C, prior=self.prior, established=established)
        state.replace(base, belief)
        if fit.cold:
            state.hold = None
        state.trim()
        return state

    def _established(self, state: State) -> Ints | None:
        chosen = np.flatnonzero(~self._all(state)[2])
        # One alone would be the origin itself: known exactly, and so established for ever.
        return chosen if len(chosen) > 1 else None

    # --- bytes --------------------------------------------------------------------------------------------------

    def dump(self, state: State) -> bytes:
        """The state as bytes, whole and exact, but for what a cold refit on its way would need."""
        return saved.dump(state, self.prior)

    def load(self, data: bytes) -> State:
        """The state that `dump` wrote; costs one Cholesky. Raises ValueError for anything else."""
        return saved.load(data, self.prior, engine.rebuild)


def _mark(state: State) -> Mark:
    n, results = len(state.ids), state.cells.results
    return Mark(thresholds_passed(results, n), n, state.cells.drawn > 0)


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


def _followed(notes: str) -> tuple[int | None, tuple[int, ...]]:
    try:
        decoded = json.loads(notes)
        start = decoded["start"]
        return (None if start is None else int(start)), tuple(int(count) for count in decoded["iterations"])
    except (ValueError, TypeError, KeyError) as error:
        raise OurFault(f"The notes of a refit cannot be read: {notes[:200]!r}.") from error


def _version(entry: Entry) -> VersionId:
    if entry.version is None:
        raise OurFault(f"Ledger entry {entry.seq} ({entry.kind}) names no version.")
    return entry.version


def _players(entry: Entry) -> tuple[VersionId, VersionId]:
    if entry.black is None or entry.white is None or entry.black == entry.white:
        raise OurFault(f"Ledger entry {entry.seq} ({entry.kind}) is no game between two versions.")
    return entry.black, entry.white


def _precision(sd: float) -> float:
    return 1.0 / min(max(sd, LEAST_SD), MOST_SD) ** 2


def _sd(entry: Entry) -> float:
    if entry.sd is None or not isfinite(entry.sd) or entry.sd <= 0:
        raise OurFault(f"Ledger entry {entry.seq} carries no usable standard deviation: {entry.sd}.")
    return float(entry.sd)
