"""After a restart: every unfinished game is read back, with both players away and its clock standing.

Must not know: why the last process ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
import structlog

from cgos_server.core.clock import remaining_ms, start
from cgos_server.core.games.base import Start
from cgos_server.core.referee import Referee, decode
from cgos_server.protocol.session import GameSetup
from cgos_server.runtime.live_game import Desk, LiveGame, Side
from cgos_server.storage.store import StoredGame

log = structlog.get_logger(__name__)


def stored_setup(game: StoredGame) -> GameSetup:
    """A stored game as `setup` tells it."""
    terms = decode(game.terms)
    control = terms.time
    return GameSetup(
        game.id, terms.rules.size, terms.rules.komi2, remaining_ms(control, start(control)),
        game.black, game.black_label, game.white, game.white_label,
        tuple((move.move, remaining_ms(control, move.clock)) for move in game.moves),
    )  # fmt: skip


def restore(
    games: Sequence[StoredGame], desks: Mapping[int, Desk], admit: Callable[[LiveGame], None]
) -> tuple[int, int]:
    """Rebuild `games` from their committed moves, under the terms with which they began.

    :param desks: by venue id; a game of a venue that is no longer configured waits until it is again
    :param admit: told of each game that goes on
    :returns: games that go on, games of venues that are not configured
    """
    restored = 0
    for stored in games:
        desk = desks.get(stored.venue_id)
        if desk is None:
            continue
        begun_at = msgspec.json.decode(stored.start, type=Start) if stored.start else None
        referee = Referee(decode(stored.terms), begun_at)
        sides = (
            Side(stored.black_id, stored.black, stored.black_label),
            Side(stored.white_id, stored.white, stored.white_label),
        )
        game = LiveGame(stored.id, desk, referee, *sides)
        admit(game)
        game.resume(stored.moves)
        restored += 1
        log.info("game restored", game=stored.id, venue=desk.venue.name, ply=game.ply)
    return restored, len(games) - restored
