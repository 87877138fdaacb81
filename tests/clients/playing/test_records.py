"""Every finished game becomes one whole SGF file, whatever happened on the way to it."""

from __future__ import annotations

import datetime
import json

import pytest
from sgfmill import sgf

from cgos_client.playing.events import GameOver, MoveAsked, MoveMade, Seated, to_all
from cgos_client.playing.records import Records, file_name
from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.games.base import Color
from cgos_protocol.session import GameSetup

B, W = Color.BLACK, Color.WHITE
SETUP = GameSetup(17, 9, 15, 60_000, "Alice", "1800?", "Bob", "1712", ())
OVER = GameOver(17, "2026-01-02", "B+Resign", "Resignation")
FILE = "2026-01-02-17-Alice-Bob.sgf"


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path / "games", "localhost:6809", lambda: datetime.date(2026, 3, 4))


def feed(records, *events):
    for event in events:
        records(event)


def read(tmp_path, name=FILE):
    return sgf.Sgf_game.from_bytes((tmp_path / "games" / name).read_bytes())


def properties(tmp_path, key, name=FILE):
    nodes = read(tmp_path, name).get_main_sequence()
    return [node.get(key) if node.has_property(key) else None for node in nodes]


@pytest.mark.parametrize(("opening", "told_so"), [("Two stones", b"ON[Two stones]"), ("", b"")])
def test_an_opening_is_named(records, tmp_path, opening, told_so):
    setup = SETUP._replace(moves=(("E5", 60_000), ("C3", 60_000)), opening=opening)
    feed(records, Seated(setup, B), MoveAsked(17, B, 60_000), MoveMade(17, B, "D4", None), OVER)
    text = (tmp_path / "games" / FILE).read_bytes()
    assert told_so in text
    assert (b"ON[" in text) is bool(opening)
    assert [node.get_move() for node in read(tmp_path).get_main_sequence()[1:4]] == [
        ("b", (4, 4)),
        ("w", (2, 2)),
        ("b", (3, 3)),
    ]


def test_a_game(records, tmp_path):
    feed(
        records,
        Seated(SETUP, B),
        MoveAsked(17, B, 60_000),
        MoveMade(17, B, "D4", None, '{"winrate":0.5,"comment":"quiet"}'),
        MoveMade(17, W, "E5", 58_500),
        MoveAsked(17, B, 59_000),
        MoveMade(17, B, "PASS", None),
        OVER,
    )
    game = read(tmp_path)
    root = game.get_root()
    assert (root.get("PB"), root.get("PW"), root.get("BR"), root.get("WR")) == ("Alice", "Bob", "1800?", "1712")
    assert (root.get("RE"), root.get("DT"), root.get("PC"), root.get("KM"), root.get("TM"), root.get("GN")) == (
        *("B+Resign", "2026-01-02", "localhost:6809", 7.5, 60.0, "17"),
    )
    sequence = game.get_main_sequence()[1:]
    assert [node.get_move() for node in sequence] == [("b", (3, 3)), ("w", (4, 4)), ("b", None), (None, None)]
    assert properties(tmp_path, "BL")[1:4] == [59.0, None, None]
    assert properties(tmp_path, "WL")[1:4] == [None, 58.5, None]
    assert json.loads(sequence[0].get("CC"))["winrate"] == 0.5
    assert sequence[-1].get("C") == "B+Resign (Resignation)"
    assert [path.name for path in (tmp_path / "games").iterdir()] == [FILE]


def test_a_game_that_was_resumed_keeps_what_the_engine_said(records, tmp_path):
    feed(
        records,
        Seated(SETUP, B),
        MoveMade(17, B, "D4", None, '{"visits":1}'),
        MoveMade(17, W, "E5", 58_500),
        MoveMade(17, B, "F6", None, '{"visits":2}'),  # was lost with the connection
        Seated(SETUP._replace(moves=(("D4", 59_000), ("E5", 58_500))), B),
        MoveAsked(17, B, 40_000),
        MoveMade(17, B, "G7", None),
        OVER,
    )
    assert properties(tmp_path, "CC")[1:4] == ['{"visits":1}', None, None]
    assert properties(tmp_path, "BL")[1:4] == [59.0, None, None]
    assert [node.get_move()[1] for node in read(tmp_path).get_main_sequence()[1:4]] == [(3, 3), (4, 4), (6, 6)]


def test_an_ending_told_twice_loses_nothing(records, tmp_path):
    feed(records, Seated(SETUP, B), MoveMade(17, B, "D4", None, '{"visits":1}'), OVER)
    before = (tmp_path / "games" / FILE).read_text()
    feed(records, OVER)
    assert (tmp_path / "games" / FILE).read_text() == before
    feed(records, Seated(SETUP._replace(moves=(("D4", 59_000),)), B), OVER)
    assert properties(tmp_path, "CC")[1] == '{"visits":1}'
    assert properties(tmp_path, "BL")[1] == 59.0


@pytest.mark.parametrize(("result", "kept"), [("W+Illegal", 0), ("W+Time", 0), ("B+Illegal", 1), ("W+Resign", 1)])
def test_a_move_that_was_not_accepted_is_not_in_the_record(records, tmp_path, result, kept):
    feed(records, Seated(SETUP, B), MoveMade(17, B, "D4", None), OVER._replace(result=result))
    sequence = read(tmp_path).get_main_sequence()[1:]
    assert sum(node.get_move()[0] is not None for node in sequence) == kept


def test_several_games_at_once(records, tmp_path):
    other = SETUP._replace(game=18, black="Carol")
    feed(
        records,
        Seated(SETUP, B),
        Seated(other, W, TimeControl(system=TimeSystem.BYOYOMI, main=0, period=10_000_000, periods=3)),
        MoveMade(18, B, "C3", 1000),
        MoveMade(17, B, "D4", 1000),
        GameOver(18, "2026-01-02", "B+3.5", ""),
        OVER,
    )
    assert read(tmp_path).get_main_sequence()[1].get_move() == ("b", (3, 3))
    name = "2026-01-02-18-Carol-Bob.sgf"
    assert read(tmp_path, name).get_main_sequence()[1].get_move() == ("b", (2, 2))
    assert read(tmp_path, name).get_root().get("OT") == "3x10 byo-yomi"


def test_a_name_is_no_way_out_of_the_directory():
    bad = SETUP._replace(black="../../etc/passwd", white="a b\0c" + "x" * 100)
    name = file_name("2026-01-02", bad)
    assert name == f"2026-01-02-17-.._.._etc_passwd-a_b_c{'x' * 35}.sgf"


def test_a_date_that_is_none_is_today(records, tmp_path):
    feed(records, Seated(SETUP, B), OVER._replace(date="../now"))
    assert read(tmp_path, "2026-03-04-17-Alice-Bob.sgf").get_root().get("DT") == "2026-03-04"


def test_a_record_that_cannot_be_written_is_a_warning(records, tmp_path, caplog):
    (tmp_path / "games" / FILE).mkdir()
    feed(records, Seated(SETUP, B), OVER)
    assert "the record of game 17 cannot be written to" in caplog.text
    assert [path.name for path in (tmp_path / "games").iterdir()] == [FILE]
    feed(records, Seated(SETUP._replace(game=1), B), MoveMade(1, B, "Z99", None), OVER._replace(game=1))
    assert "'Z99' is not a point" in caplog.text


def test_what_was_never_begun_is_ignored(records, tmp_path):
    feed(records, MoveMade(5, B, "D4", None), MoveAsked(5, B, 1), GameOver(5, "2026-01-02", "B+1.0", ""))
    assert list((tmp_path / "games").iterdir()) == []


def test_a_listener_that_fails_disturbs_nobody(caplog):
    heard = []

    def broken(event):
        raise RuntimeError("a bug")

    to_all(broken, heard.append)(OVER)
    assert heard == [OVER]
    assert "a bug" in caplog.text
