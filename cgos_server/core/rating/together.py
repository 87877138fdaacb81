"""What is known of many versions together, as a matchmaker needs it: covariances, and what a result would tell of all.

A snapshot is taken where the state lives and is cheap; what costs time is computed from it anywhere else, while the
state goes on. Must not know: the ledger, who is paired with whom, what is done with the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cgos_server.core.rating.base import Rating
from cgos_server.core.rating.bayes.belief import BeliefSnapshot
from cgos_server.core.rating.bayes.pool import Floats, Ints

UNKNOWN_FIRST_MOVE_SD: Final = 100.0
"""Elo, about 0: of what the first move is worth where the rating system does not learn it."""


class JointRatings(NamedTuple):
    """What a venue knows of m versions and of the first move, Elo, on the scale of the ratings that it shows.

    :ivar means: (m,)
    :ivar covariance: (m, m), Elo^2
    :ivar first_move: what the first move is worth, with its standard deviation `first_move_sd`
    :ivar note: what the rating system does not know of this, a sentence; empty where it knows all
    """

    means: Floats
    covariance: Floats
    first_move: float = 0.0
    first_move_sd: float = 0.0
    note: str = ""


def separate_ratings(ratings: Sequence[Rating], sure: bool) -> JointRatings:
    """Take each rating by itself, where the rating system knows no more.

    :param sure: the spreads are standard deviations in Elo
    """
    note = "The venue's rating system rates each bot by itself: the interval takes the ratings' errors for independent."
    if not sure:
        note = "The venue's rating system does not say how sure ratings are: the interval takes them as known."
    means, variances = np.array([(rating.mean, sure * rating.spread**2) for rating in ratings]).T
    return JointRatings(means, np.diag(variances), first_move_sd=UNKNOWN_FIRST_MOVE_SD, note=note)


class Together(NamedTuple):
    """What is known of m versions, in the order in which they were asked for; Elo^2 and Elo^4.

    Everything is seen from the mean of all versions that have joined: ratings are r_i minus that mean. So differences
    of versions are what they are, and what cannot be known, or hardly, of the whole pool's height does not drown them
    in rounding. A result that adds the precision f (1/Elo^2) on r_i - r_j takes the trace of the covariance over the
    versions that are no anchors down by f q / (1 + f v), with v = C[i, i] + C[j, j] - 2 C[i, j] and q the same of G:
    the whole covariance's trace, anchors' hold on the height included.

    :ivar covariance: (m, m) C
    :ivar gram: (m, m) G[i, j] = sum over versions k that are no anchors of Cov(r_i, k) Cov(r_j, k), k itself not taken
        from the mean
    """

    covariance: Floats
    gram: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A belief at one moment; nothing in it changes any more, and nothing large was copied for it.

    :ivar belief: the belief's arrays
    :ivar free: (n,) True for those of its versions that are no anchors
    :ivar at: (m,) which of its versions are asked for; -1: one that has not joined, because nothing is known of it
    """

    belief: BeliefSnapshot
    free: NDArray[np.bool_]
    at: Ints

    def compute(self) -> Together:
        """O(n^2 + m n) memory read and O(m^2 n) time; 250 of 1000 versions take some milliseconds. May run in another
        thread.

        What results since the refit say of a player's own variance scales its row and its column, so that correlations
        stay and the whole remains a covariance; without anchors after the mean is taken off, as the pool's height, of
        which nothing is known, must not take part. Versions that have not joined have the moments of the mixture; those
        of them that are not asked for take no part in G.
        """
        belief, at = self.belief, self.at
        n = len(self.free)
        C = belief.covariance[len(belief.covariance) - n :, len(belief.covariance) - n :]
        row = belief.row[len(belief.row) - n :]
        joined, new = np.flatnonzero(at >= 0), np.flatnonzero(at < 0)
        if not n:
            among = np.full((len(new), len(new)), 0.0)
            np.fill_diagonal(among, belief.variance - belief.common)
            return Together(among, among @ among)
        rows = np.empty((len(at), n))
        rows[joined] = C[at[joined]]
        rows[new] = row
        variances, gain = np.diagonal(C), belief.gain
        common, variance = belief.common, belief.variance
        if self.free.all():
            height, gain = C.mean(axis=0), belief.gain_centered
            level, raised = height.mean(), row.mean()
            own = np.full(len(at), raised)
            own[joined] = height[at[joined]]
            rows += level - height - own[:, None]
            variances = np.maximum(variances + level - 2.0 * height, 0.0)
            common, variance = common + level - 2.0 * raised, variance + level - 2.0 * raised
        shrink = 1.0 / np.sqrt(1.0 + variances * gain)
        scale = np.ones(len(at))
        scale[joined] = shrink[at[joined]]
        rows *= scale[:, None]
        rows *= shrink
        among = np.empty((len(at), len(at)))
        among[:, joined] = rows[:, at[joined]]
        among[joined, :] = rows[:, at[joined]].T
        among[np.ix_(new, new)] = common
        among[new, new] = variance
        # The mean of all who joined, as one row more: what is taken from every other.
        mean = shrink @ C
        if self.free.all():
            mean += (level - height) * shrink.sum() - shrink @ height
        mean *= shrink / n
        seen = rows - mean
        to_mean = rows.mean(axis=1)
        centered = among - to_mean[:, None] - to_mean + mean.mean()
        seen *= self.free
        gram = seen @ seen.T
        if new.size:
            others = among[:, new] - to_mean[new]
            gram += others @ others.T
        return Together(centered, gram)
