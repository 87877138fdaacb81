"""What a server does every second besides games: reminders, a measure of its own lag, calm for the garbage collector.

Must not know: games, ratings, storage.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Sequence

from cgos_server.live.venue.reminders import Reminders
from cgos_server.net import collector
from cgos_server.net.loop import Timekeeper
from cgos_server.observability.meters import Meter

BEAT_S = 0.1
"""Between two measures of the loop's lag; it also bounds what a stopped process could charge to a bot."""

FREEZE_STEP = 500
"""New connections after which what is alive is moved out of the collector's sight, once arrivals have calmed down."""


async def measure_lag(time: Timekeeper, lag: Meter) -> None:
    """Note for ever how late the loop runs what is due."""
    while True:
        due = time.now() + int(BEAT_S * 1e6)
        await asyncio.sleep(BEAT_S)
        lag.observe(max(0, time.now() - due))


async def look_after(venues: Sequence[Reminders]) -> None:
    """Reminders each second, a word to waiting bots each minute."""
    seconds = 0
    while True:
        await asyncio.sleep(1)
        seconds += 1
        for reminders in venues:
            reminders.remind()
            if seconds % 60 == 0:
                reminders.keep_alive()


async def calm_collector(connections: Callable[[], int]) -> None:
    """Tune the garbage collector at the start, and freeze what lives after every wave of sign-ins.

    Frozen garbage is never collected, so this happens once a wave and not by the clock.
    """
    collector.calm()
    frozen_at = before = connections()
    while True:
        await asyncio.sleep(5)
        now = connections()
        if now >= frozen_at + FREEZE_STEP and now - before < FREEZE_STEP // 10:
            gc.freeze()
            frozen_at = now
        frozen_at = min(frozen_at, now)
        before = now
