"""What is made of counted rounds: the mail's layout, deviations, and that a wrong sampler is found out."""

from __future__ import annotations

import numpy as np
import pytest

from cgos_server.lab.birk import report as birk_report
from cgos_server.lab.birk import simulated
from cgos_server.lab.birk.exact import distribution
from cgos_server.lab.birk.report import NAMED, PRINTED, PRINTED_OFF, PUBLISHED_PLAYERS, apart, compared
from cgos_server.lab.birk.simulated import Tally, Task
from cgos_server.lab.report import Heat, Report
from cgos_server.lab.running import Work

SMALL = ((6, 5), ("half", "1 + avail // 3"), 400)


def table(report: Report, key: str) -> list[tuple[object, ...]]:
    return [row for each in report.tables if each.key == key for row in each.rows]


@pytest.fixture(scope="module")
def small() -> Report:
    return compared(*SMALL, Work(seed=4))


def test_the_mail_is_within_its_precision_of_the_exact_law() -> None:
    worst = dict.fromkeys(NAMED, 0.0)
    laws = {formula: distribution(PUBLISHED_PLAYERS, formula).pairs for formula in NAMED}
    for (formula, i, j), printed in PRINTED.items():
        off = abs(float(laws[formula][i, j]) * (PUBLISHED_PLAYERS - 1) - printed)
        worst[formula] = max(worst[formula], off)
    assert max(worst.values()) <= PRINTED_OFF
    assert {formula: round(off, 3) for formula, off in worst.items()} == {
        "half": 0.061,
        "fifth": 0.06,
        "sqrt": 0.065,
        "one": 0.0,
    }


def test_a_matrix_has_both_beside_each_other(small: Report) -> None:
    rows = table(small, "ratios-6-half")
    exact = distribution(6, "half").pairs
    for i in range(6):
        assert rows[i][0] == str(i + 1)
        assert rows[i][i + 1] is None
        for j in range(i):
            assert rows[i][j + 1] == pytest.approx(float(exact[j + 1, i + 1]) * 5)
    above = sum(float(str(rows[i][j + 1])) for i in range(6) for j in range(i + 1, 6))
    assert above == pytest.approx(15.0)  # three pairs a round, times 5
    (drawn,) = [each for each in small.pictures if isinstance(each, Heat) and each.key == "ratios-6-half"]
    assert drawn.values[0][1] == drawn.values[1][0] == rows[0][2]


def test_own_formulas_have_keys_of_their_own(small: Report) -> None:
    keys = [each.key for each in small.tables]
    assert len(set(keys)) == len(keys)
    assert {"ratios-6-own2", "ratios-5-own2", "sit-outs-5", "turns-5", "agreement"} <= set(keys)


def test_sit_outs_stand_beside_their_probabilities(small: Report) -> None:
    exact = distribution(5, "half").sits_out
    rows = table(small, "sit-outs-5")
    assert [row[2] for row in rows] == [pytest.approx(float(exact[rank])) for rank in range(1, 6)]
    assert sum(float(str(row[1])) for row in rows) == pytest.approx(1.0)
    turns = {(row[0], row[1]): row for row in table(small, "turns-5")}
    assert turns["half", "fair"][5] == 0.0


def test_everything_holds(small: Report) -> None:
    assert small.holds, [check for check in small.checks if not check.holds]
    assert not small.interrupted


def test_as_many_processes_give_the_same(small: Report) -> None:
    assert compared(*SMALL, Work(seed=4, jobs=2)) == small


def test_the_cells_of_the_mail_are_held_against_it() -> None:
    report = compared((14,), NAMED, 60, Work())
    claims = [check.claim for check in report.checks if "the mail's cell" in check.claim]
    assert len(claims) == 7
    assert "half: the mail's cell 5-6 (exact 3.7387)" in claims


def test_another_method_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def random_pairs(task: Task) -> Tally:
        return simulated.counted(Task(series=task.series._replace(formula="one"), rounds=task.rounds, number=0, seed=0))

    monkeypatch.setattr(birk_report, "counted", random_pairs)
    report = compared((6,), ("half",), 400, Work())
    assert [check.claim for check in report.checks if not check.holds] == [
        "half, 6 players: pairs beyond 5 standard errors and 4 rounds"
    ]
    assert int(str(table(report, "agreement")[0][4])) > 0  # some met who cannot


def test_what_must_not_happen_is_off_at_once() -> None:
    never = apart(np.array([1, 99]), np.array([0.0, 1.0]), 100)
    assert (never.off, never.errors) == (1, 0.0)


@pytest.mark.parametrize(("count", "off"), [(500 + 83, 0), (500 + 84, 1), (500 - 84, 1)])
def test_five_standard_errors_and_four_rounds_are_the_bound(count: int, off: int) -> None:
    assert apart(np.array([count]), np.array([0.5]), 1000).off == off  # 5 sqrt(250) + 4 = 83.06


def test_interrupted_at_once_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(_task: Task) -> Tally:
        raise KeyboardInterrupt

    monkeypatch.setattr(birk_report, "counted", stopped)
    report = compared((5,), ("half",), 10, Work())
    assert report.interrupted
    assert (report.tables, report.pictures, report.checks) == ((), (), ())
