"""Perfect matchings: whether everybody can be paired, and the pairing that comes first when read from the top.

Vertices are 0 to n - 1, best first; edges are bit masks. One matching is kept while edges come and vertices go, so that
a question costs one search for an augmenting path (Edmonds 1965) and mostly not even that. Must not know: players,
rounds, what an edge means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Pairs = list[tuple[int, int]]

_NOBODY = -1


def bits(mask: int) -> Iterator[int]:
    """The vertices of a mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Matching:
    """A largest matching of a graph.

    :param neighbors: (n,) mask of each vertex; symmetric, without loops
    """

    def __init__(self, neighbors: Sequence[int]) -> None:
        self._neighbors = list(neighbors)
        self._mates = [_NOBODY] * len(neighbors)
        self._present = (1 << len(neighbors)) - 1
        self._single = self._present
        self._enlarge()

    @property
    def is_perfect(self) -> bool:
        """Whether everybody present has a mate."""
        return not self._single

    @property
    def singles(self) -> int:
        """How many of those present have no mate."""
        return self._single.bit_count()

    def allow(self, neighbors: Sequence[int]) -> None:
        """Goes on with more edges.

        :param neighbors: (n,) no edge of before is missing
        """
        self._neighbors = list(neighbors)
        self._enlarge()

    def take(self, first: int, second: int) -> bool:
        """Removes two adjacent vertices, if what is left still has a perfect matching; says whether it has.

        The matching must be perfect.
        """
        mate, other = self._mates[first], self._mates[second]
        both = 1 << first | 1 << second
        if mate != second:
            self._present ^= both
            self._mates[mate] = self._mates[other] = _NOBODY
            self._single = 1 << other
            if not self._augment(mate):
                self._present ^= both
                self._mates[mate], self._mates[other] = first, second
                self._single = 0
                return False
        else:
            self._present ^= both
        self._mates[first] = self._mates[second] = _NOBODY
        return True

    def first_pairing(self) -> Pairs:
        """Pairs (smaller, larger): the first vertex with the first that leaves the rest a perfect matching, and so on.
        Of all perfect matchings the one whose partners, read from the top, come first. Takes all vertices away.

        The matching must be perfect.
        """
        pairs: Pairs = []
        while self._present:
            first = (self._present & -self._present).bit_length() - 1
            second = next(second for second in bits(self._neighbors[first] & self._present) if self.take(first, second))
            pairs.append((first, second))
        return pairs

    def _enlarge(self) -> None:
        for vertex in bits(self._single):  # of two mates each may be the easier one: plain pairs first
            free = self._neighbors[vertex] & self._single
            if self._single >> vertex & 1 and free:
                self._join(vertex, (free & -free).bit_length() - 1)
        for vertex in bits(self._single):  # a failed search stays one when others have been paired (Edmonds 1965)
            if self._single >> vertex & 1:
                self._single ^= 1 << vertex
                if not self._augment(vertex):
                    self._single |= 1 << vertex

    def _join(self, one: int, other: int) -> None:
        self._mates[one], self._mates[other] = other, one
        self._single &= ~(1 << one | 1 << other)

    def _augment(self, root: int) -> bool:
        """Pairs `root`, which has no mate, by an alternating path to one of the single vertices, if there is one.

        Outer vertices can be reached from the root by a path of even length; `above` leads a vertex one edge back on
        the way that it was found, inside a blossom also the other way round; the vertices of a blossom share their
        `base`.
        """
        mates, neighbors = self._mates, self._neighbors
        above = [_NOBODY] * len(mates)
        base = list(range(len(mates)))
        outer = seen = 1 << root
        queue = [root]
        for vertex in queue:
            near = neighbors[vertex] & self._present
            goal = near & self._single
            if goal:
                self._flip((goal & -goal).bit_length() - 1, vertex, above)
                return True
            for other in bits(near & ~seen):
                mate = mates[other]
                above[other] = vertex
                seen |= 1 << other | 1 << mate
                outer |= 1 << mate
                queue.append(mate)
            for other in bits(near & outer):
                if base[other] != base[vertex]:
                    for inner in self._shrink(vertex, other, above, base):
                        if not outer >> inner & 1:
                            outer |= 1 << inner
                            queue.append(inner)
        return False

    def _flip(self, end: int, vertex: int, above: list[int]) -> None:
        """Exchanges what is and is not in the matching along the path from a single vertex back to the root."""
        mates = self._mates
        self._single ^= 1 << end
        while end != _NOBODY:
            following = mates[vertex]
            mates[vertex], mates[end] = end, vertex
            end = following
            vertex = above[end] if end != _NOBODY else _NOBODY

    def _shrink(self, one: int, other: int, above: list[int], base: list[int]) -> list[int]:
        """Makes the blossom that an edge between two outer vertices closes one vertex; returns its vertices."""
        mates = self._mates
        ways: set[int] = set()
        vertex = base[one]
        while True:
            ways.add(vertex)
            if mates[vertex] == _NOBODY:
                break
            vertex = base[above[mates[vertex]]]
        vertex = base[other]
        while vertex not in ways:
            vertex = base[above[mates[vertex]]]
        stem = vertex
        inside: set[int] = set()
        for vertex, child in ((one, other), (other, one)):
            while base[vertex] != stem:
                inside.update((base[vertex], base[mates[vertex]]))
                above[vertex] = child
                child = mates[vertex]
                vertex = above[child]
        members = [vertex for vertex, its in enumerate(base) if its in inside]
        for vertex in members:
            base[vertex] = stem
        return members
