"""Bots that register and sign in: names, passwords, two at once."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from argon2 import PasswordHasher

from cgos_protocol.errors import Conflict, Refused
from cgos_protocol.session import Credentials
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts, SignedIn
from cgos_server.service.people.failures import Failures
from cgos_server.service.people.passwords import Passwords, digest, new_token
from cgos_server.storage.writing.records import (
    AuditAdded,
    BotAdded,
    BotPassword,
    BotState,
    OwnerAdded,
    TokenAdded,
    VersionAdded,
)


def credentials_of(
    name: str, secret: str = "secret", new: str | None = None, address: str = "192.0.2.1"
) -> Credentials:
    return Credentials(name, secret, new, "client 1.0", False, address)


async def refusal(accounts: Accounts, credentials: Credentials) -> tuple[str, str]:
    with pytest.raises(Refused) as raised:
        await accounts.sign_in(credentials)
    assert raised.value.sentence.isascii()
    return raised.value.code, raised.value.sentence


@pytest.fixture
def with_policy(store: Any, ids: Ids, passwords: Passwords, clock: Any) -> Any:
    def make(policy: str, failed_logins: int = 10, pause_ms: int = 60_000) -> Accounts:
        return Accounts(store, ids, passwords, policy, clock, Failures(failed_logins, pause_ms, clock))

    return make


# -- registration


async def test_a_new_name_is_registered_with_one_version_of_the_same_name(accounts: Accounts, store: Any) -> None:
    assert await accounts.sign_in(credentials_of("Newbot")) == SignedIn(1, 1, "Newbot", new=True)
    ((bot, version, audit),) = store.groups
    assert isinstance(bot, BotAdded)
    assert (bot.name, bot.name_key, bot.state) == ("Newbot", "newbot", "active")
    assert isinstance(version, VersionAdded)
    assert (version.bot_id, version.wire_name) == (1, "Newbot")
    assert isinstance(audit, AuditAdded)
    assert (audit.actor, audit.action, audit.subject) == ("Newbot", "bot add", "Newbot")
    assert json.loads(audit.detail) == {"origin": "192.0.2.1", "state": "active"}
    assert "secret" not in str(store.groups)
    assert await accounts.sign_in(credentials_of("Newbot")) == SignedIn(1, 1, "Newbot")
    assert len(store.groups) == 1


async def test_two_at_once_under_one_new_name_make_one_bot(accounts: Accounts, store: Any) -> None:
    signed = await asyncio.gather(*(accounts.sign_in(credentials_of("Newbot")) for _ in range(5)))
    assert sorted(signed) == [SignedIn(1, 1, "Newbot")] * 4 + [SignedIn(1, 1, "Newbot", new=True)]
    assert len(store.of(BotAdded)) == 1


async def test_two_at_once_with_different_passwords(accounts: Accounts, store: Any) -> None:
    results = await asyncio.gather(
        accounts.sign_in(credentials_of("Newbot", "first")),
        accounts.sign_in(credentials_of("Newbot", "second")),
        return_exceptions=True,
    )
    assert results[0] == SignedIn(1, 1, "Newbot", new=True)
    assert isinstance(results[1], Refused)
    assert results[1].code == "wrong-password"


async def test_two_at_once_that_differ_in_capitals(accounts: Accounts, store: Any) -> None:
    results = await asyncio.gather(
        accounts.sign_in(credentials_of("Newbot")), accounts.sign_in(credentials_of("NEWBOT")), return_exceptions=True
    )
    assert [type(result) for result in results] == [SignedIn, Conflict]
    assert len(store.of(BotAdded)) == 1


async def test_names_that_differ_in_capitals_only_are_taken(accounts: Accounts) -> None:
    await accounts.sign_in(credentials_of("Newbot"))
    assert await refusal(accounts, credentials_of("newBOT")) == (
        "name-taken", "The name newBOT is taken by Newbot: capitals make no difference. Choose another.",
    )  # fmt: skip


async def test_names_of_accounts_are_taken(accounts: Accounts, store: Any) -> None:
    await store.commit([OwnerAdded(1, "Person", "person", "x", 0, 0)])
    assert await refusal(accounts, credentials_of("Person")) == (
        "name-taken",
        "The name Person is taken. Choose another.",
    )


async def test_names_and_passwords_follow_the_rules(accounts: Accounts) -> None:
    assert (await refusal(accounts, credentials_of("administrator")))[0] == "name-or-password"
    assert (await refusal(accounts, credentials_of("ab")))[0] == "name-or-password"
    assert (await refusal(accounts, credentials_of("Newbot", "x")))[0] == "name-or-password"


async def test_approval(with_policy: Any, store: Any, clock: Any) -> None:
    accounts = with_policy("approval")
    code, sentence = await refusal(accounts, credentials_of("Newbot"))
    assert code == "waits-approval"
    assert "waits for approval" in sentence
    assert store.of(BotAdded)[0].state == "pending"
    assert (await refusal(accounts, credentials_of("Newbot")))[0] == "waits-approval"
    assert (await refusal(accounts, credentials_of("Newbot", "wrong")))[0] == "wrong-password"
    assert len(store.of(BotAdded)) == 1
    await store.commit([BotState("active", "", None, 1)])
    assert await accounts.sign_in(credentials_of("Newbot")) == SignedIn(1, 1, "Newbot")


async def test_waiting_for_approval_is_no_wrong_password(with_policy: Any) -> None:
    accounts = with_policy("approval", failed_logins=2)
    for _ in range(5):
        assert (await refusal(accounts, credentials_of("Newbot")))[0] == "waits-approval"


async def test_closed(with_policy: Any, accounts: Accounts, store: Any) -> None:
    closed = with_policy("closed")
    code, sentence = await refusal(closed, credentials_of("Newbot"))
    assert code == "registration-closed"
    assert "operator" in sentence
    assert store.groups == []
    await accounts.sign_in(credentials_of("Newbot"))
    assert (await closed.sign_in(credentials_of("Newbot"))).name == "Newbot"


async def test_an_unknown_name_cannot_change_its_password(accounts: Accounts, store: Any) -> None:
    assert (await refusal(accounts, credentials_of("Newbot", "old", "new")))[0] == "unknown-name"
    assert store.groups == []


async def test_a_token_registers_nobody(accounts: Accounts, store: Any) -> None:
    assert (await refusal(accounts, credentials_of("Newbot", new_token())))[0] == "unknown-token"
    assert store.groups == []


# -- known names


async def test_wrong_password(accounts: Accounts) -> None:
    await accounts.sign_in(credentials_of("Newbot"))
    assert await refusal(accounts, credentials_of("Newbot", "other")) == (
        "wrong-password", "Sorry, password doesn't match the name Newbot.",
    )  # fmt: skip


async def test_disabled_with_its_reason(accounts: Accounts, store: Any) -> None:
    await accounts.sign_in(credentials_of("Newbot"))
    await store.commit([BotState("disabled", "it resigned every game", None, 1)])
    assert await refusal(accounts, credentials_of("Newbot")) == (
        "disabled",
        "Newbot is disabled: it resigned every game",
    )
    assert (await refusal(accounts, credentials_of("Newbot", "wrong")))[0] == "wrong-password"


async def test_password_change_holds_at_once(accounts: Accounts, store: Any) -> None:
    await accounts.sign_in(credentials_of("Newbot", "old-one"))
    assert (await refusal(accounts, credentials_of("Newbot", "wrong", "new-one")))[0] == "wrong-password"
    assert store.of(BotPassword) == []
    assert await accounts.sign_in(credentials_of("Newbot", "old-one", "new-one")) == SignedIn(1, 1, "Newbot")
    assert store.groups[-1][1].action == "bot passwd"
    assert (await refusal(accounts, credentials_of("Newbot", "old-one")))[0] == "wrong-password"
    assert await accounts.sign_in(credentials_of("Newbot", "new-one")) == SignedIn(1, 1, "Newbot")


async def test_tokens_sign_in_without_a_slow_check(accounts: Accounts, store: Any, passwords: Passwords) -> None:
    await accounts.sign_in(credentials_of("Newbot"))
    token = new_token()
    await store.commit([TokenAdded(1, 1, digest(token), "", 0)])
    passwords.close()  # any slow check would fail now
    assert await accounts.sign_in(credentials_of("Newbot", token)) == SignedIn(1, 1, "Newbot")
    code, sentence = await refusal(accounts, credentials_of("Newbot", new_token()))
    assert (code, sentence) == ("wrong-password", "Sorry, this is no valid token of Newbot.")
    assert (await refusal(accounts, credentials_of("Newbot", token, "new-one")))[0] == "token-cannot-change"


async def test_a_token_of_another_bot_is_wrong(accounts: Accounts, store: Any) -> None:
    await accounts.sign_in(credentials_of("First"))
    await accounts.sign_in(credentials_of("Second"))
    token = new_token()
    await store.commit([TokenAdded(1, 1, digest(token), "", 0)])
    assert (await refusal(accounts, credentials_of("Second", token)))[0] == "wrong-password"


async def test_a_password_that_looks_like_a_token_cannot_be_chosen(accounts: Accounts) -> None:
    await accounts.sign_in(credentials_of("Newbot"))
    assert (await refusal(accounts, credentials_of("Newbot", "secret", new_token())))[0] == "name-or-password"
    assert (await accounts.sign_in(credentials_of("Newbot"))).bot_id == 1


# -- the pause after wrong passwords


async def test_after_too_many_wrong_passwords_comes_a_pause(with_policy: Any, clock: Any) -> None:
    accounts = with_policy("open", failed_logins=3, pause_ms=20_000)
    await accounts.sign_in(credentials_of("Newbot"))
    for _ in range(3):
        assert (await refusal(accounts, credentials_of("Newbot", "wrong")))[0] == "wrong-password"
    code, sentence = await refusal(accounts, credentials_of("Newbot"))
    assert (code, "Try again in 20 s" in sentence) == ("too-many-failures", True)
    assert (await accounts.sign_in(credentials_of("Newbot", address="192.0.2.2"))).bot_id == 1
    await accounts.sign_in(credentials_of("Another"))
    clock.ms += 19_000
    assert "Try again in 1 s" in (await refusal(accounts, credentials_of("Newbot")))[1]
    clock.ms += 1_000
    assert (await accounts.sign_in(credentials_of("Newbot"))).bot_id == 1


async def test_the_right_password_and_a_minute_wipe_the_slate(with_policy: Any, clock: Any) -> None:
    accounts = with_policy("open", failed_logins=3)
    await accounts.sign_in(credentials_of("Newbot"))
    for _ in range(3):
        for _ in range(2):
            assert (await refusal(accounts, credentials_of("Newbot", "wrong")))[0] == "wrong-password"
        await accounts.sign_in(credentials_of("Newbot"))
    for _ in range(3):
        for _ in range(2):
            assert (await refusal(accounts, credentials_of("Newbot", "wrong")))[0] == "wrong-password"
        clock.ms += 60_001


async def test_many_guesses_at_once_get_no_further(with_policy: Any) -> None:
    accounts = with_policy("open", failed_logins=3)
    await accounts.sign_in(credentials_of("Newbot"))
    results = await asyncio.gather(
        *(accounts.sign_in(credentials_of("Newbot", f"guess{n}")) for n in range(20)), return_exceptions=True
    )
    codes = [result.code for result in results if isinstance(result, Refused)]
    assert codes.count("wrong-password") == 3
    assert codes.count("too-many-failures") == 17


async def test_the_memory_of_failures_is_bounded(with_policy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgos_server.service.people.failures.REMEMBERED", 50)
    accounts = with_policy("closed")
    for number in range(200):
        await refusal(accounts, credentials_of("Newbot", address=f"192.0.2.{number}"))
    assert len(accounts.failures._records) == 50


async def guess(accounts: Accounts, addresses: Iterable[str]) -> Counter[str]:
    """What wrong passwords for Newbot were answered, one from each address."""
    return Counter(
        [(await refusal(accounts, credentials_of("Newbot", "wrong", address=address)))[0] for address in addresses]
    )


def strangers(count: int) -> list[str]:
    """Addresses of as many networks."""
    return [f"10.{number // 250}.{number % 250}.7" for number in range(count)]


async def test_guesses_from_everywhere_get_one_each_from_a_network(with_policy: Any, clock: Any) -> None:
    accounts = with_policy("open", failed_logins=3)
    await accounts.sign_in(credentials_of("Newbot"))
    assert await guess(accounts, strangers(30)) == {"wrong-password": 30}
    again = [f"10.9.{number // 5}.{number % 5}" for number in range(50)]
    assert await guess(accounts, again) == {"wrong-password": 10, "too-many-failures": 40}
    assert "in 900 s" in (await refusal(accounts, credentials_of("Newbot", address=again[0])))[1]
    clock.ms += 900_000
    assert await guess(accounts, again) == {"wrong-password": 10, "too-many-failures": 40}
    clock.ms += 3_600_001
    assert await guess(accounts, again[:20]) == {"wrong-password": 20}


async def test_guesses_from_everywhere_keep_nobody_out_who_knows_the_password(with_policy: Any) -> None:
    accounts = with_policy("open", failed_logins=3)
    await accounts.sign_in(credentials_of("Newbot"))
    await guess(accounts, strangers(200))
    elsewhere = "2001:db8:7::1"
    assert (await accounts.sign_in(credentials_of("Newbot", address=elsewhere))).bot_id == 1
    # From where it is known, a slip costs what it always does.
    for address in ("192.0.2.1", elsewhere):
        assert await guess(accounts, [address, address]) == {"wrong-password": 2}
        assert (await accounts.sign_in(credentials_of("Newbot", address=address))).bot_id == 1
    assert (await accounts.sign_in(credentials_of("Another", address="10.0.0.7"))).new


async def test_slips_at_home_do_not_count_as_guesses(with_policy: Any, clock: Any) -> None:
    accounts = with_policy("open", failed_logins=3)
    await accounts.sign_in(credentials_of("Newbot"))
    for _ in range(20):
        assert await guess(accounts, 3 * ["192.0.2.1"]) == {"wrong-password": 3}
        clock.ms += 60_001
    assert await guess(accounts, 2 * ["10.0.0.7"]) == {"wrong-password": 2}


async def test_what_is_known_of_guesses_is_bounded(with_policy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgos_server.service.people.failures.REMEMBERED", 20)
    accounts = with_policy("open")
    for number in range(30):
        address = f"192.0.2.{number}"
        await accounts.sign_in(credentials_of(f"Bot{number}", address=address))
        await refusal(accounts, credentials_of(f"Bot{number}", "wrong", address=f"10.0.0.{number}"))
    kept = accounts.failures
    assert [len(memory) for memory in (kept._records, kept._known, kept._guessed)] == [20, 20, 20]


async def test_a_full_queue_is_no_wrong_password(store: Any, ids: Ids, clock: Any, passwords: Passwords) -> None:
    await Accounts(store, ids, passwords, "open", clock).sign_in(credentials_of("Newbot"))
    with Passwords(0) as full:
        accounts = Accounts(store, ids, full, "open", clock, Failures(2, 60_000, clock))
        for _ in range(5):
            assert (await refusal(accounts, credentials_of("Newbot")))[0] == "busy"


class SlowHasher(PasswordHasher):
    """Hashes once the test lets it, and remembers what it hashed."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.open = threading.Event()
        self.hashed: list[Any] = []

    def hash(self, password: Any, *, salt: bytes | None = None) -> str:
        assert self.open.wait(10)
        self.hashed.append(password)
        return super().hash(password, salt=salt)


async def until_waiting(passwords: Passwords, count: int) -> None:
    for _ in range(1000):
        if passwords.waiting == count:
            return
        await asyncio.sleep(0)
    raise AssertionError(f"{passwords.waiting} wait, not {count}")


async def test_one_address_with_many_connections_keeps_nobody_waiting(store: Any, ids: Ids, clock: Any) -> None:
    hasher = SlowHasher()
    with Passwords(20, hasher=hasher) as passwords:
        accounts = Accounts(store, ids, passwords, "open", clock)
        crowd = [asyncio.ensure_future(accounts.sign_in(credentials_of(f"crowd{n}", f"crowd{n}"))) for n in range(30)]
        await until_waiting(passwords, 10)
        other = asyncio.ensure_future(accounts.sign_in(credentials_of("Other", "other", address="192.0.2.2")))
        await until_waiting(passwords, 11)
        hasher.open.set()
        assert (await other).new
        ends = await asyncio.gather(*crowd, return_exceptions=True)
    assert hasher.hashed[:2] == ["crowd0", "other"]
    assert [end.code for end in ends if isinstance(end, Refused)] == ["busy"] * 20


async def test_a_sign_in_that_is_called_off_while_it_waits_costs_no_hash(store: Any, ids: Ids, clock: Any) -> None:
    hasher = SlowHasher()
    with Passwords(20, hasher=hasher) as passwords:
        accounts = Accounts(store, ids, passwords, "open", clock)
        first, second = (
            asyncio.ensure_future(accounts.sign_in(credentials_of(name, name))) for name in ("First", "Second")
        )
        await until_waiting(passwords, 2)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert passwords.waiting == 1
        hasher.open.set()
        assert (await first).new
        assert (await accounts.sign_in(credentials_of("Second", "again"))).new  # the name was not kept
    assert hasher.hashed == ["First", "again"]
