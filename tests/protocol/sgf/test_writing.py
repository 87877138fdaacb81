"""SGF files: sgfmill reads back what was written."""

from __future__ import annotations

import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.clock import ClockState, TimeControl, TimeSystem
from cgos_protocol.games.base import Color, Ko, Ruleset, Start
from cgos_protocol.sgf.writing import GameRecord, RecordedMove, write

with warnings.catch_warnings():
    # Compiled for the first time, sgfmill 1.1.1 warns of escape sequences in its own docstrings.
    warnings.simplefilter("ignore")
    from sgfmill import sgf, sgf_moves

_COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
_TEN_MINUTES = TimeControl(system=TimeSystem.ABSOLUTE, main=600_000_000)
_RECORD = GameRecord(
    game=4711,
    black="GnuGo-L1",
    black_label="1800?",
    white="Alice",
    white_label="2150",
    rules=Ruleset(size=9, komi2=14),
    time=_TEN_MINUTES,
    date="2026-11-21",
    result="B+3.5",
    ending="",
    place="a server",
    program="cgos-server:0.1.0",
    event="9x9",
    moves=(),
)


def _moves(*vertices: str) -> tuple[RecordedMove, ...]:
    return tuple(RecordedMove(Color(ply % 2), vertex) for ply, vertex in enumerate(vertices))


def _read(record: GameRecord) -> sgf.Sgf_game:
    return sgf.Sgf_game.from_bytes(write(record).encode("utf-8"))


def _points(game: sgf.Sgf_game) -> list[tuple[str, tuple[int, int] | None]]:
    return [node.get_move() for node in game.get_main_sequence()[1:] if node.get_move()[0] is not None]


def test_the_whole_file() -> None:
    record = _RECORD._replace(
        moves=(
            RecordedMove(Color.BLACK, "E5", ClockState(599_500_000)),
            RecordedMove(Color.WHITE, "PASS", ClockState(600_000_000), '{"winrate":0.5,"comment":"a [good] one"}'),
        ),
        ending="Two passes.",
    )
    assert write(record) == (
        "(;GM[1]FF[4]CA[UTF-8]AP[cgos-server:0.1.0]RU[Chinese]SZ[9]KM[7.0]TM[600]PW[Alice]PB[GnuGo-L1]WR[2150]BR[1800?]"
        "DT[2026-11-21]PC[a server]EV[9x9]GN[4711]RE[B+3.5]\n"
        ';B[ee]BL[599.5];W[]WL[600]CC[{"winrate":0.5,"comment":"a [good\\] one"}]C[a [good\\] one]\n'
        ";C[Two passes.])\n"
    )


def test_sgfmill_reads_the_root() -> None:
    game = _read(_RECORD)
    root = game.get_root()
    assert (game.get_size(), game.get_komi()) == (9, 7.0)
    assert (game.get_player_name("b"), game.get_player_name("w")) == ("GnuGo-L1", "Alice")
    assert game.get_winner() == "b"
    assert root.get("BR") == "1800?"
    assert root.get("TM") == 600.0
    assert root.get("DT") == "2026-11-21"
    assert root.get("FF") == 4


def test_a_game_of_an_event_says_so() -> None:
    root = _read(_RECORD._replace(event="Autumn", round="3")).get_root()
    assert (root.get("EV"), root.get("RO")) == ("Autumn", "3")


@pytest.mark.parametrize("size", [2, 9, 19, 20, 25])
def test_every_point_is_where_it_was(size: int) -> None:
    vertices = [(row, column) for row in range(size) for column in range(size)]
    record = _RECORD._replace(
        rules=Ruleset(size=size), moves=_moves(*(f"{_COLUMNS[column]}{row + 1}" for row, column in vertices))
    )
    assert [point for _, point in _points(_read(record))] == vertices


@given(st.lists(st.one_of(st.just("PASS"), st.sampled_from([f"{c}{r}" for c in _COLUMNS[:13] for r in range(1, 14)]))))
def test_a_game_replays_to_the_same_moves(vertices: list[str]) -> None:
    moves = _moves(*vertices)
    read = _points(_read(_RECORD._replace(rules=Ruleset(size=13), moves=moves)))
    assert read == [
        (
            move.color.letter,
            None if move.vertex == "PASS" else (int(move.vertex[1:]) - 1, _COLUMNS.index(move.vertex[0])),
        )
        for move in moves
    ]


def test_set_up_stones() -> None:
    start = Start(black=("A1", "J9"), white=("E5",), to_play=Color.WHITE)
    game = _read(_RECORD._replace(start=start, moves=(RecordedMove(Color.WHITE, "C3"),)))
    board, plays = sgf_moves.get_setup_and_moves(game)
    stones = {(row, column): color for color, (row, column) in board.list_occupied_points()}
    assert stones == {(0, 0): "b", (8, 8): "b", (4, 4): "w"}
    assert plays == [("w", (2, 2))]
    assert game.get_root().get("PL") == "w"


def test_a_vertex_off_the_board_is_an_error() -> None:
    for vertex in ("K10", "I5", "resign", ""):
        with pytest.raises(ValueError, match="board"):
            write(_RECORD._replace(moves=_moves(vertex)))


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40),
    st.sampled_from(["", "\n", "\r\n", "\\\n", "]\n\\"]),
)
def test_any_text_comes_back(text: str, ending: str) -> None:
    text = text + ending + text
    game = _read(_RECORD._replace(ending=text + ".", place=text + ".", moves=_moves("E5")))
    assert game.get_last_node().get("C") == text.replace("\r\n", "\n") + "."
    assert game.get_root().get("PC") == text.replace("\r\n", "\n").replace("\n", " ") + "."


@given(st.one_of(st.text(max_size=40), st.text("\ud800\\]\n\r\0", max_size=8)))
def test_no_text_breaks_the_file(text: str) -> None:
    record = _RECORD._replace(
        ending=text, place=text, event=text, result=text, moves=(RecordedMove(Color.BLACK, "E5", None, text),)
    )
    game = _read(record)
    assert _points(game) == [("b", (4, 4))]
    assert len(game.get_main_sequence()) == (3 if text else 2)


_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(st.characters(exclude_categories=["Cs"]), max_size=12)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text('a\\]:["', max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(_JSON)
def test_analysis_comes_back(value: object) -> None:
    text = json.dumps(value)
    node = _read(_RECORD._replace(moves=(RecordedMove(Color.BLACK, "E5", None, text),))).get_last_node()
    assert json.loads(node.get("CC")) == value
    assert not node.has_property("C")


@pytest.mark.parametrize(
    "analysis", ["[1]", "1", '{"comment":1}', '{"comment":null}', '{"comment":""}', "{", "", '{"x":1e999}']
)
def test_only_a_comment_that_is_text_is_a_comment(analysis: str) -> None:
    node = _read(_RECORD._replace(moves=(RecordedMove(Color.BLACK, "E5", None, analysis),))).get_last_node()
    assert not node.has_property("C")


@pytest.mark.parametrize(
    ("result", "written"),
    [
        ("B+3.5", "B+3.5"),
        ("W+28.0", "W+28.0"),
        ("W+Resign", "W+Resign"),
        ("B+Time", "B+Time"),
        ("W+Forfeit", "W+Forfeit"),
        ("B+Illegal", "B+Forfeit"),
        ("Draw", "Draw"),
        ("Void", "Void"),
        ("Abort", "Void"),
        ("", "?"),
    ],
)
def test_results_are_those_of_the_format(result: str, written: str) -> None:
    assert _read(_RECORD._replace(result=result)).get_root().get("RE") == written


@pytest.mark.parametrize(
    ("control", "limits", "clock", "left"),
    [
        (_TEN_MINUTES, "TM[600]", ClockState(1_234_999), "BL[1.234]"),
        (_TEN_MINUTES, "TM[600]", ClockState(0), "BL[0]"),
        (
            TimeControl(system=TimeSystem.FISCHER, main=300_000_000, increment=2_500_000),
            "TM[300]OT[2.5 fischer]",
            ClockState(302_500_000),
            "BL[302.5]",
        ),
        (
            TimeControl(system=TimeSystem.BYOYOMI, main=60_000_000, period=30_000_000, periods=5),
            "TM[60]OT[5x30 byo-yomi]",
            ClockState(10_000_000, 0, 5),
            "BL[10]",
        ),
        (
            TimeControl(system=TimeSystem.BYOYOMI, main=60_000_000, period=30_000_000, periods=5),
            "TM[60]OT[5x30 byo-yomi]",
            ClockState(0, 0, 3),
            "BL[30]OB[3]",
        ),
        (
            TimeControl(system=TimeSystem.CANADIAN, main=60_000_000, period=300_000_000, stones=15),
            "TM[60]OT[15/300 Canadian]",
            ClockState(0, 120_000_000, 7),
            "BL[120]OB[7]",
        ),
        (TimeControl(system=TimeSystem.FIXED, period=5_000_000), "TM[0]OT[5 simple]", ClockState(0), "BL[5]"),
    ],
)
def test_clocks(control: TimeControl, limits: str, clock: ClockState, left: str) -> None:
    text = write(_RECORD._replace(time=control, moves=(RecordedMove(Color.BLACK, "E5", clock),)))
    assert f"KM[7.0]{limits}PW[" in text
    assert f";B[ee]{left})" in text
    white = write(_RECORD._replace(time=control, moves=(RecordedMove(Color.WHITE, "E5", clock),)))
    assert f";W[ee]{left.replace('BL', 'WL').replace('OB', 'OW')})" in white


@pytest.mark.parametrize("ko", Ko)
@pytest.mark.parametrize("suicide", [False, True])
def test_every_rule_set_has_a_name(ko: Ko, suicide: bool) -> None:
    root = _read(_RECORD._replace(rules=Ruleset(ko=ko, suicide=suicide, komi2=-7))).get_root()
    assert root.get("RU")
    assert root.get("KM") == -3.5
