"""Whole-history rating as a fold: strengths that drift, each result weighed by its date, refits beside.

After Coulom (2008), "Whole-History Rating". Decides what an entry of the ledger means to it and what is shown; what a
strength was in the past is an answer of the last refit. Must not know: storage, processes, how a refit computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from cgos_protocol.errors import OurFault
from cgos_protocol.ids import VersionId
from cgos_server.core.rating import checks
from cgos_server.core.rating.base import Change, Entry, Kind, Rating, Wanted
from cgos_server.core.rating.bayes.answers import Answers
from cgos_server.core.rating.bayes.joint import LEAST_SD
from cgos_server.core.rating.bayes.state import Step, StepKind
from cgos_server.core.rating.timeline import DAY_MS, Timeline
from cgos_server.core.rating.whole_history import saved as history_saved
from cgos_server.core.rating.whole_history.fit import HistoryFit, Job, Model, iterations_in, nothing, refitted
from cgos_server.core.rating.whole_history.state import State, belief_of


class Moment(NamedTuple):
    """What a version's strength was: `at` is the middle of a span of time, Unix milliseconds; mean and sd in Elo."""

    at: int
    mean: float
    sd: float


@dataclass(frozen=True, slots=True)
class WholeHistory(Answers):
    """Bradley-Terry (1952) with Davidson's draws (1970) and a first-move advantage, every strength a Wiener process.

    Time is cut into a version's own spans of days (:mod:`~cgos_server.core.rating.timeline`). In its first span a
    version's strength is normal with `prior_sd` about `initial`; an ENTER with a rating and an `sd` says besides that
    it is that, to that sd. A successor's first span is tied to what its predecessor was then. An anchor has one
    strength for all time, tied to its value, and is shown with that. Games that repeat others are not counted.

    Between refits a result moves the strengths of today in O(n), as if it fell into the last span that the refit knew;
    drift comes in with the next refit. All refits seek the same maximum: a cold one begins at `initial`, a warm one
    where the last one ended. Without anchors the mean of the versions that were established when the last refit began
    is held at `initial` (of all that joined, before two are), and every sd refers to the rating minus that mean.

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
        fit = nothing()
        return State(fit, belief_of(fit, self._model), Timeline(self.drift > 0))

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
        who = game.black, game.white
        before = self._ratings(state, *who)
        a, b = (state.join(version, entry.seq, entry.at) for version in who)
        score2 = game.score2
        if score2 is not None and not entry.repeat:
            state.timeline.add(a, b, score2, entry.at)
            state.take(Step(seq=entry.seq, what=StepKind.RESULT, a=a, b=b, score2=score2))
        return self._changes(state, who, before, 1)

    def _correction(self, state: State, entry: Entry) -> tuple[Change, ...]:
        game = checks.correction(entry)
        who = game.black, game.white
        before = self._ratings(state, *who)
        score2, (was2, more) = game.score2, entry.counted_once()
        if was2 is None:
            for version in who:
                state.join(version, entry.seq, entry.at)
        a, b = map(state.find, who)
        if a is None or b is None or (was2 != score2 and not state.timeline.correct(a, b, was2, score2, at=entry.at)):
            raise OurFault(f"Ledger entry {entry.seq} takes back a game that was never counted.")
        if was2 != score2:
            state.take(Step(entry.seq, StepKind.NEEDS_REFIT))
        return self._changes(state, who, before, more)

    def _enter(self, state: State, entry: Entry) -> tuple[Change, ...]:
        entering = checks.version(entry)
        version = checks.newcomer(entry, entering in state.index or entering in state.waiting)
        if entry.other is not None:
            state.find(entry.other)
        value = None if entry.value is None else checks.value(entry)
        sd = _deviation(entry, self.lineage_sd)
        old = None if entry.other is None else state.join(entry.other, entry.seq, entry.at)
        state.waiting[version] = None
        if value is not None and old is None and entry.sd is not None:
            # With a spread it is knowledge from elsewhere; without one it is where newcomers stood at that time.
            at = state.join(version, entry.seq, entry.at)
            state.own[at] = value, sd
            state.take(Step(entry.seq, StepKind.FACT, at, value=value, precision=sd**-2.0))
        if old is not None:
            at = state.join(version, entry.seq, entry.at)
            state.links[(at, old)] = sd
            state.take(Step(entry.seq, StepKind.FACT, at, old, precision=sd**-2.0))
        entered = self._rating(state, version)
        return (Change(version, entered, entered),)

    def _anchor(self, state: State, entry: Entry) -> tuple[Change, ...]:
        version = checks.version(entry)
        before = self._ratings(state, version)
        if entry.kind is Kind.ANCHOR:
            value, sd = checks.value(entry), _deviation(entry, self.anchor_sd)
            at = state.join(version, entry.seq, entry.at)
            held = state.anchors.get(at)
            state.anchors[at] = value, sd
            state.take(Step(entry.seq, StepKind.FACT, at, value=value, precision=sd**-2.0))
        elif not before[0].anchor:
            return ()
        else:
            at = state.index[version]
            held = state.anchors.pop(at)
            state.take(Step(entry.seq, StepKind.FREE, at))
        if held is not None:
            state.take(Step(entry.seq, StepKind.FACT, at, value=held[0], precision=-(held[1] ** -2.0)))
            state.take(Step(entry.seq, StepKind.NEEDS_REFIT))
        return self._changes(state, (version,), before, 0)

    def _link(self, state: State, entry: Entry) -> tuple[Change, ...]:
        who = checks.version(entry), checks.predecessor(entry)
        before = self._ratings(state, *who)
        new, old = map(state.find, who)
        held = None if new is None or old is None else state.links.get((new, old))
        if entry.kind is Kind.LINK:
            sd = _deviation(entry, self.lineage_sd)
            new, old = (state.join(version, entry.seq, entry.at) for version in who)
            state.links[(new, old)] = sd
            state.take(Step(entry.seq, StepKind.FACT, new, old, precision=sd**-2.0))
        elif new is None or old is None or held is None:
            return ()
        else:
            del state.links[(new, old)]
        if held is not None:
            state.take(Step(entry.seq, StepKind.NEEDS_REFIT))
        return self._changes(state, who, before, 0)

    # -- what is shown

    def _ratings(self, state: State, *who: VersionId) -> tuple[Rating, ...]:
        return tuple(self._rating(state, version) for version in who)

    def _changes(
        self, state: State, who: tuple[VersionId, ...], before: tuple[Rating, ...], more: int
    ) -> tuple[Change, ...]:
        """From `before` to now, with `more` games each; all have joined."""
        for version in who:
            at = state.index[version]
            state.games[at] = max(0, state.games[at] + more)
        return tuple(map(Change, who, before, self._ratings(state, *who)))

    def standings(self, state: State) -> Mapping[VersionId, Rating]:
        """Every version's rating, as it is now."""
        shown = {version: self._rating(state, version) for version in state.ids}
        return self._and_waiting(state, shown)

    def history(self, state: State, version: VersionId) -> list[Moment]:
        """What the installed refit says of a version's strength over time, in its gauge; empty for a version that it
        does not know yet. An anchor has one moment, at the epoch. Raises KeyError for one that never entered."""
        at = state.find(version)
        return [
            Moment(0 if at in state.fit.anchored else round(span.days * DAY_MS), span.shown_mean, span.shown_sd)
            for span in state.fit.spans
            if span.version == at
        ]

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
        now = tuple(anchored if cold else state.belief.all_shown(centered=False)[0].tolist())
        everybody = [] if state.anchors else enumerate(self._ratings(state, *state.ids))
        established = tuple(at for at, rating in everybody if not rating.provisional)
        return Job(
            included=state.seq,
            cold=cold,
            model=self._model,
            results=state.timeline.snapshot(),
            anchors=dict(sorted(state.anchors.items())),
            own=dict(sorted(state.own.items())),
            links=dict(sorted(state.links.items())),
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
            state.replace(fit, belief_of(fit, self._model))
        return state

    @property
    def _model(self) -> Model:
        return Model(self.initial, self.prior_sd, self.drift, self.advantage_sd)

    # -- bytes

    def dump(self, state: State) -> bytes:
        """The state as bytes, whole and exact."""
        return history_saved.dump(state, repr(self))

    def load(self, data: bytes) -> State:
        """The state that `dump` wrote, bit for bit; costs as much as a step of a refit. Raises ValueError for anything
        else, and for a state of other options."""
        return history_saved.load(data, repr(self), self._model)


def _deviation(entry: Entry, default: float) -> float:
    return max(checks.deviation(entry, default), LEAST_SD)
