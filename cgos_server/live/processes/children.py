"""Children that compute, so that the event loop never waits: each a process of its own and the thread that talks to it.

A child is started by exec when it is first needed, again when it has died, and ends when its input closes, so it does
not outlive us however we end. Must not know: what is computed.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from cgos_protocol.errors import OurFault
from cgos_server.live.processes.worker import receive, send

COMMAND = (sys.executable, "-m", "cgos_server.live.processes.worker")

T = TypeVar("T")


class ChildFailed(OurFault):
    """A task was not done; the sentence goes on after its name: ``took more than 3 s``."""


class Child:
    """One worker process and the thread that talks to it. It does one task at a time.

    :param name: what it is for, for whoever lists processes
    """

    def __init__(self, name: str, command: Sequence[str] = COMMAND) -> None:
        self._command = (*command, name)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"cgos-{name}")
        self._turn = asyncio.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._spoilt = self._closed = False

    async def do(self, task: Callable[[], T], limit_s: float) -> T:
        """What `task` returns over there; it and its result must be picklable. Raises ChildFailed.

        :param limit_s: seconds, from when its turn has come
        """
        async with self._turn:  # who gives up must not end what is done for somebody else
            return await self._do(task, limit_s)

    async def _do(self, task: Callable[[], T], limit_s: float) -> T:
        try:
            async with asyncio.timeout(limit_s):
                answer, problem = await asyncio.get_running_loop().run_in_executor(self._thread, self._talk, task)
        except asyncio.CancelledError:
            self._kill()  # the thread is let go by the end of the child's answers
            raise
        except TimeoutError as error:
            self._kill()
            raise ChildFailed(f"took more than {limit_s:g} s") from error
        except (EOFError, OSError) as error:
            raise ChildFailed("could not be computed: its process died") from error
        except Exception as error:
            raise ChildFailed(f"could not be asked for or understood: {error!r}") from error
        if problem:
            raise ChildFailed(f"failed: {problem}")
        result: T = answer
        return result

    def close(self) -> None:
        """End the child, wherever it is."""
        self._closed = True
        self._kill()
        self._thread.shutdown()
        self._reap()

    def _talk(self, task: Any) -> Any:
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
            send(process.stdin, task)  # type: ignore[arg-type]
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
