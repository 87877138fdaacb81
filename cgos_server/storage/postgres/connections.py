"""How a PostgreSQL database is opened: for the one writer, for its readers, for the migrations; and who may write.

Every connection says in its ``application_name`` who it is. Whoever writes holds one advisory lock of the database in
a session of its own; it ends with that session. Must not know: tables, questions.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sqlalchemy import NullPool

from cgos_protocol.errors import Code, NotFound, StoreError
from cgos_server.storage.location import PostgresUrl

if TYPE_CHECKING:
    import asyncpg
    from sqlalchemy.ext.asyncio import AsyncEngine

T = TypeVar("T")

LOCK = 0x63676F73
"""The advisory lock's key: "cgos". Advisory locks belong to one database of a PostgreSQL server."""

_CONNECT_S = 10.0
_CLOSE_S = 2.0
_LONGEST_NAME = 63
"""PostgreSQL cuts names after so many bytes."""

WATCHFUL: Mapping[str, str] = MappingProxyType(
    {
        # A writer whose machine is gone lets go of the lock within a minute, not within two hours.
        "tcp_keepalives_idle": "30",
        "tcp_keepalives_interval": "10",
        "tcp_keepalives_count": "3",
        # Our own deadlines count; one that the role was given could only cut a commit.
        "statement_timeout": "0",
        "lock_timeout": "0",
        "idle_in_transaction_session_timeout": "0",
    }
)
"""For a session that holds the lock."""

READ_ONLY: Mapping[str, str] = MappingProxyType({"default_transaction_read_only": "on"})
"""What keeps a connection from writing."""

_ANSWER_S = 60.0
"""Most questions are answered within milliseconds."""


class Held(NamedTuple):
    """The session that holds the advisory lock.

    :ivar pid: of its process in the PostgreSQL server
    :ivar name: who it is; empty where this role may not see that
    :ivar shared: True where it is a node of a cluster, and others may hold it as well
    """

    pid: int
    name: str
    since: datetime | None
    shared: bool = False


def driver() -> Any:
    """The asyncpg module. Raises Refused where it is not installed."""
    try:
        import asyncpg
    except ImportError as error:
        raise NotFound(
            Code.NO_ASYNCPG,
            "The database is in PostgreSQL, which needs the package asyncpg. Install it: "
            "pip install 'cgos-server[postgres]'",
        ) from error
    return asyncpg


def faults() -> tuple[type[Exception], ...]:
    """What the driver raises where the database, or the way to it, is at fault."""
    pg = driver()
    return OSError, TimeoutError, pg.PostgresError, pg.InterfaceError


async def connect(
    url: PostgresUrl, name: str, settings: Mapping[str, str], answer_s: float | None = _ANSWER_S
) -> asyncpg.Connection:
    """A connection that calls itself `name`, with PostgreSQL's settings `settings`. Raises StoreError.

    :param answer_s: seconds after which a statement is given up; None for work that may take any time
    """
    pg = driver()
    known: tuple[type[Exception], ...] = (*faults(), ValueError)
    try:
        connection: asyncpg.Connection = await pg.connect(url.dsn, **_options(name, settings, answer_s))
    except known as error:
        raise unreachable(url, error) from error
    return connection


def pool(url: PostgresUrl, name: str, settings: Mapping[str, str], *, most: int) -> asyncpg.Pool:
    """At most `most` connections like those of :func:`connect`, opened when they are needed. What a session has set or
    locked ends when it is given back."""
    made: asyncpg.Pool = driver().create_pool(url.dsn, min_size=0, max_size=most, **_options(name, settings, _ANSWER_S))
    return made


def _options(name: str, settings: Mapping[str, str], answer_s: float | None) -> dict[str, Any]:
    return {
        "timeout": _CONNECT_S,
        "command_timeout": answer_s,
        "max_cached_statement_lifetime": 0,
        "server_settings": {"application_name": _fitting(name), **settings},
    }


async def connect_for_writing(
    url: PostgresUrl, name: str, synchronous: bool, idle_s: float | None = None
) -> asyncpg.Connection:
    """The writer's connection; commits wait for the disk where `synchronous`. Raises StoreError.

    :param idle_s: seconds after which PostgreSQL ends the session in the middle of a transaction that does not go on;
        None: never
    """
    # The writer has deadlines of its own.
    settings = {"synchronous_commit": "on" if synchronous else "off", **WATCHFUL}
    if idle_s is not None:
        settings["idle_in_transaction_session_timeout"] = f"{round(idle_s * 1000)}ms"
    return await connect(url, name, settings, answer_s=None)


def unreachable(url: PostgresUrl, error: BaseException) -> StoreError:
    """Why PostgreSQL does not let us in, as a sentence."""
    why = str(error) or type(error).__name__
    return StoreError(f"PostgreSQL does not let us into {url}: {why}")


def reading_engine(url: PostgresUrl) -> AsyncEngine:
    """An engine on the database that cannot write to it; each of its transactions sees one moment."""
    return _engine(
        url,
        "cgos-server, reading",
        READ_ONLY,
        _ANSWER_S,
        isolation_level="REPEATABLE READ",
        pool_size=4,
        max_overflow=0,
        pool_pre_ping=True,
    )


def migrating_engine(url: PostgresUrl) -> AsyncEngine:
    """An engine for changes of the schema, which are part of its transactions. It keeps no connection."""
    return _engine(url, "cgos-server, schema", {}, None, poolclass=NullPool)


def _engine(
    url: PostgresUrl, name: str, settings: Mapping[str, str], answer_s: float | None, **options: Any
) -> AsyncEngine:
    from sqlalchemy.ext.asyncio import create_async_engine  # loads the mapper of objects, too

    driver()

    async def creator() -> Any:
        return await connect(url, name, settings, answer_s)

    return create_async_engine("postgresql+asyncpg://", async_creator=creator, **options)


async def try_lock(connection: asyncpg.Connection, shared: bool = False) -> Held | None:
    """Take the advisory lock for the rest of this session. None: it is ours; else who holds it.

    :param shared: together with others who take it so
    """
    how = "pg_try_advisory_lock_shared" if shared else "pg_try_advisory_lock"
    if await connection.fetchval(f"SELECT {how}($1)", LOCK):
        return None
    holder = await connection.fetchrow(
        "SELECT l.pid, a.application_name, a.backend_start, l.mode = 'ShareLock' "
        "FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid) "
        "WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.classid = 0 AND l.objid = $1 "
        "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        LOCK,
    )
    if holder is None:
        return Held(0, "", None)  # it was let go while we asked
    return Held(holder[0], holder[1] or "", holder[2], holder[3])


async def end(connection: asyncpg.Connection) -> None:
    """Close a connection that may hold the advisory lock: the next one can have it at once. Raises nothing."""
    try:
        async with asyncio.timeout(_CLOSE_S):
            # By itself the server would find out a little later that we are gone.
            await connection.execute("SELECT pg_advisory_unlock_all()")
            await connection.close()
    except Exception:
        connection.terminate()  # a session that was cut has let go already


def _fitting(name: str) -> str:
    if len(name) <= _LONGEST_NAME:
        return name
    return name[: _LONGEST_NAME - 4] + ("...)" if "(" in name[: _LONGEST_NAME - 4] else "...")


class OtherLoop:
    """An event loop in a thread, for code that is not asynchronous but needs a connection to stay open."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="cgos-postgres", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for `work` and return what it returns, or raise what it raises."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """End the thread."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()


def apart(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work` in a loop of its own, wherever we are; wait for what it returns or raises."""
    loop = OtherLoop()
    try:
        return loop.run(work())
    finally:
        loop.close()
