"""The tally of a question from what the store has of its games: the same for the live server and for whoever reads.

Must not know: what follows from a tally, who wants it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId, VersionId
from cgos_protocol.verdict import Reason
from cgos_server.core.questions.asked import Asked
from cgos_server.core.questions.tally import Tally
from cgos_server.storage.reading.asking.questions import QuestionGameRow

FAULTS: Final = frozenset({Reason.TIME, Reason.ILLEGAL, Reason.FORFEIT})
"""Games that ended so were not decided on the board, which an answer says."""

WITHOUT_RESULT: Final = frozenset({Reason.VOID, Reason.ABORT})
"""Games that ended so are played again."""


def read_games(tally: Tally, asked: Asked, games: Iterable[QuestionGameRow]) -> list[GameId]:
    """Tally these games; gives those whose result is in the store without a digest, as the server was killed before
    that was written. They are running ones to the tally."""
    unwritten: list[GameId] = []
    out: set[int] = set()
    for row in games:
        if row.void:
            out.add(row.pair)
        if row.reason in WITHOUT_RESULT:
            continue
        color = color_of(asked, row.black_id)
        opponent = row.white_id if color is Color.BLACK else row.black_id
        tally.began(row.game_id, row.pair, opponent, opening=row.opening, color=color)
        if row.reason is None:
            continue
        if row.digest is None:
            unwritten.append(row.game_id)
        else:
            winner = None if row.winner is None else Color(row.winner)
            end_game(tally, row.game_id, color, winner=winner, reason=Reason(row.reason), digest=row.digest)
    tally.take_out(out)
    return unwritten


def end_game(tally: Tally, game: GameId, color: Color, *, winner: Color | None, reason: Reason, digest: int) -> None:
    """A game in which the version had this color has a result."""
    fault = reason.value if reason in FAULTS else ""
    tally.ended(game, half_points(winner, color), digest=digest, fault=fault)


def color_of(asked: Asked, black: VersionId) -> Color:
    """The color of the version whose strength is asked about, in a game of it with this Black."""
    return Color.BLACK if black == asked.version else Color.WHITE


def half_points(winner: Color | None, color: Color) -> int:
    """Half points of a color."""
    return 1 if winner is None else 2 * (winner is color)
