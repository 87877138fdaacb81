"""JSON and MessagePack: what is read, what is refused in words, and that nothing whatever raises."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgos_protocol.facts import GameEnded, MovePlayed
from cgos_protocol.lines.player import ANALYSIS_MAX
from cgos_protocol.v2 import messages as ws
from cgos_protocol.v2.analysis import Unfit
from cgos_protocol.v2.encoding import JSON, MSGPACK, Codec, Malformed

CODECS = [JSON, MSGPACK]
DEEP = 100_000


def encode(codec: Codec, value: Any) -> bytes:
    return msgspec.msgpack.encode(value) if codec.binary else msgspec.json.encode(value)


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.subprotocol)
def test_fields_that_nobody_knows_are_ignored(codec: Codec) -> None:
    data = encode(codec, {"future": [1, {"a": None}], "type": "seen", "game": 7, "x": 1.5})
    assert codec.decode(data) == ws.Seen(7)


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.subprotocol)
@pytest.mark.parametrize(
    "value",
    [
        {}, [], None, 7, "seen", {"type": None}, {"type": "welcome"}, {"type": "seen"}, {"type": "seen", "game": "7"},
        {"type": "seen", "game": -1}, {"type": "seen", "game": 1 << 54}, {"type": "seen", "game": 7.5},
        {"type": "seen", "game": True}, {"type": "move", "game": 1, "ply": 1, "move": "x" * 65},
        {"type": "move", "game": 1, "ply": 0, "move": "D4"},
        {"type": "sign_in", "bot": "anna", "secret": "secret", "venues": []},
        {"type": "sign_in", "bot": "anna", "secret": "secret", "venues": ["9x9"], "slots": 0},
        {"type": "sign_in", "bot": "anna", "secret": "secret", "venues": ["9x9"], "parameters": {"a": [1]}},
        {"type": "sync", "games": [{"game": 1, "ply": 1}] * 1025},
        {"type": "limits", "limits": {"games_a_day": 0}},
    ],
)  # fmt: skip
def test_a_message_of_the_wrong_shape_is_told_what_is_wrong(codec: Codec, value: Any) -> None:
    malformed = codec.decode(encode(codec, value))
    assert isinstance(malformed, Malformed)
    assert malformed.code == "invalid"
    assert malformed.text
    assert not malformed.fatal


@pytest.mark.parametrize(
    ("codec", "data", "code", "fatal"),
    [
        (JSON, b"", "malformed", False),
        (JSON, b"hello", "malformed", False),
        (JSON, b'{"type":"ready"} {}', "malformed", False),
        (JSON, b'{"type":"seen","game":NaN}', "malformed", False),
        (JSON, b'{"type":"seen","game":1e400}', "invalid", False),
        (JSON, b'{"type":"watch_venue","venue":"\\ud800"}', "malformed", False),
        (JSON, b'{"type":"watch_venue","venue":"\xff"}', "utf-8", True),
        (JSON, b"\xff", "utf-8", True),
        (JSON, b'{"type":"seen","x":' + b"[" * DEEP + b"]" * DEEP + b',"game":1}', "malformed", False),
        (JSON, b'{"type":"seen","type":"ready","game":1}', "invalid", False),
        (MSGPACK, b"", "malformed", False),
        (MSGPACK, b"\x82\xa4type\xa4seen\xa4game", "malformed", False),
        (MSGPACK, msgspec.msgpack.encode({"type": "seen", "game": float("nan")}), "invalid", False),
        (MSGPACK, b"\x82\xa4type\xabwatch_venue\xa5venue\xa3\xed\xa0\x80", "utf-8", False),
        (MSGPACK, b"\x83\xa4type\xa4seen\xa1x" + b"\x91" * DEEP + b"\x90\xa4game\x01", "malformed", False),
    ],
    ids=range(15),
)
def test_what_is_no_message(codec: Codec, data: bytes, code: str, fatal: bool) -> None:
    malformed = codec.decode(data)
    assert isinstance(malformed, Malformed)
    assert (malformed.code, malformed.fatal) == (code, fatal)
    assert malformed.text.isprintable()


def test_a_key_given_twice_counts_once() -> None:
    assert JSON.decode(b'{"game":1,"type":"seen","game":2}') == ws.Seen(2)


def test_the_words_about_a_fault_are_short_and_printable() -> None:
    key = "\x1b[2J" * 500
    data = encode(JSON, {"type": "sign_in", "bot": "a", "secret": "b", "venues": ["9x9"], "parameters": {key: 1}})
    malformed = JSON.decode(data)
    assert isinstance(malformed, Malformed)
    assert len(malformed.text) <= 300
    assert malformed.text.isprintable()


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.subprotocol)
def test_what_the_server_says_is_read_back(codec: Codec) -> None:
    decoder = msgspec.msgpack if codec.binary else msgspec.json
    for message in (
        ws.Moved(game=7, ply=3, color="black", move="D4", black_ms=1000, white_ms=2000, at=1.5, your_turn=True),
        ws.Error(code="gap", text="Ply 5 was sent.", game=7),
        ws.FactTold(MovePlayed(venue="9x9", game=7, ply=1, move="D4", left_ms=900)),
        ws.FactTold(GameEnded(venue="9x9", game=7, result="B+1.5", reason="score", at=1.0)),
        ws.Drained(),
    ):
        assert decoder.decode(codec.encode(message), type=ws.ServerMessage) == message


def analysis(codec: Codec, value: Any) -> str | Unfit:
    message = codec.decode(encode(codec, {"type": "move", "game": 1, "ply": 1, "move": "D4", "analysis": value}))
    assert isinstance(message, ws.Move), message
    assert isinstance(message.analysis, msgspec.Raw)
    return codec.analysis(message.analysis)


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.subprotocol)
def test_analysis_becomes_compact_json(codec: Codec) -> None:
    value = {
        "winrate": 0.5, "score": -2, "visits": 100, "unknown": 1, "comment": "é",
        "moves": [{"move": "D4", "pv": "D4 C3", "custom": {"k": [1, 2]}}], "custom": [1, {"a": None}],
    }  # fmt: skip
    text = analysis(codec, value)
    assert isinstance(text, str)
    assert text is not None
    assert " " not in text.replace("D4 C3", "")
    kept = {key: kept for key, kept in value.items() if key != "unknown"}
    assert json.loads(text) == kept


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.subprotocol)
@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "analysis: Expected `object`, got `{null}`."),
        (7, "analysis: Expected `object`, got `int`."),
        ("text", "analysis: Expected `object`, got `str`."),
        ([], "analysis: Expected `object`, got `array`."),
        ({"winrate": 2}, "analysis.winrate: Expected `float` <= 1.0."),
        ({"winrate": "0.5"}, "analysis.winrate: Expected `float | null`, got `str`."),
        ({"visits": -1}, "analysis.visits: Expected `int` >= 0."),
        ({"moves": [{}]}, "analysis.moves[0]: Object missing required field `move`."),
        ({"moves": [{"move": "D4"}, {"move": "C3", "pv": 7}]},
         "analysis.moves[1].pv: Expected `str | null`, got `int`."),
        ({"moves": [{"move": "D4"}] * 201}, "analysis.moves: Expected `array` of length <= 200."),
        ({"ownership": "x" * 626}, "analysis.ownership: Expected `str` of length <= 625."),
        ({"comment": "short", "custom": "x" * (ANALYSIS_MAX + 1)},
         f"analysis.custom: {ANALYSIS_MAX + 3} bytes as compact JSON, "
         f"while the whole analysis has at most {ANALYSIS_MAX}."),
    ],
)  # fmt: skip
def test_analysis_that_does_not_fit_is_dropped_and_the_field_named(codec: Codec, value: Any, why: str) -> None:
    assert analysis(codec, value) == Unfit(why.replace("{null}", "None" if codec.binary else "null"))


def test_analysis_that_only_messagepack_can_say() -> None:
    ext, pair = analysis(MSGPACK, {"custom": msgspec.msgpack.Ext(5, b"x")}), analysis(MSGPACK, {"custom": {(1, 2): 3}})
    assert isinstance(ext, Unfit)
    assert ext.why.startswith("analysis.custom: ")
    assert isinstance(pair, Unfit)
    assert pair.why.startswith("analysis.custom: ")
    assert analysis(MSGPACK, {"custom": [float("nan"), float("inf")]}) == '{"custom":[null,null]}'
    assert analysis(MSGPACK, {"winrate": float("nan")}) in (
        Unfit("analysis.winrate: Expected `float` >= 0.0."),
        '{"winrate":null}',
    )


@pytest.mark.parametrize("depth", [100, 5_000, DEEP])
def test_deeply_nested_analysis_is_kept_or_dropped_or_the_message_is(depth: int) -> None:
    nested = b"[" * depth + b"]" * depth
    message = JSON.decode(b'{"type":"move","game":1,"ply":1,"move":"D4","analysis":{"custom":' + nested + b"}}")
    if isinstance(message, ws.Move):
        assert isinstance(message.analysis, msgspec.Raw)
        text = JSON.analysis(message.analysis)
        assert text is None or depth < DEEP  # how deep is too deep is the interpreter's
        assert text is not None or depth > 100
    else:
        assert message == Malformed("malformed", "The message is nested too deeply.")


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(1 << 63), (1 << 64) - 1), st.floats(), st.text(max_size=8))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                ["type", "game", "ply", "move", "venue", "games", "bot", "secret", "venues", "limits", "x"]
            ),
            inner,
            max_size=6,
        ),
    ),
    max_leaves=12,
)
TYPES = st.sampled_from(["sign_in", "move", "seen", "sync", "ready", "limits", "watch_venue", "watch_game", "unwatch"])


@settings(max_examples=500, deadline=None)
@given(
    st.sampled_from(CODECS),
    st.one_of(
        st.binary(max_size=100),
        st.text(max_size=60).map(str.encode),
        VALUES,
        st.builds(
            lambda kind, rest: rest | {"type": kind},
            TYPES,
            st.dictionaries(st.sampled_from(["game", "ply", "move", "venue", "venues", "analysis", "games"]), VALUES),
        ),
    ),
)
def test_anything_is_a_message_or_a_fault(codec: Codec, value: Any) -> None:
    if isinstance(value, bytes):
        data = value
    else:
        try:
            data = encode(codec, value)
        except (msgspec.MsgspecError, OverflowError, UnicodeEncodeError):
            return
    message = codec.decode(data)
    if isinstance(message, Malformed):
        assert message.text
        assert message.text.isprintable()
    elif isinstance(message, ws.Move) and isinstance(message.analysis, msgspec.Raw):
        text = codec.analysis(message.analysis)
        assert text.why if isinstance(text, Unfit) else isinstance(json.loads(text), dict)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_a_move_is_not_lost_for_what_json_has_no_words_for(word: str) -> None:
    move = f'{{"type":"move","game":1,"ply":3,"move":"D4","analysis":{{"winrate":{word}}}}}'
    message = JSON.decode(move.encode())
    assert isinstance(message, ws.Move)
    assert (message.game, message.ply, message.move) == (1, 3, "D4")
    assert isinstance(message.analysis, msgspec.Raw)
    assert JSON.analysis(message.analysis) == Unfit(
        "analysis.winrate: JSON has neither NaN nor infinite numbers: write null, or leave it out."
    )


def test_where_a_number_that_json_has_not_stands() -> None:
    move = b'{"type":"move","game":1,"ply":3,"move":"D4","analysis":{"moves":[{"move":"C3"},{"prior":NaN}]}}'
    message = JSON.decode(move)
    assert isinstance(message, ws.Move)
    unfit = JSON.analysis(message.analysis)
    assert isinstance(unfit, Unfit)
    assert unfit.why.startswith("analysis.moves[1].prior: ")


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"move","game":NaN,"ply":3,"move":"D4","analysis":{}}',
        '{"type":"seen","game":NaN,"analysis":1}',
        '{"type":"move","game":1,"ply":3,"move":"D4","analysis":NaN',
        '["analysis", NaN]',
    ],
)
def test_everything_else_that_is_no_json_stays_malformed(text: str) -> None:
    assert isinstance(JSON.decode(text.encode()), Malformed)
