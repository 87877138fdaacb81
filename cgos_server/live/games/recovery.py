"""After a restart: every unfinished game is read back, with both players away and its clock standing; connections whose
end a killed server could not write down get one.

Must not know: why the last process ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import structlog

from cgos_protocol.errors import CgosError
from cgos_protocol.games.base import Start
from cgos_protocol.ids import ConnectionId, GameId, VenueId
from cgos_protocol.referee import Referee
from cgos_protocol.terms import decode_terms
from cgos_protocol.verdict import Reason, Verdict
from cgos_server.live.games.live_game import LiveGame, Side
from cgos_server.live.games.result_delivery import SETTLED, game_ended, occasion_of
from cgos_server.live.venue.live_venue import LiveVenue
from cgos_server.storage.reading.stored import StoredGame
from cgos_server.storage.writing.records import ConnectionClosed, GameEnded, Record

log = structlog.get_logger(__name__)


def restore(games: Sequence[StoredGame], venues: Mapping[VenueId, LiveVenue]) -> tuple[int, int]:
    """Rebuild `games` from their committed moves, under the terms with which they began.

    :param venues: by the store's number; a game of a venue that is no longer configured waits until it is again
    :returns: games that go on, games of venues that are not configured; a game that cannot be read back is void
    """
    restored = waiting = 0
    for stored in games:
        venue = venues.get(stored.venue_id)
        if venue is None:
            waiting += 1
            continue
        try:
            game = _read_back(stored, venue)
        except (CgosError, ValueError, msgspec.MsgspecError) as error:
            log.error("a stored game cannot be read back and is void", game=stored.id, exc_info=error)
            venue.context.store.submit([_void(stored.id, venue.context.time.wall_ms())])
            venue.matchmaker.lost(stored)
            continue
        venue.lobby.restored(game)
        venue.matchmaker.restored(game)
        restored += 1
        log.info("game restored", game=stored.id, venue=venue.venue.name, ply=game.ply)
    return restored, waiting


def cut_off(left_open: Mapping[ConnectionId, int]) -> list[Record]:
    """The ends of connections that a killed server held; from number -> when it was still alive, Unix ms."""
    return [ConnectionClosed(at, "the server was killed", number) for number, at in left_open.items()]


def _read_back(stored: StoredGame, venue: LiveVenue) -> LiveGame:
    """Raises CgosError, ValueError or MsgspecError where what is stored makes no game."""
    begun_at = msgspec.json.decode(stored.start, type=Start) if stored.start else None
    referee = Referee(decode_terms(stored.terms), begun_at)
    game = LiveGame(
        game_id=stored.id,
        context=venue.context,
        referee=referee,
        black=Side(stored.black_id, stored.black, stored.black_label),
        white=Side(stored.white_id, stored.white, stored.white_label),
        started_at=stored.started_at,
        why=stored.why,
        opening=stored.opening,
    )
    game.occasion = occasion_of(stored)
    game.resume(stored.moves)
    return game


def _void(game: GameId, at: int) -> GameEnded:
    """The end of a game that nobody can be shown any more, so it counts as told. `at` in Unix ms."""
    verdict = Verdict(None, Reason.VOID, None, "The server could not read the game back after a restart.")
    return game_ended(game, verdict, at, (SETTLED, SETTLED))
