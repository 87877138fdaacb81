"""In which events games were played.

Must not know: what is said of the games.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import BigInteger, bindparam, select

from cgos_protocol.api.events import GameInEvent
from cgos_protocol.ids import GameId
from cgos_server.storage import tables
from cgos_server.storage.reading.source import Read, value

_events, _event_games = tables.events, tables.event_games
_HOLDING: Final = (
    select(_event_games.c.game_id, _events.c.name.label("event"), _event_games.c.round, _event_games.c.number)
    .join_from(_event_games, _events, _events.c.id == _event_games.c.event_id)
    .where(_event_games.c.game_id.in_(bindparam("ids", type_=BigInteger, expanding=True)))
)


async def games_in_events(read: Read, games: Sequence[GameId]) -> dict[GameId, GameInEvent]:
    """Of those of these games that were played in an event: which one, its round, and their number there."""
    return {row["game_id"]: value(GameInEvent, row) for row in await read(_HOLDING, ids=list(games))}
