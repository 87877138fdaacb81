"""A game's record as a bot looks at it: moves, clocks, and the board that follows from them.

Must not know: connections, whose game it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from cgos_protocol.games import registry
from cgos_protocol.games.base import Color, Ko, Ruleset
from cgos_protocol.games.go_rules import GoPosition
from cgos_protocol.v2.messages import ColorWord, Ply, RulesInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The committed moves of a game and what the clocks showed after them. A value: it does not change.

    :ivar plies: the moves with the mover's milliseconds left after each, from Black's first on
    :ivar black_ms: Black's milliseconds left, as the server said last
    :ivar white_ms: White's
    """

    rules: RulesInfo
    plies: tuple[Ply, ...]
    black_ms: int
    white_ms: int

    @property
    def moves(self) -> tuple[str, ...]:
        """``("D4", "PASS", ...)``."""
        return tuple(ply.move for ply in self.plies)

    @property
    def size(self) -> int:
        """The board's edge in points."""
        return self.rules.size

    @property
    def to_play(self) -> ColorWord:
        """Whose move the next one is."""
        return "white" if len(self.plies) % 2 else "black"

    def board(self) -> GoPosition:
        """The board after these moves, a fresh one at each call: play on it as you like.

        It reads and writes moves, tells what is legal (:meth:`GoPosition.play` answers None where it was), what is an
        eye, and counts. Raises ValueError where the moves cannot be played by the rules that are known here.
        """
        board = registry.board(ruleset(self.rules))
        for number, move in enumerate(self.moves, 1):
            point = board.read(move)
            refusal = "unreadable" if point is None else board.play(point)
            if refusal is not None:
                raise ValueError(f"move {number}, {move}, cannot be played: {refusal}")
        return board

    def legal_moves(self) -> list[str]:
        """Every vertex on which the side to move may play, row by row from the bottom; passing is always legal."""
        board = self.board()
        return [board.write(point) for point in board.empties() if board.copy().play(point) is None]


def ruleset(rules: RulesInfo) -> Ruleset:
    """The rules as the games understand them. Raises ValueError where they name what is not known here."""
    return Ruleset(
        game=rules.game, size=rules.size, komi2=round(rules.komi * 2), ko=Ko(rules.ko), suicide=rules.suicide
    )


def color_of(word: ColorWord) -> Color:
    """``"black"`` as a color."""
    return Color.BLACK if word == "black" else Color.WHITE
