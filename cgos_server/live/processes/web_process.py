"""Keeps the web process alive: starts it by exec, starts it again when it dies, ends it with the server.

The child inherits the pages' listening socket, one end of a pipe and one of a socket, and nothing else; it goes when
the pipe closes, so it cannot outlive us, however we end. Our ends are lent: the pipe's to whoever has something to tell
the child, the socket's to whoever asks it for its metrics. Must not know: what the child does, what it is told or
asked. Games never notice any of this.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol

import structlog

log = structlog.get_logger(__name__)

PAUSES_S = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Before the next start, after so many deaths in a row; the last one repeats."""

STEADY_S = 60.0
"""A child that lived so long starts the count of deaths anew."""

BACKLOG = 2048
"""Visitors who wait while no child is there: all viewers come again at about the same time."""

STOP_LIMIT_S = 5.0
"""Time a child has to go after its pipe was closed and SIGTERM sent; then it is killed."""


class PipeUser(Protocol):
    """Who tells the child things, or asks it, through a pipe or a socket."""

    def opened(self, descriptor: int) -> None:
        """A child holds the other end of `descriptor`, which is only lent."""

    def closed(self) -> None:
        """The child is gone or about to go: the descriptor is not to be used any more."""


class WebProcess:
    """One supervised child. For a task group: ``group.create_task(web.run())``; ends by :meth:`stop` or cancellation.

    :param command: what to execute; the options of `sockets` are added, and ``--pipe-fd N --scrape-fd M``
    :param variables: added to its environment, where other users do not see them as they see a command
    :param sockets: option of the command, such as ``--listen-fd`` -> bound socket; they stay open here, so that
        visitors wait while the child is away
    :param restarted: called each time a dead child is replaced
    :param pause: waits so many seconds
    :param pipe_user: lent the pipe's writing end while a child lives
    :param scraper: lent our end of the socket through which the child is asked for its metrics
    """

    def __init__(
        self,
        command: Sequence[str],
        sockets: Mapping[str, socket.socket],
        variables: Mapping[str, str] | None = None,
        *,
        restarted: Callable[[], None],
        pause: Callable[[float], Coroutine[Any, Any, object]] = asyncio.sleep,
        stop_limit: float = STOP_LIMIT_S,
        pipe_user: PipeUser | None = None,
        scraper: PipeUser | None = None,
    ) -> None:
        self._command = tuple(command)
        self._sockets = sockets
        self._variables = dict(variables or {})
        self._restarted = restarted
        self._pause = pause
        self._stop_limit = stop_limit
        self._users = (pipe_user, scraper)
        self._stopping = asyncio.Event()
        self._pid: int | None = None

    @property
    def pid(self) -> int | None:
        """The living child's process id."""
        return self._pid

    def stop(self) -> None:
        """End the child and let :meth:`run` return."""
        self._stopping.set()

    async def run(self) -> None:
        """Keep a child running until :meth:`stop`; when cancelled, end it first."""
        for sock in self._sockets.values():
            sock.listen(BACKLOG)
        loop = asyncio.get_running_loop()
        deaths = 0
        while not self._stopping.is_set():
            started = loop.time()
            ending = await self._one_life()
            if self._stopping.is_set():
                return
            deaths = 1 if loop.time() - started >= STEADY_S else deaths + 1
            wait = PAUSES_S[min(deaths, len(PAUSES_S)) - 1]
            log.warning("the web process is gone; starting another", ending=ending, deaths=deaths, wait_s=wait)
            await self._unless_stopped(self._pause(wait))
            if not self._stopping.is_set():
                self._restarted()

    async def _one_life(self) -> str:
        """Start a child and wait until it has ended, by itself or on our word. Returns how it ended."""
        theirs, ours = _ends()
        descriptors = {option: sock.fileno() for option, sock in self._sockets.items()}
        descriptors |= {"--pipe-fd": theirs[0], "--scrape-fd": theirs[1]}
        try:
            try:
                child = await asyncio.create_subprocess_exec(
                    *self._command,
                    *(word for pair in descriptors.items() for word in map(str, pair)),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.DEVNULL,
                    pass_fds=tuple(descriptors.values()),
                    env=os.environ | self._variables,
                    # Its own group: Ctrl-C in the terminal is for the server, which may have games to finish.
                    process_group=0,
                )
            except OSError as error:
                return f"it could not be started: {error}"
            finally:
                _close(theirs)
            self._pid = child.pid
            log.info("the web process runs", pid=child.pid)
            users = [(user, end) for user, end in zip(self._users, ours, strict=True) if user is not None]
            for user, end in users:
                user.opened(end)
            try:
                await self._unless_stopped(child.wait())
            finally:
                for user, _ in users:
                    user.closed()
                _close(ours)
                await self._end(child)
                self._pid = None
            return f"exit code {child.returncode}"
        finally:
            _close(ours)

    async def _end(self, child: asyncio.subprocess.Process) -> None:
        """See it gone: politely, then by force."""
        if child.returncode is None:
            # Not child.terminate(): that would look for the exit status itself and take it from the loop's watcher.
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGTERM)
        try:
            async with asyncio.timeout(self._stop_limit):
                await child.wait()
        except TimeoutError:
            log.warning("the web process did not stop and is killed", pid=child.pid)
            child.kill()
            await child.wait()

    async def _unless_stopped(self, other: Coroutine[Any, Any, object]) -> None:
        """Wait until `other` is done or :meth:`stop` was called."""
        async with asyncio.TaskGroup() as group:
            tasks = (group.create_task(self._stopping.wait()), group.create_task(other))
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()


def _ends() -> tuple[list[int], list[int]]:
    """The child's ends and ours, of the pipe and of the socket."""
    (reading, writing), (theirs, ours) = os.pipe(), socket.socketpair()
    return [reading, theirs.detach()], [writing, ours.detach()]


def _close(descriptors: list[int]) -> None:
    """Close what is left of them."""
    while descriptors:
        os.close(descriptors.pop())
