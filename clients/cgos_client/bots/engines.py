"""The built-in bots' common ground, and the two that do not search: random and greedy.

A bot keeps its own board and answers moves as text. Must not know: servers, connections, GTP, asyncio.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import NamedTuple

from cgos_protocol.games.base import Color, Illegality, Ko
from cgos_protocol.games.go_board import BLACK, EMPTY, PASS, WHITE, Board, tables
from cgos_protocol.games.notation import PASS_WORD, normal

RESIGN = -2
"""The choice to give the game up, beside the board's own PASS."""


class IllegalMove(ValueError):
    """A move that no rules of Go allow. The text names it."""


class Bot(ABC):
    """A built-in bot: everything but the choice of a move.

    All calls are synchronous; :meth:`genmove` may take as long as the clock allows. It never makes a move that
    positional superko or the ban on suicide forbids, so its moves are legal under every rule of ko and suicide that
    venues offer; it accepts such moves of others.

    :ivar name: what it is called, with its strength setting where it has one
    :ivar analyses: True where :meth:`analysis` says something
    :ivar komi2: komi in half points; may change in the same game
    """

    name: str
    analyses = False

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.new_game(9, 14)

    def new_game(self, size: int, komi2: int) -> None:
        """An empty board of `size` (2-25), komi in half points. Raises ValueError for any other size."""
        if not 2 <= size <= 25:
            raise ValueError(f"boards of size {size} are not played here: 2 to 25 are")
        self.board = Board(tables(size))
        self.komi2 = komi2
        self.ply = 0
        self.passed = False
        """True where the last move was a pass."""

    def play(self, color: Color, move: str) -> None:
        """`color` made `move` (vertex or ``PASS``). Raises IllegalMove."""
        point = self.board.tables.moves.get(normal(move) or "")
        if point is None:
            raise IllegalMove(f"{move!r} is not a move on {self.board.tables.size}x{self.board.tables.size}")
        refusal = self._put(color, point)
        if refusal in (Illegality.KO, Illegality.SUICIDE):
            refusal = self._put_by_other_rules(color, point)
        if refusal is not None:
            raise IllegalMove(f"{move}: {refusal}")

    def genmove(self, color: Color, left_ms: int) -> str:
        """Choose a move for `color` with `left_ms` milliseconds left for the game, make it, and say it."""
        for point in self.candidates(color, left_ms):
            if point == RESIGN:
                return "RESIGN"
            if self._put(color, point) is None:
                return PASS_WORD if point == PASS else self.board.tables.names[point]
        self._put(color, PASS)
        return PASS_WORD

    @abstractmethod
    def candidates(self, color: int, left_ms: int) -> Iterable[int]:
        """Empty points, PASS or RESIGN, best first. The first legal one is played; where there is none, a pass."""

    def analysis(self) -> str | None:
        """One line of JSON about the position before the last chosen move, or None."""
        return None

    def hurry(self) -> None:  # noqa: B027 - only a bot that searches has anything to hurry
        """End a :meth:`genmove` that runs in another thread soon; its move is not wanted any more."""

    def margin2(self, color: int) -> int:
        """By how many half points `color` leads if the game ended here and all stones are alive."""
        margin2 = 2 * self.board.area() - self.komi2
        return margin2 if color == BLACK else -margin2

    def wins_by_passing(self, color: int) -> bool:
        """True where the opponent has just passed and a second pass ends the game with a win for `color`."""
        return self.passed and self.margin2(color) > 0

    def _put(self, color: int, point: int) -> Illegality | None:
        if point == PASS:
            self.board.skip(color)
        else:
            refusal = self.board.play(color, point)
            if refusal is not None:
                return refusal
        self.passed = point == PASS
        self.ply += 1
        return None

    def _put_by_other_rules(self, color: int, point: int) -> Illegality | None:
        """Simple ko, suicide allowed; the positions of the past are forgotten."""
        lenient = Board(self.board.tables, Ko.SIMPLE, True, *_stones(self.board))
        refusal = lenient.play(color, point)
        if refusal is None:
            self.board = Board(self.board.tables, Ko.POSITIONAL, False, *_stones(lenient))
            self.passed = False
            self.ply += 1
        return refusal


def _stones(board: Board) -> tuple[list[int], list[int]]:
    points = board.tables.points
    return [p for p in points if board.at(p) == BLACK], [p for p in points if board.at(p) == WHITE]


class RandomBot(Bot):
    """Any legal move that does not fill an eye of its own; a pass where there is none."""

    name = "random"

    def candidates(self, color: int, left_ms: int) -> Iterable[int]:  # noqa: ARG002
        board, points = self.board, self.board.empties()
        while points:
            index = int(self.rng.random() * len(points))
            point, points[index] = points[index], points[-1]
            points.pop()
            if not board.is_eye(color, point):
                yield point


class Chain(NamedTuple):
    """Connected stones of one color and the empty points beside them."""

    color: int
    stones: frozenset[int]
    liberties: frozenset[int]


def chains(board: Board) -> dict[int, Chain]:
    """The chain of every stone on the board, by point."""
    at, neighbors = board.at, board.tables.neighbors
    chain_of: dict[int, Chain] = {}
    for point in board.tables.points:
        color = at(point)
        if color == EMPTY or point in chain_of:
            continue
        stones, liberties, frontier = {point}, set[int](), [point]
        while frontier:
            for neighbor in neighbors[frontier.pop()]:
                held = at(neighbor)
                if held == EMPTY:
                    liberties.add(neighbor)
                elif held == color and neighbor not in stones:
                    stones.add(neighbor)
                    frontier.append(neighbor)
        chain = Chain(color, frozenset(stones), frozenset(liberties))
        chain_of.update(dict.fromkeys(stones, chain))
    return chain_of


class GreedyBot(Bot):
    """Captures what it can, saves its own chains from capture, threatens; else plays at random.

    It does not put its own stones into atari, and passes where nothing else is left, or where a pass wins.
    """

    name = "greedy"

    def candidates(self, color: int, left_ms: int) -> Iterable[int]:  # noqa: ARG002
        if self.wins_by_passing(color):
            return [PASS]
        board = self.board
        by_point = chains(board)
        rated = []
        for point in board.empties():
            worth = None if board.is_eye(color, point) else _worth(board, by_point, color, point)
            if worth is not None:
                rated.append((worth + self.rng.random(), point))
        return [point for _, point in sorted(rated, reverse=True)]


def _worth(board: Board, by_point: dict[int, Chain], color: int, point: int) -> float | None:
    """Stones that change hands by a move, roughly; None for a move into atari."""
    around = board.tables.neighbors[point]
    beside = {by_point[neighbor] for neighbor in around if neighbor in by_point}
    own = [chain for chain in beside if chain.color == color]
    captured = sum(len(chain.stones) for chain in beside if chain.color != color and len(chain.liberties) == 1)
    liberties = {neighbor for neighbor in around if board.at(neighbor) == EMPTY}
    liberties = liberties.union(*(chain.liberties for chain in own)) - {point}
    if not captured and len(liberties) < 2:
        return None
    saved = sum(len(chain.stones) for chain in own if len(chain.liberties) == 1)
    threatened = sum(len(chain.stones) for chain in beside if chain.color != color and len(chain.liberties) == 2)
    return 10 * captured + 8 * saved + 2 * min(threatened, 3)
