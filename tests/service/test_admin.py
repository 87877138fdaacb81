from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, get_args

import msgspec
import pytest

from cgos_server.core.rating.registry import rating_system
from cgos_server.errors import CommitFailed, Refused
from cgos_server.protocol.session import Credentials
from cgos_server.service import admin as words
from cgos_server.service.accounts import Accounts
from cgos_server.service.admin import (
    AccountAdd,
    AccountGrant,
    AccountPasswd,
    AccountRevoke,
    Admin,
    AnchorSet,
    AnchorUnset,
    Approve,
    BotAdd,
    BotDisable,
    BotEnable,
    BotPasswd,
    Done,
    Drain,
    StatusNow,
    StatusRequest,
    TokenMade,
    TokenMake,
    TokenRevoke,
    ask,
)
from cgos_server.service.control import ServerStatus
from cgos_server.service.ids import Ids
from cgos_server.service.passwords import Passwords, digest
from cgos_server.service.ratings import VenueRatings
from cgos_server.storage.records import BotState, LedgerAdded, RatingNow, TokenAdded, TokenRevoked

STATUS = ServerStatus(1, "0", 1.0, True, False, [], [], [], 0, {}, 0, 0, "", "")


class LiveServer:
    """A :class:`Control` that notes what is asked of it."""

    def __init__(self) -> None:
        self.dismissed: list[tuple[str, str]] = []
        self.drained = False
        self.pools = {"9x9": VenueRatings(1, rating_system("cgos-elo", 1800.0, {}))}

    def status(self) -> ServerStatus:
        return STATUS

    def dismiss(self, bot: str, sentence: str) -> int:
        self.dismissed.append((bot, sentence))
        return 2

    def ratings(self, venue: str) -> VenueRatings | None:
        return self.pools.get(venue)

    def drain(self) -> None:
        self.drained = True


@pytest.fixture
def live() -> LiveServer:
    return LiveServer()


@pytest.fixture
def admin(
    store: Any, ids: Ids, accounts: Accounts, passwords: Passwords, clock: Callable[[], int], live: LiveServer
) -> Admin:
    return Admin(store, ids, accounts, passwords, clock, live)


@pytest.fixture
def closed(store: Any, ids: Ids, accounts: Accounts, passwords: Passwords, clock: Callable[[], int]) -> Admin:
    """As `admin`, on a database that no server holds."""

    async def load(venue: str) -> VenueRatings:
        if venue != "9x9":
            raise Refused("unknown-venue", f"There is no venue {venue}.")
        return await VenueRatings.load(store, 1, rating_system("cgos-elo", 1800.0, {}))

    return Admin(store, ids, accounts, passwords, clock, None, load)


async def code(admin: Admin, request: Any) -> str:
    with pytest.raises(Refused) as raised:
        await admin.handle(request)
    return raised.value.code


async def sentence(admin: Admin, request: Any) -> str:
    response = await admin.handle(request)
    assert isinstance(response, Done)
    return response.sentence


def signed(name: str, secret: str) -> Credentials:
    return Credentials(name, secret, None, "", False, "192.0.2.1")


def audits(store: Any) -> list[tuple[str, str, str, dict[str, Any]]]:
    """The audit row that must end every group."""
    return [(a.actor, a.action, a.subject, json.loads(a.detail)) for *_, a in store.groups]


async def test_a_bot_from_its_beginning_to_its_end(admin: Admin, accounts: Accounts, store: Any, live: Any) -> None:
    assert await sentence(admin, BotAdd(name="Newbot", password="first", actor="me")) == "The bot Newbot may play."
    assert await accounts.sign_in(signed("Newbot", "first"))
    await admin.handle(BotPasswd(name="Newbot", password="second"))
    assert await accounts.sign_in(signed("Newbot", "second"))
    assert await sentence(admin, BotDisable(name="Newbot", reason=" it \n cheats ")) == (
        "Newbot is disabled; closed 2 connections of it."
    )
    assert live.dismissed == [(1, "Newbot was disabled: it cheats")]
    with pytest.raises(Refused, match="it cheats"):
        await accounts.sign_in(signed("Newbot", "second"))
    await admin.handle(BotEnable(name="Newbot"))
    assert await accounts.sign_in(signed("Newbot", "second"))
    assert audits(store) == [
        ("me", "bot add", "Newbot", {"origin": "command", "state": "active"}),
        ("operator", "bot passwd", "Newbot", {}),
        ("operator", "bot disable", "Newbot", {"reason": "it cheats"}),
        ("operator", "bot enable", "Newbot", {}),
    ]
    assert "first" not in str(store.groups)
    assert "second" not in str(store.groups)


async def test_bots_that_cannot_be(admin: Admin, store: Any) -> None:
    await admin.handle(BotAdd(name="Newbot", password="secret"))
    await admin.handle(AccountAdd(name="Person", password="secret"))
    assert await code(admin, BotAdd(name="newbot", password="secret")) == "name-taken"
    assert await code(admin, BotAdd(name="person", password="secret")) == "name-taken"
    assert await code(admin, BotAdd(name="admin9", password="secret")) == "name-or-password"
    assert await code(admin, BotPasswd(name="Newbot", password="x")) == "password"
    with pytest.raises(Refused, match=r"no bot newbot\. Did you mean Newbot\?$"):
        await admin.handle(BotPasswd(name="newbot", password="secret"))
    assert await code(admin, BotDisable(name="Nobody", reason="")) == "unknown-bot"
    assert len(store.groups) == 2


async def test_registering_at_once_by_command_and_by_sign_in(admin: Admin, accounts: Accounts, store: Any) -> None:
    results = await asyncio.gather(
        admin.handle(AccountAdd(name="Newbot", password="secret")),
        accounts.sign_in(signed("Newbot", "secret")),
        admin.handle(BotAdd(name="NEWBOT", password="secret")),
        return_exceptions=True,
    )
    assert [type(result) for result in results].count(Refused) == 2
    assert len(store.groups) == 1


async def test_approval(admin: Admin, store: Any) -> None:
    await admin.handle(BotAdd(name="Newbot", password="secret"))
    assert await code(admin, Approve(name="Newbot")) == "not-pending"
    await store.commit([BotState("pending", "", 1)])
    assert await code(admin, BotEnable(name="Newbot")) == "waits-approval"
    assert await sentence(admin, Approve(name="Newbot")) == "Newbot may play."
    assert (await store.login("Newbot")).state == "active"


async def test_accounts(admin: Admin, store: Any, passwords: Passwords) -> None:
    await admin.handle(AccountAdd(name="admin1", password="secret", admin=True))
    await admin.handle(AccountAdd(name="Person", password="secret"))
    assert [(o.name, o.admin) for o in store.owners.values()] == [("admin1", True), ("Person", False)]
    await admin.handle(AccountGrant(name="Person", right="admin"))
    assert store.owners["Person"].admin
    await admin.handle(AccountPasswd(name="Person", password="other"))
    assert store.owners["Person"].admin
    assert await passwords.verify(store.owners["Person"].password, "other")
    await admin.handle(AccountRevoke(name="Person", right="admin"))
    assert not store.owners["Person"].admin
    assert await passwords.verify(store.owners["Person"].password, "other")
    assert await code(admin, AccountGrant(name="Person", right="king")) == "unknown-right"
    assert await code(admin, AccountGrant(name="Nobody", right="admin")) == "unknown-account"
    assert await code(admin, AccountAdd(name="PERSON", password="secret")) == "name-taken"
    assert await code(admin, AccountAdd(name="a b", password="secret")) == "name"
    assert await code(admin, AccountAdd(name="Other", password="x")) == "password"


async def test_two_changes_of_one_account_at_once_are_both_kept(admin: Admin, store: Any, passwords: Passwords) -> None:
    await admin.handle(AccountAdd(name="Person", password="secret"))
    await asyncio.gather(
        admin.handle(AccountPasswd(name="Person", password="other")),
        admin.handle(AccountGrant(name="Person", right="admin")),
    )
    assert store.owners["Person"].admin
    assert await passwords.verify(store.owners["Person"].password, "other")


async def test_tokens(admin: Admin, accounts: Accounts, store: Any) -> None:
    await admin.handle(BotAdd(name="Newbot", password="secret"))
    await admin.handle(BotAdd(name="Other", password="secret"))
    made = await admin.handle(TokenMake(bot="Newbot", label="home"))
    assert isinstance(made, TokenMade)
    (row,) = store.of(TokenAdded)
    assert (row.digest, row.label, row.bot_id) == (digest(made.token), "home", 1)
    assert made.token not in str(store.groups)
    assert (await accounts.sign_in(signed("Newbot", made.token))).name == "Newbot"
    assert await code(admin, TokenRevoke(bot="Other", token=made.id)) == "unknown-token"
    assert await sentence(admin, TokenRevoke(bot="Newbot", token=made.id)) == "Token 1 of Newbot is revoked."
    with pytest.raises(Refused):
        await accounts.sign_in(signed("Newbot", made.token))
    assert await code(admin, TokenRevoke(bot="Newbot", token=made.id)) == "revoked"
    assert len(store.of(TokenRevoked)) == 1


async def test_anchors_in_the_live_server(admin: Admin, live: LiveServer, store: Any) -> None:
    await admin.handle(BotAdd(name="Newbot", password="secret"))
    request = AnchorSet(venue="9x9", bot="Newbot", rating=1500.5)
    assert await sentence(admin, request) == "Newbot is an anchor of 9x9 at 1500.5."
    pool = live.pools["9x9"]
    assert (pool.rating(1).mean, pool.rating(1).anchor) == (1500.5, True)
    assert [(e.seq, e.kind) for e in store.groups[-1] if isinstance(e, LedgerAdded)] == [(1, "enter"), (2, "anchor")]
    assert audits(store)[-1] == ("operator", "anchor set", "Newbot", {"rating": 1500.5, "venue": "9x9"})
    await admin.handle(AnchorSet(venue="9x9", bot="Newbot", rating=1600))
    assert [e.seq for e in store.groups[-1] if isinstance(e, LedgerAdded)] == [3]
    await admin.handle(AnchorUnset(venue="9x9", bot="Newbot"))
    assert (pool.rating(1).mean, pool.rating(1).anchor) == (1600, False)
    assert await code(admin, AnchorUnset(venue="9x9", bot="Newbot")) == "no-anchor"
    assert pool.seq == 4
    assert [entry.seq for entry in store.entries] == [1, 2, 3, 4]


async def test_anchors_on_a_closed_database_are_the_same(closed: Admin, admin: Admin, store: Any) -> None:
    await closed.handle(BotAdd(name="Newbot", password="secret"))
    await closed.handle(AnchorSet(venue="9x9", bot="Newbot", rating=1500))
    await closed.handle(AnchorSet(venue="9x9", bot="Newbot", rating=1700))
    await closed.handle(AnchorUnset(venue="9x9", bot="Newbot"))
    assert [(e.seq, e.kind) for e in store.of(LedgerAdded)] == [
        (1, "enter"),
        (2, "anchor"),
        (3, "anchor"),
        (4, "unanchor"),
    ]
    assert store.of(RatingNow)[-1].mean == 1700


async def test_anchors_that_cannot_be(admin: Admin, closed: Admin, live: LiveServer, store: Any) -> None:
    await admin.handle(BotAdd(name="Newbot", password="secret"))
    for each in (admin, closed):
        assert await code(each, AnchorSet(venue="8x8", bot="Newbot", rating=1500)) == "unknown-venue"
        assert await code(each, AnchorSet(venue="9x9", bot="Nobody", rating=1500)) == "unknown-bot"
        assert await code(each, AnchorSet(venue="9x9", bot="Newbot", rating=float("nan"))) == "rating"
        assert await code(each, AnchorSet(venue="9x9", bot="Newbot", rating=1e9)) == "rating"
        assert await code(each, AnchorUnset(venue="9x9", bot="Newbot")) == "no-anchor"
    assert live.pools["9x9"].seq == 0
    assert store.entries == []


async def test_drain_and_status(admin: Admin, closed: Admin, live: LiveServer) -> None:
    assert await admin.handle(StatusRequest()) == StatusNow(STATUS)
    assert isinstance(await admin.handle(Drain()), Done)
    assert live.drained
    assert await code(closed, StatusRequest()) == "no-server"
    assert await code(closed, Drain()) == "no-server"


# -- as bytes


async def test_a_request_and_its_answer_as_lines(admin: Admin, store: Any) -> None:
    assert await ask(admin.answer, BotAdd(name="Newbot", password="secret")) == Done("The bot Newbot may play.")
    assert isinstance(await ask(admin.answer, TokenMake(bot="Newbot")), TokenMade)
    assert await ask(admin.answer, StatusRequest()) == StatusNow(STATUS)
    with pytest.raises(Refused, match="There is no bot Nobody") as raised:
        await ask(admin.answer, BotEnable(name="Nobody"))
    assert raised.value.code == "unknown-bot"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff",
        b"[]",
        b'{"do": "fly"}',
        b'{"do": "bot enable"}',
        b'{"do": "bot enable", "name": 3}',
        b'{"do": "bot enable", "name": "x", "more": 1}',
    ],
)
async def test_lines_that_are_no_request(admin: Admin, line: bytes) -> None:
    answer = msgspec.json.decode(await admin.answer(line))
    assert (answer["is"], answer["code"]) == ("refused", "bad-request")


async def test_a_database_that_does_not_commit_is_told(admin: Admin, store: Any) -> None:
    async def fail(_: Any) -> None:
        raise CommitFailed("the disk is full")

    store.commit = fail
    with pytest.raises(Refused, match="The server could not do it: the disk is full") as raised:
        await ask(admin.answer, BotAdd(name="Newbot", password="secret"))
    assert raised.value.code == "our-fault"


def test_every_request_has_its_own_word_and_says_who_asks() -> None:
    requests = get_args(words.Request)
    tags = {request.__struct_config__.tag for request in requests}
    assert len(tags) == len(requests)
    for request in requests:
        assert request.__doc__
        assert "actor" in request.__struct_fields__
