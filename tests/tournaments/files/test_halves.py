"""Two halves make a game, or contradict each other."""

from __future__ import annotations

import pytest

from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.base import VOID, Bye, Game, Request, Result, Round
from cgos_server.tournaments.files.halves import Half, game_of, requests_in, sign_of


def half(opponent: int, sign: str, color: str, stones: int | None = None, forfeit: bool = False) -> Half:
    return Half(opponent=opponent, sign=sign, color=color, stones=stones, forfeit=forfeit)


@pytest.mark.parametrize(
    ("mine", "theirs", "game"),
    [
        (half(2, "+", "w"), half(1, "-", "b"), Game(black=2, white=1, result=Result(0, 2))),
        (half(2, "+", "b", 3), half(1, "-", "w"), Game(black=1, white=2, result=Result(2, 0), handicap=3)),
        (half(2, "=", ""), half(1, "=", "w"), Game(black=1, white=2, result=Result(1, 1))),
        (
            half(2, "-", "", None, True),
            half(1, "+", "", None, True),
            Game(black=2, white=1, result=Result(2, 0, "forfeit")),
        ),
        (half(2, "x", "b"), half(1, "x", ""), Game(black=1, white=2, result=VOID)),
        (half(2, "?", "w"), half(1, "?", "b"), Game(black=2, white=1)),
    ],
)
def test_halves_that_agree_are_a_game(mine: Half, theirs: Half, game: Game) -> None:
    assert game_of(1, mine, theirs) == game


@pytest.mark.parametrize(
    "theirs",
    [half(1, "-", "w"), half(1, "-", "b", 2), half(1, "-", "b", None, True), half(1, "?", "b"), half(1, "x", "b")],
)
def test_halves_that_contradict_each_other_are_none(theirs: Half) -> None:
    assert game_of(1, half(2, "+", "w", 3), theirs) is None


def test_points_without_a_sign_are_refused() -> None:
    assert [sign_of(points, 1, Code.CSV_POINTS, "a table") for points in (2, 1, 0)] == ["+", "=", "-"]
    with pytest.raises(Invalid, match=r"Round 4 gives 1\.5 points, and a table holds") as refusal:
        sign_of(3, 4, Code.CSV_POINTS, "a table")
    assert refusal.value.code is Code.CSV_POINTS


def test_only_byes_that_were_asked_for_are_requests() -> None:
    assert requests_in([Round(number=3, games=(), byes=(Bye(1, 1, requested=True), Bye(2)))]) == (Request(1, 3, 1),)
