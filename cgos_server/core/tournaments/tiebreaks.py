"""Tie-breakers: what separates those with equal points.

Must not know: pairing.
"""

from __future__ import annotations

from collections.abc import Sequence

from cgos_server.core.tournaments.base import Event, Standings
from cgos_server.core.tournaments.ledger import ledger
from cgos_server.core.tournaments.standings import ranked


def standings_by(event: Event, order: Sequence[str]) -> Standings:
    """The standings by these words."""
    lines = ledger(event).lines
    values = {word: {id_: line.score / 2 for id_, line in lines.items()} for word in order}
    return ranked(event, order, values)
