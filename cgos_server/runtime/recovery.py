"""After a restart: every unfinished game is read back, with both players away and its clock standing.

Must not know: why the last process ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import structlog

from cgos_server.core.games.base import Start
from cgos_server.core.referee import Referee, decode
from cgos_server.runtime.live_game import LiveGame, Side
from cgos_server.runtime.live_venue import LiveVenue
from cgos_server.storage.store import StoredGame

log = structlog.get_logger(__name__)


def restore(games: Sequence[StoredGame], venues: Mapping[int, LiveVenue]) -> tuple[int, int]:
    """Rebuild `games` from their committed moves, under the terms with which they began.

    :param venues: by the store's number; a game of a venue that is no longer configured waits until it is again
    :returns: games that go on, games of venues that are not configured
    """
    restored = 0
    for stored in games:
        venue = venues.get(stored.venue_id)
        if venue is None:
            continue
        begun_at = msgspec.json.decode(stored.start, type=Start) if stored.start else None
        referee = Referee(decode(stored.terms), begun_at)
        sides = (
            Side(stored.black_id, stored.black, stored.black_label),
            Side(stored.white_id, stored.white, stored.white_label),
        )
        game = LiveGame(stored.id, venue.desk, referee, *sides)
        venue.lobby.restored(game)
        game.resume(stored.moves)
        restored += 1
        log.info("game restored", game=stored.id, venue=venue.venue.name, ply=game.ply)
    return restored, len(games) - restored
