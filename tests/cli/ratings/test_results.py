"""`rate results`: anybody's results as standings, odds and predictions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cgos_server.cli.main import main
from cgos_server.core.rating import BradleyTerry

Run = Callable[..., Result]

TABLE = (
    "black,white,result\n" + "Alder,Birch,B+R\nBirch,Alder,W+3.5\nAlder,Birch,W+R\nCedar,Alder,draw\n" * 5 + "A,B,*\n"
)


@pytest.fixture
def rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command on a text, where there is neither a configuration nor a database."""
    monkeypatch.chdir(tmp_path)

    def run(text: str, *words: str, fails: int = 0) -> Result:
        result = CliRunner().invoke(main, ["rate", "results", "-", *words], input=text)
        assert result.exit_code == fails, result.output
        return result

    return run


def pool() -> BradleyTerry:
    model = BradleyTerry()
    model.add("Alder", "Birch", 1, games=5)
    model.add("Birch", "Alder", 0, games=5)
    model.add("Alder", "Birch", 0, games=5)
    model.add("Cedar", "Alder", 0.5, games=5)
    return model


def test_a_table_of_standings_and_what_was_learned(rate: Run) -> None:
    done = rate(TABLE)
    header, *rows = done.stdout.splitlines()
    assert header.split() == ["name", "rating", "95", "%", "games", "points"]
    assert [row.split()[1] for row in rows[:3]] == [str(name) for name in pool().standings()]
    (alder,) = (row for row in rows if "Alder" in row)
    rating = pool().rating("Alder")
    assert str(rating).replace(" ± ", "±") in "".join(alder.split()[2:5]) or f"{rating.lower:.0f} to" in alder
    assert alder.split()[-2:] == ["20", "12.5"]
    assert "The first move is worth" in done.stdout
    assert "Equals draw" in done.stdout
    assert "20 games; 1 without a result left out. Black moved first" in done.stderr


def test_games_decided_without_play_are_left_out(rate: Run) -> None:
    text = "black,white,result\nA,B,W+R\nA,B,Abort\nA,B,1-0F\nB,A,0-0\n"
    assert "1 game; 1 without a result left out; 2 without play left out. Black moved" in rate(text).stderr
    told = json.loads(rate(text, "--json").stdout)
    assert (told["games"], told["unfinished"], told["unplayed"]) == (1, 1, 2)
    assert "None of 1 game has a result that was played for" in rate("A B 0-0\n", fails=1).stderr


def test_groups_that_never_met_are_told(rate: Run) -> None:
    apart = TABLE + "Elm,Fir,W+R\n"
    remark = (
        "No chain of games joins the 2 groups of names (sizes 3, 2): ratings of different groups cannot be compared."
    )
    assert remark in rate(apart).stdout
    assert "No chain" not in rate(TABLE).stdout
    told = json.loads(rate(apart, "--json").stdout)
    assert told["remarks"] == [remark]
    assert [(group["size"], sorted(group["names"])) for group in told["groups"]] == [
        (3, ["Alder", "Birch", "Cedar"]),
        (2, ["Elm", "Fir"]),
    ]
    joined = json.loads(rate(TABLE, "--json").stdout)
    assert (joined["remarks"], [group["size"] for group in joined["groups"]]) == ([], [3])
    many = "".join(f"A{at} B{at}\n" for at in range(12))
    assert "the 12 groups of names (sizes 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, ...)" in rate(many).stdout


def test_json_has_what_the_library_says(rate: Run) -> None:
    told = json.loads(
        rate(TABLE, "--json", "--odds", "Alder", "Birch", "--predict", "Birch", "Alder", "--matrix").stdout
    )
    model = pool()
    assert (told["games"], told["unfinished"]) == (20, 1)
    assert [row["name"] for row in told["standings"]] == list(model.standings())
    assert told["standings"][0]["mean"] == pytest.approx(next(iter(model.standings().values())).mean)
    assert told["odds"][0]["superiority"] == pytest.approx(model.superiority("Alder", "Birch"))
    assert told["odds"][0]["lower"] == pytest.approx(model.difference("Alder", "Birch").lower)
    assert told["predictions"][0]["win"] == pytest.approx(model.predict("Birch", "Alder").win)
    assert told["learned"]["advantage_sd"] == pytest.approx(model.learned().advantage_sd)
    assert told["matrix"]["superior"][0][0] == 0.5
    assert json.loads(rate(TABLE, "--json").stdout)["matrix"] is None


def test_odds_predictions_and_the_matrix_in_words(rate: Run) -> None:
    done = rate(TABLE, "--odds", "Alder", "Birch", "--predict", "Alder", "Cedar", "--matrix", "--anchor", "Cedar=1500")
    assert "Alder is stronger than Birch with probability " in done.stdout
    assert f": {_anchored().difference('Alder', 'Birch')} Elo" in done.stdout
    assert "Alder, moving first, wins " in done.stdout
    assert "Per cent of probability that the row is stronger than the column" in done.stdout
    assert "1500" in done.stdout
    assert "anchor" in done.stdout


def _anchored() -> BradleyTerry:
    model = pool()
    model.anchor("Cedar", 1500)
    return model


def test_winners_named_first_are_said_and_neutral_helps(rate: Run) -> None:
    lost = "first,second,score\n" + "A,B,1\nB,C,1\nA,C,1\n" * 5
    first = rate(lost)
    assert "Whoever moved first has never lost. If FILE names the winner first, add --neutral." in first.stderr
    neutral = rate(lost, "--neutral", "--predict", "A", "B")
    assert "never lost" not in neutral.stderr
    assert "Nobody is known to have moved first." in neutral.stdout
    assert "No game was drawn." in neutral.stdout
    assert "A wins " in neutral.stdout
    listed = rate("A beat B\nB beat C\nA beat C\n" * 5, "--predict", "A", "B")
    assert listed.stdout.splitlines()[:4] == neutral.stdout.splitlines()[:4]


def test_who_moves_first_can_be_said(rate: Run) -> None:
    pgn = '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 1-0\n\n[White "B"]\n[Black "A"]\n[Result "1-0"]\n' * 8
    assert json.loads(rate(pgn, "--json").stdout)["learned"]["advantage"] > 20
    assert json.loads(rate(pgn, "--json", "--first", "black").stdout)["learned"]["advantage"] < -20


def test_a_picture_is_drawn_beside(rate: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert "Alder" in rate(TABLE, "--plot", str(tmp_path / "pool.svg")).stdout
    assert "Birch" in (tmp_path / "pool.svg").read_text()


@pytest.mark.parametrize(
    ("text", "words", "sentence"),
    [
        (TABLE, ("--odds", "Aldr", "Birch"), "'Aldr' has no game with a result. Did you mean Alder?"),
        (TABLE, ("--predict", "Alder", "A"), "'A' has no game with a result."),
        (TABLE, ("--odds", "Alder", "Alder"), "Alder cannot be compared with itself"),
        (TABLE, ("--anchor", "Elm=3"), "'Elm' has no game with a result."),
        (TABLE, ("--plot", "pool.txt"), "is to end with .svg or .png"),
        ("A B *\n", (), "None of 1 game has a result"),
        ("", (), "Line 1, column 1: there is no game."),
        (TABLE + "Alder,Birch,2-1\n", (), "Line 23, column 1: '2-1' is no result."),
    ],
)
def test_refusals(rate: Run, text: str, words: tuple[str, ...], sentence: str) -> None:
    assert sentence in rate(text, *words, fails=1).output


def test_an_anchor_has_a_number_and_a_file_is_there(rate: Run) -> None:
    for anchor in ("Alder=much", "Alder=nan", "Alder"):
        assert "is not NAME=ELO" in rate(TABLE, "--anchor", anchor, fails=2).output
    gone = CliRunner().invoke(main, ["rate", "results", "gone.csv"])
    assert gone.exit_code == 1
    assert "gone.csv cannot be read" in gone.output
