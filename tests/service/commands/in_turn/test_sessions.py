"""Accounts: sessions, passwords, registration, tokens of the API, and what is done on somebody's behalf."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import msgspec
import pytest
from support.service.acting import HERE, HOUR_MS, PAUSE, account, audits, behalf, code, owned, signed_in, token

from cgos_protocol.api.people import NewToken, Session
from cgos_protocol.errors import Refused
from cgos_protocol.session import Credentials
from cgos_server.service.admin import Admin
from cgos_server.service.commands.accounts import (
    AccountAdd,
    AccountDisable,
    AccountEnable,
    AccountGrant,
    AccountPasswd,
    AccountRevoke,
)
from cgos_server.service.commands.availability import BotPause
from cgos_server.service.commands.bots import BotAdd
from cgos_server.service.commands.ownership import BotClaim
from cgos_server.service.commands.registry import OnBehalf
from cgos_server.service.commands.sessions import AccountRegister, PasswordChange, SignIn, SignOut
from cgos_server.service.commands.tokens import MOST_TOKENS, AccessMake, AccessRevoke, TokenMake
from cgos_server.service.commands.webhooks import WebhookAdd, WebhookGiveUp, WebhookRemove
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.passwords import ACCESS_PREFIX, SESSION_PREFIX, Passwords, digest, looks_like_token
from cgos_server.service.people.sessions import DAY_MS, MOST_REGISTRATIONS, MOST_SESSIONS, REMEMBERED_DAYS

# -- sessions


async def test_a_session_from_its_beginning_to_its_end(admin: Admin, store: Any, clock: Any) -> None:
    await admin.handle(AccountAdd(name="Anna", password="long-secret"))
    answer = await admin.handle(SignIn(name="Anna", password="long-secret", address=HERE))
    assert isinstance(answer, Session)
    assert (answer.account, answer.admin, answer.until) == ("Anna", False, clock.ms + 2 * DAY_MS)
    await owned(admin, answer.session)
    assert audits(store)[1] == (f"Anna ({HERE})", "sign in", "Anna", {"session": 1})
    await behalf(admin, answer.session, SignOut())
    assert await code(behalf(admin, answer.session, PAUSE)) == "not-signed-in"


async def test_a_session_ends_with_its_time(admin: Admin, clock: Any) -> None:
    session = await account(admin)
    await owned(admin, session)
    clock.ms += 2 * DAY_MS - 1
    await behalf(admin, session, PAUSE)
    clock.ms += 1
    assert await code(behalf(admin, session, PAUSE)) == "not-signed-in"


async def test_nobody_learns_who_has_an_account(admin: Admin) -> None:
    await admin.handle(AccountAdd(name="Anna", password="long-secret"))
    await admin.handle(BotAdd(name="Newbot", password="long-secret"))
    sentences = set()
    for name, password in (
        ("Anna", "wrong"), ("Nobody", "long-secret"), ("Newbot", "long-secret"), ("", ""),
        ("x" * 10_000, "long-secret"), ("Anna", "x" * 10_000), ("anna", "long-secret"),
    ):  # fmt: skip
        with pytest.raises(Refused) as raised:
            await admin.handle(SignIn(name=name, password=password, address=HERE))
        assert raised.value.code == "wrong-password"
        sentences.add(raised.value.sentence)
    assert len(sentences) == 1


async def test_wrong_passwords_are_paused_for_one_address(admin: Admin, clock: Any) -> None:
    await admin.handle(AccountAdd(name="Anna", password="long-secret"))
    for _ in range(10):
        assert await code(signed_in(admin, password="wrong")) == "wrong-password"
    assert await code(signed_in(admin)) == "too-many-failures"
    await signed_in(admin, address="192.0.2.99")
    clock.ms += 60_001
    await signed_in(admin)


async def test_an_account_has_so_many_sessions(admin: Admin, store: Any) -> None:
    first = await account(admin)
    second = await signed_in(admin)
    for _ in range(MOST_SESSIONS - 1):
        await signed_in(admin)
    assert await store.history.people.person(digest(first), 0) is None
    assert await store.history.people.person(digest(second), 0) is not None


async def test_disabled_accounts_are_nowhere(admin: Admin, store: Any) -> None:
    session = await account(admin)
    await owned(admin, session)
    made = await token(admin, session, "bots")
    await admin.handle(AccountDisable(account="Anna", reason="spam"))
    for credential in (session, made.token):
        assert await code(behalf(admin, credential, PAUSE)) == "not-signed-in"
    assert await code(signed_in(admin)) == "disabled"
    await admin.handle(AccountEnable(account="Anna"))
    for credential in (session, made.token):
        assert await code(behalf(admin, credential, PAUSE)) == "not-signed-in"
    await signed_in(admin)
    assert await code(admin.handle(AccountDisable(account="Anna", reason=" "))) == "reason"


async def test_whoever_is_disabled_during_the_check_gets_no_session(admin: Admin, store: Any) -> None:
    await admin.handle(AccountAdd(name="Anna", password="long-secret"))
    sign_ins = [
        asyncio.create_task(admin.handle(SignIn(name="Anna", password="long-secret", address=HERE)))
        for _ in range(3)
    ]  # fmt: skip
    await asyncio.sleep(0)
    await admin.handle(AccountDisable(account="Anna", reason="spam"))
    for answer in await asyncio.gather(*sign_ins, return_exceptions=True):
        if isinstance(answer, Session):  # it was faster; then it was ended
            assert await store.history.people.person(digest(answer.session), 0) is None
        else:
            assert isinstance(answer, Refused)
    assert await store.history.people.valid_access(1, 0) == []


# -- passwords


SHORT: Final = "ninechars"


async def test_wherever_an_account_gets_a_password_it_has_ten_characters(admin: Admin) -> None:
    here = await account(admin, "Anna")
    for made in (
        admin.handle(AccountAdd(name="Berta", password=SHORT)),
        admin.handle(AccountAdd(name="Berta", password=SHORT, admin=True)),
        admin.handle(AccountPasswd(account="Anna", password=SHORT)),
        admin.handle(AccountRegister(name="Berta", password=SHORT, address=HERE)),
        behalf(admin, here, PasswordChange(old="long-secret", new=SHORT)),
    ):
        with pytest.raises(Refused) as raised:
            await made
        assert (raised.value.code, raised.value.sentence) == (
            "password", "The password of an account has at least 10 characters.",
        )  # fmt: skip
    await signed_in(admin)
    await admin.handle(BotAdd(name="Newbot", password="bot"))


async def test_a_passphrase_opens_its_account_however_it_is_typed(admin: Admin) -> None:
    composed, apart = "\u00fcber die Br\u00fccke", "u\u0308ber die Bru\u0308cke"
    here = await account(admin, "Anna")
    await behalf(admin, here, PasswordChange(old="long-secret", new=apart))
    for typed in (composed, apart, f"{composed} "):
        await signed_in(admin, password=typed)
    assert await code(signed_in(admin, password="uber die Brucke")) == "wrong-password"
    await behalf(admin, await signed_in(admin, password=apart), PasswordChange(old=composed, new="x" * 128))
    await signed_in(admin, password="x" * 128)
    assert await code(admin.handle(BotAdd(name="Newbot", password=composed))) == "name-or-password"


async def test_a_short_password_of_before_still_opens_its_account(admin: Admin, store: Any, passwords: Any) -> None:
    await admin.handle(AccountAdd(name="Anna", password="long-secret"))
    store.owners["Anna"] = store.owners["Anna"]._replace(password=await passwords.hash("old"))
    await signed_in(admin, password="old")


async def test_a_new_password_ends_the_other_sessions(admin: Admin, store: Any) -> None:
    here, there = await account(admin), await signed_in(admin)
    made = await token(admin, here, "bots")
    change = PasswordChange(old="long-secret", new="long-better")
    assert await code(behalf(admin, here, PasswordChange(old="wrong", new="long-better"))) == "wrong-password"
    assert await code(behalf(admin, here, PasswordChange(old="long-secret", new="x"))) == "password"
    assert await code(behalf(admin, made.token, change)) == "scope"
    await behalf(admin, here, change)
    assert [
        await store.history.people.person(digest(secret), 0) is not None for secret in (here, there, made.token)
    ] == [
        True,
        False,
        True,
    ]
    assert await code(signed_in(admin)) == "wrong-password"
    await signed_in(admin, password="long-better")
    await admin.handle(AccountPasswd(account="Anna", password="long-newest"))
    assert await store.history.people.person(digest(here), 0) is None


async def test_a_password_that_is_replaced_during_the_check_opens_nothing(admin: Admin, store: Any) -> None:
    await admin.handle(AccountAdd(name="Anna", password="long-secret"))
    sign_in = asyncio.create_task(admin.handle(SignIn(name="Anna", password="long-secret", address=HERE)))
    await asyncio.sleep(0)
    await admin.handle(AccountPasswd(account="Anna", password="long-newest"))
    await asyncio.gather(sign_in, return_exceptions=True)
    assert await store.history.people.valid_access(1, 0) == []


# -- making an account


async def test_an_account_is_made_and_signed_in(admin: Admin, store: Any) -> None:
    made = await admin.handle(AccountRegister(name="Anna", password="long-secret", address=HERE))
    assert isinstance(made, Session)
    assert (made.account, made.admin) == ("Anna", False)
    assert await store.history.people.person(digest(made.session), 0) is not None
    await signed_in(admin)


@pytest.mark.parametrize(
    ("name", "password", "expected"),
    [("anna", "long-secret", "name-taken"), ("newbot", "long-secret", "name-taken"), ("admin7", "long-secret", "name"),
     ("x y z", "long-secret", "name"), ("9lives", "long-secret", "name"), ("Berta", "x", "password")],
)  # fmt: skip
async def test_accounts_that_cannot_be_made(admin: Admin, name: str, password: str, expected: str) -> None:
    await admin.handle(AccountAdd(name="Anna", password="long-secret"))
    await admin.handle(BotAdd(name="Newbot", password="long-secret"))
    registration = AccountRegister(name=name, password=password, address=HERE)
    assert await code(admin.handle(registration)) == expected


async def test_of_two_who_want_one_name_one_gets_it(admin: Admin) -> None:
    answers = await asyncio.gather(
        *(
            admin.handle(AccountRegister(name=name, password="long-secret", address=HERE))
            for name in ("Anna", "ANNA", "anna")
        ),
        return_exceptions=True,
    )
    assert sum(isinstance(answer, Session) for answer in answers) == 1


async def test_accounts_from_one_address_are_limited(admin: Admin, clock: Any) -> None:
    async def register(number: int, address: str = HERE) -> Any:
        return await admin.handle(AccountRegister(name=f"Anna{number}", password="long-secret", address=address))

    for number in range(MOST_REGISTRATIONS):
        await register(number)
    assert await code(register(90)) == "too-many"
    await register(91, "192.0.2.99")
    clock.ms += HOUR_MS
    await register(90)


async def test_many_registrations_at_once_do_not_pass_the_limit(admin: Admin) -> None:
    registrations = [
        AccountRegister(name=f"Anna{number}", password="long-secret", address=f"2001:db8:1:2::{number}")
        for number in range(3 * MOST_REGISTRATIONS)
    ]
    answers = await asyncio.gather(*map(admin.handle, registrations), return_exceptions=True)
    assert sum(isinstance(answer, Session) for answer in answers) <= MOST_REGISTRATIONS
    assert any(isinstance(answer, Refused) and answer.code == "too-many" for answer in answers)


async def test_a_registration_that_fails_does_not_count(admin: Admin) -> None:
    await admin.handle(AccountAdd(name="Taken", password="long-secret"))
    for _ in range(MOST_REGISTRATIONS):
        registration = AccountRegister(name="Taken", password="long-secret", address=HERE)
        assert await code(admin.handle(registration)) == "name-taken"
    await admin.handle(AccountRegister(name="Anna", password="long-secret", address=HERE))


async def test_all_of_one_customers_addresses_share_a_pause(admin: Admin) -> None:
    await admin.handle(AccountAdd(name="Anna", password="long-secret"))
    for number in range(10):
        assert await code(signed_in(admin, password="wrong", address=f"2001:db8:1:2::{number}")) == "wrong-password"
    assert await code(signed_in(admin, address="2001:db8:1:2:ffff::7")) == "too-many-failures"
    await signed_in(admin, address="2001:db8:1:3::7")


async def test_what_ended_long_ago_is_forgotten_at_the_next_sign_in(admin: Admin, store: Any, clock: Any) -> None:
    session = await account(admin)
    lasting, ended = await token(admin, session, "bots"), await token(admin, session, "bots")
    await behalf(admin, session, AccessRevoke(access=ended.id))
    clock.ms += REMEMBERED_DAYS * DAY_MS
    await signed_in(admin)
    assert ended.id in store.access_rows, "it is not so long ago"
    clock.ms += 2 * DAY_MS + 1
    await signed_in(admin)
    assert ended.id not in store.access_rows
    assert await store.history.people.person(digest(session), 0) is None
    assert await store.history.people.access(lasting.id) is not None, "what is valid stays"


async def test_what_people_write_is_one_line_of_printable_text(admin: Admin, store: Any) -> None:
    session = await account(admin)
    label = "lap\x00top\x1b[31m\n\u202eeman"
    made = await behalf(admin, session, AccessMake(label=label, scopes=["bots"]))
    assert store.access_rows[made.id][0].label == "laptop[31m eman"
    await owned(admin, session)
    bots = await behalf(admin, session, TokenMake(bot="Newbot", label=label))
    assert store.token_rows[bots.id][2].label == "laptop[31m eman"


async def test_a_closed_server_makes_none(
    store: Any, ids: Ids, accounts: Accounts, passwords: Passwords, clock: Any
) -> None:
    admin = Admin(accounts, accounts_open=False)
    registration = AccountRegister(name="Anna", password="long-secret", address=HERE)
    assert await code(admin.handle(registration)) == "registration-closed"


# -- tokens of the API


async def test_a_token_does_what_it_was_made_for(admin: Admin, store: Any, clock: Any) -> None:
    session = await account(admin)
    await owned(admin, session)
    made = await token(admin, session, "bots", days=3)
    await behalf(admin, made.token, PAUSE)
    for request in (AccessMake(label="", scopes=["bots"]), SignOut()):
        assert await code(behalf(admin, made.token, request)) == "scope"
    other = await token(admin, session, "bots")
    assert await code(behalf(admin, made.token, AccessRevoke(access=other.id))) == "scope"
    await behalf(admin, session, AccessRevoke(access=other.id))
    assert await code(behalf(admin, other.token, PAUSE)) == "not-signed-in"
    assert await code(admin.handle(AccessRevoke(access=other.id))) == "unknown-access"
    clock.ms += 3 * DAY_MS
    assert await code(behalf(admin, made.token, PAUSE)) == "not-signed-in"


async def test_tokens_that_cannot_be(admin: Admin) -> None:
    session = await account(admin)
    for scopes in ([], ["king"], ["bots", "king"]):
        assert await code(behalf(admin, session, AccessMake(label="", scopes=scopes))) == "scopes"
    assert await code(behalf(admin, session, AccessMake(label="", scopes=["admin"]))) == "not-allowed"
    for days in (0, -1, 10**9):
        assert await code(behalf(admin, session, AccessMake(label="", scopes=["bots"], days=days))) == "days"
    for _ in range(MOST_TOKENS):
        await token(admin, session, "bots")
    assert await code(behalf(admin, session, AccessMake(label="", scopes=["bots"]))) == "full"


@pytest.mark.parametrize("number", [0, -1, 99, 2**63, 10**30])
async def test_numbers_of_nothing(admin: Admin, number: int) -> None:
    session = await account(admin, operator=True)
    assert await code(admin.handle(AccessRevoke(access=number))) == "unknown-access"
    assert await code(behalf(admin, session, WebhookRemove(webhook=number))) == "unknown-webhook"


async def test_rights_hold_from_the_next_request_on(admin: Admin) -> None:
    session = await account(admin)
    await admin.handle(BotAdd(name="Newbot", password="playing"))
    assert await code(behalf(admin, session, PAUSE)) == "not-allowed"
    await admin.handle(AccountGrant(account="Anna", right="admin"))
    await behalf(admin, session, PAUSE)
    made = await token(admin, session, "admin")
    await behalf(admin, made.token, PAUSE)
    await admin.handle(AccountRevoke(account="Anna", right="admin"))
    for credential in (session, made.token):
        assert await code(behalf(admin, credential, PAUSE)) == "not-allowed"


async def test_neither_kind_of_text_passes_for_a_bots_token(admin: Admin, accounts: Accounts) -> None:
    session = await account(admin)
    await owned(admin, session)
    made = await token(admin, session, "bots")
    assert session.startswith(SESSION_PREFIX)
    assert made.token.startswith(ACCESS_PREFIX)
    bots = await admin.handle(TokenMake(bot="Newbot"))
    assert isinstance(bots, NewToken)
    assert looks_like_token(bots.token)
    assert await code(behalf(admin, bots.token, PAUSE)) == "not-signed-in"
    for text in (session, made.token):
        assert not looks_like_token(text)
        assert await code(accounts.sign_in(Credentials("Newbot", text, None, "", False, HERE))) == "wrong-password"


# -- on behalf


@pytest.mark.parametrize("credential", ["", "x", "cgosweb_" + "a" * 43, "\0", "é" * 51])
async def test_credentials_of_nobody(admin: Admin, credential: str) -> None:
    assert await code(behalf(admin, credential, PAUSE)) == "not-signed-in"


async def test_the_actor_inside_is_not_believed(admin: Admin, store: Any) -> None:
    session = await account(admin)
    await owned(admin, session)
    await behalf(admin, session, BotPause(bot="Newbot", actor="operator"), "2001:db8::1")
    assert audits(store)[-1][:3] == ("Anna (2001:db8::1)", "bot pause", "Newbot")


async def test_an_address_is_one_short_line(admin: Admin, store: Any) -> None:
    await admin.handle(AccountAdd(name="Anna", password="long-secret"))
    session = await signed_in(admin, address="1.2.3.4\n" + "x" * 1000)
    await behalf(admin, session, SignOut(), "a\tb" + "y" * 1000)
    for actor, *_ in audits(store)[1:]:
        assert len(actor) < 80
        assert actor.isprintable()


async def test_nothing_is_nested(admin: Admin) -> None:
    session = await account(admin, operator=True)
    inner = OnBehalf(credential=session, address=HERE, request=msgspec.Raw(msgspec.json.encode(PAUSE)))
    for request in (
        inner,
        SignIn(name="Anna", password="long-secret", address=HERE),
        AccountRegister(name="Berta", password="long-secret", address=HERE),
        WebhookGiveUp(webhook=1, why="x"),
    ):
        assert await code(behalf(admin, session, request)) == "not-allowed"
    nonsense = OnBehalf(credential=session, address=HERE, request=msgspec.Raw(b'{"do": "fly"}'))
    assert await code(admin.handle(nonsense)) == "bad-request"


async def test_what_is_done_for_somebody_needs_somebody(admin: Admin) -> None:
    await admin.handle(BotAdd(name="Newbot", password="playing"))
    for request in (
        SignOut(), PasswordChange(old="long-secret", new="long-better"),
        AccessMake(label="", scopes=["bots"]), BotClaim(bot="Newbot", secret="playing"),
        WebhookAdd(url="https://a.example", events=["suspended"]),
    ):  # fmt: skip
        assert await code(admin.handle(request)) == "not-signed-in"


# -- secrets


async def test_no_secret_is_kept_or_told_twice(admin: Admin, store: Any, capsys: pytest.CaptureFixture[str]) -> None:
    session = await account(admin)
    await owned(admin, session)
    made = await token(admin, session, "bots")
    await code(signed_in(admin, password="mistyped"))
    answer = await behalf(admin, session, PasswordChange(old="long-secret", new="long-another"))
    kept = str(store.groups) + str(answer) + "".join(capsys.readouterr())
    for secret in (session, made.token, "'secret'", "long-another", "playing", "mistyped"):
        assert secret not in kept
    assert digest(session) not in str(audits(store))
