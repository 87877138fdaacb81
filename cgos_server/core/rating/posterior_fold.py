"""What the rating systems that keep a posterior over all strengths share: how the ledger reaches it, what is answered.

Decides what an entry of the ledger means to a posterior. Must not know: how results are counted, how a refit computes,
when one is due.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from cgos_protocol.errors import OurFault
from cgos_protocol.ids import VersionId
from cgos_server.core.rating import checks
from cgos_server.core.rating.base import Z95, Change, Entry, Kind, Outcome, Rating, normal_rating
from cgos_server.core.rating.bayes.belief import Belief, Shown
from cgos_server.core.rating.bayes.pool import Ints
from cgos_server.core.rating.posterior_state import Link, PosteriorState, Step, StepKind
from cgos_server.core.rating.ranks import Strengths
from cgos_server.core.rating.together import JointRatings, Snapshot, Together, separate_ratings

StateT = TypeVar("StateT", bound=PosteriorState)


class PosteriorFold(ABC, Generic[StateT]):
    """The fold and the answers of such a system; `StateT` is its state.

    A version's rating is provisional while it has no game, and while half of its 95 % interval is above `provisional`
    Elo.

    A version has one predecessor at most: of several links the latest counts, and so does the latest of those that
    would make a version its own ancestor.

    :ivar anchor_sd: of an anchor whose entry gives none, Elo
    """

    __slots__ = ()

    sure: ClassVar[bool] = True

    anchor_sd: float
    provisional: float
    advantage_sd: float

    @abstractmethod
    def _deviation(self, entry: Entry, default: float) -> float:
        """The entry's standard deviation, Elo; raises OurFault where it is none."""

    @abstractmethod
    def _precision(self, sd: float) -> float:
        """1/Elo^2 of something that is known to `sd`."""

    @abstractmethod
    def _fitted(self, job: Any, fit: Any) -> tuple[Belief, bool, Ints | None]:
        """What a refit found, before anything came after it; whether there were anchors; the games that were won, as
        :class:`Strengths` has them."""

    @abstractmethod
    def _wins(self, state: StateT) -> Ints | None:
        """Of all results so far, as :class:`Strengths` has them."""

    # -- the fold

    def fold(self, state: StateT, entry: Entry) -> tuple[StateT, tuple[Change, ...]]:
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
        state.seq = entry.seq
        return state, changes

    def _game(self, state: StateT, entry: Entry) -> tuple[Change, ...]:
        black, white, score2 = checks.result(entry)
        before = self._ratings(state, black, white)
        a, b = state.join(black, entry.seq, entry.at), state.join(white, entry.seq, entry.at)
        if not entry.repeat:
            state.count(a, b, score2, entry.at)
            state.take(Step(seq=entry.seq, what=StepKind.RESULT, a=a, b=b, score2=score2))
        return self._changes(state, (black, white), before, 1)

    def _correction(self, state: StateT, entry: Entry) -> tuple[Change, ...]:
        game = checks.correction(entry)
        who = game.black, game.white
        before = self._ratings(state, *who)
        score2, (was2, more) = game.score2, entry.counted_once()
        if was2 is None:
            for version in who:
                state.join(version, entry.seq, entry.at)
        a, b = map(state.find, who)
        if a is None or b is None or (was2 != score2 and not state.recount(a, b, was2, score2, at=entry.at)):
            raise OurFault(f"Ledger entry {entry.seq} takes back a game that was never counted.")
        if was2 != score2:
            state.take(Step(entry.seq, StepKind.NEEDS_REFIT))
        return self._changes(state, who, before, more)

    def _enter(self, state: StateT, entry: Entry) -> tuple[Change, ...]:
        entering = checks.version(entry)
        version = checks.newcomer(entry, entering in state.index or entering in state.waiting)
        if entry.other is not None:
            state.find(entry.other)
        value = None if entry.value is None else checks.value(entry)
        sd = self._stated(entry)
        old = None if entry.other is None else state.join(entry.other, entry.seq, entry.at)
        state.waiting[version] = None
        if old is not None:
            self._join_successor(state, entry, old)
        elif value is not None and sd is not None:
            # With a spread it is knowledge from elsewhere; without one it is where newcomers stood at that time.
            at = state.join(version, entry.seq, entry.at)
            state.own[at] = value, sd
            state.take(Step(entry.seq, StepKind.FACT, at, value=value, precision=self._precision(sd)))
        entered = self._rating(state, version)
        return (Change(version, entered, entered),)

    def _anchor(self, state: StateT, entry: Entry) -> tuple[Change, ...]:
        version = checks.version(entry)
        before = self._ratings(state, version)
        if entry.kind is Kind.ANCHOR:
            value, sd = checks.value(entry), self._deviation(entry, self.anchor_sd)
            at = state.join(version, entry.seq, entry.at)
            held = state.anchors.get(at)
            state.anchors[at] = value, sd
            state.take(Step(entry.seq, StepKind.FACT, at, value=value, precision=self._precision(sd)))
        elif not before[0].anchor:
            return ()
        else:
            at = state.index[version]
            held = state.anchors.pop(at)
            state.take(Step(entry.seq, StepKind.FREE, at, score2=int(at in state.links)))
        if held is not None:
            state.take(Step(entry.seq, StepKind.FACT, at, value=held[0], precision=-self._precision(held[1])))
            state.take(Step(entry.seq, StepKind.NEEDS_REFIT))
        return self._changes(state, (version,), before, 0)

    def _link(self, state: StateT, entry: Entry) -> tuple[Change, ...]:
        who = checks.version(entry), checks.predecessor(entry)
        before = self._ratings(state, *who)
        new, old = map(state.find, who)
        if entry.kind is Kind.LINK:
            sd = self._stated(entry)
            old = state.join(who[1], entry.seq, entry.at)
            if new is None:
                self._join_successor(state, entry, old)
            else:
                state.relink(Link(new=new, old=old, sd=sd, surely=entry.surely), entry.seq)
        elif new is None or old is None or not state.unlink(new, old, entry.seq):
            return ()
        return self._changes(state, who, before, 0)

    def _join_successor(self, state: StateT, entry: Entry, old: int) -> None:
        link = Link(new=len(state.ids), old=old, sd=self._stated(entry), surely=entry.surely)
        state.links[link.new] = link
        state.join(checks.version(entry), entry.seq, entry.at, self._as_taken(link))

    def _as_taken(self, link: Link) -> Link:
        """The link with the sd that the system takes where none is stated; None: it is learned."""
        return link

    def _stated(self, entry: Entry) -> float | None:
        return None if entry.sd is None else self._deviation(entry, entry.sd)

    def _changes(
        self, state: StateT, who: tuple[VersionId, ...], before: tuple[Rating, ...], more: int
    ) -> tuple[Change, ...]:
        """From `before` to now, with `more` games each; all have joined."""
        for version in who:
            at = state.index[version]
            state.games[at] = max(0, state.games[at] + more)
        return tuple(map(Change, who, before, self._ratings(state, *who)))

    # -- what is answered

    def is_provisional(self, spread: float, games: int, half_width: float | None = None) -> bool:
        """Whether a rating with this spread, and half of its interval where that is known, was provisional; not asked
        about anchors."""
        return games == 0 or (Z95 * spread if half_width is None else half_width) > self.provisional

    def _ratings(self, state: StateT, *who: VersionId) -> tuple[Rating, ...]:
        return tuple(self._rating(state, version) for version in who)

    def _rating(self, state: StateT, version: VersionId) -> Rating:
        """Raises KeyError for a version that never entered."""
        at, centered = state.find(version), not state.anchors
        if at is None:
            return self.rate_newcomer(state)
        anchor = state.anchors.get(at)
        games = state.games[at]
        if anchor is not None:
            return normal_rating(*anchor, games=games, provisional=False, anchor=True)
        return self._shown(state.belief.shown(at, centered), games)

    def rate_newcomer(self, state: StateT) -> Rating:
        """Rate a version of which nothing is known yet."""
        return self._shown(state.belief.shown_newcomer(not state.anchors), 0)

    def _shown(self, shown: Shown, games: int) -> Rating:
        doubtful = self.is_provisional(shown.sd, games, 0.5 * (shown.upper - shown.lower))
        return Rating(shown.mean, shown.sd, games, doubtful, lower=shown.lower, upper=shown.upper)

    def _and_waiting(self, state: StateT, shown: dict[VersionId, Rating]) -> Mapping[VersionId, Rating]:
        """`shown` with those who have not joined."""
        return shown | dict.fromkeys(state.waiting, self.rate_newcomer(state)) if state.waiting else shown

    def predict(self, state: StateT, black: VersionId, white: VersionId) -> Outcome:
        """The next game of these two, Black moving first: averaged over what is not known of their difference."""
        return state.belief.outcome(state.find(black), state.find(white))

    def outcome_at(self, state: StateT, difference: float) -> Outcome:
        """What a game brings whose Black is `difference` Elo the stronger, by what was learned of draws and of the
        first move."""
        return state.belief.outcome_at(difference)

    def draws(self, state: StateT) -> float:
        """The share of their games, 0..1, that equals draw, as it was learned."""
        return state.belief.draws

    def superiority(self, state: StateT, one: VersionId, other: VersionId) -> float:
        """The probability (0..1) that `one` is stronger than `other`; a half for a version and itself."""
        if one == other:
            return 0.5
        return state.belief.superiority(state.find(one), state.find(other), not state.anchors)

    def difference(self, state: StateT, one: VersionId, other: VersionId) -> tuple[float, float]:
        """Mean and standard deviation, in Elo, of the strength of `one` minus that of `other`, of two versions."""
        mean, variance = state.belief.difference(state.find(one), state.find(other), not state.anchors)
        return mean, sqrt(variance)

    def joint_difference(self, state: StateT, one: VersionId, other: VersionId) -> tuple[float, float]:
        """As :meth:`difference`, by the joint distribution as it is, without the prior's share on top: what a question
        begins with when it says who is stronger."""
        mean, variance = state.belief.joint_difference(state.find(one), state.find(other))
        return mean, sqrt(variance)

    def difference_by_color(self, state: StateT, black: VersionId, white: VersionId) -> tuple[float, float]:
        """Mean and standard deviation, in Elo, of the strength of `black` as Black minus that of `white` as White, what
        the first move is worth included."""
        mean, variance = state.belief.difference_by_color(state.find(black), state.find(white), not state.anchors)
        return mean, sqrt(variance)

    def snapshot(self, state: StateT, versions: Sequence[VersionId]) -> Snapshot:
        """What :meth:`joint` needs, cheaply: it can be computed elsewhere while the state goes on. Raises KeyError for
        a version that never entered."""
        places = [state.find(version) for version in versions]
        free = np.ones(len(state.games), dtype=np.bool_)
        free[list(state.anchors)] = False
        at = np.array([-1 if place is None else place for place in places], dtype=np.int64)
        return Snapshot(state.belief.snapshot(), free, at)

    def joint(self, state: StateT, versions: Sequence[VersionId]) -> Together:
        """What is known of these versions together, by the joint distribution as it is: neither centered nor widened by
        the prior's share."""
        return self.snapshot(state, versions).compute()

    def joint_ratings(self, state: StateT, versions: Sequence[VersionId]) -> JointRatings:
        """What is known of these versions and of the first move, on the scale of shown ratings. Raises KeyError for a
        version that never entered."""
        alone = separate_ratings(self._ratings(state, *versions), sure=True)
        places = [state.find(version) for version in versions]
        joined = [at for at, place in enumerate(places) if place is not None]
        known = np.array([place for place in places if place is not None], dtype=np.int64)
        alone.covariance[np.ix_(joined, joined)] = state.belief.covariance(known, not state.anchors)
        first_move = state.belief.first_move(self.advantage_sd, sum(state.games) / 2)
        return JointRatings(alone.means, alone.covariance, *first_move)

    def places(self, state: StateT, versions: Sequence[VersionId]) -> Ints:
        """Where these versions stand in :class:`Strengths`, in ascending order; those that have not joined are left
        out. Raises KeyError for a version that never entered."""
        places = (state.find(version) for version in versions)
        return np.array(sorted(place for place in places if place is not None), dtype=np.int64)

    def version_at(self, state: StateT, place: int) -> VersionId:
        """Which version stands there."""
        return state.ids[place]

    def strengths(self, state: StateT) -> Strengths:
        """What is known jointly of all that have joined. O(n^2)."""
        return Strengths(*state.belief.jointly(not state.anchors), self._wins(state))

    def strengths_of(self, job: Any, fit: Any) -> Strengths:
        """The same of a refit and what it was given. May run in another process."""
        belief, anchors, wins = self._fitted(job, fit)
        return Strengths(*belief.jointly(not anchors), wins)
