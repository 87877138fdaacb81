"""Sends a long answer for as long as its reader is there. Must not know: what is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.types import Receive


async def while_there(receive: Receive, sending: Coroutine[Any, Any, None]) -> None:
    """Await `sending`, which is cancelled when the reader leaves. Raises what it raises, as a group.

    Cancelled once and waited for: a database's driver that is cancelled at every await, as anyio's groups do, cannot
    break its question off in good order.
    """
    async with asyncio.TaskGroup() as group:
        telling = group.create_task(sending)
        leaving = group.create_task(_until_gone(receive, telling))
        telling.add_done_callback(lambda _: leaving.cancel())


async def _until_gone(receive: Receive, telling: asyncio.Task[None]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    telling.cancel()
