"""Group commit as the event loop sees it: records gather while the batch before them is committed.

No timer: what has gathered is handed over at once, one batch at a time, and the commit's own time makes the next
batch. How a batch reaches its database is the subclass's business, and so is trying again; when to give up is decided
here, the same for all. Must not know: SQL, which database, sockets, games.
"""

from __future__ import annotations

import abc
import asyncio
import functools
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from cgos_protocol.errors import CommitFailed, StoreError
from cgos_server.storage.writing.causes import cause_of
from cgos_server.storage.writing.records import Record

Observe = Callable[[int, float], None]
"""Told of every commit: number of records, and seconds from hand-over until the loop knew."""

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
_OVERDUE = 1.0
_HUNG = 2.0
"""Seconds beyond the commit timeout after which a commit that neither returns nor fails is given up."""
STILL_S = 1.0
"""Seconds beyond a deadline after which a process that hears of it only then has stood still (SIGSTOP, a suspended
machine), so that the deadline says nothing about the database."""


class Group(msgspec.Struct, frozen=True, gc=False):
    """Records that are committed together or not at all, and whom to call after that."""

    records: Sequence[Record]
    then: Callable[[], None] | None


class CommitListener(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a writer tells, all in the event loop.

    :ivar failed: called once, when a batch could not be committed; nobody is told of it or a later one
    :ivar on_error: called with what a `then` or `observe` raised
    :ivar observe: see `Observe`
    :ivar retrying: called with the error of an attempt that failed and is made again
    :ivar checkpointed: SQLite only: called with what :class:`cgos_server.storage.sqlite.checkpoints.Checkpointer`
        reports
    """

    failed: Callable[[CommitFailed], None]
    on_error: Callable[[Exception], None]
    observe: Observe | None = None
    retrying: Callable[[Exception], None] | None = None
    checkpointed: Callable[[StoreError | None], None] | None = None


class Patience:
    """How long a failing batch is tried again, and with which pauses.

    :param clock: seconds, monotonic
    :param seconds: how long, from now on
    """

    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        self._clock = clock
        self._until = clock() + seconds
        self._next = _FIRST_PAUSE

    def pause(self) -> float | None:
        """Seconds to wait before the next try; None when time is up."""
        left = self._until - self._clock()
        if left <= 0:
            return None
        pause, self._next = self._next, min(2 * self._next, _LONGEST_PAUSE)
        return min(pause, left)


class GroupCommit(abc.ABC):
    """The loop's side of a writer. All methods are called in the event loop.

    Nothing limits what gathers, because the senders limit themselves: a bot has one move in flight and hears nothing
    until it is committed. `pending` shows the backlog.

    :param commit_timeout: seconds for which a failing batch is tried again
    :param clock: seconds, monotonic
    :param soon: calls back once, when this turn of the loop is over; None: the loop's own way
    """

    def __init__(
        self,
        listener: CommitListener,
        *,
        commit_timeout: float,
        clock: Callable[[], float],
        soon: Callable[[Callable[[], None]], object] | None = None,
    ) -> None:
        self._listener = listener
        self._commit_timeout = commit_timeout
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._soon = soon or self._loop.call_soon
        self._gathered: list[Group] = []
        self._in_flight: list[Group] = []
        self._handed_over: float | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._hung = False
        self._busy = False
        self._failing = False
        self._failure: CommitFailed | None = None
        self._closed = False
        self._handed_on = False
        self._waiters: set[asyncio.Future[None]] = set()
        self._quiet = asyncio.Event()

    @abc.abstractmethod
    async def start(self) -> None:
        """Open the connection. Raises StoreError."""

    @abc.abstractmethod
    def _send(self, batch: Sequence[Group]) -> None:
        """Begin to commit `batch`; ends in :meth:`_committed` or :meth:`_give_up`. Sets `_failing` meanwhile."""

    @abc.abstractmethod
    async def _release(self) -> None:
        """Let go of the connection; with `_hung` set, without waiting for it."""

    def submit(self, records: Sequence[Record], then: Callable[[], None] | None = None) -> None:
        """See :meth:`cgos_server.storage.store.Store.submit`."""
        if self._closed or self._failure:
            if self._failure is None:
                lost = StoreError(f"{len(records)} records came after the store was closed and are lost")
                self._listener.on_error(lost)
            return
        self._gathered.append(Group(records, then))
        if not self._busy:
            # Not now but when this turn of the loop is over, so that all its moves share the commit.
            self._busy = True
            if self._watch is None:
                self._watch = self._loop.call_later(self._commit_timeout + _HUNG, self._look_for_a_hang)
            self._soon(self._hand_over)

    async def commit(self, records: Sequence[Record]) -> None:
        """See :meth:`cgos_server.storage.store.Store.commit`. Raises CommitFailed; StoreError once it is closed."""
        if self._failure:
            raise type(self._failure)(str(self._failure))
        if self._closed:
            raise StoreError("the store is closed")
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._waiters.add(waiter)
        try:
            self.submit(records, functools.partial(_settle, waiter))
            await waiter
        finally:
            self._waiters.discard(waiter)

    @property
    def healthy(self) -> bool:
        """False while commits are failing or one has not returned for longer than a second."""
        if self._failing or self._failure:
            return False
        return self._handed_over is None or self._clock() - self._handed_over <= _OVERDUE

    @property
    def pending(self) -> int:
        """Groups that are not committed yet."""
        return len(self._in_flight) + len(self._gathered)

    def hand_on(self) -> None:
        """Another program goes on in this process: nobody else is let in when this one is closed."""
        self._handed_on = True

    async def drain(self) -> None:
        """Wait until everything that was submitted is committed, or has failed."""
        while self._busy and not self._failure:
            self._quiet.clear()
            await self._quiet.wait()

    async def close(self) -> None:
        """Commit everything that was submitted, then close the connection."""
        await self.drain()
        self._closed = True
        if self._watch is not None:
            self._watch.cancel()
        await self._release()

    def _hand_over(self) -> None:
        self._in_flight, self._gathered = self._gathered, []
        self._handed_over = self._clock()
        self._send(self._in_flight)

    def _look_for_a_hang(self) -> None:
        """A disk may also neither take a commit nor refuse it. One timer for many batches, set anew when early, or when
        this process has stood still."""
        stood_still = self._watch is not None and self._loop.time() - self._watch.when() > STILL_S
        self._watch = None
        if self._failure or not self._busy:
            return
        waited = 0.0 if self._handed_over is None else self._clock() - self._handed_over
        left = self._commit_timeout + _HUNG - (0.0 if stood_still else waited)
        if left > 0:
            self._watch = self._loop.call_later(left, self._look_for_a_hang)
            return
        self._hung = True
        self._give_up(CommitFailed(f"a commit has not returned within {self._commit_timeout + _HUNG:g} seconds"))

    def _committed(self, records: int) -> None:
        if self._failure:
            return  # given up already: nobody is told
        batch = self._in_flight
        seconds = self._clock() - (self._handed_over or 0.0)
        if self._gathered:
            self._hand_over()
        else:
            self._in_flight = []
            self._handed_over = None
            self._busy = False
        for group in batch:
            # A mistake in one group's continuation must not keep the others from hearing of their commit.
            try:
                if group.then is not None:
                    group.then()
            except Exception as error:
                self._listener.on_error(error)
        if self._listener.observe is not None:
            self._guard(self._listener.observe, records, seconds)
        if not self._busy:
            self._quiet.set()

    def _guard(self, call: Callable[..., None], *arguments: Any) -> None:
        try:
            call(*arguments)
        except Exception as error:
            self._listener.on_error(error)

    def _give_up(self, failure: CommitFailed) -> None:
        if self._failure:
            return
        self._failure = failure
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_exception(type(failure)(str(failure)))
        self._quiet.set()
        self._listener.failed(failure)


def explain(error: Exception, batch: Sequence[Group]) -> CommitFailed:
    """Why `batch` could not be committed, as a sentence for the operator."""
    records = sum(len(group.records) for group in batch)
    cause = cause_of(error)
    remedy = "Mend the disk or the fault" if cause is None else cause.value.removesuffix(".")
    return CommitFailed(
        f"the database could not take {records} records ({type(error).__name__}: {error}); nobody was told of them, "
        f"and everything that was told is stored. {remedy}, then start the server again"
    )


def _settle(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
