"""When an act of pairing is due, and which pairs are better not made yet although both could play.

Must not know: how pairs are made, sessions, the clock on the wall.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgos_server.core.pairing.base import Act, Floats, Ints
from cgos_server.core.venue import Policy

LARGE = 1000.0
"""Bits: an allowance that no shortfall reaches."""


UNKNOWN_GAME = 60.0
"""Seconds from one game of a version to its next while nobody has become free yet."""

LONGEST_GAME = 3600.0
"""Seconds; longer games count as this."""

_PACED_SHARE = 1.0 - 0.5 ** (1.0 / 20.0)
"""Weight of the latest game in `Candidate.paced`."""


def due(policy: Policy, idle: int, running_games: int) -> bool:
    """True where `idle` ready versions should be paired now.

    ``rolling``: as soon as there are two. ``barrier``: also only when no game of the venue is running.
    """
    return idle >= 2 and (policy is Policy.ROLLING or running_games == 0)


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long a version of a rolling venue holds out for a better opponent, and how evenly fast and slow ones meet.

    :ivar grace: bits by which a pair may fall short at once, times the connected versions without the two: what the
        next one to become free may be worth waiting for
    :ivar ease: mean games of waiting by which a pair may fall short by one bit more
    :ivar pass_over: acts in a row that may pass over a version; after so many it is paired before all others, whatever
        else gives way, and after half of them with anybody without a barrier
    :ivar fairness: bits that a pair costs for each version of it, the fastest ones, that has met more than its share of
        fast ones
    """

    grace: float = 4.0
    ease: float = 0.25
    pass_over: int = 20
    fairness: float = 2.0


def allowances(act: Act, waiting: Waiting) -> Floats:
    """(n,) by how many bits each candidate's next game may fall short of the best one; it grows with its waiting.

    A pair is worth making now where its shortfall is below the sum of both allowances. With the barrier policy they are
    so large that every pair is.

    To wait until one more version becomes free costs everybody who waits a share of 1 / connected of a game, however
    long games are. So the allowance begins at grace / (connected - 2), half for each, and grows by 1 bit in `ease` mean
    games, whose length is connected / flow: the rule is the same for games of seconds and of hours. Our choice.
    """
    n = len(act.candidates)
    others = act.pool - 2
    if act.policy is Policy.BARRIER or others < 1:
        return np.full(n, LARGE)
    game = min(act.pool / act.flow, LONGEST_GAME) if act.flow > 0.0 else UNKNOWN_GAME
    waited = np.array([c.waited for c in act.candidates], dtype=np.float64) / 1e6
    passed = np.array([2 * c.sat_out >= waiting.pass_over for c in act.candidates], dtype=np.bool_)
    allowed = waiting.grace / others + waited / (waiting.ease * game)
    return np.where(passed, LARGE, np.minimum(allowed, LARGE))


def unfairness(act: Act, waiting: Waiting, i: Ints, j: Ints) -> Floats:
    """(m,) bits that each pair costs because fast versions would meet fast ones more than under the barrier policy."""
    if act.policy is Policy.BARRIER or waiting.fairness == 0.0:
        return np.zeros(len(i))
    pace = np.array([c.pace for c in act.candidates], dtype=np.float64)
    paced = np.array([c.paced for c in act.candidates], dtype=np.float64)
    fast = np.maximum(0.0, 1.0 - 2.0 * pace)
    excess = np.clip(-10.0 * paced, 0.0, 1.0)
    charge: Floats = waiting.fairness * np.minimum(fast[i], fast[j]) * (excess[i] + excess[j])
    return charge


def paced_after(paced: float, pace: float) -> float:
    """`Candidate.paced` after a game against an opponent of this pace: a moving average in which a game weighs half as
    much after 20 more. It begins at 0."""
    return paced + _PACED_SHARE * (pace - 0.5 - paced)
