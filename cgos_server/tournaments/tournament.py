"""A tournament as its users handle it: an event in; its next round, its standings, its state as JSON out.

    event = Event("dutch", (Entrant(1, "Ann", 2400.0), ...), seed=7)
    event = begin(event, next_round(event))
    event = apply(event, [Played(1, 2, WHITE_WINS), ...])
    standings(event)

What is drawn by lot follows from the event's seed and the round's number, so that every round can be computed again.
Must not know: single systems, files.
"""

from __future__ import annotations

import msgspec

from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.base import Entrant, Event, Round, Standings, System
from cgos_server.tournaments.chance import Lots
from cgos_server.tournaments.checking import checked
from cgos_server.tournaments.event import enter, open_games
from cgos_server.tournaments.registry import system

FORMAT = 1
"""Of an event's JSON; readers refuse a newer one."""


def system_of(event: Event) -> System:
    """Its system. Raises Refused where word or options are unknown."""
    return system(event.system, event.options)


def lots(event: Event) -> Lots:
    """The lots of the next round."""
    return Lots(event.seed, len(event.rounds) + 1)


def next_round(event: Event) -> Round:
    """The next round, not yet part of the record. Raises Refused where there can be none."""
    return system_of(event).pair(event, lots(event))


def ready_games(event: Event) -> tuple[Round, ...]:
    """What could begin now, as parts of rounds, though other games may still be played; nothing where one has to wait
    for these, or the event is over. Raises Refused where nothing can begin though nothing is played either."""
    rounds = system_of(event).ready_games(event, lots(event))
    if rounds or open_games(event) or is_over(event):
        return rounds
    return (next_round(event),)


def admit(event: Event, entrant: Entrant) -> Event:
    """The event with one more entrant. Raises Refused also where the system takes nobody any more."""
    why = system_of(event).closed(event)
    if why:
        raise Invalid(
            Code.FIELD_FIXED, f"{entrant.name} cannot enter: {why} Take the rounds back, or hold another event."
        )
    return enter(event, entrant)


def standings(event: Event) -> Standings:
    """Who stands where, by the rules of the event's system."""
    return system_of(event).standings(event)


def is_over(event: Event) -> bool:
    """Nothing is left to pair, and every game has its result."""
    return system_of(event).is_over(event)


def to_json(event: Event) -> bytes:
    """The whole event, one line."""
    return msgspec.json.encode(event)


def from_json(text: bytes | str) -> Event:
    """The inverse of :func:`to_json`.

    :raises Refused: where it is not an event's JSON, or a newer format's, or contradicts itself; the sentence says
        where
    """
    try:
        event = msgspec.json.decode(text, type=Event)
    except (msgspec.DecodeError, UnicodeError) as problem:  # a ValidationError is one
        raise Invalid(Code.EVENT_JSON, f"This is not an event's JSON: {problem}.") from problem
    except RecursionError as problem:
        raise Invalid(Code.EVENT_JSON, "This is not an event's JSON: it is nested too deeply.") from problem
    if event.format > FORMAT:
        raise Invalid(
            Code.EVENT_FORMAT,
            f"The event has format {event.format}; this program reads up to {FORMAT}. Use a newer one.",
        )
    if event.format < 1:
        raise Invalid(Code.EVENT_FORMAT, f"The event has format {event.format}, which there never was. Write {FORMAT}.")
    return checked(event)
