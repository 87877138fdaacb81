"""Several bots in one process, from their start to one exit status, and what signals mean to them.

Must not know: transports, engines.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import signal
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

log = logging.getLogger(__name__)

OK, FAILED, INTERRUPTED = 0, 1, 130
"""Exit statuses: nothing more to do, gave up, left a game that was on."""

WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO", default="")
"""Which bot a task works for, where there are several: for the log."""

SLOT: contextvars.ContextVar[int] = contextvars.ContextVar("SLOT", default=0)
"""Which of a bot's engines a task works with, from 1, where there are several: for the log. 0 for none."""


class BotRunner(ABC):
    """One bot, from its start to its exit status."""

    _leaving = False
    _work: asyncio.Task[int] | None = None

    async def run(self) -> int:
        """Play until there is nothing more to do. Returns the exit status."""
        try:
            async with asyncio.TaskGroup() as tasks:
                self._work = tasks.create_task(self._play())
        finally:
            await self._close()
        if self._work.cancelled():
            return INTERRUPTED if self._games_on() else OK
        return self._work.result()

    def stop(self) -> None:
        """First call: leave after the games that are on, at once where there is none. Second call: leave at once."""
        first, self._leaving = not self._leaving, True
        if first and self._games_on():
            self._leave_after_games()
        elif self._work is not None:
            log.info("leaving")
            self._work.cancel()

    @abstractmethod
    async def _play(self) -> int:
        """Play until there is nothing more to do. Returns the exit status; is cancelled to leave at once."""

    @abstractmethod
    async def _close(self) -> None:
        """End the engines."""

    @abstractmethod
    def _games_on(self) -> Collection[int]:
        """The numbers of the games that have not ended."""

    @abstractmethod
    def _leave_after_games(self) -> None:
        """Begin no other game, and say so."""


class Together:
    """Runs bots side by side; none stops another.

    :param runners: (name, bot); the name goes before its lines in the log where it is not empty
    :param leave_within: seconds that running games may go on after the first signal; None: as long as they take
    """

    def __init__(self, runners: Sequence[tuple[str, BotRunner]], leave_within: float | None = None) -> None:
        self._runners = runners
        self._leave_within = leave_within
        self._stops = 0
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
        self._stops += 1
        if self._stops > 2:
            return
        for name, runner in self._runners:
            contextvars.copy_context().run(_stop, name, runner)
        if self._stops == 1 and self._leave_within is not None:
            self._timer = asyncio.get_running_loop().call_later(self._leave_within, self._leave_now)

    def _leave_now(self) -> None:
        if self._stops == 1:
            log.info("the games that are on took longer than %g s", self._leave_within)
            self.stop()


def _stop(name: str, runner: BotRunner) -> None:
    WHO.set(name)
    runner.stop()


async def _run(name: str, runner: BotRunner) -> int:
    WHO.set(name)
    return await runner.run()
