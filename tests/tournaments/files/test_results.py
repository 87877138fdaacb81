"""Lists of results: lines, tables, headers of PGN."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import Refused
from cgos_protocol.lines.misread import Misread
from cgos_server.tournaments.files.results import Reported, read

LINES = """\
# of the first round
Alder "Birch A" 1-0
O'Elm#1 4 -/+

7 1/2-1/2
"""
TABLE = "Round;White;Black;Result\n1;Alder;Birch A;1-0\n;3;4;void\n"
IDS = 'game,result,white\n7,0-1,\n8,1-0,"Elm, E."\n'
PGN = """\
[Event "Open \\"A\\""]
[Round "2.1"]
[White "Alder"]
[Black "Birch A"]
[Result "1-0"]

1. e4 e5 {[%clk 1:00]
[%clk 0:59]} 1-0

[Event "Open"]
[Round "?"]
[White "Cedar"]
[Black "Elm"]
[Result "*"]

[Event "Open"]
[GameId "9"]
[Result "1/2-1/2"]
"""


def test_lines() -> None:
    assert read(LINES.encode()) == [
        Reported(2, "1-0", black="Birch A", white="Alder"),
        Reported(3, "-/+", black="4", white="O'Elm#1"),
        Reported(5, "1/2-1/2", id=7),
    ]


def test_tables() -> None:
    assert read(TABLE.encode()) == [
        Reported(2, "1-0", black="Birch A", white="Alder", round=1),
        Reported(3, "void", black="4", white="3"),
    ]
    assert read(b"\xef\xbb\xbf" + IDS.encode()) == [
        Reported(2, "0-1", id=7),
        Reported(3, "1-0", id=8, white="Elm, E."),
    ]


def test_headers_of_pgn() -> None:
    assert read(PGN.encode()) == [
        Reported(1, "1-0", black="Birch A", white="Alder", round=2),
        Reported(16, "1/2-1/2", id=9),
    ]


@pytest.mark.parametrize(("word", "score"), [("1-0F", "+/-"), ("0-1F", "-/+"), ("0F-0F", "-/-"), ("+/-", "+/-")])
def test_forfeits_in_pgn(word: str, score: str) -> None:
    (reported,) = read(f'[White "A"]\n[Black "B"]\n[Result "{word}"]\n'.encode())
    assert reported.score == score


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "there is no result"),
        ("Alder Birch 1-0\nAlder 1-0 0-1 x\n", 2, "there are 4 words"),
        ('Alder "Birch 1-0\n', 1, "a quote is not closed"),
        ("x 1-0\n", 1, "'x' is no id of a game"),
        ("name,result\nA,1-0\n", 1, "no columns name the game"),
        ("white,black,result\nA,,1-0\n", 2, "no game is named"),
        ("white,black,result\nA,B,\n", 2, "the result is missing"),
        ("white,black,result,round\nA,B,1-0,x\n", 2, "'x' is no number of a round"),
        ('white,black,result\n"A,B,1-0\n', 2, "Mend the quotes"),
        ('[White "A"]\n[Result "1-0"]\n', 1, "no game is named"),
    ],
)
def test_lists_that_cannot_be_are_refused_with_their_line(text: str, line: int, says: str) -> None:
    with pytest.raises(Misread, match=says) as refused:
        read(text.encode())
    assert refused.value.line == line


@given(st.binary() | st.text().map(str.encode))
def test_bytes_of_any_kind_are_read_or_refused(data: bytes) -> None:
    sentence = "read."
    try:
        assert read(data)
    except Refused as refused:
        sentence = refused.sentence
    assert sentence.endswith(".")
