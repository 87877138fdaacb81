"""Has what is old removed from the database: minutes after the start, then each hour, and when an operator says so.

It takes a small part of the writer's time, and less where the writer has much to do. Must not know: what is old, how it
is removed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from cgos_protocol.errors import CgosError
from cgos_server.net.loop import Timekeeper
from cgos_server.service.pruning import Days, Kind, Pruner
from cgos_server.storage.store import Store

log = structlog.get_logger(__name__)

FIRST_US: Final = 300_000_000
EVERY_US: Final = 3_600_000_000

_SHARE: Final = 0.05
"""Of the time, at most, in which a commit that removes something is under way. A busy writer takes longer for it."""

_PAUSES_S: Final = (0.02, 2.0)
"""The shortest and the longest pause between two such commits."""


async def _rest(commit_s: float) -> None:
    """The pause after a commit that took so many seconds."""
    shortest, longest = _PAUSES_S
    await asyncio.sleep(min(max(shortest, commit_s / _SHARE), longest))


class BackgroundPruner(Pruner):
    """The live server's.

    :param days: how long things are kept, asked anew at every run
    :param counted: told of every commit: the kind and the number of rows
    :param pause: as for :class:`Pruner`
    """

    def __init__(
        self,
        store: Store,
        days: Callable[[], Days],
        *,
        time: Timekeeper,
        counted: Callable[[Kind, int], object],
        pause: Callable[[float], Awaitable[object]] = _rest,
    ) -> None:
        super().__init__(store, days, now_ms=time.wall_ms, pause=pause, counted=counted)
        self._time = time
        self._wanted = asyncio.Event()

    async def begin(self) -> None:
        """A run begins at once, or when the one that is under way is over."""
        self._wanted.set()

    async def run(self) -> None:
        """For ever."""
        wait_us = FIRST_US
        while True:
            timer = self._time.call_at(self._time.now() + wait_us, self._wanted.set)
            await self._wanted.wait()
            timer.cancel()
            self._wanted.clear()
            wait_us = EVERY_US
            await self._run_once()

    async def _run_once(self) -> None:
        began = self._time.now()
        try:
            removed = await self.prune()
        except CgosError as error:
            log.warning("what is old could not be removed", error=str(error))
        except Exception as error:  # a run that fails must not end the server
            log.error("our fault; what is old could not be removed", exc_info=error)
        else:
            if any(removed.values()):
                rows = {kind.value: count for kind, count in removed.items() if count}
                log.info("removed what is old", **rows, seconds=round((self._time.now() - began) / 1e6, 1))
