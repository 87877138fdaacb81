"""Starts short work, such as a sign-in, in the server's task group.

Decides that a fault in one of them ends nothing else. Must not know: what the work is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from cgos_protocol.errors import CommitFailed
from cgos_server.assembly.faults import report


class Spawner:
    """One a server.

    :ivar closed: True once nothing new may begin
    """

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self.closed = False
        self._group = group
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Start it, unless the server is closing."""
        if self.closed:
            work.close()
            return
        task = self._group.create_task(_guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        """End whatever still runs."""
        for task in self._tasks:
            task.cancel()


async def _guarded(work: Coroutine[Any, Any, None]) -> None:
    """A fault of ours in one sign-in must not end the server."""
    try:
        await work
    except CommitFailed:
        pass  # said once, when commits were given up
    except Exception as error:
        report(error)
