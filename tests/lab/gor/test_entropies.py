"""The thesis's entropy tables as they stand in the lab, and the rounds that follow."""

from __future__ import annotations

import math
from typing import Any

import pytest
from support.core.vectors import Vectors

from cgos_server.lab.gor import entropies as gor_entropies
from cgos_server.lab.gor.entropies import (
    PAIRS,
    PLAYERS,
    RATINGS,
    TERMS,
    WINS,
    entropies,
    paired,
    rounds,
    totals,
    win,
)


def cells(table: Any) -> dict[str, list[float | None]]:
    return {
        name: [None if math.isnan(cell) else cell for cell in row] for name, row in zip(PLAYERS, table, strict=True)
    }


def test_the_tables_are_as_printed(vectors: Vectors) -> None:
    file = vectors("entropy_matrix")
    assert dict(RATINGS) == file["cases"][0]["ratings"]
    assert cells(WINS) == file["printed"]["table_2_2"]
    assert cells(TERMS) == file["printed"]["table_2_3"]


def test_the_server_ranks_all_rounds(vectors: Vectors) -> None:
    exact, divided = vectors("entropy_matrix")["cases"][:2]
    assert (exact["a_integer_division"], divided["a_integer_division"]) == (False, True)
    ranked = totals()
    assert len(ranked) == 15
    best = [exact["optimal"], *exact["runners_up"]]
    for ours, expected in zip(ranked, best, strict=False):
        assert ours.pairs == tuple(sorted(tuple(sorted(pair)) for pair in expected["pairs"]))
        assert ours.exact == pytest.approx(expected["total_bits"], abs=2e-6)
    assert ranked[0].divided == pytest.approx(divided["optimal"]["total_bits"], abs=1e-9)
    assert ranked[-1].exact == pytest.approx(exact["worst"]["total_bits"], abs=2e-6)
    assert paired() == (ranked[0].pairs, ranked[0].exact)


def test_all_rounds_are_all() -> None:
    assert len(set(rounds())) == 15
    assert {pair for pairs in rounds() for pair in pairs} == set(PAIRS)


def test_the_report_holds_and_marks_the_misprint() -> None:
    report = entropies()
    assert report.holds, [check for check in report.checks if not check.holds]
    tables = {each.key: each for each in report.tables}
    for key in ("wins", "terms"):
        assert [row[0] for row in tables[key].rows if row[-1] is not None] == ["B-F"]
    assert [row[0] for row in tables["rounds"].rows] == ["A-F, B-D, C-E", "A-E, B-D, C-F", "A-C, B-D, E-F"]


def test_a_table_without_the_division_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gor_entropies, "win", lambda pair, **_how: win(pair))
    failed = [check.claim for check in entropies().checks if not check.holds]
    assert failed == ["table 2.2 without B-F: largest deviation"]
