"""From entries of events' logs to what owners of entrants are told: an event started, a round is paired, an event is
over.

Must not know: who is told, or how; where logs come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from cgos_protocol.facts import EventMoved
from cgos_server.presentation.events import answers
from cgos_server.presentation.events.record import EventRecord
from cgos_server.tournaments.base import Round
from cgos_server.tournaments.running import log
from cgos_server.web.people.happenings import Happening

EVENTS: Final = ("event-started", "event-round", "event-ended")
"""Words of webhooks."""

_TOLD: Final = ("started", "paired", "finished", "cancelled")


def may_tell(fact: EventMoved) -> bool:
    """False where nobody is told of it."""
    return fact.kind in _TOLD


def of_entry(record: EventRecord, seq: int) -> list[Happening]:
    """What an entry means to the versions that have entered; nothing where it is not known, or nobody is told."""
    if not 1 <= seq <= len(record.entries):
        return []
    tell = partial(_happening, record, seq)
    match record.entries[seq - 1].said:
        case log.Started():
            return [tell("event-started", name, {}) for name in _entrants(record)]
        case log.Paired(round=paired) if seq in record.new_rounds:
            return [tell("event-round", name, more) for name, more in _meetings(record, paired)]
        case log.Finished() | log.Cancelled():
            ends = _ends(record)
            return [tell("event-ended", name, ends.get(name, {})) for name in _entrants(record)]
    return []


def since(record: EventRecord, at: int) -> list[Happening]:
    """All that entries from this time on (Unix ms) mean."""
    later = [entry.seq for entry in record.entries if entry.at >= at]
    return [happening for seq in later for happening in of_entry(record, seq)]


def _entrants(record: EventRecord) -> list[str]:
    """Who is in the event, or was when it started."""
    seats, started = record.state.seats, record.state.event.by_id
    return [seat.name for seat in seats.values() if seat.entrant in started or not (started or seat.waits)]


def _meetings(record: EventRecord, paired: Round) -> Iterator[tuple[str, dict[str, Any]]]:
    """Who plays whom, or has a bye. In several games of one round: the first one's."""
    names = record.state.event.names
    seen: set[int] = set()
    for game in paired.games:
        for own, other, color in ((game.black, game.white, "black"), (game.white, game.black, "white")):
            if own not in seen:
                seen.add(own)
                yield names[own], {"opponent": names[other], "color": color, "reason": game.reason}
    for bye in paired.byes:
        if bye.entrant not in seen:
            yield names[bye.entrant], {"opponent": None, "color": None, "points": bye.points / 2}


def _ends(record: EventRecord) -> dict[str, dict[str, Any]]:
    return {one.version: {"place": one.place, "points": one.points} for one in answers.entrants(record)}


def _happening(record: EventRecord, seq: int, event: str, version: str, more: dict[str, Any]) -> Happening:
    entry, settings = record.entries[seq - 1], record.state.settings
    number = entry.said.round.number if isinstance(entry.said, log.Paired) else None
    tournament = {
        "name": settings.name,
        "venue": settings.venue,
        "seq": seq,
        "round": number,
        "sentence": record.sentences[seq - 1],
    }
    return Happening(
        event=event, version=version, venue=settings.venue, at=entry.at, more={"tournament": tournament, **more}
    )
