"""The read side's streams: all of something in portions, in constant memory however much there is.

Each portion is asked for by the key of the last one, so that a slow reader holds no transaction open. Must not know:
the formats in which they are handed out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple

from sqlalchemy import and_, select
from sqlalchemy.ext.asyncio import AsyncEngine

from cgos_server.storage import tables
from cgos_server.storage.answers import GameChange, GameDetail, GameRow, LedgerRow
from cgos_server.storage.connections import bulk_engine
from cgos_server.storage.game_answers import ChangeRow, GamesAsked, NamedRefit
from cgos_server.storage.game_history import GameHistory
from cgos_server.storage.ledger_history import (
    LedgerHistory,
    changes_by_games,
    correction_rows,
    entry_of_change,
    last_entry,
)
from cgos_server.storage.location import Location, PostgresUrl
from cgos_server.storage.reading import decoded, number, postgres_engine, value, venue_id

_ledger, _changes, _versions = tables.ledger, tables.rating_changes, tables.versions
_games = tables.games
_SIDES = {0: "black", 1: "white"}

ROWS_AT_ONCE = 500
DETAILS_AT_ONCE = 50
REFITS_AT_ONCE = 10
"""Each may have moved everybody."""


class RatedGame(NamedTuple):
    """A game with what it did to ratings under every system."""

    game: GameRow
    changes: list[GameChange]


class BulkHistory(GameHistory, LedgerHistory):
    """Hands out everything; on SQLite by few connections of its own, so that no page waits for it."""

    @staticmethod
    def _opened(location: Location) -> AsyncEngine:
        return postgres_engine(location) if isinstance(location, PostgresUrl) else bulk_engine(location)

    async def stream_games(self, asked: GamesAsked, after: int = 0) -> AsyncIterator[list[GameRow]]:
        """All games of this kind in the order of their ids, from `after` + 1 on, in portions."""
        while games := await self.games_after(asked, ROWS_AT_ONCE, after):
            yield games
            after = games[-1].id

    async def stream_rated_games(self, asked: GamesAsked, after: int = 0) -> AsyncIterator[list[RatedGame]]:
        """The same, each with what it did to ratings."""
        async for games in self.stream_games(asked, after):
            async with self._snapshot() as read:
                changes = await changes_by_games(read, [game.id for game in games])
            yield [RatedGame(game, changes[game.id]) for game in games]

    async def stream_details(self, asked: GamesAsked, after: int = 0) -> AsyncIterator[list[GameDetail]]:
        """The games of this kind in the order of their ids, from `after` + 1 on, in portions, with all that their files
        need: pairings, what they did to ratings, and repeats are left empty."""
        while games := await self.games_after(asked, DETAILS_AT_ONCE, after):
            yield await self._details(games)
            after = games[-1].id

    async def _details(self, rows: list[GameRow]) -> list[GameDetail]:
        """A few questions for all of them together."""
        ids = [row.id for row in rows]
        columns = [_games.c[name] for name in ("id", "terms", "start", "winner", "margin2", "detail")]
        async with self._snapshot() as read:
            more = {row["id"]: row for row in await read(select(*columns).where(_games.c.id.in_(ids)))}
            corrections = await correction_rows(read, tables.corrections.c.game_id.in_(ids))
        moves = await self.moves_after(dict.fromkeys(ids, 0))
        return [
            GameDetail(
                game=row,
                terms=decoded(more[row.id]["terms"]),
                start=decoded(more[row.id]["start"]),
                winner=_SIDES.get(more[row.id]["winner"]),
                margin2=more[row.id]["margin2"],
                detail=more[row.id]["detail"],
                pairing=None,
                moves=moves[row.id],
                ratings=[],
                corrections=[each for each in corrections if each.game == row.id],
            )
            for row in rows
        ]

    async def stream_changes(
        self, venue: str, system: str | None = None, after: int = 0
    ) -> AsyncIterator[list[ChangeRow]]:
        """All changes of ratings in a venue by entries from `after` + 1 on, in order, in portions; under all systems
        unless one is named."""
        while True:
            async with self._snapshot() as read:
                at = await venue_id(read, venue)
                last = await last_entry(read, at)
                rows = await read(
                    select(
                        _changes,
                        _ledger.c.at,
                        _ledger.c.kind,
                        _versions.c.wire_name.label("version"),
                        _ledger.c.game_id.label("game"),
                    )
                    .join_from(_changes, _ledger, entry_of_change)
                    .join(_versions, _versions.c.id == _changes.c.version_id)
                    .where(
                        and_(
                            _changes.c.venue_id == at,
                            _changes.c.seq > number(after),
                            _changes.c.seq <= number(after + ROWS_AT_ONCE),
                        ),
                        *([] if system is None else [_changes.c.system == system]),
                    )
                    .order_by(_changes.c.seq, _changes.c.system, _changes.c.version_id)
                )
            if rows:
                yield [value(ChangeRow, row) for row in rows]
            after += ROWS_AT_ONCE
            if after >= last:
                return

    async def stream_refits(self, venue: str, system: str, after: int = 0) -> AsyncIterator[list[NamedRefit]]:
        """All refits of a system from number `after` + 1 on, in order, in portions, each with what it moved."""
        names: dict[int, str] = {}
        while refits := await self.published_refits(venue, system, after, REFITS_AT_ONCE):
            if any(point.version not in names for each in refits for point in each.points):
                names = await self.version_names()
            yield [
                NamedRefit(
                    number=each.refit.number,
                    at=each.at,
                    system=system,
                    included=each.refit.included,
                    base=each.refit.base,
                    applied=each.refit.applied,
                    cold=each.refit.cold,
                    notes=decoded(each.refit.notes),
                    build=each.build,
                    moved=[(names[point.version], point.mean, point.spread) for point in each.points],
                )
                for each in refits
            ]
            after = refits[-1].refit.number

    async def stream_ledger(self, venue: str, after: int = 0) -> AsyncIterator[list[LedgerRow]]:
        """All entries of a venue's ledger from `after` + 1 on, in order, in portions."""
        while entries := await self.ledger(venue, after, ROWS_AT_ONCE):
            yield entries
            after = entries[-1].seq
