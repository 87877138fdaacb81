"""When a pairing pass is due, whose turn it is, and which pairs are better not made yet although both could play.

A pair is made where its shortfall is below what its two versions allow. The shortfall is what a game lacks of the best
one there could be, in bits: 1 - worth + costs + unfairness. What a version allows grows while it waits. All times are
measured in mean games, so that one rule serves games of seconds and of hours. The rule and its parameters are our
choice; the parameters' defaults come from simulated ladders. Must not know: how pairs are made, sessions, the clock on
the wall.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cgos_server.core.pairing.base import Floats, Ints, PairingPass
from cgos_server.core.venue import Policy

LARGE = 1000.0
"""Bits: an allowance that no shortfall reaches."""

UNKNOWN_GAME = 60.0
"""Seconds from one game of a version to its next, while it is not known yet how soon versions become free."""

LONGEST_GAME = 3600.0
"""Seconds; longer games count as this."""

MOST_TURNS = 1000
"""Mean games of waiting; whoever has waited longer counts as this."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How long a version holds out for a better opponent, when its turn comes, and how evenly fast and slow ones meet.

    :ivar grace: bits that each version allows at once, times the versions connected besides the two
    :ivar ease: mean games of waiting in which a version comes to allow one bit more
    :ivar pass_over: passes in a row that may pass over a version, pairing others; after so many it is paired before all
        others, and all barriers give way for it. After half as many it allows everything
    :ivar fairness: bits that a pair of the fastest costs for each of the two that has met more than its share of fast
        ones
    :ivar overdue: mean games of waiting after which it is a version's turn, see :func:`turns`; 0: never
    """

    grace: float = 4.0
    ease: float = 0.25
    pass_over: int = 20
    fairness: float = 2.0
    overdue: float = 1.5


def turns(pairing_pass: PairingPass, waiting: Waiting, patience: int) -> Ints:
    """(n,) whose turn it is: 0 for whoever can wait, else the larger the earlier, up to MOST_TURNS.

    All barriers give way for a version whose turn it is, and whoever has the larger number is paired first: nothing but
    what is hard stands against it. The number is 1 for a version that was passed over `pass_over` times. For one that
    has waited for `overdue` mean games, and for `patience` too or been passed over a tenth of `pass_over` times, it is
    how many whole mean games it has waited. With the barrier policy a round counts as a mean game, and a version has
    waited for as many as it sat out.

    Passes alone do not bound a wait: where each of them makes one pair, as few can meet many, `pass_over` of them take
    several games. Mean games alone would make it everybody's turn where a game takes no longer than it is from one pass
    to the next; therefore the rest.

    :param patience: microseconds
    """
    sat_out = np.array([c.sat_out for c in pairing_pass.candidates], np.int64)
    if pairing_pass.policy is Policy.BARRIER:
        passed_over = np.zeros(len(sat_out), np.int64)
        games = sat_out.astype(np.float64)
        long = games >= waiting.overdue
    else:
        passed_over = (sat_out >= waiting.pass_over).astype(np.int64)
        waited = np.array([c.waited for c in pairing_pass.candidates], np.float64)
        games = waited / (1e6 * _mean_game(pairing_pass))
        long = (games >= waiting.overdue) & ((waited >= patience) | (10 * sat_out >= waiting.pass_over))
    if not waiting.overdue:
        return passed_over
    whole = np.clip(games, 1.0, MOST_TURNS).astype(np.int64)
    return np.where(long, whole, passed_over)


def _mean_game(pairing_pass: PairingPass) -> float:
    """Seconds from one game of a version to its next while it need not wait."""
    return pairing_pass.pool / pairing_pass.flow if pairing_pass.flow > 0.0 else UNKNOWN_GAME


def allowances(pairing_pass: PairingPass, waiting: Waiting) -> Floats:
    """(n,) by how many bits each candidate's next game may fall short of the best one, 0 to 2 LARGE.

    While one more version becomes free, whoever waits misses 1 / connected of a game, however long games are: the more
    are connected, the cheaper it is to hold out for a better opponent. So an allowance begins at `grace` / (connected -
    2), and grows by one bit in `ease` mean games, a mean game being connected / flow. It is LARGE or more where nobody
    else is connected, for a version passed over half of `pass_over` times, and with the barrier policy.
    """
    others = pairing_pass.pool - 2
    if pairing_pass.policy is Policy.BARRIER or others < 1:
        return np.full(len(pairing_pass.candidates), LARGE)
    game = min(_mean_game(pairing_pass), LONGEST_GAME)
    waited = np.array([c.waited for c in pairing_pass.candidates], dtype=np.float64) / 1e6
    sat_out = np.array([c.sat_out for c in pairing_pass.candidates], dtype=np.float64)
    allowed = np.minimum(waiting.grace / others + waited / (waiting.ease * game), LARGE)
    # Where several have been passed over so often, who was it most often comes first.
    return np.where(2.0 * sat_out >= waiting.pass_over, LARGE + np.minimum(sat_out, LARGE), allowed)


def unfairness(pairing_pass: PairingPass, waiting: Waiting, i: Ints, j: Ints) -> Floats:
    """(m,) bits that each pair costs because fast versions would meet fast ones more than under the barrier policy.

    Left alone, whoever plays fast finds mostly those that do so too, since they come back soonest. Slow versions cannot
    be spared the converse: as most games are played by fast ones, most of their opponents are fast. So only a pair of
    two from the faster half (`pace` below 0.5) costs anything: `fairness`, times 1 - 2 pace of the slower of the two,
    times how far each of the two has met too many fast ones (0 where `paced` is 0 or more, 1 from -TOO_FAST), added up.
    """
    if pairing_pass.policy is Policy.BARRIER or not waiting.fairness:
        return np.zeros(len(i))
    pace = np.array([c.pace for c in pairing_pass.candidates], dtype=np.float64)
    paced = np.array([c.paced for c in pairing_pass.candidates], dtype=np.float64)
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
