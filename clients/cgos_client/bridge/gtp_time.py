"""How a GTP engine is told of its clock: the commands for every time system, by what the engine lists.

Three dialects: ``time_settings`` (GTP 2: absolute, Canadian), ``kgs-time_settings`` (byo-yomi as well) and
``kata-time_settings`` (Fischer as well, and fractions of a second). Where none of them can say what is played, the
engine is told something that never lets it use more than it has. Pure. Must not know: processes.
"""

from __future__ import annotations

import enum
from collections.abc import Collection
from typing import NamedTuple

from cgos_protocol import clock
from cgos_protocol.clock import TimeControl, TimeSystem

PLAIN, KGS, KATA = "time_settings", "kgs-time_settings", "kata-time_settings"


class Stones(enum.Enum):
    """What the last figure of ``time_left`` is, once a way of telling was accepted."""

    NONE = enum.auto()
    """Always 0: all time is main time."""
    GIVEN = enum.auto()
    """Stones or periods left, as the server counts them (KGS counts periods there)."""
    ONE = enum.auto()
    """1 in overtime: the engine knows every move for a period of its own."""
    ALWAYS_ONE = enum.auto()
    """There is no main time."""


class TimeCommand(NamedTuple):
    """One way of telling an engine the time control.

    :ivar command: the command's name in ``list_commands``
    :ivar arguments: what follows it
    :ivar stones: what the last figure of ``time_left`` is from then on
    """

    command: str
    arguments: str
    stones: Stones


def fault(time: TimeControl | None, level_ms: int) -> str | None:
    """None where the time control can be told, otherwise a sentence that says what is wrong with it."""
    if time is None:
        return "Its main time is negative." if level_ms < 0 else None
    return clock.check(time)


def time_commands(
    time: TimeControl | None, level_ms: int, listed: Collection[str], kinds: Collection[str]
) -> tuple[TimeCommand, ...]:
    """The ways of telling it to an engine, best first; empty where the engine lists no command for it.

    :param time: a time control without fault, or None where only its figure is known
    :param level_ms: that figure in milliseconds, 0 for no limit
    :param listed: the engine's commands
    :param kinds: its answer to ``kata-list_time_settings``; where it gave none, only what all versions know is used
    """
    ways = _limitless() if time is None and level_ms == 0 else _ways(time or _absolute(level_ms))
    known = frozenset(kinds) or frozenset(("none", "absolute", "byoyomi", "canadian"))
    return tuple(
        way for way in ways if way.command in listed and (way.command != KATA or way.arguments.split()[0] in known)
    )


def time_left(left_ms: int, stones_left: int, stones: Stones) -> str:
    """The two figures of ``time_left``: whole seconds, rounded down, and stones. What is negative counts as 0."""
    match stones:
        case Stones.NONE:
            count = 0
        case Stones.GIVEN:
            count = max(0, stones_left)
        case Stones.ONE:
            count = 1 if stones_left > 0 else 0
        case Stones.ALWAYS_ONE:
            count = 1
    return f"{max(0, left_ms) // 1000} {count}"


def _absolute(level_ms: int) -> TimeControl:
    return TimeControl(system=TimeSystem.ABSOLUTE, main=level_ms * 1000)


def _limitless() -> tuple[TimeCommand, ...]:
    """GTP writes "no limit" as overtime without stones."""
    return (
        TimeCommand(KGS, "none", Stones.NONE),
        TimeCommand(KATA, "none", Stones.NONE),
        TimeCommand(PLAIN, "0 1 0", Stones.NONE),
    )


def _main_alone(main: int) -> tuple[TimeCommand, ...]:
    """Main time in whole seconds, at least one: nothing else is left where that is up."""
    seconds = max(1, _seconds(main))
    return (
        TimeCommand(PLAIN, f"{seconds} 0 0", Stones.NONE),
        TimeCommand(KGS, f"absolute {seconds}", Stones.NONE),
    )


def _canadian(main: int, period: int, stones: int, last_figure: Stones) -> tuple[TimeCommand, ...]:
    """Canadian time in whole seconds, and exactly. Microseconds; `last_figure` is that of ``time_left``."""
    rounded = f"{_seconds(main)} {max(1, _seconds(period))} {stones}"
    return (
        TimeCommand(PLAIN, rounded, last_figure),
        TimeCommand(KGS, f"canadian {rounded}", last_figure),
        TimeCommand(KATA, f"canadian {_exact(main)} {_exact(period)} {stones}", last_figure),
    )


def _ways(time: TimeControl) -> tuple[TimeCommand, ...]:
    match time.system:
        case TimeSystem.ABSOLUTE:
            return (*_main_alone(time.main), TimeCommand(KATA, f"absolute {_exact(time.main)}", Stones.NONE))
        case TimeSystem.FISCHER:
            # Without a word for the increment the engine is told of its main time alone, which it cannot exceed.
            figures = f"{_exact(time.main)} {_exact(time.increment)}"
            return (TimeCommand(KATA, f"fischer {figures}", Stones.NONE), *_main_alone(time.main))
        case TimeSystem.BYOYOMI:
            main, period = _seconds(time.main), _seconds(time.period)
            figures = f"{_exact(time.main)} {_exact(time.period)} {time.periods}"
            return (
                *((TimeCommand(KGS, f"byoyomi {main} {period} {time.periods}", Stones.GIVEN),) if period else ()),
                *(TimeCommand(KATA, f"{kind} {figures}", Stones.GIVEN) for kind in ("byoyomi", "byo-yomi")),
                TimeCommand(PLAIN, f"{main} {max(1, period)} 1", Stones.ONE),
            )
        case TimeSystem.CANADIAN:
            return _canadian(time.main, time.period, time.stones, Stones.GIVEN)
        case TimeSystem.FIXED:
            *whole, exact = _canadian(0, time.period, 1, Stones.ALWAYS_ONE)
            return (*whole, exact) if time.period % 1_000_000 == 0 else (exact, *whole)


def _seconds(us: int) -> int:
    return us // 1_000_000


def _exact(us: int) -> str:
    return f"{us / 1_000_000:.3f}".rstrip("0").rstrip(".")
