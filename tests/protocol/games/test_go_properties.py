"""Random games against a second referee that knows no chains, no hashes and no shortcuts."""

from __future__ import annotations

import random
from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgos_protocol.games.base import Color, Illegality, Ko, Ruleset, Start
from cgos_protocol.games.go_board import PASS, Board, Tables, tables
from cgos_protocol.games.go_rules import Go, GoPosition

Point = tuple[int, int]
"""Column and row, from 0 at the lower left."""
Stones = dict[Point, Color]


class SlowReferee:
    """Go by definition: flood fill for every question, every earlier position kept and compared in full."""

    def __init__(self, rules: Ruleset, stones: Stones, to_play: Color) -> None:
        self.rules = rules
        self.stones = dict(stones)
        self.to_play = to_play
        self.passes = 0
        self.captures = [0, 0]
        self.past: list[tuple[Stones, Color]] = [(dict(stones), to_play)]

    def beside(self, point: Point) -> list[Point]:
        column, row = point
        around = [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
        return [(x, y) for x, y in around if 0 <= x < self.rules.size and 0 <= y < self.rules.size]

    def region(self, stones: Stones, point: Point) -> tuple[set[Point], set[Color | None]]:
        """The points connected to `point` with the same content, and what lies beside them."""
        kind = stones.get(point)
        region, queue, border = {point}, [point], set()
        while queue:
            for near in self.beside(queue.pop()):
                if stones.get(near) is not kind:
                    border.add(stones.get(near))
                elif near not in region:
                    region.add(near)
                    queue.append(near)
        return region, border

    def without_captures(self, stones: Stones, mover: Color) -> Stones:
        """`stones` less the mover's enemies without liberties, then less the mover's own."""
        for color in (mover.other, mover):
            gone: set[Point] = set()
            for point in stones:
                if stones[point] is color:
                    chain, border = self.region(stones, point)
                    if None not in border:
                        gone |= chain
            stones = {point: held for point, held in stones.items() if point not in gone}
        return stones

    def play(self, point: Point | None) -> Illegality | None:
        if self.passes == 2:
            return Illegality.OVER
        mover, after = self.to_play, self.stones
        if point is not None:
            if point in self.stones:
                return Illegality.OCCUPIED
            after = self.without_captures({**self.stones, point: mover}, mover)
            if point not in after and not self.rules.suicide:
                return Illegality.SUICIDE
            if self.repeats(after):
                return Illegality.KO
            lost = len(self.stones) + 1 - len(after)
            self.captures[mover if point in after else mover.other] += lost
        self.passes = self.passes + 1 if point is None else 0
        self.stones, self.to_play = after, mover.other
        self.past.append((after, self.to_play))
        return None

    def repeats(self, after: Stones) -> bool:
        if self.rules.ko is Ko.SIMPLE:
            return len(self.past) > 1 and self.past[-2][0] == after
        if self.rules.ko is Ko.SITUATIONAL:
            return (after, self.to_play.other) in self.past
        return any(stones == after for stones, _ in self.past)

    def score(self) -> int:
        margin = 0
        for point in all_points(self.rules.size):
            reach = {self.stones[point]} if point in self.stones else self.region(self.stones, point)[1]
            margin += (Color.BLACK in reach) - (Color.WHITE in reach)
        return 2 * margin - self.rules.komi2


def name(point: Point) -> str:
    return f"{'ABCDEFGHJKLMNOPQRSTUVWXYZ'[point[0]]}{point[1] + 1}"


def all_points(size: int) -> list[Point]:
    return [(column, row) for column in range(size) for row in range(size)]


rulesets = st.builds(
    Ruleset,
    size=st.integers(2, 5),
    komi2=st.integers(-20, 20),
    ko=st.sampled_from(Ko),
    suicide=st.booleans(),
)
tries = st.lists(st.integers(0, 35), min_size=20, max_size=150)
"""Each number is a point of the board or, beyond it, now and then a pass."""
PASS_NUMBER = 35


def same(position: GoPosition, referee: SlowReferee) -> None:
    assert position.stones() == {name(point): color for point, color in referee.stones.items()}
    assert position.score() == referee.score()
    assert position.captures == tuple(referee.captures)
    assert position.to_play is referee.to_play
    assert position.ply == len(referee.past) - 1
    assert position.is_over() is (referee.passes == 2)


def follow(position: GoPosition, referee: SlowReferee, numbers: list[int]) -> set[Illegality | None]:
    """Try every number on both sides; all that can be seen must agree after each."""
    size, outcomes = referee.rules.size, set()
    for number in numbers:
        if number < size * size:
            point: Point | None = (number % size, number // size)
            move = position.read(name(point))
        elif number % 5:
            point = (number % size, number // size % size)
            move = position.read(name(point))
        else:
            point, move = None, position.read("pass")
        assert move is not None
        outcome = position.play(move)
        assert outcome is referee.play(point)
        outcomes.add(outcome)
        same(position, referee)
    return outcomes


@given(rulesets, tries)
@settings(max_examples=150, deadline=None)
def test_a_game_goes_as_by_definition(rules: Ruleset, numbers: list[int]) -> None:
    follow(Go().new(rules), SlowReferee(rules, {}, Color.BLACK), numbers)


@given(rulesets, st.data())
@settings(max_examples=100, deadline=None)
def test_a_game_from_set_up_stones_goes_as_by_definition(rules: Ruleset, data: st.DataObject) -> None:
    points = all_points(rules.size)
    held = data.draw(st.lists(st.sampled_from([None, *Color]), min_size=len(points), max_size=len(points)))
    stones = {point: color for point, color in zip(points, held, strict=True) if color is not None}
    first = data.draw(st.sampled_from(Color))
    referee = SlowReferee(rules, stones, first)
    start = Start(
        tuple(name(point) for point, color in stones.items() if color is Color.BLACK),
        tuple(name(point) for point, color in stones.items() if color is Color.WHITE),
        first,
    )
    if all(None in referee.region(stones, point)[1] for point in stones):
        position = Go().new(rules, start)
        same(position, referee)
        follow(position, referee, data.draw(tries))
    else:
        with pytest.raises(ValueError, match="last liberty"):
            Go().new(rules, start)


def all_alike(shared: Tables) -> Tables:
    """Every position has the same hash."""
    return replace(shared, keys=((0,) * shared.cells,) * 2)


def nearly_alike(shared: Tables) -> Tables:
    """Hashes of two bits: every value is shared by many positions, and neighboring values collide while probing."""
    black, white = ((tuple(key & 3 for key in keys)) for keys in shared.keys)
    return replace(shared, keys=(black, white))


@pytest.mark.parametrize("spoil", [all_alike, nearly_alike])
@given(rules=rulesets, numbers=tries)
@settings(max_examples=60, deadline=None)
def test_colliding_hashes_change_no_decision(spoil: object, rules: Ruleset, numbers: list[int]) -> None:
    assert callable(spoil)
    board = Board(spoil(tables(rules.size)), rules.ko, rules.suicide)
    follow(GoPosition(board, rules.komi2), SlowReferee(rules, {}, Color.BLACK), numbers)


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("ko", list(Ko))
def test_fixed_random_games_meet_every_kind_of_refusal(ko: Ko, suicide: bool) -> None:
    """The comparison is worth as much as the cases that it reaches."""
    rng = random.Random(5)
    illegalities: set[Illegality | None] = set()
    for _ in range(40):
        rules = Ruleset(size=rng.randrange(2, 5), komi2=0, ko=ko, suicide=suicide)
        numbers = [rng.randrange(rules.size**2) if rng.random() < 0.95 else PASS_NUMBER for _ in range(80)]
        illegalities |= follow(Go().new(rules), SlowReferee(rules, {}, Color.BLACK), numbers)
    expected = {None, *Illegality} - {Illegality.SYNTAX}
    assert illegalities == (expected - {Illegality.SUICIDE} if suicide else expected)


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("ko", list(Ko))
def test_a_copy_and_its_original_both_go_on_as_by_definition(ko: Ko, suicide: bool) -> None:
    rng = random.Random(6)
    for _ in range(20):
        rules = Ruleset(size=rng.randrange(3, 6), komi2=0, ko=ko, suicide=suicide)
        before, after, instead = ([rng.randrange(rules.size**2) for _ in range(40)] for _ in range(3))
        position, referee = Go().new(rules), SlowReferee(rules, {}, Color.BLACK)
        follow(position, referee, before)
        twin, twin_referee = position.copy(), deepcopy(referee)
        follow(twin, twin_referee, after)
        same(position, referee)
        follow(position, referee, instead)
        same(twin, twin_referee)


@given(rulesets, tries)
@settings(max_examples=60, deadline=None)
def test_what_is_kept_move_by_move_is_what_a_fresh_count_gives(rules: Ruleset, numbers: list[int]) -> None:
    position, referee = Go().new(rules), SlowReferee(rules, {}, Color.BLACK)
    for number in numbers:
        follow(position, referee, [number])
        board, shared = position.board, position.board.tables
        at = {point: shared.moves[name(point)] for point in all_points(rules.size)}
        bits = keys = 0
        for point, cell in at.items():
            if point not in referee.stones:
                assert board._head[cell] == 0
                continue
            color = referee.stones[point]
            bits ^= shared.bits[color][cell]
            keys ^= shared.keys[color][cell]
            chain, _ = referee.region(referee.stones, point)
            head = board._head[cell]
            assert sorted(board._stones[head]) == sorted(at[stone] for stone in chain)
            open_sides = sum(near not in referee.stones for stone in chain for near in referee.beside(stone))
            assert board._liberties[head] == open_sides
        assert (board._position, board._hash) == (bits, keys)


@given(rulesets, tries)
@settings(max_examples=60, deadline=None)
def test_what_playing_programs_ask_is_true(rules: Ruleset, numbers: list[int]) -> None:
    position, referee = Go().new(rules), SlowReferee(rules, {}, Color.BLACK)
    follow(position, referee, numbers)
    empty = {position.write(move) for move in position.empties()}
    everything = {name(point) for point in all_points(rules.size)}
    assert empty == everything - set(position.stones())
    assert PASS not in position.empties()
    for column, row in all_points(rules.size):
        move = position.read(name((column, row)))
        assert move is not None
        for color in Color:
            beside = {referee.stones.get(near) for near in referee.beside((column, row))}
            corners = [(column + x, row + y) for x in (-1, 1) for y in (-1, 1)]
            corners = [(x, y) for x, y in corners if 0 <= x < rules.size and 0 <= y < rules.size]
            hostile = sum(referee.stones.get(corner) is color.other for corner in corners)
            eye = (column, row) not in referee.stones and beside == {color} and hostile <= (len(corners) == 4)
            assert position.is_eye(color, move) is eye
