"""Wakes everybody who waits for the same thing. Must not know: what for."""

from __future__ import annotations

import asyncio


class Bell:
    """Rung any number of times; who waits hears the next ring and no earlier one."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def ring(self) -> None:
        """Wake all who wait."""
        self._next.set()
        self._next = asyncio.Event()

    def listen(self) -> asyncio.Event:
        """Set at the next ring. Take it before looking at what the bell is rung for, and nothing is missed."""
        return self._next


async def rang(ring: asyncio.Event, seconds: float) -> bool:
    """Wait for `ring` at most so long; False where there was none."""
    try:
        async with asyncio.timeout(seconds):
            await ring.wait()
    except TimeoutError:
        return False
    return True
