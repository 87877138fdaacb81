"""The read side's answers about the server as a whole: its venues, how much there is, what was done to it, and where
numbers go on.

Must not know: who may see what, how an answer is shown.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from pathlib import Path
from typing import Final

from sqlalchemy import ColumnElement, func, or_, select

from cgos_protocol.api.people import AuditEntry
from cgos_protocol.api.route import LARGEST
from cgos_protocol.errors import Code, Conflict
from cgos_protocol.ids import ConnectionId
from cgos_server.storage import tables
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.parameters import number
from cgos_server.storage.reading.answers import Counts, Lately, VenueRow
from cgos_server.storage.reading.source import Read, Subject, decoded, value
from cgos_server.storage.reading.stored import Incarnation, NextIds

_games, _moves, _venues, _bots, _versions = tables.games, tables.moves, tables.venues, tables.bots, tables.versions
_audit, _connections = tables.audit, tables.connections
_LATEST: Final = 1_000
"""Games that are looked through for the last sign of life: more than run at once in most places."""

_unfinished = select(_games.c.id).where(_games.c.result.is_(None))

# Built once: to build them takes longer than most answers.
_NEXT_IDS: Final = select(
    *(
        select(func.coalesce(func.max(table.c.id), 0) + 1).scalar_subquery().label(name)
        for name, table in tables.NUMBERED.items()
    ),
    tables.server.c.numbers_above,
)
_INCARNATION: Final = select(tables.server.c.incarnation, tables.server.c.numbers_above)
_LEFT_OPEN: Final = (
    select(_connections.c.id, _connections.c.opened_at)
    .where(_connections.c.closed_at.is_(None))
    .order_by(_connections.c.id)
)
_latest_games = select(_games.c.started_at, _games.c.ended_at).order_by(_games.c.id.desc()).limit(_LATEST).subquery()
_LAST_SIGNS: Final = select(
    select(func.max(_latest_games.c.started_at)).scalar_subquery().label("started"),
    select(func.max(_latest_games.c.ended_at)).scalar_subquery().label("ended"),
    select(func.max(_moves.c.at)).where(_moves.c.game_id.in_(_unfinished)).scalar_subquery().label("moved"),
)
_NEWEST_GAMES: Final = select(_games.c.id, _games.c.started_at, _games.c.ended_at).order_by(_games.c.id.desc())
_NEWEST: Final = select(
    select(tables.server.c.created_at).scalar_subquery().label("created_at"),
    select(func.count()).select_from(_games).scalar_subquery().label("games"),
    *(
        select(time).order_by(time.table.c.id.desc()).limit(1).scalar_subquery().label(time.table.name)
        for time in (_audit.c.at, _connections.c.opened_at)
    ),
)
_ENDED: Final = (
    select(_games.c.reason, func.count().label("games"), func.sum(_games.c.plies).label("moves"))
    .where(_games.c.reason.is_not(None))
    # In the order of an index, so that nothing need be sorted.
    .group_by(_games.c.venue_id, _games.c.reason)
)
_SIZE: Final = select(func.pg_database_size(func.current_database()).label("bytes"))
_COUNTS: Final = select(
    *(
        counted.scalar_subquery().label(name)
        for name, counted in {
            "created_at": select(tables.server.c.created_at),
            "bots": select(func.count()).select_from(_bots),
            "versions": select(func.count()).select_from(_versions),
            "running": select(func.count()).select_from(_unfinished.subquery()),
            "moves": select(func.count()).where(_moves.c.game_id.in_(_unfinished)),
        }.items()
    )
)


class Server(Subject):
    """The server as a whole."""

    async def venues(self) -> list[VenueRow]:
        """All venues, oldest first."""
        rows = await self._source.rows(select(_venues).order_by(_venues.c.id))
        return [value(VenueRow, row) for row in rows]

    async def incarnation(self) -> Incarnation:
        """Which copy of the database this is."""
        return value(Incarnation, (await self._source.rows(_INCARNATION))[0])

    async def check_cursor(self, incarnation: str | None, after: int = 0, last: int = LARGEST) -> str:
        """Return the word of the database's incarnation.

        :param incarnation: what came with the cursor; None where the reader knows none
        :param after: the cursor, and `last` the largest number that there is
        :raises Conflict: the cursor is of another incarnation
        """
        now = await self.incarnation()
        impossible = incarnation is None and now.numbers_above and after > last
        if impossible or incarnation not in (None, now.incarnation):
            raise Conflict(
                Code.OTHER_INCARNATION,
                "`after` counts in another incarnation of the database, which was restored or copied since. Drop what "
                f"you have, and begin again without `after` and with incarnation={now.incarnation}.",
            )
        return now.incarnation

    async def audit(
        self,
        limit: int,
        before: int | None = None,
        actor: str | None = None,
        action: str | None = None,
        subject: str | None = None,
    ) -> list[AuditEntry]:
        """What people did to the server, newest first; the next page is `before` the last one's id."""
        conditions: list[ColumnElement[bool]] = [
            column == wanted
            for column, wanted in ((_audit.c.action, action), (_audit.c.subject, subject))
            if wanted is not None
        ]
        if actor is not None:  # who came by the pages stands with the address: "name (address)"
            conditions.append(or_(_audit.c.actor == actor, _audit.c.actor.startswith(f"{actor} (", autoescape=True)))
        if before is not None:
            conditions.append(_audit.c.id < number(before))
        rows = await self._source.rows(select(_audit).where(*conditions).order_by(_audit.c.id.desc()).limit(limit))
        return [value(AuditEntry, row, detail=decoded(row["detail"])) for row in rows]

    async def counts(self) -> Counts:
        """How much there is."""
        async with self._source.snapshot() as read:
            reasons = await read(_ENDED)
            (row,) = await read(_COUNTS)
        ended: dict[str, int] = defaultdict(int)
        for reason in reasons:
            ended[reason["reason"]] += reason["games"]
        return value(Counts, row, ended=dict(ended), moves=row["moves"] + sum(reason["moves"] for reason in reasons))

    async def lately(self, most: int) -> Lately:
        """How games have come lately: the newest `most` of them."""
        async with self._source.snapshot() as read:
            games = await read(_NEWEST_GAMES.limit(most))
            (newest,) = map(dict, await read(_NEWEST))
        counted = newest.pop("games")
        times = [*newest.values(), *(row["started_at"] for row in games), *(row["ended_at"] for row in games)]
        return Lately(
            games=counted,
            started=[row["started_at"] for row in games],
            created_at=newest["created_at"],
            latest_at=max(time for time in times if time is not None),
        )

    async def size(self) -> dict[str, int]:
        """Bytes of its parts: ``database``, and where the database is a file of ours ``log``, the write-ahead log
        beside it."""
        location = self._source.location
        if isinstance(location, PostgresUrl):
            return {"database": (await self._source.rows(_SIZE))[0]["bytes"]}
        return await asyncio.to_thread(_sizes_of_files, location)

    # -- as a start asks

    async def next_ids(self) -> NextIds:
        """The next free number of each kind that the server gives out itself."""
        (row,) = await self._source.rows(_NEXT_IDS)
        first = row["numbers_above"] + 1
        return NextIds._make(max(row[kind], first) for kind in NextIds._fields)

    async def left_open(self) -> dict[ConnectionId, int]:
        """Connections whose end was not written down, as the server was killed: number -> when it was still alive by
        what else is stored, Unix ms; not before the connection began. To be asked before anybody signs in."""

        async def questions(read: Read) -> dict[ConnectionId, int]:
            (signs,) = await read(_LAST_SIGNS)
            opened = {row["id"]: row["opened_at"] for row in await read(_LEFT_OPEN)}
            last = max(*(at or 0 for at in signs.values()), *opened.values(), 0)
            return dict.fromkeys(opened, last)

        return await self._source.answer(questions)


def _sizes_of_files(path: Path) -> dict[str, int]:
    files = {"database": path, "log": path.with_name(f"{path.name}-wal")}
    # Between two connections there is no log.
    return {part: file.stat().st_size if file.exists() else 0 for part, file in files.items()}
