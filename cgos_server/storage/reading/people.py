"""The read side's answers about people: who is asking, their accounts and bots, what lets them in, their webhooks.

Reads by keys and indexes only. Must not know: who may see an answer, how it is shown.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import BigInteger, RowMapping, and_, bindparam, func, literal_column, or_, select

from cgos_protocol.api import people as api
from cgos_protocol.errors import Code, NotFound
from cgos_server.storage import tables
from cgos_server.storage.functions import bytewise
from cgos_server.storage.parameters import bounded, number
from cgos_server.storage.reading.bots import belongings
from cgos_server.storage.reading.people_answers import (
    AccountDetail,
    BotOwnerRow,
    OwnedBot,
    OwnedLimits,
    WebhookNotes,
    WebhookRow,
)
from cgos_server.storage.reading.source import Read, Subject, decoded, value
from cgos_server.storage.reading.stored import Access, BotOwned, Owner, Person

_access, _bots, _owners, _versions = tables.access, tables.bots, tables.owners, tables.versions
_webhooks = tables.webhooks

MOST_ACCESS: Final = 500
"""Sessions and tokens of one account that are read."""

_OWNER = bindparam("owner", type_=BigInteger)
_NOW = bindparam("now_ms", type_=BigInteger)
_BEFORE = bindparam("before_ms", type_=BigInteger)
_lets_in = and_(_access.c.revoked_at.is_(None), or_(_access.c.expires_at.is_(None), _access.c.expires_at > _NOW))
_bot_of_version = select(
    _bots, _bots.c.id.label("bot_id"), _bots.c.owner_id.label("owner"), _bots.c.name.label("bot"), _versions.c.wire_name
).join_from(_versions, _bots, _bots.c.id == _versions.c.bot_id)

# Built once: to build them takes longer than most answers.
_PERSON: Final = (
    select(_access, _access.c.id.label("access_id"), _owners.c.name, _owners.c.admin)
    .join_from(_access, _owners, _owners.c.id == _access.c.owner_id)
    .where(_access.c.digest == bindparam("digest"), _lets_in, _owners.c.state == literal_column("'active'"))
)
_ACCESS: Final = select(_access).where(
    _access.c.id == bindparam("access", type_=BigInteger), _access.c.revoked_at.is_(None)
)
_VALID_ACCESS: Final = select(_access).where(_access.c.owner_id == _OWNER, _lets_in).order_by(_access.c.id)
_OLD_ACCESS: Final = (
    select(_access.c.id)
    .where(_access.c.owner_id == _OWNER, or_(_access.c.revoked_at < _BEFORE, _access.c.expires_at < _BEFORE))
    .order_by(_access.c.id)
    .limit(200)
)
_OWNER_NAMED: Final = select(_owners).where(_owners.c.name == bindparam("name"))
_BOT_OWNER: Final = _bot_of_version.where(_versions.c.wire_name == bindparam("name"))
_WEBHOOKS: Final = (
    select(_webhooks, _owners.c.name.label("owner"), _bots.c.name.label("bot"))
    .join_from(_webhooks, _owners, _owners.c.id == _webhooks.c.owner_id)
    .outerjoin(_bots, _bots.c.id == _webhooks.c.bot_id)
    .order_by(_webhooks.c.id)
)
_WEBHOOK: Final = _WEBHOOKS.where(
    _webhooks.c.id == bindparam("webhook", type_=BigInteger), _webhooks.c.stopped_at.is_(None)
)


class People(Subject):
    """What belongs to people."""

    async def person(self, digest: str, now_ms: int) -> Person | None:
        """Whose session or token has this digest (hexadecimal SHA-256 of its text), where it is valid at `now_ms` (Unix
        ms) and the account is active; otherwise None."""
        rows = await self._source.rows(_PERSON, digest=digest, now_ms=bounded(now_ms))
        if not rows:
            return None
        return value(Person, rows[0], scopes=tuple(rows[0]["scopes"].split()))

    async def account(self, owner_id: int) -> AccountDetail:
        """One account. Raises Refused (``no-account``)."""
        owned = select(func.count()).where(_bots.c.owner_id == _owners.c.id).correlate(_owners).scalar_subquery()
        rows = await self._source.rows(select(_owners, owned.label("bots")).where(_owners.c.id == number(owner_id)))
        if not rows:
            raise NotFound(Code.NO_ACCOUNT, f"There is no account with the number {owner_id}.")
        return value(AccountDetail, rows[0])

    async def bots_of(self, owner_id: int) -> list[OwnedBot]:
        """The bots of an account, by name."""
        async with self._source.snapshot() as read:
            bots = await read(
                select(_bots).where(_bots.c.owner_id == number(owner_id)).order_by(bytewise(_bots.c.name_key))
            )
            more = await belongings(read, [bot["id"] for bot in bots])
        return [value(OwnedBot, bot, limits=_limits(bot["limits"]), **more[bot["id"]]._asdict()) for bot in bots]

    async def accounts(self) -> list[api.Account]:
        """All accounts of people, by name."""
        rows = await self._source.rows(select(_owners).order_by(bytewise(_owners.c.name_key)))
        return [value(api.Account, row) for row in rows]

    async def owners_of(self, versions: Collection[str]) -> dict[str, BotOwnerRow]:
        """Wire name of a version -> its bot and that bot's owner; those without an owner are left out."""
        wanted = _bot_of_version.where(_versions.c.wire_name.in_(list(versions)), _bots.c.owner_id.is_not(None))
        return {row["wire_name"]: value(BotOwnerRow, row) for row in await self._source.rows(wanted)}

    async def bot_owner(self, name: str) -> BotOwned | None:
        """Whose the bot is that has this name, or whose version has it; None where there is none."""
        rows = await self._source.rows(_BOT_OWNER, name=name)
        return value(BotOwned, rows[0]) if rows else None

    async def owner_of(self, name: str) -> int | None:
        """The account that owns the bot with this name, or the bot of the version with it; None where nobody does or
        there is no such bot."""
        bot = await self.bot_owner(name)
        return None if bot is None else bot.owner

    async def access_of(self, owner_id: int) -> list[api.Access]:
        """The sessions and tokens of this account, ended ones too while they are kept, newest first; at most
        :data:`MOST_ACCESS`, of which those that were not ended are never missing."""
        rows = await self._source.rows(
            select(_access)
            .where(_access.c.owner_id == number(owner_id))
            .order_by(_access.c.revoked_at.is_not(None), _access.c.id.desc())
            .limit(MOST_ACCESS)
        )
        newest = sorted(rows, key=lambda row: int(row["id"]), reverse=True)
        return [value(api.Access, row, scopes=row["scopes"].split()) for row in newest]

    async def webhooks(self, owner_id: int | None = None, *, only_told: bool = False) -> list[WebhookRow]:
        """The webhooks of an account, or with None of all, stopped ones too, oldest first; with `only_told` those that
        are sent to: not stopped, and of accounts that are not disabled."""
        wanted = _WEBHOOKS if owner_id is None else _WEBHOOKS.where(_webhooks.c.owner_id == number(owner_id))
        if only_told:
            wanted = wanted.where(_webhooks.c.stopped_at.is_(None), _owners.c.state == "active")
        return [_webhook(row) for row in await self._source.rows(wanted)]

    async def webhook_notes(self) -> WebhookNotes:
        """What became of their messages; kept in PostgreSQL alone, for the processes of a cluster."""

        async def ask(read: Read) -> WebhookNotes:
            outcomes = {row["webhook_id"]: row["outcome"] for row in await read(select(tables.webhook_outcomes))}
            notes = await read(select(tables.webhook_notes))
            since, until = (notes[0]["since"], notes[0]["until"]) if notes else (None, None)
            return WebhookNotes(outcomes=outcomes, since=since, until=until)

        return await self._source.answer(ask)

    async def account_id(self, name: str) -> int:
        """The number of the account with exactly this name. Raises Refused (``no-account``)."""
        owner = await self.owner(name)
        if owner is None:
            raise NotFound(Code.NO_ACCOUNT, f"There is no account {name!r}. `cgos-server account list` lists them.")
        return owner.id

    # -- as the live server asks

    async def owner(self, name: str) -> Owner | None:
        """The account with exactly this name, or None."""
        rows = await self._source.rows(_OWNER_NAMED, name=name)
        return value(Owner, rows[0]) if rows else None

    async def access(self, access_id: int) -> Access | None:
        """One session or token that was not revoked, or None."""
        rows = await self._source.rows(_ACCESS, access=access_id)
        return value(Access, rows[0]) if rows else None

    async def valid_access(self, owner_id: int, now_ms: int) -> list[Access]:
        """The sessions and tokens with which this account could be used at `now_ms` (Unix ms), oldest first."""
        rows = await self._source.rows(_VALID_ACCESS, owner=owner_id, now_ms=now_ms)
        return [value(Access, row) for row in rows]

    async def old_access(self, owner_id: int, before_ms: int) -> list[int]:
        """The numbers of sessions and tokens of this account that ended before this time (Unix ms), some of the oldest
        first."""
        return [row["id"] for row in await self._source.rows(_OLD_ACCESS, owner=owner_id, before_ms=before_ms)]

    async def webhook(self, webhook_id: int) -> WebhookRow | None:
        """One webhook that is sent to, or None."""
        rows = await self._source.rows(_WEBHOOK, webhook=webhook_id)
        return _webhook(rows[0]) if rows else None


def _webhook(row: RowMapping) -> WebhookRow:
    return value(WebhookRow, row, events=row["events"].split())


def _limits(text: str) -> OwnedLimits:
    stored: Any = decoded(text) or {}
    return OwnedLimits(
        games_a_day=stored.get("games_a_day"),
        avoid=sorted(stored.get("avoid", [])),
        accepts=sorted(stored.get("accepts", [])),
        hours=stored.get("hours", ""),
    )
