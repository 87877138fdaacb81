"""One player's clock under any time control: what is left, what a move costs, when the flag falls.

All times are integer microseconds. Pure: the elapsed time comes in as an argument.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple


class TimeSystem(enum.StrEnum):
    """The time systems."""

    ABSOLUTE = "absolute"
    FISCHER = "fischer"
    BYOYOMI = "byoyomi"
    CANADIAN = "canadian"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class TimeControl:
    """A time control. Units: microseconds.

    :ivar main: main time (absolute, Fischer, byo-yomi, Canadian)
    :ivar increment: added after each move (Fischer)
    :ivar period: length of one period (byo-yomi, Canadian) or the time for each move (fixed)
    :ivar periods: number of byo-yomi periods
    :ivar stones: moves to make in one Canadian period
    :ivar lag: credit given on each move before anything is charged (CGOS calls it the time gift)
    :ivar lag_bank: None: unused credit is lost, as on CGOS. Otherwise unused credit is saved up to this much
    """

    system: TimeSystem
    main: int = 0
    increment: int = 0
    period: int = 0
    periods: int = 0
    stones: int = 0
    lag: int = 250_000
    lag_bank: int | None = None


class ClockState(NamedTuple):
    """What one player has left. Stored with every move.

    :ivar main: main time left
    :ivar period: time left in the current Canadian period (0 while main time runs, and in the other systems)
    :ivar quota: byo-yomi periods left, or moves still to make in the Canadian period, else 0
    :ivar bank: lag credit saved up (0 without a bank)
    """

    main: int
    period: int = 0
    quota: int = 0
    bank: int = 0
