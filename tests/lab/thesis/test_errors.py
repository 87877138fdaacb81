"""Total errors of five systems: the same fields for all, the same figures in one process and two, orders, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import Refused
from cgos_server.lab.ratings.pools import generator
from cgos_server.lab.report import Mean, mean_of
from cgos_server.lab.running import Work
from cgos_server.lab.thesis import experiment as module
from cgos_server.lab.thesis.errors import SYSTEMS, Fields, Task, done, total_errors
from cgos_server.lab.thesis.experiment import experiment
from cgos_server.lab.thesis.fields import LEAST, MOST, chances_of, field_of
from cgos_server.tournaments.base import Game
from cgos_server.tournaments.standings.grades import nominal_rating

FIELDS = Fields(sizes=(8, 12), rounds=(2, 3), events=3)


@given(size=st.integers(1, 80), seed=st.integers(0, 1000))
def test_fields_are_of_go_players(size: int, seed: int) -> None:
    field = field_of(size, generator(seed, "field"))
    assert [one.id for one in field.entrants] == list(range(1, size + 1))
    assert all(LEAST <= strength <= MOST for strength in field.strengths)
    for one in field.entrants:
        assert one.rating is not None
        assert LEAST <= one.rating <= MOST
        assert abs(nominal_rating(one.grade) - one.rating) <= 50.0


def test_games_go_by_true_strengths() -> None:
    field = field_of(9, generator(1, "field"))._replace(strengths=np.linspace(100.0, 2700.0, 9))
    chances = chances_of(field)
    assert chances(Game(white=1, black=1)) == (0.5, 0.5)
    win, holds = chances(Game(white=2, black=1))
    assert win == holds == pytest.approx(1.0 / (1.0 + math.exp(-325.0 / 200.0)))
    assert chances(Game(white=1, black=2))[0] == pytest.approx(1.0 - win)


def test_figures_are_the_same_for_any_number_of_processes() -> None:
    fields = Fields(sizes=(8,), rounds=(2,), events=2)
    reports = [total_errors(fields, Work(5, jobs)) for jobs in (1, 2)]
    assert reports[0] == reports[1]
    assert reports[0] != total_errors(fields, Work(6))


def test_the_tables_have_the_means_of_all_events() -> None:
    report = total_errors(FIELDS, Work(5))
    errors, orders, by_size = report.tables
    assert [row[:3] for row in errors.rows] == [
        (size, rounds, word) for size in FIELDS.sizes for rounds in FIELDS.rounds for word in SYSTEMS
    ]
    each = [
        done(Task(system="epm", size=12, rounds=3, bar="none", replicate=at, seed=5)) for at in range(FIELDS.events)
    ]
    (row,) = [row for row in errors.rows if row[:3] == (12, 3, "epm")]
    assert row[3] == mean_of([one.relative.e_total for one in each])
    assert row[6] == mean_of([one.true for one in each])
    for row in errors.rows:
        printed, inside = row[3], row[4]
        assert isinstance(printed, Mean)
        assert isinstance(inside, Mean)
        assert printed.mean * math.sqrt(2 * int(str(row[0])) * int(str(row[1]))) == pytest.approx(inside.mean)
    means = {row[2]: row[5] for row in errors.rows if row[:2] == (8, 2)}
    order = str(orders.rows[0][2]).replace("<", "~").split(" ~ ")
    assert order == sorted(order, key=lambda word: means[word].mean)  # type: ignore[union-attr]
    assert all(row[2] == pytest.approx(float(str(row[3])) * math.sqrt(8 / 12)) for row in by_size.rows)
    assert [picture.key for picture in report.pictures][:2] == ["e_total-2", "e_total-3"]


def test_a_bar_is_for_systems_with_starting_points() -> None:
    apart = [
        done(Task(system=word, size=12, rounds=3, bar="15k", replicate=0, seed=5))
        != done(Task(system=word, size=12, rounds=3, bar="none", replicate=0, seed=5))
        for word in ("weighted", "accelrat")
    ]
    assert apart == [True, False]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (Fields(sizes=(8, 8), rounds=(2,)), "A size is given twice. Name each once."),
        (Fields(sizes=(8,), rounds=(2, 2)), "A number of rounds is given twice. Name each once."),
        (
            Fields(sizes=(34, 8), rounds=(2, 8)),
            "A field of 8 has no 8 rounds without rematches. Take fewer rounds, or larger fields.",
        ),
        (Fields(bar="25k"), "A bar at 25k is under the floor of 20k. Give a higher one."),
    ],
)
def test_what_cannot_be_is_refused(fields: Fields, sentence: str) -> None:
    with pytest.raises(Refused) as caught:
        experiment(fields, Work())
    assert str(caught.value) == sentence


def test_keys_are_words_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgos_server.lab.thesis.pairings.FIELDS", 2)
    report = module.experiment(FIELDS, Work())
    for keys in ([table.key for table in report.tables], [picture.key for picture in report.pictures]):
        assert len(set(keys)) == len(keys)
    assert report.holds
    for table in report.tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}, table.key
