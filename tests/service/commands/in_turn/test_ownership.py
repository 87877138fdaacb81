"""What owners do with their bots: claims, wishes, being shut out for a time, webhooks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.service.acting import HERE, HOUR_MS, PAUSE, Live, account, audits, behalf, code, owned

from cgos_protocol.api.people import Done, NewToken, NewWebhook
from cgos_protocol.errors import Refused
from cgos_protocol.hours import parse
from cgos_protocol.session import Credentials, Limits
from cgos_server.service.admin import Admin
from cgos_server.service.commands.availability import BotDrain, BotLimit, BotLook, BotResume
from cgos_server.service.commands.bots import BotAdd, BotDisable
from cgos_server.service.commands.ownership import BotClaim, BotOwn, BotRelease
from cgos_server.service.commands.tokens import TokenMake
from cgos_server.service.commands.webhooks import MOST_WEBHOOKS, WebhookAdd, WebhookGiveUp, WebhookRemove
from cgos_server.service.people.accounts import Accounts, SignedIn
from cgos_server.service.people.webhook_urls import target
from cgos_server.storage.writing.records import WebhookAdded

# -- owning


async def test_a_bot_is_claimed_by_its_password_or_a_token_of_it(admin: Admin, store: Any) -> None:
    session = await account(admin)
    await owned(admin, session)
    assert (await store.history.bots.login("Newbot")).owner == 1
    assert await code(behalf(admin, session, BotClaim(bot="Newbot", secret="playing"))) == "owned"
    await behalf(admin, session, BotRelease(bot="Newbot"))
    made = await admin.handle(TokenMake(bot="Newbot"))
    assert isinstance(made, NewToken)
    other = await account(admin, "Berta")
    await behalf(admin, other, BotClaim(bot="Newbot", secret=made.token))
    assert (await store.history.bots.login("Newbot")).owner == 2
    assert await code(behalf(admin, session, PAUSE)) == "not-allowed"
    assert await code(behalf(admin, session, BotClaim(bot="Newbot", secret="playing"))) == "owned"
    assert [audit[3] for audit in audits(store) if audit[1] == "bot claim"] == [{"by": "password"}, {"by": "token"}]


async def test_guessing_a_bots_password_is_paused(admin: Admin, clock: Any) -> None:
    session = await account(admin)
    await admin.handle(BotAdd(name="Newbot", password="playing"))
    for _ in range(10):
        assert await code(behalf(admin, session, BotClaim(bot="Newbot", secret="guess"))) == "wrong-password"
    right = BotClaim(bot="Newbot", secret="playing")
    assert await code(behalf(admin, session, right)) == "too-many-failures"
    clock.ms += 60_001
    await behalf(admin, session, right)


async def test_of_two_claims_at_once_one_wins(admin: Admin, store: Any) -> None:
    sessions = [await account(admin, name) for name in ("Anna", "Berta", "Clara")]
    await admin.handle(BotAdd(name="Newbot", password="playing"))
    answers = await asyncio.gather(
        *(behalf(admin, session, BotClaim(bot="Newbot", secret="playing")) for session in sessions),
        return_exceptions=True,
    )
    winners = [number for number, answer in enumerate(answers, 1) if isinstance(answer, Done)]
    assert len(winners) == 1
    assert (await store.history.bots.login("Newbot")).owner == winners[0]
    assert {answer.code for answer in answers if isinstance(answer, Refused)} == {"owned"}


async def test_what_an_owner_asks_for_after_it_was_taken_away_is_refused(admin: Admin, store: Any) -> None:
    session = await account(admin)
    await owned(admin, session)
    _, answer = await asyncio.gather(
        admin.handle(BotOwn(bot="Newbot", account=None)), behalf(admin, session, PAUSE), return_exceptions=True
    )
    bot = await store.history.bots.login("Newbot")
    assert (bot.owner, bot.paused) == (None, False)
    assert isinstance(answer, Done) or answer.code == "not-allowed"


async def test_what_an_owner_wants_is_kept_and_in_force_at_once(admin: Admin, store: Any, live: Live) -> None:
    session = await account(admin)
    await owned(admin, session)
    await behalf(admin, session, PAUSE)
    wanted = BotLimit(bot="Newbot", games_a_day=5, avoid=["Other", "Third"], accepts=["Berta"], hours="Sat, 22 - 6")
    await behalf(admin, session, wanted)
    limits = Limits(
        games_a_day=5,
        avoid=frozenset({"Other", "Third"}),
        accepts=frozenset({"Berta"}),
        hours=parse("22-6, Sat"),
    )
    bot = await store.history.bots.login("Newbot")
    assert (bot.paused, bot.limits) == (True, limits)
    await behalf(admin, session, BotResume(bot="Newbot"))
    assert (await store.history.bots.login("Newbot")).limits == limits
    await behalf(admin, session, BotDrain(bot="Newbot"))
    await behalf(admin, session, BotRelease(bot="Newbot"))
    assert live.calls == [
        ("wishes", 1, True, Limits()), ("wishes", 1, True, limits), ("wishes", 1, False, limits), ("drain bot", 1),
        ("wishes", 1, False, Limits()),
    ]  # fmt: skip
    bot = await store.history.bots.login("Newbot")
    assert (bot.owner, bot.paused, bot.limits) == (None, False, Limits())


async def test_wishes_at_once_lose_nothing(admin: Admin, store: Any) -> None:
    session = await account(admin)
    await owned(admin, session)
    await asyncio.gather(behalf(admin, session, PAUSE), behalf(admin, session, BotLimit(bot="Newbot", games_a_day=5)))
    bot = await store.history.bots.login("Newbot")
    assert (bot.paused, bot.limits) == (True, Limits(5))


async def test_limits_that_cannot_be(admin: Admin, live: Live) -> None:
    await admin.handle(BotAdd(name="Newbot", password="playing"))
    for games, avoid in ((-1, []), (10**9, []), (None, ["x y"]), (None, ["Other"] * 201)):
        request = BotLimit(bot="Newbot", games_a_day=games, avoid=avoid)
        assert await code(admin.handle(request)) == "limits"
    for accepts in (["x y"], ["**"], [""], ["Other"] * 201):
        assert await code(admin.handle(BotLimit(bot="Newbot", accepts=accepts))) == "limits"
    assert await code(admin.handle(BotLimit(bot="Newbot", hours="6-6"))) == "hours"
    live.here = 0
    assert await code(admin.handle(BotDrain(bot="Newbot"))) == "not-here"


@pytest.mark.parametrize(
    ("accepts", "says"),
    [
        ([], ""),
        (["Olive", "amigo", "Olive"], " It plays in the questions of Olive, amigo."),
        (["Olive", "*"], " It plays in the questions of everybody."),
    ],
)
async def test_whose_questions_it_plays_in_is_said(admin: Admin, store: Any, accepts: list[str], says: str) -> None:
    await admin.handle(BotAdd(name="Newbot", password="playing"))
    done = await admin.handle(BotLimit(bot="Newbot", accepts=accepts))
    assert done == Done(sentence=f"Newbot begins any number of games a day.{says}")
    assert (await store.history.bots.login("Newbot")).limits == Limits(accepts=frozenset(accepts))


async def test_an_owner_looks_at_its_bot_and_nobody_else_does(admin: Admin, live: Live) -> None:
    session, other = await account(admin), await account(admin, "Berta")
    await owned(admin, session)
    look = BotLook(bot="Newbot")
    assert await behalf(admin, session, look) == []
    assert await code(behalf(admin, other, look)) == "not-allowed"
    assert await code(behalf(admin, session, BotLook(bot="Nobody"))) == "unknown-bot"
    assert live.calls == [("look", 1)]


async def test_hours_are_kept_as_they_are_read_however_they_were_written(admin: Admin, store: Any) -> None:
    await admin.handle(BotAdd(name="Newbot", password="playing"))
    many = ", ".join(f"{day} {at}-{at + 1}" for day in ("Mon", "Wed", "Fri") for at in range(1, 19, 3))
    for text in ("22-6", "Sat, Sun", "0-24", "Mon-Fri 8:30-12", many, ""):
        await admin.handle(BotLimit(bot="Newbot", hours=text))
        assert (await store.history.bots.login("Newbot")).limits == Limits(hours=parse(text))


async def test_sign_in_tells_the_lobby_what_the_owner_wants(admin: Admin, accounts: Accounts) -> None:
    await admin.handle(BotAdd(name="Newbot", password="playing"))
    await admin.handle(PAUSE)
    await admin.handle(BotLimit(bot="Newbot", games_a_day=5))
    signed: Any = await accounts.sign_in(Credentials("Newbot", "playing", None, "", False, HERE))
    assert (signed.paused, signed.limits) == (True, Limits(5))


async def test_an_operator_gives_a_bot_to_somebody(admin: Admin, store: Any) -> None:
    session = await account(admin)
    await account(admin, "Berta")
    await owned(admin, session)
    hook = await behalf(admin, session, WebhookAdd(url="https://a.example/x", events=["game-ended"], bot="Newbot"))
    await admin.handle(BotOwn(bot="Newbot", account="Berta"))
    assert (await store.history.bots.login("Newbot")).owner == 2
    assert await store.history.people.webhook(hook.id) is None
    assert await code(admin.handle(BotOwn(bot="Newbot", account="Nobody"))) == "unknown-account"
    await admin.handle(BotOwn(bot="Newbot", account=None))
    assert await code(admin.handle(BotRelease(bot="Newbot"))) == "no-owner"


# -- shut out for a time


async def test_a_bot_that_was_disabled_for_a_time_comes_back(
    admin: Admin, accounts: Accounts, live: Live, store: Any, clock: Any
) -> None:
    def bot() -> Any:
        return accounts.sign_in(Credentials("Newbot", "playing", None, "", False, HERE))

    await admin.handle(BotAdd(name="Newbot", password="playing"))
    until = clock.ms + HOUR_MS
    await admin.handle(BotDisable(bot="Newbot", reason="it crashes", until=until))
    assert live.calls == [("dismiss", 1, "Newbot was disabled until 2023-11-14 23:13 UTC: it crashes")]
    with pytest.raises(Refused) as raised:
        await bot()
    assert raised.value.sentence == "Newbot is disabled until 2023-11-14 23:13 UTC: it crashes"
    assert raised.value.retry_after_s == HOUR_MS / 1000
    clock.ms = until - 1
    assert await code(bot()) == "disabled"
    clock.ms = until
    signed = await asyncio.gather(bot(), bot())
    assert [signed_in.name for signed_in in signed] == ["Newbot"] * 2
    assert (await store.history.bots.login("Newbot")).state == "active"
    assert [audit[:3] for audit in audits(store)][2:] == [("the server", "bot enable", "Newbot")]


async def test_a_ban_that_is_renewed_meanwhile_holds(admin: Admin, accounts: Accounts, store: Any, clock: Any) -> None:
    await admin.handle(BotAdd(name="Newbot", password="playing"))
    await admin.handle(BotDisable(bot="Newbot", reason="it crashes", until=clock.ms + HOUR_MS))
    clock.ms += HOUR_MS
    came, _ = await asyncio.gather(
        accounts.sign_in(Credentials("Newbot", "playing", None, "", False, HERE)),
        admin.handle(BotDisable(bot="Newbot", reason="again")),
        return_exceptions=True,
    )
    assert isinstance(came, Refused | SignedIn)
    bot = await store.history.bots.login("Newbot")
    assert (bot.state, bot.reason, bot.until) == ("disabled", "again", None)


async def test_bans_that_cannot_be(admin: Admin, clock: Any) -> None:
    await admin.handle(BotAdd(name="Newbot", password="playing"))
    for until in (clock.ms, 0, -1, 10**17):
        assert await code(admin.handle(BotDisable(bot="Newbot", reason="x", until=until))) == "until"
    assert await code(admin.handle(BotDisable(bot="Newbot", reason=" \n"))) == "reason"


# -- webhooks


async def test_a_webhook_is_made_and_removed(admin: Admin, store: Any) -> None:
    session, other = await account(admin), await account(admin, "Berta")
    await owned(admin, session)
    secretly = "https://hooks.example/T0/very-secret-path?key=12345"
    made = await behalf(admin, session, WebhookAdd(url=secretly, events=["suspended", "game-ended"]))
    (row,) = store.of(WebhookAdded)
    assert (row.owner_id, row.bot_id, row.url, row.events) == (1, None, secretly, "game-ended suspended")
    assert made.secret == row.secret
    assert audits(store)[-1][3]["host"] == "hooks.example"
    assert "very-secret" not in str(audits(store))
    assert made.secret not in str(audits(store))
    webhook = WebhookAdd(url=secretly, events=["suspended"], bot="Newbot")
    assert await code(behalf(admin, other, webhook)) == "not-allowed"
    assert await code(behalf(admin, other, WebhookRemove(webhook=made.id))) == "not-allowed"
    await behalf(admin, session, WebhookRemove(webhook=made.id))
    assert await code(admin.handle(WebhookGiveUp(webhook=made.id, why="gone"))) == "unknown-webhook"


async def test_an_account_has_so_many_webhooks_even_at_once(admin: Admin, store: Any) -> None:
    session = await account(admin)
    webhook = WebhookAdd(url="https://a.example", events=["suspended"])
    answers = await asyncio.gather(
        *(behalf(admin, session, webhook) for _ in range(MOST_WEBHOOKS + 5)), return_exceptions=True
    )
    assert sum(isinstance(answer, NewWebhook) for answer in answers) == MOST_WEBHOOKS
    assert {answer.code for answer in answers if isinstance(answer, Refused)} == {"full"}


@pytest.mark.parametrize("events", [[], ["moon"], ["suspended", "moon"]])
async def test_events_that_are_none(admin: Admin, events: list[str]) -> None:
    session = await account(admin)
    assert await code(behalf(admin, session, WebhookAdd(url="https://a.example", events=events))) == "events"


@pytest.mark.parametrize(
    "url",
    ["", "a.example", "ftp://a.example", "https://", "https:///x", "https://me:pw@a.example", "https://a.example:99999",
     "https://[::1", "https://a.example/ä", "https://a.example/ x", "https://a.example/\n", "https://a.example/#x",
     "javascript:alert(1)", "http://a.example:25/", "http://a.example:1023/", "https://a.example/" + "x" * 500],
)  # fmt: skip
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(Refused) as raised:
        target(url)
    assert raised.value.code == "url"


@pytest.mark.parametrize("url", ["https://a.example", "http://a.example:8080/x?y=1", "https://[2001:db8::1]/x"])
def test_addresses(url: str) -> None:
    assert target(url).host in ("a.example", "2001:db8::1")
