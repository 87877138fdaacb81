"""The store on PostgreSQL: how its questions are asked, and how it is opened.

A question whose connection breaks is asked again for a while: nothing is written by it, and a bot that signs in while
PostgreSQL restarts only waits. Must not know: what the records mean, which schema this is (see schema).
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.dialects.postgresql import asyncpg as dialects

from cgos_protocol.errors import CommitFailed, StoreError
from cgos_server.storage.connections import Durability
from cgos_server.storage.group_commit import Observe, Patience
from cgos_server.storage.holder import holder_name
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.postgres.connections import READ_ONLY, connect, connect_for_writing, driver, unreachable
from cgos_server.storage.postgres.statements import without_nul
from cgos_server.storage.postgres.writer import KEPT_S, PostgresWriter
from cgos_server.storage.queries import Question
from cgos_server.storage.sql_store import SqlStore

if TYPE_CHECKING:
    import asyncpg

_READERS = 4
_ANSWER_S = 30.0
"""A question that has not been answered for so long is asked again, or given up."""


class _Query(NamedTuple):
    """SQL with numbered parameters; for each one its name, or its value where that never changes."""

    text: str
    names: Sequence[str]
    given: dict[str, Any]


@functools.cache
def _compiled(question: Question) -> _Query:
    compiled = question.compile(dialect=dialects.dialect())  # type: ignore[no-untyped-call]
    return _Query(str(compiled), tuple(compiled.positiontup or ()), dict(compiled.params))


class PostgresStore(SqlStore):
    """The store on PostgreSQL. Made by :func:`open_postgres_store`.

    :param patience_s: how long a question is asked again while PostgreSQL cannot be reached
    """

    def __init__(self, writer: PostgresWriter, pool: asyncpg.Pool, patience_s: float) -> None:
        super().__init__(writer)
        self._pool = pool
        self._patience_s = patience_s

    async def _rows(self, question: Question, **parameters: Any) -> list[Any]:
        query = _compiled(question)
        values = {**query.given, **parameters}
        arguments = without_nul([values[name] for name in query.names])
        patience = Patience(time.monotonic, self._patience_s)
        asyncpg = driver()
        while True:
            try:
                rows: list[Any] = await self._pool.fetch(query.text, *arguments, timeout=_ANSWER_S)
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, StoreError) as error:
                pause = patience.pause()
                if pause is None or isinstance(error, asyncpg.DataError | asyncpg.SyntaxOrAccessError):
                    why = str(error) or "PostgreSQL did not answer in time"
                    raise StoreError(f"the database could not be read: {why}") from error
                await asyncio.sleep(pause)
            else:
                return rows

    async def _stop_reading(self) -> None:
        try:
            async with asyncio.timeout(_ANSWER_S):
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()


async def open_postgres_store(
    url: PostgresUrl,
    *,
    failed: Callable[[CommitFailed], None],
    on_error: Callable[[Exception], None],
    durability: Durability,
    commit_timeout: float,
    observe: Observe | None,
    retrying: Callable[[Exception], None] | None,
    lock: DatabaseLock | None,
) -> PostgresStore:
    """See :func:`cgos_server.storage.opening.open_store`. Raises DatabaseLocked, too."""
    asyncpg = driver()
    power = durability == "power"
    name = holder_name("cgos-server" if lock is None else lock.purpose)
    if lock is not None:
        lock.release()  # the writer takes it over
    writer = PostgresWriter(
        url,
        functools.partial(connect_for_writing, url, name, power),
        failed=failed,
        on_error=on_error,
        kept=0.0 if power else KEPT_S,
        commit_timeout=commit_timeout,
        observe=observe,
        retrying=retrying,
    )
    await writer.start()
    try:
        pool = await asyncpg.create_pool(
            min_size=1, max_size=_READERS, connect=functools.partial(_reader, url, name), reset=_as_it_is
        )
    except (StoreError, OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        await writer.close()
        raise error if isinstance(error, StoreError) else unreachable(url, error) from error
    return PostgresStore(writer, pool, commit_timeout)


async def _reader(url: PostgresUrl, name: str, *_: Any, **__: Any) -> asyncpg.Connection:
    return await connect(url, name, READ_ONLY)


async def _as_it_is(_connection: asyncpg.Connection) -> None:
    """Between two questions: nothing that we ask leaves anything behind, and asyncpg's own way is a round trip."""
