"""Random games against the boards of sgfmill: the same stones and the same area after every move.

sgfmill knows captures and area but neither superko nor forbidden suicide; here both follow from comparing its whole
boards. ``CGOS_BOARD_MOVES`` sets the number of accepted moves of the long run.
"""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest
from sgfmill.boards import Board as TheirBoard

from cgos_protocol.games.base import Color, Illegality, Ko, Ruleset
from cgos_protocol.games.go_rules import Go
from cgos_protocol.games.notation import vertex

Rows = tuple[tuple[str | None, ...], ...]


def whole(board: TheirBoard) -> Rows:
    return tuple(map(tuple, board.board))


class Theirs:
    """A game on sgfmill's boards with the rules that it lacks added by comparison."""

    def __init__(self, rules: Ruleset) -> None:
        self.rules = rules
        self.board = TheirBoard(rules.size)
        self.to_play = Color.BLACK
        self.last: Rows | None = None
        self.past = {(whole(self.board), self.side(Color.BLACK))}

    def side(self, to_play: Color) -> Color | None:
        return to_play if self.rules.ko is Ko.SITUATIONAL else None

    def play(self, row: int, column: int) -> Illegality | None:
        if self.board.get(row, column) is not None:
            return Illegality.OCCUPIED
        after = self.board.copy()
        after.play(row, column, self.to_play.letter)
        if after.get(row, column) is None and not self.rules.suicide:
            return Illegality.SUICIDE
        key = (whole(after), self.side(self.to_play.other))
        if key[0] == self.last if self.rules.ko is Ko.SIMPLE else key in self.past:
            return Illegality.KO
        self.past.add(key)
        self.last = whole(self.board)
        self.board, self.to_play = after, self.to_play.other
        return None

    def skip(self) -> None:
        self.last, self.to_play = whole(self.board), self.to_play.other
        self.past.add((self.last, self.side(self.to_play)))


def choose(rng: random.Random, theirs: Theirs, vanished: list[tuple[int, int]]) -> tuple[int, int]:
    """A point: any, or one that was just taken (ko), or one with no empty point beside it (suicide, ko, capture)."""
    size = theirs.rules.size
    way = rng.random()
    if way < 0.25 and vanished:
        return rng.choice(vanished)
    point = (rng.randrange(size), rng.randrange(size))
    for _ in range(12 if way < 0.6 else 4):
        row, column = point
        beside = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        contents = [theirs.board.get(r, c) for r, c in beside if 0 <= r < size and 0 <= c < size]
        if theirs.board.get(row, column) is None and (way >= 0.6 or None not in contents):
            break
        point = (rng.randrange(size), rng.randrange(size))
    return point


def compare(moves: int, seed: int) -> Counter[str]:
    """Play until `moves` moves were accepted on boards of 2x2 to 19x19; counts what happened. Fails on a difference."""
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    marks = {None: ".", "b": "X", "w": "O"}
    while counts["accepted"] < moves:
        size = rng.randrange(2, 20)
        rules = Ruleset(size=size, komi2=0, ko=rng.choice(list(Ko)), suicide=rng.random() < 0.4)
        ours, theirs = Go().new(rules), Theirs(rules)
        vanished: list[tuple[int, int]] = []
        counts["games"] += 1
        for _ in range(min(3 * size * size, moves - counts["accepted"])):
            if rng.random() < 0.02 and not ours.is_over():
                move = ours.read("pass")
                assert move is not None
                assert ours.play(move) is None
                theirs.skip()
                counts["passes"] += 1
                if ours.is_over():
                    break
                continue
            row, column = choose(rng, theirs, vanished)
            before = theirs.board
            move = ours.read(vertex(column, row))
            assert move is not None
            outcome = ours.play(move)
            assert outcome is theirs.play(row, column), (rules, vertex(column, row), ours.rows())
            drawn = ["".join(map(marks.__getitem__, line)) for line in reversed(theirs.board.board)]
            assert ours.rows() == drawn
            if outcome is not None:
                counts[outcome.value] += 1
                continue
            counts["accepted"] += 1
            assert ours.score() == 2 * theirs.board.area_score()
            gone = [(r, c) for _, (r, c) in before.list_occupied_points() if theirs.board.get(r, c) is None]
            if theirs.board.get(row, column) is None:
                counts["suicides played"] += 1
            elif gone:
                counts["captures"] += 1
            vanished = gone or vanished
    return counts


def reached_everything(counts: Counter[str]) -> bool:
    refusals = (Illegality.OCCUPIED, Illegality.SUICIDE, Illegality.KO)
    return all(counts[kind] for kind in (*(refusal.value for refusal in refusals), "captures", "suicides played"))


def test_random_games_agree_with_sgfmill() -> None:
    assert reached_everything(compare(4_000, seed=1))


@pytest.mark.slow
def test_a_hundred_thousand_random_moves_agree_with_sgfmill() -> None:
    moves = int(os.environ.get("CGOS_BOARD_MOVES", "100000"))
    counts = compare(moves, seed=20)
    print(dict(counts))
    assert counts["accepted"] == moves
    assert reached_everything(counts)
