"""Short messages between the processes that share a database: PostgreSQL's NOTIFY, and LISTEN on a session of its own.

A message that comes while nobody listens is lost, and so is one that whoever listens has no room for: it is then told
that some may be missing. Must not know: what the messages say.
"""

from __future__ import annotations

import asyncio
import functools
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from cgos_protocol.errors import StoreError
from cgos_server.storage.holder import holder_name
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.postgres.connections import WATCHFUL, connect, faults
from cgos_server.storage.writing.group_commit import Patience

if TYPE_CHECKING:
    import asyncpg

_UNREAD: Final = 1_000
"""Messages that wait to be read; of more it is only known that there were some."""
_QUIET_S: Final = 20.0
"""Without a message the connection is tried: one that is dead may not say so."""
_ANSWER_S: Final = 5.0

_END: Final = ""
"""Stands where the connection was lost."""

_TELL = "SELECT pg_notify($1, text) FROM unnest($2::text[]) text"


async def messages(url: PostgresUrl, purpose: str, channel: str) -> AsyncIterator[str | None]:
    """What is said on `channel`, without end; None where something may be missing: at first, after the connection was
    lost, and after more messages than have room.

    :param purpose: as what the session is shown to others
    """
    while True:
        # One a connection: what was heard before it was lost may be missing something already.
        heard: asyncio.Queue[str | None] = asyncio.Queue(_UNREAD)
        connection = await _connected(url, f"{purpose}, listening")
        try:
            with suppress(*faults()):
                connection.add_termination_listener(functools.partial(_keep, heard, _END))
                await connection.add_listener(channel, functools.partial(_heard, heard))
                message: str | None = None
                while message != _END:
                    yield message
                    message = await _next(heard, connection)
        finally:
            connection.terminate()


class Teller:
    """Says messages on a channel, by a session of its own that is opened when it is needed.

    :param purpose: as what the session is shown to others
    """

    def __init__(self, url: PostgresUrl, purpose: str, channel: str) -> None:
        self._url = url
        self._purpose = purpose
        self._channel = channel
        self._connection: asyncpg.Connection | None = None

    async def tell(self, texts: Sequence[str]) -> None:
        """Say these, in their order; see :meth:`cgos_server.storage.sharing.Sharing.tell`."""
        try:
            async with asyncio.timeout(_ANSWER_S):
                connection = self._connection = self._connection or await self._connected()
                await connection.execute(_TELL, self._channel, list(texts))
        except faults() as error:
            self.close()
            raise StoreError(f"PostgreSQL does not say that others were told: {error}") from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Say nothing more."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    async def _connected(self) -> asyncpg.Connection:
        # A message is no record: it need not wait for the disk.
        settings = {**WATCHFUL, "synchronous_commit": "off"}
        return await connect(self._url, holder_name(f"{self._purpose}, telling"), settings)


async def _connected(url: PostgresUrl, purpose: str) -> asyncpg.Connection:
    """A connection for messages, as soon as PostgreSQL gives one."""
    pause = Patience(asyncio.get_running_loop().time, math.inf).pause
    while True:
        try:
            return await connect(url, holder_name(purpose), WATCHFUL)
        except StoreError:
            await asyncio.sleep(pause() or 0.0)


async def _next(heard: asyncio.Queue[str | None], connection: asyncpg.Connection) -> str | None:
    """The next message. Raises one of the driver's faults where the connection is dead."""
    while True:
        try:
            async with asyncio.timeout(_QUIET_S):
                return await heard.get()
        except TimeoutError:
            await connection.execute("SELECT 1", timeout=_ANSWER_S)


def _heard(heard: asyncio.Queue[str | None], _connection: object, _pid: int, _channel: str, text: str) -> None:
    _keep(heard, text)


def _keep(heard: asyncio.Queue[str | None], text: str, _connection: object = None) -> None:
    """Keep a message; where there is no room for it, that some are missing."""
    if heard.full():
        while not heard.empty():
            heard.get_nowait()
        heard.put_nowait(None)
    heard.put_nowait(text)
