"""Whether the server is to end, and how: after its games, at once, or for another program. Must not know: what ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog

from cgos_protocol.errors import CommitFailed, Overtaken

log = structlog.get_logger(__name__)


class Stopped(Exception):
    """The server was told to stop while it was starting, or standing by."""


class Stop:
    """One a server.

    :ivar wanted: set once it is to end
    :ivar replaced: True where another program goes on in its place
    :ivar handed_over: True where another node of the cluster is to go on in its place
    :ivar failure: why it cannot go on, where that is the reason
    """

    def __init__(self) -> None:
        self.wanted = asyncio.Event()
        self.replaced = False
        self.handed_over = False
        self.failure: CommitFailed | None = None
        self._at_once = False
        self._progress = asyncio.Event()

    def ask(self) -> None:
        """A signal: the first one lets running games end, the second one does not. Nobody replaces the server then."""
        self.replaced = False
        self._end(at_once=self.wanted.is_set())

    def replace(self) -> None:
        """Another program takes over: its games are suspended at once."""
        self.replaced = True
        self._end(at_once=True)

    def hand_over(self) -> None:
        """Another node takes over: games are suspended at once, and this process ends."""
        self.replaced = False
        self.handed_over = True
        self._end(at_once=True)

    def commit_failed(self, failure: CommitFailed) -> None:
        """Nothing can be written any more."""
        if isinstance(failure, Overtaken):
            log.error("another node has taken over; stopping with every told move safe", why=str(failure))
        else:
            log.error("commits failed for too long; stopping with every told move safe", why=str(failure))
        self.failure = failure
        self.replaced = False
        self._end(at_once=True)

    def game_ended(self, _: object = None) -> None:
        """Look again whether games are left."""
        self._progress.set()

    def _end(self, at_once: bool) -> None:
        self._at_once = at_once
        self.game_ended()
        self.wanted.set()

    async def drained(self, games: Callable[[], int], limit_s: float) -> None:
        """Returns once there are no `games` any more, after `limit_s`, or when everything is to end at once."""
        try:
            async with asyncio.timeout(limit_s):
                while games() and not self._at_once:
                    self._progress.clear()
                    await self._progress.wait()
        except TimeoutError:
            pass
