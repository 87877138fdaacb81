"""The bubble from step to step: withdrawals, newcomers, the parking queue."""

from __future__ import annotations

import pytest

from cgos_server.tournaments.systems.bubble_run import Move, Rules, Run, advance, arranged, follow, table

PLACE = {id_: id_ - 1 for id_ in range(1, 12)}


class Met:
    """Everybody among `ids` has met; the smaller id has won."""

    def __init__(self, *groups: tuple[int, ...]) -> None:
        self.pairs = {frozenset((id_, other)) for ids in groups for id_ in ids for other in ids if id_ != other}

    def points(self, first: int, second: int) -> int | None:
        return 2 * (first < second) if self.met(first, second) else None

    def met(self, first: int, second: int) -> bool:
        return frozenset((first, second)) in self.pairs

    def count(self, id_: int) -> int:
        return sum(id_ in pair for pair in self.pairs)


def test_after_withdrawals_who_has_met_all_that_stay_is_no_candidate() -> None:
    run = Run(below=(2, 1), active=(8, 7, 6, 5), parked=(4, 3), steps=3)
    met = Met((8, 7, 6, 5), (4, 8))
    there = {1, 2, 3, 4, 8}
    after, moves = advance(run, there, PLACE, met, Rules(4, 9, 3))
    assert [(move.who, move.replacement, move.source) for move in moves] == [
        (7, 3, "parked"),  # 4 has met all who stay, which is 8 alone
        (6, 4, "parked"),
        (5, 2, "old"),
    ]
    assert after.active == (8, 3, 4, 2)
    assert after.below == (1,)
    assert moves[0].matches == ((3, 8),)
    assert moves[1].matches == ((4, 3),)


def test_who_has_gone_too_does_not_count_as_staying() -> None:
    run = Run(below=(1,), active=(8, 7, 6), parked=(4,), steps=3)
    met = Met((8, 7, 6), (4, 7))
    _, moves = advance(run, {1, 4, 8}, PLACE, met, Rules(3, 9, 1))
    assert [(move.who, move.replacement) for move in moves] == [(7, 4), (6, 1)]


def test_nobody_left_to_come() -> None:
    run = Run(active=(3, 2, 1), steps=2)
    after, moves = advance(run, {1, 3}, PLACE, Met((1, 2, 3)), Rules(3, 9, 1))
    assert [(move.event, move.who, move.replacement) for move in moves] == [
        ("withdraw", 2, None),
        ("finish", None, None),
    ]
    assert after.ranked == (3, 1)
    assert after.is_finished


def test_the_parked_who_has_met_the_fewest_comes_for_one_that_is_dropped() -> None:
    run = Run(active=(8, 7, 6), parked=(4, 5), steps=5)
    met = Met((8, 7, 6), (4, 6), (4, 7), (5, 6))
    after, moves = advance(run, {4, 5, 6, 7, 8}, PLACE, met, Rules(3, 2, 1))
    assert (moves[0].event, moves[0].who, moves[0].replacement, moves[0].parked) == ("drop", 8, 5, (4,))
    assert after.active == (7, 6, 5)


def test_nothing_happens_while_there_is_something_to_play() -> None:
    run = Run(below=(1,), active=(4, 3, 2), steps=1)
    assert advance(run, {1, 2, 3, 4}, PLACE, Met((4, 3)), Rules(3, 9, 1)) == (run, [])


def test_who_comes_anew_must_stand_above_the_bubble() -> None:
    run = Run(below=(2,), active=(6, 5), parked=(4,), ranked=(7,), steps=2)
    assert arranged(run, {1, 2, 3, 4, 5, 6, 7, 8}, PLACE).below == (3, 2, 1)
    assert arranged(run, {5, 6}, PLACE) == Run(active=(6, 5), ranked=(7,), steps=2)
    assert arranged(Run(), {3, 1, 2}, PLACE).below == (3, 2, 1)


@pytest.mark.parametrize(
    "move",
    [
        Move(event="park", step=3, who=9, replacement=1, source="old"),
        Move(event="drop", step=3, who=3, replacement=4, source="old"),
        Move(event="drop", step=3, who=3, replacement=1, source="parked"),
        Move(event="start", step=0, active=(9,)),
        Move(event="finish", step=3, table=((9, 0, 0),)),
    ],
)
def test_steps_that_do_not_fit_are_no_steps(move: Move) -> None:
    with pytest.raises(ValueError, match="not in list"):
        follow(Run(below=(1,), active=(3, 2), parked=(4,), steps=3), move)


def test_ties_are_broken_by_sonneborn_berger_then_wins_then_the_old_ranking() -> None:
    class Made(Met):
        def __init__(self, points: dict[tuple[int, int], int]) -> None:
            self.made = points

        def points(self, first: int, second: int) -> int | None:
            return self.made[first, second] if (first, second) in self.made else 2 - self.made[second, first]

        def count(self, id_: int) -> int:
            return 7

    drawn = {(first, other): 1 for first in range(1, 5) for other in range(1, first)}
    assert table((4, 2, 3, 1), PLACE, Made(drawn)) == [(1, 3, 7), (2, 3, 7), (3, 3, 7), (4, 3, 7)]
    # 2 and 3 have equal points; 3 has beaten the strong 1 and lost to the weak 4, 2 the other way round.
    upset = {**drawn, (3, 1): 2, (2, 1): 0, (4, 3): 2, (4, 2): 0, (4, 1): 0}
    assert [id_ for id_, _, _ in table((1, 2, 3, 4), PLACE, Made(upset))] == [1, 3, 2, 4]
    # All have 3 points; 2, 3 and 4 have beaten each other in a ring, 1 has drawn three times.
    ring = {(2, 1): 1, (3, 1): 1, (4, 1): 1, (3, 2): 2, (4, 3): 2, (4, 2): 0}
    assert [id_ for id_, _, _ in table((1, 2, 3, 4), PLACE, Made(ring))] == [2, 3, 4, 1]
