"""Gives out the server's own numbers: one counter a kind, continued from what the database holds.

Of several groups of venues on one database each gets blocks of numbers, and the next one before the last is used up.
Must not know: what the numbers are for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import structlog

from cgos_protocol.errors import CgosError, StoreError
from cgos_protocol.ids import BotId, ConnectionId, EventId, GameId, QuestionId, VersionId
from cgos_server.storage.reading.stored import NextIds
from cgos_server.storage.sharing import Sharing
from cgos_server.storage.store import Store

log = structlog.get_logger(__name__)

Id = TypeVar("Id")

STOCK_EVERY_S: Final = 1.0
"""Between two looks at which blocks run out."""

_ENDLESS: Final = 2**40


class Counter(Generic[Id]):
    """Numbers of one kind. Each call returns the next one; StoreError where there is none.

    :param kind: makes an id of a number
    :param count: how many there are from `first` on
    """

    def __init__(self, kind: Callable[[int], Id], first: int, count: int) -> None:
        self._kind = kind
        self._numbers = range(first, first + count)
        self._next = first
        self._reserve: range | None = None

    def __call__(self) -> Id:
        if self._next == self._numbers.stop:
            if self._reserve is None:
                raise StoreError("no numbers are left, and PostgreSQL has not given any more")
            self._numbers, self._reserve = self._reserve, None
            self._next = self._numbers.start
        number, self._next = self._next, self._next + 1
        return self._kind(number)

    @property
    def low(self) -> bool:
        """Whether it wants more."""
        return self._reserve is None and self._numbers.stop - self._next < len(self._numbers) // 2

    def stock(self, numbers: range) -> None:
        """Use these when the others are used up."""
        self._reserve = numbers


class Ids:
    """Counters, one a kind, called as in :class:`cgos_server.storage.reading.stored.NextIds`. No number is returned
    twice on one database.

    :param start: the first number of each kind
    :param block: how many there are; None: no end of them
    :param kept: the highest number of a bot of whom files are kept: an older backup that was restored may not have that
        bot, and its number must not become another bot's, whose owner would read those files
    """

    def __init__(self, start: NextIds, *, block: int | None = None, kept: int = 0) -> None:
        count = _ENDLESS if block is None else block
        self.owner = Counter(int, start.owner, count)
        self.bot = Counter(BotId, max(start.bot, kept + 1), count)
        self.version = Counter(VersionId, start.version, count)
        self.token = Counter(int, start.token, count)
        self.connection = Counter(ConnectionId, start.connection, count)
        self.round = Counter(int, start.round, count)
        self.game = Counter(GameId, start.game, count)
        self.access = Counter(int, start.access, count)
        self.webhook = Counter(int, start.webhook, count)
        self.event = Counter(EventId, start.event, count)
        self.question = Counter(QuestionId, start.question, count)

    async def stock(self, sharing: Sharing) -> None:
        """Get more of what runs out, for ever."""
        while True:
            await asyncio.sleep(STOCK_EVERY_S)
            for kind in NextIds._fields:
                counter: Counter[Any] = getattr(self, kind)
                if counter.low:
                    try:
                        counter.stock(await sharing.numbers(kind))
                    except CgosError as error:
                        log.warning("numbers run low, and the database gives no more", kind=kind, why=str(error))


async def open_ids(store: Store, kept: int) -> Ids:
    """Those of this process, see :class:`Ids`. Raises StoreError."""
    sharing = store.sharing
    if not sharing.block:
        return Ids(await store.history.server.next_ids(), kept=kept)
    above = (await store.history.server.incarnation()).numbers_above
    firsts = [
        (await sharing.numbers(kind, above=max(above, kept) if kind == "bot" else above)).start
        for kind in NextIds._fields
    ]
    return Ids(NextIds._make(firsts), block=sharing.block)
