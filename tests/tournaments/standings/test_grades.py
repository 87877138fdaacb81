"""Grades of Go players as they are written, and where entrants start by them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.core.vectors import parametrize

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import Entrant, Event
from cgos_server.tournaments.standings.grades import GRADES, grade_index, nominal_rating, starting_points


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        parametrize(metafunc, "case", "starting_points", named=lambda case: f"{case['grade']}-{case['bar']}")


def points(*entrants: Entrant, floor: str = "20k", bar: str | None = None) -> list[float]:
    return [half / 2 for half in starting_points(Event(system="mcmahon", entrants=entrants), floor, bar).values()]


def of_rating(*ratings: float) -> tuple[Entrant, ...]:
    return tuple(Entrant(id=at, name=f"bot-{at}", rating=rating) for at, rating in enumerate(ratings, 1))


def test_vectors(case: dict[str, Any]) -> None:
    assert points(Entrant(id=1, name="Ann", grade=case["grade"]), floor=case["floor"], bar=case["bar"]) == [
        case["points"]
    ]
    assert nominal_rating(case["grade"]) == case["nominal_rating"]


def test_grades_are_one_step_apart() -> None:
    steps = [grade_index(grade) for grade in GRADES]
    assert steps == list(range(-10, 29))


def test_professionals_are_one_step_above_seven_dan() -> None:
    assert {grade_index(f"{number}p") for number in range(1, 10)} == {grade_index("7d") + 1}


@pytest.mark.parametrize("grade", ["4 dan", "4D", " 4d ", "4dan"])
def test_usual_ways_of_writing_a_grade(grade: str) -> None:
    assert grade_index(grade) == grade_index("4d")


@pytest.mark.parametrize("grade", ["", "d", "0k", "31k", "10d", "10p", "4x", "-4d", "4d 5d", "four dan"])
def test_no_grade(grade: str) -> None:
    with pytest.raises(Refused, match=r"is not a grade\. Write one such as"):
        grade_index(grade)


def test_an_entrant_with_an_unreadable_grade_is_named() -> None:
    with pytest.raises(Refused, match="Ann has the grade '44d'"):
        points(Entrant(id=1, name="Ann", grade="44d", start=3))


def test_engines_without_a_grade_start_by_their_rating_halves_rounded_up() -> None:
    assert points(*of_rating(-500.0, 100.0, 149.0, 150.0, 249.9, 250.0, 2_100.0)) == [0, 0, 0, 1, 1, 2, 20]
    assert points(*of_rating(949.0, 950.0, 5_000.0), floor="12k", bar="4d") == [0, 1, 15]


@given(st.sampled_from(GRADES), st.sampled_from(GRADES))
def test_a_rating_in_the_middle_of_a_grade_starts_where_the_grade_does(grade: str, floor: str) -> None:
    rating = 100.0 + 100.0 * grade_index(grade)
    both = points(Entrant(id=1, name="Ann", grade=grade), Entrant(id=2, name="bot", rating=rating), floor=floor)
    assert both[0] == both[1]


@given(st.lists(st.floats(-1_000, 5_000), min_size=2, max_size=6), st.sampled_from(GRADES[:20]))
def test_who_is_stronger_starts_no_lower_within_floor_and_bar(ratings: list[float], floor: str) -> None:
    result = points(*of_rating(*sorted(ratings)), floor=floor, bar="3d")
    assert result == sorted(result)
    assert result[0] >= 0
    assert result[-1] <= grade_index("3d") - grade_index(floor)


def test_a_start_of_ones_own_is_taken_as_it_is_and_who_is_unknown_starts_at_the_floor() -> None:
    assert points(Entrant(id=1, name="Ann", rating=2_000.0, start=5, grade="1d"), Entrant(id=2, name="new")) == [2.5, 0]


def test_the_grade_counts_where_there_is_a_rating_too() -> None:
    assert points(Entrant(id=1, name="Ann", rating=900.0, grade="1d")) == [20]


def test_a_bar_under_the_floor_is_refused() -> None:
    with pytest.raises(Refused, match="under the floor"):
        points(floor="1d", bar="2k")
