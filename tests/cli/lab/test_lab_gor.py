"""`lab gor`: its tables, its JSON, its refusals, its help."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from cgos_server.cli.main import main
from cgos_server.lab.gor import curves

SMALL = ("--versions", "4", "--rounds", "2", "--replicates", "2")


def call(*words: str) -> Result:
    return CliRunner().invoke(main, ["lab", "gor", *words])


def test_all_parts_are_printed() -> None:
    ended = call(*SMALL, "--own", "700")
    assert ended.exit_code == 0, ended.output
    titles = ("Table 2.1: con", "Figure 2.1", "Figure 2.2", "Table 2.2", "Table 2.3", "The best rounds", "4 engines of")
    places = [ended.stdout.index(title) for title in titles]
    assert places == sorted(places)
    (misprint,) = [line for line in ended.stdout.splitlines() if line.startswith("B-F") and "0.79604" in line]
    assert "0.81454" in misprint
    assert "misprinted" in misprint


def test_json_has_every_table() -> None:
    answer = json.loads(call(*SMALL, "--json").stdout)
    keys = ["con", "expectancy", "change", "peaks", "wins", "terms", "rounds", "inflation"]
    assert [each["key"] for each in answer["tables"]] == keys
    assert [each["key"] for each in answer["pictures"]] == ["expectancy", "change", "entropies", "inflation"]
    assert answer["command"].endswith("lab gor --versions 4 --rounds 2 --replicates 2")


def test_a_figure_that_is_another_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "CLAIMED", 100.0)
    assert call(*SMALL).exit_code == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--versions", "5"), "--versions is 5, but everybody plays in every round. Take an even number."),
        (("--own", "50"), "50.0 is not in the range"),
    ],
)
def test_what_cannot_be_is_said(words: tuple[str, ...], says: str) -> None:
    ended = call(*words)
    assert ended.exit_code in (1, 2)
    assert says in " ".join(ended.output.split())


def test_help_says_what_was_published() -> None:
    assert "Vuorinen's thesis of 2010" in " ".join(call("--help").output.split())
