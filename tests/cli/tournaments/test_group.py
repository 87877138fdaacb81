"""`cgos-server tournament` on files, as a person calls it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.tournaments.events import entrants

from cgos_server.cli.main import main
from cgos_server.tournaments.base import Event
from cgos_server.tournaments.base import Result as GameResult
from cgos_server.tournaments.tournament import from_json, to_json

CSV = "id,name,rating\n1,Alder,2400\n2,Birch,2300\n3,Cedar,2200\n4,Elm,2100\n5,Fir,2000\n"


def run(*words: object, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["tournament", *map(str, words)], input=stdin)


def shown(*words: object) -> Any:
    result = run(*words, "--json")
    assert result.exit_code in (0, 1), result.output
    return json.loads(result.stdout)


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    file = tmp_path / "engines.csv"
    file.write_text(CSV)
    return file


def test_an_event_from_a_table_of_engines_to_its_end(csv: Path, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    result = run("next", csv, "--system", "tcec", "--rounds", 2, "--output", event)
    assert result.exit_code == 0, result.output
    assert "Alder (0)" in result.stdout
    assert "Written to" in result.stderr
    for _ in range(2):
        before = from_json(event.read_bytes())
        for game in before.rounds[-1].games:
            name = before.entrants[game.white - 1].name
            assert run("result", event, name.lower(), game.black, "1/2-1/2").exit_code == 0
        last = run("next", event, "--output", event)
    assert last.exit_code == 1
    assert "The event is over after 2 rounds" in last.stderr
    after = from_json(event.read_bytes())
    assert (after.system, after.planned, len(after.rounds)) == ("tcec", 2, 2)
    assert all(round_.is_complete for round_ in after.rounds)
    assert run("check", event).exit_code == 0
    table = shown("standings", event)
    assert [row["place"] for row in table["rows"]] == [1, 2, 3, 4, 5]
    assert sum(row["values"][0] for row in table["rows"]) == 6.0
    assert "Alder" in run("standings", event, "--order", "points,rating").stdout


def test_what_is_asked_for_comes_before_what_the_file_says(tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_bytes(
        to_json(Event(system="mwm", entrants=entrants([2000, 1900, 1800, 1700]), options={"beta": 1}, seed=3))
    )
    assert shown("next", file)["options"] == {"beta": 1}
    ended = shown("next", file, "--system", "random2", "--seed", 9, "--option", "beta=2")
    assert (ended["system"], ended["options"], ended["seed"]) == ("mwm", {"order": "random2", "beta": 2}, 9)
    assert shown("next", file, "--system", "mwm")["options"] == {"beta": 1}
    assert shown("next", file, "--system", "swiss")["options"] == {}
    assert run("next", "-", stdin=file.read_bytes()).exit_code == 0


def test_files_that_say_no_options_have_those_of_new_events(csv: Path, tmp_path: Path) -> None:
    custom = {"forfeit_counts_as_met": False, "forfeit_win_takes_bye": True, "order": "dutch"}
    event, report = tmp_path / "event.json", tmp_path / "event.trf"
    assert shown("next", csv, "--system", "tcec")["options"] == {}
    assert shown("next", csv, "--system", "dutch", "--output", event)["options"] == custom
    assert from_json(event.read_bytes()).options == custom
    report.write_text("012 Of another program\n001    1      Ann\n001    2      Bob\n")
    assert shown("next", report, "--system", "dutch")["options"] == custom
    given = ("--option", "forfeit_win_takes_bye=false")
    assert shown("next", report, "--system", "dutch", *given, "--output", report)["options"] == custom | {
        "forfeit_win_takes_bye": False
    }
    assert run("result", report, "--game", 1, "1-0").exit_code == 0
    assert shown("next", report)["options"] == custom | {"forfeit_win_takes_bye": False}


def test_an_event_of_before_keeps_its_rules_about_forfeits(tmp_path: Path) -> None:
    for name in ("event.json", "event.trf"):
        file = tmp_path / name
        before = Event(system="mwm", entrants=entrants([2000, 1900, 1800]), options={"order": "dutch"})
        (tmp_path / "event.json").write_bytes(to_json(before))
        assert run("convert", tmp_path / "event.json", file).exit_code == 0
        assert shown("next", file, "--output", file)["options"] == {"order": "dutch"}
        assert shown("check", file)[0]["agrees"]


def test_a_player_cannot_stand_in_a_table_twice(tmp_path: Path) -> None:
    table, event = tmp_path / "engines.csv", tmp_path / "event.json"
    table.write_text("name\nAlder\nBirch\nAlder\n")
    refused = run("next", table, "--system", "round-robin")
    assert refused.exit_code == 1
    assert "Line 4, column 1: (name) Alder is in line 2 too. Give another name, or a column id" in refused.stderr
    table.write_text("id,name\n1,Alder\n2,Alder\n")
    shown_round = run("next", table, "--system", "round-robin", "--output", event).stdout
    assert {"Alder #1", "Alder #2"} <= set(re.findall(r"Alder #\d", shown_round))
    (game,) = shown("games", event)
    assert run("result", event, game["white"], game["black"], "1-0").exit_code == 0
    assert "2 players are called 'Alder'; give a number." in run("result", event, "Alder", "1", "1-0").stderr


def test_a_report_with_a_line_that_is_cut_short_is_not_taken_without_a_word(tmp_path: Path) -> None:
    report = tmp_path / "event.trf"
    whole = f"001    1      {'Ann':33} 2400{'':28} 0.0    1"
    report.write_text(f"012 Cut\n{whole[:50]}\n001    2      {'Bob':33} 2300{'':28} 0.0    2\n")
    result = run("next", report, "--system", "dutch")
    assert result.exit_code == 0
    assert "Line 2 (player 1) ends in column 50, inside the rating. It may be cut short." in result.stderr
    report.write_text(f"012 Cut\n{whole}\n001    2      {'Bob':33} 2300{'':28} 1.0    2  0000 -\n")
    told = "Line 3, column 81: player 2 has 1.0 points, but the results give 0.0."
    assert [run(word, report, "--system", "dutch").stderr.count(told) for word in ("next", "standings", "check")] == [
        1
    ] * 3


def test_check_says_what_differs(csv: Path, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    assert run("next", csv, "--system", "dutch", "--output", event).exit_code == 0
    other = run("check", event, "--system", "tcec")
    assert other.exit_code == 1
    assert "differs" in other.stdout
    ended = shown("check", event, "--system", "tcec")
    assert [row["agrees"] for row in ended] == [False]
    assert ended[0]["missing"]
    assert shown("check", event)[0]["agrees"] is True
    assert "Nothing has been paired yet" in run("check", csv, "--system", "dutch").stderr


def test_tables_and_pictures(csv: Path, tmp_path: Path) -> None:
    event, picture = tmp_path / "event.json", tmp_path / "table.svg"
    run("next", csv, "--system", "round-robin", "--output", event)
    game = from_json(event.read_bytes()).rounds[0].games[0]
    assert run("result", event, game.white, game.black, "1-0", "--round", 1).exit_code == 0
    assert run("result", event, game.white, game.black, "0-1", "--round", 1).exit_code == 0
    cell = f"{game.white}+b"
    assert cell in run("crosstable", event).stdout
    assert cell in json.dumps(shown("crosstable", event))
    assert run("crosstable", event, "--svg", picture).exit_code == 0
    assert picture.read_text().startswith("<svg")
    for ending in ("trf", "csv", "json"):
        target = tmp_path / f"again.{ending}"
        assert run("convert", event, target).exit_code == 0
        assert cell in run("crosstable", target, "--system", "round-robin").stdout


def test_games_that_could_begin_now(csv: Path, tmp_path: Path) -> None:
    event = tmp_path / "cup.json"
    run("next", csv, "--system", "cup", "--output", event)
    assert run("next", event).exit_code == 1
    ready = shown("next", event, "--ready")
    assert [row["number"] for row in ready] == [2], "two of four quarterfinals were passes"
    (game,) = from_json(event.read_bytes()).rounds[0].games
    run("result", event, game.white, game.black, "1-0")
    assert len(shown("next", event)["games"]) == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("next", "FILE"), "does not say which system. Give --system, one of: round-robin, cup"),
        (("next", "FILE", "--system", "chess"), "'chess' is not one of"),
        (("next", "FILE", "--system", "mwm", "--option", "beta"), "'beta' is not NAME=VALUE"),
        (("next", "FILE", "--system", "mwm", "--option", "beta=none"), "mwm: beta cannot be 'none'"),
        (("next", "FILE", "--system", "mwm", "--option", "alpha=1"), "mwm has no option 'alpha'"),
        (("next", "nowhere.trf", "--system", "mwm"), "nowhere.trf"),
        (("standings", "FILE", "--order", "points,height"), "height"),
        (("result", "FILE", "Alder", "Gorse", "1-0"), "Nobody entered as 'Gorse'"),
        (("result", "FILE", "Alder", "Birch", "1-0"), "No round has a game of Birch (Black) and Alder (White)"),
        (("next", "FILE", "--system", "tcec", "--output", "-", "--json"), "Standard output takes only one of both"),
        (("crosstable", "FILE", "--svg", "-", "--json"), "Standard output takes only one of both"),
        (("standings", "."), ". cannot be read: Is a directory"),
    ],
)
def test_refusals(csv: Path, words: tuple[str, ...], sentence: str) -> None:
    result = run(*(str(csv) if word == "FILE" else word for word in words))
    assert result.exit_code in (1, 2)
    assert sentence in result.stderr
    assert csv.read_text() == CSV


def test_a_file_that_cannot_be_written_stays_as_it_was(csv: Path, tmp_path: Path) -> None:
    result = run("next", csv, "--system", "tcec", "--output", tmp_path / "no" / "event.json")
    assert result.exit_code == 1
    assert "event.json cannot be written: No such file or directory." in result.stderr
    assert list(tmp_path.iterdir()) == [csv]


def test_what_is_no_file_stays_what_it_is(csv: Path, tmp_path: Path) -> None:
    link, event, pipe = tmp_path / "link.json", tmp_path / "event.json", tmp_path / "pipe.json"
    run("next", csv, "--system", "tcec", "--output", event)
    link.symlink_to(event)
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for target in (link, pipe):
            assert run("convert", event, target).exit_code == 0
        assert link.is_symlink()
        assert pipe.is_fifo()
        assert os.read(reader, 1_000_000) == event.read_bytes()
    finally:
        os.close(reader)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["engines.csv", "event.json", "link.json", "pipe.json"]


def test_the_event_alone_goes_to_standard_output(csv: Path) -> None:
    ended = run("next", csv, "--system", "dutch", "--output", "-")
    assert ended.exit_code == 0
    assert ended.stdout.splitlines()[0] == "id,name,rating,r1"
    assert len(ended.stdout.splitlines()) == 6
    again = run("crosstable", "-", "--system", "dutch", stdin=ended.stdout_bytes)
    assert "Alder" in again.stdout


def test_a_round_is_not_shown_where_it_could_not_be_kept(csv: Path, tmp_path: Path) -> None:
    result = run("next", csv, "--system", "tcec", "--output", tmp_path)
    assert result.exit_code == 1
    assert "cannot be written: Is a directory" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("name", ["empty.trf", "empty.json"])
def test_a_tournament_of_nobody_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(to_json(Event(system="tcec")) if name == "empty.json" else b"")
    result = run("next", file, "--system", "tcec")
    assert result.exit_code == 1
    assert "has no players" in result.stderr


def test_a_result_that_does_not_fit_says_what_does(csv: Path, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    run("next", csv, "--system", "tcec", "--output", event)
    games = from_json(event.read_bytes()).rounds[0].games
    names = {entrant.id: entrant.name for entrant in from_json(event.read_bytes()).entrants}
    white, black = names[games[0].white], names[games[0].black]
    assert f"In round 1 {white} has White: name White first." in run("result", event, black, white, "1-0").stderr
    (sits_out,) = set(names.values()) - {names[id_] for game in games for id_ in game.pair}
    listed = ", ".join(f"{names[game.black]} (Black) - {names[game.white]} (White)" for game in games)
    assert f"Games without a result: {listed}." in run("result", event, white, sits_out, "1-0").stderr
    assert run("result", event, white, black, "-/+").exit_code == 0
    assert "--game 1 changes the result" in run("result", event, white, black, "-/-").stderr
    assert run("result", event, white, black, "-/-", "--round", 1).exit_code == 0
    assert from_json(event.read_bytes()).rounds[0].games[0].result == GameResult(0, 0, "forfeit")


def test_a_replayed_game_is_named_by_its_id(tmp_path: Path) -> None:
    file = tmp_path / "cup.json"
    file.write_bytes(to_json(Event(system="cup", entrants=entrants([2000, 1900]))))
    for score in ("1/2-1/2", "1/2-1/2"):
        assert run("next", file, "--output", file).exit_code == 0
        (game,) = shown("games", file, "--open")
        assert run("result", file, game["white"], game["black"], score).exit_code == 0
    assert "   3  bot-" in run("next", file, "--output", file).stdout
    white, black = (shown("games", file)[0][color] for color in ("white", "black"))
    refused = run("result", file, white, black, "1-0", "--round", 1)
    assert refused.exit_code == 1
    assert f"{black} (Black) and {white} (White): game 1 in round 1, game 3 in round 1. Name one" in refused.stderr
    assert run("result", file, "--game", 3, "0-1").exit_code == 0
    assert [row["result"] for row in shown("games", file)] == ["1/2-1/2", "1/2-1/2", "0-1"]
    assert re.search(r"^ *3 +1 +bot-. +bot-. +Black wins$", run("games", file).stdout, re.MULTILINE)
    for words in (("--game", 3), ("--game", 3, white, black, "1-0"), (white, "1-0"), (white, black, "2-0")):
        assert run("result", file, *words).exit_code == 2
    assert "No game has the number 9" in run("result", file, "--game", 9, "1-0").stderr


def test_ids_are_shown_only_where_the_file_keeps_them(csv: Path, tmp_path: Path) -> None:
    assert "  id  " not in run("next", csv, "--system", "tcec").stdout
    assert [game["id"] for game in shown("next", csv, "--system", "tcec")["games"]] == [None, None]
    kept = shown("next", csv, "--system", "tcec", "--output", tmp_path / "event.json")
    assert [game["id"] for game in kept["games"]] == [1, 2]


def test_what_a_table_does_not_hold_is_said(csv: Path, tmp_path: Path) -> None:
    event, table = tmp_path / "event.json", tmp_path / "event.csv"
    run("next", csv, "--system", "tcec", "--output", event)
    assert "does not hold the system (tcec)" in run("convert", event, table).stderr
    assert run("check", table).exit_code == 1
    assert "does not say which system: places are as by dutch." in run("standings", table).stderr
    assert "places" not in run("standings", table, "--system", "tcec").stderr
    assert run("check", table, "--system", "tcec").exit_code == 0


def test_a_round_as_it_is_shown(csv: Path, tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    text = run("next", csv, "--system", "tcec-double", "--output", event).stdout.splitlines()
    assert text[:2] == ["Round 1", "board  id  black      white      why"]
    assert [line.split()[0] for line in text[2:]] == ["1", "2", "3", "4", "-"]
    assert re.fullmatch(r" +- +-  Cedar [(]0[)] +bye, 2 +no opponent", text[-1])
    ended = shown("next", csv, "--system", "tcec-double")
    assert ended["byes"] == [{"entrant": 3, "name": "Cedar", "points": 2.0, "requested": False}]
    assert [game["reason"][-11:] for game in ended["games"]] == ["game 1 of 2"] * 2 + ["game 2 of 2"] * 2
    assert "Nothing can begin now." in run("next", event, "--ready").stderr
    assert shown("next", event, "--ready") == []
    assert "Nothing can begin" not in run("next", csv, "--system", "cup", "--ready").stderr


def test_stones_and_shares_are_shown_where_there_are_some(tmp_path: Path) -> None:
    file = tmp_path / "go.csv"
    file.write_text("name,grade\nAnn,2k\nBob,5k\n")
    assert "stones" not in run("next", file, "--system", "mcmahon").stdout
    table = run("next", file, "--system", "mcmahon", "--option", "handicap=true").stdout.splitlines()
    assert table[1].split() == ["board", "black", "white", "stones", "why"]
    assert re.match(r" +1 +Bob [(]0[)] +Ann [(]0[)] +2 ", table[2])
    thirds = "1,Ann,2000,2+b,3-w,4=b\n2,Bob,1700,1-w,4+b,3-w\n3,Cid,1950,4-w,1+b,2+b\n4,Dot,1600,3+b,2-w,1=w\n"
    file.write_text(f"id,name,rating,r1,r2,r3\n{thirds}")
    assert re.search(r"Ann +1[.]5 +1825$", run("standings", file, "--order", "points,aroc").stdout, re.MULTILINE)
    shares = run("standings", file, "--order", "performance").stdout
    values = [row["values"][0] for row in shown("standings", file, "--order", "performance")["rows"]]
    assert [float(line.split()[-1]) for line in shares.splitlines()[1:]] == [round(value, 2) for value in values]
    assert any(value != round(value, 2) for value in values)


def test_a_cup_is_drawn_as_a_bracket(csv: Path, tmp_path: Path) -> None:
    for system, says in (("cup", "A bracket of"), ("tcec", "Rows and columns are")):
        event = tmp_path / f"{system}.json"
        run("next", csv, "--system", system, "--output", event)
        assert run("convert", event, tmp_path / "same.json").exit_code == 0
        assert says in run("crosstable", event, "--svg", "-").stdout
    assert "Rows and columns are" in run("crosstable", csv, "--system", "cup", "--svg", "-").stdout


def test_check_says_why_a_round_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pair.csv"
    file.write_text("id,name,forbidden,r1\n1,Ann,2,2+w\n2,Bob,1,1-b\n")
    ended = run("check", file, "--system", "cup")
    assert ended.exit_code == 1
    assert re.search(r"^ +1 +refused", ended.stdout, re.MULTILINE)
    assert "Round 1: The next match is Ann against Bob, who must not meet." in ended.stderr
    file.write_text("id,name,r1\n1,Ann,2+b\n2,Bob,1-w\n")
    assert run("check", file, "--system", "cup").stderr == ""


def test_many_open_games_are_not_all_listed(tmp_path: Path) -> None:
    few, many = ("name\n" + "".join(f"bot{at}\n" for at in range(count)) for count in (20, 24))
    for text in (few, many):
        file, event = tmp_path / "many.csv", tmp_path / "many.json"
        file.write_text(text)
        run("next", file, "--system", "tcec", "--output", event)
        ended = run("result", event, "bot0", "bot19", "1-0").stderr.strip()
        assert ended.endswith("....") is (text is many)
        assert ended.count(" - ") == 10


def test_a_file_of_teams_is_not_paired(tmp_path: Path) -> None:
    file = tmp_path / "teams.trf"
    file.write_text("012 Teams\n" + "".join(f"001 {at:>4}      {name:<33}\n" for at, name in ((1, "Ann"), (2, "Bob"))))
    assert run("next", file, "--system", "dutch").exit_code == 0
    with file.open("a") as stream:
        stream.write("013 Our team                            1    2\n")
    refused = run("next", file, "--system", "dutch")
    assert refused.exit_code == 1
    assert "teams.trf cannot be paired here: " in refused.stderr
    assert run("standings", file).exit_code == 0


def test_the_systems() -> None:
    ended = shown("systems")
    assert ended["short"]["dutch"] == {"system": "mwm", "options": {"order": "dutch"}}
    assert "dutch" in ended["systems"]["mwm"]["order"]["values"]
    assert (ended["systems"]["cup"]["replays"]["default"], ended["systems"]["tcec"]["games_per_match"]["default"]) == (
        2,
        1,
    )
    assert ended["systems"]["mcmahon"]["bar"]["values"].count(",") == 39
    table = run("systems").stdout
    assert "burstein" in table
    assert re.search(r"^cup +passes +seeds +seeds, lot$", table, re.MULTILINE)
    assert re.search(r"^mcmahon +bar +none +none, 30k, .*, [.]{3}, 9d$", table, re.MULTILINE)
    assert re.search(r"^accelrat +k +32 +0 to 400$", table, re.MULTILINE)
    assert re.search(r"^tcec-double +tcec +games_per_match=2$", table, re.MULTILINE)


def test_the_quality_of_an_event_as_tables_and_for_programs() -> None:
    example = Path(__file__).parents[3] / "docs" / "examples" / "mwm.json"
    ended = shown("quality", example)
    assert ended["kendall"] == pytest.approx(4 / 7)
    assert ended["total_error"]["rms_per_game"] == pytest.approx(1.4792, abs=1e-4)
    assert sum(band["games"] for band in ended["bands"]) == ended["games"] == 16
    text = run("quality", example).stdout
    assert "Kendall's tau with the ratings                   0.571" in text
    assert "Streaks of colors" in text


def test_what_is_in_no_band_is_said(csv: Path) -> None:
    csv.write_text("name,rating,r1\nA,,2+w3\nB,1500,1-b3\nC,,4+w\nD,1400,3-b\n")
    result = run("quality", csv)
    assert result.exit_code == 0
    assert "In no band: 1 game with handicap, 1 game with somebody without a rating." in result.stderr


def test_converting_to_an_unknown_ending_writes_nothing(csv: Path, tmp_path: Path) -> None:
    result = run("convert", csv, tmp_path / "u.pgn")
    assert result.exit_code == 1
    assert "u.pgn cannot be written: .pgn is no ending known here" in result.stderr
    assert not (tmp_path / "u.pgn").exists()


def test_an_event_goes_to_the_european_database_and_says_what_is_lost(csv: Path, tmp_path: Path) -> None:
    event, table = tmp_path / "event.json", tmp_path / "event.h9"
    assert run("next", csv, "--system", "swiss", "--output", event).exit_code == 0
    result = run("convert", event, table)
    assert result.exit_code == 0
    assert "does not hold the players' numbers" in result.stderr
    assert "?/w0" in table.read_text()
    before = table.read_bytes()
    changed = run("change", table, "--withdraw", "1")
    assert "Go on in JSON" in changed.stderr
    assert table.read_bytes() == before


@pytest.mark.parametrize("words", [("simulate", "--players", "8", "--system", "dutch"), ("reproduce", "--help")])
def test_commands_that_moved_name_their_successor(words: tuple[str, ...]) -> None:
    ended = CliRunner().invoke(main, ["tournament", *words])
    assert ended.exit_code == 1
    assert f"tournament {words[0]}` is now `cgos-server lab swiss`." in ended.stderr
    assert words[0] not in CliRunner().invoke(main, ["tournament", "--help"]).stdout


def reported(number: int, points: float, half: str) -> str:
    """The line of a player in a tournament report of one round."""
    return f"001 {number:4}      {f'player {number}':34}{2200 - number:4}{'':28}{points:4} {number:4}  {half}\n"


@pytest.mark.parametrize("command", [("next", "--system", "dutch"), ("standings",), ("crosstable",), ("check",)])
def test_points_that_contradict_the_rounds_are_told(tmp_path: Path, command: tuple[str, ...]) -> None:
    lines = [reported(1, 9.0, "   2 w 1"), reported(2, 0.0, "   1 b 0"), reported(3, 0.5, "0000 - U")]
    file = tmp_path / "wrong.trf"
    file.write_text("012 Wrong points\nXXR 4\n" + "".join(lines))
    told = run(command[0], file, *command[1:], "--system", "dutch")
    assert told.stderr.count("Line 3, column 81: player 1 has 9.0 points, but the results give 1.0.") == 1
    assert "Line 5, column 81: player 3 has 0.5 points, but the results give 1.0." in told.stderr
    assert "Places and pairings go by the results, not by the column of points.\n" in told.stderr
    file.write_text("012 Right points\nXXR 4\nBBU  0.5\n" + "".join(lines).replace(" 9.0 ", " 1.0 "))
    assert "column of points" not in run(command[0], file, *command[1:], "--system", "dutch").stderr


def test_of_many_wrong_points_a_few_are_named(tmp_path: Path) -> None:
    file = tmp_path / "wrong.csv"
    file.write_text("name,points,r1\n" + "".join(f"player {at},7,bye\n" for at in range(1, 6)) + "last,x,bye\n")
    assert "'x'" in run("standings", file).stderr
    file.write_text(file.read_text().replace("x,bye", "1,bye"))
    told = run("standings", file).stderr
    assert told.count("has 7 points, but the results give 1.") == 3
    assert "2 more differ; `cgos-server tournament check` names all." in told
    assert run("check", file, "--system", "swiss").stderr.count("has 7 points") == 5
