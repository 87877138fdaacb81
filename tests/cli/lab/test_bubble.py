"""`lab bubble`: its tables, its JSON, its exit codes, its help."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from cgos_server.cli.lab.bubble import bubble
from cgos_server.lab.bubble import experiment


def call(*words: str) -> Result:
    return CliRunner().invoke(bubble, list(words))


SMALL = ("--size", "4", "--scenario", "new", "--events", "2", "--active", "3", "--matches", "2", "--seed", "3")


@pytest.fixture(autouse=True)
def _short_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "NEWCOMERS", (12,))


def test_tables_and_checks_are_printed() -> None:
    ended = call(*SMALL)
    assert ended.exit_code == 0, ended.output
    lines = ended.stdout.splitlines()
    assert lines[0] == "Some are new, at the end of the list: 2 lists of each size, games by the model elo"
    assert any(line.split()[:2] == ["4", "bubble"] for line in lines)
    assert any(line.startswith("matches on a right list of 20") and line.endswith("yes") for line in lines)


def test_json_has_the_command_and_all_figures() -> None:
    answer = json.loads(call(*SMALL, "--json").stdout)
    for words in ("--size 4", "--scenario new", "--events 2", "--active 3", "--matches 2", "--seed 3"):
        assert words in answer["command"]
    assert answer["tables"][0]["rows"][1][1] == "bubble"
    assert all(check["holds"] for check in answer["checks"])


def test_a_check_that_does_not_hold_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "MATCHES", ((20, 180),))
    ended = call(*SMALL)
    assert ended.exit_code == 1
    assert ended.exception is None or isinstance(ended.exception, SystemExit)


def test_every_option_says_what_it_means() -> None:
    assert call("--help").exit_code == 0
    for parameter in bubble.params:
        assert getattr(parameter, "help", ""), parameter.name
