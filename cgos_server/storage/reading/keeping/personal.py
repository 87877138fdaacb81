"""The read side's stream of all that is kept about a person or a bot, section by section, in portions.

Passwords, digests of tokens and secrets are never read. Must not know: the format in which it is handed out, who may
have it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, FromClause, Select, false, func, or_, select, tuple_

from cgos_protocol.ids import BotId
from cgos_server.core.renaming import Renaming
from cgos_server.storage import tables
from cgos_server.storage.reading.source import Subject

ROWS: Final = 500
"""Of one portion."""

HIDDEN: Final = frozenset({"password", "digest", "secret", "name_key", "wire_key"})
"""Columns that nobody is given, and those that only repeat another one."""

Portion = tuple[str, list[dict[str, Any]]]
"""The word of a section, and some of its rows."""


class About(NamedTuple):
    """Whose data it is: an account, bots, or both."""

    owner: int | None
    bots: Collection[BotId]
    names: Collection[str]


class _Section(NamedTuple):
    """Rows of one table. `mentioning`: columns of which one must name somebody as a whole word."""

    name: str
    rows: Select[Any]
    key: tuple[ColumnElement[Any], ...]
    mentioning: tuple[str, ...] = ()


class Personal(Subject):
    """What is kept about people and bots."""

    async def about(self, owner: int | None, bots: Collection[BotId]) -> About:
        """Of an account with its bots, or of bots alone, with all names that they have."""
        owners, bots_, versions = tables.owners.c, tables.bots.c, tables.versions.c
        if owner is not None:
            rows = await self._source.rows(select(bots_.id).where(bots_.owner_id == owner).order_by(bots_.id))
            bots = [row["id"] for row in rows]
        names = select(versions.wire_name.label("name")).where(versions.bot_id.in_(bots))
        names = names.union(select(owners.name).where(owners.id == owner))  # type: ignore[assignment]
        return About(owner, bots, [row["name"] for row in await self._source.rows(names)])

    async def everything(self, about: About) -> AsyncGenerator[Portion, None]:
        """All sections in their order, each with at least one portion, which may be empty."""
        named = Renaming(dict.fromkeys(about.names, "")) if about.names else None
        for section in _sections(about):
            yield section.name, []
            after: tuple[Any, ...] = ()
            while True:
                wanted = section.rows.order_by(*section.key).limit(ROWS)
                rows = await self._source.rows(wanted.where(tuple_(*section.key) > tuple_(*after)) if after else wanted)
                if not rows:
                    break
                after = tuple(rows[-1][column.name] for column in section.key)
                yield section.name, [dict(row) for row in rows if _mentions(row, section.mentioning, named)]


def _sections(about: About) -> Iterator[_Section]:
    t = tables
    bots = list(about.bots)
    versions = select(t.versions.c.id).where(t.versions.c.bot_id.in_(bots))
    yield _of("account", t.owners, t.owners.c.id == about.owner)
    yield _of("sessions_and_tokens", t.access, t.access.c.owner_id == about.owner)
    yield _of("webhooks", t.webhooks, or_(t.webhooks.c.owner_id == about.owner, t.webhooks.c.bot_id.in_(bots)))
    yield _of("bots", t.bots, t.bots.c.id.in_(bots))
    yield _of("versions", t.versions, t.versions.c.bot_id.in_(bots))
    yield _of("bot_tokens", t.tokens, t.tokens.c.bot_id.in_(bots))
    yield _of("connections", t.connections, t.connections.c.version_id.in_(versions))
    yield _of("suspensions", t.suspensions, t.suspensions.c.version_id.in_(versions))
    yield _of("event_entries", t.event_entrants, t.event_entrants.c.bot_id.in_(bots))
    yield _naming("event_log", t.event_log, about.names, ("actor", "body"))
    yield _naming("corrections", t.corrections, about.names, ("actor", "reason"))
    yield _naming("audit", t.audit, about.names, ("actor", "subject", "detail"))
    played = or_(t.games.c.black_id.in_(versions), t.games.c.white_id.in_(versions))
    columns = ("id", "venue_id", "black_id", "white_id", "started_at", "ended_at", "reason", "detail", "result")
    yield _Section("games", select(*(t.games.c[name] for name in columns)).where(played), (t.games.c.id,))


def _of(name: str, table: Any, condition: ColumnElement[bool]) -> _Section:
    columns = [column for column in table.columns if column.name not in HIDDEN]
    return _Section(name, select(*columns).where(condition), tuple(table.primary_key.columns))


def _naming(name: str, table: FromClause, names: Collection[str], columns: tuple[str, ...]) -> _Section:
    any_of_them = or_(
        false(),
        *(func.lower(table.c[column]).contains(each.lower(), autoescape=True) for column in columns for each in names),
    )
    return _of(name, table, any_of_them)._replace(mentioning=columns)


def _mentions(row: Mapping[Any, Any], columns: tuple[str, ...], named: Renaming | None) -> bool:
    """True where a whole name stands in one of the columns, or it need not."""
    return not columns or (named is not None and any(named.text(row[name]) != row[name] for name in columns))
