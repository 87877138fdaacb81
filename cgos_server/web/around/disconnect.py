"""Sends a long answer, or works one out, for as long as its reader is there. Must not know: what is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

T = TypeVar("T")


async def while_there(receive: Receive, sending: Coroutine[Any, Any, None]) -> None:
    """Await `sending`, which is cancelled when the reader leaves. Raises what it raises, as a group.

    Cancelled once and waited for: a database's driver that is cancelled at every await, as anyio's groups do, cannot
    break its question off in good order.
    """
    async with asyncio.TaskGroup() as group:
        telling = group.create_task(sending)
        leaving = group.create_task(_until_gone(receive, telling))
        telling.add_done_callback(lambda _: leaving.cancel())


async def awaited(receive: Receive, answer: Coroutine[Any, Any, T]) -> T:
    """What `answer` returns; raises what it raises, and ClientDisconnect when the reader leaves before."""
    answers: list[T] = []

    async def answering() -> None:
        answers.append(await answer)

    try:
        await while_there(receive, answering())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    if not answers:
        raise ClientDisconnect
    return answers[0]


async def _until_gone(receive: Receive, telling: asyncio.Task[None]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    telling.cancel()
