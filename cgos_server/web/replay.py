"""A stored game, move by move, up to the ply that somebody wants to see.

Must not know: where games are stored, how boards are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cgos_server.core.games.base import Color, Ruleset, Start
from cgos_server.core.games.go_rules import Go
from cgos_server.errors import OurFault


class Seen(NamedTuple):
    """A position.

    :ivar stones: color by vertex
    :ivar last: vertex of the last move, None where there is none or it was a pass
    :ivar captures: stones taken so far by Black and by White
    """

    stones: dict[str, Color]
    last: str | None
    captures: tuple[int, int]


def position(rules: Ruleset, start: Start | None, moves: Sequence[str]) -> Seen:
    """The position after `moves` (vertices and passes). Raises OurFault where a stored move cannot be played."""
    game = Go().new(rules, start)
    last: str | None = None
    for ply, text in enumerate(moves, 1):
        move = game.read(text)
        refusal = "it means nothing" if move is None else game.play(move)
        if move is None or refusal is not None:
            raise OurFault(f"Move {ply} ({text}) of a stored game cannot be played again: {refusal}.")
        name = game.write(move)
        last = name
    stones = game.stones()
    return Seen(stones, last if last in stones else None, game.captures)
