"""`lab questions`: its table, its JSON, its exit codes, its refusals, its help."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cgos_server.cli.main import main

TINY = ("--study", "gauntlet", "--ladders", "1", "--versions", "4", "--within", "250")


def call(*words: str) -> Result:
    return CliRunner().invoke(main, ["lab", "questions", *words], prog_name="cgos-server")


def test_the_table_is_printed_and_a_picture_is_drawn(tmp_path: Path) -> None:
    ended = call(*TINY, "--plot", str(tmp_path / "one.svg"))
    assert ended.exit_code in (0, 1), ended.output
    lines = ended.stdout.splitlines()
    assert lines[0] == "Newcomers until half of the 95 % interval is 250 Elo"
    assert lines[2].startswith("whom the ladder's matchmaker gives")
    assert "What was checked" in ended.stdout
    assert "4 nearby" in (tmp_path / "one.svg").read_text()


def test_json_names_the_command_and_a_check_that_does_not_hold_ends_with_1() -> None:
    words = ("--study", "errors", "--tests", "2", "--bounds", "0,300", "--json", "--seed", "3")
    ended = call(*words)
    answer = json.loads(ended.stdout)
    assert answer["command"] == "cgos-server lab questions --study errors --bounds 0,300 --tests 2 --seed 3"
    assert [each["key"] for each in answer["tables"]] == ["errors", "estimates"]
    assert not all(each["holds"] for each in answer["checks"]), "one estimate is not half above the truth"
    assert ended.exit_code == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--study", "best"), "'best' is not one of"),
        (("--versions", "3"), "is not in the range 4<=x<=4096"),
        (("--within", "1"), "is not in the range 5.0<=x<=500.0"),
        (("--draws", "1"), "is not in the range 0.0<=x<=0.9"),
    ],
)
def test_bad_options_are_refused(words: tuple[str, ...], sentence: str) -> None:
    ended = call(*words)
    assert ended.exit_code == 2
    assert sentence in ended.stderr


@pytest.mark.parametrize(
    ("words", "sentence"), [(("--versions", "5"), "Give an even number"), (("--bounds", "9"), "Bounds are two numbers")]
)
def test_what_cannot_be_is_refused(words: tuple[str, ...], sentence: str) -> None:
    ended = call(*words)
    assert ended.exit_code == 1
    assert sentence in (ended.stderr or str(ended.exception))


def test_help_says_what_studies_are() -> None:
    words = " ".join(call("--help").stdout.split())
    for study in ("errors", "leading", "posterior", "gauntlet"):
        assert f"{study} (" in words
