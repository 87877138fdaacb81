"""One version in one venue: what it does, and which games it plays.

Decides whether the version could take a game now. Must not know: wire formats, how bots sign in, who is paired.
"""

from __future__ import annotations

import enum
from typing import Final

from cgos_protocol.games.base import Color
from cgos_protocol.session import Availability, Limits, PlayerSession
from cgos_server.runtime.live_game import LiveGame
from cgos_server.runtime.telling import Telling

TELLINGS_MAX: Final = 1_024
"""Ends of games that a bot was told and has not acknowledged; of more than these the oldest are not waited for."""


class State(enum.StrEnum):
    """What a signed-in version does."""

    IDLE = "idle"
    PAIRED = "paired"
    """Chosen for a game whose beginning is being committed."""
    PLAYING = "playing"
    OWING = "owes ready"
    ASIDE = "set aside"
    """It gets no game; see :mod:`cgos_server.runtime.setbacks`."""
    AWAY = "away"
    """Not signed in; kept while a game of it runs."""


class Capacity:
    """How many games a connection plays at once; shared by all venues in which it is signed in.

    :ivar used: slots that are taken, or reserved for games whose beginning is being committed. Games that were found
        running at the sign-in count too, so it may lie above `slots`
    :ivar owed: answers about games of the past that are still looked up
    :ivar freed: when a game last ended with which all slots had been taken (microseconds), 0 for never
    """

    __slots__ = ("freed", "owed", "slots", "used")

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.used = 0
        self.owed = 0
        self.freed = 0

    def give_back(self, now: int) -> None:
        """A game has ended."""
        if not self.free:
            self.freed = now
        self.used -= 1

    @property
    def free(self) -> bool:
        return self.used < self.slots


class Player:
    """One version in one venue, present or (while a game of it runs) away.

    :ivar since: when it last became able to take a game, or ceased to be (microseconds)
    :ivar reserved: an act of pairing looks at it, or has chosen it
    :ivar chosen: an act of pairing has chosen it, and its game is not committed yet
    :ivar owing: it must say `ready` before it gets another game
    :ivar aside: it is set aside
    :ivar board: the one game that is before a connection that has one at a time
    :ivar tellings: by game: ends that it was told and has not acknowledged
    :ivar asked: games of the past that it wants to hear of and that are not looked up yet
    :ivar limits: those in force: what it says itself (`declared`) and what its owner allows (`allowed`)
    :ivar paused: its owner wants no game for it
    :ivar closed: it is not one of the hours at which a game of it may begin
    :ivar called_home: its owner wants it to leave after its running games
    :ivar signed_in_at: Unix milliseconds
    :ivar flagged: when it last let its time in a game run out (microseconds), 0 for never
    :ivar begun: games begun within a day, as far as its limit needs them counted; `counted` says when they were, and
        while they are `counting` it is what has begun since
    """

    __slots__ = (
        "address",
        "allowed",
        "aside",
        "asked",
        "availability",
        "begun",
        "board",
        "bot",
        "called_home",
        "capacity",
        "chosen",
        "client",
        "closed",
        "counted",
        "counting",
        "declared",
        "flagged",
        "games",
        "limits",
        "name",
        "owing",
        "paused",
        "reserved",
        "session",
        "signed_in_at",
        "since",
        "tellings",
        "version",
    )

    def __init__(self, version: int, name: str, bot: int) -> None:
        self.version = version
        self.name = name
        self.bot = bot
        self.session: PlayerSession | None = None
        self.address = self.client = ""
        self.capacity = Capacity(1)
        self.games: dict[int, LiveGame] = {}
        self.board: LiveGame | None = None
        self.tellings: dict[int, Telling] = {}
        self.asked: dict[int, None] = {}
        self.availability = Availability.READY
        self.limits = self.declared = self.allowed = Limits()
        self.reserved = self.chosen = self.owing = self.counting = self.aside = self.paused = self.called_home = False
        self.closed = False
        self.signed_in_at = self.since = self.flagged = self.begun = self.counted = 0

    @property
    def state(self) -> State:
        if self.session is None:
            return State.AWAY
        if self.reserved:
            return State.PAIRED
        if self.owing:
            return State.OWING
        if self.games:
            return State.PLAYING
        return State.ASIDE if self.aside else State.IDLE

    @property
    def available(self) -> bool:
        """True where it could take a game now."""
        # What most of a venue's players fail at comes first: all are looked at for each act of pairing.
        return self.capacity.free and not self.reserved and self._willing

    @property
    def ready_since(self) -> int:
        """Since when an available one could take a game here (microseconds); in another venue it may have played."""
        return max(self.since, self.capacity.freed)

    @property
    def awaited(self) -> bool:
        """True where it could be somebody's opponent now or after its game."""
        return (
            self.session is not None
            and not self.owing
            and not self.aside
            and not self.paused
            and not self.closed
            and self.availability is Availability.READY
            and not self.at_limit
        )

    @property
    def at_limit(self) -> bool:
        """True where it has begun as many games within a day as it may."""
        limit = self.limits.games_a_day
        return limit is not None and self.begun >= limit

    @property
    def could_play(self) -> bool:
        """True where nothing has come between since an act of pairing reserved it, one of its slots included."""
        return self._willing and self.capacity.used <= self.capacity.slots

    @property
    def _willing(self) -> bool:
        """True where it wants a game now and may have one, whether it has a slot for it or not."""
        counted = self.limits.games_a_day is None or not self.counting
        return self.awaited and counted and self.session is not None and self.session.alive

    def reserve(self) -> None:
        """An act of pairing looks at it: no other one may."""
        self.reserved = True
        self.capacity.used += 1

    def release(self) -> None:
        """It is free again; or its game begins, which takes the slot itself."""
        if self.reserved:
            self.reserved = self.chosen = False
            self.capacity.used -= 1

    def color(self, game: LiveGame) -> Color:
        """The color that it has in `game`."""
        return Color.BLACK if game.sides[Color.BLACK].version == self.version else Color.WHITE

    def told(self, game: int, telling: Telling) -> None:
        """It was told how `game` ended."""
        self.tellings[game] = telling
        if len(self.tellings) > TELLINGS_MAX:
            del self.tellings[next(iter(self.tellings))]

    def acknowledged(self) -> None:
        """It knows the end of every game that it was told."""
        for telling in self.tellings.values():
            telling.acknowledged()
        self.tellings.clear()


def stricter(one: Limits, other: Limits) -> Limits:
    """What both allow."""
    most = [limits.games_a_day for limits in (one, other) if limits.games_a_day is not None]
    return Limits(min(most, default=None), one.avoid | other.avoid, one.hours.both(other.hours))
