"""From facts to signed messages: who is told what, and what becomes of a message that does not arrive."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
import pytest
from support.service.acting import changed
from web.people.conftest import House
from web.people.test_outside import answering, listening
from web.people.test_owner import sound

from cgos_protocol.api.messages import StrengthChange
from cgos_protocol.api.people import NewWebhook, Session
from cgos_protocol.errors import Code, Invalid, Refused
from cgos_protocol.facts import BotArrived, BotLeft, GameEnded, GameStarted, MovePlayed
from cgos_server.presentation.settings import WebSettings
from cgos_server.service.commands.registry import OnBehalf
from cgos_server.service.commands.sessions import SignIn
from cgos_server.service.commands.webhooks import EVENTS, WebhookAdd, WebhookGiveUp
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.writing.records import SuspensionNow
from cgos_server.web.live.hub import Hub
from cgos_server.web.people.happenings import Happenings
from cgos_server.web.people.outside import Answered, Outside
from cgos_server.web.people.webhooks import CHANGES_MS, GIVE_UP, LINE_MAX, PAUSES_S, TEST_PAUSE_MS, Webhooks
from cgos_server.web.server import OneServer
from cgos_server.web.site import Site

ALL = list(EVENTS)


class Net(Outside):
    """Takes messages in place of the network. `statuses`: what the next ones are answered, then 200."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[str, Mapping[str, str], bytes]] = []
        self.statuses: list[int | Refused] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answered:
        await self.gate.wait()
        self.sent.append((url, headers, body))
        status = self.statuses.pop(0) if self.statuses else 200
        if isinstance(status, Refused):
            raise status
        return Answered(status, b"")

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(body) for _, _, body in self.sent]


class Post:
    """Webhooks over a house, with a network that a test looks into."""

    def __init__(self, house: House, webhooks: Webhooks, net: Net, pauses: list[float]) -> None:
        self.house = house
        self.webhooks = webhooks
        self.net = net
        self.pauses = pauses

    async def tell(self, *facts: Any) -> None:
        for fact in facts:
            self.webhooks.heard(fact)
        await self.settle()

    async def settle(self, until: int = 0) -> None:
        """Let everything happen that needs no more time."""
        for _ in range(400):
            await asyncio.sleep(0.001)
            if until and len(self.net.sent) >= until:
                return

    async def hook(self, events: list[str], bot: str | None = None, owner: str = "alice") -> NewWebhook:
        session = await self.house.admin.handle(SignIn(name=owner, password="correct-horse", address="192.0.2.7"))
        assert isinstance(session, Session)
        wanted = WebhookAdd(url="https://example.org/hook", events=events, bot=bot)
        inner = msgspec.Raw(msgspec.json.encode(wanted))
        made = await self.house.admin.handle(OnBehalf(credential=session.session, address="", request=inner))
        assert isinstance(made, NewWebhook)
        return made


@pytest.fixture
async def post(house: House) -> AsyncIterator[Post]:
    await house.signed_in("alice", owns="Sakura-5k")
    settings = WebSettings()
    site = Site(
        house.history, settings, "", house.clock, Hub(house.history, settings, house.clock), OneServer(house.call)
    )
    net, pauses = Net(), list[float]()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    webhooks = Webhooks(site, net, pause)
    running = asyncio.ensure_future(webhooks.run())
    yield Post(house, webhooks, net, pauses)
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


STARTED = GameStarted(venue="9x9", game=500, black="Sakura-5k", white="amigo", at=1_800_000_000.5)


def ended(game: int, result: str, reason: str) -> GameEnded:
    return GameEnded(venue="9x9", game=game, result=result, reason=reason, at=1_800_000_100.0)


async def test_a_game_is_told_to_the_owner_and_signed(post: Post) -> None:
    made = await post.hook(ALL)
    await post.tell(
        STARTED, MovePlayed(venue="9x9", game=500, ply=1, move="D4", left_ms=1), ended(500, "B+Resign", "resignation")
    )
    start, end = post.net.messages
    assert start | {"id": ""} == {
        "id": "", "webhook": made.id, "event": "game-started", "at": 1_800_000_000_500, "bot": "Sakura-5k",
        "version": "Sakura-5k", "venue": "9x9", "color": "black", "dropped": 0,
        "game": {"id": 500, "venue": "9x9", "black": "Sakura-5k", "white": "amigo"},
    }  # fmt: skip
    assert end["event"] == "game-ended"
    assert (end["game"]["result"], end["game"]["reason"]) == ("B+Resign", "resignation")
    assert start["id"] != end["id"]
    for url, headers, body in post.net.sent:
        assert url == "https://example.org/hook"
        mark = hmac.new(made.secret.encode(), f"{headers['Cgos-Timestamp']}.".encode() + body, hashlib.sha256)
        assert headers["Cgos-Signature"] == f"sha256={mark.hexdigest()}"
        assert headers["Cgos-Delivery"] == msgspec.json.decode(body)["id"]
        assert int(headers["Cgos-Timestamp"]) == post.house.clock.ms // 1000
    outcome = post.webhooks.outcome(made.id)
    assert outcome is not None
    assert outcome.delivered


async def test_nobody_is_told_what_is_not_asked_or_not_its_own(post: Post) -> None:
    await post.hook(["signed-in"])
    await post.hook(["game-started"], bot="Sakura-5k")
    await post.house.signed_in("bob", owns="amigo")
    bob = await post.hook(["signed-out"], owner="bob")
    await post.tell(BotArrived("9x9", "Sakura-5k"), BotLeft("9x9", "Sakura-5k"), BotLeft("9x9", "amigo"),
                    BotArrived("9x9", "random-walk"), STARTED)  # fmt: skip
    deliveries = sorted((message["webhook"], message["event"], message["version"]) for message in post.net.messages)
    assert deliveries == [
        (1, "signed-in", "Sakura-5k"),
        (2, "game-started", "Sakura-5k"),
        (bob.id, "signed-out", "amigo"),
    ]


async def test_a_game_whose_beginning_was_not_heard_is_looked_up(post: Post) -> None:
    games = await post.house.history.games.find(GameFilter(bot="Sakura-5k"), 50)
    game = next(candidate for candidate in games if candidate.result)
    await post.hook(["game-ended"])
    await post.tell(ended(game.id, "B+1.0", "score"))
    assert [message["game"]["id"] for message in post.net.messages] == [game.id]


async def test_three_losses_on_time_in_a_row(post: Post) -> None:
    await post.hook(["time-losses"])
    lost, won = ("W+Time", "time"), ("B+Time", "time")
    endings = [lost, lost, won, lost, ("Void", "void"), lost, lost, ("W+Resign", "resignation"), lost, lost]
    for game, (result, reason) in enumerate(endings, 500):
        await post.tell(msgspec.structs.replace(STARTED, game=game), ended(game, result, reason))
    assert [(message["game"]["id"], message["in_a_row"]) for message in post.net.messages] == [(506, 3)]


def test_a_loss_on_time_counts_for_the_loser_alone() -> None:
    events = []
    happenings = Happenings()
    for game in range(3):
        events += happenings.of(ended(game, "B+Time", "time"), ("winner", "loser"), 0)
    assert [(event.event, event.version) for event in events if event.event == "time-losses"] == [
        ("time-losses", "loser")
    ]


async def test_being_suspended_is_told_once(post: Post) -> None:
    await post.hook(["suspended"])
    at = post.house.clock.ms
    await post.tell(STARTED, ended(500, "W+Time", "time"))
    assert post.net.messages == []
    await post.house.store.commit([SuspensionNow(1, 1, 3, 1, "lost on time", at)])
    for game in (501, 502):
        await post.tell(msgspec.structs.replace(STARTED, game=game), ended(game, "W+Time", "time"))
    (message,) = post.net.messages
    assert (message["event"], message["version"], message["reason"]) == ("suspended", "Sakura-5k", "lost on time")


async def test_what_fails_is_tried_again_and_then_dropped(post: Post) -> None:
    made = await post.hook(["signed-in", "signed-out"])
    post.net.statuses = [500, Invalid(Code.NOT_REACHED, "It cannot be reached."), 404, 302, 503]
    await post.tell(BotArrived("9x9", "Sakura-5k"))
    assert post.pauses == list(PAUSES_S)
    assert sum(PAUSES_S) <= 3600
    assert len({message["id"] for message in post.net.messages}) == 1, "the same message"
    assert len(post.net.sent) == len(PAUSES_S) + 1
    outcome = post.webhooks.outcome(made.id)
    assert outcome is not None
    assert not outcome.delivered
    await post.tell(BotLeft("9x9", "Sakura-5k"), BotLeft("9x9", "Sakura-5k"))
    assert [message["dropped"] for message in post.net.messages[-2:]] == [1, 0], "told once"


async def test_a_webhook_that_always_fails_is_stopped(post: Post) -> None:
    made = await post.hook(["signed-in"])
    post.net.statuses = [500] * 1000
    for _ in range(GIVE_UP):
        await post.tell(BotArrived("9x9", "Sakura-5k"))
        if len(post.net.sent) >= GIVE_UP:
            break
    await post.settle()
    assert len(post.net.sent) == GIVE_UP
    (row,) = await post.house.history.people.webhooks(1)
    assert row.id == made.id
    assert row.stopped_at is not None
    assert "answered 500" in row.why
    await post.tell(BotArrived("9x9", "Sakura-5k"))
    assert len(post.net.sent) == GIVE_UP


async def test_a_queue_is_bounded_and_says_what_was_dropped(post: Post) -> None:
    await post.hook(["signed-in"])
    post.net.gate.clear()
    extra = 7
    for _ in range(LINE_MAX + extra + 1):
        post.webhooks.heard(BotArrived("9x9", "Sakura-5k"))
    await post.settle()
    post.net.gate.set()
    await post.settle(until=LINE_MAX + 1)
    dropped = [message["dropped"] for message in post.net.messages]
    assert len(dropped) in (LINE_MAX, LINE_MAX + 1)
    assert sum(dropped) + len(dropped) == LINE_MAX + extra + 1


async def test_a_webhook_that_was_removed_is_told_nothing_more(post: Post) -> None:
    made = await post.hook(["signed-in"])
    await post.tell(BotArrived("9x9", "Sakura-5k"))
    await post.house.admin.handle(WebhookGiveUp(webhook=made.id, why="removed"))
    post.house.clock.ms += 10_000
    await post.tell(BotArrived("9x9", "Sakura-5k"))
    assert len(post.net.sent) == 1


async def test_a_test_is_sent_at_once_but_not_too_often(post: Post) -> None:
    await post.hook(["signed-in"])
    (row,) = await post.house.history.people.webhooks(1)
    assert "was delivered" in await post.webhooks.test(row)
    assert post.net.messages[0]["event"] == "test"
    with pytest.raises(Refused):
        await post.webhooks.test(row)
    post.house.clock.ms += TEST_PAUSE_MS
    post.net.statuses = [404]
    assert "was not delivered. It was answered 404" in await post.webhooks.test(row)


async def test_over_a_real_port_from_the_page(house: House) -> None:
    """With loopback permitted it arrives, without it nothing does; the page says which."""
    heard: list[bytes] = []
    async with listening(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", heard)) as port:
        for permitted in ((), ("127.0.0.0/8",)):
            name = f"owner{len(permitted)}"
            browser = await house.signed_in(name, webhooks_to=permitted)
            url = f"http://127.0.0.1:{port}/"
            answer = await browser.send("/account", "webhook add", url=url, events="game-ended")
            assert answer.status_code == (200 if permitted else 422)
            assert ("is in a private network" in sound(answer.text).text) == (not permitted)
            if permitted:
                (hook,) = await house.history.people.webhooks()
                assert hook.owner == name
                await browser.send("/account", "webhook test", webhook=str(hook.id))
                assert "It was answered 200" in sound((await browser.get("/account")).text).text
            assert len(heard) == len(permitted)
    assert "1024 on, not 25" in (
        await browser.send("/account", "webhook add", url="https://example.org:25/", events="game-ended")
    ).text  # fmt: skip


async def test_a_change_of_strength_is_told_once(post: Post) -> None:
    """To the owner alone, again where it is seen again with more games; nothing from before the webhook."""
    old = post.house.clock.ms - 1
    post.house.live.changes = [changed("Sakura-5k", at=old)]
    made = await post.hook(["strength-changed"])
    for _ in range(3):
        post.house.clock.ms += CHANGES_MS
        seen = post.house.clock.ms
        await post.tell(BotArrived("9x9", "amigo"))
    assert post.net.messages == []
    post.house.live.changes = [changed("Sakura-5k", "watch", at=seen), changed("amigo", at=seen)]
    for _ in range(3):
        post.house.clock.ms += CHANGES_MS
        await post.tell(BotArrived("9x9", "amigo"))
    (message,) = post.net.messages
    assert (message["event"], message["version"], message["venue"]) == ("strength-changed", "Sakura-5k", "9x9")
    assert message["at"] == seen
    assert msgspec.convert(message["change"], StrengthChange) == changed("Sakura-5k", "watch", at=seen)
    assert message["change"]["proposal"] == "Give Sakura-5k another name."
    later = post.house.clock.ms
    post.house.live.changes = [changed("Sakura-5k", at=later)]
    post.house.clock.ms += CHANGES_MS
    await post.tell(BotArrived("9x9", "amigo"))
    assert [each["change"]["state"] for each in post.net.messages] == ["watch", "flagged"]
    assert made.id == message["webhook"]
