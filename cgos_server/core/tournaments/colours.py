"""Who has White, in systems whose sources leave that open: who had White more often gets Black.

Our choice throughout; Vuorinen (2010) names balance and lots. Between equals those who had different colours last
change them, else a lot decides. Nothing bounds how far the counts of one entrant can drift apart. Must not know: who is
paired, and why.
"""

from __future__ import annotations

from typing import NamedTuple

from cgos_server.core.tournaments.base import Chance, Game
from cgos_server.core.tournaments.chance import coin
from cgos_server.core.tournaments.ledger import Ledger, Line


class Colours(NamedTuple):
    """:ivar white: id
    :ivar black: id
    :ivar reason: why, for people
    """

    white: int
    black: int
    reason: str


def colours(ledger: Ledger, better: int, other: int, rng: Chance) -> Colours:
    """The colours of two.

    Draws `colour`, keyed by (better placed, other), where nothing else decides; under one half the better has White.
    """
    first, second = ledger.lines[better], ledger.lines[other]
    if first.balance != second.balance:
        reason = "White had fewer games with White"
        return Colours(*((better, other) if first.balance < second.balance else (other, better)), reason)
    last = (last_colour(first), last_colour(second))
    if last[0] != last[1]:
        first_is_white = last[0] is False or last[1] is True
        return Colours(*((better, other) if first_is_white else (other, better)), "colours change from the last game")
    return Colours(*((better, other) if coin(rng, "colour", better, other) else (other, better)), "colours by lot")


def game(ledger: Ledger, better: int, other: int, rng: Chance, reason: str = "") -> Game:
    """A game of these two, with the colours of :func:`colours`; its reason is the given one and theirs."""
    white, black, why = colours(ledger, better, other, rng)
    return Game(white, black, reason=f"{reason}; {why}" if reason else why)


def last_colour(line: Line) -> bool | None:
    """Whether the last game really played was with White; None: there was none."""
    for entry in reversed(line.entries):
        if entry.kind == "game":
            return entry.white
    return None
