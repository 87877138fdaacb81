"""An engine is told of its clock in its own words, and never of more time than it has."""

from __future__ import annotations

import pytest

from cgos_client.bridge.gtp_time import KATA, KGS, PLAIN, Stones, fault, time_commands, time_left
from cgos_protocol.clock import TimeControl, TimeSystem

S = 1_000_000
ABSOLUTE = TimeControl(system=TimeSystem.ABSOLUTE, main=300 * S)
FISCHER = TimeControl(system=TimeSystem.FISCHER, main=60 * S, increment=2_500_000)
BYOYOMI = TimeControl(system=TimeSystem.BYOYOMI, main=60 * S, period=10 * S, periods=5)
CANADIAN = TimeControl(system=TimeSystem.CANADIAN, main=0, period=60 * S, stones=10)
FIXED = TimeControl(system=TimeSystem.FIXED, period=2 * S)
ALL = (PLAIN, KGS, KATA)


def lines(time, listed=ALL, kinds=("fischer", "byo-yomi", "canadian", "absolute", "none"), level_ms=1):
    return [f"{way.command} {way.arguments}" for way in time_commands(time, level_ms, listed, kinds)]


@pytest.mark.parametrize(
    ("time", "listed", "first", "stones"),
    [
        (ABSOLUTE, ALL, "time_settings 300 0 0", Stones.NONE),
        (ABSOLUTE, (KGS,), "kgs-time_settings absolute 300", Stones.NONE),
        (ABSOLUTE, (KATA,), "kata-time_settings absolute 300", Stones.NONE),
        (FISCHER, ALL, "kata-time_settings fischer 60 2.5", Stones.NONE),
        (FISCHER, (PLAIN, KGS), "time_settings 60 0 0", Stones.NONE),
        (FISCHER, (KGS,), "kgs-time_settings absolute 60", Stones.NONE),
        (BYOYOMI, ALL, "kgs-time_settings byoyomi 60 10 5", Stones.GIVEN),
        (BYOYOMI, (PLAIN, KATA), "kata-time_settings byo-yomi 60 10 5", Stones.GIVEN),
        (BYOYOMI, (PLAIN,), "time_settings 60 10 1", Stones.ONE),
        (CANADIAN, ALL, "time_settings 0 60 10", Stones.GIVEN),
        (CANADIAN, (KGS,), "kgs-time_settings canadian 0 60 10", Stones.GIVEN),
        (FIXED, ALL, "time_settings 0 2 1", Stones.ALWAYS_ONE),
        (FIXED, (KGS,), "kgs-time_settings canadian 0 2 1", Stones.ALWAYS_ONE),
    ],
)
def test_best_words(time, listed, first, stones):
    assert fault(time, 0) is None
    assert lines(time, listed)[0] == first
    assert time_commands(time, 0, listed, ("fischer", "byo-yomi", "absolute"))[0].stones is stones


def test_fractions_of_a_second():
    half = TimeControl(system=TimeSystem.FIXED, period=S // 2)
    assert lines(half)[0] == "kata-time_settings canadian 0 0.5 1"
    assert lines(half, (PLAIN,)) == ["time_settings 0 1 1"]
    short = TimeControl(system=TimeSystem.BYOYOMI, main=S, period=S // 2, periods=3)
    assert lines(short)[0] == "kata-time_settings byo-yomi 1 0.5 3"


def test_only_the_kinds_that_the_engine_knows():
    assert lines(FISCHER, kinds=("absolute",))[0] == "time_settings 60 0 0"
    assert lines(FISCHER, kinds=())[0] == "time_settings 60 0 0"
    assert lines(BYOYOMI, (KATA,), kinds=()) == ["kata-time_settings byoyomi 60 10 5"]


def test_where_only_the_figure_is_known():
    assert lines(None, level_ms=90_500)[0] == "time_settings 90 0 0"
    assert lines(None, level_ms=300)[0] == "time_settings 1 0 0"
    assert lines(None, level_ms=0) == ["kgs-time_settings none", "kata-time_settings none", "time_settings 0 1 0"]


def test_an_engine_that_lists_nothing_is_told_nothing():
    assert lines(ABSOLUTE, ("time_left",)) == []


@pytest.mark.parametrize(
    "time",
    [
        TimeControl(system=TimeSystem.ABSOLUTE, main=-S),
        TimeControl(system=TimeSystem.ABSOLUTE, main=0),
        TimeControl(system=TimeSystem.CANADIAN, main=0, period=S, stones=0),
        TimeControl(system=TimeSystem.FISCHER, main=S, increment=S, period=S),
    ],
)
def test_nonsense_has_a_reason(time):
    assert fault(time, 0)


def test_a_negative_figure_is_nonsense_too():
    assert fault(None, -1)
    assert fault(None, 0) is None


@pytest.mark.parametrize(
    ("left_ms", "stones_left", "stones", "figures"),
    [
        (61_999, 3, Stones.NONE, "61 0"),
        (61_999, 0, Stones.GIVEN, "61 0"),
        (9_000, 3, Stones.GIVEN, "9 3"),
        (9_000, 3, Stones.ONE, "9 1"),
        (61_000, 0, Stones.ONE, "61 0"),
        (2_000, 0, Stones.ALWAYS_ONE, "2 1"),
        (-5, -5, Stones.GIVEN, "0 0"),
    ],
)
def test_time_left(left_ms, stones_left, stones, figures):
    assert time_left(left_ms, stones_left, stones) == figures
