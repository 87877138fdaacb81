"""CPU time of one move and of one area score, against a bare Python method and sgfmill on the same random games.

Every contender plays the same games within each run, one after the other, so that a slow moment of the machine hits
all alike; figures are medians over the runs. Creating the boards is not counted.
"""

from __future__ import annotations

import platform
import random
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, NamedTuple

from sgfmill.boards import Board as SgfmillBoard

from benchmarks.reporting import program
from cgos_protocol.games.base import Ruleset
from cgos_protocol.games.go_board import PASS
from cgos_protocol.games.go_rules import Go, GoPosition
from cgos_protocol.games.notation import COLUMNS, PASS_WORD

LARGER = {9: 1, 19: 4}
"""How many times longer a game is, by board size."""

REPEAT = 20
"""How often a score or a copy of one position is taken, to be long enough for the clock."""


class Game(NamedTuple):
    """One random game: our moves, the same as words, its stones as sgfmill wants them, the position after half."""

    moves: list[int]
    words: list[str]
    stones: list[tuple[int, int, str]]
    middle: GoPosition


class BareBoard:
    """What a Python method that stores a stone and hands over the turn costs: no rules at all."""

    __slots__ = ("cells", "side")

    def __init__(self, cells: int) -> None:
        self.cells = [2] * cells
        self.side = 0

    def play(self, move: int) -> str | None:
        """Store a stone; nothing is refused, since a point may be played again after a capture."""
        cells = self.cells
        if cells[move] == 3:
            return "off the board"
        cells[move] = self.side
        self.side = 1 - self.side
        return None


def random_game(rng: random.Random, size: int) -> Game:
    """Both sides play anywhere but into their own eyes until neither can."""
    rules = Ruleset(size=size)
    position = Go().new(rules)
    moves: list[int] = []
    while not position.is_over():
        moves.append(_random_move(rng, position))
    middle = Go().new(rules)
    for move in moves[: len(moves) // 2]:
        middle.play(move)
    words = [position.write(move) for move in moves]
    stones = [
        (int(word[1:]) - 1, COLUMNS.index(word[0]), "bw"[ply % 2])
        for ply, word in enumerate(words)
        if word != PASS_WORD
    ]
    return Game(moves, words, stones, middle)


def _random_move(rng: random.Random, position: GoPosition) -> int:
    choice = [point for point in position.empties() if not position.is_eye(position.to_play, point)]
    rng.shuffle(choice)
    for point in choice:
        if position.play(point) is None:
            return point
    position.play(PASS)
    return PASS


def _play_moves(boards: Sequence[BareBoard | GoPosition], games: list[Game]) -> None:
    for board, game in zip(boards, games, strict=True):
        play = board.play
        for move in game.moves:
            play(move)


def _play_words(positions: list[GoPosition], games: list[Game]) -> None:
    for position, game in zip(positions, games, strict=True):
        for word in game.words:
            move = position.read(word)
            if move is None:
                raise AssertionError(word)
            position.play(move)
            position.write(move)


def _play_stones(boards: list[SgfmillBoard], games: list[Game]) -> None:
    for board, game in zip(boards, games, strict=True):
        play = board.play
        for row, column, color in game.stones:
            play(row, column, color)


def _score(positions: list[GoPosition]) -> None:
    for position in positions:
        for _ in range(REPEAT):
            position.score()


def _copy(positions: list[GoPosition]) -> None:
    for position in positions:
        for _ in range(REPEAT):
            position.copy()


def _score_sgfmill(boards: list[SgfmillBoard]) -> None:
    for board in boards:
        board.area_score()


def _measure(size: int, runs: int, count: int) -> dict[str, float]:
    """Median CPU microseconds of one unit of everything measured, on games of one size."""
    rng = random.Random(size)
    games = [random_game(rng, size) for _ in range(count)]
    rules = Ruleset(size=size)
    moves = sum(len(game.stones) for game in games)
    samples: dict[str, list[float]] = {}

    def sample(name: str, units: int, work: Callable[[], object]) -> None:
        start = time.process_time()
        work()
        samples.setdefault(name, []).append((time.process_time() - start) / units * 1e6)

    for _ in range(runs):
        bare = [BareBoard((size + 1) * (size + 2)) for _ in games]
        ours, spelled = ([Go().new(rules) for _ in games] for _ in range(2))
        sgfmill = [SgfmillBoard(size) for _ in games]
        sample("move_bare", moves, partial(_play_moves, bare, games))
        sample("move", moves, partial(_play_moves, ours, games))
        sample("move_read_play_write", moves, partial(_play_words, spelled, games))
        sample("move_sgfmill", moves, partial(_play_stones, sgfmill, games))
        sample("score", REPEAT * len(games), partial(_score, ours))
        sample("score_middle", REPEAT * len(games), partial(_score, [game.middle for game in games]))
        sample("score_sgfmill", len(games), partial(_score_sgfmill, sgfmill))
        sample("copy", REPEAT * len(games), partial(_copy, ours))
        for position, board in zip(ours, sgfmill, strict=True):
            if position.score() != 2 * board.area_score() - rules.komi2:
                raise AssertionError("the two boards disagree, so their times mean nothing")
    return {name: statistics.median(values) for name, values in samples.items()} | {"moves_a_game": moves / len(games)}


def run(
    runs: Annotated[int, "interleaved runs, of which the median counts; at least 5"] = 7,
    games: Annotated[int, "on 9x9, and a quarter of them on 19x19: 60 are about 6 500 moves of each"] = 60,
) -> dict[str, Any]:
    """Measure everything and print it.

    :return: ``us``: by board size, CPU microseconds by name; ``ratios``: by board size, what they come to
    """
    measured = {f"{size}x{size}": _measure(size, runs, games // larger) for size, larger in LARGER.items()}
    ratios = {
        board: {
            "move / bare method": us["move"] / us["move_bare"],
            "sgfmill's move / move": us["move_sgfmill"] / us["move"],
            "sgfmill's score / score": us["score_sgfmill"] / us["score"],
        }
        for board, us in measured.items()
    }
    result = {"benchmark": "board", "python": platform.python_version(), "runs": runs, "us": measured, "ratios": ratios}
    _report(result)
    return result


def _report(result: dict[str, Any]) -> None:
    print(f"Python {result['python']}, median of {result['runs']} interleaved runs, CPU time")
    for board in result["us"]:
        print(f"{board}:")
        for name, value in result["us"][board].items():
            print(f"  {name:24} {value:8.2f}{'' if name == 'moves_a_game' else ' us'}")
        for name, value in result["ratios"][board].items():
            print(f"  {name:24} {value:8.2f} x")


main = program(run, runs=1, games=4)


if __name__ == "__main__":
    main()
