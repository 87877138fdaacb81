"""Tells owners of bots by HTTP what their bots do: from facts to signed messages, with another try where one fails.

At least once: what happened to games while no web process ran, or was not delivered when it ended, is looked up in the
database and told when it begins. Signing in and out is not: it says nothing any more. Every queue is bounded: the
oldest message is dropped, and the next one says how many were. Must not know: how HTTP is spoken, who may have a
webhook, how the outcomes are kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import secrets
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import structlog

from cgos_protocol.api.games import Game
from cgos_protocol.errors import CgosError, Code, Invalid, Refused, StoreError
from cgos_protocol.facts import AnyFact, BotArrived, BotLeft, EventMoved, GameEnded, GameStarted, QuestionMoved
from cgos_protocol.ids import GameId
from cgos_server import __version__
from cgos_server.observability.web_metrics import WebhookOutcome
from cgos_server.service.commands.webhooks import WebhookGiveUp
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.people_answers import BotOwnerRow, WebhookRow
from cgos_server.web.people import event_happenings
from cgos_server.web.people.deliveries import RECENT, Kept, Outcome
from cgos_server.web.people.happenings import Happening, Happenings
from cgos_server.web.people.outside import Outside
from cgos_server.web.questions import happenings as question_happenings
from cgos_server.web.questions.happenings import QUESTION
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

SAVE_S: Final = 2.0
"""Between two looks at what is to be kept."""

CATCH_UP_MS: Final = 86_400_000
"""What happened longer ago is not made up for."""

SLACK_MS: Final = 60_000
"""What happened so long before the last note is looked at again: it may have been on its way."""

AGAIN_MS: Final = 10_000
"""Between two looks at what was missed."""

GAMES_BACK: Final = 200
"""Of one bot, how many of its latest games are looked at."""

BOTS_BACK: Final = 1_000
"""Bots that are looked at when making up for what was missed."""

CHANGES_MS: Final = 60_000
"""Between two looks at which versions seem to have changed."""

_FOUND: Final = ("suspended", "strength-changed")
"""What no fact says."""

STORED: Final = ("game-started", "game-ended", *event_happenings.EVENTS, QUESTION, "time-losses", *_FOUND)
"""What the database knows later."""

_QUIET = ("score", "resignation")

log = structlog.get_logger(__name__)


class Message(NamedTuple):
    """What is to be sent. `body` without what only the moment of sending knows."""

    id: str
    event: str
    body: dict[str, Any]


class _Line:
    """What waits for one webhook."""

    def __init__(self, hook: WebhookRow, kept: Kept) -> None:
        self.hook = hook
        self.waiting: deque[Message] = deque()
        self.current: Message | None = None
        self.dropped = kept.dropped
        self.failed_in_a_row = kept.in_a_row
        self.busy = False
        self.done = deque(kept.recent, RECENT)
        self._known = deque(kept.recent, RECENT + 2 * LINE_MAX)

    def put(self, message: Message) -> int:
        """It is the next one, unless it was already. How many had to go for it, 0 or 1."""
        if message.id in self._known:
            return 0
        self._known.append(message.id)
        full = len(self.waiting) >= LINE_MAX
        if full:
            self.done.append(self.waiting.popleft().id)
            self.dropped += 1
        self.waiting.append(message)
        return int(full)

    @property
    def owed_from(self) -> int | None:
        """When the oldest happening was that is not told yet and can be looked up later."""
        open_ = [*self.waiting, *([] if self.current is None else [self.current])]
        return min((message.body["at"] for message in open_ if message.event in STORED), default=None)


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
        self._outside = outside or site.outside
        self._pause = pause
        self._facts: deque[AnyFact] = deque(maxlen=FACTS_MAX)
        self._come = asyncio.Event()
        self._happenings = Happenings()
        self._lines: dict[int, _Line] = {}
        self._owners: dict[str, BotOwnerRow | None] = {}
        self._read_at = -FRESH_MS
        self._ended: OrderedDict[int, None] = OrderedDict()
        self._sending = False
        self._missed_from: int | None = None
        self._caught_up_at = -AGAIN_MS
        self._telling = False
        self._saved_at = site.now_ms()
        self._tested: dict[int, int] = {}
        self._suspended_at: dict[tuple[str, str], int] = {}
        self._changes_at = -CHANGES_MS
        self._changes_told: set[tuple[str, str, int]] = set()
        self._since = 0
        self._suffix = ""
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._outcomes = site.metrics.webhooks
        site.metrics.sends_webhooks = lambda: self._sending
        site.metrics.webhook_queue = lambda: sum(len(line.waiting) for line in self._lines.values())

    def heard(self, fact: AnyFact | None) -> None:
        """The next fact; None where some were lost on the way."""
        if not self._sending:
            return  # whoever sends looks up what was before its turn
        if isinstance(fact, EventMoved) and not event_happenings.may_tell(fact):
            return
        if isinstance(fact, QuestionMoved) and not question_happenings.may_tell(fact):
            return
        if isinstance(fact, (GameStarted, GameEnded, BotArrived, BotLeft, EventMoved, QuestionMoved)):
            if len(self._facts) == FACTS_MAX:
                self._miss()
            self._facts.append(fact)
            self._come.set()
        elif fact is None:
            self._miss()
            self._come.set()

    def outcome(self, webhook: int) -> Outcome | None:
        """What became of its latest message."""
        return self._site.deliveries.of(webhook).latest

    async def run(self) -> None:
        """Send until cancelled, whenever it is this process's turn."""
        while True:
            async with self._site.deliveries.turn():
                try:
                    await self._send()
                except* StoreError as errors:
                    # What it was doing may be done again, by whoever sends now.
                    log.warning("another process may send webhooks from now on", error=str(errors.exceptions[0]))

    async def _send(self) -> None:
        """Until cancelled, or StoreErrors say that it is another process's turn."""
        deliveries = self._site.deliveries
        self._lines.clear()
        self._facts.clear()
        self._read_at = -FRESH_MS
        self._missed_from = deliveries.until
        self._since = deliveries.until - SLACK_MS
        self._sending = True
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._keep_saving())
                self._come.set()
                while True:
                    await self._come.wait()
                    self._come.clear()
                    await self._all_that_came(group)
        finally:
            self._sending = False
            self._look_at_lines()
            with contextlib.suppress(StoreError):  # then it was said, or whoever sends next looks it up
                await deliveries.save()

    async def _all_that_came(self, group: asyncio.TaskGroup) -> None:
        self._telling = True
        facts = list(self._facts)
        self._facts.clear()
        try:
            await self._make_up(group)
            await self._tell(facts, group)
            await self._tell_changes(group)
        except CgosError as error:
            if facts or self._missed_from is None:  # it tries again and again
                log.warning("webhooks could not be told", error=str(error), facts=len(facts))
            self._miss()
        finally:
            self._telling = False
        self._take_note()

    async def _make_up(self, group: asyncio.TaskGroup) -> None:
        """Look up what was missed, but not all the time: that would make whoever falls behind slower still."""
        now = self._site.now_ms()
        if self._missed_from is None or 0 <= now - self._caught_up_at < AGAIN_MS:
            return
        try:
            await self._catch_up(self._missed_from, group)
        except CgosError:
            raise
        except Exception as error:  # or the pages would not come up, and not at the next attempt either
            log.error("our fault in making up for what webhooks missed", exc_info=error)
        self._missed_from, self._caught_up_at = None, now

    def _miss(self) -> None:
        """Something is lost: what happened since the last note is to be looked up."""
        if self._missed_from is None:
            self._missed_from = self._site.deliveries.until

    def _take_note(self) -> None:
        """All that happened until now is told, or stands in a line."""
        if not self._telling and not self._facts and self._missed_from is None:
            self._site.deliveries.until = max(self._site.deliveries.until, self._site.now_ms())

    async def _keep_saving(self) -> None:
        """What became of messages, now and then."""
        deliveries = self._site.deliveries
        before = deliveries.figures()
        while True:
            await asyncio.sleep(SAVE_S)
            if self._missed_from is not None:
                self._come.set()  # the database may answer again
            if self._changes_due():
                self._come.set()
            self._take_note()
            self._look_at_lines()
            now, figures = self._site.now_ms(), deliveries.figures()
            if figures != before or not 0 <= now - self._saved_at < deliveries.note_ms:
                await deliveries.save()
                before, self._saved_at = figures, now

    def _look_at_lines(self) -> None:
        """What each webhook has not been told yet."""
        deliveries = self._site.deliveries
        for number, line in self._lines.items():
            was = deliveries.of(number)
            now = msgspec.structs.replace(was, owed_from=line.owed_from, dropped=line.dropped, recent=tuple(line.done))
            if now != was:
                deliveries.keep(number, now)

    async def test(self, hook: WebhookRow) -> str:
        """Send a message now, once, and say what became of it. Raises Refused where that was done a moment ago."""
        now = self._site.now_ms()
        if now - self._tested.get(hook.id, now - TEST_PAUSE_MS) < TEST_PAUSE_MS:
            raise Invalid(Code.TOO_SOON, "A test was sent a moment ago. Wait five seconds.", TEST_PAUSE_MS / 1000)
        if len(self._tested) > FACTS_MAX:
            self._tested.clear()
        self._tested[hook.id] = now
        message = self._message(hook, Happening(event="test", version="", venue="", at=now, more={}), hook.bot)
        outcome = await self._try(hook, message, 0, 1)
        self._site.deliveries.note(hook.id, outcome)
        if outcome.delivered:
            return f"The test was delivered: {outcome.sentence}"
        return f"The test was not delivered. {outcome.sentence}"

    # -- from facts to messages

    async def _tell(self, facts: Sequence[AnyFact], group: asyncio.TaskGroup) -> None:
        if not facts:
            return
        await self._refresh()
        happenings: list[Happening] = []
        for fact in facts:
            players = None
            if isinstance(fact, EventMoved | QuestionMoved):
                happenings += await self._of(fact)
                continue
            if isinstance(fact, GameEnded):
                if fact.game in self._ended:
                    continue  # it was looked up
                players = self._happenings.players(fact.game)
                if players is None and self._lines:
                    row = (await self._site.history.games.detail(fact.game)).game
                    players = (row.black, row.white)
            happenings += self._happenings.of(fact, players, self._site.now_ms())
        await self._tell_owners(happenings, group)

    async def _of(self, fact: EventMoved | QuestionMoved) -> list[Happening]:
        if isinstance(fact, QuestionMoved):
            return await question_happenings.of_fact(self._site, fact) if self._wants(QUESTION) else []
        if not self._wants(*event_happenings.EVENTS):
            return []
        return event_happenings.of_entry(await self._site.events.named(fact.event), fact.seq)

    async def _missed_questions(self, first: int) -> list[Happening]:
        """Which questions have ended, or were stopped, from this time on (Unix ms)."""
        owners = {line.hook.owner_id for line in self._lines.values() if QUESTION in line.hook.events}
        return await question_happenings.since(self._site, sorted(owners), first)

    def _wants(self, *events: str) -> bool:
        return any(set(line.hook.events) & set(events) for line in self._lines.values())

    async def _missed_events(self, bots: Iterable[str], first: int) -> list[Happening]:
        """What happened from this time on (Unix ms) in events of these bots."""
        if not self._wants(*event_happenings.EVENTS):
            return []
        rows = {row.id: row for bot in bots for row in await self._site.history.events.of_bot_named(bot)}
        records = await self._site.events.all_of(rows.values())
        return [each for record in records for each in event_happenings.since(record, first)]

    async def _tell_owners(
        self, happenings: list[Happening], group: asyncio.TaskGroup, since: Mapping[int, int] | None = None
    ) -> None:
        """Put it in the lines of whoever wants to know.

        :param since: webhook -> it is told nothing that happened before (Unix milliseconds)
        """
        if not self._lines or not happenings:
            return
        await self._learn_owners(happening.version for happening in happenings)
        happenings += await self._suspended(happenings)
        for happening in happenings:
            owner = self._owners.get(happening.version)
            if owner is not None:
                self._queue(happening, owner, group, since or {})

    def _changes_due(self) -> bool:
        return not 0 <= self._site.now_ms() - self._changes_at < CHANGES_MS

    async def _tell_changes(self, group: asyncio.TaskGroup) -> None:
        """Versions that seem to have changed their strength: the server that plays finds that out now and then, and
        again after each of its starts, so that the database need not keep it."""
        if not self._changes_due():
            return
        self._changes_at = now = self._site.now_ms()
        changes = {
            (change.version, change.venue, change.noticed_at): change
            for change in await self._site.strength_changes.all()
        }
        happenings = [
            Happening(
                event="strength-changed",
                version=change.version,
                venue=change.venue,
                at=change.noticed_at,
                more={"change": msgspec.to_builtins(change)},
            )
            for key, change in changes.items()
            if key not in self._changes_told and change.noticed_at >= now - CATCH_UP_MS
        ]
        if happenings:
            await self._refresh()
            await self._tell_owners(happenings, group)
        self._changes_told = set(changes)

    async def _catch_up(self, until: int, group: asyncio.TaskGroup) -> None:
        """Tell what happened to games since `until` (Unix milliseconds), or was not told before."""
        await self._refresh()
        now, lines = self._site.now_ms(), self._lines.values()
        earliest = now - CATCH_UP_MS
        since = {}
        for line in lines:
            owed = self._site.deliveries.of(line.hook.id).owed_from
            start = (until if owed is None else min(owed, until)) - SLACK_MS
            since[line.hook.id] = max(start, earliest, line.hook.created_at)
        games: dict[GameId, Game] = {}
        versions: set[str] = set()
        bots: set[str] = set()
        looked = 0
        for owner in sorted({line.hook.owner_id for line in lines if set(line.hook.events) & set(STORED)}):
            wanted = {line.hook.bot for line in lines if line.hook.owner_id == owner}
            for bot in await self._site.history.people.bots_of(owner):
                if (None in wanted or bot.name in wanted) and looked < BOTS_BACK:
                    looked += 1
                    versions.update(bot.versions)
                    bots.add(bot.name)
                    with contextlib.suppress(Refused):  # a bot that never came has no versions, and no games
                        rows = await self._site.history.games.find(GameFilter(bot=bot.name), GAMES_BACK)
                        games |= {row.id: row for row in rows}
        first = min(since.values(), default=now)
        self._since = min(self._since, max(first, earliest))
        happenings = [each for each in self._happenings.replay(games.values(), versions, now) if each.at >= first]
        happenings += [*await self._missed_events(bots, first), *await self._missed_questions(first)]
        happenings.sort(key=lambda each: each.at)
        for number, row in games.items():
            if row.ended_at is not None and row.ended_at >= first:
                self._end(number)
        if happenings:
            log.info("webhooks are told what happened meanwhile", happenings=len(happenings))
        await self._tell_owners(happenings, group, since)
        self._read_at = now - FRESH_MS  # a look at the past makes nobody wait who adds a webhook

    def _end(self, game: GameId) -> None:
        """The end of this game has been looked at."""
        self._ended[game] = None
        if len(self._ended) > FACTS_MAX:
            self._ended.popitem(last=False)

    def _queue(
        self, happening: Happening, owner: BotOwnerRow, group: asyncio.TaskGroup, since: Mapping[int, int]
    ) -> None:
        for line in self._lines.values():
            hook = line.hook
            concerned = hook.owner_id == owner.owner_id and hook.bot in (None, owner.bot)
            # No fact says when somebody was suspended, or has changed: what is found may be older than the webhook.
            start = since.get(hook.id, hook.created_at if happening.event in _FOUND else 0)
            if concerned and happening.event in hook.events and happening.at >= start:
                message = self._message(hook, happening, owner.bot)
                self._outcomes[WebhookOutcome.DROPPED] += line.put(message)
                if line.waiting and not line.busy:
                    line.busy = True
                    group.create_task(self._deliver(line))

    async def _suspended(self, happenings: Iterable[Happening]) -> list[Happening]:
        """Versions that get no more games since the last look: no fact says so, but it follows a spoilt game."""
        wanted = {line.hook.owner_id for line in self._lines.values() if "suspended" in line.hook.events}
        ended = [
            each for each in happenings if each.event == "game-ended" and each.more["game"]["reason"] not in _QUIET
        ]
        owners = {owner.owner_id for each in ended if (owner := self._owners.get(each.version)) is not None}
        suspended = []
        for owner_id in sorted(owners & wanted):
            for bot in await self._site.history.people.bots_of(owner_id):
                for row in bot.suspended:
                    key = (row.version, row.venue)
                    if row.at >= self._since and self._suspended_at.get(key) != row.at:
                        self._suspended_at[key] = row.at
                        await self._learn_owners([row.version])
                        more = {"reason": row.reason, "spoilt": row.spoilt}
                        suspended.append(
                            Happening(event="suspended", version=row.version, venue=row.venue, at=row.at, more=more)
                        )
        return suspended

    def _message(self, hook: WebhookRow, happening: Happening, bot: str | None) -> Message:
        if happening.event in STORED:  # the same one in every process, so that nobody need be told twice
            about = happening.more.get("game", {}).get("id", happening.at)
            if "tournament" in happening.more:
                about = f"{happening.more['tournament']['name']} {happening.more['tournament']['seq']}"
            if QUESTION in happening.more:
                about = f"{happening.more[QUESTION]['id']} {happening.at}"
            words = f"{happening.event} {happening.version} {happening.venue} {about}{self._suffix}"
            number = hashlib.sha256(words.encode()).hexdigest()[:16]
        else:
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
        hooks = {row.id: row for row in await self._site.history.people.webhooks(only_told=True)}
        self._suffix = (await self._site.history.server.incarnation()).suffix
        self._read_at = now
        self._owners.clear()
        for number in [number for number in self._lines if number not in hooks]:
            self._lines.pop(number).waiting.clear()
        for number, row in hooks.items():
            if number not in self._lines:
                self._lines[number] = _Line(row, self._site.deliveries.of(number))
            self._lines[number].hook = row

    async def _learn_owners(self, versions: Iterable[str]) -> None:
        unknown = {version for version in versions if version and version not in self._owners}
        if unknown:
            owners = await self._site.history.people.owners_of(unknown)
            self._owners |= {version: owners.get(version) for version in unknown}

    # -- from messages to answers

    async def _deliver(self, line: _Line) -> None:
        """Send what waits for one webhook, in its order, until nothing does."""
        try:
            while line.waiting:
                line.current = line.waiting.popleft()
                if not await self._persist(line, line.current):
                    line.dropped += 1
                    self._outcomes[WebhookOutcome.GIVEN_UP] += 1
                line.done.append(line.current.id)
                line.current = None
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
            self._site.deliveries.note(line.hook.id, outcome)
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
            delivered, sentence = False, refusal.sentence
        else:
            delivered = 200 <= answer.status < 300
            why = " Redirects are not followed." if 300 <= answer.status < 400 else ""
            sentence = f"It was answered {answer.status}.{why}"
        self._outcomes[WebhookOutcome.DELIVERED if delivered else WebhookOutcome.FAILED] += 1
        return Outcome(at=now, event=message.event, delivered=delivered, sentence=sentence, tries=tries)

    async def _give_up(self, line: _Line, outcome: Outcome) -> None:
        why = f"{GIVE_UP} tries in a row failed. The last one: {outcome.sentence}"
        self._outcomes[WebhookOutcome.GIVEN_UP] += len(line.waiting)
        line.waiting.clear()
        self._lines.pop(line.hook.id, None)
        try:
            await self._site.ask(WebhookGiveUp(webhook=line.hook.id, why=why))
        except CgosError as error:
            # It begins anew at the next look, and is given up again.
            log.warning("a webhook could not be stopped", webhook=line.hook.id, error=str(error))
