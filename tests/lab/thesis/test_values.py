"""The thesis value by value: what is printed is what the vectors have, and what does not hold is seen."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from support.core.vectors import load

from cgos_server.lab.gor import curves, entropies
from cgos_server.lab.report import Report, Table
from cgos_server.lab.thesis import measures, pairings, printed, ratings


@pytest.fixture(scope="module")
def chapter_2() -> Report:
    return ratings.chapter_2()


def table(report: Report, key: str) -> Table:
    (only,) = [table for table in report.tables if table.key == key]
    return only


def test_printed_values_are_those_of_the_vectors(pytestconfig: pytest.Config) -> None:
    assert list(curves.CON) == [row["con"] for row in load("gor_con", pytestconfig)["table"]]
    vectors = load("entropy_matrix", pytestconfig)["printed"]
    order = vectors["column_order"]
    for ours, key in ((entropies.WINS, "table_2_2"), (entropies.TERMS, "table_2_3")):
        for one, other in itertools.permutations(entropies.PLAYERS, 2):
            assert entropies.printed(ours, (one, other)) == vectors[key][one][order.index(other)]
    rounds = load("round_robin_10", pytestconfig)["cases"][0]["rounds"]
    for number, rows in enumerate(printed.ROUND_ROBIN):
        assert [list(row) for row in rows] == [rounds[number]["upper"], rounds[number]["lower"]]
    assert list(printed.CUP_WINNERS) == load("cup", pytestconfig)["runs"][0]["winners_in_order"]
    starts = {row["grade"]: row["points"] for row in load("starting_points", pytestconfig)["cases"] if not row["bar"]}
    assert all(starts[grade] == points for grade, points in printed.STARTS.items())
    (sixteen,) = [case for case in load("group_seeding", pytestconfig)["cases"] if case["n"] == 16]
    assert [list(pair) for pair in printed.DOUBLE_FOLDED] == sixteen["double_folding"]


def test_all_of_chapter_2_holds(chapter_2: Report) -> None:
    assert [check.claim for check in chapter_2.checks if not check.holds] == []
    assert [picture.key for picture in chapter_2.pictures] == ["figure-2-1", "figure-2-2"]


def test_figures_2_1_and_2_2_are_the_vectors(chapter_2: Report, pytestconfig: pytest.Config) -> None:
    change = load("gor_total_change", pytestconfig)
    by_step = {row[0]: row for row in table(chapter_2, "figure-2-2").rows}
    seen = 0
    for curve in change["curves"]:
        at = 1 + ratings.OWN.index(float(curve["own"]))
        for point in curve["points"]:
            if point["x"] in by_step:
                assert by_step[point["x"]][at] == pytest.approx(point["E_thesis"], abs=1e-9)
                seen += 1
    assert seen == 2 * len(ratings.STEPS)
    peaks = {row["own"]: row for row in change["maximisers"]}
    for own, peak, there, equal, above in table(chapter_2, "peaks").rows:
        expected = peaks[own]
        assert peak == expected["x_max_integer"]
        assert (there, equal, above) == pytest.approx(
            (expected["E_max"], expected["E_at_0"], expected["E_at_plus_250"]), abs=1e-9
        )


def test_tables_2_2_and_2_3_are_the_vectors(chapter_2: Report, pytestconfig: pytest.Config) -> None:
    exact, whole = load("entropy_matrix", pytestconfig)["cases"][:2]
    for row in table(chapter_2, "tables-2-2-2-3").rows:
        one, other = str(row[0]).split("-")
        assert row[2:4] == pytest.approx((whole["win"][one][other], exact["win"][one][other]), abs=1e-9)
        assert (row[5], row[7]) == pytest.approx((whole["term"][one][other], whole["term"][other][one]), abs=1e-9)


def test_chapters_3_and_4_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairings, "FIELDS", 2)
    report = pairings.chapters_3_and_4(1)
    assert [check.claim for check in report.checks if not check.holds] == []
    rounds = table(report, "table-3-1").rows
    assert [row[1] == row[2] for row in rounds] == [True] * 4 + [False] * 5
    assert table(report, "colors").rows == (("literal", 3), ("balanced", 1))


def test_measures_hold() -> None:
    report = measures.measures()
    assert [check.claim for check in report.checks if not check.holds] == []


def test_the_example_is_that_of_the_vectors(pytestconfig: pytest.Config) -> None:
    case = load("tie_breakers", pytestconfig)["cases"][0]
    assert case["start"] == measures.HAND_STARTS
    for name, *values in measures.BY_HAND:
        assert values == [case["mcmahon"][name][word] for word in measures.WORDS]
    error = load("total_error", pytestconfig)["cases"][0]
    assert error["rs_given"] == measures.GIVEN
    assert {name: error["rs_fitted"][name] for name in measures.FITTED} == pytest.approx(measures.FITTED, abs=1e-9)
    event = measures.event_of(measures.HAND, measures.HAND_STARTS)
    marks = {(2, 0): "B", (0, 2): "W", (1, 1): "D"}
    for each, expected in zip(event.rounds, case["rounds"], strict=True):
        games = [
            [event.names[game.black], event.names[game.white], marks[game.result.black, game.result.white]]
            for game in each.games
            if game.result
        ]
        assert games == expected["games"]
        assert [event.names[bye.entrant] for bye in each.byes] == expected["free"]


def spoiled(table: Sequence[Sequence[float]], cell: float) -> tuple[Sequence[float], ...]:
    """With another cell A-B."""
    first, *others = table
    return ((first[0], cell, *first[2:]), *others)


SPOILED: list[tuple[Any, str, Any, Callable[[], Report]]] = [
    (ratings, "CON", (117, *curves.CON[1:]), ratings.table_2_1),
    (ratings, "WINS", spoiled(entropies.WINS, 0.10127), ratings.tables_2_2_and_2_3),
    (ratings, "TERMS", spoiled(entropies.TERMS, 0.33457), ratings.tables_2_2_and_2_3),
    (pairings, "ROUND_ROBIN", printed.ROUND_ROBIN[1:], pairings.table_3_1),
    (pairings, "CUP_WINNERS", (1, *printed.CUP_WINNERS[1:]), pairings.table_3_2),
    (pairings, "STARTS", {"20k": 0, "1k": 18}, pairings.starts),
    (pairings, "DOUBLE_FOLDED", tuple((at, 17 - at) for at in range(1, 9)), pairings.seedings),
    (measures, "BY_HAND", (("A", 5.0, 8.5, 8.5, 11.0), *measures.BY_HAND[1:]), measures.tie_breakers),
    (measures, "GIVEN", {**measures.GIVEN, "A": 3.5}, measures.equation_7_1),
    (measures, "FITTED", {**measures.FITTED, "A": 1.774}, measures.equation_7_1),
]


@pytest.mark.parametrize(("module", "name", "value", "part"), SPOILED, ids=[each[1] for each in SPOILED])
def test_a_value_that_is_not_the_printed_one_is_seen(
    module: Any, name: str, value: Any, part: Callable[[], Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert part().holds
    monkeypatch.setattr(module, name, value)
    assert not part().holds
