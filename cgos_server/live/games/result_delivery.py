"""Does a side know that its game has ended? Kept in the store, so that nobody is left guessing after a restart.

Told = a `gameover` was written to a connection that then sent something or closed in order; in any case after one
repetition. Must not know: how `gameover` is written.
"""

from __future__ import annotations

from datetime import UTC, datetime

from cgos_protocol.clock import remaining_ms, start
from cgos_protocol.event_news import Occasion
from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId
from cgos_protocol.session import GameOver, GameSetup
from cgos_protocol.terms import decode_terms
from cgos_protocol.verdict import Verdict
from cgos_server.storage.reading.stored import StoredGame
from cgos_server.storage.store import Store
from cgos_server.storage.writing.records import BlackTold, GameEnded, WhiteTold

NEVER, UNACKNOWLEDGED, SETTLED = 0, 1, 2


class ResultDelivery:
    """One side of one ended game.

    :param progress: what the store holds
    :param written: True where the store's row already counts the first `gameover` that is about to be written
    :ivar progress: NEVER, UNACKNOWLEDGED or SETTLED
    """

    __slots__ = ("_color", "_counted", "_game", "_store", "progress")

    def __init__(
        self, store: Store, game: GameId, color: Color, progress: int = NEVER, *, written: bool = False
    ) -> None:
        self._store = store
        self._game = game
        self._color = color
        self._counted = written
        self.progress = UNACKNOWLEDGED if written else progress

    def written(self) -> None:
        """A `gameover` went out. The second one settles the matter."""
        if self._counted:
            self._counted = False
            return
        self._move(UNACKNOWLEDGED if self.progress == NEVER else SETTLED)

    def missed(self) -> None:
        """The bot left before the first `gameover` could be written: the next one is not the second."""
        self._move(NEVER)

    def acknowledged(self) -> None:
        """The bot sent something after it, or closed in order."""
        self._move(SETTLED)

    def _move(self, progress: int) -> None:
        if self.progress != progress:
            self.progress = progress
            record = BlackTold if self._color is Color.BLACK else WhiteTold
            self._store.submit([record(progress, self._game)])


def game_ended(game: GameId, verdict: Verdict, at: int, progress: tuple[int, int]) -> GameEnded:
    """The row of an end; `at` in Unix milliseconds, `progress` of the delivery to Black and to White."""
    black_told, white_told = progress
    return GameEnded(
        ended_at=at,
        winner=None if verdict.winner is None else int(verdict.winner),
        reason=verdict.reason.value,
        margin2=verdict.margin2,
        detail=verdict.detail,
        result=verdict.text,
        black_told=black_told,
        white_told=white_told,
        id=game,
    )


def stored_setup(game: StoredGame, venue: str) -> GameSetup:
    """A stored game as `setup` tells it. `venue` is the name of its venue."""
    terms = decode_terms(game.terms)
    control = terms.time
    moves = tuple((move.move, remaining_ms(control, move.clock)) for move in game.moves)
    left = [remaining_ms(control, terms.starting_clock(color)) for color in Color]
    for ply, (_, after) in enumerate(moves):
        left[ply % 2] = after
    return GameSetup(
        game=game.id,
        size=terms.rules.size,
        komi2=terms.rules.komi2,
        level_ms=remaining_ms(control, start(control)),
        black=game.black,
        black_label=game.black_label,
        white=game.white,
        white_label=game.white_label,
        moves=moves,
        left_ms=(left[0], left[1]),
        venue=venue,
        terms=terms,
        why=game.why,
        opening=game.opening,
        occasion=occasion_of(game),
    )


def occasion_of(game: StoredGame) -> Occasion | None:
    """The event that a stored game is played in."""
    return Occasion(game.event, game.event_round) if game.event else None


def stored_over(game: StoredGame) -> GameOver:
    """How a stored game ended, without anybody's rating."""
    date = datetime.fromtimestamp((game.ended_at or 0) / 1000, UTC).strftime("%Y-%m-%d")
    winner = None if game.winner is None else Color(game.winner)
    return GameOver(
        date=date,
        result=game.result or "",
        winner=winner,
        reason=game.reason or "",
        detail=game.detail,
        plies=len(game.moves),
    )
