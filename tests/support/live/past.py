"""What a database would hold after the records that a store in memory was given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cgos_protocol.clock import ClockState
from cgos_protocol.terms import encode_terms
from cgos_server.core.venue import terms_of
from cgos_server.storage.reading.stored import StoredGame, StoredMove
from cgos_server.storage.writing import records as rows
from support.live.house import House, S


def stored_games(records: Iterable[rows.Record], names: Mapping[int, str]) -> dict[int, StoredGame]:
    """All games by number, with their moves, ends and who was told them.

    :param names: version id -> wire name
    """
    games: dict[int, StoredGame] = {}
    for row in records:
        match row:
            case rows.GameAdded():
                games[row.id] = StoredGame(
                    row.id, row.venue_id, row.black_id, row.white_id, names[row.black_id], names[row.white_id],
                    row.black_label, row.white_label, row.terms, row.start, row.started_at, (), opening=row.opening,
                )  # fmt: skip
            case rows.MoveAdded():
                game = games[row.game_id]
                move = StoredMove(row.move, ClockState(row.main_us, row.period_us, row.quota, row.bank_us))
                games[row.game_id] = game._replace(moves=(*game.moves, move))
            case rows.GameEnded():
                games[row.id] = games[row.id]._replace(
                    result=row.result, detail=row.detail, ended_at=row.ended_at, winner=row.winner, reason=row.reason,
                    plies=len(games[row.id].moves), black_told=row.black_told, white_told=row.white_told,
                )  # fmt: skip
            case rows.BlackTold():
                games[row.id] = games[row.id]._replace(black_told=row.progress)
            case rows.WhiteTold():
                games[row.id] = games[row.id]._replace(white_told=row.progress)
    return games


def untold_games(games: Iterable[StoredGame], venue_id: int, version_id: int) -> list[StoredGame]:
    """As :meth:`cgos_server.storage.reading.games.Games.untold`, however long ago they ended."""
    untold = []
    for game in games:
        delivered = {game.black_id: game.black_told, game.white_id: game.white_told}
        if game.venue_id == venue_id and game.result is not None and delivered.get(version_id, 2) < 2:
            untold.append(game)
    return untold


def stored(house: House, number: int, **changes: Any) -> StoredGame:
    """An ended game of the house's venue, of its first two versions unless `changes` say otherwise."""
    game = StoredGame(
        number, 1, 1, 2, "anna", "bert", "1800?", "1700", encode_terms(terms_of(house.venue)), "", 0,
        (StoredMove("E5", ClockState(59 * S)), StoredMove("D5", ClockState(58 * S))), "B+Resign", "",
        house.time.wall_ms(), 2, 2, 0, "resignation", 2, "They stood side by side.",
    )  # fmt: skip
    return game._replace(**changes)
