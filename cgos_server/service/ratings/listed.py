"""Which versions standings list when nobody asks for all: those that have a rated game and have not retired.

The same on pages, in the API and in commands. Must not know: how standings are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec

from cgos_server.core.rating.base import RatingSystem
from cgos_server.storage.reading.answers import Standing
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History

RETIRED_DAYS: Final = 30
"""Without a game for so many days before its venue's latest one a version is retired: our choice."""

_RETIRED_MS: Final = RETIRED_DAYS * 86_400_000
_MORE: Final = 4
"""So many times as many rows as are wanted are looked at first."""


class Placed(NamedTuple):
    """A version in standings.

    :ivar rank: among all that have a rated game, from 1; None without one
    """

    rank: int | None
    standing: Standing
    retired: bool

    @property
    def listed(self) -> bool:
        """Whether it is shown to whoever does not ask for all."""
        return self.rank is not None and not self.retired


def placed(rows: Sequence[Standing], system: Callable[[str], RatingSystem]) -> list[Placed]:
    """All standings of a venue under one system, highest mean first, with places.

    :param system: the rating system of a name with its options in the venue: it knows which of the ratings of an
        earlier entry, of which that is not stored, were provisional
    """
    latest = max((row.last_game_at for row in rows if row.last_game_at is not None), default=0)
    places, rank = [], 0
    for row in rows:
        rank += row.games > 0
        if row.provisional is None:
            doubtful = not row.anchor and system(row.system).is_provisional(row.spread, row.games)
            row = msgspec.structs.replace(row, provisional=doubtful)
        places.append(Placed(rank if row.games else None, row, _retired(row, latest)))
    return places


async def best(history: History, venue: str, system: str, limit: int) -> list[Standing]:
    """The first `limit` of those that are listed, highest mean first. Raises Refused where there is no such venue."""
    newest = await history.games.find(GameFilter(venue=venue), 1)
    latest = newest[0].ended_at or newest[0].started_at if newest else 0
    some = _MORE * limit
    while True:
        rows = await history.ratings.standings(venue, system, limit=some, played=True)
        active = [row for row in rows if not _retired(row, latest)]
        if len(active) >= limit or len(rows) < some:
            return active[:limit]
        some *= _MORE


def _retired(row: Standing, latest: int) -> bool:
    """:param latest: when the venue's latest game was, Unix milliseconds"""
    return row.last_game_at is not None and row.last_game_at < latest - _RETIRED_MS
