"""Several bots in one process, from their start to one exit status, and what signals mean to them.

Must not know: transports, engines.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import signal
from collections.abc import Sequence
from typing import Protocol

from cgos_client.runner import FAILED, INTERRUPTED, OK

log = logging.getLogger(__name__)

WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO", default="")
"""Which bot a task works for, where there are several: for the log."""

SLOT: contextvars.ContextVar[int] = contextvars.ContextVar("SLOT", default=0)
"""Which of a bot's engines a task works with, from 1, where there are several: for the log. 0 for none."""


class Runner(Protocol):
    """One bot."""

    async def run(self) -> int:
        """Play until there is nothing more to do. Returns the exit status."""

    def stop(self) -> None:
        """First call: leave after the games that are on. Second call: leave at once."""


class Together:
    """Runs bots side by side; none stops another.

    :param runners: (name, bot); the name goes before its lines in the log where it is not empty
    :param leave_within: seconds that running games may go on after the first signal; None: as long as they take
    """

    def __init__(self, runners: Sequence[tuple[str, Runner]], leave_within: float | None = None) -> None:
        self._runners = runners
        self._leave_within = leave_within
        self._asked = 0
        self._timer: asyncio.TimerHandle | None = None

    async def run(self) -> int:
        """The worst of their exit statuses: 1 where one gave up, else 130 where one left a game, else 0."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop)
        try:
            async with asyncio.TaskGroup() as tasks:
                running = [tasks.create_task(_run(name, runner)) for name, runner in self._runners]
        finally:
            if self._timer is not None:
                self._timer.cancel()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
        statuses = {task.result() for task in running}
        return next((status for status in (FAILED, INTERRUPTED) if status in statuses), OK)

    def stop(self) -> None:
        """First call: leave after the games that are on. Second call: leave at once."""
        self._asked += 1
        if self._asked > 2:
            return
        for name, runner in self._runners:
            contextvars.copy_context().run(_stop, name, runner)
        if self._asked == 1 and self._leave_within is not None:
            self._timer = asyncio.get_running_loop().call_later(self._leave_within, self._leave_now)

    def _leave_now(self) -> None:
        if self._asked == 1:
            log.info("the games that are on took longer than %g s", self._leave_within)
            self.stop()


def _stop(name: str, runner: Runner) -> None:
    WHO.set(name)
    runner.stop()


async def _run(name: str, runner: Runner) -> int:
    WHO.set(name)
    return await runner.run()
