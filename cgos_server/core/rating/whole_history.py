"""Whole-history rating as a fold: strengths that drift, each result weighed by its date, refits beside.

After Coulom (2008), "Whole-History Rating". Decides what an entry of the ledger means to it and what is shown; what a
strength was in the past is an answer of the last refit. Must not know: storage, processes, how a refit computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import erf, sqrt
from typing import Final, NamedTuple

import numpy as np

from cgos_server.core.rating import checks
from cgos_server.core.rating.base import Z95, Change, Entry, Kind, Outcome, Rating, Wanted
from cgos_server.core.rating.bayes.belief import Belief
from cgos_server.core.rating.bayes.likelihood import probabilities
from cgos_server.core.rating.bayes.pool import Floats, Hyper, Prior
from cgos_server.core.rating.bayes.state import Step, What
from cgos_server.core.rating.history_fit import HistoryFit, Job, Model, Span, iterations_in, refitted
from cgos_server.core.rating.plain_state import dumped, loaded
from cgos_server.core.rating.timeline import DAY_MS, Dumped, Timeline
from cgos_server.errors import OurFault

_IMPORTED_SD: Final = 200.0
"""Elo: how far a rating from elsewhere is trusted where nobody says."""
_LAYOUT: Final = 1
_NODES, _WEIGHTS = (np.array(each) for each in np.polynomial.hermite_e.hermegauss(21))
"""Of a normal expectation: nodes in standard deviations, weights of sum 1."""
_WEIGHTS /= _WEIGHTS.sum()
_NODES.setflags(write=False)
_WEIGHTS.setflags(write=False)


class Moment(NamedTuple):
    """What a version's strength was: `at` is the middle of a span of time, Unix milliseconds; mean and sd in Elo."""

    at: int
    mean: float
    sd: float


@dataclass(slots=True)
class State:
    """All of it. Versions are dense indices in order of entering, but for `index`, whose keys are version ids.

    :ivar fit: the installed refit; one of nothing before the first
    :ivar belief: the last spans' joint distribution since then
    :ivar steps: what came after `fit.included`, as it was applied to `belief`
    :ivar pending: entries among them that a refit would make use of
    :ivar amiss: True where one of them took something back
    """

    fit: HistoryFit
    belief: Belief
    timeline: Timeline
    index: dict[int, int] = field(default_factory=dict)
    ids: list[int] = field(default_factory=list)
    games: list[int] = field(default_factory=list)
    anchors: dict[int, tuple[float, float]] = field(default_factory=dict)
    own: dict[int, tuple[float, float]] = field(default_factory=dict)
    links: dict[tuple[int, int], float] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    seq: int = 0
    pending: int = 0
    amiss: bool = False

    def take(self, step: Step) -> None:
        """A new step: remembered and applied."""
        self.steps.append(step)
        self.apply(step)

    def apply(self, step: Step) -> None:
        """The step, to the belief."""
        if step.what == What.RESULT:
            self.belief.result(step.a, step.b, step.score2)
        elif step.what == What.ENTER:
            self.belief.enter()
        elif step.what == What.FACT:
            self.belief.fact(step.a, None if step.b < 0 else step.b, step.value, step.precision)
        elif step.what == What.FREE:
            self.belief.free(step.a)
        self.amiss = self.amiss or step.what == What.AMISS

    def replace(self, fit: HistoryFit, belief: Belief) -> None:
        """A refit takes its place, and what it does not know is applied to it again."""
        self.fit, self.belief = fit, belief
        self.steps = [step for step in self.steps if step.seq > fit.included]
        self.pending = len({step.seq for step in self.steps})
        self.amiss = False
        for step in self.steps:
            self.apply(step)


class _Saved(NamedTuple):
    """A state in bytes: everything but the belief, which follows."""

    timeline: Dumped
    ids: list[int]
    games: list[int]
    anchors: list[tuple[int, float, float]]
    own: list[tuple[int, float, float]]
    links: list[tuple[int, int, float]]
    steps: list[Step]
    seq: int
    included: int
    cold: bool
    notes: str
    x: bytes
    C: bytes
    spans: list[Span]
    anchored: list[int]
    established: list[int]
    advantage: float
    draw: float


@dataclass(frozen=True, slots=True)
class WholeHistory:
    """Bradley-Terry (1952) with Davidson's draws (1970) and a first-move advantage, every strength a Wiener process.

    Time is cut into a version's own spans of days (:mod:`~cgos_server.core.rating.timeline`). In its first span a
    version's strength is normal with `prior_sd` about `initial`; an ENTER with another rating says besides that it is
    that, to its `sd` or 200 Elo. A successor's first span is tied to what its predecessor was then. An anchor has one
    strength for all time, tied to its value, and is shown with that. Games that repeat others are not counted.

    Between refits a result moves the strengths of today in O(n), as if it fell into the last span that the refit knew;
    drift comes in with the next refit. All refits seek the same maximum: a cold one begins at `initial`, a warm one
    where the last one ended. Without anchors the mean of the versions that were established when the last refit began
    is held at `initial` (of all, before any is), and every sd refers to the rating minus that mean.

    :ivar drift: standard deviation of a strength's change in a day, Elo; it grows with the square root of time, so that
        3 Elo a day are 57 a year (our choice: a version of an engine hardly changes)
    :ivar anchor_sd: of an anchor whose entry gives none, Elo
    :ivar lineage_sd: between a version and its predecessor where the entry gives none, Elo
    :ivar provisional: half of the 95 % interval, in Elo, above which a rating is provisional
    :ivar advantage_sd: of what the first move is worth, Elo; 0: nothing
    """

    initial: float
    drift: float = 3.0
    prior_sd: float = 500.0
    anchor_sd: float = 1.0
    lineage_sd: float = 150.0
    provisional: float = 100.0
    advantage_sd: float = 50.0

    @property
    def name(self) -> str:
        return "whole-history"

    @property
    def sure(self) -> bool:
        """The spread is a standard deviation in Elo."""
        return True

    def start(self) -> State:
        """The empty pool."""
        fit = HistoryFit(0, True, "", np.zeros(0), np.zeros((0, 0)), (), frozenset(), (), 0.0, 0.0)
        return State(fit, self._belief(fit), Timeline(self.drift > 0))

    # -- the fold

    def fold(self, state: State, entry: Entry) -> tuple[State, tuple[Change, ...]]:
        """Apply one entry; `state` is updated in place.

        The changes are those of the versions that the entry names; the others' are published by the next refit.
        A CORRECTION changes the counts and numbers of games at once and the ratings by the next refit. Raises KeyError
        where the entry names a version that never entered, OurFault where it makes no sense; nothing is changed then.
        """
        match entry.kind:
            case Kind.GAME:
                changes = self._game(state, entry)
            case Kind.CORRECTION:
                changes = self._correction(state, entry)
            case Kind.ENTER:
                changes = self._enter(state, entry)
            case Kind.ANCHOR | Kind.UNANCHOR:
                changes = self._anchor(state, entry)
            case Kind.LINK | Kind.UNLINK:
                changes = self._link(state, entry)
        state.pending += bool(state.steps) and state.steps[-1].seq == entry.seq
        state.seq = entry.seq
        return state, changes

    def _game(self, state: State, entry: Entry) -> tuple[Change, ...]:
        game = checks.result(entry)
        a, b = state.index[game.black], state.index[game.white]
        before = self._ratings(state, a, b)
        score2 = game.score2
        if score2 is not None and not entry.repeat:
            state.timeline.add(a, b, score2, entry.at)
            state.take(Step(entry.seq, What.RESULT, a, b, score2))
        return self._changes(state, (a, b), before, 1)

    def _correction(self, state: State, entry: Entry) -> tuple[Change, ...]:
        game = checks.correction(entry)
        a, b = state.index[game.black], state.index[game.white]
        before = self._ratings(state, a, b)
        score2, (was2, more) = game.score2, entry.counted_once()
        if was2 != score2:
            if not state.timeline.correct(a, b, was2, score2, entry.at):
                raise OurFault(f"Ledger entry {entry.seq} takes back a game that was never counted.")
            state.take(Step(entry.seq, What.AMISS))
        return self._changes(state, (a, b), before, more)

    def _enter(self, state: State, entry: Entry) -> tuple[Change, ...]:
        version = checks.newcomer(entry, checks.version(entry) in state.index)
        old = None if entry.other is None else state.index[entry.other]
        value = None if entry.value is None else checks.value(entry)
        sd = checks.deviation(entry, self.lineage_sd if old is not None else _IMPORTED_SD)
        at = len(state.ids)
        state.index[version] = at
        state.ids.append(version)
        state.games.append(0)
        state.timeline.enter(entry.at)
        state.take(Step(entry.seq, What.ENTER, at))
        if value is not None and value != self.initial:
            own_sd = sd if old is None else _IMPORTED_SD
            state.own[at] = value, own_sd
            state.take(Step(entry.seq, What.FACT, at, value=value, precision=own_sd**-2.0))
        if old is not None:
            state.links[(at, old)] = sd
            state.take(Step(entry.seq, What.FACT, at, old, precision=sd**-2.0))
        entered = self._rating(state, at)
        return (Change(version, entered, entered),)

    def _anchor(self, state: State, entry: Entry) -> tuple[Change, ...]:
        at = state.index[checks.version(entry)]
        before = self._ratings(state, at)
        held = state.anchors.get(at)
        if entry.kind is Kind.ANCHOR:
            value, sd = checks.value(entry), checks.deviation(entry, self.anchor_sd)
            state.anchors[at] = value, sd
            state.take(Step(entry.seq, What.FACT, at, value=value, precision=sd**-2.0))
        elif held is None:
            return ()
        else:
            del state.anchors[at]
            state.take(Step(entry.seq, What.FREE, at))
        if held is not None:
            state.take(Step(entry.seq, What.FACT, at, value=held[0], precision=-(held[1] ** -2.0)))
            state.take(Step(entry.seq, What.AMISS))
        return self._changes(state, (at,), before, 0)

    def _link(self, state: State, entry: Entry) -> tuple[Change, ...]:
        new, old = state.index[checks.version(entry)], state.index[checks.predecessor(entry)]
        before = self._ratings(state, new, old)
        held = state.links.get((new, old))
        if entry.kind is Kind.LINK:
            sd = checks.deviation(entry, self.lineage_sd)
            state.links[(new, old)] = sd
            state.take(Step(entry.seq, What.FACT, new, old, precision=sd**-2.0))
        elif held is None:
            return ()
        else:
            del state.links[(new, old)]
        if held is not None:
            state.take(Step(entry.seq, What.AMISS))
        return self._changes(state, (new, old), before, 0)

    # -- what is shown

    def _rating(self, state: State, at: int) -> Rating:
        games = state.games[at]
        anchor = state.anchors.get(at)
        if anchor is not None:
            return Rating(anchor[0], anchor[1], games, False, True)
        mean, sd = state.belief.shown(at, centred=not state.anchors)
        return Rating(mean, sd, games, games == 0 or Z95 * sd > self.provisional)

    def _ratings(self, state: State, *who: int) -> tuple[Rating, ...]:
        return tuple(self._rating(state, at) for at in who)

    def _changes(self, state: State, who: tuple[int, ...], before: tuple[Rating, ...], more: int) -> tuple[Change, ...]:
        """From `before` to now, with `more` games each."""
        for at in who:
            state.games[at] = max(0, state.games[at] + more)
        after = self._ratings(state, *who)
        return tuple(Change(state.ids[at], *pair) for at, *pair in zip(who, before, after, strict=True))

    def standings(self, state: State) -> Mapping[int, Rating]:
        """Every version's rating, as it is now."""
        return {version: self._rating(state, at) for at, version in enumerate(state.ids)}

    def predict(self, state: State, black: int, white: int) -> Outcome:
        """The next game of these two, Black moving first: averaged over what is not known of their difference."""
        mean, variance = state.belief.difference(state.index[black], state.index[white])
        at = probabilities(mean + sqrt(variance) * _NODES, state.fit.advantage, state.fit.draw)
        return Outcome(float(_WEIGHTS @ at.win), float(_WEIGHTS @ at.draw), float(_WEIGHTS @ at.loss))

    def superiority(self, state: State, one: int, other: int) -> float:
        """The probability (0..1) that `one` is stronger than `other` today; a half for a version and itself."""
        a, b = state.index[one], state.index[other]
        if a == b:
            return 0.5
        mean, variance = state.belief.difference(a, b)
        return 0.5 * (1.0 + erf(mean / sqrt(2.0 * variance)))

    def difference(self, state: State, one: int, other: int) -> tuple[float, float]:
        """Mean and standard deviation, in Elo, of today's strength of `one` minus that of `other`, of two versions."""
        mean, variance = state.belief.difference(state.index[one], state.index[other])
        return mean, sqrt(variance)

    def history(self, state: State, version: int) -> list[Moment]:
        """What the installed refit says of a version's strength over time, in its gauge; empty for a version that it
        does not know yet. An anchor has one moment, at the epoch. Raises KeyError for one that never entered."""
        at = state.index[version]
        return [
            Moment(0 if at in state.fit.anchored else round(span.days * DAY_MS), span.shown_mean, span.shown_sd)
            for span in state.fit.spans
            if span.version == at
        ]

    # -- refits

    def wanted(self, state: State) -> Wanted:
        """What came since the installed refit; a cold one is due only where there was none."""
        return Wanted(state.pending, bool(state.ids) and not state.fit.spans, state.amiss)

    def job(self, state: State, cold: bool, follow: str | None = None) -> Job:
        """A snapshot. Raises OurFault for notes that are not this system's."""
        fit = state.fit
        cold = cold or not fit.spans
        known = {(span.version, span.span): span.mean for span in fit.spans}
        anchored = [state.anchors.get(at, (self.initial, 0.0))[0] for at in range(len(state.ids))]
        now = tuple(anchored if cold else state.belief.all_shown(centred=False)[0].tolist())
        everybody = [] if state.anchors else enumerate(self._ratings(state, *range(len(state.ids))))
        return Job(
            included=state.seq,
            cold=cold,
            model=self._model,
            results=state.timeline.snapshot(),
            anchors=dict(sorted(state.anchors.items())),
            own=dict(sorted(state.own.items())),
            links=dict(sorted(state.links.items())),
            established=tuple(at for at, rating in everybody if not rating.provisional),
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
            state.replace(fit, self._belief(fit))
        return state

    @property
    def _model(self) -> Model:
        return Model(self.initial, self.prior_sd, self.drift, self.advantage_sd)

    def _belief(self, fit: HistoryFit) -> Belief:
        prior = Prior(self.initial, learned=False, sd=self.prior_sd)
        established = np.array(fit.established, dtype=np.int64) if fit.established else None
        hyper = Hyper(self.prior_sd, (1.0,), fit.advantage, fit.draw)
        return Belief(fit.x, fit.C, np.zeros(len(fit.x)), hyper, prior, established)

    # -- bytes

    def dump(self, state: State) -> bytes:
        """The state as bytes, whole and exact; the covariance is the most of it: 8 n^2 bytes."""
        fit = state.fit
        saved = _Saved(
            timeline=state.timeline.dumped(),
            ids=state.ids,
            games=state.games,
            anchors=[(at, *known) for at, known in sorted(state.anchors.items())],
            own=[(at, *known) for at, known in sorted(state.own.items())],
            links=[(*pair, sd) for pair, sd in sorted(state.links.items())],
            steps=state.steps,
            seq=state.seq,
            included=fit.included,
            cold=fit.cold,
            notes=fit.notes,
            x=_bytes(fit.x),
            C=_bytes(fit.C),
            spans=list(fit.spans),
            anchored=sorted(fit.anchored),
            established=list(fit.established),
            advantage=fit.advantage,
            draw=fit.draw,
        )
        return dumped(repr(self), _LAYOUT, saved)

    def load(self, data: bytes) -> State:
        """The state that `dump` wrote, bit for bit. Raises ValueError for anything else, and for a state of other
        options."""
        saved = loaded(data, repr(self), _LAYOUT, _Saved)
        try:
            n = len(saved.x) // 8
            x, C = _floats(saved.x, (n,)), _floats(saved.C, (n, n))
            fit = HistoryFit(
                saved.included, saved.cold, saved.notes, x, C, tuple(saved.spans), frozenset(saved.anchored),
                tuple(saved.established), saved.advantage, saved.draw,
            )  # fmt: skip
            state = State(fit, self._belief(fit), Timeline.restored(self.drift > 0, saved.timeline))
            state.index = {version: at for at, version in enumerate(saved.ids)}
            state.ids, state.games, state.seq = saved.ids, saved.games, saved.seq
            state.anchors = {at: (value, sd) for at, value, sd in saved.anchors}
            state.own = {at: (value, sd) for at, value, sd in saved.own}
            state.links = {(new, old): sd for new, old, sd in saved.links}
            state.steps = saved.steps
            state.replace(fit, state.belief)
        except (IndexError, KeyError, TypeError) as error:
            raise ValueError(f"That is no state of {self.name}: {error}.") from error
        if not len(state.ids) == len(state.index) == len(state.games) == state.belief.n:
            raise ValueError(f"That is no state of {self.name}: its parts do not fit together.")
        return state


def _bytes(array: Floats) -> bytes:
    return array.astype("<f8", copy=False).tobytes()


def _floats(data: bytes, shape: tuple[int, ...]) -> Floats:
    return np.frombuffer(data, dtype="<f8").reshape(shape).astype(np.float64)
