"""The order of candidates by rating, what sentences say of one, and who of an odd number may best sit out.

Must not know: methods, constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import Candidate, Ints, PairingPass
from cgos_server.core.pairing.rolling import Waiting
from cgos_server.core.venue import Policy


def by_rating(candidates: Sequence[Candidate]) -> Ints:
    """(n,) places, best first; equal ratings by ascending id."""
    ids = np.array([c.id for c in candidates], np.int64)
    ratings = np.array([c.rating for c in candidates], np.float64)
    return np.lexsort((ids, -ratings))


def ranked(pairing_pass: PairingPass) -> PairingPass:
    """The pass with its candidates in the order of :func:`by_rating`."""
    order = by_rating(pairing_pass.candidates).tolist()
    if order == list(range(len(order))):
        return pairing_pass
    known = pairing_pass.knowledge
    if known is not None:
        both = np.ix_(order, order)
        known = replace(known, covariance=known.covariance[both], gram=known.gram[both])
    return replace(pairing_pass, candidates=[pairing_pass.candidates[at] for at in order], knowledge=known)


def least_recent(candidates: Sequence[Candidate], rng: Rng) -> tuple[int, str]:
    """Who of `candidates` may best sit out: (position, why)."""
    fresh = [c.waited for c in candidates if c.last_sit_out is None]
    if fresh:
        shortest = min(fresh)
        tied = [i for i, c in enumerate(candidates) if c.last_sit_out is None and c.waited == shortest]
        why = f"of those that have not sat out since their last game it had waited shortest ({shortest / 1e6:.1f} s)"
    else:
        oldest = min(c.last_sit_out for c in candidates if c.last_sit_out is not None)
        tied = [i for i, c in enumerate(candidates) if c.last_sit_out == oldest]
        why = f"all have sat out since their last game, it least recently (round {oldest})"
    at = tied[0]
    if len(tied) > 1:
        at = tied[int(rng.random() * len(tied))]
        why += f", drawn by lot from {len(tied)} alike"
    return at, why


def came_first(candidate: Candidate, turn: int, policy: Policy, waiting: Waiting) -> str:
    """The sentence, with a space before it, that it was this one's turn; empty where it was not.

    :param turn: see :func:`cgos_server.core.pairing.rolling.turns`
    """
    if not turn:
        return ""
    if policy is Policy.BARRIER:
        reason = f"sat out {turn} times in a row"
    elif turn == 1 and candidate.sat_out >= waiting.pass_over:
        reason = f"been passed over {candidate.sat_out} times"
    else:
        reason = f"waited {turn} mean game{'s' if turn > 1 else ''}"
    return f" {candidate.name} had {reason} and came first."


def who(candidate: Candidate) -> str:
    """Name and rounded rating."""
    return f"{candidate.name} ({round(candidate.rating)})"
