"""A log with other names is the same event: places, points and rounds are the same, and nobody is called as before."""

from __future__ import annotations

import random

import msgspec
import pytest
from support.tournaments.live_events import LiveEvent, settings_of

from cgos_server.core.renaming import Renaming
from cgos_server.tournaments.base import Standings
from cgos_server.tournaments.registry import SYSTEMS
from cgos_server.tournaments.running.renamed import renamed
from cgos_server.tournaments.running.state import EventState, fold
from cgos_server.tournaments.tournament import standings


def as_text(value: EventState | Standings) -> str:
    return msgspec.json.encode(value).decode()


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_reads_a_log_with_other_names_as_the_same_event(system: str) -> None:
    event = LiveEvent(settings_of(system, 5), random.Random(f"renamed {system}"))
    event.start(8)
    event.run(4)
    renaming = Renaming({f"Bot-{number}": f"deleted-{2 * number}" for number in (1, 4)})
    entries = [entry._replace(said=renamed(entry.said, renaming.text)) for entry in event.entries]
    again, before = fold(entries), event.state
    assert "Bot-1" in [seat.name for seat in before.seats.values()]
    assert not {"Bot-1", "Bot-4"} & {seat.name for seat in again.seats.values()}
    assert renaming.text(as_text(again)) == as_text(again)
    assert as_text(standings(again.event)) == renaming.json(as_text(standings(before.event)))
    assert msgspec.json.decode(renaming.json(as_text(before))) == msgspec.json.decode(as_text(again))
