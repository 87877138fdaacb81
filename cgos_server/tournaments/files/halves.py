"""A game as the lines of its two players tell it: each line has one half, and both halves must agree.

Plain tables (CSV) and result tables (H9) are made of such halves. Must not know: how a half is written in either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.base import DRAW, LOSS, NO_CONTEST, VOID, WIN, Game, Request, Result, Round

POINTS: Final[Mapping[str, int]] = MappingProxyType({"+": WIN, "=": DRAW, "-": LOSS})
"""Half points by sign."""

_SIGNS: Final = MappingProxyType({points: sign for sign, points in POINTS.items()})
_ANNULLED: Final = MappingProxyType({"xx": VOID, "nn": NO_CONTEST, "??": None})


class Half(NamedTuple):
    """What a player's line says of one game.

    :ivar opponent: by the number that the file gives it; 0: none
    :ivar sign: of :data:`POINTS`; ``?`` no result yet, ``x`` void, ``n`` no contest
    :ivar color: ``w`` or ``b``; empty: not said
    :ivar stones: that Black received; None: not said
    :ivar column: where it stands in the line, 1 = the first; 0: the format counts columns otherwise
    """

    opponent: int
    sign: str
    color: str
    stones: int | None
    forfeit: bool
    column: int = 0


def game_of(player: int, half: Half, facing: Half) -> Game | None:
    """The game of two halves, the first one of `player`; None where they contradict each other. Where neither says the
    colors, `player` has White."""
    signs = half.sign + facing.sign
    colors = {half.color, facing.color} - {""}
    stones = {half.stones, facing.stones} - {None}
    if half.forfeit != facing.forfeit or len(stones) > 1 or (colors and half.color == facing.color):
        return None
    is_white = not colors or half.color == "w" or facing.color == "b"
    result = _ANNULLED.get(signs)
    if signs not in _ANNULLED:
        if not set(signs) <= set(POINTS):
            return None
        first, second = (POINTS[sign] for sign in (signs if is_white else signs[::-1]))
        result = Result(second, first, "forfeit" if half.forfeit else "played")
    white, black = (player, half.opponent) if is_white else (half.opponent, player)
    return Game(black=black, white=white, result=result, handicap=stones.pop() or 0 if stones else 0)


def sign_of(points: int, number: int, code: Code, holder: str) -> str:
    """The sign of half points.

    :param number: of the round, for the refusal
    :param holder: such as "a table", likewise
    :raises Invalid: where no sign gives so many, with that code
    """
    if points not in _SIGNS:
        given = f"Round {number} gives {points / 2:g} points"
        raise Invalid(code, f"{given}, and {holder} holds 1, one half and 0. Write JSON.")
    return _SIGNS[points]


def requests_in(rounds: Iterable[Round]) -> tuple[Request, ...]:
    """The byes of these rounds that were asked for, as requests."""
    return tuple(Request(bye.entrant, each.number, bye.points) for each in rounds for bye in each.byes if bye.requested)
