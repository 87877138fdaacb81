"""`lab swiss`: its tables, its JSON, its exit codes, its refusals."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.lab.fake_bbp import fake_bbp

from cgos_server.cli.lab.experiment import INTERRUPTED
from cgos_server.cli.main import main
from cgos_server.lab.running import Work
from cgos_server.lab.swiss import own, studies, sweeps
from cgos_server.lab.swiss.published import PUBLISHED
from cgos_server.lab.tournaments import Asked, Runs, run, run_all
from cgos_server.tournaments.simulation.one_event import Plan

EIGHT = ("--players", "8", "--rounds", "3")


def call(*words: str) -> Result:
    return CliRunner().invoke(main, ["lab", "swiss", *words])


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Studies have the five orders of MWM alone."""
    monkeypatch.setattr(studies, "BESIDE", ())


def test_the_table_has_every_measure_of_every_system() -> None:
    words = (*EIGHT, "--system", "dutch", "--system", "swiss", "--events", "20")
    ended = call(*words, "--seed", "3", "--option", "beta=1")
    assert ended.exit_code == 0, ended.output
    lines = ended.stdout.splitlines()
    assert lines[0] == "8 players, strengths 1000 to 1800, 20 events"
    assert lines[1].split() == ["measure", "dutch", "swiss"]
    runs = run(
        [Plan(system="dutch", players=8, rounds=3, options={"beta": 1}), Plan(system="swiss", players=8, rounds=3)],
        20,
        Work(3),
    )
    taus = [series.figure("kendall") for series in runs.series]
    assert re.split("  +", lines[2]) == [
        "Kendall's tau",
        *(f"{figure.mean:.4f} ± {figure.error:.4f}" for figure in taus),
    ]
    shown = {re.split("  +", line)[0] for line in lines}
    assert shown >= {column.name for name, column in sweeps.MEASURES.items() if name != "strength_difference"}
    assert "strength difference" not in shown
    assert any(line.startswith("strength difference") for line in call(*words, "--differences").stdout.splitlines())


def test_json_has_the_command_and_the_figures() -> None:
    words = (
        "--players",
        "6",
        "--rounds",
        "2",
        "--system",
        "monrad",
        "--events",
        "4",
        "--low",
        "1500",
        "--model",
        "elo",
    )
    answer = json.loads(call(*words, "--json", "--jobs", "1").stdout)
    assert answer["command"].endswith(
        "lab swiss --events 4 --system monrad --players 6 --rounds 2 --low 1500.0 --model elo"
    )
    assert answer["interrupted"] is False
    assert [table["key"] for table in answer["tables"]] == ["measures", "counts"]
    name, figure = answer["tables"][0]["rows"][0]
    assert name == "Kendall's tau"
    assert set(figure) == {"mean", "error"}


def test_any_number_of_processes_gives_the_same() -> None:
    words = (*EIGHT, "--system", "dutch", "--system", "swiss", "--events", "9", "--strengths", "groups", "--json")
    assert call(*words, "--jobs", "2").stdout == call(*words, "--jobs", "1").stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((*EIGHT[:2], "--system", "swiss"), "Say how many are to be played"),
        ((*EIGHT, "--system", "swiss", "--low", "1900"), "Give the lower number first"),
        ((*EIGHT, "--system", "swiss", "--option", "beta=1"), "No system asked for has an option 'beta'"),
        ((*EIGHT, "--system", "swiss", "--option", "beta"), "is not NAME=VALUE"),
        ((*EIGHT, "--system", "dutch", "--option", "beta=0"), "beta cannot be 0"),
        (EIGHT, "There is no system to simulate. Name some by --system."),
        ((*EIGHT, "--study", "beta"), "Leave one of them out."),
        (("--low", "1500", "--option", "beta=1"), "--option and --low can be said of an experiment of your own"),
        (("--bbp", "/nowhere/bbpPairings"), "/nowhere/bbpPairings cannot be run: No such file or directory."),
        (("--system", "nothing"), "'nothing' is not one of"),
    ],
)
def test_what_cannot_be_simulated_is_said(words: tuple[str, ...], says: str) -> None:
    ended = call(*words)
    assert ended.exit_code in (1, 2)
    assert says in " ".join(ended.output.split())


def test_many_systems_get_tables_each() -> None:
    systems = ("dutch", "burstein", "monrad", "random", "random2")
    words = [word for system in systems for word in ("--system", system)]
    ended = call("--players", "4", "--rounds", "2", "--events", "3", *words)
    assert ended.stdout.count("measure") == 2 * len(systems)


def test_the_published_tables_are_printed_beside_ours(quick: None) -> None:
    ended = call("--events", "4", "--seed", "1", "--json")
    answer = json.loads(ended.stdout)
    means, medians = answer["tables"]
    assert (means["key"], medians["key"]) == ("table4", "table5")
    assert [row[4] for row in means["rows"] if row[1] == "burstein"] == list(PUBLISHED["burstein"])
    assert ended.exit_code == (0 if all(check["holds"] for check in answer["checks"]) else 1)
    assert any("fitted" in note for note in answer["notes"])


def test_it_exits_with_one_where_a_check_does_not_hold(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def upside_down(asked: Sequence[Asked], work: Work) -> Runs:
        runs = run_all(asked, work)
        return Runs(runs.series[::-1])

    monkeypatch.setattr(sweeps, "run_all", upside_down)
    ended = call("--events", "4")
    assert ended.exit_code == 1
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("burstein > random2 > dutch, 1000")]
    assert line.endswith("no")


def test_a_study_has_the_systems_that_are_given_and_the_program(
    quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "MWM", ("burstein", "random2", "dutch"))
    program = str(fake_bbp(tmp_path))
    ended = call("--study", "floats", "--events", "2", "--system", "accelrat", "--bbp", program)
    assert re.split("  +", ended.stdout.splitlines()[1]) == [
        "strengths",
        *("burstein", "random2", "dutch", "accelrat", "bbpPairings v5.0.1"),
    ]
    assert "The rules of bbpPairings v5.0.1 are those before 2025, as in the source." in ended.stdout


@pytest.mark.parametrize("as_json", [False, True])
def test_what_was_done_before_control_c_is_printed(monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    def interrupted(asked: Sequence[Asked], _work: Work) -> Runs:
        return Runs(run([asked[0].plan], 5, Work()).series, interrupted=True)

    monkeypatch.setattr(own, "run_all", interrupted)
    ended = call(*EIGHT, "--system", "dutch", *(["--json"] if as_json else []))
    assert ended.exit_code == INTERRUPTED
    assert "5 events" in ended.stdout
    assert "Interrupted" in ended.stderr


def test_control_c_in_a_terminal() -> None:
    """The bar shows how far it is, then everything ends at once and says so."""
    words = [*EIGHT, "--system", "swiss", "--events", "10000000", "--jobs", "2"]
    # Whoever is started in the background ignores Ctrl-C, and so do his children.
    hearing = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    command = hearing + "from cgos_server.cli.main import main; main()"
    terminal, other_end = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", command, "lab", "swiss", *words],
        stdout=subprocess.PIPE,
        stderr=other_end,
        text=True,
        start_new_session=True,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    ) as process:
        try:
            os.close(other_end)
            shown = b""
            while not re.search(rb"[1-9]\d*/10000000", shown):
                shown += os.read(terminal, 4096)
            os.killpg(process.pid, signal.SIGINT)
            with contextlib.suppress(OSError):  # which is how a terminal says that nobody is left
                while more := os.read(terminal, 4096):
                    shown += more
            os.close(terminal)
            assert process.stdout is not None
            printed = process.stdout.read()
            process.wait(60)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # whoever is left after a failure
    assert process.returncode == INTERRUPTED
    assert "Kendall's tau" in printed
    assert b"Interrupted: this is what was done until then." in shown
    assert b"Traceback" not in shown


def test_help_says_what_every_option_means() -> None:
    ended = call("--help")
    for word in (*studies.STUDIES, "--bbp", "--differences", "--strengths", "--model", "20000"):
        assert word in ended.stdout
    command = main.get_command(None, "lab").get_command(None, "swiss")  # type: ignore[union-attr, arg-type]
    assert all(getattr(parameter, "help", "") for parameter in command.params)
