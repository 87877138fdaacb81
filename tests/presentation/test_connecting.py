"""Commands for a venue: by its board, its rules, its clock."""

from __future__ import annotations

import ast

import pytest

from cgos_protocol.games.base import Ko, Ruleset
from cgos_protocol.games.go_rules import Go
from cgos_server.presentation.connecting import GNUGO_SIZES, Place, commands, gnugo


def at(rules: Ruleset, websocket: str = "ws://[::1]:6868") -> Place:
    return Place("[::1]:6809", websocket, "mine", rules, 90_000)


@pytest.mark.parametrize("size", [2, 5, 19, 25])
def test_an_engine_that_cannot_play_there_is_not_recommended(size: int) -> None:
    shown = commands(at(Ruleset(size=size)))
    assert bool(shown.engine) == bool(shown.versions) == bool(shown.check) == (size in GNUGO_SIZES)
    assert shown.try_out.startswith("cgos-client bot greedy --server [::1]:6809 --name MyBot ")
    assert shown.by_hand == "nc ::1 6809"


def test_the_engine_plays_by_the_rules_of_the_venue() -> None:
    assert "--positional-superko" in gnugo(Ruleset())
    assert "--situational-superko" in gnugo(Ruleset(ko=Ko.SITUATIONAL))
    assert "--simple-ko" in gnugo(Ruleset(ko=Ko.SIMPLE))
    assert "suicide" not in gnugo(Ruleset())
    assert "--allow-all-suicide" in gnugo(Ruleset(suicide=True))


@pytest.mark.parametrize(("size", "komi2"), [(2, 1), (13, 15), (25, -15)])
def test_the_dialogue_is_one_of_the_venue(size: int, komi2: int) -> None:
    rules = Ruleset(size=size, komi2=komi2)
    lines = commands(at(rules)).dialogue.splitlines()
    assert f"S: setup 1 {size} {komi2 / 2:.1f} 90000 MyBot(1800?) Other(1900)" in lines
    position = Go().new(rules)
    move = position.read(lines[-1].removeprefix("C: "))
    assert move is not None
    assert position.play(move) is None


def test_the_program_is_one() -> None:
    assert "ws://[::1]:7000" in commands(at(Ruleset(), "ws://[::1]:7000")).program
    ast.parse(commands(at(Ruleset())).program)
    nothing = commands(at(Ruleset(), ""))
    assert (nothing.program, nothing.versions) == ("", "")
