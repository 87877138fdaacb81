"""GoR's curves against the vectors, and what the thesis's claims come to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.core.vectors import Vectors

from cgos_server.core.pairing.methods.change import total_change
from cgos_server.lab.gor import curves as gor_curves
from cgos_server.lab.gor.curves import CON, absolute_change, curves, peak


def test_con_as_printed(vectors: Vectors) -> None:
    assert list(CON) == [row["con"] for row in vectors("gor_con")["table"]]


def test_absolute_change_by_the_vectors(vectors: Vectors) -> None:
    file = vectors("gor_total_change")
    for curve in file["curves"]:
        opponents = np.array([float(curve["own"] + point["x"]) for point in curve["points"]])
        expected = [point["abs_change"] for point in curve["points"]]
        assert absolute_change(float(curve["own"]), opponents) == pytest.approx(expected, rel=1e-9)


def test_maxima_by_the_vectors(vectors: Vectors) -> None:
    for row in vectors("gor_total_change")["maximisers"]:
        found = peak(float(row["own"]))
        assert abs(found.x - row["x_max_integer"]) <= 0.5
        assert found.most >= row["E_max"] - 1e-12
        assert found.even == pytest.approx(row["E_at_0"])
        assert found.stronger == pytest.approx(row["E_at_plus_250"])
        assert abs(found.moving - row["abs_change_x_max_integer"]) <= 0.5


@settings(max_examples=15)
@given(st.floats(100.0, 2699.0), st.floats(1.0, 400.0), st.floats(1.0, 400.0))
def test_a_stronger_opponent_is_never_better(own: float, near: float, further: float) -> None:
    even, one, two = (float(total_change(own, own + x)) for x in (0.0, near, near + further))
    assert even >= one - 1e-12 >= two - 2e-12


def test_maxima_of_the_thesis() -> None:
    assert (peak(700.0).x, peak(1400.0).x) == (-246.0, -213.5)
    assert -138.0 <= peak(2200.0).x <= -137.5  # all but equal
    assert peak(100.0).x == 0.0
    assert (peak(300.0).x, peak(300.0).limited) == (-200.0, True)


def test_the_report_holds_and_has_what_was_asked_for() -> None:
    report = curves((1234.5,))
    assert report.holds, [check for check in report.checks if not check.holds]
    tables = {each.key: each for each in report.tables}
    assert [column.name for column in tables["expectancy"].columns] == ["x", "own 1234.5"]
    assert "1234.5" in [row[0] for row in tables["peaks"].rows]
    assert len(tables["con"].rows) == 27
    assert [picture.key for picture in report.pictures] == ["expectancy", "change"]


def test_a_wrong_con_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gor_curves, "CON", (117, *CON[1:]))
    failed = [check.claim for check in curves((700.0,)).checks if not check.holds]
    assert failed == ["con, 27 rows of table 2.1: largest deviation"]
