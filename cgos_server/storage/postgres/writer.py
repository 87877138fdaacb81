"""The one writer on PostgreSQL: one connection that also holds the database's lock (see group_commit for the loop's
side).

A connection may break between a COMMIT and its answer. Therefore every batch has a number, kept in the one row of the
table `writer` by the batch's own transaction; a new connection looks there first. That row also names its holder, so
that a session of before, or another program, can commit nothing more once we have taken over; and taking over waits
for a transaction of before that still runs. A node of a cluster holds the lock together with the others, and the row
alone by the rules of groups; it writes there that it lives. Must not know: SQL of the records (see statements),
sockets, games.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import functools
import math
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cgos_protocol.errors import CommitFailed, Overtaken, Refused, StoreError
from cgos_server.storage.holder import holder_name
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.node import Node
from cgos_server.storage.postgres import groups
from cgos_server.storage.postgres.connections import connect_for_writing, driver, end, try_lock
from cgos_server.storage.postgres.groups import Owner
from cgos_server.storage.postgres.lock import refusal
from cgos_server.storage.postgres.statements import FENCE, Plan, owners_fence, plan, sign_of_life
from cgos_server.storage.writing.group_commit import STILL_S, CommitListener, Group, GroupCommit, Patience, explain

if TYPE_CHECKING:
    import asyncpg

Connect = Callable[[], Awaitable[Any]]
"""Opens the writer's connection. All that the writer does to it goes through its methods, so a test can put a failing
server there."""

KEPT_S = 5.0
"""How long at least a batch is kept that was committed without waiting for PostgreSQL's disk. PostgreSQL writes it
there after three times its ``wal_writer_delay`` at most, 0.6 s unless that was changed."""

_DELAY_S = "SELECT setting::float8 / 1000 FROM pg_settings WHERE name = 'wal_writer_delay'"

_END_OF_OURS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE pid = $1 AND application_name = current_setting('application_name')"
)
"""Ends a session of ours whose end the server has not noticed."""

_LET_GO_S = 2.0

_ATTEMPT = 0.5
"""Of the commit timeout: what one attempt may take. A connection that has gone dumb leaves time for another one."""

_BITS = 63
"""Of a holder's number."""

_SOMEBODY = "another program has written to the database meanwhile"

_ALONE = (
    "UPDATE writer SET holder = CASE id WHEN 1 THEN $1::bigint ELSE 0 END, "
    "node = NULL, address = NULL, control = NULL, build = NULL, seen = NULL"
)
"""A process alone has all groups, and a node that wakes up later finds that it has none."""
_STILL_OWNER = "UPDATE writer SET holder = $1, seen = clock_timestamp() WHERE id = $2"
_LAST_BATCH = "SELECT holder, batch FROM writer WHERE id = $1 FOR UPDATE"


class _Kept(NamedTuple):
    """A batch that PostgreSQL may still lose. `at`: when it was committed."""

    number: int
    plan: Plan
    at: float


class _End(enum.Enum):
    """What comes to the task besides batches."""

    CUT = "the connection broke"
    CLOSED = "there is nothing more to come"


_Work = Sequence[Group] | Literal[_End.CUT, _End.CLOSED]


class _Overtaken(Exception):
    """The database is not as we left it, and nothing that we could do would put that right."""


class PostgresWriter(GroupCommit):
    """Owns the writing connection and the task that commits.

    :param url: for messages
    :param connect: see `Connect`
    :param kept: seconds for which batches are kept (at least), to be written again where PostgreSQL lost them; 0 where
        its commits wait for the disk
    :param node: which node of a cluster this is; None where this process is alone
    :param sleep: pauses between two tries, seconds; the other parameters are those of :class:`GroupCommit`
    """

    def __init__(
        self,
        url: PostgresUrl,
        connect: Connect,
        listener: CommitListener,
        *,
        kept: float = KEPT_S,
        node: Node | None = None,
        commit_timeout: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        super().__init__(listener, commit_timeout=commit_timeout, clock=clock)
        pg = driver()
        self._url = url
        self._connect = connect
        self._kept = kept
        self._node = node
        self._sleep = sleep
        self._incurable = (
            pg.IntegrityConstraintViolationError,
            pg.DataError,
            pg.SyntaxOrAccessError,
            TypeError,
        )
        self._connection: asyncpg.Connection | None = None
        self._pid = 0
        self._group = 1
        self._holder = 0
        self._was_holder: set[int] = set()
        self._number = 0
        self._recent: deque[_Kept] = deque()
        self._work: asyncio.Queue[_Work] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    @property
    def owner(self) -> Owner:
        """How the database knows us."""
        return Owner(self._group, self._holder)

    async def start(self) -> None:
        """Connect and take the database's lock. Raises StoreError; DatabaseLocked where somebody else holds it; Refused
        (``group-held``, ``other-build``) where another node owns the venues."""
        try:
            async with asyncio.timeout(self._commit_timeout):
                await self._take_over()
        except (StoreError, Refused):
            await self._drop()
            raise
        except Exception as error:
            await self._drop()
            raise StoreError(f"the database could not be opened for writing: {_in_words(error)}") from error
        # Not in a task group: it lives from here to `_release`, which waits for it.
        self._task = self._loop.create_task(self._run())

    def _send(self, batch: Sequence[Group]) -> None:
        self._work.put_nowait(batch)

    async def _release(self) -> None:
        self._work.put_nowait(_End.CLOSED)
        if self._task is None:
            return
        if self._hung:
            self._task.cancel()
        await asyncio.wait([self._task])

    def _cut(self, connection: object) -> None:
        if connection is self._connection:
            self._work.put_nowait(_End.CUT)

    async def _run(self) -> None:
        try:
            while (work := await self._next()) is not _End.CLOSED:
                if work is _End.CUT:
                    await self._come_back()
                else:
                    self._committed(await self._commit(work))
            await self._let_go()
        except CommitFailed as failure:
            self._give_up(failure)
        except Exception as error:
            # A fault of ours. Without this task nobody would ever be told of anything again.
            self._give_up(CommitFailed(f"the writer stopped: {type(error).__name__}: {error}"))
        finally:
            await self._drop(cut=self._failure is not None)

    async def _next(self) -> _Work:
        """What is to be done next. A group's owner who has nothing to write says that it lives."""
        if self._node is None:
            return await self._work.get()
        while True:
            try:
                async with asyncio.timeout(self._node.beat_s):
                    return await self._work.get()
            except TimeoutError:
                if not self._closed:
                    self.submit(())

    def _plan(self, batch: Sequence[Group]) -> Plan:
        if self._node is None:
            return plan(batch, FENCE)
        fence = owners_fence(self._group)
        planned = plan(batch, fence)
        return planned if planned.steps else sign_of_life(fence)

    async def _let_go(self) -> None:
        """The last act of an owner who ends in good order; where it fails, others wait until it counts as dead."""
        if self._node is not None and self._connection is not None and not self._handed_on:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(_LET_GO_S):
                    await groups.free(self._connection, self._holder)

    async def _commit(self, batch: Sequence[Group]) -> int:
        """Commit, on a new connection after each failure. Raises CommitFailed when time is up or the batch is wrong.

        Time in which this process stood still is not PostgreSQL's: all tries are to come after it.
        """
        patience = Patience(self._clock, self._commit_timeout)
        number = self._number + 1
        began, pause = self._clock(), 0.0
        while True:
            try:
                what = self._plan(batch)
                if what.steps:
                    await self._attempt(number, what)
            except Exception as error:
                if self._clock() - began > pause + _ATTEMPT * self._commit_timeout + STILL_S:
                    patience = Patience(self._clock, self._commit_timeout)
                next_pause = patience.pause()
                await self._failed_with(error)
                if next_pause is None or isinstance(error, self._incurable):
                    raise explain(_in_words(error), batch) from error
                if self._listener.retrying is not None:
                    self._guard(self._listener.retrying, _in_words(error))
                began, pause = self._clock(), next_pause
                await self._sleep(pause)
            else:
                self._failing = False
                return what.records

    async def _come_back(self) -> None:
        """Connect again while nothing is to be written, so that nobody else takes the lock; without a hurry."""
        if self._connection is None or not self._connection.is_closed():
            return  # a commit has seen to it
        if self._node is not None:
            self._failing = True
            self.submit(())  # with the patience of any commit: whoever cannot write is no owner for long
            return
        pause = Patience(self._clock, math.inf).pause
        await self._failed_with(None)
        while self._work.empty():
            try:
                async with asyncio.timeout(_ATTEMPT * self._commit_timeout):
                    await self._take_over()
            except Exception as error:
                await self._failed_with(error)
                await self._sleep(pause() or 0.0)
            else:
                self._failing = False
                return

    async def _attempt(self, number: int, what: Plan) -> None:
        async with asyncio.timeout(_ATTEMPT * self._commit_timeout):
            connection = self._connection or await self._take_over()
            if self._number < number:
                await self._write(connection, number, what)
                self._number = number
        if self._kept:
            now = self._clock()
            self._recent.append(_Kept(number, what, now))
            while self._recent[0].at < now - self._kept:
                self._recent.popleft()

    async def _failed_with(self, error: Exception | None) -> None:
        """Raises CommitFailed where there is no point in going on."""
        self._failing = True
        await self._drop(cut=True)
        if isinstance(error, _Overtaken):
            if self._node is not None:
                raise Overtaken(f"{error}. This node stops; started again by `serve --standby` it stands by") from error
            raise CommitFailed(f"{error}. The server stops, so that nothing gets mixed up; start it again") from error

    async def _write(self, connection: asyncpg.Connection, number: int, what: Plan) -> None:
        first, *rest = what.steps
        if rest:
            await connection.execute("BEGIN")
        if await connection.fetchval(first.sql, number, self._holder, *first.arguments) != 1:
            raise _Overtaken(await self._somebody(connection))
        for step in rest:
            await connection.fetchval(step.sql, *step.arguments)
        if rest:
            await connection.execute("COMMIT")

    async def _take_over(self) -> asyncpg.Connection:
        """Connect, take the lock, become the holder, and learn how much of what we sent is there."""
        connection = self._connection = await self._connect()
        connection.add_termination_listener(self._cut)
        if self._node is not None and self._pid:
            await connection.execute(_END_OF_OURS, self._pid)  # it may hold the row, in a transaction
        held = await try_lock(connection, shared=self._node is not None)
        if held is not None:
            if held.pid == self._pid:
                await connection.execute(_END_OF_OURS, held.pid)
            raise refusal(self._url, held)
        self._pid = connection.get_server_pid()
        if self._kept:
            self._kept = max(self._kept, 4 * await connection.fetchval(_DELAY_S))
        holder = secrets.randbits(_BITS) | 1
        before = self._was_holder.copy()
        self._was_holder.add(holder)
        if self._node is not None and not self._holder:
            self._group, self._number = await groups.claim(connection, self._node, holder)
            self._holder = holder
            return connection
        await connection.execute("BEGIN")
        # This must not get lost, whatever may happen to the batches: it is what keeps others out.
        await connection.execute("SET LOCAL synchronous_commit = on")
        was, number = await connection.fetchrow(_LAST_BATCH, self._group)
        if before and was not in before:
            raise _Overtaken(await self._somebody(connection))
        if self._node is None:
            await connection.execute(_ALONE, holder)
        else:
            await connection.execute(_STILL_OWNER, holder, self._group)
        await connection.execute("COMMIT")
        first, self._holder = not self._holder, holder
        if first:
            self._number = number
        else:
            await self._catch_up(connection, number)
        return connection

    async def _somebody(self, connection: asyncpg.Connection) -> str:
        """Who has overtaken us."""
        if self._node is None:
            return _SOMEBODY
        row = groups.of_node(await groups.look(connection), self._node)
        return f"node {row.node} has taken the venues over" if row.node else _SOMEBODY

    async def _catch_up(self, connection: asyncpg.Connection, number: int) -> None:
        """The database holds our batches up to `number`, the one in flight perhaps among them."""
        if number > self._number:
            self._number = number
            return
        lost = [kept for kept in self._recent if kept.number > number]
        if len(lost) != self._number - number:
            raise _Overtaken(
                f"PostgreSQL has lost the last {self._number - number} of the commits that were told (was it restored "
                "from a copy?)"
            )
        for kept in lost:
            await self._write(connection, kept.number, kept.plan)
        now = self._clock()
        self._recent = deque(kept._replace(at=now) for kept in self._recent)

    async def _drop(self, cut: bool = False) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if cut:
            connection.terminate()
        else:
            await end(connection)


async def open_postgres_writer(
    url: PostgresUrl, listener: CommitListener, *, durable: bool, commit_timeout: float, lock: DatabaseLock | None
) -> PostgresWriter:
    """See :func:`cgos_server.storage.opening.open_store`. Raises StoreError; DatabaseLocked and what
    :meth:`PostgresWriter.start` raises, too.

    :param durable: commits wait for PostgreSQL's disk
    """
    name = holder_name("cgos-server" if lock is None else lock.purpose)
    node = None if lock is None else lock.node
    # Whoever stops in the middle of a transaction must not keep the row from the next owner.
    idle_s = None if node is None else node.ttl_s / 2
    if lock is not None:
        lock.release()  # the writer takes it over
    writer = PostgresWriter(
        url,
        functools.partial(connect_for_writing, url, name, durable, idle_s=idle_s),
        listener,
        kept=0.0 if durable else KEPT_S,
        node=node,
        commit_timeout=commit_timeout,
    )
    await writer.start()
    return writer


def _in_words(error: Exception) -> Exception:
    if isinstance(error, TimeoutError) and not str(error):
        return TimeoutError("PostgreSQL did not answer in time")
    return error
