"""Which versions standings list when nobody asks for all: those that have a rated game and have not retired.

The same on pages, in the API and in commands. Must not know: how standings are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

import msgspec

from cgos_protocol.api.messages import Standing
from cgos_server.core.rating.base import RatingSystem
from cgos_server.storage.reading.answers import StandingRow
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History

StandingT = TypeVar("StandingT", bound=Standing)

RETIRED_DAYS: Final = 30
"""Without a game for so many days before its venue's latest one a version is retired: our choice."""

RETIRED_MS: Final = RETIRED_DAYS * 86_400_000
"""The same in milliseconds."""
_MORE: Final = 4
"""So many times as many rows as are wanted are looked at first."""


class Listing(NamedTuple):
    """All standings of a venue under one system, highest mean first.

    :ivar retired: names of versions
    """

    rows: list[StandingRow]
    retired: frozenset[str]

    def lists(self, row: Standing) -> bool:
        """Whether a version is shown to whoever does not ask for all."""
        return row.rank is not None and row.version not in self.retired


def listing(rows: Sequence[StandingRow], system: Callable[[str], RatingSystem]) -> Listing:
    """Standings with what is known of the whole venue alone.

    :param system: the rating system of a name with its options in the venue: it knows which of the ratings of an
        earlier entry, of which that is not stored, were provisional
    """
    latest = max((row.last_game_at for row in rows if row.last_game_at is not None), default=0)
    retired = frozenset(row.version for row in rows if _retired(row, latest))
    return Listing([row if row.provisional is not None else _judged(row, system(row.system)) for row in rows], retired)


def _judged(row: StandingRow, system: RatingSystem) -> StandingRow:
    doubtful = not row.anchor and system.is_provisional(row.spread, row.games, row.half_width)
    return msgspec.structs.replace(row, provisional=doubtful)


async def best(history: History, venue: str, system: str, limit: int) -> list[StandingRow]:
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


def _retired(row: StandingRow, latest: int) -> bool:
    """:param latest: when the venue's latest game was, Unix milliseconds"""
    return row.last_game_at is not None and row.last_game_at < latest - RETIRED_MS


def with_last_games(rows: Iterable[StandingT], published: Iterable[Standing]) -> list[StandingT]:
    """Add the last games that the published standings have: to compute ratings again does not change them."""
    last = {row.version: {"last_game": row.last_game, "last_game_at": row.last_game_at} for row in published}
    return [msgspec.structs.replace(row, **last.get(row.version, {})) for row in rows]
