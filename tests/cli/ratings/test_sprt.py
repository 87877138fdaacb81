"""`cgos-server rate sprt`: verdicts, exit codes, what is printed and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cgos_server.cli.main import main
from cgos_server.cli.ratings.sprt import sprt
from cgos_server.presentation.questions.paste import NO_ESTIMATE


def run(text: str, *options: str) -> Result:
    return CliRunner().invoke(main, ["rate", "sprt", "-", *options], input=text)


@pytest.mark.parametrize(
    ("counts", "word", "code"),
    [
        ("379 10170 21828 10640 343", "accepted", 0),
        ("343 10640 21828 10170 379", "rejected", 1),
        ("37 1017 2182 1064 34", "goes on", 3),
    ],
)
def test_the_exit_code_is_the_verdict(counts: str, word: str, code: int) -> None:
    ran = run(counts, "--bounds", "0", "2")
    assert ran.exit_code == code, ran.output
    lines = ran.stdout.splitlines()
    assert lines[0].split("  ")[-1].strip() == word
    assert len(lines[lines.index("") + 1 :]) == 6
    assert f"Test   | B against A: {word}" in lines


@pytest.mark.parametrize("counts", ["379 10170 21828 10640 343", "30 6 18 0 6", "12 30 25"])
def test_what_it_prints_it_reads(counts: str) -> None:
    first = run(counts)
    again = run(first.stdout.partition("\n\n")[2])
    assert again.exit_code == first.exit_code
    assert again.stdout == first.stdout


def test_json_says_all_of_it(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    file.write_text("379 10170 21828 10640 343")
    options = ["--bounds", "0", "2", "--json", "--of", "New", "--against", "Old"]
    ran = CliRunner().invoke(main, ["rate", "sprt", str(file), *options])
    assert ran.exit_code == 0
    told = json.loads(ran.stdout)
    assert told["standing"]["llr"] == pytest.approx(2.945495, abs=1e-6)
    assert told["standing"]["decision"] == "accepted"
    assert told["hypotheses"] == {"scale": "nelo", "lower": 0, "upper": 2, "alpha": 0.05, "beta": 0.05}
    assert (told["newer"], told["older"], told["games"], told["points"]) == ("New", "Old", 86720, None)
    assert told["remaining"] == {"pairs": 0, "accepted": 1}
    assert told["text"].count("\n") == 5
    assert 0 < told["estimate"]["lower"] < told["estimate"]["elo"] < told["estimate"]["upper"]


def games(results: str) -> str:
    """A table of pairs; B wins, draws or loses both games of each."""
    rows = ["black,white,result,round"]
    for number, result in enumerate(results):
        black = {"w": "W+R", "d": "draw", "l": "B+R"}[result]
        white = {"w": "B+R", "d": "draw", "l": "W+R"}[result]
        rows += [f"A,B,{black},{number}", f"B,A,{white},{number}"]
    return "\n".join(rows)


def test_games_are_counted_until_the_test_ends() -> None:
    ran = run(games("wd" * 80 + "l" * 300), "--of", "B", "--bounds", "0", "100", "--json")
    assert ran.exit_code == 0
    told = json.loads(ran.stdout)
    assert told["after_the_end"] > 300
    assert told["points"]["lost"] == 0
    assert sum(told["counts"]) + told["after_the_end"] == 460
    shown = run(games("wd" * 80 + "l" * 300), "--of", "B", "--bounds", "0", "100")
    assert f"{told['after_the_end']} pairs after the one that ended the test left out." in shown.stderr


def test_single_games_and_the_other_scale() -> None:
    text = games("wdwlw")
    paired = json.loads(run(text, "--of", "B", "--json").stdout)
    single = json.loads(run(text, "--of", "B", "--json", "--single", "--scale", "elo").stdout)
    assert (paired["counts"], single["counts"]) == ([1, 0, 1, 0, 3], [2, 2, 6])
    assert paired["points"] == single["points"] == {"won": 6, "drawn": 2, "lost": 2}
    assert single["hypotheses"]["scale"] == "elo"
    other = json.loads(run(text, "--of", "A", "--json").stdout)
    assert other["counts"] == paired["counts"][::-1]
    assert other["standing"]["llr"] < 0 < paired["standing"]["llr"]


def test_a_game_without_a_partner_is_told() -> None:
    ran = run(games("wd") + "\nA,B,B+R,9\n", "--of", "B")
    assert ran.exit_code == 3
    assert "1 game without a partner left out" in ran.stderr
    assert "Games  | N: 4 W: 2 L: 0 D: 2" in ran.stdout


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("1 2 3 4 5", ("--bounds", "10", "0"), "does not lie below"),
        ("1 2 3 4 5", ("--alpha", "0"), "error rates"),
        (games("wd"), (), "Say it with --of: A or B"),
        (games("wd"), ("--of", "C"), "no game with a result"),
        ("nonsense", ("--of", "B"), "Line 1"),
        ("", (), "there is no game"),
    ],
)
def test_what_cannot_be_used_exits_with_2(text: str, options: tuple[str, ...], words: str) -> None:
    ran = run(text, *options)
    assert ran.exit_code == 2
    assert words in ran.stderr


def test_a_file_that_is_not_there_exits_with_2(tmp_path: Path) -> None:
    ran = CliRunner().invoke(main, ["rate", "sprt", str(tmp_path / "none")])
    assert ran.exit_code == 2
    assert "cannot be read" in ran.stderr


def test_help_says_how_games_are_paired_and_what_exit_codes_mean() -> None:
    text = " ".join(CliRunner().invoke(sprt, ["--help"]).output.split())
    assert "follow one another with colors swapped are a pair" in text
    assert "Exits with 0 where the test accepts (B is stronger), 1 where it rejects, 3 where it goes on" in text


@pytest.mark.parametrize("counts", ["0 0 0 1 9", "0 0 1 0 0", "2 1 2"])
def test_too_little_gives_no_estimate(counts: str) -> None:
    shown = run(counts).stdout
    assert shown.count(NO_ESTIMATE) == 3
    assert "at least -" not in shown
