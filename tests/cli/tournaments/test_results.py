"""`cgos-server tournament results`: all or nothing; and what entering, changing and converting say to programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cgos_server.cli.main import main
from cgos_server.tournaments.base import Event
from cgos_server.tournaments.tournament import from_json


def run(*words: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["tournament", *map(str, words)], input=stdin)


@pytest.fixture
def event(tmp_path: Path) -> Path:
    """A double round of Alder and Birch, Cedar and Elm: each pair has two games, ids 1 to 4."""
    table, event = tmp_path / "engines.csv", tmp_path / "event.json"
    table.write_text("name,rating\nAlder,2400\nBirch,2300\nCedar,2200\nElm,2100\n")
    assert run("next", table, "--system", "tcec-double", "--rounds", 3, "--output", event).exit_code == 0
    return event


def read(file: Path) -> Event:
    return from_json(file.read_bytes())


def scores(file: Path) -> dict[int, tuple[int, int] | None]:
    return {
        game.id: game.result and (game.result.white, game.result.black)
        for round_ in read(file).rounds
        for game in round_.games
    }


def test_lines_enter_all_results(event: Path) -> None:
    games = [game for round_ in read(event).rounds for game in round_.games]
    lines = "".join(f"{game.white} {game.black} 1-0\n" for game in games[:3]) + f"{games[3].id} 1/2-1/2\n"
    result = run("results", event, "-", stdin=lines)
    assert result.exit_code == 0, result.output
    assert "4 results entered, 0 were there already." in result.stderr
    assert list(scores(event).values()) == [(2, 0), (2, 0), (2, 0), (1, 1)]
    again = run("results", event, "-", stdin=lines)
    assert "0 results entered, 4 were there already." in again.stderr


def test_pgn_and_tables_are_taken(event: Path, tmp_path: Path) -> None:
    first = read(event).rounds[0].games[0]
    names = {entrant.id: entrant.name for entrant in read(event).entrants}
    pgn = tmp_path / "round.pgn"
    pgn.write_text(
        f'[Event "x"]\n[Round "1"]\n[White "{names[first.white]}"]\n[Black "{names[first.black]}"]\n'
        '[Result "0-1"]\n\n1. e4 0-1\n'
    )
    assert run("results", event, pgn).exit_code == 0
    assert scores(event)[first.id] == (0, 2)
    table = tmp_path / "round.csv"
    table.write_text("game,result\n2,1-0\n3,void\n")
    assert run("results", event, table).exit_code == 0
    assert scores(event)[2] == (2, 0)


@pytest.mark.parametrize(
    ("lines", "line", "says"),
    [
        ("1 1-0\n9 1-0\n", 2, "No game has the number 9"),
        ("1 1-0\nAlder Nobody 1-0\n", 2, "Nobody entered as 'Nobody'"),
        ("1 1-0\n1 1-0\n", 2, "Line 1 has a result of game 1 too"),
        ("1 1-0\n2 2-0\n", 2, "'2-0' is no score"),
        ("white,black,result,game\nCedar,Elm,1-0,1\n", 2, "Game 1 is"),
        ("game,result,round\n1,1-0,2\n", 2, "Game 1 is of round 1, not 2"),
        ("1 1-0\nx\n", 2, "there is one word only"),
    ],
)
def test_one_line_that_cannot_be_refuses_the_whole(event: Path, lines: str, line: int, says: str) -> None:
    before = event.read_bytes()
    result = run("results", event, "-", stdin=lines)
    assert result.exit_code == 1
    assert f"Line {line}" in result.stderr
    assert says in result.stderr
    assert event.read_bytes() == before


def test_another_result_needs_to_be_asked_for(event: Path) -> None:
    assert run("results", event, "-", stdin="1 1-0\n").exit_code == 0
    refused = run("results", event, "-", stdin="2 1-0\n1 0-1\n")
    assert "Game 1 has another result already" in refused.stderr
    assert scores(event)[2] is None
    assert run("results", event, "-", "--correct", stdin="2 1-0\n1 0-1\n").exit_code == 0
    assert (scores(event)[1], scores(event)[2]) == ((0, 2), (2, 0))


def test_standard_input_is_one_file(event: Path) -> None:
    assert run("results", "-", "-").exit_code == 2
    assert run("results", event, "-", "--output", "-", "--json", stdin="1 1-0\n").exit_code == 2


def test_programs_are_told_what_was_written(event: Path, tmp_path: Path) -> None:
    answer = json.loads(run("results", event, "-", "--json", stdin="1 1-0\n").stdout)
    assert answer["saved"] == {"file": str(event), "format": "json", "lost": []}
    assert [(game["id"], game["round"], game["result"]) for game in answer["games"]] == [(1, 1, "1-0")]
    answer = json.loads(run("result", event, "--game", 2, "1/2-1/2", "--json").stdout)
    assert [(game["id"], game["result"]) for game in answer["games"]] == [(2, "1/2-1/2")]
    answer = json.loads(run("change", event, "--withdraw", "Elm", "--json").stdout)
    assert answer["changed"]["withdrawn"] == [4]
    assert set(answer["changed"]) <= {"withdrawn", "changes"}
    answer = json.loads(run("convert", event, tmp_path / "event.csv", "--json").stdout)
    assert answer["saved"]["format"] == "csv"
    assert any("seed" in sentence or "system" in sentence for sentence in answer["saved"]["lost"])
    for words in (("result", event, "--game", 2, "1-0", "--output", "-"), ("convert", event, "-")):
        assert run(*words, "--json").exit_code == 2


def test_a_correction_takes_back_what_the_result_led_to_only_where_asked(tmp_path: Path) -> None:
    table, cup = tmp_path / "engines.csv", tmp_path / "cup.json"
    table.write_text("name,rating\nAlder,2400\nBirch,2300\nCedar,2200\nElm,2100\n")
    assert run("next", table, "--system", "cup", "--output", cup).exit_code == 0
    assert run("results", cup, "-", stdin="1 1-0\n2 1-0\n").exit_code == 0
    assert run("next", cup, "--output", cup).exit_code == 0
    assert run("results", cup, "-", stdin="3 1-0\n").exit_code == 0
    before = cup.read_bytes()
    refused = run("results", cup, "-", "--correct", stdin="1 0-1\n")
    assert "Line 1 of -: game 3" in refused.stderr
    assert cup.read_bytes() == before
    answer = json.loads(run("results", cup, "-", "--correct", "--take-back", "--json", stdin="1 0-1\n").stdout)
    assert [game["id"] for game in answer["taken_back"]] == [3]
    assert list(scores(cup)) == [1, 2]
