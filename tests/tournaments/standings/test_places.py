"""Places: sorted, shared where nothing separates."""

from __future__ import annotations

from support.tournaments.events import entrants

from cgos_server.tournaments.base import Event
from cgos_server.tournaments.standings.places import ranked


def test_equal_entrants_share_a_place() -> None:
    event = Event(system="swiss", entrants=entrants([None] * 5))
    values = {"points": {1: 1.0, 2: 3.0, 3: 1.0, 4: 0.5, 5: 1.0}, "byes": {1: 1.0, 2: 0.0, 3: 0.0, 4: None, 5: 1.0}}
    table = ranked(event, ("points", "byes"), values, ascending=("byes",))
    assert [(row.place, row.entrant) for row in table.rows] == [(1, 2), (2, 3), (3, 1), (3, 5), (5, 4)]
    assert table.rows[0].values == (3.0, 0.0)
    assert table.order == ("points", "byes")
