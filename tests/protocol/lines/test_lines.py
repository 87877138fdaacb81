"""What the server says: exact words, and nothing that stops a client of the field, whatever text goes in."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.games.base import Color
from cgos_protocol.lines.player import CgosPlayer, State
from cgos_protocol.session import GameSetup

At = Callable[[State], CgosPlayer]
Heard = Callable[[bytes], list[str]]

_TEXT = st.one_of(
    st.text(max_size=60),
    st.text('{}[]"\\$; \t\n\r\0abc\u00e9\ud800', max_size=30),
    st.text("x", min_size=490, max_size=700),
)
_MS = st.integers(-(10**6), 10**12)
_COLOR = st.sampled_from(Color)


def test_greeting_and_prompts() -> None:
    player = CgosPlayer()
    assert player.greeting() == b"protocol genmove_analyze\n"
    assert player.receive(b"e1 x") == (b"username\n",)
    assert player.receive(b"Alice") == (b"password\n",)


def test_setup_has_white_first_and_komi_as_a_float(at: At) -> None:
    player = at(State.WAITING)
    setup = GameSetup(42, 19, 15, 900_000, "Blacky", "1800?", "Whitey", "2150")
    assert player.setup(setup) == b"setup 42 19 7.5 900000 Whitey(2150) Blacky(1800?)\n"
    assert player.state is State.OK


@pytest.mark.parametrize(
    ("komi2", "komi"),
    [(14, "7.0"), (15, "7.5"), (0, "0.0"), (-1, "-0.5"), (-7, "-3.5"), (-14, "-7.0"), (1001, "500.5")],
)
def test_komi(komi2: int, komi: str, at: At) -> None:
    line = at(State.WAITING).setup(GameSetup(1, 9, komi2, 1000, "Bob", "1", "Wim", "2")).decode()
    assert line.split()[3] == komi


def test_setup_in_mid_game_carries_moves_and_times(at: At) -> None:
    moves = (("E5", 58_983), ("PASS", -3))
    line = at(State.WAITING).setup(GameSetup(28, 9, 14, 60_000, "Pim", "1", "Quo", "2", moves))
    assert line == b"setup 28 9 7.0 60000 Quo(2) Pim(1) E5 58983 PASS 0\n"


def test_a_move_and_the_next_one_go_out_together(at: At) -> None:
    player = at(State.OK)
    assert player.played(Color.BLACK, "E5", 59_000, 60_000) == b"play b E5 59000\ngenmove w 60000\n"
    assert player.state is State.GENMOVE
    assert player.played(Color.WHITE, "PASS", -5, None) == b"play w PASS 0\n"
    assert player.state is State.OK
    assert player.played(Color.WHITE, "A1", 0, -1) == b"play w A1 0\ngenmove b 0\n"
    assert player.genmove(Color.WHITE, -1) == b"genmove w 0\n"


@pytest.mark.parametrize("result", ["B+3.5", "W+28.0", "B+Resign", "W+Time", "B+Illegal", "W+Forfeit", "Draw", "Abort"])
def test_results_that_clients_know_pass_unchanged(result: str, at: At) -> None:
    line = at(State.OK).game_over("2026-11-21", result, "")
    assert line == f"gameover 2026-11-21 {result} \n".encode()


@pytest.mark.parametrize("result", ["Void", "", "Drawn", "Abort!", "B+", "B+3.5 or so", "draw", "b+3.5", "?"])
def test_other_results_are_an_abort(result: str, at: At, heard: Heard) -> None:
    (line,) = heard(at(State.OK).game_over("2026-11-21", result, "why"))
    assert re.fullmatch(r"gameover 2026-11-21 Abort .*: the game does not count. why", line)


def test_a_void_game_is_an_abort_in_words_that_clients_know(at: At) -> None:
    line = at(State.OK).game_over("2026-11-21", "Void", "The server was away too long.")
    assert line == b"gameover 2026-11-21 Abort Void: the game does not count. The server was away too long.\n"


def test_text_of_a_game_over(at: At) -> None:
    line = at(State.OK).game_over("2026-11-21", "W+Illegal", 'do not understand: {a [b "c \\ $d; \u00e9\n')
    assert line == b"gameover 2026-11-21 W+Illegal do not understand: (a (b 'c / ?d, ?\n"


def test_nothing_is_said_where_no_text_is_left(at: At) -> None:
    player = at(State.WAITING)
    assert player.info(" \r\n\t") == b""
    assert player.refused("\n") == b"Error: The server closes this connection.\n"
    assert player.state is State.CLOSED


@given(_TEXT, _TEXT)
def test_any_sentence_is_one_harmless_line(at: At, heard: Heard, info: str, error: str) -> None:
    player = at(State.WAITING)
    assert len(heard(player.info(info))) <= 1
    (line,) = heard(player.refused(error))
    assert line.startswith("Error: ")


@given(st.lists(st.tuples(_TEXT, _MS), max_size=6), _TEXT, _TEXT, st.integers(-400, 400), _MS)
def test_any_setup_has_its_words(
    at: At, heard: Heard, moves: list[tuple[str, int]], name: str, label: str, komi2: int, level: int
) -> None:
    # Names and labels of our own making are checked elsewhere; here it is the number of words that must hold.
    player = at(State.WAITING)
    setup = GameSetup(1, 9, komi2, level, "Alice", "1800?", "Bob", "1750", tuple(moves))
    (line,) = heard(player.setup(setup))
    assert len(line.split()) == 7 + 2 * len(moves)
    hostile = player.setup(setup._replace(black=name, white_label=label)).decode()
    assert re.fullmatch(r"setup( [^\s()]+){4}( [^\s()]+\([^\s()]+\)){2}( [^\s()]+ \d+)*\n", hostile)


@given(_TEXT, _COLOR, _MS, st.one_of(st.none(), _MS))
def test_any_move_is_relayed_in_exactly_four_words(
    at: At, heard: Heard, move: str, color: Color, left: int, then: int | None
) -> None:
    lines = heard(at(State.OK).played(color, move, left, then))
    assert lines[0].split()[:2] == ["play", color.letter]
    assert lines[0].split()[3] == str(max(0, left))
    assert lines[1:] == ([] if then is None else [f"genmove {color.other.letter} {max(0, then)}"])


@given(_TEXT, _TEXT)
def test_any_game_over_has_a_result_that_clients_know(at: At, heard: Heard, result: str, detail: str) -> None:
    (line,) = heard(at(State.OK).game_over("2026-11-21", result, detail))
    assert line.split()[2] == "Abort" or result.startswith(("B+", "W+", "Draw"))


@given(_TEXT)
def test_a_hostile_date_is_still_one_word(at: At, date: str) -> None:
    line = at(State.OK).game_over(date, "Draw", "")
    assert re.fullmatch(rb"gameover [!-~]+ Draw \n", line)


# The doubles themselves: a double that lets everything pass proves nothing.


@given(st.text('{}"\\ \tab[]$;', max_size=14))
def test_the_tcl_double_agrees_with_tcl(
    tcl: Callable[[str], list[str]], client_stops: type[Exception], text: str
) -> None:
    tkinter = pytest.importorskip("tkinter")
    interpreter = tkinter.Tcl().tk
    try:
        expected: int | None = len(interpreter.splitlist(text))
    except tkinter.TclError:
        expected = None
    try:
        length: int | None = len(tcl(text))
    except client_stops:
        length = None
    assert length == expected


@pytest.mark.parametrize(
    "line",
    [
        "\n",
        " info x\n",
        "ok\n",
        "gameover 2026-11-21 Draw {oops\n",
        'gameover 2026-11-21 Draw "oops\n',
        "gameover 2026-11-21 Draw\n",
        "gameover 2026-11-21 Void \n",
        "play b D4\n",
        "play b D4 1 2\n",
        "play x D4 1\n",
        "play b D4 1.5\n",
        "genmove b\n",
        "genmove b -1\n",
        "genmove b 1 1\n",
        "setup 1 9 7.0 60000 bob(1800)\n",
        "setup 1 9 7.0 60000 bob(1800) alice(1800) D4\n",
        "setup 1 9 7 60000 bob(1800) alice(1800)\n",
        "setup 1 9 7.0 60000 bob alice\n",
        "username now\n",
        "info hello",
        "info a\x07b\n",
    ],
)
def test_the_doubles_refuse(line: str, heard: Heard) -> None:
    with pytest.raises((AssertionError, ValueError, IndexError)):
        heard(line.encode())
