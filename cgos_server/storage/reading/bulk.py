"""The read side's streams: all of something in portions, in constant memory however much there is.

Each portion is asked for by the key of the last one, so that a slow reader holds no transaction open. Must not know:
the formats in which they are handed out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, NamedTuple

from sqlalchemy import select

from cgos_protocol.api.bulk import ExportedChange, ExportedRank, ExportedRefit, RefitMove
from cgos_protocol.api.figures import LedgerEntry
from cgos_protocol.api.games import Game, GameChange
from cgos_protocol.ids import VersionId
from cgos_server.storage import tables
from cgos_server.storage.intervals import change_intervals
from cgos_server.storage.parameters import number
from cgos_server.storage.reading.answers import GameDetail
from cgos_server.storage.reading.bots import Bots
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.games import Games
from cgos_server.storage.reading.ledger import Ledger, changes_of_games, entry_of_change, last_entry
from cgos_server.storage.reading.refits import Ranks, Refits
from cgos_server.storage.reading.source import Source, Subject, value, venue_id

_ledger, _changes, _versions = tables.ledger, tables.rating_changes, tables.versions

ROWS_AT_ONCE: Final = 500
DETAILS_AT_ONCE: Final = 50
REFITS_AT_ONCE: Final = 10
"""Each may have moved everybody."""


class RatedGame(NamedTuple):
    """A game with what it did to ratings under every system."""

    game: Game
    changes: list[GameChange]


class Bulk(Subject):
    """Hands out everything."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._games, self._ledger = Games(source), Ledger(source)
        self._refits, self._ranks, self._bots = Refits(source), Ranks(source), Bots(source)

    async def games(self, wanted: GameFilter, after: int = 0) -> AsyncIterator[list[Game]]:
        """All games of this kind in the order of their ids, from `after` + 1 on, in portions."""
        while games := await self._games.after(wanted, ROWS_AT_ONCE, after):
            yield games
            after = games[-1].id

    async def rated_games(self, wanted: GameFilter, after: int = 0) -> AsyncIterator[list[RatedGame]]:
        """The same, each with what it did to ratings."""
        async for games in self.games(wanted, after):
            async with self._source.snapshot() as read:
                changes = await changes_of_games(read, [game.id for game in games])
            yield [RatedGame(game, changes[game.id]) for game in games]

    async def details(self, wanted: GameFilter, after: int = 0) -> AsyncIterator[list[GameDetail]]:
        """The games of this kind in the order of their ids, from `after` + 1 on, in portions, with all that their files
        need: pairings, what they did to ratings, and repeats are left empty."""
        while games := await self._games.after(wanted, DETAILS_AT_ONCE, after):
            yield await self._games.files(games)
            after = games[-1].id

    async def changes(
        self, venue: str, system: str | None = None, after: int = 0
    ) -> AsyncIterator[list[ExportedChange]]:
        """All changes of ratings in a venue by entries from `after` + 1 on, in order, in portions; under all systems
        unless one is named."""
        while True:
            async with self._source.snapshot() as read:
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
                        _changes.c.venue_id == at,
                        _changes.c.seq > number(after),
                        _changes.c.seq <= number(after + ROWS_AT_ONCE),
                        *([] if system is None else [_changes.c.system == system]),
                    )
                    .order_by(_changes.c.seq, _changes.c.system, _changes.c.version_id)
                )
            if rows:
                yield [value(ExportedChange, row, **change_intervals(row["system"], row)) for row in rows]
            after += ROWS_AT_ONCE
            if after >= last:
                return

    async def refits(self, venue: str, system: str, after: int = 0) -> AsyncIterator[list[ExportedRefit]]:
        """All refits of a system from number `after` + 1 on, in order, in portions, each with what it moved."""
        names: dict[VersionId, str] = {}
        while refits := await self._refits.published(venue, system, after, REFITS_AT_ONCE):
            if any(point.version not in names for each in refits for point in each.points):
                names = await self._bots.version_names()
            yield [
                value(
                    ExportedRefit,
                    each.refit._asdict(),
                    at=each.at,
                    system=system,
                    build=each.build,
                    moved=[
                        RefitMove(
                            version=names[point.version],
                            mean=point.mean,
                            spread=point.spread,
                            lower=point.lower,
                            upper=point.upper,
                        )
                        for point in each.points
                    ],
                )
                for each in refits
            ]
            after = refits[-1].refit.number

    async def ranks(self, venue: str, system: str, after: int = 0) -> AsyncIterator[list[ExportedRank]]:
        """What refits of a system from number `after` + 1 on said of ranks, in order, in portions of whole refits."""
        last = await self._refits.last(venue, system)
        while after < last:
            rows = await self._ranks.of_refits(venue, system, after=after, last=after + REFITS_AT_ONCE)
            if rows:
                yield rows
            after += REFITS_AT_ONCE

    async def ledger(self, venue: str, after: int = 0) -> AsyncIterator[list[LedgerEntry]]:
        """All entries of a venue's ledger from `after` + 1 on, in order, in portions."""
        while entries := await self._ledger.named(venue, after, ROWS_AT_ONCE):
            yield entries
            after = entries[-1].seq
