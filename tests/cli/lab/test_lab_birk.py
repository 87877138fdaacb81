"""`lab birk`: its tables, its JSON, its refusals, its help."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from cgos_server.cli.main import main
from cgos_server.lab.birk import report as birk_report
from cgos_server.lab.birk import simulated
from cgos_server.lab.birk.simulated import Tally, Task


def call(*words: str) -> Result:
    return CliRunner().invoke(main, ["lab", "birk", *words])


def test_the_matrix_is_printed_with_its_checks() -> None:
    ended = call("--players", "4", "--formula", "half", "--rounds", "50")
    assert ended.exit_code == 0, ended.output
    lines = ended.stdout.splitlines()
    assert lines[0] == "half, 4 players, 50 rounds: probability x 3; simulated above the diagonal, exact below it"
    assert lines[1].split() == ["rank", "1", "2", "3", "4"]
    assert lines[3].split()[:2] == ["2", "2.00"]  # 2 of 3 are drawn: they meet in 2 rounds of 3
    assert "What was checked" in ended.stdout


def test_json_names_the_command_that_gives_it() -> None:
    ended = call(
        "--players", "3", "--formula", "one", "--formula", "np // 2", "--rounds", "20", "--seed", "5", "--json"
    )
    answer = json.loads(ended.stdout)
    assert answer["command"].endswith("lab birk --players 3 --formula one --formula 'np // 2' --rounds 20 --seed 5")
    assert {each["key"] for each in answer["tables"]} == {
        "ratios-3-one",
        "ratios-3-own2",
        "sit-outs-3",
        "turns-3",
        "agreement",
    }
    assert [picture["type"] for picture in answer["pictures"]] == ["heat", "heat", "chart"]


def test_another_sampler_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def random_pairs(task: Task) -> Tally:
        return simulated.counted(Task(series=task.series._replace(formula="one"), rounds=task.rounds, number=0, seed=0))

    monkeypatch.setattr(birk_report, "counted", random_pairs)
    ended = call("--players", "6", "--formula", "half", "--rounds", "300")
    assert ended.exit_code == 1
    assert ended.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--formula", "third"), "is not allowed in it"),
        (("--players", "1"), "1 is not in the range 2<=x<=24"),
    ],
)
def test_what_cannot_be_is_said(words: tuple[str, ...], says: str) -> None:
    ended = call(*words)
    assert ended.exit_code in (1, 2)
    assert says in " ".join(ended.output.split())


def test_help_says_what_is_compared() -> None:
    words = " ".join(call("--help").output.split())
    assert "C. Birk's mail of 2006" in words
    assert "May be repeated" in words or "may be repeated" in words
