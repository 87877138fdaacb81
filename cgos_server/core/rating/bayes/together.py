"""What is known of many versions together, as a matchmaker needs it: covariances, and what a result would tell of all.

A snapshot is taken where the state lives and is cheap; what costs time is computed from it anywhere else, while the
state goes on. Must not know: the ledger, who is paired with whom, what is done with the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .belief import Lent
from .pool import Floats, Ints


class Together(NamedTuple):
    """What is known of m versions, in the order in which they were asked for; Elo^2 and Elo^4.

    A result that adds the precision f (1/Elo^2) on r_i - r_j takes the trace of the covariance over the versions that
    are no anchors down by f q / (1 + f v), with v = C[i, i] + C[j, j] - 2 C[i, j] and q the same of G.

    :ivar covariance: (m, m) C
    :ivar gram: (m, m) G[i, j] = sum over versions k that are no anchors of C[i, k] C[k, j]
    """

    covariance: Floats
    gram: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A belief at one moment; nothing in it changes any more, and nothing large was copied for it.

    :ivar lent: the belief's arrays
    :ivar free: (n,) True for those of its versions that are no anchors
    :ivar at: (m,) which of its versions are asked for; -1: one that has not joined, because nothing is known of it
    """

    lent: Lent
    free: NDArray[np.bool_]
    at: Ints

    def compute(self) -> Together:
        """O(m n) memory and O(m^2 n) time; 250 of 1000 versions take some milliseconds. May run in another thread.

        What results since the refit say of a player's own variance scales its row and its column, so that correlations
        stay and the whole remains a covariance. Versions that have not joined have the moments of the mixture; those of
        them that are not asked for take no part in G.
        """
        lent, at = self.lent, self.at
        head = len(lent.covariance) - len(self.free)
        joined = at >= 0
        rows = np.empty((len(at), len(self.free)))
        rows[joined] = lent.covariance[head + at[joined], head:]
        rows[~joined] = lent.row[head:]
        variances = np.diagonal(lent.covariance)[head:]
        shrink = 1.0 / np.sqrt(1.0 + variances * lent.gain)
        own = np.ones(len(at))
        own[joined] = shrink[at[joined]]
        rows *= own[:, None]
        rows *= shrink
        among = np.empty((len(at), len(at)))
        among[:, joined] = rows[:, at[joined]]
        among[joined, :] = rows[:, at[joined]].T
        new = np.flatnonzero(~joined)
        among[np.ix_(new, new)] = lent.common
        among[new, new] = lent.variance
        rows *= self.free
        gram = rows @ rows.T
        if new.size:
            gram += among[:, new] @ among[new, :]
        return Together(among, gram)
