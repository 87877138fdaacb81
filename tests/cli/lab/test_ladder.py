"""`lab ladder`: its rows, its tables, its JSON, its exit codes, its help."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from cgos_server.cli.lab.ladder import ladder
from cgos_server.cli.main import main
from cgos_server.lab.ladder import experiment

SMALL = (
    "--versions",
    "6",
    "--hours",
    "0.5",
    "--fastest",
    "20",
    "--spread",
    "2",
    "--replicates",
    "1",
    "--interval",
    "9",
)


def call(*words: str) -> Result:
    return CliRunner().invoke(main, ["lab", "ladder", *words])


def rows(*words: str) -> list[str]:
    ended = call(*SMALL, "--json", *words)
    assert ended.exit_code == 0, ended.output
    play = next(table for table in json.loads(ended.stdout)["tables"] if table["key"] == "play")
    return [cells[1] for cells in play["rows"]]


def test_the_tables_are_there() -> None:
    ended = call(*SMALL, "--server", "cgos")
    assert ended.exit_code == 0, ended.output
    for title in ("Until the RMSE of the whole pool is 50 Elo", "The ratings at the end", "Play and waiting"):
        assert title in ended.stdout
    assert "Pool normal: N(2000, 350)." in ended.stdout


def test_both_servers_where_nothing_is_asked_for() -> None:
    assert rows() == ["cgos", "ours"]


def test_rows_are_combined() -> None:
    known = ("--rating", "known")
    assert rows(*known, "--policy", "rolling", "--policy", "barrier", "--matchmaker", "random") == [
        "random/known/rolling",
        "random/known/barrier",
    ]
    assert rows(*known) == ["information/known/rolling"]
    assert rows("--row", "birk,formula=half/cgos-elo,compat=true/barrier", "--server", "cgos") == [
        "cgos",
        "birk,formula=half/cgos-elo,compat=true/barrier",
    ]


def test_json_says_the_words_and_every_table() -> None:
    ended = call(*SMALL, "--server", "cgos", "--owners", "3,2", "--json")
    answer = json.loads(ended.stdout)
    assert answer["command"].endswith("--owners 3,2 --interval 9.0")
    assert {table["key"] for table in answer["tables"]} == {"goals", "ratings", "course", "play", "mix"}
    assert [picture["tag"] if "tag" in picture else picture["key"] for picture in answer["pictures"]]


def test_a_check_that_does_not_hold_is_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "LEAST_CHECKED", 1)
    words = (*SMALL, "--row", "random/cgos-elo/barrier")
    monkeypatch.setattr(experiment, "_excess", lambda _looks: 1.0)
    ended = call(*words)
    assert ended.exit_code == 1
    assert "the oracle's mean square is no larger" in ended.stdout
    monkeypatch.setattr(experiment, "_excess", lambda _looks: -1.0)
    assert call(*words).exit_code == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--row", "information/bayes"), "is not MATCHMAKER/RATING/POLICY, such as information/bayes/rolling"),
        (("--row", "birk,half/bayes/rolling"), "'half' in 'birk,half' is not NAME=VALUE"),
        (("--row", "magic/bayes/rolling"), "magic"),
        (("--owners", "7,x"), "--owners is to be numbers of versions with commas between them, such as 7,2."),
        (("--owners", "7"), "Groups of 7 versions cannot be made of 6."),
        (("--server", "cgos", "--server", "cgos"), "These rows are there twice: cgos."),
    ],
)
def test_refusals_say_what_to_do(words: tuple[str, ...], sentence: str) -> None:
    ended = call(*SMALL, *words)
    assert ended.exit_code == 1
    assert sentence in " ".join(ended.output.split())


def test_every_option_says_what_it_means() -> None:
    assert all(getattr(option, "help", None) for option in ladder.params)
    ended = call("--help")
    assert ended.exit_code == 0
    assert "simulated time" in ended.output
