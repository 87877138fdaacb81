"""What a signed-in bot asks is done with the rights that its owner has over its bots, and no others."""

from __future__ import annotations

from typing import Any

import pytest
from service.questions.test_asking import admin, ask_test, desk, owner_of  # noqa: F401 - fixtures
from support.service.acting import audits, bots, code
from support.service.question_desk import QuestionNotes

from cgos_protocol.errors import Refused
from cgos_protocol.ids import QuestionId
from cgos_server.service.admin import Admin
from cgos_server.service.commands.accounts import AccountGrant
from cgos_server.service.questions.managing import QuestionStop


@pytest.fixture(autouse=True)
def numbered_accounts(store: Any) -> None:
    async def account(number: int) -> Any:
        return next(owner for owner in store.owners.values() if owner.id == number)

    store.people_account = account


async def test_it_asks_for_the_account_that_owns_it(
    admin: Admin,  # noqa: F811
    desk: QuestionNotes,  # noqa: F811
    store: Any,
) -> None:
    await owner_of(admin, "Anna", "One", "Two")
    answer = await admin.for_bot(ask_test("Two", "One"), "Two")
    assert answer.question == 1
    assert desk.asked[QuestionId(1)].owner == "Anna"
    assert audits(store)[-1][:3] == ("bot Two", "ask test", "Two")
    await admin.for_bot(QuestionStop(question=QuestionId(1)), "Two")
    await owner_of(admin, "Ben", "Six")
    with pytest.raises(Refused, match="You have no such question"):
        await admin.for_bot(QuestionStop(question=QuestionId(1)), "Six")
    assert desk.calls == [("stop", 1, "Its owner has stopped it.")]


async def test_a_bot_without_an_owner_is_refused_with_what_to_do(admin: Admin) -> None:  # noqa: F811
    await bots(admin, "One", "Two")
    with pytest.raises(Refused, match=r"Two belongs to no account that could be asked for\. Claim it") as refused:
        await admin.for_bot(ask_test("Two", "One"), "Two")
    assert refused.value.code == "no-owner"


async def test_the_bot_of_an_operator_is_no_operator(admin: Admin) -> None:  # noqa: F811
    await owner_of(admin, "Anna", "One")
    await owner_of(admin, "Ben", "Two")
    await admin.handle(AccountGrant(account="Anna", right="admin"))
    assert await code(admin.for_bot(ask_test("One", "Two"), "One")) == "not-agreed"
    assert await code(admin.for_bot(ask_test("Two", "One"), "One")) == "not-allowed"
