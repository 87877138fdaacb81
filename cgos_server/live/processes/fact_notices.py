"""Tells the web processes of a cluster, on whatever machine, each fact, through the database, and never waits for it.

On the way of a move a fact is only put on a list; some milliseconds later all of the list go out together, moves as
short as a message of the database wants them. What cannot be said is bounded and dropped, and whoever listens is told
that something is missing. Must not know: who listens, how the database carries it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from typing import Any, Final

import structlog

from cgos_protocol.errors import StoreError
from cgos_protocol.facts import AnyFact, Fact
from cgos_server.live.bus import FactBus
from cgos_server.live.processes.fact_pipe import FACTS, KINDS, PERIOD_US
from cgos_server.service.fact_notices import notices
from cgos_server.storage.sharing import TOLD_MOST

log = structlog.get_logger(__name__)

_AGAIN_S: Final = 0.5
"""Before another try, when the database did not say that it carried what was told."""


class FactNotices:
    """One a node.

    :param tell: see :meth:`cgos_server.storage.sharing.Sharing.tell`
    :param dropped: told how many facts were dropped
    :param pause: waits so many seconds
    """

    def __init__(
        self,
        bus: FactBus,
        tell: Callable[[Sequence[str]], Awaitable[None]],
        *,
        dropped: Callable[[int], None],
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._bus = bus
        self._tell = tell
        self._dropped = dropped
        self._pause = pause
        self._facts: list[AnyFact | None] = []
        self._come = asyncio.Event()

    async def run(self) -> None:
        """Listen to the bus, and tell, until cancelled."""
        # What a node told, or did not, that had this one's venues before is not known here.
        self._hear(None)
        with ExitStack() as subscribed:
            for kind in KINDS:
                subscribed.callback(self._bus.subscribe(kind, self._hear))
            while True:
                await self._come.wait()
                await self._pause(PERIOD_US / 1e6)
                self._come.clear()
                await self._say()

    def _hear(self, fact: Any) -> None:
        if len(self._facts) >= FACTS:
            self._lose()
        self._facts.append(fact)
        self._come.set()

    async def _say(self) -> None:
        facts, self._facts = self._facts, []
        try:
            await self._tell(notices(facts, TOLD_MOST))
        except StoreError as error:
            log.info("web processes were not told what happened", facts=len(facts), why=str(error))
            self._dropped(sum(isinstance(fact, Fact) for fact in facts))
            self._facts.insert(0, None)
            self._come.set()
            await self._pause(_AGAIN_S)

    def _lose(self) -> None:
        self._dropped(sum(isinstance(fact, Fact) for fact in self._facts))
        self._facts[:] = [None]
