"""What is kept with a value: worked out once, of nothing else, and step by step where values follow each other."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from cgos_server.tournaments.kept import grown, kept


class Value(Struct, frozen=True, dict=True):
    number: int


class Sums:
    def __init__(self, sums: list[int]) -> None:
        self.sums = sums

    def copy(self) -> Sums:
        return Sums(self.sums.copy())


entered: list[int] = []
"""Numbers, in the order in which they were entered."""


def nothing(start: int) -> Sums:
    return Sums([start])


def enter(sums: Sums, value: Value, start: int) -> None:
    entered.append(value.number)
    sums.sums.append(sums.sums[-1] + value.number + 0 * start)


def test_once_for_each_value_and_arguments() -> None:
    asked: list[tuple[int, int]] = []

    @kept
    def times(value: Value, factor: int) -> int:
        asked.append((value.number, factor))
        return value.number * factor

    one, other = Value(3), Value(3)
    assert [times(one, 2), times(one, 2), times(one, 5), times(other, 2)] == [6, 6, 15, 6]
    assert asked == [(3, 2), (3, 5), (3, 2)]
    assert times(replace(one, number=4), 2) == 8
    assert one == other


def test_two_functions_keep_their_own() -> None:
    @kept
    def double(value: Value) -> int:
        return 2 * value.number

    @kept
    def square(value: Value) -> int:
        return value.number**2

    value = Value(5)
    assert (double(value), square(value), double(value)) == (10, 25, 10)


def test_one_value_more_is_one_step() -> None:
    entered.clear()
    values = tuple(Value(number) for number in (1, 2, 3))
    before = grown(values[:2], (10,), nothing, enter)
    after = grown(values, (10,), nothing, enter)
    assert entered == [1, 2, 3]
    assert (before.sums, after.sums) == ([10, 11, 13], [10, 11, 13, 16])
    assert grown(values, (10,), nothing, enter) is after
    assert grown((), (10,), nothing, enter).sums == [10]


def test_another_past_or_basis_begins_anew() -> None:
    values = tuple(Value(number) for number in (1, 2, 3))
    assert grown(values, (0,), nothing, enter).sums[-1] == 6
    assert grown((Value(5), *values[1:]), (0,), nothing, enter).sums[-1] == 10
    assert grown(values, (1,), nothing, enter).sums[-1] == 7
    assert grown((*values[:2], Value(9)), (0,), nothing, enter).sums[-1] == 12


def test_only_the_last_two_keep_theirs() -> None:
    values = tuple(Value(number) for number in range(6))
    for length in range(1, 7):
        grown(values[:length], (0,), nothing, enter)
    assert [bool(vars(value)) for value in values] == [False] * 4 + [True] * 2
