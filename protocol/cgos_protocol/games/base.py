"""What the rest of the server may ask of any game: read a move, play it, is it over, who won by how much.

Another game is a variant of Go for now (:class:`cgos_protocol.games.go_rules.Go`): pages and clients draw stones.
Must not know: clocks, players, wires, storage.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final, Protocol


class Color(enum.IntEnum):
    """The two sides. BLACK is the side that moves first in Go; other games map their first mover to it."""

    BLACK = 0
    WHITE = 1

    @property
    def other(self) -> Color:
        """The opponent's color."""
        return _OTHERS[self]

    @property
    def letter(self) -> str:
        """``"b"`` or ``"w"``, as GTP and CGOS write it."""
        return "b" if self is Color.BLACK else "w"


_OTHERS: Final = (Color.WHITE, Color.BLACK)
"""Black's opponent and White's."""


def mover_of(ply: int) -> Color:
    """Who made that ply (1 or more): colors alternate, from Black."""
    return Color.WHITE if ply % 2 == 0 else Color.BLACK


class Illegality(enum.StrEnum):
    """Why a move was not played. The values are the words CGOS has always used."""

    SYNTAX = "do not understand syntax"
    OCCUPIED = "move to occupied point"
    SUICIDE = "suicide attempted"
    KO = "KO attempted"
    OVER = "the game is over"


class Ko(enum.StrEnum):
    """Which repetitions are forbidden."""

    POSITIONAL = "positional"
    """No move may recreate any earlier whole-board position (side to move ignored); passes do not lift it."""
    SITUATIONAL = "situational"
    """No move may recreate an earlier position with the same side to move."""
    SIMPLE = "simple"
    """No move may recreate the position before the opponent's last move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset:
    """What is played. Komi is kept in half points so that no float ever decides a game.

    :ivar game: a name in the registry, ``"go"``
    :ivar size: board edge in points (Go: 2-25)
    :ivar komi2: White's compensation in half points (komi 7.5 is 15); any integer
    :ivar ko: which repetitions are illegal
    :ivar suicide: True where a move that leaves its own chain without liberties is legal (and removes it)
    """

    game: str = "go"
    size: int = 9
    komi2: int = 14
    ko: Ko = Ko.POSITIONAL
    suicide: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """Where a game starts, if not from the empty position: set-up stones and who moves first."""

    black: tuple[str, ...] = ()
    white: tuple[str, ...] = ()
    to_play: Color = Color.BLACK


class Position(Protocol):
    """One game in progress: mutable, cheap, and never wrong about legality.

    Moves are small integers private to the game; :meth:`read` and :meth:`write` convert from and to the notation.
    """

    @property
    def ply(self) -> int:
        """Moves made so far, passes included."""

    @property
    def to_play(self) -> Color:
        """Whose turn it is."""

    def read(self, text: str) -> int | None:
        """The move that `text` means in any accepted spelling, or None where it means none. Never raises."""

    def write(self, move: int) -> str:
        """The one normal spelling of `move`: upper-case vertex, or ``PASS``."""

    def play(self, move: int) -> Illegality | None:
        """Play `move` for the side to move. None: played. Otherwise the reason, and nothing has changed."""

    def is_over(self) -> bool:
        """True when the rules end the game here (two passes in a row)."""

    def score(self) -> int:
        """Black's margin in half points, komi counted, as the position stands; negative where White leads."""
