"""What PostgreSQL alone makes of questions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.opening import open_store
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import OwnerAdded


def failed(error: Exception) -> NoReturn:
    raise error


async def test_a_name_that_cannot_be_held_is_nobodys(new_url: Callable[..., PostgresUrl]) -> None:
    store = await open_store(new_url(), CommitListener(failed=failed, on_error=failed))
    try:
        await store.commit([OwnerAdded(1, "Anna", "anna", "no hash", 0, 0)])
        for name in ("An\0na", "\0", "Anna\0"):
            assert await store.history.bots.login(name) is None
            assert await store.history.people.owner(name) is None
            assert await store.history.people.bot_owner(name) is None
            assert await store.history.bots.name_taken(name) is None
        owner = await store.history.people.owner("Anna")
        assert owner is not None
        assert owner.id == 1
    finally:
        await store.close()
