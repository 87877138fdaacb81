"""What plays: the one interface behind which a GTP program and a built-in bot look alike.

Decides what an engine may be asked and in which ways it can fail. Must not know: servers, lines, connections, GTP.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from cgos_protocol.clock import TimeControl
from cgos_protocol.games.base import Color
from cgos_protocol.games.go_board import tables


class EngineFailure(Exception):
    """The engine died, hung or answered nonsense. A restarted engine may do better. The text says what happened."""


class EngineUnfit(EngineFailure):
    """The engine cannot do what is asked, however often it is restarted. The text says what to change."""


class NewGame(NamedTuple):
    """What an engine is told before the first move.

    :ivar size: board edge in points
    :ivar komi2: komi in half points
    :ivar level_ms: the time control's figure at the start, milliseconds; 0 where there is no limit
    :ivar opponent: the opponent's name on the server
    :ivar opponent_label: its rating as the server shows it, ``1800`` or ``1800?``; may be empty
    :ivar time: the time control, where the server tells more of it than its figure (the line protocol does not)
    """

    size: int
    komi2: int
    level_ms: int
    opponent: str = ""
    opponent_label: str = ""
    time: TimeControl | None = None


class EngineMove(NamedTuple):
    """An engine's move.

    :ivar text: upper-case vertex, ``PASS`` or ``RESIGN``
    :ivar analysis: one line of JSON about the position before the move, or None
    """

    text: str
    analysis: str | None = None


class Engine(Protocol):
    """One engine at one board. Every call ends within the engine's own deadlines or raises :class:`EngineFailure`.

    A call that is cancelled leaves the board unknown; the next call may only be :meth:`settle`, :meth:`new_game` or
    :meth:`close`.
    """

    @property
    def label(self) -> str:
        """Name and version, as the engine gives them; for people."""

    @property
    def analyses(self) -> bool:
        """True where moves may carry analysis. Known after :meth:`start`."""

    async def start(self) -> None:
        """Make the engine ready for :meth:`new_game`."""

    async def new_game(self, game: NewGame) -> None:
        """An empty board."""

    async def play(self, color: Color, move: str) -> None:
        """`move` (vertex or ``PASS``) was made by `color`."""

    async def genmove(self, color: Color, left_ms: int, stones_left: int = 0) -> EngineMove:
        """Choose a move for `color` and make it on the engine's board.

        :param left_ms: milliseconds left: of the main time, or in overtime of the period
        :param stones_left: 0 in main time; in overtime the periods left (byo-yomi) or the moves still to make in this
            period (Canadian)
        """

    async def settle(self, grace: float) -> None:
        """Wait until no abandoned call is running any more; EngineFailure after `grace` seconds."""

    async def game_over(self, result: str) -> None:
        """The game ended with `result` (``B+3.5``, ``W+Resign`` ...)."""

    async def close(self) -> None:
        """End the engine, by force where it does not go. Never raises, may be called at any time."""


def normal_move(text: str, size: int) -> str | None:
    """The normal spelling of an engine's move on a board of `size`, or None where it is not a move at all."""
    word = text.strip().upper()
    return word if word == "RESIGN" or word in tables(size).moves else None
