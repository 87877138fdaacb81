"""Which versions seem to have changed their strength, asked of the server that plays and remembered for a while.

It tests versions once an hour (:mod:`cgos_server.live.ratings.rating_watch`), so that nobody need ask often; all pages
and answers share one question. Must not know: how that is tested, HTTP.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Final

from cgos_protocol.api.messages import StrengthChange
from cgos_protocol.errors import CgosError
from cgos_server.service.commands.server import StrengthChangesRequest

FRESH_MS: Final = 30_000
"""How long an answer is believed, or that there was none."""

WAIT_S: Final = 2.0
"""A page waits so long for the answer at most."""

Ask = Callable[[StrengthChangesRequest], Awaitable[list[list[StrengthChange]]]]
"""Has all that play answer: :meth:`cgos_server.web.site.Site.everywhere`."""


class StrengthChanges:
    """One a site.

    :param now_ms: Unix time in milliseconds
    """

    def __init__(self, ask: Ask, now_ms: Callable[[], int]) -> None:
        self._ask = ask
        self._now_ms = now_ms
        self._at = -FRESH_MS
        self._known: list[StrengthChange] = []
        self._one_at_a_time = asyncio.Lock()

    async def all(self) -> list[StrengthChange]:
        """By venue and wire name; the latest that are known while the server that plays does not answer."""
        async with self._one_at_a_time:
            if not 0 <= self._now_ms() - self._at < FRESH_MS:
                self._at = self._now_ms()
                try:
                    async with asyncio.timeout(WAIT_S):
                        answers = await self._ask(StrengthChangesRequest())
                        self._known = [change for answer in answers for change in answer]
                except (CgosError, TimeoutError):
                    pass
        return self._known

    async def of(self, versions: Collection[str]) -> list[StrengthChange]:
        """Those of these versions, by wire name."""
        return [change for change in await self.all() if change.version in versions]
