"""Results of anybody's games: tables, PGN, lists of who beat whom."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import Refused
from cgos_protocol.games.base import Color
from cgos_protocol.lines.misread import Misread
from cgos_protocol.verdict import Reason, Verdict, by_score
from cgos_server.tournaments.files.games_list import GameResult, read, read_games
from cgos_server.tournaments.files.result_words import Said, Whose, said

PGN = """\
[Event "of two"]
[Round "3"]
[White "Alder"]
[Black "Birch \\"B\\""]
[Result "1-0"]
[FEN "8/8 w"]

1. e4 {[%clk 1:00]
[%clk 0:59] [White "no tag"] } e5 1-0

[White "Birch"] [Black "Alder"] [Result "1/2-1/2"] [Round "?"] [Opening "Elm"]
[White "Birch"]
[Black "Alder"]

[Result "*"]
"""


def game(first: str, second: str, score: float, neutral: bool = False, opening: str = "") -> GameResult:
    return GameResult(first=first, second=second, score=score, neutral=neutral, opening=opening)


@pytest.mark.parametrize(
    ("text", "games"),
    [
        ("white,black,result\nA,B,1-0\n", [game("B", "A", 0.0)]),
        (
            "\ufeffBlack;White;Result;Round\r\nA;B;B+R;1\r\n\r\nB;A;W+3.5;1\r\n",
            [game("A", "B", 1.0, opening="1"), game("B", "A", 0.0, opening="1")],
        ),
        ("black\twhite\tresult\nA\tB\t1-0\n", [game("A", "B", 0.0)]),
        (
            "white,black,result\nA,B,1\nA,B,0.5\nA,B,loss\n",
            [game("B", "A", 0.0), game("B", "A", 0.5), game("B", "A", 1.0)],
        ),
        ("#,first,second,score,pair,round\n1,A,B,1,x,7\n", [game("A", "B", 1.0, opening="x")]),
        ("second,first,score\nB,A,1\n", [game("A", "B", 1.0)]),
        ('player 1,player_2,result\n"A, B",C,½-½\n', [game("A, B", "C", 0.5, neutral=True)]),
        ("winner,loser\nA,B\n", [game("A", "B", 1.0, neutral=True)]),
        (
            "winner,loser,result\nA,B,B+3.5\nA,B,draw\nA,B,\n",
            [game("A", "B", 1.0, neutral=True), game("A", "B", 0.5, neutral=True), game("A", "B", 1.0, neutral=True)],
        ),
        (
            "white,black,winner\nA,B,B\nA,B,white\nb,w,b\n",
            [game("B", "A", 1.0), game("B", "A", 0.0), game("w", "b", 0.0)],
        ),
        ("A,B\nC,D\n", [game("A", "B", 1.0, neutral=True), game("C", "D", 1.0, neutral=True)]),
        ("A,B,0-1\n", [game("A", "B", 0.0, neutral=True)]),
        (
            '# who won\nA beat B\n\n"C D" lost to E\nF  drew with G H\n',
            [
                game("A", "B", 1.0, neutral=True),
                game("C D", "E", 0.0, neutral=True),
                game("F", "G H", 0.5, neutral=True),
            ],
        ),
        ('A "B C"\nA B 1/2\n', [game("A", "B C", 1.0, neutral=True), game("A", "B", 0.5, neutral=True)]),
    ],
)
def test_tables_and_lists(text: str, games: list[GameResult]) -> None:
    assert read_games(text) == games


def test_pgn() -> None:
    done = read(PGN)
    assert done.games == [game("Alder", 'Birch "B"', 1.0, opening="8/8 w"), game("Birch", "Alder", 0.5, opening="Elm")]
    assert done.unfinished == 1
    assert "White moved first" in done.how


def test_whoever_moves_first_can_be_said() -> None:
    assert read_games("white,black,result\nA,B,1-0\n", first="white") == [game("A", "B", 1.0)]
    swapped = read(PGN, first="black")
    assert swapped.games[0] == game('Birch "B"', "Alder", 0.0, opening="8/8 w")
    assert "Black moved first" in swapped.how


def test_games_without_a_result_are_counted() -> None:
    done = read("winner,loser,result\nA,B,*\nA,B,void\n")
    assert (done.games, done.unfinished, done.unplayed) == ([], 2, 0)


@pytest.mark.parametrize("word", ["0-0", "1-0F", "0-1F", "0F-0F", "+/-", "-/-", "1/2-0"])
def test_games_decided_without_play_are_counted_apart(word: str) -> None:
    text = f'[White "A"]\n[Black "B"]\n[Result "{word}"]\n\n{word}\n\n[White "B"]\n[Black "A"]\n[Result "0-1"]\n'
    done = read(text)
    assert (done.games, done.unfinished, done.unplayed) == ([game("B", "A", 0.0)], 0, 1)


def test_every_result_of_our_own_games_is_understood() -> None:
    verdicts = [by_score(7), by_score(0), *(Verdict(Color.WHITE, reason) for reason in Reason if reason != "score")]
    done = read("black,white,result\n" + "".join(f"A,B,{verdict.text}\n" for verdict in verdicts))
    assert (len(done.games), done.unfinished, done.unplayed) == (6, 2, 0)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "no game"),
        ("\n# nothing\n", 1, "no game"),
        ("white,black\nA,B\n", 1, "no column says the result"),
        ("white,white,black,result\nA,B,C,1-0\n", 1, "two columns 'white'"),
        ("white,black,result\nA,B,1-0\n\nA,B,1-1\n", 4, "'1-1' is no result"),
        ("white,black,result\nA,B,\n", 2, "the result is missing"),
        ("white,black,result\nA,B\n", 2, "fewer"),
        ("white,black,result\nA,,1-0\n", 2, "no name"),
        ("white,black,result\nA, A,1-0\n", 2, "itself"),
        ('white,black,result\nA,"B\nC",1-0\n', 2, "inside a name"),
        ('white,black,result\nA,"B,1-0\n', 2, "end of data"),
        ("black,white,result\nA,B,1\n", 2, "whose points"),
        ("first,second,result\nA,B,B+R\n", 2, "names a color"),
        ("winner,loser,result\nA,B,0-1\n", 2, "the winner lost"),
        ("A B\nA\n", 2, "one word only"),
        ("A B C D\n", 1, "4 words"),
        ('A "B\n', 1, "a quote is not closed"),
        ('A B\n{"games": []}\n', 2, "is no result|itself|one word|words"),
        (f"A beat B\n{'x' * 201} beat A\n", 2, "more than 200"),
        (PGN + '\n[White "A"]\n[Black "C"]\n\n1. e4 1-0\n', 17, "the result is missing"),
        (PGN + '\n1. e4\n\n[Black "C"]\n[Result "1-0"]\n', 19, "no name"),
    ],
)
def test_refusals_name_the_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(Misread, match=problem) as refusal:
        read(text)
    assert refusal.value.line == line


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("1-0", Said(1.0, Whose.ORDER)),
        (" 0:1 ", Said(0.0, Whose.ORDER)),
        ("1.0 - 0.0", Said(1.0, Whose.ORDER)),
        ("0,5-0,5", Said(0.5, Whose.BOTH)),
        ("1", Said(1.0, Whose.ALONE)),
        ("0.0", Said(0.0, Whose.ALONE)),
        (".5", Said(0.5, Whose.BOTH)),
        ("Jigo", Said(0.5, Whose.BOTH)),
        ("B+Resign", Said(0.0, Whose.WHITE)),
        ("White wins", Said(1.0, Whose.WHITE)),
        ("No result", Said(0.5, Whose.NOBODY)),
        ("Abort", Said(0.5, Whose.NOBODY)),
        ("0-0", Said(0.0, Whose.UNPLAYED)),
        ("0 - ½", Said(0.0, Whose.UNPLAYED)),
        ("1-0F", Said(0.0, Whose.UNPLAYED)),
        ("0F-1", Said(0.0, Whose.UNPLAYED)),
        ("0F-0F", Said(0.0, Whose.UNPLAYED)),
        ("+/-", Said(0.0, Whose.UNPLAYED)),
        ("-:+", Said(0.0, Whose.UNPLAYED)),
        ("\N{MINUS SIGN}/\N{MINUS SIGN}", Said(0.0, Whose.UNPLAYED)),
        ("F", None),
        ("1-F", None),
        ("+", None),
        ("1-", None),
        ("-", None),
        ("2-0", None),
        ("brown", None),
        ("٠-١", None),
    ],
)
def test_words_of_results(word: str, meaning: Said | None) -> None:
    assert said(word) == meaning


PIECES = st.lists(
    st.sampled_from(
        [
            "A",
            "B",
            "white",
            "black",
            "winner",
            "loser",
            "result",
            ",",
            ";",
            "1-0",
            "0.5",
            "*",
            "beat",
            "lost",
            "B+R",
            "#",
            "[White",
            "[Black",
            "[Result",
            '"',
            '"]',
            '"A"]',
            '"1-0"]',
            "\\",
            " ",
            "\n",
            "\t",
            "\x00",
            "\x85",
        ]
    )
)


@given(st.one_of(st.text(), PIECES.map("".join)))
def test_never_anything_but_games_or_a_refusal(text: str) -> None:
    try:
        done = read(text)
    except Refused:
        return
    assert done.games or done.unfinished
    for each in done.games:
        assert each.first
        assert each.second
        assert each.first != each.second
        assert each.score in (0.0, 0.5, 1.0)


NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=8
).filter(lambda name: name == name.strip() and '"' not in name and "#" not in name and "\ufeff" not in name)


@given(st.lists(st.tuples(NAMES, NAMES, st.sampled_from(["1-0", "0-1", "1/2-1/2"])), min_size=1))
def test_a_table_and_pgn_say_the_same(games: list[tuple[str, str, str]]) -> None:
    games = [one for one in games if one[0] != one[1]]
    if not games:
        return
    table = "white,black,result\n" + "".join(f'"{white}","{black}",{result}\n' for white, black, result in games)
    escaped = [(white.replace("\\", "\\\\"), black.replace("\\", "\\\\"), result) for white, black, result in games]
    pgn = "".join(
        f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n\n1. e4\n\n' for white, black, result in escaped
    )
    assert read_games(table, first="white") == read_games(pgn)


def test_many_games_are_read_in_about_a_second() -> None:
    text = "black,white,result\n" + "".join(f"A{at % 37},B{at % 41},B+{at % 7}.5\n" for at in range(100_000))
    begun = time.process_time()
    assert len(read_games(text)) == 100_000
    assert time.process_time() - begun < 5.0  # a fault is a hundred times slower, a busy machine is not
