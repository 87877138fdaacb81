"""Positions of stored games."""

from __future__ import annotations

import pytest

from cgos_server.core.games.base import Color, Ruleset, Start
from cgos_server.errors import OurFault
from cgos_server.web.replay import position

RULES = Ruleset(size=5, komi2=14)


def test_captured_stones_are_gone() -> None:
    moves = ["B1", "A1", "A2"]
    seen = position(RULES, None, moves)
    assert seen.stones == {"B1": Color.BLACK, "A2": Color.BLACK}
    assert seen.last == "A2"
    assert seen.captures == (1, 0)


def test_a_pass_has_no_mark() -> None:
    seen = position(RULES, None, ["C3", "PASS"])
    assert seen.stones == {"C3": Color.BLACK}
    assert seen.last is None


def test_before_the_first_move_only_set_up_stones_lie_there() -> None:
    seen = position(RULES, Start(black=("B2", "D4"), to_play=Color.WHITE), [])
    assert seen == ({"B2": Color.BLACK, "D4": Color.BLACK}, None, (0, 0))
    assert position(RULES, Start(black=("B2",), to_play=Color.WHITE), ["C3"]).stones["C3"] is Color.WHITE


@pytest.mark.parametrize("moves", [["C3", "C3"], ["Z9"], ["hello there"]])
def test_a_move_that_cannot_be_played_is_our_fault(moves: list[str]) -> None:
    with pytest.raises(OurFault, match=f"Move {len(moves)} "):
        position(RULES, None, moves)
