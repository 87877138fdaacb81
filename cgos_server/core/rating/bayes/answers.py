"""What is answered from a belief about many versions: ratings, predictions, who is stronger.

Shared by the systems that keep one. Must not know: the ledger, how the belief came about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Protocol

import numpy as np

from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Z95, Outcome, Rating

from .belief import Belief
from .together import Snapshot, Together


class Holder(Protocol):
    """A state with a belief. Versions that have entered and not joined are `waiting`; see
    :class:`~cgos_server.core.rating.bayes.state.State`."""

    belief: Belief
    waiting: dict[VersionId, None]
    games: list[int]
    anchors: dict[int, tuple[float, float]]

    def find(self, version: VersionId) -> int | None: ...


class Answers:
    """The reading half of a rating system. A version's rating is provisional while it has no game, and while half of
    its 95 % interval is above `provisional` Elo."""

    __slots__ = ()

    provisional: float

    def is_provisional(self, spread: float, games: int) -> bool:
        """Whether a rating with this spread was provisional; not asked about anchors."""
        return games == 0 or Z95 * spread > self.provisional

    def _rating(self, state: Holder, version: VersionId) -> Rating:
        """Raises KeyError for a version that never entered."""
        at, centered = state.find(version), not state.anchors
        if at is None:
            return self._newcomer(state)
        anchor = state.anchors.get(at)
        games = state.games[at]
        if anchor is not None:
            return Rating(mean=anchor[0], spread=anchor[1], games=games, provisional=False, anchor=True)
        mean, sd = state.belief.shown(at, centered)
        return Rating(mean, sd, games, self.is_provisional(sd, games))

    def _newcomer(self, state: Holder) -> Rating:
        return Rating(*state.belief.shown_newcomer(not state.anchors), 0, True)

    def _and_waiting(self, state: Holder, shown: dict[VersionId, Rating]) -> Mapping[VersionId, Rating]:
        """`shown` with those who have not joined."""
        return shown | dict.fromkeys(state.waiting, self._newcomer(state)) if state.waiting else shown

    def predict(self, state: Holder, black: VersionId, white: VersionId) -> Outcome:
        """The next game of these two, Black moving first: averaged over what is not known of their difference."""
        return state.belief.outcome(state.find(black), state.find(white))

    def superiority(self, state: Holder, one: VersionId, other: VersionId) -> float:
        """The probability (0..1) that `one` is stronger than `other`; a half for a version and itself."""
        if one == other:
            return 0.5
        return state.belief.superiority(state.find(one), state.find(other), not state.anchors)

    def difference(self, state: Holder, one: VersionId, other: VersionId) -> tuple[float, float]:
        """Mean and standard deviation, in Elo, of the strength of `one` minus that of `other`, of two versions."""
        mean, variance = state.belief.difference(state.find(one), state.find(other), not state.anchors)
        return mean, sqrt(variance)

    def snapshot(self, state: Holder, versions: Sequence[VersionId]) -> Snapshot:
        """What :meth:`joint` needs, cheaply: it can be computed elsewhere while the state goes on. Raises KeyError for
        a version that never entered."""
        places = [state.find(version) for version in versions]
        free = np.ones(len(state.games), dtype=np.bool_)
        free[list(state.anchors)] = False
        at = np.array([-1 if place is None else place for place in places], dtype=np.int64)
        return Snapshot(state.belief.snapshot(), free, at)

    def joint(self, state: Holder, versions: Sequence[VersionId]) -> Together:
        """What is known of these versions together, by the joint distribution as it is: neither centered nor widened by
        the prior's share."""
        return self.snapshot(state, versions).compute()
