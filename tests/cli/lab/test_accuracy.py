"""`cgos-server lab accuracy`: its table, its JSON, what it keeps, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cgos_protocol.errors import Refused
from cgos_server.cli.main import main

TINY = ("--study", "matchmakers", "--pool", "normal", "--method", "birk, half", "--versions", "6", "--games", "5")


def call(*words: str) -> Result:
    return CliRunner().invoke(main, ["lab", "accuracy", *words], prog_name="cgos-server")


def test_tables_are_printed_and_a_picture_is_drawn(tmp_path: Path) -> None:
    ended = call(*TINY, "--replicates", "1", "--plot", str(tmp_path / "one.svg"))
    assert ended.exit_code == 0, ended.output
    lines = ended.stdout.splitlines()
    assert lines[0] == "N(2000, 350), 6 versions: RMSE (Elo) after so many games a version"
    assert lines[1].split() == ["matchmaker", "replicates", "5"]
    assert lines[2].startswith("birk, half")
    assert "birk, half" in (tmp_path / "one.svg").read_text()


def test_json_repeats_what_was_said_and_a_cache_changes_nothing(tmp_path: Path) -> None:
    words = (*TINY, "--replicates", "2", "--json")
    answer = json.loads(call(*words).stdout)
    assert answer["command"].startswith(
        "cgos-server lab accuracy --study matchmakers --pool normal --method 'birk, half'"
    )
    kept = json.loads(call(*words, "--cache", str(tmp_path)).stdout)
    assert kept == json.loads(call(*words, "--cache", str(tmp_path), "--seed", "2026").stdout) | {
        "command": answer["command"]
    }
    assert kept == answer
    assert len((tmp_path / "accuracy.jsonl").read_text().splitlines()) == 1, "a third of two, rounded up"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--games", "3"), "is not in the range 5<=x<=160"),
        (("--versions", "3"), "is not in the range 4<=x<=4096"),
        (("--method", "best"), "'best' is not one of"),
    ],
)
def test_bad_options_are_refused(words: tuple[str, ...], sentence: str) -> None:
    ended = call(*words)
    assert ended.exit_code == 2
    assert sentence in ended.stderr


def test_options_that_leave_nothing_are_refused(tmp_path: Path) -> None:
    ended = call("--study", "matchmakers", "--pool", "wide")
    assert ended.exit_code == 1
    assert "Choose others, or leave them out" in (ended.stderr or str(ended.exception))
    (tmp_path / "file").write_text("")
    ended = call(*TINY, "--cache", str(tmp_path / "file" / "below"))
    assert ended.exit_code == 1
    assert isinstance(ended.exception, Refused) or "cannot be kept" in ended.stderr
