"""What a version of a bot does just now, and why it is not paired: a word, and a sentence for its owner.

Values in, values out. Must not know: where they come from, who asks, what the bot itself is told.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

from cgos_protocol.session import Availability


class Word(enum.StrEnum):
    """What it does, or what keeps it from a new game; the first that is true, from above."""

    AWAY = "not connected"
    STOPPING = "server stops"
    VENUE_PAUSED = "venue paused"
    PAUSED = "paused"
    """Its owner wants no game for it."""
    DRAINING = "draining"
    RESTING = "resting"
    """The bot itself wants no game for now."""
    ASIDE = "set aside"
    CLOSED = "out of hours"
    AT_LIMIT = "at its daily limit"
    OWING = "owes ready"
    PAIRED = "about to play"
    PLAYING = "playing"
    COUNTING = "being counted"
    SLOW = "slow to read"
    IDLE = "idle"


class Seen(NamedTuple):
    """What is to be known of one version in one venue.

    :ivar here: it is signed in
    :ivar stopping: the server takes no new game
    :ivar called_home: its owner has sent it home
    :ivar aside: why it is set aside and how it comes back; empty where it is not
    :ivar closed: what it is told outside its hours; empty within
    :ivar begun: games begun within a day, `most`: as many as it may begin; None for any number
    :ivar counting: they are being counted
    :ivar games: those that it plays
    :ivar full: it has no slot for another one
    :ivar reserved: an act of pairing looks at it, or its game is being written down
    :ivar alive: its connection takes what is written
    :ivar others: other versions that are signed in, `free`: those of them that could play now
    """

    here: bool = True
    stopping: bool = False
    venue_paused: bool = False
    paused: bool = False
    called_home: bool = False
    availability: Availability = Availability.READY
    aside: str = ""
    closed: str = ""
    begun: int = 0
    most: int | None = None
    counting: bool = False
    owing: bool = False
    games: Sequence[int] = ()
    full: bool = False
    reserved: bool = False
    alive: bool = True
    others: int = 0
    free: int = 0


WAITING = (Word.IDLE, Word.PLAYING, Word.PAIRED)
"""Nothing stands between it and its next game but an opponent, or the game that it has."""


NOT_HERE = "It is not signed in, and no game of it runs."
"""Of a version that the live server does not know of, which is :attr:`Word.AWAY`."""


def standing(seen: Seen) -> tuple[Word, str]:
    """The word, and why it is not paired just now."""
    word, why = _held(seen) or _waits(seen)
    if seen.games and word not in (Word.PLAYING, Word.PAIRED, Word.AWAY):
        many = f"game {seen.games[0]} goes" if len(seen.games) == 1 else f"its {len(seen.games)} running games go"
        why = f"{why} Meanwhile {many} on."
    return word, why


def _held(seen: Seen) -> tuple[Word, str] | None:
    """What keeps it from any new game."""
    if not seen.here:
        return Word.AWAY, "It is not connected, and its running game goes on: its clock runs while it is to move."
    if seen.stopping:
        return Word.STOPPING, "The server is about to stop: no new game begins."
    if seen.venue_paused:
        return Word.VENUE_PAUSED, "An operator has paused the venue: nobody is paired in it."
    if seen.paused:
        return Word.PAUSED, "Its owner has paused it: it gets no new game until its owner resumes it."
    if seen.availability is Availability.DRAINING:
        who = "Its owner sent it home" if seen.called_home else "It wants to leave"
        return Word.DRAINING, f"{who}: it gets no new game, and goes when its running ones have ended."
    if seen.availability is Availability.PAUSED:
        return Word.RESTING, "The bot itself has asked for a pause: it gets no new game until it says ready."
    if seen.aside:
        return Word.ASIDE, f"It was told: {seen.aside}"
    if seen.closed:
        return Word.CLOSED, f"It was told: {seen.closed}"
    if seen.most is not None and seen.begun >= seen.most and not seen.counting:
        return Word.AT_LIMIT, (
            f"It has begun {seen.begun} games within 24 hours, and it or its owner allows {seen.most}: the next one "
            "begins when the oldest of them is a day old."
        )
    if seen.owing:
        return Word.OWING, "It has not said ready since its last game ended, and gets no new one before."
    return None


def _waits(seen: Seen) -> tuple[Word, str]:
    """What it does that could have games."""
    if seen.reserved:
        return Word.PAIRED, "A game for it is being looked for, or about to begin."
    if seen.full:
        room = "and plays one at a time" if len(seen.games) < 2 else f"and plays {len(seen.games)} at once"
        return Word.PLAYING, f"It has the games that it wants, {room}."
    word = Word.PLAYING if seen.games else Word.IDLE
    if seen.counting:
        return Word.COUNTING, "Its games of the last 24 hours are being counted."
    if not seen.alive:
        return Word.SLOW, "Its connection does not take what the server writes: it gets no new game until it does."
    room = "It has room for another game. " if seen.games else ""
    if not seen.others:
        return word, f"{room}It is the only bot here."
    if not seen.free:
        others = "The other bot here is" if seen.others == 1 else f"All {seen.others} other bots here are"
        return word, f"{room}{others} busy, or held back by limits."
    could = "1 other bot is" if seen.free == 1 else f"{seen.free} other bots are"
    return word, f"{room}It waits for the next pairing: {could} free."
