"""Counts as text, and games put together in pairs."""

from __future__ import annotations

import pytest

from cgos_protocol.errors import Refused
from cgos_server.tournaments.files.games_list import read_games
from cgos_server.tournaments.files.pairs_list import Results, counts_in, results_of


def counted(text: str, newer: str | None = "B", older: str | None = None, single: bool = False) -> Results:
    return results_of(read_games(text), newer, older, single=single)[2]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("379 10170 21828 10640 343\n", (379, 10170, 21828, 10640, 343)),
        ("Ptnml(0-2): 1, 2, 3, 4, 5", (1, 2, 3, 4, 5)),
        ("Penta | [5, 942, 2469, 1050, 5]", (5, 942, 2469, 1050, 5)),
        ("# of my engine\n3;4;5\n", (3, 4, 5)),
        ("Ptnml(0-2): [30, 6, 18, 0, 6], WL/DD Ratio: 2.00", (30, 6, 18, 0, 6)),
        ("Ptnml(0-2): [0, 1, 4, 0, 0], WL/DD Ratio: inf", (0, 1, 4, 0, 0)),
        ("LOS: 0.00 %\nGames: 120, Wins: 30\n  Ptnml(0-2): [30, 6, 18, 0, 6], WL/DD\nLLR: 1 (2, 3)", (30, 6, 18, 0, 6)),
        ("Elo   | 1.42 +- 1.13 (95%)\r\nGames | N: 110672\r\nPenta | [846, 1, 2, 3, 878]\r\n", (846, 1, 2, 3, 878)),
        ("Elo   | 1.42\nPtnml(0-2): 1, 2, 3, 4, 5\n", (1, 2, 3, 4, 5)),
        ("Elo   | 1.42\nPairs | [1, 2]\n", None),
        ("1 2", None),
        ("1 2 3 4", None),
        ("Alder Birch 1-0", None),
        ("black,white,result\nA,B,1-0", None),
        ("", None),
        (f"1 2 {'9' * 40}", None),
    ],
)
def test_counts_alone_are_recognized(text: str, counts: tuple[int, ...] | None) -> None:
    assert counts_in(text) == counts


def test_two_lines_of_counts_are_refused() -> None:
    with pytest.raises(Refused, match="2 lines have counts of pairs"):
        counts_in("Ptnml(0-2): [1, 2, 3, 4, 5], x\nPtnml(0-2): [2, 3, 4, 5, 6], x\n")


def test_games_of_one_opening_are_a_pair_wherever_they_stand() -> None:
    text = """black,white,result,opening
A,B,W+R,one
A,B,B+R,two
B,A,B+R,one
B,A,draw,two
A,B,B+R,three
"""
    results = counted(text)
    assert results == Results(cells=(4, 1), games=((2, 0, 0), (0, 1, 1)), kinds=5, left_out=1)


def test_the_same_colors_are_no_pair() -> None:
    text = "black,white,result,opening\nA,B,W+R,one\nA,B,B+R,one\nB,A,B+R,one\n"
    assert counted(text) == Results(cells=(4,), games=((2, 0, 0),), kinds=5, left_out=1)


def test_without_openings_those_that_follow_one_another_are_a_pair() -> None:
    text = "black,white,result\nA,B,W+R\nA,B,B+R\nB,A,W+R\nB,A,B+R\n"
    assert counted(text) == Results(cells=(0,), games=((0, 0, 2),), kinds=5, left_out=2)


def test_rounds_that_number_the_games_do_not_tear_pairs_apart() -> None:
    text = "black,white,result,round\n" + "".join(
        f"{'A,B' if each % 2 else 'B,A'},B+R,{each}\n" for each in range(1, 7)
    )
    assert counted(text).cells == (2, 2, 2)


def test_pgn_is_paired_by_its_rounds() -> None:
    games = [("A", "B", "0-1", 1), ("B", "A", "1-0", 1), ("A", "B", "1/2-1/2", 2), ("B", "A", "0-1", 2)]
    text = "\n".join(
        f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n[Round "{number}"]\n\n1. e4 {result}\n'
        for white, black, result, number in games
    )
    assert counted(text) == Results(cells=(4, 1), games=((2, 0, 0), (0, 1, 1)), kinds=5)


def test_single_games_need_no_colors() -> None:
    text = "A beat B\nB beat A\nB beat A\nA drew with B\n"
    results = counted(text, single=True)
    assert (results.cells, results.kinds) == ((0, 2, 2, 1), 3)
    with pytest.raises(Refused, match="--single"):
        counted(text)


@pytest.mark.parametrize(
    ("newer", "older", "words"),
    [
        (None, None, "Say it with --of: A or B or C"),
        ("B", None, "games of 3 players"),
        ("Bb", None, "Did you mean B"),
        ("B", "B", "itself"),
        ("C", "B", "no game with a result against each other"),
    ],
)
def test_unclear_names_are_refused(newer: str | None, older: str | None, words: str) -> None:
    text = "black,white,result\nA,B,B+R\nB,A,B+R\nA,C,B+R\n"
    with pytest.raises(Refused, match=words):
        counted(text, newer, older)
    assert counted(text, "B", "A").cells == (2,)
