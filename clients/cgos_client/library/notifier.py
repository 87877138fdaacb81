"""Wakes everybody who waits for something to change. Must not know: what changes."""

from __future__ import annotations

import asyncio


class Notifier:
    """Wakes all who wait now; who comes later waits for the next notification.

    Look at the state, then wait, without another await between: none is missed.
    """

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def notify(self) -> None:
        """Wake everybody."""
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self) -> None:
        """Wait for the next notification."""
        await self._event.wait()
