"""The read side's stream of all that is kept about a person or a bot, section by section, in portions.

Passwords, digests of tokens and secrets are never read. Must not know: the format in which it is handed out, who may
have it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, FromClause, Select, or_, select, tuple_, union

from cgos_protocol.ids import BotId
from cgos_server.core.renaming import Renaming, shortest
from cgos_server.storage import tables
from cgos_server.storage.parameters import NAMES, naming_any
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
    """Rows of one table.

    :ivar mentioning: columns of which one must name somebody as a whole word
    :ivar given: names by which the section has been searched before, and those rows were given
    """

    name: str
    rows: Select[Any]
    key: tuple[ColumnElement[Any], ...]
    mentioning: tuple[str, ...] = ()
    given: Collection[str] = ()


class Personal(Subject):
    """What is kept about people and bots."""

    async def about(self, owner: int | None, bots: Collection[BotId]) -> About:
        """Of an account with its bots, or of bots alone, with all names that they have."""
        owners, bots_, versions = tables.owners.c, tables.bots.c, tables.versions.c
        if owner is not None:
            rows = await self._source.rows(select(bots_.id).where(bots_.owner_id == owner).order_by(bots_.id))
            bots = [row["id"] for row in rows]
        names = union(
            select(versions.wire_name.label("name")).where(versions.bot_id.in_(bots)),
            select(bots_.name).where(bots_.id.in_(bots)),  # one that never signed in has no version
            select(owners.name).where(owners.id == owner),
        )
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
                yield section.name, [dict(row) for row in rows if _mentions(row, section, named)]


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
    # An operator's question has no account: nobody's number is 0.
    yield _of("questions", t.questions, t.questions.c.owner_id == (about.owner or 0))
    yield from _naming("event_log", t.event_log, about.names, ("actor", "body"))
    yield from _naming("corrections", t.corrections, about.names, ("actor", "reason"))
    yield from _naming("audit", t.audit, about.names, ("actor", "subject", "detail"))
    played = or_(t.games.c.black_id.in_(versions), t.games.c.white_id.in_(versions))
    columns = ("id", "venue_id", "black_id", "white_id", "started_at", "ended_at", "reason", "detail", "result")
    yield _Section("games", select(*(t.games.c[name] for name in columns)).where(played), (t.games.c.id,))


def _of(name: str, table: Any, condition: ColumnElement[bool]) -> _Section:
    columns = [column for column in table.columns if column.name not in HIDDEN]
    return _Section(name, select(*columns).where(condition), tuple(table.primary_key.columns))


def _naming(name: str, table: FromClause, names: Collection[str], columns: tuple[str, ...]) -> Iterator[_Section]:
    """A section searched for a few names at a time, at least once."""
    wanted = shortest(names)
    for at in range(0, max(1, len(wanted)), NAMES):
        named = naming_any([table.c[column] for column in columns], wanted[at : at + NAMES])
        yield _of(name, table, named)._replace(mentioning=columns, given=wanted[:at])


def _mentions(row: Mapping[Any, Any], section: _Section, named: Renaming | None) -> bool:
    """True where a whole name stands in one of the columns, or it need not, and the row was not given before."""
    texts = [row[name] for name in section.mentioning]
    if not texts:
        return True
    if named is None or not any(named.text(text) != text for text in texts):
        return False
    return not any(name in text.lower() for text in texts for name in section.given)
