"""Who is stronger, and what comes of a game between two: from a rating system's joint distribution of strengths.

Must not know: where the state comes from, how the answer is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from cgos_protocol.api.messages import Expected
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Z95, Outcome, Rating, RatingSystem
from cgos_server.core.rating.together import JointRatings


@runtime_checkable
class Joint(Protocol):
    """What a rating system has that knows strengths jointly."""

    def superiority(self, state: Any, one: VersionId, other: VersionId) -> float: ...

    def difference(self, state: Any, one: VersionId, other: VersionId) -> tuple[float, float]: ...

    def joint_difference(self, state: Any, one: VersionId, other: VersionId) -> tuple[float, float]: ...

    def difference_by_color(self, state: Any, black: VersionId, white: VersionId) -> tuple[float, float]: ...

    def outcome_at(self, state: Any, difference: float) -> Outcome: ...

    def draws(self, state: Any) -> float: ...

    def rate_newcomer(self, state: Any) -> Rating: ...

    def joint_ratings(self, state: Any, versions: Sequence[VersionId]) -> JointRatings: ...


class Odds(msgspec.Struct, frozen=True, kw_only=True):
    """Two versions compared.

    :ivar superiority: the probability that the first is stronger; None where the system does not say
    :ivar difference: Elo, of the strengths of both colors together
    :ivar half_width: half of the 95 % interval of the difference, Elo; None where the system does not say
    :ivar as_black: a game in which the first plays Black
    """

    superiority: float | None
    difference: float
    half_width: float | None
    as_black: Expected
    as_white: Expected


def odds(system: RatingSystem, state: Any, one: VersionId, other: VersionId) -> Odds:
    """Compare two different versions. Raises KeyError for one that never entered."""
    superiority, half_width = None, None
    if isinstance(system, Joint):
        superiority = system.superiority(state, one, other)
        difference, sd = system.difference(state, one, other)
        half_width = Z95 * sd
    else:
        standings = system.standings(state)
        difference = standings[one].mean - standings[other].mean
    return Odds(
        superiority=superiority,
        difference=difference,
        half_width=half_width,
        as_black=_of_black(system, state, one, other),
        as_white=_of_white(_of_black(system, state, other, one)),
    )


def _of_black(system: RatingSystem, state: Any, black: VersionId, white: VersionId) -> Expected:
    outcome = system.predict(state, black, white)
    difference, half_width = None, None
    if isinstance(system, Joint):
        difference, sd = system.difference_by_color(state, black, white)
        half_width = Z95 * sd
    return Expected(
        win=outcome.win,
        draw=outcome.draw,
        loss=outcome.loss,
        score=outcome.score,
        difference=difference,
        half_width=half_width,
    )


def _of_white(of_black: Expected) -> Expected:
    """The same game from the other side."""
    return Expected(
        win=of_black.loss,
        draw=of_black.draw,
        loss=of_black.win,
        score=1 - of_black.score,
        difference=None if of_black.difference is None else -of_black.difference,
        half_width=of_black.half_width,
    )


class Table(msgspec.Struct, frozen=True):
    """Likelihoods of superiority among the best.

    :ivar versions: ids, the highest mean first
    :ivar superior: row by row the probability that this version is stronger than that one; None on the diagonal
    """

    versions: list[VersionId]
    ratings: list[Rating]
    superior: list[list[float | None]]


def table(system: RatingSystem, state: Any, most: int, only: Iterable[VersionId] | None = None) -> Table:
    """The best `most` versions of all, or of these, against each other.

    Raises TypeError for a system that does not know strengths jointly.
    """
    if not isinstance(system, Joint):
        raise TypeError(f"{system.name} knows no joint distribution of strengths")
    standings = system.standings(state)
    chosen = standings if only is None else [version for version in only if version in standings]
    best: Sequence[VersionId] = sorted(chosen, key=lambda version: (-standings[version].mean, version))[:most]
    return Table(
        list(best),
        [standings[version] for version in best],
        [[None if a == b else system.superiority(state, a, b) for b in best] for a in best],
    )
