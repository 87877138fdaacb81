"""Facts about events: an entry of a log that is committed goes to the bus.

Must not know: who listens, what follows from an entry.
"""

from __future__ import annotations

from collections.abc import Callable

from cgos_protocol.facts import EventMoved
from cgos_server.live.bus import FactBus
from cgos_server.live.events.runner import Committed
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import EventState


def event_facts(bus: FactBus, now_ms: Callable[[], int]) -> Committed:
    """What hears of entries and publishes them."""

    def committed(before: EventState, said: log.Said | None, after: EventState) -> None:  # noqa: ARG001
        if not bus.wanted(EventMoved):
            return
        fact = EventMoved(
            venue=after.settings.venue,
            event=after.settings.name,
            seq=after.seq,
            kind=BEGAN if said is None else log.kind_of(said),
            phase=after.phase.value,
            round=len(after.event.rounds),
            at=now_ms() / 1000,
        )
        bus.publish(fact)

    return committed


BEGAN = "began"
"""What is submitted by others is that a game begins."""
