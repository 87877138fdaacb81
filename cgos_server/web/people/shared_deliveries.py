"""What became of webhooks' messages where several processes serve pages: in the database, noted by the one that sends.

Must not know: what is delivered, how the right to send is held.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import ClassVar, Final, Protocol

import msgspec
import structlog

from cgos_protocol.errors import StoreError
from cgos_server.storage.reading.people import People
from cgos_server.storage.reading.people_answers import WebhookNotes
from cgos_server.web.people.deliveries import Deliveries, Kept

TRY_S: Final = 1.0
"""Between two tries to have the turn."""

FRESH_MS: Final = 2_000
"""How long what another process has noted is believed."""

log = structlog.get_logger(__name__)


class Turn(Protocol):
    """The right to send; one process has it at a time."""

    @property
    def ours(self) -> bool: ...

    async def take(self) -> bool:
        """Take it, unless somebody else has it. Raises StoreError."""

    async def keep(self, outcomes: Mapping[int, str], gone: Collection[int], since: int, until: int) -> None:
        """Note what became of these webhooks' messages, forget others, and note both times. Raises StoreError where
        the turn may be over."""

    async def leave(self) -> None:
        """Somebody else may have it."""


class SharedDeliveries(Deliveries):
    """Kept in the database of `people`, by whoever has the turn. Times as in :class:`Deliveries`."""

    note_ms: ClassVar[int] = 0

    def __init__(self, people: People, turn: Turn, now_ms: Callable[[], int]) -> None:
        super().__init__(None, now_ms)
        self._people = people
        self._right = turn
        self._stored: Mapping[int, Kept] = {}
        self._read_at = -FRESH_MS

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        while True:  # only asking shows that it is free
            if await self._taken():
                break
            await asyncio.sleep(TRY_S)
        try:
            log.info("this process sends webhooks")
            yield
        finally:
            await self._right.leave()

    async def _taken(self) -> bool:
        """Whether it is our turn, with all that was noted before."""
        try:
            if await self._right.take():
                self._learn(await self._people.webhook_notes())
                return True
        except StoreError as error:
            log.warning("who sends webhooks is not known just now", error=str(error))
            await self._right.leave()
        return False

    async def refresh(self) -> None:
        if not self._right.ours and not 0 <= self._now_ms() - self._read_at < FRESH_MS:
            stored = await self._people.webhook_notes()
            if not self._right.ours:  # it may have become ours meanwhile, and we know more then
                self._learn(stored)

    def _learn(self, stored: WebhookNotes) -> None:
        now = self._read_at = self._now_ms()
        self._hooks.clear()
        for number, text in stored.outcomes.items():
            with contextlib.suppress(msgspec.MsgspecError):  # what another build wrote counts as none
                self._hooks[number] = msgspec.json.decode(text, type=Kept)
        self._stored = self.figures()
        # A clock that was set back does not hide what happens from now on.
        self.since = now if stored.since is None else min(stored.since, now)
        self.until = now if stored.until is None else min(stored.until, now)

    async def save(self) -> None:
        if not self._right.ours:
            raise StoreError("somebody else may send webhooks now")
        now = self.figures()
        changed = {number: kept for number, kept in now.items() if self._stored.get(number) != kept}
        texts = {number: msgspec.json.encode(kept).decode() for number, kept in changed.items()}
        await self._right.keep(texts, self._stored.keys() - now.keys(), self.since, self.until)
        self._stored = now
