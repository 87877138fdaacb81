"""How points and passes are spelled: GTP vertices, the words CGOS engines send, and SGF points.

Columns count from 0 at the left, rows from 0 at the bottom, as players see the board. Must not know: stones, legality,
turns.
"""

from __future__ import annotations

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Column letters from the left. GTP leaves out I, which ends the boards it can name at 25x25."""

PASS_WORD = "PASS"


def vertex(column: int, row: int) -> str:
    """The GTP vertex of a point: ``vertex(3, 3)`` is ``"D4"``. Raises IndexError for a column beyond Z."""
    return f"{COLUMNS[column]}{row + 1}"


def normal(text: str) -> str | None:
    """`text` as it would be written if it is a move at all: upper case, bare, every word in pa... as ``"PASS"``.

    CGOS takes any word that starts with "pa", in any case, for a pass. Whether the result names a point of a board is
    for the board's own list of vertices to say. None where `text` is not one word. Never raises.
    """
    words = text.split(None, 1)
    if len(words) != 1:
        return None
    word = words[0]
    if word[:2] in ("pa", "PA", "Pa", "pA"):
        return PASS_WORD
    # Upper case turns some letters outside ASCII into A-Z (the long s into S), and those name no point.
    return word.upper() if word.isascii() else None


def to_sgf(text: str, size: int) -> str:
    """The SGF point (FF[4]: column, then row from the top, ``"a"`` first) of a vertex or pass; a pass is ``""``.

    :param text: a vertex or pass in any accepted spelling
    :param size: board edge, 2-25
    :raises ValueError: where `text` is no vertex of that board
    """
    word = normal(text)
    if word == PASS_WORD:
        return ""
    rows = [str(row + 1) for row in range(size)]
    if word is not None and word[0] in COLUMNS[:size] and word[1:] in rows:
        return _letter(COLUMNS.index(word[0])) + _letter(size - 1 - rows.index(word[1:]))
    raise ValueError(f"{text!r} is not a point of a board of size {size}.")


def from_sgf(point: str, size: int) -> str:
    """The vertex, or ``"PASS"``, of an SGF point: ``from_sgf("dp", 19)`` is ``"D4"``.

    Up to 19x19, ``"tt"`` is a pass too, as FF[3] wrote it.

    :raises ValueError: where `point` lies off the board or is not two small letters
    """
    if point == "" or (point == "tt" and size <= 19):
        return PASS_WORD
    if len(point) == 2:
        column, row = ord(point[0]) - ord("a"), size - 1 - (ord(point[1]) - ord("a"))
        if 0 <= column < size and 0 <= row < size:
            return vertex(column, row)
    raise ValueError(f"{point!r} is not an SGF point of a board of size {size}.")


def _letter(index: int) -> str:
    return chr(ord("a") + index)
