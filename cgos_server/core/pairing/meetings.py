"""How often the candidates of one pairing pass have met, looked up for many pairs at once.

Must not know: what follows from it, storage.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple, overload

import numpy as np

from cgos_server.core.pairing.base import Bools, Ints, Meeting, PairingPass

_SWAPPED = [1, 0, 3, 2, 5, 4]


class Rows(Sequence[Meeting]):
    """Meetings that lie side by side as whole numbers: tens of thousands of objects would each be looked at by the
    garbage collector, which holds up whoever made them.

    :param fields: the fields of one after the other
    """

    def __init__(self, fields: array[int]) -> None:
        self._table: Ints = np.frombuffer(fields, np.int64).reshape(-1, len(Meeting._fields))

    def __len__(self) -> int:
        return len(self._table)

    @overload
    def __getitem__(self, at: int) -> Meeting: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Meeting]: ...

    def __getitem__(self, at: int | slice) -> Meeting | Sequence[Meeting]:
        rows = self._table[at].tolist()
        return [Meeting(*row) for row in rows] if isinstance(at, slice) else Meeting(*rows)

    def __iter__(self) -> Iterator[Meeting]:
        return (Meeting(*row) for row in self._table.tolist())


class PairHistory(NamedTuple):
    """How often the two sides of m pairs have met, and with which color; each (m,), 0 where they never met.

    :ivar recent_i: games against j among the remembered last games of i
    :ivar recent_j: games against i among those of j
    :ivar black_i: games, of all, in which i was Black against j
    :ivar black_j: games, of all, in which j was Black against i
    :ivar lately_i: games against j among the last 10 of i
    :ivar lately_j: games against i among the last 10 of j
    """

    recent_i: Ints
    recent_j: Ints
    black_i: Ints
    black_j: Ints
    lately_i: Ints
    lately_j: Ints


class Places:
    """Where the version ids of one pass stand in ``pairing_pass.candidates``, and sets of pairs of such places."""

    def __init__(self, pairing_pass: PairingPass) -> None:
        self.n = len(pairing_pass.candidates)
        ids = np.fromiter((c.id for c in pairing_pass.candidates), np.int64, self.n)
        self._order = np.argsort(ids, kind="stable")
        self._ids = ids[self._order]

    def of(self, ids: Ints) -> Ints:
        """(m,) places of `ids`, -1 for those that are no candidates."""
        if not self.n:
            return np.full(len(ids), -1)
        at = np.minimum(np.searchsorted(self._ids, ids), self.n - 1)
        places: Ints = np.where(self._ids[at] == ids, self._order[at], -1)
        return places

    def keys(self, i: Ints, j: Ints) -> Ints:
        """(m,) one number for each pair of places, whichever comes first."""
        return np.minimum(i, j) * self.n + np.maximum(i, j)

    def pairs(self, named: Iterable[tuple[int, Iterable[int]]]) -> Ints:
        """Ascending keys of the pairs (place, other version's id) in `named`, those with somebody who is no candidate
        left out."""
        i: list[int] = []
        ids: list[int] = []
        for place, others in named:
            for other in others:
                i.append(place)
                ids.append(other)
        if not i:
            return np.zeros(0, np.int64)
        one, other_place = np.array(i), self.of(np.array(ids))
        there = (other_place >= 0) & (other_place != one)
        return np.unique(self.keys(one[there], other_place[there]))


def among(keys: Ints, sorted_keys: Ints) -> Bools:
    """(m,) True where a key is one of `sorted_keys` (ascending)."""
    if not len(sorted_keys):
        return np.zeros(len(keys), np.bool_)
    at = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    there: Bools = sorted_keys[at] == keys
    return there


class Meetings:
    """The meetings of one pass, by pairs of places. Built when first asked; a pair told twice counts once."""

    def __init__(self, pairing_pass: PairingPass, places: Places | None = None) -> None:
        self._pairing_pass = pairing_pass
        self._given = places

    @cached_property
    def _places(self) -> Places:
        return self._given or Places(self._pairing_pass)

    @cached_property
    def _table(self) -> tuple[Ints, Ints]:
        """Ascending keys, and for each (recent, recent, black, black, lately, lately), the smaller place first."""
        meetings, width = self._pairing_pass.meetings, len(Meeting._fields)
        table = np.fromiter(chain.from_iterable(meetings), np.int64, width * len(meetings)).reshape(-1, width)
        a, b = self._places.of(table[:, 0]), self._places.of(table[:, 1])
        there = (a >= 0) & (b >= 0)
        a, b, counts = a[there], b[there], table[there, 2:]
        counts = np.where((a > b)[:, None], counts[:, _SWAPPED], counts)
        keys, first = np.unique(self._places.keys(a, b), return_index=True)
        return keys, counts[first]

    def lookup(self, i: Ints, j: Ints) -> tuple[Ints, PairHistory]:
        """Which of the pairs of places (i, j), both (m,), have met: (k,) their positions, ascending, and for these only
        how often."""
        if not self._pairing_pass.meetings or not len(i) or not len(self._table[0]):
            return np.zeros(0, np.int64), PairHistory(*np.zeros((6, 0), np.int64))
        keys, table = self._table
        wanted = self._places.keys(i, j)
        at = np.searchsorted(keys, wanted)
        at[at == len(keys)] = 0
        where = np.flatnonzero(keys[at] == wanted)
        counts, swapped = table[at[where]], i[where] > j[where]
        counts[swapped] = counts[swapped][:, _SWAPPED]
        return where, PairHistory(*counts.T)

    def of(self, i: Ints, j: Ints) -> PairHistory:
        """How often the pairs of places (i, j), both (m,), have met."""
        where, known = self.lookup(i, j)
        counts = np.zeros((6, len(i)), np.int64)
        counts[:, where] = known
        return PairHistory(*counts)
