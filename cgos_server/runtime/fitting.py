"""Has refits computed elsewhere: in two children, one for the short ones and one for the long, so that the event loop
never waits and the short ones never wait for the long.

A child is started by exec when it is first needed, again when it has died, and ends when its input closes, so it does
not outlive us however we end. Must not know: venues, when a refit is due, what becomes of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Protocol

from cgos_server.core.rating.base import Fit, Refitting
from cgos_server.errors import OurFault
from cgos_server.runtime.fit_worker import receive, send

COMMAND = (sys.executable, "-m", "cgos_server.runtime.fit_worker")

LIMIT_S = 900.0
"""A refit that takes longer is given up, with the child."""


class FitFailed(OurFault):
    """A refit could not be computed; the ratings go on without it."""


class Fitting(Protocol):
    """Whoever computes refits."""

    async def refit(self, system: Refitting, job: Any, cold: bool) -> Fit:
        """Compute it. Raises FitFailed."""


class _Child:
    """One worker process and the thread that talks to it."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self._command = tuple(command)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"cgos-{name}")
        self._process: subprocess.Popen[bytes] | None = None
        self._spoilt = self._closed = False

    async def ask(self, question: Any, limit_s: float) -> Any:
        """What the child answers."""
        try:
            async with asyncio.timeout(limit_s):
                return await asyncio.get_running_loop().run_in_executor(self._thread, self._talk, question)
        except (TimeoutError, asyncio.CancelledError):
            self._kill()  # the thread is let go by the end of the child's answers
            raise

    def close(self) -> None:
        """End the child, wherever it is."""
        self._closed = True
        self._kill()
        self._thread.shutdown()
        self._reap()

    def _talk(self, question: Any) -> Any:
        if self._closed:
            raise EOFError
        if self._process is None or self._spoilt or self._process.poll() is not None:
            self._reap()
            self._spoilt = False
            # Its own group: Ctrl-C in the terminal is for the server.
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, process_group=0
            )
        process = self._process
        if self._closed:  # while it was being started, when there was nothing to kill
            process.kill()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            send(process.stdin, question)  # type: ignore[arg-type]
            return receive(process.stdout)  # type: ignore[arg-type]
        except Exception:
            self._kill()  # it is as good as dead, and must not be asked again: who knows what is in the pipes
            raise

    def _kill(self) -> None:
        if self._process is not None:
            self._spoilt = True
            self._process.kill()

    def _reap(self) -> None:
        """Release what is left of a child that has ended."""
        process, self._process = self._process, None
        if process is not None:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()


class FitProcesses:
    """The children. Use it as a context manager."""

    def __init__(self, command: Sequence[str] = COMMAND, limit_s: float = LIMIT_S) -> None:
        self._warm, self._cold = _Child("warm-refit", command), _Child("cold-refit", command)
        self._limit_s = limit_s

    def __enter__(self) -> FitProcesses:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._warm.close()
        self._cold.close()

    async def refit(self, system: Refitting, job: Any, cold: bool) -> Fit:
        """See :class:`Fitting`."""
        child = self._cold if cold else self._warm
        try:
            fit, problem = await child.ask((system, job), self._limit_s)
        except TimeoutError as error:
            raise FitFailed(f"a refit took more than {self._limit_s:g} s") from error
        except (EOFError, OSError) as error:
            raise FitFailed("the process that computes refits died") from error
        except Exception as error:
            raise FitFailed(f"a refit could not be asked for or understood: {error!r}") from error
        if problem:
            raise FitFailed(f"a refit failed: {problem}")
        found: Fit = fit
        return found
