"""A store in memory that applies the records of people, bots, tokens and ledgers, and services with cheap passwords."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest
from argon2 import PasswordHasher
from support.storage.subjects import Subjects

from cgos_protocol.hours import read
from cgos_protocol.session import Limits
from cgos_server.core.rating.base import Entry, Kind
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.passwords import Passwords
from cgos_server.storage.reading.answers import TokenRow, VenueRow
from cgos_server.storage.reading.people_answers import WebhookRow
from cgos_server.storage.reading.stored import (
    Access,
    BotLogin,
    BotOwned,
    NextIds,
    Owner,
    Person,
    StoredSuspension,
    StoredVersion,
)
from cgos_server.storage.sharing import Alone
from cgos_server.storage.writing import records as r

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class MemoryStore:
    """As much of a store as the services use. Every question waits a turn of the loop, as a real one does."""

    def __init__(self) -> None:
        self.history: Any = Subjects(self)
        self.sharing = Alone()
        self.groups: list[list[Any]] = []
        self.bots: dict[str, BotLogin] = {}
        self.owners: dict[str, Owner] = {}
        self.versions: list[tuple[int, StoredVersion]] = []
        self.token_rows: dict[int, tuple[int, str, TokenRow]] = {}
        self.leaders: dict[int, int | None] = {}
        self.entries: list[Entry] = []
        self.access_rows: dict[int, tuple[r.AccessAdded, int | None]] = {}
        self.webhook_rows: dict[int, tuple[r.WebhookAdded, str | None]] = {}
        self.suspension_rows: dict[tuple[int, int], StoredSuspension] = {}

    def of(self, kind: type) -> list[Any]:
        return [record for group in self.groups for record in group if type(record) is kind]

    async def server_venues(self) -> list[VenueRow]:
        await asyncio.sleep(0)
        return [VenueRow(id=1, name="9x9", fixed={}, created_at=0)]

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
                    games_a_day=stored.get("games_a_day"),
                    avoid=frozenset(stored.get("avoid", ())),
                    accepts=frozenset(stored.get("accepts", ())),
                    hours=read(stored.get("hours", "")),
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
                token = TokenRow(id=record.id, label=record.label, created_at=record.created_at, revoked_at=None)
                self.token_rows[record.id] = (record.bot_id, record.digest, token)
            case r.TokenRevoked():
                bot, digest, token = self.token_rows[record.id]
                self.token_rows[record.id] = (bot, digest, msgspec.structs.replace(token, revoked_at=record.revoked_at))
            case r.OwnerAdded():
                assert record.name not in self.owners
                self.owners[record.name] = Owner(record.id, record.name, record.password, bool(record.admin), "active")
            case r.OwnerChanged():
                (owner,) = (owner for owner in self.owners.values() if owner.id == record.id)
                self.owners[owner.name] = Owner(owner.id, owner.name, record.password, bool(record.admin), record.state)
            case r.SuspensionNow():
                self.suspension_rows[record.venue_id, record.version_id] = StoredSuspension(
                    record.version_id, record.spoilt, bool(record.suspended), record.reason, record.at
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

    async def bots_login(self, name: str) -> BotLogin | None:
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

    async def bots_name_taken(self, name_key: str) -> str | None:
        await asyncio.sleep(0)
        versions = (version.wire_name for _, version in self.versions)
        return next((name for name in (*self.bots, *self.owners, *versions) if name.lower() == name_key), None)

    async def bots_labeled(self, bot_id: int, label: str) -> StoredVersion | None:
        await asyncio.sleep(0)
        versions = (version for bot, version in self.versions if bot == bot_id and version.label == label)
        return next(versions, None)

    async def people_owner(self, name: str) -> Owner | None:
        await asyncio.sleep(0)
        return self.owners.get(name)

    async def people_bot_owner(self, name: str) -> BotOwned | None:
        await asyncio.sleep(0)
        bots = {bot.bot_id: bot for bot in self.bots.values()}
        owned = [bots[bot] for bot, version in self.versions if version.wire_name == name]
        return BotOwned(owned[0].bot_id, owned[0].name, owned[0].owner) if owned else None

    async def people_person(self, digest: str, now_ms: int) -> Person | None:
        await asyncio.sleep(0)
        owners = {owner.id: owner for owner in self.owners.values()}
        for row, revoked in self.access_rows.values():
            owner = owners[row.owner_id]
            late = row.expires_at is not None and row.expires_at <= now_ms
            if row.digest == digest and revoked is None and not late and owner.state == "active":
                scopes = tuple(row.scopes.split())
                return Person(
                    access_id=row.id,
                    owner_id=owner.id,
                    name=owner.name,
                    admin=owner.admin,
                    kind=row.kind,
                    scopes=scopes,
                    expires_at=row.expires_at,
                )
        return None

    async def people_access(self, access_id: int) -> Access | None:
        await asyncio.sleep(0)
        row, revoked = self.access_rows.get(access_id, (None, None))
        return None if row is None or revoked is not None else Access(row.id, row.owner_id, row.kind, row.label)

    async def people_valid_access(self, owner_id: int, now_ms: int) -> list[Access]:
        await asyncio.sleep(0)
        return [
            Access(row.id, row.owner_id, row.kind, row.label)
            for row, revoked in self.access_rows.values()
            if row.owner_id == owner_id and revoked is None and (row.expires_at is None or row.expires_at > now_ms)
        ]

    async def people_old_access(self, owner_id: int, before_ms: int) -> list[int]:
        await asyncio.sleep(0)
        return [
            number
            for number, (row, revoked) in self.access_rows.items()
            if row.owner_id == owner_id
            and min(at for at in (revoked, row.expires_at, before_ms) if at is not None) < before_ms
        ]

    async def people_webhook(self, webhook_id: int) -> WebhookRow | None:
        await asyncio.sleep(0)
        stored = self.webhook_rows.get(webhook_id)
        return None if stored is None or stored[1] is not None else self._webhook(*stored)

    async def people_webhooks(self, owner_id: int) -> list[WebhookRow]:
        await asyncio.sleep(0)
        return [self._webhook(*stored) for stored in self.webhook_rows.values() if stored[0].owner_id == owner_id]

    def _webhook(self, row: r.WebhookAdded, why: str | None) -> WebhookRow:
        names = {bot.bot_id: bot.name for bot in self.bots.values()}
        return WebhookRow(
            id=row.id,
            owner_id=row.owner_id,
            owner="",
            bot=None if row.bot_id is None else names[row.bot_id],
            url=row.url,
            secret=row.secret,
            events=row.events.split(),
            created_at=row.created_at,
            stopped_at=None if why is None else 1,
            why=why or "",
        )

    async def bots_tokens(self, bot: str) -> list[TokenRow]:
        await asyncio.sleep(0)
        bot_id = self.bots[bot].bot_id
        return [token for owner, _, token in self.token_rows.values() if owner == bot_id]

    async def bots_version(self, name: str) -> StoredVersion:
        await asyncio.sleep(0)
        (version,) = (version for _, version in self.versions if version.wire_name == name)
        return version

    async def bots_version_names(self) -> dict[int, str]:
        await asyncio.sleep(0)
        return {version.id: version.wire_name for _, version in self.versions}

    async def bots_of_versions(self) -> dict[int, int]:
        await asyncio.sleep(0)
        return {version.id: bot for bot, version in self.versions}

    async def bots_names(self) -> list[tuple[int, str, int | None]]:
        await asyncio.sleep(0)
        return [(bot.bot_id, bot.name, self.leaders.get(bot.bot_id)) for bot in self.bots.values()]

    async def pairings_suspensions(self, venue_id: int) -> list[StoredSuspension]:
        rows = [row for (venue, _), row in self.suspension_rows.items() if venue == venue_id]
        return [row for row in rows if row.spoilt or row.suspended]

    async def ledger_entries(self, venue_id: int, after: int = 0, limit: int | None = None) -> list[Entry]:
        return [entry for entry in self.entries if entry.seq > after][:limit]

    async def ledger_links(self, venue_id: int) -> list[Entry]:
        return [entry for entry in self.entries if entry.other is not None]

    async def ledger_digests(self, venue_id: int, after: int = 0, limit: int | None = None) -> list[Any]:
        return []

    async def ratings_last_games(self, venue_id: int, system: str) -> dict[int, int]:
        return {}

    async def ranks_last(self, venue_id: int, system: str) -> dict[int, Any]:
        return {}

    async def ranks_last_summary(self, venue_id: int, system: str) -> None:
        return None

    async def ratings_last_published(self, venue_id: int) -> dict[str, int]:
        return {"cgos-elo": len(self.entries)}

    async def ratings_shown(self, venue_id: int, system: str) -> dict[int, Any]:
        return {}

    async def refits_state(self, venue_id: int, system: str) -> None:
        return None

    async def refits_last(self, venue_id: int, system: str) -> int:
        return 0

    async def refits_after(self, venue_id: int, system: str, after: int = 0, limit: int | None = None) -> list[Any]:
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
    return Ids(NextIds._make(1 for _ in NextIds._fields))


@pytest.fixture
def accounts(store: Any, ids: Ids, passwords: Passwords, clock: Clock) -> Accounts:
    return Accounts(store, ids, passwords, "open", clock)
