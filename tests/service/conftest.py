"""A store in memory that applies the records of people, bots, tokens and ledgers, and services with cheap passwords."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from argon2 import PasswordHasher

from cgos_protocol.hours import read
from cgos_protocol.session import Limits
from cgos_server.core.rating.base import Entry, Kind
from cgos_server.service.accounts import Accounts
from cgos_server.service.ids import Ids
from cgos_server.service.passwords import Passwords
from cgos_server.storage import records as r
from cgos_server.storage.store import (
    Access,
    BotLogin,
    BotOwned,
    NextIds,
    Owner,
    Person,
    StoredSetback,
    StoredVenue,
    StoredVersion,
    StoredWebhook,
    Token,
)

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class MemoryStore:
    """As much of a store as the services use. Every question waits a turn of the loop, as a real one does."""

    def __init__(self) -> None:
        self.groups: list[list[Any]] = []
        self.bots: dict[str, BotLogin] = {}
        self.owners: dict[str, Owner] = {}
        self.versions: list[tuple[int, StoredVersion]] = []
        self.token_rows: dict[int, tuple[int, str, Token]] = {}
        self.leaders: dict[int, int | None] = {}
        self.entries: list[Entry] = []
        self.access_rows: dict[int, tuple[r.AccessAdded, int | None]] = {}
        self.webhook_rows: dict[int, tuple[r.WebhookAdded, str | None]] = {}
        self.setback_rows: dict[tuple[int, int], StoredSetback] = {}

    def of(self, kind: type) -> list[Any]:
        return [record for group in self.groups for record in group if type(record) is kind]

    async def venues(self) -> list[StoredVenue]:
        await asyncio.sleep(0)
        return [StoredVenue(1, "9x9", "{}")]

    async def commit(self, group: Sequence[r.Record]) -> None:
        for record in group:
            self._apply(record)
        self.groups.append(list(group))
        await asyncio.sleep(0)

    def _apply(self, record: Any) -> None:
        match record:
            case r.BotAdded():
                assert record.name not in self.bots
                self.bots[record.name] = BotLogin(
                    record.id, 0, record.name, record.password, record.state, "", frozenset()
                )
            case r.VersionAdded():
                if not record.label:
                    self._bot(record.bot_id, version_id=record.id)
                assert record.wire_key not in {version.wire_name.lower() for _, version in self.versions}
                self.versions.append(
                    (
                        record.bot_id,
                        StoredVersion(
                            record.id, record.wire_name, record.label, record.engine, record.parameters, record.author
                        ),
                    )
                )
            case r.VersionDescribed():
                (at,) = (at for at, (_, version) in enumerate(self.versions) if version.id == record.id)
                bot, version = self.versions[at]
                self.versions[at] = (
                    bot,
                    version._replace(engine=record.engine, parameters=record.parameters, author=record.author),
                )
            case r.BotPassword():
                self._bot(record.id, password=record.password)
            case r.BotState():
                self._bot(record.id, state=record.state, reason=record.reason, until=record.until)
            case r.BotOwner():
                self._bot(record.id, owner=record.owner_id)
            case r.BotWishes():
                stored = json.loads(record.limits or "{}")
                limits = Limits(
                    stored.get("games_a_day"), frozenset(stored.get("avoid", ())), read(stored.get("hours", ""))
                )
                self._bot(record.id, paused=bool(record.paused), limits=limits)
            case r.AccessAdded():
                assert all(row.digest != record.digest for row, _ in self.access_rows.values())
                self.access_rows[record.id] = (record, None)
            case r.AccessRevoked():
                self.access_rows[record.id] = (self.access_rows[record.id][0], record.revoked_at)
            case r.AccessForgotten():
                del self.access_rows[record.id]
            case r.WebhookAdded():
                self.webhook_rows[record.id] = (record, None)
            case r.WebhookStopped():
                self.webhook_rows[record.id] = (self.webhook_rows[record.id][0], record.why)
            case r.TokenAdded():
                token = Token(record.id, record.label, record.created_at, None)
                self.token_rows[record.id] = (record.bot_id, record.digest, token)
            case r.TokenRevoked():
                bot, digest, token = self.token_rows[record.id]
                self.token_rows[record.id] = (bot, digest, token._replace(revoked_at=record.revoked_at))
            case r.OwnerAdded():
                assert record.name not in self.owners
                self.owners[record.name] = Owner(record.id, record.name, record.password, bool(record.admin), "active")
            case r.OwnerChanged():
                (owner,) = (owner for owner in self.owners.values() if owner.id == record.id)
                self.owners[owner.name] = Owner(owner.id, owner.name, record.password, bool(record.admin), record.state)
            case r.SetbackNow():
                self.setback_rows[record.venue_id, record.version_id] = StoredSetback(
                    record.version_id, record.spoilt, bool(record.set_aside), record.reason, record.at
                )
            case r.BotFamily():
                self.leaders[record.id] = record.family_id
            case r.LedgerAdded():
                self.entries.append(
                    Entry(record.seq, Kind(record.kind), record.version_id, record.black_id, record.white_id,
                          record.score2, record.value, record.sd, record.other_id)
                )  # fmt: skip

    def _bot(self, number: int, **changes: Any) -> None:
        (bot,) = (bot for bot in self.bots.values() if bot.bot_id == number)
        self.bots[bot.name] = bot._replace(**changes)

    async def login(self, name: str) -> BotLogin | None:
        await asyncio.sleep(0)
        bot = self.bots.get(name)
        if bot is None:
            return None
        valid = frozenset(
            digest
            for owner, digest, token in self.token_rows.values()
            if owner == bot.bot_id and token.revoked_at is None
        )
        return bot._replace(tokens=valid)

    async def name_taken(self, name_key: str) -> str | None:
        await asyncio.sleep(0)
        versions = (version.wire_name for _, version in self.versions)
        return next((name for name in (*self.bots, *self.owners, *versions) if name.lower() == name_key), None)

    async def version(self, bot_id: int, label: str) -> StoredVersion | None:
        await asyncio.sleep(0)
        found = (version for bot, version in self.versions if bot == bot_id and version.label == label)
        return next(found, None)

    async def owner(self, name: str) -> Owner | None:
        await asyncio.sleep(0)
        return self.owners.get(name)

    async def bot_owner(self, name: str) -> BotOwned | None:
        await asyncio.sleep(0)
        bots = {bot.bot_id: bot for bot in self.bots.values()}
        found = [bots[bot] for bot, version in self.versions if version.wire_name == name]
        return BotOwned(found[0].bot_id, found[0].name, found[0].owner) if found else None

    async def person(self, digest: str, now_ms: int) -> Person | None:
        await asyncio.sleep(0)
        owners = {owner.id: owner for owner in self.owners.values()}
        for row, revoked in self.access_rows.values():
            owner = owners[row.owner_id]
            late = row.expires_at is not None and row.expires_at <= now_ms
            if row.digest == digest and revoked is None and not late and owner.state == "active":
                scopes = tuple(row.scopes.split())
                return Person(row.id, owner.id, owner.name, owner.admin, row.kind, scopes, row.expires_at)
        return None

    async def access(self, access_id: int) -> Access | None:
        await asyncio.sleep(0)
        row, revoked = self.access_rows.get(access_id, (None, None))
        return None if row is None or revoked is not None else Access(row.id, row.owner_id, row.kind, row.label)

    async def valid_access(self, owner_id: int, now_ms: int) -> list[Access]:
        await asyncio.sleep(0)
        return [
            Access(row.id, row.owner_id, row.kind, row.label)
            for row, revoked in self.access_rows.values()
            if row.owner_id == owner_id and revoked is None and (row.expires_at is None or row.expires_at > now_ms)
        ]

    async def old_access(self, owner_id: int, before_ms: int) -> list[int]:
        await asyncio.sleep(0)
        return [
            number
            for number, (row, revoked) in self.access_rows.items()
            if row.owner_id == owner_id
            and min(at for at in (revoked, row.expires_at, before_ms) if at is not None) < before_ms
        ]

    async def webhook(self, webhook_id: int) -> StoredWebhook | None:
        await asyncio.sleep(0)
        row, why = self.webhook_rows.get(webhook_id, (None, None))
        return None if row is None or why is not None else StoredWebhook(row.id, row.owner_id, row.bot_id, row.url)

    async def webhooks_of(self, owner_id: int) -> list[StoredWebhook]:
        await asyncio.sleep(0)
        return [
            StoredWebhook(row.id, row.owner_id, row.bot_id, row.url)
            for row, why in self.webhook_rows.values()
            if row.owner_id == owner_id and why is None
        ]

    async def tokens(self, bot_id: int) -> list[Token]:
        await asyncio.sleep(0)
        return [token for owner, _, token in self.token_rows.values() if owner == bot_id]

    async def version_names(self) -> dict[int, str]:
        await asyncio.sleep(0)
        return {version.id: version.wire_name for _, version in self.versions}

    async def bot_ids(self) -> dict[int, int]:
        await asyncio.sleep(0)
        return {version.id: bot for bot, version in self.versions}

    async def bot_names(self) -> list[tuple[int, str, int | None]]:
        await asyncio.sleep(0)
        return [(bot.bot_id, bot.name, self.leaders.get(bot.bot_id)) for bot in self.bots.values()]

    async def setbacks(self, venue_id: int) -> list[StoredSetback]:
        rows = [row for (venue, _), row in self.setback_rows.items() if venue == venue_id]
        return [row for row in rows if row.spoilt or row.set_aside]

    async def ledger(self, venue_id: int, after: int = 0, limit: int | None = None) -> list[Entry]:
        return [entry for entry in self.entries if entry.seq > after][:limit]

    async def digests(self, venue_id: int, after: int = 0, limit: int | None = None) -> list[Any]:
        return []

    async def published(self, venue_id: int) -> dict[str, int]:
        return {"cgos-elo": len(self.entries)}

    async def shown(self, venue_id: int, system: str) -> dict[int, Any]:
        return {}

    async def rating_state(self, venue_id: int, system: str) -> None:
        return None

    async def refits(self, venue_id: int, system: str, after: int = 0, limit: int | None = None) -> list[Any]:
        return []


class Clock:
    """Unix milliseconds that move when a test says so."""

    def __init__(self) -> None:
        self.ms = 1_700_000_000_000

    def __call__(self) -> int:
        return self.ms


@pytest.fixture
def store() -> Any:
    return MemoryStore()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def passwords() -> Iterator[Passwords]:
    with Passwords(100, hasher=CHEAP) as pool:
        yield pool


@pytest.fixture
def ids() -> Ids:
    return Ids(NextIds(1, 1, 1, 1, 1, 1, 1, 1, 1))


@pytest.fixture
def accounts(store: Any, ids: Ids, passwords: Passwords, clock: Clock) -> Accounts:
    return Accounts(store, ids, passwords, "open", clock)
