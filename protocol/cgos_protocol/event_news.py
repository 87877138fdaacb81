"""What a bot wants of an event, and what it is told of one: the part of the seam that tournaments need.

An event is known by its name, which is unique on the server. Must not know: systems, wire formats, who is told.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from cgos_protocol.games.base import Color


class EventWish(enum.Enum):
    """What a bot wants of an event."""

    ENTER = "enter"
    WITHDRAW = "withdraw"
    CHECK_IN = "check in"


class EventWhat(enum.StrEnum):
    """What happened in an event that concerns one of its entrants."""

    ENTERED = "entered"
    """It has a place; told again to whoever enters again, and after each sign-in."""
    WAITING = "waiting"
    """It entered, and waits for a place."""
    ADMITTED = "admitted"
    """It waited, and has a place now."""
    CHECK_IN = "check_in"
    """It is asked to say that it is there."""
    CHECKED_IN = "checked_in"
    STARTED = "started"
    LEFT_OUT = "left_out"
    """It started without this one, which did not check in, or got no place."""
    PAIRED = "paired"
    """It meets somebody; the game begins when both are free."""
    BYE = "bye"
    """It has a round without an opponent."""
    FORFEITED = "forfeited"
    """It lost a game that did not begin."""
    WALKOVER = "walkover"
    """Its opponent did."""
    RULED = "ruled"
    """The operator gave a game of it another result."""
    TAKEN_BACK = "taken_back"
    """A round in which it was paired is paired again."""
    WITHDRAWN = "withdrawn"
    """It is not in the event any more."""
    REJOINED = "rejoined"
    """It is paired again."""
    PAUSED = "paused"
    RESUMED = "resumed"
    ENDED = "ended"
    CANCELLED = "cancelled"
    FOLLOWED = "followed"
    """The next one of its series is announced."""


class Occasion(NamedTuple):
    """The event that a game is played in.

    :ivar round: its number, from 1
    """

    event: str
    round: int


class EventNews(NamedTuple):
    """What happened in an event, as one entrant is told it; what does not apply is empty, 0 or None.

    :ivar venue: where it is played
    :ivar series: the name of the first event of its series
    :ivar text: the same as a sentence for people
    :ivar round: which it is about, from 1
    :ivar opponent: wire name
    :ivar color: the entrant's own
    :ivar until_ms: when a check-in ends, Unix milliseconds
    :ivar place: at the end, from 1
    :ivar entrants: how many there were
    :ivar next: the name of the event that follows
    """

    event: str
    venue: str
    what: EventWhat
    text: str
    round: int = 0
    opponent: str = ""
    color: Color | None = None
    until_ms: int | None = None
    place: int = 0
    entrants: int = 0
    series: str = ""
    next: str = ""
