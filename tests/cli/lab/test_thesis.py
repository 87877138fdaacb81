"""`lab thesis`: its tables, its JSON, its exit codes, its help."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from cgos_server.cli.lab.thesis import thesis
from cgos_server.lab.thesis import measures, pairings

SMALL = ("--size", "8", "--rounds", "2", "--events", "2", "--seed", "3")


def call(*words: str) -> Result:
    return CliRunner().invoke(thesis, list(words))


@pytest.fixture(autouse=True)
def _few_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairings, "FIELDS", 2)


def test_tables_and_checks_are_printed() -> None:
    ended = call(*SMALL)
    assert ended.exit_code == 0, ended.output
    lines = ended.stdout.splitlines()
    assert lines[0] == "Table 2.1: con"
    assert lines[2].split() == ["100", "116", "116"]
    assert any(line.split()[:3] == ["8", "2", "weighted"] for line in lines)
    assert any(line.startswith("table 3.2: the winner") and line.endswith("yes") for line in lines)


def test_json_has_the_command_and_all_figures() -> None:
    answer = json.loads(call(*SMALL, "--bar", "1d", "--json").stdout)
    for words in ("--size 8", "--rounds 2", "--events 2", "--bar 1d", "--seed 3"):
        assert words in answer["command"]
    assert "errors" in [table["key"] for table in answer["tables"]]
    assert all(check["holds"] for check in answer["checks"])


def test_a_check_that_does_not_hold_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "FITTED", {"A": 0.0})
    assert call(*SMALL).exit_code == 1


def test_every_option_says_what_it_means() -> None:
    assert call("--help").exit_code == 0
    for parameter in thesis.params:
        assert getattr(parameter, "help", ""), parameter.name
