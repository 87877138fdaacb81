"""Who has White, in systems whose sources leave that open: who had White more often gets Black.

Our choice throughout; Vuorinen (2010) names balance and lots. Between equals those who had different colors last
change them, else a lot decides. Nothing bounds how far the counts of one entrant can drift apart. Must not know: who is
paired, and why.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from cgos_server.tournaments.base import Chance, Game
from cgos_server.tournaments.chance import COLOR_LOT, coin
from cgos_server.tournaments.ledger import Ledger, Line

LOWER_BALANCE: Final = "White for the lower color balance"
"""A reason for people: who has White had fewer games with White, less those with Black, than the opponent."""

BY_LOT: Final = "colors by lot"


class Colors(NamedTuple):
    """:ivar white: id
    :ivar black: id
    :ivar reason: why, for people
    """

    white: int
    black: int
    reason: str


def colors(ledger: Ledger, better: int, other: int, rng: Chance) -> Colors:
    """The colors of two.

    Draws `color`, keyed by (better placed, other), where nothing else decides; under one half the better has White.
    """
    decided = by_record(ledger, better, other)
    if decided is not None:
        return decided
    return Colors(*((better, other) if coin(rng, COLOR_LOT, better, other) else (other, better)), BY_LOT)


def by_record(ledger: Ledger, one: int, other: int) -> Colors | None:
    """The colors of two where what they have played decides; None where it does not."""
    first, second = ledger.lines[one], ledger.lines[other]
    if first.balance != second.balance:
        return Colors(*((one, other) if first.balance < second.balance else (other, one)), LOWER_BALANCE)
    last = (last_color(first), last_color(second))
    if last[0] != last[1]:
        first_is_white = last[0] is False or last[1] is True
        return Colors(*((one, other) if first_is_white else (other, one)), "colors change from the last game")
    return None


def game(ledger: Ledger, better: int, other: int, rng: Chance, reason: str = "") -> Game:
    """A game of these two, with the colors of :func:`colors`; its reason is the given one and theirs."""
    white, black, why = colors(ledger, better, other, rng)
    why += once_more(ledger, better, other)
    return Game(black=black, white=white, reason=f"{reason}; {why}" if reason else why)


def once_more(ledger: Ledger, one: int, other: int) -> str:
    """The end of a reason where these two have met before, else nothing."""
    return "; they have met before" if ledger.have_met(one, other) else ""


def last_color(line: Line) -> bool | None:
    """Whether the last game really played was with White; None: there was none."""
    for entry in reversed(line.entries):
        if entry.kind == "game":
            return entry.white
    return None
