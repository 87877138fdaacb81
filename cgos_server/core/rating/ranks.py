"""How sure ranks are: their intervals, who may be the best, who cannot be told apart, how few results hold the leader.

Decides what is said of ranks, from the joint distribution of strengths: a rank follows from all strengths together, so
that no interval of a single rating says it. Must not know: how strengths are estimated, version ids, who takes part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from cgos_protocol.ids import VersionId

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DRAWS: Final = 4_000
"""Of all strengths together. A probability of a half is then known to .008 (one standard error) at worst."""

OUTSIDE: Final = 0.025
"""Of a rank's distribution at most so much lies before its interval, and at most so much behind."""

SURE: Final = 0.95
"""With this probability or more the order of two versions is known."""

SHARE_IN_ODDS: Final = 0.25
"""So much of the prior's share is in the strengths that probabilities are counted from, all of it in those that
intervals are: measured, probabilities are too timid with all of it, and intervals too short early with none."""

MOST_TURNED: Final = 50
"""More results than these are not counted."""

_SURE_SDS: Final = 1.6448536269514722
"""Standard deviations of a normal difference at which its sign is known with SURE."""
_Q_ELO: Final = 0.005756462732485115
"""ln 10 / 400. By so much a result that is turned round changes the slope of the log likelihood, whatever the rest."""
_AT_ONCE: Final = 250
"""Draws that are sorted together."""
_RIDGES: Final = (0.0, 1e-12, 1e-10, 1e-8, 1e-6)
"""Relative additions to the diagonal, tried in turn where the factorization fails for rounding."""


class Strengths(NamedTuple):
    """What is known jointly of n versions, Elo.

    :ivar means: (n,)
    :ivar covariance: (n, n), Elo^2
    :ivar share: (n,) Elo^2 that a version's variance has on top wherever it is compared: the prior's share
    :ivar wins: (p, 3) rows (winner, loser, games) of the games that were won; None where they cannot be turned round
        one by one
    """

    means: Floats
    covariance: Floats
    share: Floats
    wins: Ints | None = None


@runtime_checkable
class JointlyKnown(Protocol):
    """What a rating system with refits has besides where it knows strengths jointly, and so says something of ranks."""

    def places(self, state: Any, versions: Sequence[VersionId]) -> Ints:
        """Where these versions stand in :class:`Strengths`, ascending; without those of which nothing is known. Raises
        KeyError for a version that never entered."""

    def version_at(self, state: Any, place: int) -> VersionId:
        """Which version stands there."""

    def strengths(self, state: Any) -> Strengths:
        """As they are known now."""

    def strengths_of(self, job: Any, fit: Any) -> Strengths:
        """As a refit found them, given what it was given. Both can be pickled, and this computed elsewhere."""


class Ranks(NamedTuple):
    """What is known of the ranks of m versions, in the order in which they were asked for. Ranks count from 1.

    :ivar lower: (m,) the best rank of each version's 95 % interval
    :ivar upper: (m,) the worst
    :ivar best: (m,) the probability of rank 1
    :ivar first_three: (m,) the probability of rank 3 or better
    :ivar places: (m,) by mean: where each stands, 1..m
    :ivar apart: of the m - 1 pairs of neighbors by place, how many have an order that is known
    :ivar groups: (first, last) places of every maximal run of neighbors in which no two are told apart, of two members
        and more; runs overlap
    :ivar turned: the least number of results that, turned round, put somebody else first: wins of the first, or losses
        of the other; MOST_TURNED + 1 for more; None where nobody can say
    """

    lower: Ints
    upper: Ints
    best: Floats
    first_three: Floats
    places: Ints
    apart: int
    groups: tuple[tuple[int, int], ...]
    turned: int | None


def ranks(strengths: Strengths, among: Ints, rng: Generator, draws: int = DRAWS) -> Ranks:
    """The ranks of the versions `among` (m of the n, each once) among one another.

    O(m^3 + draws m^2). The numbers follow from the arguments, to the bit under the same arithmetic.
    """
    means, share = strengths.means[among], strengths.share[among]
    near = strengths.covariance[np.ix_(among, among)]
    covariance = near + np.diag(share)
    np.einsum("ii->i", near)[...] += SHARE_IN_ODDS * share
    order = np.argsort(-means, kind="stable")
    places = np.empty(len(among), dtype=np.int64)
    places[order] = np.arange(1, len(among) + 1)
    counts = rank_counts(means, covariance, rng, draws)
    lower, upper = interval(counts)
    if share.any():
        counts = rank_counts(means, near, rng, draws)
    known = _known(means[order], covariance[np.ix_(order, order)])
    return Ranks(
        lower=lower,
        upper=upper,
        best=counts[:, :1].sum(axis=1) / draws,
        first_three=counts[:, :3].sum(axis=1) / draws,
        places=places,
        apart=int(np.diagonal(known, 1).sum()),
        groups=_groups(known),
        turned=_turned(strengths, among[order]),
    )


def rank_counts(means: Floats, covariance: Floats, rng: Generator, draws: int) -> Ints:
    """(m, m): in how many of so many draws each version (row) has each rank (column, from rank 1).

    Every draw stands beside its mirror image about the means, which takes much of the scatter away. `draws` is even.
    """
    m = len(means)
    counts = np.zeros(m * m, dtype=np.int64)
    if not m:
        return counts.reshape(0, 0)
    # A row of numbers a version: the same, whoever joins behind it.
    off = (_root(covariance) @ rng.standard_normal((m, draws // 2))).T
    row = np.arange(m)
    for begin in range(0, len(off), _AT_ONCE):
        some = off[begin : begin + _AT_ONCE]
        for side in (means + some, means - some):
            counts += np.bincount((np.argsort(-side, axis=1) * m + row).ravel(), minlength=m * m)
    return counts.reshape(m, m)


def interval(counts: Ints) -> tuple[Ints, Ints]:
    """First and last rank of each version's interval: at most OUTSIDE of its draws lie before it, as many behind."""
    total = counts.sum(axis=1, keepdims=True)
    up_to = np.cumsum(counts, axis=1)
    before, behind = up_to <= OUTSIDE * total, up_to < (1.0 - OUTSIDE) * total
    return before.sum(axis=1) + 1, behind.sum(axis=1) + 1


def _root(covariance: Floats) -> Floats:
    """A lower triangular L with L L' = covariance. Raises LinAlgError where it is none."""
    diagonal = np.diagonal(covariance)
    for ridge in _RIDGES:
        try:
            root = np.linalg.cholesky(covariance + np.diag(ridge * diagonal)).astype(np.float64, copy=False)
        except np.linalg.LinAlgError:
            continue
        return root
    raise np.linalg.LinAlgError("a covariance of strengths is not positive definite")


def _known(means: Floats, covariance: Floats) -> NDArray[np.bool_]:
    """(m, m) True where the row's version is known to be stronger than the column's."""
    variances = np.diagonal(covariance)
    sds = np.sqrt(np.maximum(variances[:, None] + variances - 2.0 * covariance, 0.0))
    known: NDArray[np.bool_] = means[:, None] - means > _SURE_SDS * sds
    return known


def _groups(known: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """The maximal runs of neighbors in which no two are told apart, as Duncan (1955) underlines means; of the letters
    of a compact letter display (Piepho 2004) those that are runs.

    :param known: (m, m), by place
    """
    m = len(known)
    if not m:
        return ()
    # Where the first one stands that is known to be weaker than this one, or than one behind it.
    first = np.where(known.any(axis=1), known.argmax(axis=1), m)
    ends = np.minimum.accumulate(first[::-1])[::-1].tolist()
    groups, reached = [], 0
    for begin, end in enumerate(ends):
        if end > reached and end - begin > 1:
            groups.append((begin + 1, end))
        reached = max(reached, end)
    return tuple(groups)


def _turned(strengths: Strengths, order: Ints) -> int | None:
    """:attr:`Ranks.turned`, to first order: refits after each result count up to a quarter more where the gap is wide,
    because results that are turned round make the first one's rating surer.

    :param order: versions by place
    """
    if strengths.wins is None or len(order) < 2:
        return None
    leader, fewest = int(order[0]), MOST_TURNED + 1
    winner, loser, games = strengths.wins.T
    of_leader = winner == leader
    for other in order[1:].tolist():
        gap = float(strengths.means[leader] - strengths.means[other])
        chosen = of_leader | (loser == other)
        pull = strengths.covariance[leader] - strengths.covariance[other]
        closer = _Q_ELO * (pull[winner[chosen]] - pull[loser[chosen]])
        fewest = min(fewest, _fewest(gap, closer, games[chosen]))
    return fewest


def _fewest(gap: float, closer: Floats, games: Ints) -> int:
    """How many results are needed to close a gap, the most effective ones first; MOST_TURNED + 1 where more are, or
    more than there are.

    :param closer: Elo by which one result of each kind brings the two together
    :param games: how many there are of each kind
    """
    turned = 0
    for at in np.argsort(-closer, kind="stable").tolist():
        each, there = float(closer[at]), int(games[at])
        if each <= 0.0 or turned > MOST_TURNED:
            break
        # One more than reaches it exactly: equals are no change at the top.
        needed = int(gap / each) + 1
        if needed <= there:
            return min(turned + needed, MOST_TURNED + 1)
        gap -= there * each
        turned += there
    return MOST_TURNED + 1
