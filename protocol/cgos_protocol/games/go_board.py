"""Stones, chains, liberties, repetition and area on a board of any size: where the rules of Go cost time.

Chains keep their liberties as a count that every stone updates, positions are one big integer each, and the positions
of the past are found by a Zobrist hash (Zobrist 1970) whose every hit is confirmed on the position itself. Must not
know: whose turn it is, when a game ends, komi, how a point is spelled beyond its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from cgos_protocol.games.base import Illegality, Ko
from cgos_protocol.games.notation import PASS_WORD, vertex

PASS = -1
"""The move that is not a point."""

BLACK, WHITE, EMPTY, BORDER = 0, 1, 2, 3
"""What a cell holds. The first two are the values of :class:`~cgos_protocol.games.base.Color`, as plain integers:
enumeration members take longer to compare."""

_ZOBRIST_BITS = 60
"""Two digits of a Python integer: the longest keys that still compute fast."""

_GOLDEN = 0x9E3779B97F4A7C15
_MASK64 = (1 << 64) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """All that boards of one size have in common; immutable, so that every game shares it.

    A point is an index into a padded board: rows of ``size`` cells and one border cell, a border row below and above.
    Index 0 is never a point.

    :ivar size: edge in points
    :ivar stride: distance between a point and the one above it
    :ivar cells: number of cells, borders included
    :ivar points: all points, bottom row first, from the left
    :ivar neighbors: by cell: the 2 to 4 points beside it; empty for the border
    :ivar diagonals: by cell: the 1 to 4 points diagonal to it
    :ivar bits: by color, by cell: the bit that stands for that stone in a position
    :ivar keys: by color, by cell: the stone's Zobrist number
    :ivar mask: the bits of all points, as Black's stones have them
    :ivar names: by cell: the vertex; empty for the border
    :ivar moves: by vertex and ``"PASS"``: the point or :data:`PASS`
    """

    size: int
    stride: int
    cells: int
    points: tuple[int, ...]
    neighbors: tuple[tuple[int, ...], ...]
    diagonals: tuple[tuple[int, ...], ...]
    bits: tuple[tuple[int, ...], tuple[int, ...]]
    keys: tuple[tuple[int, ...], tuple[int, ...]]
    mask: int
    names: tuple[str, ...]
    moves: Mapping[str, int]


@cache
def tables(size: int) -> Tables:
    """The tables of boards of `size` (2-25), built once."""
    stride = size + 1
    cells = stride * (size + 2)
    points = tuple((row + 1) * stride + column for row in range(size) for column in range(size))
    on_board = frozenset(points)
    names = [""] * cells
    for point in points:
        names[point] = vertex(point % stride, point // stride - 1)

    def around(*steps: int) -> tuple[tuple[int, ...], ...]:
        return tuple(
            tuple(cell + step for step in steps if cell + step in on_board) if cell in on_board else ()
            for cell in range(cells)
        )

    return Tables(
        size=size,
        stride=stride,
        cells=cells,
        points=points,
        neighbors=around(-stride, -1, 1, stride),
        diagonals=around(-stride - 1, -stride + 1, stride - 1, stride + 1),
        bits=(tuple(1 << cell for cell in range(cells)), tuple(1 << cell for cell in range(cells, 2 * cells))),
        keys=(
            tuple(_splitmix64(cell) for cell in range(cells)),
            tuple(_splitmix64(cell) for cell in range(cells, 2 * cells)),
        ),
        mask=sum(1 << point for point in points),
        names=tuple(names),
        moves=MappingProxyType({PASS_WORD: PASS, **{names[point]: point for point in points}}),
    )


def _splitmix64(index: int) -> int:
    """Number `index` of a fixed sequence (SplitMix64: Steele, Lea, Flood 2014), cut to the bits we use."""
    z = (index + 1) * _GOLDEN & _MASK64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK64
    return (z ^ z >> 31) >> 64 - _ZOBRIST_BITS


class Board:
    """Stones on a grid and every position they have been in. Either side may move at any time.

    :param shared: what all boards of this size share
    :param ko: which repetitions are refused
    :param suicide: True where a move may take away its own chain
    :param black: points that start with a black stone; they belong to the first position
    :param white: the same for white
    :param to_play: the side that moves first (only situational superko asks)
    :raises ValueError: where two set-up stones share a point or leave a chain without liberties
    """

    __slots__ = (
        "_before",
        "_cells",
        "_hash",
        "_head",
        "_liberties",
        "_position",
        "_seen",
        "_situational",
        "_stones",
        "_suicide",
        "_superko",
        "captures",
        "tables",
    )

    def __init__(
        self,
        shared: Tables,
        ko: Ko = Ko.POSITIONAL,
        suicide: bool = False,
        black: Sequence[int] = (),
        white: Sequence[int] = (),
        to_play: int = BLACK,
    ) -> None:
        self.tables = shared
        self.captures = [0, 0]
        """By color: stones that this side has taken off the board (its opponent's suicides included)."""
        self._superko = ko is not Ko.SIMPLE
        self._situational = ko is Ko.SITUATIONAL
        self._suicide = suicide
        self._cells = [BORDER] * shared.cells
        for point in shared.points:
            self._cells[point] = EMPTY
        # A chain goes by one of its stones, the head. The head of an empty point is cell 0, whose count means nothing:
        # so a stone can tell all its neighbors that it went without asking which of them are stones.
        self._head = [0] * shared.cells
        # By head: pairs of a stone and an empty point beside it. Zero exactly where the chain has no liberty, and
        # far cheaper to keep than the set of its liberties.
        self._liberties = [0] * shared.cells
        self._stones: list[list[int]] = [[]] * shared.cells
        self._position = 0
        self._hash = 0
        self._before: int | None = None
        self._seen: dict[int, int] = {}
        self._set_up(black, white)
        if self._superko:
            self._remember(to_play)

    def play(self, color: int, point: int) -> Illegality | None:
        """Put a stone of `color` (0 black, 1 white) on `point` and take off what that captures.

        None: done. Otherwise the reason why not, and nothing has changed.
        """
        cells = self._cells
        if cells[point] != EMPTY:
            return Illegality.SYNTAX if cells[point] == BORDER else Illegality.OCCUPIED
        shared = self.tables
        head = self._head
        liberties = self._liberties
        stones = self._stones
        around = shared.neighbors[point]

        open_sides = 0
        own: list[int] = []
        taken: list[int] = []
        loser = 1 - color
        for neighbor in around:
            cell = cells[neighbor]
            if cell == EMPTY:
                open_sides += 1
            else:
                chain = head[neighbor]
                liberties[chain] = left = liberties[chain] - 1
                if cell == color:
                    own.append(chain)
                elif not left:
                    taken += stones[chain]

        if not open_sides and not taken and not any(liberties[chain] for chain in own):
            if not self._suicide:
                self._give_back(around)
                return Illegality.SUICIDE
            loser = color
            taken.append(point)
            for chain in set(own):
                taken += stones[chain]

        position = self._position ^ shared.bits[color][point]
        key = self._hash ^ shared.keys[color][point]
        if taken:
            bits = shared.bits[loser]
            keys = shared.keys[loser]
            for stone in taken:
                position ^= bits[stone]
                key ^= keys[stone]
        if self._superko:
            mark = position | 1 - color if self._situational else position
            seen = self._seen
            slot = key
            while slot in seen:
                if seen[slot] == mark:
                    self._give_back(around)
                    return Illegality.KO
                slot += 1
            seen[slot] = mark
        elif position == self._before:
            self._give_back(around)
            return Illegality.KO
        else:
            self._before = self._position
        self._position = position
        self._hash = key

        cells[point] = color
        if own:
            chain = own[0]
            head[point] = chain
            stones[chain].append(point)
            liberties[chain] += open_sides
            if len(own) > 1:
                self._join(own)
        else:
            head[point] = point
            stones[point] = [point]
            liberties[point] = open_sides
        if taken:
            neighbors = shared.neighbors
            for stone in taken:
                cells[stone] = EMPTY
                head[stone] = 0
                for neighbor in neighbors[stone]:
                    liberties[head[neighbor]] += 1
            self.captures[1 - loser] += len(taken)
        return None

    def skip(self, color: int) -> None:
        """`color` passes: the position stays and is now one with the other side to move."""
        if self._situational:
            self._remember(1 - color)
        self._before = self._position

    def area(self) -> int:
        """Black's area minus White's in points: stones, and empty points from which only that side's stones can be
        reached over empty points (Tromp, Taylor 1995). All stones count as alive."""
        shared = self.tables
        black = self._position & shared.mask
        white = self._position >> shared.cells
        empty = shared.mask ^ black ^ white
        stride = shared.stride
        # A point that both sides reach counts for both, which is as good as for neither.
        return (
            black.bit_count()
            - white.bit_count()
            + _reached(black, empty, stride).bit_count()
            - _reached(white, empty, stride).bit_count()
        )

    def at(self, point: int) -> int:
        """What lies on `point`: :data:`BLACK`, :data:`WHITE` or :data:`EMPTY`."""
        return self._cells[point]

    def empties(self) -> list[int]:
        """All empty points, bottom row first."""
        cells = self._cells
        return [point for point in self.tables.points if cells[point] == EMPTY]

    def is_eye(self, color: int, point: int) -> bool:
        """True where `point` is empty, has only `color` beside it, and cannot be made a false eye by one more stone:
        the other side holds at most one of its diagonals, and none at the edge. The usual test of playouts."""
        cells = self._cells
        if cells[point] != EMPTY:
            return False
        for neighbor in self.tables.neighbors[point]:
            if cells[neighbor] != color:
                return False
        diagonals = self.tables.diagonals[point]
        hostile = 0
        for diagonal in diagonals:
            if cells[diagonal] == 1 - color:
                hostile += 1
        return hostile < (2 if len(diagonals) == 4 else 1)

    def copy(self) -> Board:
        """An independent board with the same stones and the same past."""
        twin = Board.__new__(Board)
        twin.tables = self.tables
        twin.captures = self.captures[:]
        twin._superko = self._superko
        twin._situational = self._situational
        twin._suicide = self._suicide
        twin._cells = self._cells[:]
        twin._head = self._head[:]
        twin._liberties = self._liberties[:]
        twin._stones = stones = self._stones[:]
        for chain in set(self._head):
            stones[chain] = stones[chain][:]
        twin._position = self._position
        twin._hash = self._hash
        twin._before = self._before
        twin._seen = self._seen.copy()
        return twin

    def _set_up(self, black: Sequence[int], white: Sequence[int]) -> None:
        # Any part of a position without captures is one too, so set-up stones can be played in any order.
        for color, points in ((BLACK, black), (WHITE, white)):
            for point in points:
                name = self.tables.names[point]
                refusal = self.play(color, point)
                if refusal is Illegality.OCCUPIED:
                    raise ValueError(f"Two set-up stones lie on {name}: name each point once.")
                if refusal is not None or any(self.captures):
                    raise ValueError(f"The set-up stone on {name} takes a chain's last liberty: leave one empty.")
        self._seen.clear()
        self._before = None

    def _remember(self, to_play: int) -> None:
        mark = self._position | to_play if self._situational else self._position
        slot = self._hash
        while self._seen.get(slot, mark) != mark:
            slot += 1
        self._seen[slot] = mark

    def _give_back(self, around: tuple[int, ...]) -> None:
        head = self._head
        for neighbor in around:
            self._liberties[head[neighbor]] += 1

    def _join(self, chains: list[int]) -> None:
        """Make one chain of the chains with these heads (repeats allowed), the smaller always into the larger."""
        head = self._head
        stones = self._stones
        chain = chains[0]
        for other in chains:
            other = head[other]
            if other != chain:
                if len(stones[other]) > len(stones[chain]):
                    chain, other = other, chain
                for stone in stones[other]:
                    head[stone] = chain
                stones[chain] += stones[other]
                self._liberties[chain] += self._liberties[other]


def _reached(stones: int, empty: int, stride: int) -> int:
    """The bits of `empty` that can be reached from `stones` over `empty`."""
    reached = (stones << 1 | stones >> 1 | stones << stride | stones >> stride) & empty
    while True:
        grown = (reached << 1 | reached >> 1 | reached << stride | reached >> stride) & empty | reached
        if grown == reached:
            return reached
        reached = grown
