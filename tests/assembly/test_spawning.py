"""Short work in the server's task group: its faults end nothing else, and nothing begins once the server closes."""

from __future__ import annotations

import asyncio
import errno

import pytest
from structlog.testing import capture_logs

from cgos_protocol.errors import CommitFailed, StoreError
from cgos_server.assembly.spawning import Spawner


async def _fails(error: Exception) -> None:
    raise error


def _on_a_full_disk() -> StoreError:
    error = StoreError("the database could not be read")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    return error


async def _says(done: list[str]) -> None:
    done.append("done")


@pytest.mark.parametrize(
    ("error", "event"),
    [
        (ValueError("odd"), "our fault"),
        (_on_a_full_disk(), "the database does not answer"),
        (CommitFailed("no"), None),
    ],
)
async def test_a_fault_is_logged_once_and_ends_nothing_else(error: Exception, event: str | None) -> None:
    done: list[str] = []
    with capture_logs() as logs:
        async with asyncio.TaskGroup() as group:
            spawner = Spawner(group)
            spawner.spawn(_fails(error))
            spawner.spawn(_says(done))
    assert done == ["done"]
    assert [entry["event"] for entry in logs] == ([] if event is None else [event])


async def test_nothing_begins_once_the_server_closes() -> None:
    done: list[str] = []
    async with asyncio.TaskGroup() as group:
        spawner = Spawner(group)
        spawner.closed = True
        spawner.spawn(_says(done))
    assert done == []


async def test_what_still_runs_is_ended() -> None:
    ended: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    async with asyncio.TaskGroup() as group:
        spawner = Spawner(group)
        spawner.spawn(waits())
        await asyncio.sleep(0)
        spawner.cancel()
    assert ended == ["ended"]
