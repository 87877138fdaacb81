"""Versions of a bot and operators at the door: wire names, descriptions, who may command from where."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cgos_protocol.errors import Refused
from cgos_protocol.session import Credentials, Declaration, NamedPredecessor
from cgos_server.core.rating.lineage import Predecessor
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts, Operator, SignedIn
from cgos_server.service.people.passwords import Passwords
from cgos_server.storage.writing.records import BotOwner, OwnerAdded, VersionAdded, VersionDescribed


def credentials_of(name: str, declared: Declaration, secret: str = "secret", address: str = "192.0.2.1") -> Credentials:
    return Credentials(name, secret, None, "client 1.0", True, address, declared)


async def refusal(accounts: Accounts, credentials: Credentials) -> tuple[str, str]:
    with pytest.raises(Refused) as raised:
        await accounts.sign_in(credentials)
    return raised.value.code, raised.value.sentence


async def test_a_new_bot_may_begin_with_a_version(accounts: Accounts, store: Any) -> None:
    declared = Declaration("1.2", "", "GNU Go 3.8", '{"level":1}', "Anna")
    assert await accounts.sign_in(credentials_of("Gnu", declared)) == SignedIn(1, 2, "Gnu-1.2", new=True)
    assert [(row.wire_name, row.wire_key, row.label) for row in store.of(VersionAdded)] == [
        ("Gnu", "gnu", ""),
        ("Gnu-1.2", "gnu-1.2", "1.2"),
    ]
    assert await accounts.sign_in(credentials_of("Gnu", declared)) == SignedIn(1, 2, "Gnu-1.2")
    assert await accounts.sign_in(credentials_of("Gnu", Declaration())) == SignedIn(1, 1, "Gnu")
    assert store.of(VersionDescribed) == []


async def test_a_version_that_describes_itself_otherwise_is_written_down(accounts: Accounts, store: Any) -> None:
    await accounts.sign_in(credentials_of("Gnu", Declaration("1")))
    await accounts.sign_in(credentials_of("Gnu", Declaration("1", engine="GNU Go 3.8")))
    await accounts.sign_in(credentials_of("Gnu", Declaration("1")))
    await accounts.sign_in(credentials_of("Gnu", Declaration(engine="GNU Go 3.9")))
    assert [(row.engine, row.id) for row in store.of(VersionDescribed)] == [("GNU Go 3.8", 2), ("GNU Go 3.9", 1)]


async def test_a_wire_name_may_be_chosen_once(accounts: Accounts) -> None:
    chosen = Declaration("a very long version", "Gnu-long")
    assert (await accounts.sign_in(credentials_of("Gnu", chosen))).name == "Gnu-long"
    assert (await accounts.sign_in(credentials_of("Gnu", chosen._replace(wire_name="")))).name == "Gnu-long"
    code, sentence = await refusal(accounts, credentials_of("Gnu", chosen._replace(wire_name="Gnu-other")))
    assert code == "wire-name"
    assert "Gnu-long" in sentence


@pytest.mark.parametrize(
    ("declared", "code", "words"),
    [
        (Declaration("1.2.3-beta-of-today"), "wire-name", "wire name of its own"),
        (Declaration("1 2"), "wire-name", "wire name of its own"),
        (Declaration("x" * 33, "Short"), "version", "32"),
        (Declaration("\n", "Short"), "version", "printable"),
        (Declaration("1", "9lives"), "wire-name", "digit"),
        (Declaration("1", "adminbot"), "wire-name", "admin"),
        (Declaration("1", "OTHER"), "name-taken", "Other"),
        (Declaration("1", "Taken-1"), "name-taken", "Taken-1"),
        (Declaration("", "Alias"), "wire-name", "declare one"),
    ],
)
async def test_what_cannot_be_a_version_or_a_wire_name(
    accounts: Accounts, declared: Declaration, code: str, words: str
) -> None:
    await accounts.sign_in(credentials_of("Other", Declaration()))
    await accounts.sign_in(credentials_of("Taken", Declaration("1")))
    refused_code, sentence = await refusal(accounts, credentials_of("Gnu", declared))
    assert refused_code == code
    assert words in sentence


async def test_a_bot_cannot_take_the_wire_name_of_a_version(accounts: Accounts) -> None:
    await accounts.sign_in(credentials_of("Gnu", Declaration("1")))
    assert (await refusal(accounts, credentials_of("gnu-1", Declaration())))[0] == "name-taken"


async def test_two_connections_with_a_new_version_make_one(accounts: Accounts, store: Any) -> None:
    await accounts.sign_in(credentials_of("Gnu", Declaration()))
    both = await asyncio.gather(*(accounts.sign_in(credentials_of("Gnu", Declaration("2"))) for _ in range(2)))
    assert {sign_in.version_id for sign_in in both if isinstance(sign_in, SignedIn)} == {2}
    assert len(store.of(VersionAdded)) == 2


@pytest.fixture
async def guarded(store: Any, ids: Ids, passwords: Passwords, clock: Any) -> Accounts:
    """Operators may come from 192.0.2.1; Boss is one, Guest is a person without rights."""
    for number, (name, admin) in enumerate([("Boss", 1), ("Guest", 0)], 1):
        await store.commit([OwnerAdded(number, name, name.lower(), await passwords.hash("secret"), admin, 0)])
    return Accounts(store, ids, passwords, "open", clock, may_command=lambda address: address == "192.0.2.1")


async def test_an_operator_comes_in_from_its_network_with_its_password(guarded: Accounts) -> None:
    assert await guarded.sign_in(credentials_of("Boss", Declaration())) == Operator("Boss")
    assert (await refusal(guarded, credentials_of("Boss", Declaration(), "wrong")))[0] == "wrong-password"


@pytest.mark.parametrize(("name", "address"), [("Boss", "192.0.2.9"), ("Guest", "192.0.2.1")])
async def test_from_elsewhere_and_without_the_right_a_name_is_only_taken(
    guarded: Accounts, name: str, address: str
) -> None:
    """Whether the password was right is not told, so it cannot be guessed there."""
    for secret in ("secret", "wrong"):
        assert (await refusal(guarded, credentials_of(name, Declaration(), secret, address)))[0] == "name-taken"


async def test_a_new_bot_whose_version_would_have_its_own_name_is_answered(accounts: Accounts) -> None:
    code, sentence = await asyncio.wait_for(refusal(accounts, credentials_of("Gnu", Declaration("1", "Gnu"))), 5)
    assert code == "name-taken"
    assert "Gnu" in sentence


async def test_two_new_bots_that_want_each_others_names_are_both_answered(accounts: Accounts) -> None:
    both = (credentials_of("Anna", Declaration("1", "Bert")), credentials_of("Bert", Declaration("1", "Anna")))
    answers = await asyncio.wait_for(asyncio.gather(*map(accounts.sign_in, both), return_exceptions=True), 5)
    assert [answer.code for answer in answers if isinstance(answer, Refused)] == ["name-taken"] * 2


# -- whom a version says to succeed


async def test_a_bot_names_a_version_of_its_own_or_of_its_owners_bots(accounts: Accounts, store: Any) -> None:
    old = await accounts.sign_in(credentials_of("Gnu", Declaration("1")))
    new = await accounts.sign_in(credentials_of("Gnu", Declaration("2")))
    other = await accounts.sign_in(credentials_of("Other", Declaration()))
    assert isinstance(old, SignedIn)
    assert isinstance(new, SignedIn)
    assert isinstance(other, SignedIn)
    assert await accounts.predecessor(new, NamedPredecessor("Gnu-1", 40.0, True)) == Predecessor(
        old.version_id, 40.0, True
    )
    assert await accounts.predecessor(new, NamedPredecessor("Gnu")) == Predecessor(1)  # the bot's bare version

    async def refused(name: str) -> str:
        with pytest.raises(Refused) as raised:
            await accounts.predecessor(new, NamedPredecessor(name))
        assert raised.value.code == "predecessor"
        return raised.value.sentence

    remedy = "name another predecessor, or leave it out."
    assert await refused("Nobody") == f"There is no version Nobody that Gnu-2 could succeed: {remedy}"
    assert await refused("Gnu-2") == f"Gnu-2 cannot succeed itself: {remedy}"
    strangers = f"Other is no version of this bot, and of no bot of its owner: {remedy}"
    assert await refused("Other") == strangers, "bots of nobody are not of one owner"
    await store.commit([BotOwner(5, new.bot_id)])
    assert await refused("Other") == strangers
    await store.commit([BotOwner(6, other.bot_id)])
    assert await refused("Other") == strangers
    await store.commit([BotOwner(5, other.bot_id)])
    assert await accounts.predecessor(new, NamedPredecessor("Other")) == Predecessor(other.version_id)
