"""What all commands share: whom they name, and what the audit keeps."""

from __future__ import annotations

from typing import Any

import pytest

from cgos_protocol.errors import Unauthenticated
from cgos_server.service.commands.availability import BotLook
from cgos_server.service.commands.bots import BotEnable
from cgos_server.service.commands.context import CommandContext
from cgos_server.storage.writing.records import AuditAdded


class Store:
    def __init__(self) -> None:
        self.records: list[Any] = []

    async def commit(self, records: list[Any]) -> None:
        self.records += records


class Accounts:
    def __init__(self) -> None:
        self.store = Store()

    def now_ms(self) -> int:
        return 7


@pytest.fixture
def context() -> CommandContext:
    nothing: Any = None
    accounts: Any = Accounts()
    return CommandContext(accounts=accounts, sessions=nothing, ledgers=nothing, control=None)


async def test_the_audit_keeps_what_is_declared_and_nothing_else(context: CommandContext) -> None:
    await context.commit(BotEnable(bot="Newbot", actor="me"), "Newbot", [])
    assert context.store.records == [AuditAdded(7, "me", "bot enable", "Newbot", "{}")]  # type: ignore[attr-defined]
    with pytest.raises(AssertionError, match="bot enable declares not to keep"):
        await context.commit(BotEnable(bot="Newbot"), "Newbot", [], password="secret")
    with pytest.raises(AssertionError, match="bot look declares nothing to keep"):
        await context.commit(BotLook(bot="Newbot"), "Newbot", [])


def test_nobody_in_particular_has_nothing_of_its_own(context: CommandContext) -> None:
    with pytest.raises(Unauthenticated, match="done for somebody who is signed in"):
        _ = context.caller
