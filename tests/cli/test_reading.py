"""Commands that read: standings, games, histories, one game on its board."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sgfmill import sgf as sgfmill
from support.observability.transcripts import keep_lines

from cgos_protocol.intervals import written
from cgos_server.observability.transcript_files import TranscriptLine
from cgos_server.storage.lock import DatabaseLock


def test_standings(run: Any, as_json: Any) -> None:
    lines = run("standings", "--venue", "9x9").stdout.splitlines()
    assert lines[0] == "9x9, bayes, after 1 game (entry 4)"
    assert lines[1].split() == ["rank", "name", "rating", "state", "games", "last", "game"]
    standings = as_json("standings")
    assert list(standings) == ["9x9", "13x13", "19x19"]
    beta, alpha = sorted(standings["9x9"], key=lambda row: -row["anchor"])
    assert (alpha["version"], alpha["provisional"], alpha["games"], alpha["system"]) == ("Alpha", True, 1, "bayes")
    assert (beta["version"], beta["mean"], beta["provisional"]) == ("Beta", 1900.0, False)
    # One game says little: half of the interval of 95 % is almost as wide as before it.
    assert 400 < alpha["half_width"] < 1.96 * 1000
    shown = written(alpha["mean"], alpha["lower"], alpha["upper"], provisional=True).split()
    (line,) = (line for line in lines if "Alpha" in line)
    assert line.split()[1:] == ["Alpha", *shown, "provisional", "1", "2"]
    (line,) = (line for line in lines if "Beta" in line)
    assert line.split()[1:] == ["Beta", "1900", "±", "2", "anchor", "1", "2"]
    assert len(lines) == 4


def test_games(run: Any, as_json: Any) -> None:
    lines = run("games").stdout.splitlines()
    assert lines[1].split() == ["2", "9x9", "Beta", "(1900)", "Alpha", "(1810?)", "running", "1", "2023-11-14", "22:14"]
    assert "B+4.0" in lines[2]
    assert [row["id"] for row in as_json("games")] == [2, 1]
    assert [row["id"] for row in as_json("games", "--running")] == [2]
    assert [row["id"] for row in as_json("games", "--before", "2")] == [1]
    assert [row["id"] for row in as_json("games", "--limit", "1")] == [2]
    assert as_json("games", "--bot", "Gamma") == []
    assert as_json("games", "--venue", "19x19") == []
    assert "There is no venue '8x8'" in run("games", "--venue", "8x8", fails=1).stderr
    assert "There is no bot" in run("games", "--bot", "Nobody", fails=1).stderr
    run("games", "--opponent", "Alpha", fails=2)
    run("games", "--limit", "0", fails=2)


def test_history(run: Any, as_json: Any) -> None:
    lines = run("history", "Alpha").stdout.splitlines()
    assert lines[0] == "9x9, bayes"
    assert lines[2].split()[:5] == ["1", "2023-11-14", "22:13", "enter", "-"]
    assert lines[3].split()[:7] == ["4", "2023-11-14", "22:14", "game", "1", "Beta", "1"]
    (points,) = as_json("history", "Alpha", "--venue", "9x9").values()
    assert points[1]["before_mean"] < points[1]["after_mean"]
    assert points[1]["before_spread"] > points[1]["after_spread"]
    assert "Gamma has no rating yet" in run("history", "Gamma").stderr
    assert "There is no version 'Nobody'" in run("history", "Nobody", fails=1).stderr


def test_show(run: Any, as_json: Any) -> None:
    text = run("show", "1").stdout
    lines = text.splitlines()
    assert lines[0].startswith("game 1, 9x9: ")
    assert "komi 7" in lines[0]
    assert lines[1:3] == ["black  Alpha (1800?)", "white  Beta (1900)"]
    assert "result B+4.0: Alpha won by 4 points." in text
    assert "Alpha was drawn from 1 candidate." in text
    assert "Alpha is owed Black." in text
    (change,) = (change for change in as_json("show", "1")["ratings"] if change["version"] == "Alpha")
    before = written(change["before_mean"], change["before_lower"], change["before_upper"], digits=1)
    after = written(change["after_mean"], change["after_lower"], change["after_upper"], digits=1)
    assert f"rating of Alpha (bayes, entry 4): {before} -> {after}\n" in text
    # The position by hand: X C3 B3 A1, O D3 C4 C2.
    at = lines.index("    A B C D E F G H J")
    assert lines[at + 1 : at + 12] == [
        " 9  . . . . . . . . .  9",
        " 8  . . . . . . . . .  8",
        " 7  . . . . . . . . .  7",
        " 6  . . . . . . . . .  6",
        " 5  . . . . . . . . .  5",
        " 4  . . O . . . . . .  4",
        " 3  . X X O . . . . .  3",
        " 2  . . O . . . . . .  2",
        " 1  X . . . . . . . .  1",
        "    A B C D E F G H J",
        "X (black) took 0, O (white) took 0",
    ]
    assert lines[at + 13].split() == ["move", "by", "at", "used", "left", "black", "wins", "%", "black", "leads"]
    assert lines[at + 14].split() == ["1", "b", "C3", "0:01.7", "4:58", "50.0", "-"]
    assert lines[-1].split() == ["9", "b", "PASS", "0:01.7", "4:52", "-", "-"]
    assert '"comment":"corner"' in as_json("show", "1")["moves"][0]["analysis"]


def test_show_a_running_game_with_its_last_move(run: Any) -> None:
    text = run("show", "2").stdout
    assert "still running" in text
    assert "opening: Star, whose moves were given" in text
    assert "opening" not in run("show", "1").stdout
    assert "result" not in text
    assert " 5  . . . .(X). . . .  5" in text


def test_show_at_any_move_with_what_was_thought_of_it(run: Any) -> None:
    text = run("show", "1", "--ply", "1").stdout
    assert "after move 1 of 9" in text
    assert " 3  . .(X). . . . . .  3" in text
    assert " 4  . . . . . . . . .  4" in text
    assert "thought with this move: Black C3, win rate 50.0 %\ncorner\n" in text
    assert "thought" not in run("show", "1", "--ply", "2").stdout
    assert "(A1)" not in run("show", "1", "--ply", "99").stdout
    assert run("show", "1", "--ply", "99").stdout == run("show", "1").stdout


def test_the_wall_has_the_running_games(run: Any, as_json: Any) -> None:
    text = run("wall").stdout
    assert "game 2, 9x9, move 1\nX Beta (1900), O Alpha (1810?)" in text
    assert " 5  . . . .(X). . . .  5" in text
    (game,) = as_json("wall", "--venue", "9x9")
    assert (game["game"], game["moves"]) == (2, ["E5"])
    assert as_json("wall", "--venue", "13x13") == []
    run("wall", "--venue", "nowhere", fails=1)


def test_how_to_connect(run: Any, as_json: Any, tmp_path: Path) -> None:
    text = run("connect", "13x13", "--host", "go.example.org").stdout
    assert "cgos-client run --server go.example.org:6813 --name MyBot --password-file mybot.password" in text
    assert "S: setup 1 13 7.5 600000 " in text
    connecting = as_json("connect")
    assert connecting["venue"] == "9x9"
    assert "--server localhost:6809 " in connecting["try_out"]
    assert "--server ws://localhost:6868 --venue 9x9" in connecting["versions"]
    assert as_json("connect", where=tmp_path / "new") == connecting
    run("connect", "8x8", fails=2)
    public = tmp_path / "public.toml"
    public.write_text(
        '[websocket]\npublic_url = "wss://bots.example.org"\n[[venue]]\nname = "9x9"\nport = 6809\nsize = 9\n'
        'public_address = "cgos.example.org:7000"\ntime = { system = "absolute", main = "5m" }\n'
    )
    text = run("connect", "--config", str(public)).stdout
    assert "--server wss://bots.example.org --venue 9x9 --name MyBot" in text
    assert "nc cgos.example.org 7000" in text
    assert "--server there:6809 " in run("connect", "--host", "there", "--config", str(public)).stdout


def test_when_a_bot_came_and_what_was_said(run: Any, as_json: Any, data: Path) -> None:
    with sqlite3.connect(data / "cgos.sqlite") as database:
        database.execute(
            "INSERT INTO connections (id, venue_id, version_id, address, client, opened_at, reason)"
            " VALUES (1, 1, 1, '127.0.0.1', 'e1 \x1b[2J', 1700000000000, '')"
        )
    database.close()
    assert [row["version"] for row in as_json("bot", "connections", "Alpha")] == ["Alpha"]
    text = run("bot", "connections", "Alpha").stdout
    assert "2023-11-14 22:13" in text
    assert "\x1b" not in text
    assert as_json("bot", "connections", "--address", "127.0.0.1") == as_json("bot", "connections", "Alpha")
    assert as_json("bot", "connections", "Alpha", "--address", "192.0.2.1") == []
    run("bot", "connections", "Nobody", fails=1)
    assert as_json("bot", "transcript", "Alpha") == []
    lines = [
        {"at": 1700000001000000, "name": "Alpha", "connection": 1, "way": ">", "text": "genmove b 300000", "game": 1},
        {"at": 1700000002500000, "name": "Alpha", "connection": 1, "way": "<", "text": "C3 \x1b[2J", "game": 1},
        {"at": 1700000009000000, "name": "Alpha", "connection": 1, "way": ">", "text": "genmove b 1", "game": 2},
    ]
    keep_lines(data, 1, [TranscriptLine(**line) for line in lines])
    assert as_json("bot", "transcript", "Alpha", "--game", "1") == [
        line | {"venue": "", "said_at": line["at"] // 1000} for line in lines[:2]
    ]
    assert [line["game"] for line in as_json("bot", "transcript", "Alpha", "--limit", "1")] == [2]
    shown = run("bot", "transcript", "Alpha").stdout.splitlines()
    assert shown[:2] == ["22:13:21.000     0.000 > genmove b 300000", "22:13:22.500     1.500 < C3 ?[2J"]
    run("bot", "transcript", "Nobody", fails=1)


def test_show_no_game(run: Any) -> None:
    assert "There is no game 3" in run("show", "3", fails=1).stderr
    run("show", "x", fails=2)


def test_sgf(run: Any, tmp_path: Path) -> None:
    text = run("sgf", "1").stdout
    game = sgfmill.Sgf_game.from_string(text)
    assert (game.get_size(), game.get_komi(), game.get_winner()) == (9, 7.0, "b")
    assert (game.get_player_name("b"), game.get_player_name("w")) == ("Alpha", "Beta")
    moves = [node.get_move() for node in game.get_main_sequence() if node.get_move()[0]]
    assert moves[:3] == [("b", (2, 2)), ("w", (2, 3)), ("b", None)]
    assert len(moves) == 9
    assert game.get_root().get("PC") == "cgos-server"
    first = next(node for node in game.get_main_sequence() if node.get_move()[0])
    assert json.loads(first.get_raw("CC").replace(b"\\]", b"]")) == {"winrate": 0.5, "comment": "corner"}
    assert first.get("C") == "corner"
    assert run("sgf", "1", "--output", "one.sgf").stdout == ""
    assert (tmp_path / "one.sgf").read_text() == text
    assert "cannot be written" in run("sgf", "1", "--output", str(tmp_path / "no" / "one.sgf"), fails=1).stderr


def test_bots_accounts_anchors(run: Any, as_json: Any) -> None:
    assert run("bots").stdout.splitlines()[1].split() == [
        "Alpha",
        "active",
        "-",
        "0",
        "2023-11-14",
        "22:13",
        "-",
        "-",
        "-",
    ]
    assert [row["name"] for row in as_json("bots")] == ["Alpha", "Beta", "Gamma"]
    assert as_json("account", "list") == []
    assert run("anchor", "list").stdout.splitlines()[1].split() == ["9x9", "Beta", "1900.0", "1", "1"]
    assert [row["version"] for row in as_json("anchor", "list", "--venue", "9x9")["9x9"]] == ["Beta"]
    assert as_json("token", "list", "Alpha") == []
    assert "There is no bot" in run("token", "list", "Nobody", fails=1).stderr


def test_reading_works_while_a_server_holds_the_database(run: Any, data: Path) -> None:
    with DatabaseLock(data / "cgos.sqlite", "cgos-server serve"):
        assert run("standings", "--venue", "9x9").stdout


def test_without_a_database(run: Any, tmp_path: Path) -> None:
    for words in (
        ["games"],
        ["standings"],
        ["bots"],
        ["history", "x"],
        ["show", "1"],
        ["sgf", "1"],
        ["anchor", "list"],
    ):
        result = run(*words, fails=1, where=tmp_path / "none")
        assert "There is no database" in result.stderr
        assert "cgos-server serve" in result.stderr
        assert result.stdout == ""
    assert not (tmp_path / "none").exists()


def test_without_a_server(run: Any) -> None:
    for command in ("status", "drain"):
        result = run(command, fails=1)
        assert "No server runs on" in result.stderr
        assert result.stderr.endswith("or name the directory of the one that runs: --config or --data.\n")
        assert result.stdout == ""


def test_output_that_cannot_be_written_is_a_sentence(data: Path) -> None:
    words = [sys.executable, "-m", "cgos_server", "games", "--data", str(data)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert done.returncode == 74
    assert done.stderr == "Error: What this command says cannot be written: No space left on device.\n"
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *words], stderr=subprocess.PIPE, text=True, check=False, timeout=60
    )
    assert (closed.returncode, closed.stderr) == (0, "")


def test_data_that_is_a_file_is_refused_with_a_sentence(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for command in ("status", "drain"):
        stderr = run(command, fails=1, where=file).stderr
        assert stderr.startswith(f"Error: {file} cannot be used as a data directory")
        assert "Errno" not in stderr


def test_a_terminal_gets_rich_tables_and_no_control_characters(
    run: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cgos_server.cli import output

    monkeypatch.setattr(output.sys.stdout, "isatty", lambda: True, raising=False)
    output.print_table(("name", "n"), [("a\x1b[31mb [red]", 1), (None, 20)], title="[/red]\x1b[2J")
    text = capsys.readouterr().out
    assert "a?[31mb [red]" in text
    assert "[/red]?[2J" in text
    assert "\x1b[31m" not in text
    assert "─" in text or "━" in text


def test_plain_tables_align(capsys: pytest.CaptureFixture[str]) -> None:
    from cgos_server.cli.output import print_table

    print_table(("name", "n", "x"), [("a", 5, 1.5), ("bcd", 10, None), ("e", 7, -2.0)], "a\nb")
    assert capsys.readouterr().out == "a?b\nname   n    x\na      5  1.5\nbcd   10    -\ne      7   -2\n"


def test_json_is_indented_and_whole(run: Any) -> None:
    text = run("games", "--json").stdout
    assert text.startswith("[\n  {\n")
    assert json.loads(text)[0]["black"] == "Beta"


@pytest.mark.parametrize("command", [("show", "9" * 20), ("sgf", "9" * 20), ("games", "--before", "9" * 20)])
def test_numbers_beyond_the_database_are_wrong_usage(run: Any, command: tuple[str, ...]) -> None:
    assert "is not in the range" in run(*command, fails=2).stderr


def test_a_data_directory_that_is_none(run: Any, data: Path) -> None:
    for path in (*data.iterdir(),):
        path.unlink()
    (data / "cgos.sqlite").mkdir()
    refused = run("standings", fails=74).stderr
    assert refused.startswith("Error: Sorry, the database ")
    assert "can be read and written by the user" in refused
