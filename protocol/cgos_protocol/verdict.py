"""How a game ended: (winner, or draw, or none; reason). The only thing that decides a game.

Must not know: who plays, how anything is sent or stored.
"""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

from cgos_protocol.games.base import Color


class Reason(enum.StrEnum):
    """Why a game ended. Stored and shown by these words."""

    SCORE = "score"
    RESIGNATION = "resignation"
    TIME = "time"
    ILLEGAL = "illegal move"
    FORFEIT = "forfeit"
    """Lost by ruling or no-show; rated."""
    VOID = "void"
    """The server's fault; never rated."""
    ABORT = "abort"
    """Ended without a result, by an operator or because a side never made its first move; never rated."""


class Verdict(NamedTuple):
    """One game's end.

    :ivar winner: None for a draw, and for endings without a result
    :ivar reason: why
    :ivar margin2: Black's margin in half points where the reason is SCORE, else None
    :ivar detail: a sentence or phrase for people, ASCII, may be empty
    """

    winner: Color | None
    reason: Reason
    margin2: int | None = None
    detail: str = ""

    @property
    def rated(self) -> bool:
        """True where the game counts for ratings."""
        return self.reason not in (Reason.VOID, Reason.ABORT)

    @property
    def score2(self) -> int | None:
        """Black's result in half points: 2 win, 1 draw, 0 loss; None where the game has no result."""
        if not self.rated:
            return None
        if self.winner is None:
            return 1
        return 2 if self.winner is Color.BLACK else 0

    @property
    def text(self) -> str:
        """The result as CGOS and SGF write it: ``B+3.5``, ``W+Resign``, ``B+Time``, ``Draw``, ``Abort``, ``Void``."""
        if not self.rated:
            return self.reason.capitalize()
        if self.winner is None:
            return "Draw"
        side = "B+" if self.winner is Color.BLACK else "W+"
        if self.reason is Reason.SCORE:
            return f"{side}{abs(self.margin2 or 0) / 2}"
        return side + _LOST_BY[self.reason]


_LOST_BY: Final = {
    Reason.RESIGNATION: "Resign",
    Reason.TIME: "Time",
    Reason.ILLEGAL: "Illegal",
    Reason.FORFEIT: "Forfeit",
}


def by_score(margin2: int) -> Verdict:
    """The verdict on a finished board; `margin2` is Black's margin in half points."""
    winner = None if margin2 == 0 else Color.BLACK if margin2 > 0 else Color.WHITE
    return Verdict(winner, Reason.SCORE, margin2)
