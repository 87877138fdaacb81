"""The database as the live server has it: told facts in groups, asked at start and sign-in. No SQL crosses this line.

Every write of the server goes through :meth:`Store.submit` of the one writer. Groups are committed in the order of
their submission, each wholly or not at all, and `then` is called in the event loop only after the commit: commit,
then tell. Must not know: games' rules, sessions, ratings' formulas, which database.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cgos_server.storage.sharing import COMMON, Alone, Sharing
from cgos_server.storage.writing.records import Record

if TYPE_CHECKING:  # a command that only names a store need not load SQLAlchemy
    from cgos_server.storage.reading.history import History
    from cgos_server.storage.writing.group_commit import GroupCommit


class Store:
    """One writer, and the read side beside it. Made by :func:`cgos_server.storage.opening.open_store`.

    :ivar history: answers questions
    :ivar sharing: what is common to several groups on this database
    """

    def __init__(self, writer: GroupCommit, history: History, sharing: Sharing | None = None) -> None:
        self._writer = writer
        self.history = history
        self.sharing = sharing or Alone()

    def submit(self, records: Sequence[Record], then: Callable[[], None] | None = None) -> None:
        """Queue a group of writes. Called in the event loop, never blocks, never raises.

        `then` is called in the event loop after the group's commit, in order of submission. If the commit fails for
        longer than the configured time, `then` is never called and `failed` (given to the store when it was opened)
        is called once with a :class:`cgos_protocol.errors.CommitFailed`.
        """
        self._writer.submit(records, then)

    async def commit(self, records: Sequence[Record]) -> None:
        """As :meth:`submit`, and wait until it is committed. Raises CommitFailed.

        Under a name that is held (see :attr:`sharing`) what is common to all groups goes first, by itself; then it
        raises Unavailable and StoreError as well.
        """
        if self.sharing.holding:
            common = [record for record in records if type(record) in COMMON]
            if common:
                await self.sharing.commit(common)
                records = [record for record in records if type(record) not in COMMON]
                if not records:
                    return
        await self._writer.commit(records)

    @property
    def healthy(self) -> bool:
        """False while commits are failing or have not returned for longer than a second."""
        return self._writer.healthy

    @property
    def pending(self) -> int:
        """Groups submitted and not committed yet."""
        return self._writer.pending

    def hand_on(self) -> None:
        """Another program goes on in this process: what this one holds is for it, and for nobody else who waits."""
        self._writer.hand_on()

    async def close(self) -> None:
        """Commit what has gathered, then release everything."""
        await self._writer.drain()
        await self.history.close()
        await self.sharing.close()
        # On SQLite the last connection to close leaves one complete file behind.
        await self._writer.close()
