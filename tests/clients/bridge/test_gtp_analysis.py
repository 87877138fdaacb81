"""What engines say, made into CGOS's JSON: right figures, the last block, a bounded length, never an exception."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_client.bridge.gtp_analysis import ANALYSIS_LIMIT, bounded, from_info, from_json
from cgos_client.bridge.gtp_moves import MOVE_COMMANDS

KATA = (
    "info move C3 visits 80 utility -0.04 winrate 0.480018 scoreMean -0.7 scoreStdev 24.7 scoreLead -0.611848 "
    "scoreSelfplay -0.5 prior 0.221121 lcb 0.47 order 0 pv C3 D4 pass "
    "info move d4 visits 20 winrate 0.41 scoreMean -1.5 prior 0.1 isSymmetryOf C3 order 1 pv D4 pvVisits 20 9 "
)
WAYS = {way.command: way for way in MOVE_COMMANDS}


def parsed(lines, size=3, move="C3", per_10000=False):
    analysis = from_info(lines, size, move, per_10000=per_10000)
    return json.loads(analysis.text), analysis.remark


def test_kata():
    assert parsed([KATA + "ownership " + " ".join(["-1", "-0.5", "0", "0.25", "1", "2", "-2", "nan", "0.999"])]) == (
        {
            "winrate": 0.48002,
            "score": -0.61,
            "visits": 100,
            "ownership": "AQfn++Af+",
            "moves": [
                {"move": "C3", "winrate": 0.48002, "prior": 0.22112, "score": -0.61, "visits": 80, "pv": "D4 PASS"},
                {"move": "D4", "winrate": 0.41, "prior": 0.1, "score": -1.5, "visits": 20},
            ],
        },
        "",
    )


@pytest.mark.parametrize("figures", [(-1, "A"), (1, "+"), (0, "f"), (-1 + 2 / 62, "B"), (0.5, "v")])
def test_levels_of_ownership(figures):
    number, letter = figures
    assert parsed([f"{KATA} ownership {number}"], size=1)[0]["ownership"] == letter


def test_the_root_is_the_engine_s_own_where_it_says_so():
    figures, _ = parsed([KATA + "rootInfo visits 101 winrate 0.5 scoreLead 0.25 ownership 1 1 1 1"], size=2)
    assert (figures["winrate"], figures["score"], figures["visits"]) == (0.5, 0.25, 101)
    assert len(figures["moves"]) == 2
    assert figures["ownership"] == "++++"


def test_the_root_is_the_chosen_move_s_otherwise():
    assert parsed([KATA], move="D4")[0]["winrate"] == 0.41
    assert parsed([KATA], move="PASS")[0]["winrate"] == 0.48002


def test_ownership_of_another_size_is_left_out():
    assert "ownership" not in parsed([f"{KATA} ownership 1 1 1"], size=2)[0]


def test_lz():
    line = "info move E4 visits 1178 winrate 4802 prior 2211 lcb 4781 order 0 pv E4 E3 info move P16 visits 6 winrate 0"
    assert parsed([line], move="E4", per_10000=True)[0] == {
        "winrate": 0.4802,
        "visits": 1184,
        "moves": [
            {"move": "E4", "winrate": 0.4802, "prior": 0.2211, "visits": 1178, "pv": "E3"},
            {"move": "P16", "winrate": 0.0, "visits": 6},
        ],
    }


def test_chances_written_as_fractions_in_the_form_of_lz():
    figures, _ = parsed(["info move E4 visits 3 winrate 0.75 order 0", "ponder"], per_10000=True)
    assert figures["winrate"] == 0.75


def test_the_last_block_counts():
    blocks = [
        "info move C3 visits 1 winrate 0.1 order 0 info move D4 visits 1 winrate 0.1 order 1",
        "info move E5 visits 9 winrate 0.9 order 0",
    ]
    assert [move["move"] for move in parsed(blocks, move="E5")[0]["moves"]] == ["E5"]


def test_a_block_with_a_line_for_each_candidate():
    lines = [f"info move {move} visits {visits} order {order}" for visits in (1, 7) for order, move in enumerate("AB")]
    lines = [line.replace("move A", "move A1").replace("move B", "move B1") for line in lines]
    assert parsed([*lines, "ownership 1"], size=1)[0] == {
        "visits": 14,
        "ownership": "+",
        "moves": [{"move": "A1", "visits": 7}, {"move": "B1", "visits": 7}],
    }


def test_blocks_without_order_are_told_apart_by_their_moves():
    lines = ["info move A1 visits 1", "info move B1 visits 1", "info move A1 visits 5"]
    assert parsed(lines)[0]["moves"] == [{"move": "A1", "visits": 5}]


def test_figures_that_are_none():
    figures, _ = parsed(["info move C3 visits -4 winrate nan scoreLead inf prior 7 order 0 pv C3"])
    assert figures == {"moves": [{"move": "C3", "prior": 1.0}]}


@pytest.mark.parametrize("lines", [[], ["info"], ["info move"], ["thinking"], ["info visits 3 winrate 0.5"]])
def test_nothing_to_read(lines):
    assert from_info(lines, 9, "C3", per_10000=False) == (None, "has no readable 'info move' and is left out")


def test_too_long_an_analysis_loses_ownership_first_and_then_the_last_candidates():
    moves = [{"move": "D4", "pv": "E5 " * 20}] * 10
    whole = {"winrate": 0.5, "ownership": "A" * 361, "moves": moves}
    length = len(json.dumps(whole, separators=(",", ":")))
    assert json.loads(bounded(whole, length).text) == whole
    without = bounded(whole, length - 1)
    assert json.loads(without.text) == {"winrate": 0.5, "moves": moves}
    assert without.remark == f"of {length} characters is too long and is shortened"
    few = bounded(whole, 300)
    assert len(few.text) <= 300
    assert json.loads(few.text) == {"winrate": 0.5, "moves": moves[:3]}
    assert bounded(whole, 10) == (None, f"of {length} characters is too long and is left out")
    assert bounded([1] * 100, 50).text is None


def test_json_of_the_engine_s_own_is_passed_on_as_it_is():
    assert from_json(['{"winrate": 0.5}']) == ('{"winrate": 0.5}', "")
    assert from_json(["thinking", '{"visits":1}', '{"visits":2}']).text == '{"visits":2}'
    assert from_json([]) == (None, "")


def test_json_over_several_lines():
    assert json.loads(from_json(["{", '"visits": 2,', '"comment": "x"', "}"]).text) == {"visits": 2, "comment": "x"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{quiet}", "is not JSON"),
        ('{"winrate":NaN}', "NaN is no JSON number"),
        ("{" * 20_000, "is not JSON"),
        ('{"a":' * 200_000, "is "),
        ('{"visits":' + "9" * 5000 + "}", "is not JSON"),
    ],
)
def test_what_is_not_json_is_left_out_with_a_reason(text, why):
    analysis = from_json([text])
    assert analysis.text is None
    assert why in analysis.remark


def test_json_that_is_too_long_is_shortened():
    analysis = from_json([json.dumps({"winrate": 0.5, "ownership": "A" * ANALYSIS_LIMIT})])
    assert analysis.text == '{"winrate":0.5}'


WORDS = st.sampled_from(
    [
        *("info", "move", "pv", "winrate", "scoreLead", "prior", "visits", "order", "rootInfo", "ownership", "play"),
        *("C3", "D4", "pass", "0.5", "-1", "nan", "1e400", "7", "{", "}"),
    ]
)


@given(
    st.lists(st.lists(WORDS | st.text(max_size=5), max_size=40).map(" ".join), max_size=6),
    st.sampled_from(MOVE_COMMANDS),
)
def test_any_answer_is_read_without_an_exception(lines, way):
    stripped = [line for line in (" ".join(line.split()) for line in lines) if line]
    choice = way.read(stripped, 9)
    if choice is not None and choice.analysis is not None:
        assert len(choice.analysis) <= ANALYSIS_LIMIT
        assert "\n" not in choice.analysis
        json.loads(choice.analysis, parse_constant=lambda text: pytest.fail(text))


@pytest.mark.parametrize(
    ("lines", "move"),
    [
        (["d4"], "D4"),
        (["PASS"], "PASS"),
        (["d4", "winrate 0.53"], "D4"),
        (["D4 (0.53)"], "D4"),
        (["play D4"], "D4"),
        (["T19"], None),
        (["I play D4"], None),
        (["winrate 0.53", "D4"], None),
        ([], None),
    ],
)
def test_plain_answers(lines, move):
    choice = WAYS["genmove"].read(lines, 9)
    assert (choice and choice.move) == move
    if move is not None:
        assert bool(choice.remark) is (len(" ".join(lines).split()) > 1)


@pytest.mark.parametrize(
    ("lines", "move"),
    [
        ([KATA, "play d4"], "D4"),
        ([KATA, "Play B D4"], "D4"),
        ([KATA, "play resign", "and so on"], "RESIGN"),
        (["play pass"], "PASS"),
        (["C3"], "C3"),
        ([KATA, "play T19"], None),
        ([KATA], None),
        (["done"], None),
    ],
)
def test_answers_with_analysis(lines, move):
    choice = WAYS["kata-genmove_analyze"].read(lines, 9)
    assert (choice and choice.move) == move
    if choice is not None and KATA in lines:
        assert json.loads(choice.analysis)["visits"] == 100


def test_the_ways_of_asking():
    assert [way.line("b") for way in MOVE_COMMANDS] == [
        "cgos-genmove_analyze b",
        "kata-genmove_analyze b ownership true",
        "lz-genmove_analyze b 100000",
        "genmove b",
    ]
