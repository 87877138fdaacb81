"""`tournament simulate` and `reproduce`: their tables, their JSON, their exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cgos_server.cli.main import main
from cgos_server.cli.tournaments import simulate as tournament_simulate
from cgos_server.cli.tournaments.simulate import INTERRUPTED, reproduce, simulate
from cgos_server.lab.running import Work
from cgos_server.lab.tournaments import Runs, run
from cgos_server.tournaments.simulation.one_event import Plan


def call(*words: str) -> Result:
    return CliRunner().invoke(simulate, list(words))


def test_the_table_has_every_measure_of_every_system() -> None:
    words = ("--players", "8", "--rounds", "3", "--system", "dutch", "--system", "swiss", "--tournaments", "20")
    ended = call(*words, "--seed", "3", "--option", "beta=1")
    assert ended.exit_code == 0, ended.output
    lines = ended.stdout.splitlines()
    assert lines[0] == "8 players, strengths 1000 to 1800, 20 tournaments"
    assert lines[1].split() == ["measure", "dutch", "swiss"]
    runs = run(
        [Plan(system="dutch", players=8, rounds=3, options={"beta": 1}), Plan(system="swiss", players=8, rounds=3)],
        20,
        Work(3),
    )
    taus = [next(figure for figure in series.measures if figure.measure == "kendall") for series in runs.series]
    expected = [f"{figure.mean:.4f} ± {figure.error:.4f}" for figure in taus]
    assert lines[2].split(maxsplit=2)[2].split("  ")[0] == expected[0]
    assert all(word in lines[2] for word in expected)
    assert not any(line.startswith("strength difference") for line in lines)
    assert any(line.startswith("strength difference") for line in call(*words, "--differences").stdout.splitlines())


def test_json_has_plans_and_figures() -> None:
    ended = call(
        "--players", "6", "--rounds", "2", "--system", "monrad", "--tournaments", "4", "--json", "--low", "1500"
    )
    answer = json.loads(ended.stdout)
    assert answer["series"][0]["plan"]["low"] == 1500
    assert answer["series"][0]["tournaments"] == 4
    assert "kendall" in [measure["measure"] for measure in answer["series"][0]["measures"]]
    assert answer["interrupted"] is False


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--system", "swiss"), "Say how many are to be played"),
        (("--system", "swiss", "--rounds", "3", "--low", "1900"), "Give the lower number first"),
        (("--system", "swiss", "--rounds", "3", "--option", "beta=1"), "No system asked for has an option 'beta'"),
        (("--system", "swiss", "--rounds", "3", "--option", "beta"), "is not NAME=VALUE"),
        (("--system", "dutch", "--rounds", "3", "--option", "beta=0"), "beta cannot be 0"),
    ],
)
def test_what_cannot_be_simulated_is_said(words: tuple[str, ...], says: str) -> None:
    ended = CliRunner().invoke(main, ["tournament", "simulate", "--players", "8", *words])
    assert ended.exit_code in (1, 2)
    assert says in " ".join(ended.output.split())


def test_many_systems_get_a_table_each() -> None:
    systems = ("dutch", "burstein", "monrad", "random", "random2")
    words = [word for system in systems for word in ("--system", system)]
    ended = call("--players", "4", "--rounds", "2", "--tournaments", "3", *words)
    assert ended.stdout.count("measure") == len(systems)


@pytest.mark.parametrize("as_json", [False, True])
def test_what_was_done_before_control_c_is_printed(monkeypatch: pytest.MonkeyPatch, as_json: bool) -> None:
    def interrupted(*arguments: Any, **named: Any) -> Runs:
        return Runs(run([Plan(system="dutch", players=8, rounds=3)], 5, Work()).series, interrupted=True)

    monkeypatch.setattr(tournament_simulate, "run", interrupted)
    ended = call("--players", "8", "--rounds", "3", "--system", "dutch", *(["--json"] if as_json else []))
    assert ended.exit_code == INTERRUPTED
    assert ('"tournaments": 5' if as_json else "5 tournaments") in ended.stdout
    assert "Interrupted" in ended.stderr


def test_control_c_in_a_terminal() -> None:
    """The bar shows how far it is, then everything ends at once and says so."""
    words = ["--players", "8", "--rounds", "3", "--system", "swiss", "--tournaments", "10000000", "--jobs", "2"]
    # Whoever is started in the background ignores Ctrl-C, and so do his children.
    hearing = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    command = hearing + "from cgos_server.cli.main import main; main()"
    terminal, other_end = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", command, "tournament", "simulate", *words],
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
    assert "Kendall tau" in printed
    assert b"Interrupted: this is what was done until then." in shown
    assert b"Traceback" not in shown


def test_a_reproduction_prints_both_numbers() -> None:
    ended = CliRunner().invoke(reproduce, ["--tournaments", "2", "--seed", "1"])
    lines = ended.stdout.splitlines()
    assert lines[1].split()[:5] == ["strengths", "system", "tournaments", "Kendall", "tau"]
    first = lines[2].split()
    assert first[:3] == ["1000-1800", "burstein", "2"]
    assert first[5] == "0.624"
    assert len(lines) == 2 + 15 + 2
    within, ordered = (line.endswith("yes.") for line in lines[-2:])
    assert ended.exit_code == (0 if within and ordered else 1)
    answer = json.loads(CliRunner().invoke(reproduce, ["--tournaments", "2", "--seed", "1", "--json"]).stdout)
    assert (answer["within"], answer["ordered"]) == (within, ordered)
    assert f"{answer['cells'][0]['kendall']:.4f}" == first[3]
