"""Something that answers on an event loop of its own, in a thread, while a test calls synchronous code."""

from __future__ import annotations

import asyncio
import threading
from typing import Self


class InThread:
    """Subclasses say in `run` what goes on: they set `up` once it does, and end when `end` is set."""

    def __init__(self) -> None:
        self.up, self.end = threading.Event(), asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self.run()))

    async def run(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        assert self.up.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self.end.set)
        self._thread.join(20)
        self._loop.close()
