"""When an act of pairing is due, and which pairs must wait for a third although both are idle.

Must not know: how pairs are made, sessions, the clock on the wall.
"""

from __future__ import annotations

from collections.abc import Mapping

from cgos_server.core.pairing.base import Candidate, Pair
from cgos_server.core.venue import Policy


def due(policy: Policy, idle: int, running_games: int) -> bool:
    """True where `idle` ready versions should be paired now.

    ``rolling``: as soon as there are two. ``barrier``: also only when no game of the venue is running.
    """
    return idle >= 2 and (policy is Policy.ROLLING or running_games == 0)


def rematch_holds(pair: Pair, candidates: Mapping[int, Candidate], rematch_wait: int, others_connected: bool) -> bool:
    """True where `pair` must not start yet: each is the other's last opponent, and a third may still come.

    Without this the two that have just finished would meet again and again, as they are idle at the same time. The
    longer of the two waits counts. A pair that is held is not a sit-out of either.

    :param candidates: version id -> candidate, at least for the two
    :param rematch_wait: microseconds to wait for a third; 0 never holds
    :param others_connected: True where the venue has a connected version besides these two, idle or not
    """
    high, low = candidates[pair.high], candidates[pair.low]
    return (
        others_connected
        and high.last_opponent == low.id
        and low.last_opponent == high.id
        and max(high.waited, low.waited) < rematch_wait
    )
