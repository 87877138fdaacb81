"""What belongs to people, asked of the store and of the history, the same on each database."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from support.storage.storage_sample import games, people

from cgos_protocol.errors import Refused
from cgos_protocol.hours import parse
from cgos_protocol.session import Limits
from cgos_server.storage.location import Location
from cgos_server.storage.reading.history import History
from cgos_server.storage.reading.people_answers import BotOwnerRow, OwnedLimits
from cgos_server.storage.reading.stored import Access, BotOwned, Person
from cgos_server.storage.store import Store
from cgos_server.storage.writing import records as r

T0 = 1_700_000_000_000
ANNA, BERTA = 50, 51


@pytest.fixture
async def peopled(store: Store) -> Store:
    """Anna owns alpha and has a session (20), two tokens (21, 22) and a webhook; Berta is disabled."""
    await store.commit(
        [
            *people(), *games(),
            r.OwnerAdded(ANNA, "Anna", "anna", "hash", 1, T0), r.OwnerAdded(BERTA, "Berta", "berta", "hash", 0, T0),
            r.AccessAdded(20, ANNA, "session", "s20", "", "", "192.0.2.7", T0, T0 + 1000),
            r.AccessAdded(21, ANNA, "token", "t21", "laptop", "bots admin", "192.0.2.7", T0, None),
            r.AccessAdded(22, ANNA, "token", "t22", "old", "bots", "192.0.2.7", T0, None),
            r.AccessAdded(23, BERTA, "token", "t23", "", "bots", "192.0.2.8", T0, None),
            r.WebhookAdded(30, ANNA, None, "https://a.example", "secret", "game-ended suspended", T0),
            r.WebhookAdded(31, ANNA, 1, "https://b.example", "secret", "game-ended", T0),
        ]
    )  # fmt: skip
    await store.commit(
        [
            r.OwnerChanged("hash", 0, "disabled", BERTA), r.AccessRevoked(T0 + 5, 22),
            r.WebhookStopped(T0 + 6, "gone", 31), r.BotOwner(ANNA, 1),
            r.BotWishes(1, '{"games_a_day":5,"avoid":["x","y"],"accepts":["*","z"],"hours":"22-6"}', 1),
            r.BotState("disabled", "it hangs", T0 + 99, 1),
        ]
    )  # fmt: skip
    return store


@pytest.fixture
async def history(peopled: Store, database: Location) -> AsyncIterator[History]:
    async with History(database) as opened:
        yield opened


async def test_what_ended_is_forgotten(peopled: Store, history: History) -> None:
    assert await peopled.history.people.old_access(ANNA, T0 + 5) == []
    assert await peopled.history.people.old_access(ANNA, T0 + 6) == [22]
    assert await peopled.history.people.old_access(ANNA, T0 + 2000) == [20, 22]
    await peopled.commit([r.AccessForgotten(20), r.AccessForgotten(22)])
    assert [row.id for row in await history.people.access_of(ANNA)] == [21]
    assert await peopled.history.people.old_access(ANNA, T0 + 2000) == []


async def test_who_is_told(peopled: Store, history: History) -> None:
    assert [row.id for row in await history.people.webhooks(only_told=True)] == [30]
    assert [row.id for row in await history.people.webhooks()] == [30, 31]
    await peopled.commit([r.OwnerChanged("hash", 0, "disabled", ANNA)])
    assert await history.people.webhooks(only_told=True) == [], "of a disabled account nothing is told"


async def test_who_comes_in_by_what(peopled: Store, history: History) -> None:
    session = Person(
        access_id=20, owner_id=ANNA, name="Anna", admin=True, kind="session", scopes=(), expires_at=T0 + 1000
    )
    token = Person(
        access_id=21, owner_id=ANNA, name="Anna", admin=True, kind="token", scopes=("bots", "admin"), expires_at=None
    )
    for person_of in (peopled.history.people.person, history.people.person):
        assert await person_of("s20", T0 + 999) == session
        assert await person_of("s20", T0 + 1000) is None
        assert await person_of("t21", 2**60) == token
        for digest in ("t22", "t23", "d1", "", "hash"):
            assert await person_of(digest, T0) is None
    await peopled.commit([r.OwnerChanged("hash", 0, "active", ANNA)])
    person = await peopled.history.people.person("t21", T0)
    assert person is not None
    assert not person.admin


async def test_what_lets_somebody_in(peopled: Store, history: History) -> None:
    assert await peopled.history.people.access(21) == Access(21, ANNA, "token", "laptop")
    for number in (22, 99, 2**63 - 1):
        assert await peopled.history.people.access(number) is None
    assert [row.id for row in await peopled.history.people.valid_access(ANNA, T0)] == [20, 21]
    assert [row.id for row in await peopled.history.people.valid_access(ANNA, T0 + 1000)] == [21]
    rows = await history.people.access_of(ANNA)
    assert [(row.id, row.kind, row.scopes, row.revoked_at) for row in rows] == [
        (22, "token", ["bots"], T0 + 5), (21, "token", ["bots", "admin"], None), (20, "session", [], None),
    ]  # fmt: skip


async def test_webhooks(peopled: Store, history: History) -> None:
    hook = await peopled.history.people.webhook(30)
    assert hook is not None
    assert (hook.id, hook.owner_id, hook.bot, hook.url) == (30, ANNA, None, "https://a.example")
    assert [await peopled.history.people.webhook(number) for number in (31, 99, 2**63 - 1)] == [None] * 3
    rows = await history.people.webhooks()
    assert [(row.id, row.owner, row.bot, row.events, row.stopped_at, row.why) for row in rows] == [
        (30, "Anna", None, ["game-ended", "suspended"], None, ""),
        (31, "Anna", "alpha", ["game-ended"], T0 + 6, "gone"),
    ]  # fmt: skip
    assert await history.people.webhooks(BERTA) == []
    assert await history.people.webhooks(ANNA) == rows


async def test_whose_a_bot_is(peopled: Store, history: History) -> None:
    assert await peopled.history.people.bot_owner("alpha") == BotOwned(1, "alpha", ANNA)
    assert await peopled.history.people.bot_owner("Beta") == BotOwned(2, "Beta", None)
    assert await peopled.history.people.bot_owner("nobody") is None
    assert await history.people.owner_of("alpha") == ANNA
    assert await history.people.owner_of("Beta") is None
    assert await history.people.owner_of("nobody") is None
    assert await history.people.owners_of(["alpha", "Beta", "nobody"]) == {
        "alpha": BotOwnerRow(bot="alpha", owner_id=ANNA)
    }
    assert await history.people.owners_of([]) == {}


async def test_a_bot_by_a_versions_name(peopled: Store, history: History) -> None:
    await peopled.commit([r.VersionAdded(900, 1, "alpha-9", "alpha-9", "9", "", "", "", T0)])
    assert await peopled.history.people.bot_owner("alpha-9") == BotOwned(1, "alpha", ANNA)
    assert await history.people.owner_of("alpha-9") == ANNA


async def test_what_its_owner_wants(peopled: Store, history: History) -> None:
    login = await peopled.history.bots.login("alpha")
    assert login is not None
    assert (login.owner, login.until, login.paused) == (ANNA, T0 + 99, True)
    assert login.limits == Limits(
        games_a_day=5, avoid=frozenset({"x", "y"}), accepts=frozenset({"*", "z"}), hours=parse("22-6")
    )
    other = await peopled.history.bots.login("Beta")
    assert other is not None
    assert (other.owner, other.until, other.paused, other.limits) == (None, None, False, Limits())
    (bot,) = await history.people.bots_of(ANNA)
    assert (bot.name, bot.state, bot.reason, bot.until, bot.paused) == ("alpha", "disabled", "it hangs", T0 + 99, True)
    assert bot.limits == OwnedLimits(games_a_day=5, avoid=["x", "y"], accepts=["*", "z"], hours="22-6")
    assert bot.versions[0] == "alpha"
    assert bot.last_seen_at is not None
    assert await history.people.bots_of(BERTA) == []


async def test_what_was_kept_before_owners_could_accept_questions(peopled: Store, history: History) -> None:
    await peopled.commit([r.BotWishes(0, '{"games_a_day":null,"avoid":["x"],"hours":""}', 1)])
    login = await peopled.history.bots.login("alpha")
    assert login is not None
    assert login.limits == Limits(avoid=frozenset({"x"}))
    (bot,) = await history.people.bots_of(ANNA)
    assert bot.limits == OwnedLimits(games_a_day=None, avoid=["x"], accepts=[], hours="")


async def test_accounts(history: History) -> None:
    detail = await history.people.account(ANNA)
    assert (detail.name, detail.admin, detail.state, detail.bots) == ("Anna", True, "active", 1)
    assert await history.people.account_id("Berta") == BERTA
    for question in (lambda: history.people.account(2**62), lambda: history.people.account_id("nobody")):
        with pytest.raises(Refused) as raised:
            await question()
        assert raised.value.code == "no-account"


async def test_numbers_go_on_where_they_were(peopled: Store) -> None:
    ids = await peopled.history.server.next_ids()
    assert (ids.access, ids.webhook) == (24, 32)
