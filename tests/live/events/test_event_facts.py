"""What is committed of an event goes to the bus."""

from __future__ import annotations

import pytest
from support.tournaments.held_events import HeldEvent

from cgos_protocol.facts import EventMoved
from cgos_server.live.bus import Bus
from cgos_server.live.events.event_facts import event_facts
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings


def test_an_entry_is_published_with_where_the_event_stands() -> None:
    bus = Bus(lambda error: pytest.fail(str(error)))
    published: list[EventMoved] = []
    committed = event_facts(bus, lambda: 5_000)
    held = HeldEvent(EventSettings(name="Open", venue="9x9", system="dutch", rounds=2))
    committed(held.state, log.Opened(), held.state)  # nobody listens
    bus.subscribe(EventMoved, published.append)
    held.start(["Ann-1", "Bob-1"])
    said = held.entries[-1].said
    committed(held.state, said, held.state)
    committed(held.state, None, held.state)
    assert published == [
        EventMoved(venue="9x9", event="Open", seq=held.state.seq, kind=kind, phase="running", round=1, at=5.0)
        for kind in ("paired", "began")
    ]
