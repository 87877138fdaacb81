"""A store that takes its time, and the administration on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from support.service.acting import Live

from cgos_server.service.admin import Admin
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.passwords import Passwords
from cgos_server.service.people.sessions import DAY_MS


@pytest.fixture
def store(store: Any) -> Any:
    """Commits some turns of the loop after it was asked to, so that what is not done in turn goes wrong."""
    at_once = store.commit

    async def commit(group: Any) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        await at_once(group)

    store.commit = commit
    return store


@pytest.fixture
def live() -> Live:
    return Live()


@pytest.fixture
def admin(store: Any, ids: Ids, accounts: Accounts, passwords: Passwords, clock: Callable[[], int], live: Any) -> Admin:
    return Admin(accounts, live, session_ms=2 * DAY_MS)
