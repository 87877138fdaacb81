"""`cgos-server question list`, `show` and `games`, on a database without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cgos_protocol.api.questions import QuestionNow
from cgos_protocol.ids import QuestionId
from cgos_server.cli.questions import sources
from cgos_server.presentation.questions.paste import NO_ESTIMATE

pytestmark = pytest.mark.usefixtures("asked")


def test_the_latest_come_first(run: Any, as_json: Any) -> None:
    assert [row["question"] for row in as_json("question", "list")] == [4, 3, 2, 1]
    lines = run("question", "list").stdout.splitlines()
    assert lines[0].split() == ["number", "kind", "venue", "asks", "owner", "asked", "(UTC)", "state", "priority"]
    assert "Is Alpha stronger than Beta?" in lines[4]


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (("--state", "open"), [1]),
        (("--state", "not answered"), []),
        (("--bot", "Gamma"), [3, 2]),
        (("--before", "3", "--limit", "1"), [2]),
        (("--venue", "9x9"), [4, 3, 2, 1]),
    ],
)
def test_some_of_them(as_json: Any, options: tuple[str, ...], numbers: list[int]) -> None:
    assert [row["question"] for row in as_json("question", "list", *options)] == numbers


def test_who_is_not_there(run: Any) -> None:
    assert "There is no bot 'Nobody'." in run("question", "list", "--bot", "Nobody", fails=1).stderr
    assert "There is no account 'Nobody'." in run("question", "list", "--owner", "Nobody", fails=1).stderr
    assert "There is no venue 'nowhere'" in run("question", "list", "--venue", "nowhere", fails=1).stderr


def test_an_open_test(run: Any, as_json: Any) -> None:
    shown = run("question", "show", "1")
    assert shown.stdout.startswith("Is Alpha stronger than Beta?\n")
    for words in ("won 4, drew 1, lost 1", "[0, 0, 1, 1, 1]", "0 and 200 nelo", "running games  1", NO_ESTIMATE):
        assert words in shown.stdout
    assert shown.stderr.startswith("It goes on: the log-likelihood ratio is ")
    detail = as_json("question", "show", "1")
    assert detail["answer"]["counts"] == [0, 0, 1, 1, 1]
    assert detail["stands"] == shown.stderr.removesuffix("\n")


def test_what_it_waits_for_is_asked_of_the_server_that_plays(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = "Its bots play other games, which end first."
    seen = [QuestionNow(question=QuestionId(1), waits=waits, running=0)]
    monkeypatch.setattr(sources, "ask_server", lambda _setup, _command: seen)
    assert waits in run("question", "show", "1").stdout
    assert waits not in run("question", "show", "2").stdout


def test_six_lines_link_to_the_pages_for_people(run: Any, tmp_path: Path, asked: Path) -> None:
    assert run("question", "show", "1", "--text").stdout.endswith("Link   | http://localhost:8080/questions/1\n")
    config = tmp_path / "cgos.toml"
    config.write_text(f'server.data = "{asked}"\nweb.public_url = "https://go.example/"\n')
    text = run("question", "show", "1", "--text", "--config", str(config)).stdout
    assert len(text.splitlines()) == 6
    assert text.endswith("Link   | https://go.example/questions/1\n")
    assert "not both" in run("question", "show", "1", "--text", "--json", fails=2).stderr


def test_a_gauntlet_has_a_table_of_its_opponents(run: Any) -> None:
    shown = run("question", "show", "2").stdout
    assert "Where does Alpha stand among Beta and Gamma, to within 50 Elo?" in shown
    table = shown.partition("\n\n")[2].splitlines()
    assert table[0].split() == ["opponent", "rating", "wins", "draws", "losses", "stronger", "%"]
    assert [line.split()[:5] for line in table[1:]] == [
        ["Beta", "1900", "2", "1", "1"],
        ["Gamma", "1700", "2", "0", "0"],
    ]


def test_what_was_repeated_is_said(run: Any, as_json: Any) -> None:
    shown = run("question", "show", "3")
    assert "1, which count for nothing" in shown.stdout
    assert shown.stderr.startswith("Stopped: its owner has stopped it.")
    games = as_json("question", "games", "3")
    assert [game["repeated"] for game in games] == [False, False, True, True]
    assert run("question", "games", "3").stdout.count("no, repeated") == 2


def test_there_is_no_such_question(run: Any) -> None:
    for command in ("show", "games"):
        assert "There is no question 77." in run("question", command, "77", fails=1).stderr
