"""What a server's lines mean."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_client.playing.lines_messages import (
    BadLine,
    GameEnded,
    Greeting,
    Info,
    Message,
    MoveWanted,
    NameWanted,
    Other,
    PasswordWanted,
    Played,
    Refusal,
    parse,
)
from cgos_protocol.games.base import Color
from cgos_protocol.session import GameSetup


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("protocol genmove_analyze", Greeting(True)),
        ("protocol", Greeting(False)),
        ("username", NameWanted()),
        ("password", PasswordWanted()),
        ("Error: Sorry, password doesn't match", Refusal("Sorry, password doesn't match")),
        ("info  Games in progress: 0", Info("Games in progress: 0")),
        ("play b pass 59941", Played(Color.BLACK, "PASS", 59941)),
        ("play W e5 -3", Played(Color.WHITE, "E5", 0)),
        ("genmove w 56357", MoveWanted(Color.WHITE, 56357)),
        ("gameover 2026-11-21 W+10.0", GameEnded("2026-11-21", "W+10.0", "")),
        ("gameover 2026-11-21 W+Illegal a  b", GameEnded("2026-11-21", "W+Illegal", "a b")),
        ("who are you", Other("who are you")),
    ],
)
def test_lines(line, message):
    assert parse(line) == message


def test_setup_of_a_resumed_game():
    """White stands first; blanks may be doubled."""
    line = "setup 17 9 7.0 60000 PyGnu-L2(1800?) TclGnu-L1(-5)  G5 60000 d4 59000"
    assert parse(line) == GameSetup(
        game=17,
        size=9,
        komi2=14,
        level_ms=60000,
        black="TclGnu-L1",
        black_label="-5",
        white="PyGnu-L2",
        white_label="1800?",
        moves=(("G5", 60000), ("D4", 59000)),
    )


def test_half_komi_and_names_without_a_rating():
    setup = parse("setup 0 19 -6.5 900000 Alice Carol")
    assert (setup.komi2, setup.white, setup.white_label, setup.black) == (-13, "Alice", "", "Carol")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("play b D4", "a color, a move and a time"),
        ("play x D4 1", "not a color"),
        ("play b D4 1.5", "not a whole number"),
        ("genmove b", "a color and a time"),
        ("gameover 2026-11-21", "a date and a result"),
        ("setup 1 9 7.0 60000 A(1) B(2) D4", "pairs of move and time"),
        ("setup 1 26 7.0 60000 A(1) B(2)", "board of size 26"),
        ("setup 1 9 nan 60000 A(1) B(2)", "not a komi"),
        ("setup 1 9 seven 60000 A(1) B(2)", "not a komi"),
    ],
)
def test_bad_lines(line, words):
    with pytest.raises(BadLine, match=words):
        parse(line)


@given(
    st.sampled_from(["setup", "play", "genmove", "gameover", "info", "Error:", "protocol", ""]),
    st.lists(st.one_of(st.integers().map(str), st.sampled_from(["b", "D4", "A(1)", "inf"]), st.text(max_size=5))),
)
def test_any_line_is_a_message_or_a_bad_line(word, rest):
    line = " ".join([word, *rest]).strip()
    with contextlib.suppress(BadLine):
        assert isinstance(parse(line), Message)
