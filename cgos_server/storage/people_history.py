"""The read side for what belongs to people: who is asking, their bots, what lets them in, their webhooks.

Reads by keys and indexes only. Must not know: who may see an answer, how it is shown.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlalchemy import func, literal, select

from cgos_protocol.errors import Code, NotFound
from cgos_server.storage import queries, tables
from cgos_server.storage.bot_history import belongings
from cgos_server.storage.functions import bytewise
from cgos_server.storage.people_answers import (
    AccessRow,
    AccountDetail,
    BotOwnerRow,
    OwnedBot,
    OwnedLimits,
    Person,
    WebhookRow,
)
from cgos_server.storage.reading import Reader, decoded, number, value
from cgos_server.storage.store import as_person

_access, _bots, _owners, _versions = tables.access, tables.bots, tables.owners, tables.versions

MOST_ACCESS: Final = 500
"""Sessions and tokens of one account that are read."""


class PeopleHistory(Reader):
    """What belongs to people. Every method raises StoreError where the database cannot be read."""

    async def person(self, digest: str, now_ms: int) -> Person | None:
        """Whose session or token has this digest (hexadecimal SHA-256 of its text), where it is valid now and the
        account is active; otherwise None."""
        async with self._snapshot() as read:
            rows = await read(queries.person(literal(digest), number(now_ms)))
        return as_person(tuple(rows[0].values())) if rows else None

    async def account(self, owner_id: int) -> AccountDetail:
        """One account. Raises Refused (``no-account``)."""
        async with self._snapshot() as read:
            owned = select(func.count()).where(_bots.c.owner_id == _owners.c.id).correlate(_owners).scalar_subquery()
            rows = await read(select(_owners, owned.label("bots")).where(_owners.c.id == number(owner_id)))
        if not rows:
            raise NotFound(Code.NO_ACCOUNT, f"There is no account with the number {owner_id}.")
        return value(AccountDetail, rows[0], admin=bool(rows[0]["admin"]))

    async def bots_of(self, owner_id: int) -> list[OwnedBot]:
        """The bots of an account, by name."""
        async with self._snapshot() as read:
            bots = await read(
                select(_bots).where(_bots.c.owner_id == number(owner_id)).order_by(bytewise(_bots.c.name_key))
            )
            more = await belongings(read, [bot["id"] for bot in bots])
        return [
            value(
                OwnedBot,
                bot,
                paused=bool(bot["paused"]),
                limits=_limits(bot["limits"]),
                **more[bot["id"]]._asdict(),
            )
            for bot in bots
        ]

    async def owners_of(self, versions: Collection[str]) -> dict[str, BotOwnerRow]:
        """Wire name of a version -> its bot and that bot's owner; those without an owner are left out."""
        async with self._snapshot() as read:
            rows = await read(
                select(_versions.c.wire_name, _bots.c.name, _bots.c.owner_id)
                .join_from(_versions, _bots, _bots.c.id == _versions.c.bot_id)
                .where(_versions.c.wire_name.in_(list(versions)), _bots.c.owner_id.is_not(None))
            )
        return {row["wire_name"]: BotOwnerRow(row["name"], row["owner_id"]) for row in rows}

    async def owner_of(self, name: str) -> int | None:
        """The account that owns the bot with this name, or the bot of the version with it; None where nobody does or
        there is no such bot."""
        async with self._snapshot() as read:
            rows = await read(
                select(_bots.c.owner_id)
                .join_from(_versions, _bots, _bots.c.id == _versions.c.bot_id)
                .where(_versions.c.wire_name == name)
            )
        return rows[0]["owner_id"] if rows else None

    async def access_of(self, owner_id: int) -> list[AccessRow]:
        """The sessions and tokens of this account, ended ones too while they are kept, newest first; at most
        :data:`MOST_ACCESS`, of which those that were not ended are never missing."""
        async with self._snapshot() as read:
            rows = await read(
                select(_access)
                .where(_access.c.owner_id == number(owner_id))
                .order_by(_access.c.revoked_at.is_not(None), _access.c.id.desc())
                .limit(MOST_ACCESS)
            )
        newest = sorted(rows, key=lambda row: int(row["id"]), reverse=True)
        return [value(AccessRow, row, scopes=row["scopes"].split()) for row in newest]

    async def webhooks(self, owner_id: int | None = None, *, only_told: bool = False) -> list[WebhookRow]:
        """The webhooks of an account, or with None of all, stopped ones too, oldest first; with `only_told` those that
        are sent to: not stopped, and of accounts that are not disabled."""
        hooks = tables.webhooks
        asked = (
            select(hooks, _owners.c.name.label("owner"), _bots.c.name.label("bot"))
            .join_from(hooks, _owners, _owners.c.id == hooks.c.owner_id)
            .outerjoin(_bots, _bots.c.id == hooks.c.bot_id)
            .order_by(hooks.c.id)
        )
        if owner_id is not None:
            asked = asked.where(hooks.c.owner_id == number(owner_id))
        if only_told:
            asked = asked.where(hooks.c.stopped_at.is_(None), _owners.c.state == "active")
        async with self._snapshot() as read:
            rows = await read(asked)
        return [value(WebhookRow, row, events=row["events"].split()) for row in rows]

    async def account_id(self, name: str) -> int:
        """The number of the account with exactly this name. Raises Refused (``no-account``)."""
        async with self._snapshot() as read:
            rows = await read(select(_owners.c.id).where(_owners.c.name == name))
        if not rows:
            raise NotFound(Code.NO_ACCOUNT, f"There is no account {name!r}. `cgos-server account list` lists them.")
        return int(rows[0]["id"])


def _limits(text: str) -> OwnedLimits:
    stored = decoded(text) or {}
    return OwnedLimits(stored.get("games_a_day"), sorted(stored.get("avoid", [])), stored.get("hours", ""))
