"""Spelling of points and passes: what engines send, what the server writes, what SGF wants."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sgfmill import common

from cgos_protocol.games.base import Ruleset
from cgos_protocol.games.go_board import PASS
from cgos_protocol.games.go_rules import Go
from cgos_protocol.games.notation import COLUMNS, from_sgf, normal, to_sgf, vertex

SIZES = range(2, 26)


def test_columns_are_the_alphabet_without_i() -> None:
    assert "ABCDEFGHIJKLMNOPQRSTUVWXYZ".replace("I", "") == COLUMNS


@pytest.mark.parametrize(
    ("size", "text", "written"),
    [
        (19, "D4", "D4"),
        (19, "d4", "D4"),
        (19, " \tq16\r\n", "Q16"),
        (9, "j9", "J9"),
        (25, "Z25", "Z25"),
        (9, "pass", "PASS"),
        (9, "PASS", "PASS"),
        (9, "Pass", "PASS"),
        (9, "pa", "PASS"),
        (9, "  paSSed ", "PASS"),
        (9, "PA9", "PASS"),
    ],
)
def test_a_move_in_any_accepted_spelling_has_one_normal_form(size: int, text: str, written: str) -> None:
    position = Go().new(Ruleset(size=size))
    move = position.read(text)
    assert move is not None
    assert position.write(move) == written


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "I5", "i5", "K1", "A0", "A10", "A", "5", "5A", "A-1", "A+1", "A01", "A1.", "A 1", "A1 B2", "AA1"),
        *("resign", "p", "pq", "P4SS", "pass now", "\x00", "a1\x00", "\ud800"),
        *("a\u0661", "\u04101", "\uff21\uff11", "\u00e41"),
    ],
)
def test_anything_else_is_no_move(text: str) -> None:
    assert Go().new(Ruleset(size=9)).read(text) is None


def test_letters_that_only_upper_case_makes_latin_name_no_point() -> None:
    assert "\u017f".upper() == "S"
    assert Go().new(Ruleset(size=19)).read("\u017f4") is None


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")) | st.from_regex(r"\s*[a-zA-Z]\d{1,3}\s*"))
def test_no_text_makes_reading_raise(text: str) -> None:
    position = Go().new(Ruleset(size=13))
    move = position.read(text)
    if move is not None:
        assert move == PASS or text.strip().upper() == position.write(move)
        assert position.read(position.write(move)) == move


@pytest.mark.parametrize("size", SIZES)
def test_every_vertex_reads_back_and_agrees_with_a_second_reader(size: int) -> None:
    position = Go().new(Ruleset(size=size))
    moves = set()
    for column in range(size):
        for row in range(size):
            name = vertex(column, row)
            assert common.move_from_vertex(name, size) == (row, column)
            move = position.read(name.lower())
            assert move is not None
            assert position.write(move) == name
            moves.add(move)
    assert len(moves) == size * size


@pytest.mark.parametrize("size", SIZES)
def test_sgf_points_count_columns_from_the_left_and_rows_from_the_top(size: int) -> None:
    for column, across in enumerate(string.ascii_lowercase[:size]):
        for row, down in zip(range(size - 1, -1, -1), string.ascii_lowercase, strict=False):
            assert to_sgf(vertex(column, row), size) == across + down
            assert from_sgf(across + down, size) == vertex(column, row)


def test_sgf_points_of_known_places() -> None:
    assert to_sgf("d4", 19) == "dp"
    assert to_sgf("A25", 25) == "aa"
    assert to_sgf("Z1", 25) == "yy"
    assert from_sgf("ay", 25) == "A1"
    assert from_sgf("ia", 9) == "J9"


def test_passes_in_sgf() -> None:
    assert to_sgf("Pass", 9) == ""
    assert from_sgf("", 25) == "PASS"
    assert from_sgf("tt", 19) == "PASS"
    assert from_sgf("tt", 21) == "U2"


@pytest.mark.parametrize("text", ["", "I5", "K1", "A10", "A0", "A01", "resign", "A1 B1"])
def test_no_sgf_point_for_what_is_no_vertex(text: str) -> None:
    with pytest.raises(ValueError, match="not a point of a board of size 9"):
        to_sgf(text, 9)


@pytest.mark.parametrize("point", ["a", "aaa", "AA", "ja", "aj", "tt ", "{a", "`a"])
def test_no_vertex_for_what_is_no_sgf_point(point: str) -> None:
    with pytest.raises(ValueError, match="not an SGF point of a board of size 9"):
        from_sgf(point, 9)


def test_normal_form_is_one_word_or_nothing() -> None:
    assert normal(" d4 ") == "D4"
    assert normal("d4 e5") is None
    assert normal("") is None
