"""What keeps a version from a new game in one venue, and the sentences that say so: to the bot, to its owner, to an
operator.

A version has a set of holds; it may be paired exactly when the set is empty. Values in, values out. Must not know: who
puts a hold on a version, how versions are paired.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence, Set
from typing import Final

import msgspec


class Hold(enum.Enum):
    """A reason why a version gets no new game; of several the first one is named.

    The sentences are templates over a :class:`Seen`.

    :ivar state: what the version does, in one word or two
    :ivar owner: why it is not paired, for its owner
    :ivar operator: the same for an operator, after "it is not waiting for a game:"
    :ivar bot: the same for the bot itself; empty where the bot is told nothing
    """

    AWAY = "not connected", "It is not connected, and its running game goes on: its clock runs while it is to move."
    STOPPING = "server stops", "The server is about to stop: no new game begins.", "the server is going down"
    VENUE_PAUSED = ("venue paused", "An operator has paused the venue: nobody is paired in it.", "the venue is paused")
    PAUSED = (
        "paused",
        "Its owner has paused it: it gets no new game until its owner resumes it.",
        "its owner has paused it",
        "Your owner has paused you: you get no new game until your owner resumes you.",
    )
    SENT_HOME = (
        "draining",
        "Its owner sent it home: it gets no new game, and goes when its running ones have ended.",
        "it wants no more",
    )
    DRAINING = (
        "draining",
        "It wants to leave: it gets no new game, and goes when its running ones have ended.",
        "it wants no more",
    )
    RESTING = (
        "resting",
        "The bot itself has asked for a pause: it gets no new game until it says ready.",
        "it has asked for a pause",
    )
    SUSPENDED = (
        "suspended",
        "It was told: {seen.suspension}",
        "it is suspended, as it spoilt too many games in a row (cgos-server bot recall lets it play again)",
        "{seen.suspension}",
    )
    OUT_OF_HOURS = (
        "out of hours",
        "It was told: {seen.closed}",
        "its games begin only at these hours (UTC): {seen.hours}",
        "{seen.closed}",
    )
    AT_LIMIT = (
        "at its daily limit",
        "It has begun {seen.begun} games within 24 hours, and it or its owner allows {seen.most}: the next one begins "
        "when the oldest of them is a day old.",
        "it has as many as it or its owner allows",
        "You have begun {seen.begun} games within 24 hours, and you or your owner allow {seen.most}: the next one "
        "begins when the oldest of them is a day old.",
    )
    OWES_READY = (
        "owes ready",
        "It has not said ready since its last game ended, and gets no new one before.",
        "it has not said ready since its last one ended",
        "You have not answered gameover with ready, so you get no further game. Send ready to be paired again.",
    )
    PAIRED = "about to play", "A game for it is being looked for, or about to begin.", "one is about to begin"
    EVENT = (
        "in an event",
        "It is kept for its next game in an event, which goes before others and begins as soon as both are free.",
        "it is kept for an event",
    )
    QUESTION = (
        "in a question",
        "It is kept for its next game in a question of an owner, which begins as soon as both are free.",
        "it is kept for a question",
    )
    PLAYING = "playing", "It has the games that it wants, and plays {seen.at_once}.", "it plays game {seen.numbers}"
    COUNTING = "being counted", "Its games of the last 24 hours are being counted."
    SLOW = "slow to read", "Its connection does not take what the server writes: it gets no new game until it does."

    __hash__ = object.__hash__  # all players' sets of holds are looked at for each pairing pass

    def __init__(self, state: str, owner: str, operator: str = "", bot: str = "") -> None:
        self.state = state
        self.owner = owner
        self.operator = operator or f"it is {state}"
        self.bot = bot


PASSING: Final = frozenset({Hold.PAIRED, Hold.PLAYING, Hold.EVENT, Hold.QUESTION, Hold.COUNTING, Hold.SLOW})
"""Holds that pass by themselves, after a game at most: a version without others can soon be somebody's opponent."""

IDLE: Final = "idle"
"""The state of a version that nothing holds, and that plays nothing."""

NOT_HERE: Final = "It is not signed in, and no game of it runs."
"""Of a version that the live server does not know of, which is :attr:`Hold.AWAY`."""


class Seen(msgspec.Struct, kw_only=True, frozen=True):
    """What is to be known of one version in one venue, to say why it is not paired.

    :ivar games: those that it plays, by number
    :ivar begun: games begun within a day, `most`: as many as it may begin; None for any number
    :ivar suspension: why it is suspended and how it comes back; empty where it is not
    :ivar hours: when its games may begin, `closed`: what it is told outside these hours, empty within
    :ivar others: other versions that are signed in, `free`: those of them that nothing holds
    """

    holds: Set[Hold] = frozenset()
    games: Sequence[int] = ()
    begun: int = 0
    most: int | None = None
    suspension: str = ""
    hours: str = ""
    closed: str = ""
    others: int = 0
    free: int = 0

    @property
    def hold(self) -> Hold | None:
        """The one that is named."""
        return next((hold for hold in Hold if hold in self.holds), None)

    @property
    def numbers(self) -> str:
        """Its games, for people."""
        return ", ".join(map(str, self.games))

    @property
    def at_once(self) -> str:
        """How many games it plays, for people."""
        return "one at a time" if len(self.games) < 2 else f"{len(self.games)} at once"

    def fill(self, template: str) -> str:
        """A sentence of a hold, with what is known put in."""
        return template.format(seen=self)


class PlayStatus(msgspec.Struct, kw_only=True, frozen=True):
    """What a version does just now, as its owner sees it.

    :ivar why: why it is not paired, or what it waits for; a sentence
    :ivar waits: nothing stands between it and its next game but an opponent, or the game that it has
    """

    state: str
    why: str
    waits: bool


def for_owner(seen: Seen) -> PlayStatus:
    """What its owner is told."""
    hold = seen.hold
    if hold is None:
        return PlayStatus(state=Hold.PLAYING.state if seen.games else IDLE, why=_what_it_waits_for(seen), waits=True)
    why = seen.fill(hold.owner)
    if seen.games and hold not in (Hold.PLAYING, Hold.PAIRED, Hold.AWAY):
        many = f"game {seen.games[0]} goes" if len(seen.games) == 1 else f"its {len(seen.games)} running games go"
        why = f"{why} Meanwhile {many} on."
    return PlayStatus(state=hold.state, why=why, waits=hold in (Hold.PLAYING, Hold.PAIRED, Hold.EVENT, Hold.QUESTION))


def for_bot(seen: Seen) -> str:
    """What the bot itself is told; empty where it is told of no hold."""
    return next((seen.fill(hold.bot) for hold in Hold if hold in seen.holds and hold.bot), "")


def for_operator(seen: Seen) -> str:
    """Why it cannot have a game now, as the end of a sentence; empty where nothing holds it."""
    return "" if seen.hold is None else seen.fill(seen.hold.operator)


def _what_it_waits_for(seen: Seen) -> str:
    room = "It has room for another game. " if seen.games else ""
    if not seen.others:
        return f"{room}It is the only bot here."
    if not seen.free:
        others = "The other bot here is" if seen.others == 1 else f"All {seen.others} other bots here are"
        return f"{room}{others} busy, or held back by limits."
    could = "1 other bot is" if seen.free == 1 else f"{seen.free} other bots are"
    return f"{room}It waits for the next pairing: {could} free."
