"""When a version is suspended for spoiling its games, and how it comes back.

A version that loses game after game on time, by illegal moves or by disconnect, or never makes a first move, gives its
opponents nothing and takes their time. Values in, values out. Must not know: who the version is, connections, storage,
what a clock says.
"""

from __future__ import annotations

import enum
from datetime import UTC, datetime
from typing import Final, NamedTuple

from cgos_protocol.games.base import Color
from cgos_protocol.verdict import Reason

AGAIN: Final = 2
"""Games in a row that a version which came back may spoil, until it has not, before it is suspended again."""

PAUSE_MS: Final = 600_000
"""Shortest time from being suspended to a sign-in that ends it (milliseconds); twice as long each time after."""

PAUSE_MOST_MS: Final = 86_400_000


class Course(enum.StrEnum):
    """What a game was for one of its sides."""

    PLAYED = "played"
    """It took part to an end that it may have lost, but did not spoil."""
    UNCOUNTED = "not counted"
    """It says nothing about that side: the server's or an operator's decision, or the opponent never began."""
    LATE = "lost on time"
    AWAY = "lost on time while disconnected"
    ILLEGAL = "lost by an illegal move"
    ABSENT = "aborted, as no first move came"

    @property
    def spoilt(self) -> bool:
        """True where that side spoilt the game."""
        return self not in (Course.PLAYED, Course.UNCOUNTED)


class Suspension(NamedTuple):
    """Where a version stands in one venue. Fields as stored.

    :ivar spoilt: games in a row that it spoilt; kept when it comes back, until a game is played
    :ivar suspended: True while it is suspended
    :ivar reason: how it spoilt the last one, for people; empty for none
    :ivar at: when the last of them ended, it was suspended or it came back (Unix ms)
    """

    spoilt: int = 0
    suspended: bool = False
    reason: str = ""
    at: int = 0


NONE: Final = Suspension()


def course(reason: Reason, winner: Color | None, expired: Color | None, color: Color, present: bool) -> Course:
    """What a game that ended like this was for `color`.

    :param expired: the side whose time ran out, as :attr:`cgos_protocol.referee.Referee.expired`
    :param present: True where `color` was connected at the end
    """
    match reason:
        case Reason.ABORT if expired is color:
            return Course.ABSENT
        case Reason.VOID | Reason.ABORT | Reason.FORFEIT:
            return Course.UNCOUNTED
        case Reason.TIME if winner is color.other:
            return Course.LATE if present else Course.AWAY
        case Reason.ILLEGAL if winner is color.other:
            return Course.ILLEGAL
    return Course.PLAYED


def after(state: Suspension, game: int, was: Course, most: int, began: int, ended: int) -> Suspension:
    """Where a version stands after `game`; `state` itself where nothing changes.

    Games that ran at the same time are one mishap: a spoilt game counts only where it began after the last one that
    counted had ended. While the version is suspended only a game that it plays properly counts, and takes it back.

    :param most: games in a row that it may spoil before it is suspended (0: any number)
    :param began: Unix ms, as `ended`
    """
    if was is Course.PLAYED:
        return NONE if state.spoilt or state.suspended else state
    if was is Course.UNCOUNTED or state.suspended or began < state.at:
        return state
    spoilt = state.spoilt + 1
    beyond = spoilt - most
    return Suspension(spoilt, most > 0 and beyond >= 0 and beyond % _again(most) == 0, f"game {game}: {was}", ended)


def back(state: Suspension, at: int) -> Suspension:
    """Where a version stands that comes back at `at` (Unix ms)."""
    return state._replace(suspended=False, at=at)


def wait_ms(state: Suspension, most: int, now: int, by_word: bool) -> int:
    """Milliseconds until a version that is suspended may come back; 0: now.

    :param by_word: True where it asks for games by a word of its own; that is enough the first time. Otherwise, as for
        a new sign-in, it must wait, so that what signs in again and again by itself does not come straight back
    """
    times = max(0, state.spoilt - most) // _again(most)
    if by_word and times == 0:
        return 0
    # A large number of times would make a large number of digits.
    pause = min(PAUSE_MS << min(times, 20), PAUSE_MOST_MS)
    return max(0, state.at + pause - now)


def notice(state: Suspension, most: int, now: int, has_word: bool) -> str:
    """What a version that is suspended is told: why, and how it comes back.

    :param has_word: True where its protocol has a word by which it asks for games at any time
    """
    why = f"{state.spoilt} games in a row went wrong on your side, the last one was {state.reason}"
    if has_word and wait_ms(state, most, now, True) == 0:
        how = "say ready, or sign in again"
    elif has_word:
        how = "say ready or sign in again"
    else:
        how = "sign in again"
    wait = wait_ms(state, most, now, False)
    if wait:
        minutes = -(-wait // 60_000)
        clock = datetime.fromtimestamp((now + wait) / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
        when = f" after {clock} UTC (in {minutes} {'minute' if minutes == 1 else 'minutes'})"
    else:
        when = ""
    return f"You are suspended and get no game here: {why}. To come back, mend that and {how}{when}."


def _again(most: int) -> int:
    return max(1, min(AGAIN, most))
