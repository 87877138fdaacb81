"""Rounds by the server's matchmaker: how they are counted, and that chunks do not depend on each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgos_protocol.errors import Refused
from cgos_server.lab.birk.simulated import CHUNK, Series, Task, counted, method, tasks


@settings(max_examples=20)
@given(st.integers(2, 11), st.sampled_from(("half", "one", "1 + avail // 3")), st.sampled_from(("natural", "fair")))
def test_everybody_is_in_every_round_once(players: int, formula: str, bye: str) -> None:
    tally = counted(Task(series=Series(players, formula, bye), rounds=30, number=0, seed=3))
    assert (tally.met.sum(axis=0) + tally.met.sum(axis=1) + tally.sat_out == 30).all()
    assert tally.sat_out.sum() == 30 * (players % 2)
    assert not np.tril(tally.met).any()
    if bye == "fair" and players > 1:
        assert tally.again == 0


def test_who_sits_out_of_three_by_half_is_always_the_last() -> None:
    tally = counted(Task(series=Series(3, "half"), rounds=20, number=0, seed=0))
    assert tally.sat_out.tolist() == [0, 0, 20]
    assert (tally.again, tally.following) == (19, 19)


def test_tasks_are_all_rounds_in_turn() -> None:
    both = (Series(4, "half"), Series(5, "one"))
    made = list(tasks(both, CHUNK + 7, 1))
    assert [(task.series, task.rounds, task.number) for task in made] == [
        (both[0], CHUNK, 0),
        (both[1], CHUNK, 0),
        (both[0], 7, 1),
        (both[1], 7, 1),
    ]


def test_tasks_have_streams_of_their_own() -> None:
    def met(number: int, seed: int) -> list[list[int]]:
        counts: list[list[int]] = counted(
            Task(series=Series(8, "one"), rounds=40, number=number, seed=seed)
        ).met.tolist()
        return counts

    assert met(0, 0) == met(0, 0)
    assert met(0, 0) != met(1, 0)
    assert met(0, 0) != met(0, 1)


def test_tallies_add_up() -> None:
    one, other = (counted(Task(series=Series(5, "one"), rounds=10, number=number, seed=0)) for number in (0, 1))
    both = one.plus(other)
    assert both.rounds == 20
    assert (both.met == one.met + other.met).all()
    assert (both.sat_out == one.sat_out + other.sat_out).all()
    assert (both.again, both.following) == (one.again + other.again, 18)


def test_what_is_no_formula_is_refused() -> None:
    with pytest.raises(Refused, match="is not allowed in it"):
        method("avail / 2", "natural")
