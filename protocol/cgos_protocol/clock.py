"""One player's clock under any time control: what is left, what a move costs, when the flag falls.

All times are integer microseconds. Pure: the elapsed time comes in as an argument.

What a move costs is ``max(0, elapsed - credit)``. Edges: a flag falls only *beyond* the deadline, so using exactly all
is in time; a byo-yomi period is lost only when more than the whole of it was used; the Canadian move that uses up the
main time is the first of its period, but one that uses exactly the main time leaves a whole period behind it.
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


@dataclass(frozen=True, slots=True, kw_only=True)
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


_ABSOLUTE = TimeSystem.ABSOLUTE
_FISCHER = TimeSystem.FISCHER
_BYOYOMI = TimeSystem.BYOYOMI
_CANADIAN = TimeSystem.CANADIAN


def start(tc: TimeControl) -> ClockState:
    """The clock before the first move. Without main time a Canadian player starts inside a period."""
    system = tc.system
    if system is _BYOYOMI:
        return ClockState(tc.main, 0, tc.periods)
    if system is _CANADIAN and tc.main == 0:
        return ClockState(0, tc.period, tc.stones)
    return ClockState(tc.main)


def allowance(tc: TimeControl, state: ClockState) -> int:
    """Time that may be charged for this move before the flag falls (microseconds, >= 0); lag credit comes on top."""
    system = tc.system
    if system is _ABSOLUTE or system is _FISCHER:
        return state.main
    if system is _BYOYOMI:
        return state.main + state.quota * tc.period
    if system is _CANADIAN:
        return state.main + (state.period if state.quota else tc.period)
    return tc.period


def credit(tc: TimeControl, state: ClockState) -> int:
    """Thinking time of this move that is not charged (microseconds, >= 0)."""
    cap = tc.lag_bank
    if cap is None:
        return tc.lag
    saved = state.bank + tc.lag
    return saved if saved < cap else cap


def deadline(tc: TimeControl, state: ClockState) -> int:
    """The longest that this move may take without the flag falling (microseconds after the clock started)."""
    # On the way of every move: the usual cases without another call.
    allowed = state.main if tc.system is _ABSOLUTE else allowance(tc, state)
    return allowed + (tc.lag if tc.lag_bank is None else credit(tc, state))


def spend(tc: TimeControl, state: ClockState, elapsed: int) -> ClockState | None:
    """The clock after a move that took `elapsed` (>= 0) microseconds, or None where the flag had fallen by then.

    Credit that a move did not need goes into the bank where there is one; else it is lost.
    """
    main, period, quota, bank = state
    cap = tc.lag_bank
    charge = elapsed - tc.lag
    if cap is not None:
        free = bank + tc.lag
        charge = elapsed - (free if free < cap else cap)
        bank = -charge if charge < 0 else 0
    if charge < 0:
        charge = 0
    system = tc.system
    if system is _ABSOLUTE:
        return ClockState(main - charge, 0, 0, bank) if charge <= main else None
    if system is _FISCHER:
        return ClockState(main - charge + tc.increment, 0, 0, bank) if charge <= main else None
    over = charge - main
    if system is _BYOYOMI:
        if over <= 0:
            return ClockState(-over, 0, quota, bank)
        quota -= (over - 1) // tc.period
        return ClockState(0, 0, quota, bank) if quota > 0 else None
    if system is _CANADIAN:
        if over < 0:
            return ClockState(-over, 0, 0, bank)
        if not quota:
            if over == 0:
                return ClockState(0, tc.period, tc.stones, bank)
            period, quota = tc.period, tc.stones
        if over > period:
            return None
        return ClockState(0, period - over, quota - 1, bank) if quota > 1 else ClockState(0, tc.period, tc.stones, bank)
    return ClockState(0, 0, 0, bank) if charge <= tc.period else None


def remaining_ms(tc: TimeControl, state: ClockState, elapsed: int = 0) -> int:
    """Milliseconds (rounded down, >= 0) that the player may use for this move without losing a period.

    This is what the legacy lines carry everywhere: ``setup`` at the start, ``play`` after the move, ``genmove`` before
    it. Lag credit is not part of it, saved or not: it is a cushion for the network, not time to plan with. `elapsed`
    is what the move under way has taken so far (microseconds; as on CGOS no credit is deducted from it); in byo-yomi
    the figure is then the rest of the period that is running.
    """
    system = tc.system
    if system is _ABSOLUTE or system is _FISCHER:
        left = state.main - elapsed
    elif system is _BYOYOMI:
        left = state.main + tc.period - elapsed
        if left < 0:
            left += min(-(left // tc.period), state.quota - 1) * tc.period
    elif system is _CANADIAN:
        left = state.main + (state.period if state.quota else tc.period) - elapsed
    else:
        left = tc.period - elapsed
    return left // 1000 if left > 0 else 0


_USED = {
    TimeSystem.ABSOLUTE: ("main",),
    TimeSystem.FISCHER: ("main", "increment"),
    TimeSystem.BYOYOMI: ("main", "period", "periods"),
    TimeSystem.CANADIAN: ("main", "period", "stones"),
    TimeSystem.FIXED: ("period",),
}
_MAY_BE_ZERO = frozenset({(TimeSystem.BYOYOMI, "main"), (TimeSystem.CANADIAN, "main")})


def check(tc: TimeControl) -> str | None:
    """None where the control can be played; otherwise a sentence that says what to change.

    A figure that the system does not use must be 0: it would be a promise that the clock does not keep.
    """
    if tc.lag < 0:
        return "The lag credit cannot be negative."
    if tc.lag_bank is not None and tc.lag_bank < tc.lag:
        return "The lag bank must hold at least the lag credit of one move; raise lag_bank or leave it out."
    used = _USED[tc.system]
    for field in ("main", "increment", "period", "periods", "stones"):
        value = getattr(tc, field)
        if value < 0:
            return f"{field} cannot be negative."
        if value == 0 and field in used and (tc.system, field) not in _MAY_BE_ZERO:
            return f"{tc.system} time needs {field} greater than 0."
        if value != 0 and field not in used:
            return f"{tc.system} time has no {field}; leave it out, or choose another time system."
    return None


def _span(us: int) -> str:
    """A length of time for people, in the largest unit that divides it: ``2 h``, ``90 s``, ``0.5 s``."""
    for unit, name in ((3_600_000_000, "h"), (60_000_000, "min")):
        if us and us % unit == 0:
            return f"{us // unit} {name}"
    whole, rest = divmod(us, 1_000_000)
    return f"{whole}.{rest:06}".rstrip("0").rstrip(".") + " s"


def describe(tc: TimeControl) -> str:
    """The control for people, lag credit left out: ``5 min + 3 s a move``, ``10 min + 5 x 30 s``."""
    match tc.system:
        case TimeSystem.ABSOLUTE:
            return _span(tc.main)
        case TimeSystem.FISCHER:
            return f"{_span(tc.main)} + {_span(tc.increment)} a move"
        case TimeSystem.BYOYOMI:
            overtime = f"{tc.periods} x {_span(tc.period)}"
        case TimeSystem.CANADIAN:
            overtime = f"{tc.stones} moves in {_span(tc.period)}"
        case TimeSystem.FIXED:
            return f"{_span(tc.period)} a move"
    return f"{_span(tc.main)} + {overtime}" if tc.main else overtime
