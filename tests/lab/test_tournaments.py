"""Series of simulated tournaments: the same in one process and in several, what their figures are, how they end."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import OurFault, Refused
from cgos_server.lab import tournaments
from cgos_server.lab.running import Work
from cgos_server.lab.tournaments import Asked, Series, Sums, run, run_all
from cgos_server.tournaments.registry import system
from cgos_server.tournaments.simulation.many_events import at_once
from cgos_server.tournaments.simulation.one_event import Measures, Plan, seed_of, simulate

FAST = Plan(system="dutch", players=8, rounds=3)
SLOW = Plan(system="swiss", players=8, rounds=3)

PROGRAM = """
import signal
import sys
from cgos_server.tournaments.simulation.one_event import Plan
from cgos_server.lab.running import Work
from cgos_server.lab.tournaments import run

def print_done(done, everything):
    print(done, flush=True)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever is started in the background ignores it
    plans = [Plan(system=word, players=32, rounds=7) for word in ("dutch", "swiss")]
    runs = run(plans, 1_000_000, Work(1, int(sys.argv[1]), print_done))
    counts = [series.tournaments for series in runs.series]
    print("interrupted" if runs.interrupted else "done", *counts, flush=True)
"""


def test_a_series_is_its_tournaments_in_order() -> None:
    collected: list[tuple[int, int]] = []
    runs = run([FAST, SLOW], 9, Work(5, 1, lambda done, everything: collected.append((done, everything))))
    for result in runs.series:
        assert result.tournaments == 9
        all_measures = [simulate(result.plan, seed_of(5, index)).measures for index in range(9)]
        for figure in result.measures:
            values = [getattr(measures, figure.measure) for measures in all_measures]
            if None in values:
                assert (figure.mean, figure.error) == (None, None)
                continue
            assert figure.mean == pytest.approx(statistics.fmean(values), rel=1e-12)
            assert figure.error == pytest.approx(statistics.stdev(values) / 3, rel=1e-9)
    assert not runs.interrupted
    assert collected[0] == (0, 18)
    assert collected[-1] == (18, 18)
    assert collected == sorted(collected)


def test_any_number_of_processes_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournaments, "at_once", lambda _players: 3)  # more tasks than processes
    assert run([FAST, SLOW], 11, Work(5, 2)) == run([FAST, SLOW], 11, Work(5, 1))


def test_each_plan_may_have_its_own_number_of_tournaments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournaments, "at_once", lambda _players: 3)
    asked = [Asked(plan=FAST, tournaments=11), Asked(plan=SLOW, tournaments=2), Asked(plan=FAST, tournaments=4)]
    runs = run_all(asked, Work(5))
    assert [series.tournaments for series in runs.series] == [11, 2, 4]
    assert runs.series[0] == run([FAST], 11, Work(5)).series[0]
    assert runs.series[1] == run([SLOW], 2, Work(5)).series[0]


def test_somebody_else_may_pair_and_rank() -> None:
    asked = [Asked(plan=FAST, tournaments=3, by=system("swiss")), Asked(plan=SLOW, tournaments=3)]
    by_another, by_itself = run_all(asked, Work(5)).series
    assert by_another.measures == by_itself.measures
    assert by_another.mean("kendall") == by_itself.mean("kendall")
    assert by_another.mean("strength_difference") is None


def test_refusals_come_from_other_processes_too() -> None:
    # All meet all in a bubble, so no pairing can be compared with it.
    plan = Plan(system="bubble", players=5, rounds=1, differences=True)
    for jobs in (1, 2):
        with pytest.raises(Refused, match="several opponents"):
            run([plan], 5, Work(0, jobs))


def test_the_end_of_a_process_is_said() -> None:
    def end_them(done: int, _all: int) -> None:
        if done:
            for child in multiprocessing.active_children():
                child.kill()

    with pytest.raises(OurFault, match="ended from outside"):
        run([SLOW], 10_000, Work(0, 2, end_them))
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_control_c_ends_everything_and_keeps_what_is_done(jobs: int, tmp_path: Path) -> None:
    script = tmp_path / "long.py"
    script.write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, str(script), str(jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            while int(process.stdout.readline()) <= at_once(32):  # more than the first task
                pass
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
            *_, last = process.stdout.read().split("\n")[:-1]
            errors = process.stderr.read()  # ends when nobody is left who could write
            process.wait(60)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # whoever is left after a failure
    word, *counts = last.split()
    assert word == "interrupted"
    assert all(int(count) > 0 for count in counts)
    assert process.returncode == 0
    assert errors == ""


def test_workers_do_not_outlive_the_one_who_started_them(tmp_path: Path) -> None:
    script = tmp_path / "long.py"
    script.write_text(PROGRAM)
    with subprocess.Popen([sys.executable, str(script), "2"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while int(process.stdout.readline()) < at_once(32):
            pass
        process.kill()
        process.stdout.read()  # ends when the last of them has gone, else the test is never done
    assert process.returncode == -signal.SIGKILL


def measured(kendall: float) -> Measures:
    """What a tournament was worth whose other figures are of no interest."""
    others = dict.fromkeys((name for name in Measures.__struct_fields__ if name != "strength_difference"), 1.0)
    return Measures(**{**others, "kendall": kendall})


def test_figures_are_means_with_standard_errors() -> None:
    values = [0.5, 0.25, 0.75, 0.5]
    measures = tuple(measured(value) for value in values)
    result = {figure.measure: figure for figure in series(FAST, [measures]).measures}
    assert result["kendall"].mean == statistics.fmean(values)
    assert result["kendall"].error == pytest.approx(statistics.stdev(values) / math.sqrt(4))
    assert result["games"].error == 0.0
    assert result["strength_difference"].mean is None
    assert {figure.error for figure in series(FAST, [measures[:1]]).measures} == {None}
    assert {figure.mean for figure in series(FAST, []).measures} == {None}


@given(st.lists(st.lists(st.floats(0.0, 1.0), max_size=5), min_size=1, max_size=5))
def test_figures_do_not_depend_on_how_the_work_was_divided(parts: list[list[float]]) -> None:
    values = [[measured(value) for value in part] for part in parts]
    divided, whole = series(FAST, values), series(FAST, [[value for part in values for value in part]])
    assert divided.tournaments == whole.tournaments
    for first, second in zip(divided.measures, whole.measures, strict=True):
        assert first.mean == pytest.approx(second.mean, abs=1e-12)
        assert first.error == pytest.approx(second.error, abs=1e-9)


def series(plan: Plan, parts: Sequence[Sequence[Measures]]) -> Series:
    sums = Sums()
    for measures in parts:
        sums.add(measures)
    return sums.series(plan)
