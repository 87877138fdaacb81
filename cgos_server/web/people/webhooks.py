"""Tells owners of bots by HTTP what their bots do: from facts to signed messages, with another try where one fails.

At least once within the life of the web process; what happens while it is away is told to nobody. Every queue is
bounded: the oldest message is dropped, and the next one says how many were. Must not know: how HTTP is spoken, who may
have a webhook.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import structlog

from cgos_server import __version__
from cgos_server.core.facts import AnyFact, BotArrived, BotLeft, GameEnded, GameStarted
from cgos_server.errors import CgosError, Refused
from cgos_server.service.requests import WebhookGiveUp
from cgos_server.storage.people_answers import BotOwnerRow, WebhookRow
from cgos_server.web.people.happenings import Happening, Happenings
from cgos_server.web.people.outside import Outside
from cgos_server.web.settings import networks
from cgos_server.web.site import Site

FACTS_MAX: Final = 10_000
"""Facts that wait; beyond, the oldest is dropped."""

LINE_MAX: Final = 100
"""Messages that wait for one webhook; beyond, the oldest is dropped."""

PAUSES_S: Final = (15.0, 120.0, 720.0, 2400.0)
"""Before another try: five tries of a message within an hour."""

GIVE_UP: Final = 20
"""Tries in a row that failed after which a webhook is stopped."""

AT_ONCE: Final = 20
"""Messages under way, for all webhooks together."""

FRESH_MS: Final = 5000
"""How long the list of webhooks, and who owns what, is believed."""

TEST_PAUSE_MS: Final = 5000
_QUIET = ("score", "resignation")

log = structlog.get_logger(__name__)


class Outcome(NamedTuple):
    """What became of a webhook's latest message. `at` in Unix milliseconds."""

    at: int
    event: str
    delivered: bool
    sentence: str
    tries: int


class Message(NamedTuple):
    """What is to be sent. `body` without what only the moment of sending knows."""

    id: str
    event: str
    body: dict[str, Any]


class _Line:
    """What waits for one webhook."""

    def __init__(self, hook: WebhookRow) -> None:
        self.hook = hook
        self.waiting: deque[Message] = deque()
        self.dropped = 0
        self.failed_in_a_row = 0
        self.busy = False

    def put(self, message: Message) -> None:
        if len(self.waiting) >= LINE_MAX:
            self.waiting.popleft()
            self.dropped += 1
        self.waiting.append(message)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """The hexadecimal HMAC-SHA256 of ``<timestamp>.<body>`` under the webhook's secret."""
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


class Webhooks:
    """All webhooks of a server. `heard` takes facts and never waits; `run` sends until it is cancelled.

    :param pause: waits so many seconds
    """

    def __init__(
        self,
        site: Site,
        outside: Outside | None = None,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._site = site
        self._outside = outside or Outside(networks(site.settings.webhooks_to))
        self._pause = pause
        self._facts: deque[AnyFact] = deque(maxlen=FACTS_MAX)
        self._come = asyncio.Event()
        self._happenings = Happenings()
        self._lines: dict[int, _Line] = {}
        self._owners: dict[str, BotOwnerRow | None] = {}
        self._read_at = -FRESH_MS
        self._outcomes: OrderedDict[int, Outcome] = OrderedDict()
        self._tested: dict[int, int] = {}
        self._aside: dict[tuple[str, str], int] = {}
        self._since = site.now_ms()
        self._slots = asyncio.Semaphore(AT_ONCE)

    def heard(self, fact: AnyFact | None) -> None:
        """The next fact; None where some were lost on the way."""
        if isinstance(fact, (GameStarted, GameEnded, BotArrived, BotLeft)):
            self._facts.append(fact)
            self._come.set()

    def outcome(self, webhook: int) -> Outcome | None:
        """What became of its latest message, as far as this process knows."""
        return self._outcomes.get(webhook)

    async def run(self) -> None:
        """Send until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                await self._come.wait()
                self._come.clear()
                facts = list(self._facts)
                self._facts.clear()
                try:
                    await self._tell(facts, group)
                except CgosError as error:
                    log.warning("webhooks could not be told", error=str(error), facts=len(facts))

    async def test(self, hook: WebhookRow) -> str:
        """Send a message now, once, and say what became of it. Raises Refused where that was done a moment ago."""
        now = self._site.now_ms()
        if now - self._tested.get(hook.id, now - TEST_PAUSE_MS) < TEST_PAUSE_MS:
            raise Refused("too-soon", "A test was sent a moment ago. Wait five seconds.", TEST_PAUSE_MS / 1000)
        if len(self._tested) > FACTS_MAX:
            self._tested.clear()
        self._tested[hook.id] = now
        message = self._message(hook, Happening("test", "", "", now, {}), hook.bot)
        outcome = await self._try(hook, message, 0, 1)
        self._note(hook.id, outcome)
        return f"The test was delivered: {outcome.sentence}" if outcome.delivered else (
            f"The test was not delivered. {outcome.sentence}"
        )  # fmt: skip

    # -- from facts to messages

    async def _tell(self, facts: Sequence[AnyFact], group: asyncio.TaskGroup) -> None:
        await self._refresh()
        happenings: list[Happening] = []
        for fact in facts:
            players = None
            if isinstance(fact, GameEnded):
                players = self._happenings.players(fact.game)
                if players is None and self._lines:
                    row = (await self._site.history.game(fact.game)).game
                    players = (row.black, row.white)
            happenings += self._happenings.of(fact, players, self._site.now_ms())
        if not self._lines:
            return
        await self._learn_owners(happening.version for happening in happenings)
        happenings += await self._set_aside(happenings)
        for happening in happenings:
            owner = self._owners.get(happening.version)
            if owner is not None:
                self._queue(happening, owner, group)

    def _queue(self, happening: Happening, owner: BotOwnerRow, group: asyncio.TaskGroup) -> None:
        for line in self._lines.values():
            hook = line.hook
            if hook.owner_id == owner.owner_id and hook.bot in (None, owner.bot) and (happening.event in hook.events):
                line.put(self._message(hook, happening, owner.bot))
                if not line.busy:
                    line.busy = True
                    group.create_task(self._deliver(line))

    async def _set_aside(self, happenings: Iterable[Happening]) -> list[Happening]:
        """Versions that get no more games since the last look: no fact says so, but it follows a spoilt game."""
        wanted = {line.hook.owner_id for line in self._lines.values() if "set-aside" in line.hook.events}
        ended = [
            each for each in happenings if each.event == "game-ended" and each.more["game"]["reason"] not in _QUIET
        ]
        owners = {owner.owner_id for each in ended if (owner := self._owners.get(each.version)) is not None}
        found = []
        for owner_id in sorted(owners & wanted):
            for bot in await self._site.history.bots_of(owner_id):
                for row in bot.set_aside:
                    key = (row.version, row.venue)
                    if row.at >= self._since and self._aside.get(key) != row.at:
                        self._aside[key] = row.at
                        await self._learn_owners([row.version])
                        more = {"reason": row.reason, "spoilt": row.spoilt}
                        found.append(Happening("set-aside", row.version, row.venue, row.at, more))
        return found

    def _message(self, hook: WebhookRow, happening: Happening, bot: str | None) -> Message:
        number = secrets.token_hex(8)
        body = {
            "id": f"{hook.id}-{number}",
            "webhook": hook.id,
            "event": happening.event,
            "at": happening.at,
            "bot": bot,
            "version": happening.version or None,
            "venue": happening.venue or None,
            **happening.more,
        }
        return Message(body["id"], happening.event, body)

    async def _refresh(self) -> None:
        """Read which webhooks there are, unless that was done a moment ago."""
        now = self._site.now_ms()
        if now - self._read_at < FRESH_MS:
            return
        hooks = {row.id: row for row in await self._site.history.webhooks(only_told=True)}
        self._read_at = now
        self._owners.clear()
        for number in [number for number in self._lines if number not in hooks]:
            self._lines.pop(number).waiting.clear()
        for number, row in hooks.items():
            self._lines.setdefault(number, _Line(row)).hook = row

    async def _learn_owners(self, versions: Iterable[str]) -> None:
        unknown = {version for version in versions if version and version not in self._owners}
        if unknown:
            found = await self._site.history.owners_of(unknown)
            self._owners |= {version: found.get(version) for version in unknown}

    # -- from messages to answers

    async def _deliver(self, line: _Line) -> None:
        """Send what waits for one webhook, in its order, until nothing does."""
        try:
            while line.waiting:
                message = line.waiting.popleft()
                if not await self._persist(line, message):
                    line.dropped += 1
        finally:
            line.busy = False

    async def _persist(self, line: _Line, message: Message) -> bool:
        """Try until it arrives, at most as often as :data:`PAUSES_S` allows. Whether it did."""
        for attempt in range(len(PAUSES_S) + 1):
            if attempt:
                await self._pause(PAUSES_S[attempt - 1])
            if not await self._still_there(line):
                return False
            dropped = line.dropped
            async with self._slots:
                outcome = await self._try(line.hook, message, dropped, attempt + 1)
            self._note(line.hook.id, outcome)
            if outcome.delivered:
                line.failed_in_a_row = 0
                line.dropped -= dropped
                return True
            line.failed_in_a_row += 1
            if line.failed_in_a_row >= GIVE_UP:
                await self._give_up(line, outcome)
                return False
        return False

    async def _still_there(self, line: _Line) -> bool:
        try:
            await self._refresh()
        except CgosError:
            return True  # what was known a moment ago is good enough
        return self._lines.get(line.hook.id) is line

    async def _try(self, hook: WebhookRow, message: Message, dropped: int, tries: int) -> Outcome:
        body = msgspec.json.encode(message.body | {"dropped": dropped})
        now = self._site.now_ms()
        timestamp = str(now // 1000)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"cgos-server/{__version__}",
            "Cgos-Event": message.event,
            "Cgos-Delivery": message.id,
            "Cgos-Timestamp": timestamp,
            "Cgos-Signature": f"sha256={signature(hook.secret, timestamp, body)}",
        }
        try:
            answer = await self._outside.post(hook.url, headers, body)
        except Refused as refusal:
            return Outcome(now, message.event, False, refusal.sentence, tries)
        if 200 <= answer.status < 300:
            return Outcome(now, message.event, True, f"It was answered {answer.status}.", tries)
        why = " Redirects are not followed." if 300 <= answer.status < 400 else ""
        return Outcome(now, message.event, False, f"It was answered {answer.status}.{why}", tries)

    def _note(self, webhook: int, outcome: Outcome) -> None:
        self._outcomes[webhook] = outcome
        self._outcomes.move_to_end(webhook)
        if len(self._outcomes) > FACTS_MAX:
            self._outcomes.popitem(last=False)

    async def _give_up(self, line: _Line, outcome: Outcome) -> None:
        why = f"{GIVE_UP} tries in a row failed. The last one: {outcome.sentence}"
        line.waiting.clear()
        self._lines.pop(line.hook.id, None)
        try:
            await self._site.ask(WebhookGiveUp(webhook=line.hook.id, why=why))
        except CgosError as error:
            # It begins anew at the next look, and is given up again.
            log.warning("a webhook could not be stopped", webhook=line.hook.id, error=str(error))
