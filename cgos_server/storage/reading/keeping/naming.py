"""The read side's answers for an erasure: what belongs to whoever is erased, and every row that may name somebody.

A search for names reads whole tables, in portions. Must not know: what is written instead.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from typing import Final, NamedTuple

from sqlalchemy import RowMapping, or_, select, tuple_

from cgos_protocol.ids import BotId, VersionId
from cgos_server.core.renaming import shortest
from cgos_server.storage import tables
from cgos_server.storage.parameters import NAMES, naming_any, portions
from cgos_server.storage.reading.source import Read, Subject
from cgos_server.storage.writing.effects import KINDS
from cgos_server.storage.writing.erasing import ConnectionReworded, Reworded

ROWS: Final = 200
"""Of one portion: a recorded pairing pass may have a hundred kilobytes."""

_owners, _bots, _versions = tables.owners, tables.bots, tables.versions
_connections = tables.connections


class OwnVersion(NamedTuple):
    """A version of a bot that is erased."""

    id: VersionId
    bot_id: BotId
    wire_name: str
    label: str


class Belongings(NamedTuple):
    """The numbers of what an account and some bots have."""

    tokens: list[int]
    access: list[int]
    webhooks: list[int]


class Erasing(Subject):
    """What an erasure has to know."""

    async def versions(self, bots: Collection[BotId]) -> list[OwnVersion]:
        """All versions of these bots, oldest first."""
        rows: list[RowMapping] = []
        for some in portions(list(bots)):
            rows += await self._source.rows(
                select(_versions).where(_versions.c.bot_id.in_(some)).order_by(_versions.c.id)
            )
        return [OwnVersion(row["id"], row["bot_id"], row["wire_name"], row["label"]) for row in rows]

    async def belongings(self, owner: int | None, bots: Collection[BotId]) -> Belongings:
        """Tokens of the bots, sessions and tokens of the account, webhooks of the account and for the bots."""
        tokens, access, webhooks = tables.tokens.c, tables.access.c, tables.webhooks.c
        async with self._source.snapshot() as read:
            return Belongings(
                [row["id"] for row in await read(select(tokens.id).where(tokens.bot_id.in_(bots)))],
                [row["id"] for row in await read(select(access.id).where(access.owner_id == owner))],
                [
                    row["id"]
                    for row in await read(
                        select(webhooks.id).where(or_(webhooks.owner_id == owner, webhooks.bot_id.in_(bots)))
                    )
                ],
            )

    async def connections(self, versions: Collection[VersionId]) -> list[ConnectionReworded]:
        """All connections of these versions."""
        columns = [_connections.c[name] for name in KINDS[ConnectionReworded].columns]
        rows: list[RowMapping] = []
        for some in portions(list(versions)):
            rows += await self._source.rows(select(*columns).where(_connections.c.version_id.in_(some)))
        return [ConnectionReworded(**row) for row in rows]

    async def operators(self) -> list[int]:
        """The numbers of the accounts that are operators and may sign in."""
        rows = await self._source.rows(select(_owners.c.id).where(_owners.c.admin == 1, _owners.c.state == "active"))
        return [row["id"] for row in rows]

    async def naming(self, kind: type[Reworded], names: Sequence[str]) -> AsyncIterator[list[Reworded]]:
        """The rows in whose texts one of these names stands, also as a part of a word, in portions; what is changed
        meanwhile disturbs nothing. A row may come more than once."""
        for some in portions(shortest(names), NAMES):
            async for rows in self._naming(kind, some):
                yield rows

    async def _naming(self, kind: type[Reworded], names: Sequence[str]) -> AsyncIterator[list[Reworded]]:
        effect = KINDS[kind]
        columns = [effect.table.c[name] for name in effect.columns]
        keys = [effect.table.c[name] for name in effect.keys]
        texts = [column for column in columns if column.name not in effect.keys]
        wanted = select(*columns).where(naming_any(texts, names)).order_by(*keys).limit(ROWS)
        after: tuple[int, ...] = ()

        async def ask(read: Read) -> list[Reworded]:
            further = wanted.where(tuple_(*keys) > tuple_(*after)) if after else wanted
            return [kind(**row) for row in await read(further)]

        while rows := await self._source.answer(ask):
            yield rows
            after = tuple(getattr(rows[-1], name) for name in effect.keys)
