"""How long games of a venue lasted, for whoever plans the next ones.

Must not know: what is planned.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import select

from cgos_protocol.verdict import Reason
from cgos_server.storage import tables
from cgos_server.storage.parameters import VENUE
from cgos_server.storage.reading.source import Subject, VenueKey

_games, _event_games = tables.games, tables.event_games

LATEST: Final = 200
"""So many games say enough of how long the next ones will last."""

_PLAYED_OUT: Final = (Reason.SCORE, Reason.RESIGNATION, Reason.TIME)
_LENGTHS: Final = (
    select(_games.c.started_at, _games.c.ended_at)
    .where(
        _games.c.venue_id == VENUE,
        _games.c.reason.in_([str(reason) for reason in _PLAYED_OUT]),
        _games.c.ended_at.is_not(None),
        # Events may have clocks of their own.
        ~select(_event_games.c.game_id).where(_event_games.c.game_id == _games.c.id).exists(),
    )
    .order_by(_games.c.id.desc())
)


class GameLengths(Subject):
    """Asked how long games last."""

    async def of_venue(self, venue: VenueKey) -> list[float]:
        """Seconds, of the latest games of a venue that were played to an end and are of no event."""
        rows = await self._source.venue_rows(venue, _LENGTHS.limit(LATEST))
        return [max(0, row["ended_at"] - row["started_at"]) / 1000 for row in rows]
