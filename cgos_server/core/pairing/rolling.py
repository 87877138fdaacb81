"""When an act of pairing is due, and which pairs are better not made yet although both could play.

A pair is made where its shortfall is below what its two versions allow. The shortfall is what a game lacks of the best
one there could be, in bits: 1 - worth + costs + unfairness. What a version allows grows while it waits. All times are
measured in mean games, so that one rule serves games of seconds and of hours. The rule and its parameters are our
choice; the parameters' defaults come from simulated ladders. Must not know: how pairs are made, sessions, the clock on
the wall.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgos_server.core.pairing.base import Act, Floats, Ints
from cgos_server.core.venue import Policy

LARGE = 1000.0
"""Bits: an allowance that no shortfall reaches."""

UNKNOWN_GAME = 60.0
"""Seconds from one game of a version to its next, while it is not known yet how soon versions become free."""

LONGEST_GAME = 3600.0
"""Seconds; longer games count as this."""

HALF_LIFE = 20
"""Games after which a game weighs half as much in `Candidate.paced`."""

TOO_FAST = 0.1
"""A version with `Candidate.paced` so far below 0 is charged in full."""

_SHARE: float = 1.0 - 0.5 ** (1.0 / HALF_LIFE)


def due(policy: Policy, idle: int, running_games: int) -> bool:
    """True where `idle` ready versions should be paired now.

    ``rolling``: as soon as there are two. ``barrier``: also only when no game of the venue is running.
    """
    return idle >= 2 and (policy is Policy.ROLLING or running_games == 0)


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long a version of a rolling venue holds out for a better opponent, and how evenly fast and slow ones meet.

    :ivar grace: bits that each version allows at once, times the versions connected besides the two
    :ivar ease: mean games of waiting in which a version comes to allow one bit more
    :ivar pass_over: acts in a row that may pass over a version, pairing others; after so many it is paired before all
        others, and all barriers give way for it. After half as many it allows everything
    :ivar fairness: bits that a pair of the fastest costs for each of the two that has met more than its share of fast
        ones
    """

    grace: float = 4.0
    ease: float = 0.25
    pass_over: int = 20
    fairness: float = 2.0


def allowances(act: Act, waiting: Waiting) -> Floats:
    """(n,) by how many bits each candidate's next game may fall short of the best one, 0 to 2 LARGE.

    While one more version becomes free, whoever waits misses 1 / connected of a game, however long games are: the more
    are connected, the cheaper it is to hold out for a better opponent. So an allowance begins at `grace` / (connected -
    2), and grows by one bit in `ease` mean games, a mean game being connected / flow. It is LARGE or more where nobody
    else is connected, for a version passed over half of `pass_over` times, and with the barrier policy.
    """
    others = act.pool - 2
    if act.policy is Policy.BARRIER or others < 1:
        return np.full(len(act.candidates), LARGE)
    game = min(act.pool / act.flow, LONGEST_GAME) if act.flow > 0.0 else UNKNOWN_GAME
    waited = np.array([c.waited for c in act.candidates], dtype=np.float64) / 1e6
    sat_out = np.array([c.sat_out for c in act.candidates], dtype=np.float64)
    allowed = np.minimum(waiting.grace / others + waited / (waiting.ease * game), LARGE)
    # Where several have been passed over so often, who was it most often comes first.
    return np.where(2.0 * sat_out >= waiting.pass_over, LARGE + np.minimum(sat_out, LARGE), allowed)


def unfairness(act: Act, waiting: Waiting, i: Ints, j: Ints) -> Floats:
    """(m,) bits that each pair costs because fast versions would meet fast ones more than under the barrier policy.

    Left alone, whoever plays fast finds mostly those that do so too, since they come back soonest. Slow versions cannot
    be spared the converse: as most games are played by fast ones, most of their opponents are fast. So only a pair of
    two from the faster half (`pace` below 0.5) costs anything: `fairness`, times 1 - 2 pace of the slower of the two,
    times how far each of the two has met too many fast ones (0 where `paced` is 0 or more, 1 from -TOO_FAST), added up.
    """
    if act.policy is Policy.BARRIER or not waiting.fairness:
        return np.zeros(len(i))
    pace = np.array([c.pace for c in act.candidates], dtype=np.float64)
    paced = np.array([c.paced for c in act.candidates], dtype=np.float64)
    fast = np.maximum(0.0, 1.0 - 2.0 * pace)
    excess = np.clip(-paced / TOO_FAST, 0.0, 1.0)
    charge: Floats = waiting.fairness * np.minimum(fast[i], fast[j]) * (excess[i] + excess[j])
    return charge


def paced_after(paced: float, pace: float) -> float:
    """`Candidate.paced` after one more game.

    :param paced: before; 0 without any game
    :param pace: the opponent's; see :class:`cgos_server.core.pairing.base.Candidate`
    """
    return paced + _SHARE * (pace - 0.5 - paced)
