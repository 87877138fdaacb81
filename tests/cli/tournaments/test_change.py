"""`cgos-server tournament change`: all of it or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.tournaments.events import NO_SHOW, better_wins, by_lot, entrants, play_round

from cgos_server.cli.main import main
from cgos_server.tournaments.base import Entrant, Event, Request
from cgos_server.tournaments.tournament import from_json, to_json


def change(file: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["tournament", "change", str(file), *words])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "event.json"
    file.write_bytes(to_json(play_round(Event(system="dutch", entrants=entrants([2000, 1900, 1800, 1700])), by_lot(1))))
    return file


def test_who_comes_leaves_sits_out_and_must_not_meet(file: Path) -> None:
    words = ("--enter", "a=b=1850.5", "--enter", "new", "--withdraw", "BOT-2", "--bye", "3=1/2", "--bye", "bot-1")
    assert change(file, *words, "--forbid", "4", "a=b").exit_code == 0
    event = from_json(file.read_bytes())
    assert event.entrants[4:] == (
        Entrant(id=5, name="a=b", rating=1850.5, joined=2),
        Entrant(id=6, name="new", joined=2),
    )
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
        (("--withdraw", "1", "--enter", "Bot-2=1500"), "Bot-2 has entered already. Give another name."),
        (("--enter", "twice", "--enter", "twice"), "twice has entered already"),
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


def test_the_way_back(file: Path) -> None:
    assert change(file, "--forbid", "1", "2", "--bye", "3", "--enter", "new").exit_code == 0
    assert change(file, "--lift", "2", "1", "--cancel-bye", "3", "--strike", "new").exit_code == 0
    event = from_json(file.read_bytes())
    assert (event.forbidden, event.requests, len(event.entrants)) == ((), (), 4)
    refused = change(file, "--unpair")
    assert refused.exit_code == 1
    assert "Round 1 has games with results" in refused.stderr
    assert change(file, "--with-results").exit_code == 2
    assert change(file, "--unpair", "--with-results").exit_code == 0
    assert from_json(file.read_bytes()).rounds == ()


@pytest.mark.parametrize("word", ["cup", "double-elimination", "round-robin"])
def test_nobody_comes_late_where_the_field_is_fixed(tmp_path: Path, word: str) -> None:
    file = tmp_path / "event.json"
    file.write_bytes(to_json(play_round(Event(system=word, entrants=entrants([None] * 4)), by_lot(1))))
    refused = change(file, "--enter", "late")
    assert refused.exit_code == 1
    assert "late cannot enter: The field of a" in refused.stderr
    file.write_bytes(to_json(Event(system=word, entrants=entrants([None] * 4))))
    assert change(file, "--enter", "early").exit_code == 0


def test_who_corrects_a_semifinal_takes_the_final_back(tmp_path: Path) -> None:
    file = tmp_path / "cup.json"
    event = play_round(Event(system="cup", entrants=entrants([None] * 4)), better_wins)
    file.write_bytes(to_json(play_round(event, better_wins)))
    first = event.rounds[0].games[0]
    upset = "0-1" if better_wins(first).white else "1-0"
    words = ["tournament", "result", str(file), "--game", str(first.id), upset]
    refused = CliRunner().invoke(main, words)
    assert refused.exit_code == 1
    assert "game 3 (" in refused.stderr
    assert "(--take-back)" in refused.stderr
    done = CliRunner().invoke(main, [*words, "--take-back"])
    assert done.exit_code == 0
    assert "Taken back, since the result led to it: game 3" in done.stderr
    assert len(from_json(file.read_bytes()).rounds) == 1


@pytest.mark.parametrize("word", ["cup", "double-elimination"])
def test_it_is_said_that_there_is_no_winner(tmp_path: Path, word: str) -> None:
    file = tmp_path / "event.json"
    event = Event(system=word, entrants=entrants([None] * 2))
    for _ in range(1 if word == "cup" else 2):
        event = play_round(event, lambda _game: NO_SHOW)
    file.write_bytes(to_json(event))
    for command in ("next", "standings"):
        assert "There is no winner: " in CliRunner().invoke(main, ["tournament", command, str(file)]).stderr
