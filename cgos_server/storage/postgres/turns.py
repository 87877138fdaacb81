"""The right to do what only one process of a cluster may do at a time, such as to send webhooks, and what it notes.

The right is an advisory lock, so that it belongs to a session of PostgreSQL; what is noted is written by that same
session, and by nobody who has lost it. A process that hangs loses it, too: PostgreSQL ends a session that says nothing
for :data:`IDLE_S`. Must not know: what is sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from cgos_protocol.errors import StoreError
from cgos_server.storage.holder import holder_name
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.postgres.connections import WATCHFUL, connect, end, faults

if TYPE_CHECKING:
    import asyncpg

IDLE_S: Final = 10.0
"""Whoever has the right says so more often than this."""

_WEBHOOKS: Final = 0x63676F75
"""The advisory lock's key; see :data:`cgos_server.storage.postgres.connections.LOCK` for another one."""

_ANSWER_S: Final = 5.0

_KEEP = """
INSERT INTO webhook_outcomes (webhook_id, outcome) SELECT * FROM unnest($1::int[], $2::text[])
ON CONFLICT (webhook_id) DO UPDATE SET outcome = excluded.outcome
"""

_NOTE = """
INSERT INTO webhook_notes (id, since, until) VALUES (1, $1, $2)
ON CONFLICT (id) DO UPDATE SET since = excluded.since, until = excluded.until
"""


class WebhookTurn:
    """The right to send webhooks.

    :param purpose: as what the session is shown to others
    """

    def __init__(self, url: PostgresUrl, purpose: str) -> None:
        self._url = url
        self._purpose = purpose
        self._connection: asyncpg.Connection | None = None

    @property
    def ours(self) -> bool:
        """Whether this process has it, as far as it knows."""
        return self._connection is not None and not self._connection.is_closed()

    async def take(self) -> bool:
        """Take it, unless somebody else has it. Raises StoreError."""
        settings = {**WATCHFUL, "idle_session_timeout": f"{round(IDLE_S * 1000)}ms"}
        connection = await connect(self._url, holder_name(f"{self._purpose}, sending webhooks"), settings)
        try:
            taken: bool = await connection.fetchval("SELECT pg_try_advisory_lock($1)", _WEBHOOKS, timeout=_ANSWER_S)
        except faults() as error:
            connection.terminate()
            raise StoreError(f"PostgreSQL does not say who sends webhooks: {error}") from error
        if taken:
            self._connection = connection
        else:
            await end(connection)
        return taken

    async def keep(self, outcomes: Mapping[int, str], gone: Collection[int], since: int, until: int) -> None:
        """Write down what became of some webhooks' messages, forget other webhooks, and note the time.

        :raises StoreError: where that did not happen: the right may be somebody else's
        """
        assert self._connection is not None
        try:
            async with asyncio.timeout(_ANSWER_S), self._connection.transaction():
                if outcomes:
                    await self._connection.execute(_KEEP, list(outcomes), list(outcomes.values()))
                if gone:
                    await self._connection.execute(
                        "DELETE FROM webhook_outcomes WHERE webhook_id = ANY($1::int[])", list(gone)
                    )
                await self._connection.execute(_NOTE, since, until)
        except faults() as error:
            raise StoreError(f"PostgreSQL did not keep what became of webhooks' messages: {error}") from error

    async def leave(self) -> None:
        """Somebody else may have it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await end(connection)
