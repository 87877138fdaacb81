"""`cgos-server tournament change`: all of it or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.tournaments import by_lot, entrants, play_round

from cgos_server.cli.main import main
from cgos_server.core.tournaments.base import Entrant, Event, Request
from cgos_server.core.tournaments.tournament import from_json, to_json


def change(file: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["tournament", "change", str(file), *words])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "event.json"
    file.write_bytes(to_json(play_round(Event("dutch", entrants([2000, 1900, 1800, 1700])), by_lot(1))))
    return file


def test_who_comes_leaves_sits_out_and_must_not_meet(file: Path) -> None:
    words = ("--enter", "a=b=1850.5", "--enter", "new", "--withdraw", "BOT-2", "--bye", "3=1/2", "--bye", "bot-1")
    assert change(file, *words, "--forbid", "4", "a=b").exit_code == 0
    event = from_json(file.read_bytes())
    assert event.entrants[4:] == (Entrant(5, "a=b", 1850.5, joined=2), Entrant(6, "new", joined=2))
    assert event.withdrawn == (2,)
    assert event.requests == (Request(3, 2, 1), Request(1, 2, 0))
    assert event.forbidden == ((4, 5),)
    assert change(file, "--rejoin", "2", "--bye", "3=1").exit_code == 0
    event = from_json(file.read_bytes())
    assert event.withdrawn == ()
    assert set(event.requests) == {Request(1, 2, 0), Request(3, 2, 2)}


def test_the_file_may_be_another_one(file: Path, tmp_path: Path) -> None:
    before = file.read_bytes()
    assert change(file, "--withdraw", "2", "--output", str(tmp_path / "other.csv")).exit_code == 0
    assert file.read_bytes() == before
    assert ",withdrawn," in (tmp_path / "other.csv").read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Nothing changes"),
        (("--rejoin", "1"), "Nothing changes"),
        (("--withdraw", "1", "--withdraw", "nobody"), "Nobody entered as 'nobody'"),
        (("--withdraw", "1", "--enter", "x=strong"), "'strong' in 'x=strong' is no rating"),
        (("--withdraw", "1", "--enter", "x=nan"), "x"),
        (("--withdraw", "1", "--bye", "2=3"), "A bye gives 0, 1/2 or 1 point, not '3'"),
        (("--withdraw", "1", "--forbid", "2", "2"), "bot-2"),
    ],
)
def test_what_cannot_be_changes_nothing(file: Path, words: tuple[str, ...], sentence: str) -> None:
    before = file.read_bytes()
    result = change(file, *words)
    assert result.exit_code in (1, 2)
    assert sentence in result.stderr
    assert file.read_bytes() == before
