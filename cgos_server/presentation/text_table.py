"""Tables as plain aligned text.

Must not know: what the cells mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

_NUMBER: Final = re.compile(r"[-+]?\d+(\.\d+)?")


def rightward(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[bool]:
    """Which columns hold only numbers, so that they stand to the right; ``-`` is none."""
    return [_numbers([row[at] for row in rows]) for at in range(len(columns))]


def text_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table, the one with the columns' names first."""
    right = rightward(columns, rows)
    widths = [max(len(row[at]) for row in [list(columns), *rows]) for at in range(len(columns))]
    for row in [list(columns), *rows]:
        padded = [
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ]
        yield "  ".join(padded).rstrip()


def _numbers(column: Sequence[str]) -> bool:
    return any(cell != "-" for cell in column) and all(cell == "-" or _NUMBER.fullmatch(cell) for cell in column)
