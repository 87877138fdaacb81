"""The bot that searches: Monte Carlo tree search with light playouts, as strong as its number of playouts.

A tree as in UCT (Kocsis, Szepesvári 2006), guided by rapid action value estimates (Gelly, Silver 2007), which make a
term for exploration unnecessary: with one, of any size tried, the bot lost more games than it won against itself.
Must not know: servers, GTP.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from cgos_client.bots.engines import RESIGN, Bot
from cgos_protocol.games.go_board import BLACK, EMPTY, PASS, Board
from cgos_protocol.v2.messages import Analysis, Candidate

EQUIVALENCE = 300.0
"""Visits at which a move's own results and its rapid action value weigh about the same (times three)."""
SHARE = 25
"""One move may use this part of the time left."""
HOPELESS = 0.02
RESIGN_PLAYOUTS = 100
"""Playouts below which the share of wins says too little to resign."""


class _Node:
    """A position in the tree. Wins are those of the side to move; ``rapid`` counts moves made at any later time."""

    __slots__ = ("children", "moves", "rapid_visits", "rapid_wins", "visits", "wins")

    def __init__(self, moves: list[int]) -> None:
        self.moves = moves
        self.children: list[_Node | None] = [None] * len(moves)
        self.visits = [0] * len(moves)
        self.wins = [0.0] * len(moves)
        self.rapid_visits = [0] * len(moves)
        self.rapid_wins = [0.0] * len(moves)

    def drop(self, index: int) -> None:
        """Forget an illegal move."""
        columns: tuple[list[Any], ...] = (
            self.moves,
            self.children,
            self.visits,
            self.wins,
            self.rapid_visits,
            self.rapid_wins,
        )
        for column in columns:
            del column[index]

    def select(self) -> int:
        """The index of the move to look at next; -1 where there is none."""
        best, chosen = -1.0, -1
        rapid_visits, rapid_wins, wins = self.rapid_visits, self.rapid_wins, self.wins
        for index, visits in enumerate(self.visits):
            rapid = (rapid_wins[index] + 1.0) / (rapid_visits[index] + 2.0)
            if visits:
                weight = math.sqrt(EQUIVALENCE / (3 * visits + EQUIVALENCE))
                value = weight * rapid + (1 - weight) * wins[index] / visits
            else:
                value = rapid
            if value > best:
                best, chosen = value, index
        return chosen


class MctsBot(Bot):
    """Monte Carlo tree search.

    :param playouts: simulated games a move, at least 1; fewer where the clock is short
    :param clock: seconds, for the time limit
    """

    analyses = True

    def __init__(self, rng: random.Random, playouts: int, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(rng)
        self.name = f"mcts-{playouts}"
        self._playouts = playouts
        self._clock = clock
        self._analysis: str | None = None
        self._hurried = False

    def analysis(self) -> str | None:
        return self._analysis

    def hurry(self) -> None:
        self._hurried = True

    def candidates(self, color: int, left_ms: int) -> Iterable[int]:
        self._analysis, self._hurried = None, False
        if self.wins_by_passing(color):
            return [PASS]
        deadline = self._clock() + left_ms / 1000 / SHARE
        root = self._node(self.board, color, self.passed)
        if root.moves == [PASS]:
            return [PASS]
        done = 0
        while done < self._playouts and root.moves:
            self._simulate(root, color)
            done += 1
            if self._hurried or self._clock() >= deadline:
                break
        if not root.moves:
            return [PASS]
        best = max(range(len(root.moves)), key=lambda index: (root.visits[index], root.wins[index]))
        total, won = sum(root.visits), sum(root.wins)
        self._analysis = self._explain(root, total, won)
        late = self.ply > len(self.board.tables.points) // 2
        if late and total >= RESIGN_PLAYOUTS and won < HOPELESS * total:
            return [RESIGN]
        return [root.moves[best]]

    def _node(self, board: Board, color: int, passed: bool) -> _Node:
        moves = [point for point in board.empties() if not board.is_eye(color, point)]
        self.rng.shuffle(moves)
        # Early in a game every move is better than none, and too few playouts to see that must not end it.
        if not moves or passed or len(moves) <= 2 * board.tables.size:
            moves.append(PASS)
        return _Node(moves)

    def _simulate(self, root: _Node, color: int) -> None:
        """One game: down the tree, one new node, then at random to the end; its result goes into every node passed."""
        board, node, mover, passed = self.board.copy(), root, color, self.passed
        path: list[tuple[_Node, int, int]] = []
        first = [EMPTY] * board.tables.cells
        over = False
        while True:
            index = node.select()
            if index < 0:
                break
            point = node.moves[index]
            if point == PASS:
                board.skip(mover)
                over, passed = passed, True
            elif board.play(mover, point) is not None:
                node.drop(index)
                continue
            else:
                passed = False
                if first[point] == EMPTY:
                    first[point] = mover
            path.append((node, index, mover))
            mover = 1 - mover
            if over:
                break
            below = node.children[index]
            if below is None:
                # A second visit is worth a node of its own; before it there is nothing to choose between.
                if node.visits[index]:
                    node.children[index] = self._node(board, mover, passed)
                break
            node = below
        if not over:
            _play_out(board, mover, first, self.rng)
        margin2 = 2 * board.area() - self.komi2
        black = 1.0 if margin2 > 0 else 0.5 if margin2 == 0 else 0.0
        for node, index, mover in path:
            _update(node, index, mover=mover, won=black if mover == BLACK else 1.0 - black, first=first)

    def _explain(self, root: _Node, total: int, won: float) -> str:
        names = self.board.tables.names
        order = sorted(range(len(root.moves)), key=lambda index: -root.visits[index])[:5]
        candidates = [
            Candidate(
                move=names[root.moves[index]] or "pass",
                winrate=round(root.wins[index] / root.visits[index], 4),
                visits=root.visits[index],
            )
            for index in order
            if root.visits[index]
        ]
        analysis = Analysis(winrate=round(won / total, 4), visits=total, moves=candidates)
        return msgspec.json.encode(analysis).decode()


def _update(node: _Node, index: int, mover: int, won: float, first: list[int]) -> None:
    node.visits[index] += 1
    node.wins[index] += won
    rapid_visits, rapid_wins = node.rapid_visits, node.rapid_wins
    for other, point in enumerate(node.moves):
        if first[point] == mover:
            rapid_visits[other] += 1
            rapid_wins[other] += won


def _play_out(board: Board, color: int, first: list[int], rng: random.Random) -> None:
    """Play at random, filling no eyes, until neither side has a move; note in `first` who came to a point first."""
    rand, play, is_eye, captures = rng.random, board.play, board.is_eye, board.captures
    points = board.empties()
    taken = captures[0] + captures[1]
    passes = 0
    # Superko ends nearly every game; the limit is for the rest.
    for _ in range(3 * len(board.tables.points)):
        left = len(points)
        while left:
            index = int(rand() * left)
            point = points[index]
            if not is_eye(color, point) and play(color, point) is None:
                break
            left -= 1
            points[index] = points[left]
            points[left] = point
        if left:
            passes = 0
            if first[point] == EMPTY:
                first[point] = color
            if captures[0] + captures[1] != taken:
                taken = captures[0] + captures[1]
                points = board.empties()
            else:
                points[index] = points[-1]
                points.pop()
        else:
            passes += 1
            if passes == 2:
                return
        color = 1 - color
