"""What bots say about positions: read where it can be, left out where it cannot, and never a failure."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.api.live import Analysis
from cgos_protocol.games.base import Color
from cgos_protocol.games.notation import COLUMNS
from cgos_server.presentation import analysis

FULL = {
    "winrate": 0.61,
    "score": 2.5,
    "visits": 1600,
    "comment": "left is big",
    "ownership": "+" * 12 + "A" * 13,
    "moves": [
        {"move": "c3", "winrate": 0.61, "score": 2.5, "prior": 0.3, "visits": 900, "pv": "D4 E5 pass", "custom": {}},
        {"move": "PASS", "winrate": 0.2},
    ],
}

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
keyed = st.dictionaries(
    st.sampled_from(["winrate", "score", "visits", "comment", "ownership"]), anything | st.just("A" * 25), max_size=5
)
candidates = st.lists(
    anything | st.dictionaries(st.sampled_from(["move", "winrate", "score", "prior", "visits", "pv"]),
                               anything | st.sampled_from(["D4", "e5", "Z9", "D4 E5 Z9 A1"]), max_size=6),
    max_size=20,
)  # fmt: skip


def text(value: Any) -> str:
    return json.dumps(value)


def test_everything_of_the_form_is_read() -> None:
    parsed = analysis.read(text(FULL), 5)
    assert parsed is not None
    assert (parsed.winrate, parsed.score, parsed.visits, parsed.comment) == (0.61, 2.5, 1600, "left is big")
    assert parsed.ownership == FULL["ownership"]
    first, second = parsed.moves
    assert (first.move, first.winrate, first.score, first.prior, first.visits) == ("C3", 0.61, 2.5, 0.3, 900)
    assert first.pv == ("D4", "E5", "PASS")
    assert second.move == "PASS"


@given(keyed, candidates, st.integers(2, 25))
def test_whatever_comes_is_within_bounds(fields: dict[str, Any], moves: list[Any], size: int) -> None:
    parsed = analysis.read(text(fields | {"moves": moves}), size)
    if parsed is None:
        return
    points = {f"{column}{row}" for column in COLUMNS[:size] for row in range(1, size + 1)} | {"PASS"}
    for part in (parsed, *parsed.moves):
        assert part.winrate is None or 0 <= part.winrate <= 1
        assert part.score is None or math.isfinite(part.score)
        assert part.visits is None or 0 <= part.visits < 2**53
    assert len(parsed.comment) <= analysis.COMMENT
    assert len(parsed.ownership) in (0, size * size)
    assert len(parsed.moves) <= analysis.CANDIDATES
    assert {word for move in parsed.moves for word in (move.move, *move.pv)} <= points
    assert len({move.move for move in parsed.moves}) == len(parsed.moves)
    assert msgspec.json.decode(msgspec.json.encode(parsed), type=Analysis) == parsed


@pytest.mark.parametrize(
    "sent",
    [
        None, "", "{", "7", "null", "[]", '"x"', "{}", "[" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000,
        '{"winrate":1e999}', '{"winrate":NaN}', '{"winrate":true}', '{"winrate":"0.5"}', '{"winrate":1.0001}',
        '{"visits":-1}', '{"visits":' + "9" * 400 + "}", '{"score":1e300}', '{"comment":7}', '{"ownership":"AA"}',
        '{"ownership":"' + "<" * 81 + '"}', '{"moves":{"move":"D4"}}', '{"moves":[{"move":"K1"},{"move":"A10"}]}',
        '{"moves":[{"move":"A\u0661"},{"move":"A01"},{"move":""},{"move":7},{"move":"D4 E5"}]}', '{"comment":"\\ud800',
        '{"comment":"\u202e\u0000"}',
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_nothing(sent: str | None) -> None:
    assert analysis.read(sent, 9) is None


def test_a_comment_is_cut_and_cannot_turn_the_page_round() -> None:
    parsed = analysis.read(text({"comment": "a\u202eb\x00" + "x" * 5000}), 9)
    assert parsed is not None
    assert parsed.comment.startswith("a b xxx")
    assert len(parsed.comment) == analysis.COMMENT
    assert parsed.comment.endswith("…")


def test_a_variation_ends_at_its_first_word_that_is_no_move() -> None:
    parsed = analysis.read(text({"moves": [{"move": "D4", "pv": "E5 <b> F6"}]}), 9)
    assert parsed is not None
    assert parsed.moves[0].pv == ("E5",)


@given(st.floats(0, 1), st.floats(-100, 100))
def test_sides_agree_where_they_say_the_same(winrate: float, score: float) -> None:
    mine, theirs = Analysis(winrate=winrate, score=score), Analysis(winrate=1 - winrate, score=-score)
    assert analysis.black_winrate(mine, Color.BLACK) == pytest.approx(analysis.black_winrate(theirs, Color.WHITE))
    assert analysis.black_score(mine, Color.BLACK) == analysis.black_score(theirs, Color.WHITE)


def test_owners_are_named_from_the_top_left_and_from_black() -> None:
    ownership = Analysis(ownership="+f" + "A" + "f" * 6)
    owners = analysis.owners(ownership, Color.BLACK, 3)
    assert owners["A3"] == 1
    assert owners["B3"] == 0
    assert owners["C3"] == -1
    assert analysis.owners(ownership, Color.WHITE, 3)["A3"] == -1
    assert analysis.owners(Analysis(), Color.BLACK, 3) == {}
