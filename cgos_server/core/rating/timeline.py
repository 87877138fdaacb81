"""Who beat whom, and when: results counted by pairs of versions and by spans of time.

Decides how time is cut. Every version has spans of its own, on a grid of days that starts with the epoch; where it has
too many of them its grid becomes twice as coarse, so that their number stays bounded however long it plays. Results
only move into wider spans, none is ever lost. Must not know: what the counts are used for.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import numpy as np

from cgos_server.core.rating.bayes.pool import Floats, Ints

DAY_MS: Final = 86_400_000
MOST_SPANS: Final = 20
"""Of a version."""
MOST_IN_ALL: Final = 1500
"""Of all versions together; a version has one at least."""

_ROOM: Final = 64

Cell = tuple[int, int, int, int]
"""First mover, its span, second mover, its span."""


class Dumped(NamedTuple):
    """A timeline's parts, in one order whatever its past; n versions, c cells with results.

    :ivar widths: days a span
    :ivar spans: of each version
    :ivar joined: Unix milliseconds
    :ivar cells: (c, 4), ascending
    :ivar counts: (c, 3) wins, draws and losses of the first mover
    """

    widths: list[int]
    spans: list[list[int]]
    joined: list[int]
    cells: Ints
    counts: Ints


class Snapshot(NamedTuple):
    """What a refit needs of a timeline, untouched by what comes. n versions, c cells.

    :ivar widths: (n,) days a span, powers of 2
    :ivar spans: each version's spans in which it played, ascending; at least one
    :ivar cells: (c, 4) first mover, its span, second mover, its span; an order of no meaning, cells may recur
    :ivar counts: (c, 3) wins, draws and losses of the first mover; all 0 is possible
    """

    widths: Ints
    spans: tuple[tuple[int, ...], ...]
    cells: Ints
    counts: Floats


class Timeline:
    """The counts of n versions (dense indices), growing.

    :param drifting: False: strength never changes, so that time is one span
    """

    def __init__(self, drifting: bool) -> None:
        self._drifting = drifting
        self._widths: list[int] = []
        self._spans: list[list[int]] = []
        self._joined: list[int] = []
        self._in_all = 0
        self._rows: dict[Cell, int] = {}
        self._used = 0
        self._cells = np.zeros((_ROOM, 4), dtype=np.int64)
        self._counts = np.zeros((_ROOM, 3))

    def join(self, at: int) -> None:
        """A version more, whose time begins then; `at` in Unix milliseconds."""
        self._widths.append(1)
        self._spans.append([])
        self._joined.append(at)

    def add(self, first: int, second: int, score2: int, at: int) -> None:
        """A result more, `score2` half points for the side with the first move."""
        row = self._row(first, second, at)
        self._counts[row, 2 - score2] += 1

    def correct(self, first: int, second: int, was2: int | None, score2: int | None, at: int) -> bool:
        """A result counts as another one, or not any more, or now for the first time (None: not counted).

        The counts do not know games, so the pair's latest result of that kind is taken (our choice). False, and nothing
        has changed, where there is none.
        """
        rows = self._of_pair(first, second)
        if was2 is None:
            row = rows[-1] if rows else self._row(first, second, at)
        else:
            with_it = [row for row in rows if self._counts[row, 2 - was2] > 0]
            if not with_it:
                return False
            row = with_it[-1]
            self._counts[row, 2 - was2] -= 1
        if score2 is not None:
            self._counts[row, 2 - score2] += 1
        return True

    def snapshot(self) -> Snapshot:
        """A copy."""
        used = self._used
        spans = tuple(
            tuple(spans) if spans else (self._span(version, self._joined[version]),)
            for version, spans in enumerate(self._spans)
        )
        widths = np.array(self._widths, dtype=np.int64)
        return Snapshot(widths, spans, self._cells[:used].copy(), self._counts[:used].copy())

    def dumped(self) -> Dumped:
        """All of it."""
        some = np.flatnonzero(self._counts[: self._used].any(axis=1))
        some = some[np.lexsort(self._cells[some].T[::-1])]
        return Dumped(
            widths=self._widths,
            spans=self._spans,
            joined=self._joined,
            cells=self._cells[some],
            counts=self._counts[some].astype(np.int64),
        )

    @classmethod
    def restored(cls, drifting: bool, dumped: Dumped) -> Timeline:
        """What :meth:`dumped` gave: it counts on alike. Raises ValueError where it does not fit together."""
        timeline = cls(drifting)
        timeline._widths, timeline._spans, timeline._joined = dumped.widths, dumped.spans, dumped.joined
        timeline._in_all = sum(map(len, dumped.spans))
        cells, counts = dumped.cells, dumped.counts
        n, used = len(dumped.spans), len(cells)
        fits = n == len(dumped.widths) == len(dumped.joined) and cells.shape == (used, 4) and counts.shape == (used, 3)
        if not fits:
            raise ValueError("versions, spans and results do not fit together")
        if cells[:, ::2].max(initial=-1) >= n:
            raise ValueError("there are results of versions that have not joined")
        room = max(used, _ROOM)
        timeline._cells, timeline._counts = np.zeros((room, 4), dtype=np.int64), np.zeros((room, 3))
        timeline._cells[:used], timeline._counts[:used] = cells, counts
        timeline._used = used
        timeline._rows = {(a, b, c, d): row for row, (a, b, c, d) in enumerate(cells.tolist())}
        return timeline

    @property
    def versions(self) -> int:
        """How many."""
        return len(self._spans)

    # -- spans

    def _span(self, version: int, at: int) -> int:
        return max(at, 0) // (DAY_MS * self._widths[version]) if self._drifting else 0

    def _played(self, version: int, at: int) -> None:
        """The version plays at that time: it has a span for it, and no version has too many."""
        spans = self._spans[version]
        span = self._span(version, at)
        if span in spans:
            return
        insort(spans, span)
        self._in_all += 1
        while len(spans) > MOST_SPANS:
            self._widen(version)
        while self._in_all > MOST_IN_ALL:
            longest = max(range(len(self._spans)), key=lambda v: len(self._spans[v]))
            if len(self._spans[longest]) == 1:
                return
            self._widen(longest)

    def _widen(self, version: int) -> None:
        """The version's spans become twice as long; two that were neighbors may become one."""
        self._widths[version] *= 2
        spans = self._spans[version]
        before = len(spans)
        spans[:] = sorted({span // 2 for span in spans})
        self._in_all -= before - len(spans)
        cells = self._cells[: self._used]
        for row in np.flatnonzero((cells[:, 0] == version) | (cells[:, 2] == version)).tolist():
            old: Cell = tuple(cells[row].tolist())
            if self._rows.get(old) != row:
                continue
            side = 1 if old[0] == version else 3
            cells[row, side] //= 2
            new: Cell = tuple(cells[row].tolist())
            del self._rows[old]
            held = self._rows.get(new)
            if held is None:
                self._rows[new] = row
            else:
                self._counts[held] += self._counts[row]
                self._counts[row] = 0

    # -- cells

    def _row(self, first: int, second: int, at: int) -> int:
        self._played(first, at)
        self._played(second, at)
        return self._row_of((first, self._span(first, at), second, self._span(second, at)))

    def _row_of(self, cell: Cell) -> int:
        row = self._rows.get(cell)
        if row is None:
            if self._used == len(self._cells):
                self._cells = _doubled(self._cells)
                self._counts = _doubled(self._counts)
            row = self._rows[cell] = self._used
            self._cells[row] = cell
            self._used += 1
        return row

    def _of_pair(self, first: int, second: int) -> list[int]:
        """The rows in which these two met with results that count, the latest last."""
        cells, counts = self._cells[: self._used], self._counts[: self._used]
        rows = np.flatnonzero((cells[:, 0] == first) & (cells[:, 2] == second) & counts.any(axis=1)).tolist()
        return sorted(rows, key=lambda row: (self._cells[row, 1], self._cells[row, 3]))


def _doubled(array: Any) -> Any:
    return np.concatenate([array, np.zeros_like(array)])


def first_and_last(spans: Iterable[tuple[int, ...]]) -> tuple[Ints, Ints]:
    """Positions of every version's first and last span where all spans stand in one row."""
    lengths = np.array([len(each) for each in spans], dtype=np.int64)
    ends = np.cumsum(lengths)
    return ends - lengths, ends - 1
