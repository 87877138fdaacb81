"""What happens in a client's games, as values: for whoever keeps records of games or shows them.

Every transport tells the same. Listeners are called in order and must be quick.
Must not know: lines, connections, listeners.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from cgos_client.bridge.engine import NewGame
from cgos_protocol.clock import TimeControl
from cgos_protocol.games.base import Color
from cgos_protocol.session import GameSetup

log = logging.getLogger(__name__)


class Seated(NamedTuple):
    """A game began, or goes on after a reconnection: then the set-up holds its moves, and tells them all again.

    :ivar color: the side that this client plays
    :ivar time: the time control, None where the server tells its figure only
    """

    setup: GameSetup
    color: Color
    time: TimeControl | None = None

    def __str__(self) -> str:
        """``starting game 17 on 9x9, komi 7.0, as black against Alice (1800?)``."""
        setup, (opponent, label) = self.setup, self.opponent
        return (
            f"{'resuming' if setup.moves else 'starting'} game {setup.game} on {setup.size}x{setup.size}, "
            f"komi {setup.komi2 / 2}, as {self.color.name.lower()} against {opponent} ({label})"
        )

    @property
    def opponent(self) -> tuple[str, str]:
        """The other side's name, and its rating as the server shows it."""
        setup = self.setup
        return (setup.white, setup.white_label) if self.color is Color.BLACK else (setup.black, setup.black_label)

    def new_game(self) -> NewGame:
        """What the engine is told before the first move."""
        setup, (opponent, label) = self.setup, self.opponent
        return NewGame(
            size=setup.size,
            komi2=setup.komi2,
            level_ms=setup.level_ms,
            opponent=opponent,
            opponent_label=label,
            time=self.time,
        )

    def result(self, over: GameOver, moves: int) -> GameResult:
        """The finished game with so many moves on its record."""
        setup, (opponent, label) = self.setup, self.opponent
        winner = over.result[:2].upper()
        return GameResult(
            game=setup.game,
            size=setup.size,
            komi=setup.komi2 / 2,
            color=self.color.name.lower(),
            opponent=opponent,
            opponent_rating=label,
            result=over.result,
            detail=over.detail,
            won=None if winner not in ("B+", "W+") else (winner == "B+") is (self.color is Color.BLACK),
            moves=moves,
        )


class MoveAsked(NamedTuple):
    """It is this client's move, with `left_ms` milliseconds on its clock."""

    game: int
    color: Color
    left_ms: int


class MoveMade(NamedTuple):
    """A move was made, or sent where it is the client's own.

    :ivar move: upper-case vertex or ``PASS``
    :ivar left_ms: the mover's clock after it, milliseconds; None where it is not known yet
    :ivar analysis: what the engine said of the position before it, one line of JSON, or None
    """

    game: int
    color: Color
    move: str
    left_ms: int | None
    analysis: str | None = None


class GameOver(NamedTuple):
    """A game ended. After a reconnection an ending may be told a second time.

    :ivar date: YYYY-MM-DD, as the server wrote it
    :ivar result: ``B+3.5``, ``W+Resign`` ...
    :ivar detail: what the server said besides; may be empty
    """

    game: int
    date: str
    result: str
    detail: str


class GameResult(msgspec.Struct, frozen=True, kw_only=True):
    """One finished game as the client saw it, told once.

    :ivar won: None for a draw and for games without a result
    :ivar moves: moves on the record, passes included
    """

    game: int
    size: int
    komi: float
    color: str
    opponent: str
    opponent_rating: str
    result: str
    detail: str
    won: bool | None
    moves: int


Event = Seated | MoveAsked | MoveMade | GameOver | GameResult
Listener = Callable[[Event], None]


def to_all(*listeners: Listener) -> Listener:
    """One listener that passes everything on. What goes wrong in one of them ends no game."""

    def tell(event: Event) -> None:
        for listener in listeners:
            try:
                listener(event)
            except Exception:
                log.exception("an error of this client's own, which does not concern the game: %s", event)

    return tell
