"""The database's lock on PostgreSQL, for the time before the writer has a connection, and for commands.

Must not know: what is in the database.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from cgos_protocol.errors import DatabaseLocked
from cgos_server.storage.holder import holder_name, in_use
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.postgres.connections import WATCHFUL, Held, OtherLoop, connect, end, try_lock
from cgos_server.storage.writing.group_commit import Patience

if TYPE_CHECKING:
    import asyncpg


class SessionLock:
    """Holds the advisory lock in a session of its own, in a thread of its own, from construction until `release`.

    The session's writer takes the lock over by releasing it just before: whoever gets in between is told apart by the
    writer, which then refuses to start.

    :param shared: together with the other nodes of a cluster
    :raises DatabaseLocked: another session holds it
    :raises StoreError: PostgreSQL cannot be reached
    """

    def __init__(self, url: PostgresUrl, purpose: str, patience_s: float, *, shared: bool = False) -> None:
        self._loop: OtherLoop | None = OtherLoop()
        try:
            self._connection = self._loop.run(_locked(url, purpose, patience_s, shared))
        except BaseException:
            self._loop.close()
            raise

    def release(self) -> None:
        """Let the next one in. May be called twice."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.run(end(self._connection))
            loop.close()


async def _locked(url: PostgresUrl, purpose: str, patience_s: float, shared: bool) -> asyncpg.Connection:
    patience = Patience(time.monotonic, patience_s)
    connection = await connect(url, holder_name(purpose), WATCHFUL)
    try:
        while (held := await try_lock(connection, shared)) is not None:
            pause = patience.pause()
            if pause is None:
                break
            await asyncio.sleep(pause)
    except BaseException:
        connection.terminate()
        raise
    if held is not None:
        await end(connection)
        raise refusal(url, held)
    return connection


def refusal(url: PostgresUrl, held: Held) -> DatabaseLocked:
    """Who holds the database, as a sentence."""
    return in_use(url, held.name or f"another program (session {held.pid})", held.since, cluster=held.shared)
