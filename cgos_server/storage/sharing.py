"""What a store needs where several groups of venues share one database: who may change what is common to them, and
which numbers are whose.

Must not know: how the database is asked, what the records mean.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final, Protocol

import msgspec

from cgos_protocol.ids import BotId
from cgos_server.storage.writing import records
from cgos_server.storage.writing.records import Record

COMMON: Final[frozenset[type]] = frozenset(
    {
        records.VenueAdded,
        records.OwnerAdded,
        records.OwnerChanged,
        records.BotAdded,
        records.BotPassword,
        records.BotState,
        records.BotOwner,
        records.BotWishes,
        records.BotFamily,
        records.VersionAdded,
        records.VersionDescribed,
        records.TokenAdded,
        records.TokenRevoked,
        records.AccessAdded,
        records.AccessRevoked,
        records.WebhookAdded,
        records.WebhookStopped,
        records.EventAdded,
        records.AuditAdded,
    }
)
"""What no group has for itself. All else belongs to one group, and goes through its batches, in their order."""


FACTS: Final = "cgos_facts"
"""What a node tells is said there."""

TOLD_MOST: Final = 7_900
"""Bytes of a text; PostgreSQL takes less than 8000."""


class GroupOwner(msgspec.Struct, frozen=True, kw_only=True):
    """Who has a group of venues, or had it last.

    :ivar address: where others reach the node
    :ivar lives: it may be alive
    """

    group: str
    node: str
    address: str
    lives: bool


class Sharing(Protocol):
    """How a process shares a database with others.

    :ivar block: how many numbers it gets at once; 0: all that there are, as it is alone
    """

    @property
    def block(self) -> int: ...

    def hold(self, key: str, /) -> AbstractAsyncContextManager[None]:
        """Until the end of the block nobody else holds what is called `key`; for one task, which may hold several.

        What it looks at meanwhile stays as it is, if everybody who changes it holds it.

        :raises Unavailable: where somebody else holds it for long
        :raises StoreError: where the database does not answer
        """

    @property
    def holding(self) -> bool:
        """Whether this task holds anything, so that what is common is to be written by :meth:`commit`."""

    async def commit(self, common: Sequence[Record], /) -> None:
        """Write records of :data:`COMMON`, in a transaction of their own, and tell the owners of all groups.

        :raises Unavailable: where somebody else was faster
        :raises StoreError: where the database does not take it, or does not say whether it did
        """

    async def numbers(self, kind: str, /, above: int = 0) -> range:
        """`block` numbers that nobody else gets, above `above`.

        :param kind: one of :data:`cgos_server.storage.tables.NUMBERED`
        :raises StoreError: where the database does not answer
        """

    async def ours(self, kind: str, numbers: Collection[int], /) -> Collection[int]:
        """Those that no other group was given. Raises StoreError."""

    async def take_venues(self, venues: Collection[int], /) -> None:
        """They belong to our group from now on.

        :raises Conflict: where another group has one of them, whose owner lives
        :raises StoreError: where the database does not answer
        """

    async def owners(self) -> list[GroupOwner]:
        """Who has the groups. Raises StoreError."""

    def changes(self) -> AsyncIterator[Collection[BotId] | None]:
        """Bots that somebody changed, this process among them; None: any may have changed. Without end."""

    async def tell(self, texts: Sequence[str], /) -> None:
        """Say these to all processes that listen on :data:`FACTS`, each of at most :data:`TOLD_MOST` bytes.

        :raises StoreError: where it is not known that they were said
        """

    async def families_to_apply(self) -> dict[BotId, BotId | None]:
        """Bots whose family has changed, and the ledgers of our venues do not say so yet: bot -> the leader of the
        family in which these have it, None: it had its own. Raises StoreError."""

    async def families_applied(self, bots: Collection[BotId], /) -> None:
        """They do now. Ask before, and tell after, in one block that holds ``families``. Raises StoreError."""

    async def close(self) -> None:
        """Let go of everything."""


class Alone:
    """Of a process that is alone: nobody else changes anything."""

    block: Final = 0
    holding: Final = False

    def hold(self, _key: str, /) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def commit(self, _common: Sequence[Record], /) -> None:
        raise AssertionError("a process alone holds nothing")

    async def numbers(self, _kind: str, /, above: int = 0) -> range:
        raise AssertionError(f"a process alone needs no block of numbers above {above}")

    async def ours(self, _kind: str, numbers: Collection[int], /) -> Collection[int]:
        return numbers

    async def take_venues(self, _venues: Collection[int], /) -> None:
        """All are its own."""

    async def owners(self) -> list[GroupOwner]:
        return []

    async def changes(self) -> AsyncIterator[Collection[BotId] | None]:
        return
        yield

    async def tell(self, texts: Sequence[str], /) -> None:
        raise AssertionError(f"nobody listens to {len(texts)} texts of a process that is alone")

    async def families_to_apply(self) -> dict[BotId, BotId | None]:
        return {}

    async def families_applied(self, _bots: Collection[BotId], /) -> None:
        """None was to be applied."""

    async def close(self) -> None:
        """There is nothing."""
