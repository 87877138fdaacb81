"""Nobody waits for strangers, yet fast bots do not only meet fast bots: a simulated ladder, two hours in a moment."""

from __future__ import annotations

import heapq
import random
from collections import Counter

from cgos_server.core.pairing.base import Candidate
from cgos_server.core.pairing.birk import Birk
from cgos_server.core.pairing.rolling import due, rematch_holds
from cgos_server.core.venue import Policy

FAST = range(4)
SLOW = range(4, 8)
SECOND = 1_000_000


def duration(a: int, b: int, rng: random.Random) -> float:
    """Seconds of a game: each side adds its own thinking."""
    return sum(2.5 if side in FAST else 60.0 for side in (a, b)) * (0.7 + 0.6 * rng.random())


def ladder(rematch_wait: int, seed: int) -> tuple[Counter[tuple[int, int]], int, float]:
    """(games of each ordered pair, immediate rematches, longest wait in seconds); one act of pairing every 2 s."""
    rng = random.Random(seed)
    method = Birk()
    idle = dict.fromkeys([*FAST, *SLOW], 0.0)
    last: dict[int, int] = {}
    sat_out: dict[int, int] = {}
    running: list[tuple[float, int, int]] = []
    met: Counter[tuple[int, int]] = Counter()
    rematches = 0
    longest = 0.0
    for now in range(0, 7200, 2):
        while running and running[0][0] <= now:
            end, a, b = heapq.heappop(running)
            idle[a] = idle[b] = end
        if not due(Policy.ROLLING, len(idle), len(running)):
            continue
        candidates = {
            i: Candidate(
                i,
                f"bot-{i}",
                1800.0 + 50 * (i * 5 % 8),
                waited=int((now - since) * SECOND),
                last_sit_out=sat_out.get(i),
                last_opponent=last.get(i),
            )
            for i, since in idle.items()
        }
        pairing = method.pair(list(candidates.values()), rng)
        sat_out.update(dict.fromkeys(pairing.sits_out, now))
        for pair in pairing.pairs:
            if rematch_holds(pair, candidates, rematch_wait, others_connected=True):
                continue
            a, b = pair.high, pair.low
            longest = max(longest, now - idle.pop(a), now - idle.pop(b))
            rematches += last.get(a) == b and last.get(b) == a
            last[a], last[b] = b, a
            sat_out.pop(a, None)
            sat_out.pop(b, None)
            met[a, b] += 1
            met[b, a] += 1
            heapq.heappush(running, (now + duration(a, b, rng), a, b))
    return met, rematches, longest


def test_fast_bots_meet_everybody_and_nobody_waits_for_the_slowest_game() -> None:
    for seed in range(3):
        met, _, longest = ladder(10 * SECOND, seed)
        for fast in FAST:
            assert all(met[fast, other] for other in (*FAST, *SLOW) if other != fast)
            against_slow = sum(met[fast, slow] for slow in SLOW)
            assert against_slow > 0.2 * sum(met[fast, other] for other in (*FAST, *SLOW))
        assert longest < 20


def test_waiting_for_a_third_makes_immediate_rematches_rarer() -> None:
    share = {}
    for rematch_wait in (0, 10 * SECOND):
        met, rematches, _ = ladder(rematch_wait, 1)
        share[rematch_wait] = rematches / (sum(met.values()) / 2)
    assert share[10 * SECOND] < 0.5 * share[0]
