"""Tables as spreadsheets write them: lines of cells with a delimiter between, and the line in which each begins.

Must not know: what the cells mean.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from cgos_protocol.lines.misread import Misread

DELIMITERS: Final = (",", ";", "\t")


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: where it begins, 1 = the first, and its cells."""

    line: int
    cells: tuple[str, ...]


def first_line(text: str) -> str:
    """The first one that is not empty."""
    return next((line for line in text.splitlines() if line.strip()), "")


def names_column(line: str, name: str) -> bool:
    """Whether a line has a cell with this name in it, whatever the delimiter."""
    return any(name in (cell.strip(' "').lower() for cell in line.split(mark)) for mark in DELIMITERS)


def rows_of(text: str, fault: Callable[[int, int, str, str], Misread]) -> Iterator[Row]:
    """Lines that are not empty. The delimiter is what the first one has most of.

    :param fault: makes the error about a line, a column, a problem and its remedy
    :raises Misread: where quotes are not closed
    """
    delimiter = delimiter_of(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as problem:
            raise fault(max(line, reader.line_num), 1, str(problem), "Mend the quotes") from problem
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield Row(line, tuple(cells))
        line = reader.line_num + 1


def delimiter_of(text: str) -> str:
    """What parts the cells of a table: of the delimiters the one of which its first line has most."""
    return max(DELIMITERS, key=first_line(text).count)
