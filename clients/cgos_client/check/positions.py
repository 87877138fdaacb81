"""Positions in which engines go wrong, as legal sequences of moves on any odd board from 7x7 up.

All are settled boards of full and empty columns, so that few sensible moves remain. Pure. Must not know: engines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from cgos_protocol.games.base import Color
from cgos_protocol.games.notation import PASS_WORD, vertex


class Puzzle(NamedTuple):
    """A game up to where the engine is asked.

    :ivar moves: alternating from Black, passes included, never two in a row
    :ivar to_play: whose move it is then
    :ivar point: the vertex that it is about
    :ivar komi2: the komi that makes it matter, in half points
    """

    moves: tuple[str, ...]
    to_play: Color
    point: str
    komi2: int


def simple_ko() -> Puzzle:
    """White was taken in a ko at D4 and may not take back at once."""
    return Puzzle(("C4", "F4", "D5", "E5", "D3", "E3", "A1", "D4", "E4"), Color.WHITE, "D4", 15)


def ko_fight(size: int) -> tuple[str, ...]:
    """The same ko, taken back twice, each time after a move elsewhere; all of it legal."""
    far = vertex(size - 1, size - 1)
    return (*simple_ko().moves, far, vertex(size - 1, 0), "D4", vertex(0, size - 1), vertex(0, size - 2), "E4")


def superko(size: int) -> Puzzle:
    """Black sent two stones and was taken; taking one back would repeat the position of two moves before.

    The ban on the ko of the last move alone does not cover it. In the lower left corner A1, B1 and C1 are open between
    White (A2, B2) and Black (C2, D1): Black stands on B1, plays A1, White takes both by C1, and Black may not take C1
    by B1. The rest of the board is settled.
    """
    share = size // 2 + 1
    black_wall, white_wall = 1 + share, 2 + share
    black = [
        *_column(2, 1, size),
        vertex(3, 0),
        *(point for column in _every_second(4, black_wall) for point in _column(column, 0, size)),
        vertex(1, 0),
    ]
    white = [
        *_column(1, 1, size),
        vertex(0, 1),
        *(point for column in range(white_wall, size, 2) for point in _column(column, 0, size)),
    ]
    before = _ending_with(Color.WHITE, _alternately(black, white))
    return Puzzle((*before, "A1", "C1"), Color.BLACK, "B1", 15)


def after_superko(size: int) -> tuple[str, ...]:
    """The same game, with an exchange elsewhere after which taking back is legal, and the taking back."""
    puzzle = superko(size)
    return (*puzzle.moves, vertex(3, size - 1), vertex(0, size - 1), puzzle.point)


def dead_stone(size: int) -> Puzzle:
    """Black has passed; White is to move, and loses if it passes without having taken off a dead stone first.

    The stone stands alone on White's last column, where it cannot live; as long as it stands, that column counts for
    nobody.
    """
    wall = (size - 1) // 2
    stone = vertex(size - 1, size // 2)
    black_columns = [0, *range(2, wall)]
    white_columns = [wall, *range(wall + 2, size - 1)]
    black = [point for column in black_columns for point in _column(column, 0, size)]
    white = [point for column in white_columns for point in _column(column, 0, size)]
    moves = _ending_with(Color.BLACK, _alternately([*black, stone], white))
    return Puzzle((*moves, vertex(wall + 1, size - 1), PASS_WORD), Color.WHITE, stone, 1)


def _column(column: int, first: int, size: int) -> list[str]:
    return [vertex(column, row) for row in range(first, size)]


def _every_second(first: int, last: int) -> list[int]:
    """Every second column, and the last one in any case."""
    return [*range(first, last, 2), last]


def _alternately(black: Sequence[str], white: Sequence[str]) -> list[str]:
    """Both sides' stones in turns from Black; a side that has no more passes, and nobody passes at the end."""
    moves = [move or PASS_WORD for pair in zip_longest(black, white) for move in pair]
    while moves and moves[-1] == PASS_WORD:
        moves.pop()
    return moves


def _ending_with(color: Color, moves: Iterable[str]) -> list[str]:
    """`moves`, with a pass at the end where otherwise the other side would have been the last."""
    ended = list(moves)
    if len(ended) % 2 != (1 if color is Color.BLACK else 0):
        ended.append(PASS_WORD)
    return ended
