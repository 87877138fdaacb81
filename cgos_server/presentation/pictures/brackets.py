"""Which picture of a bracket an event has: that of a cup, that of a double elimination, or none.

Must not know: how pictures are drawn, files, addresses.
"""

from __future__ import annotations

from cgos_server.presentation.pictures.bracket_picture import MatchLinks, bracket_svg
from cgos_server.presentation.pictures.branches_picture import branches_svg
from cgos_server.tournaments.base import Event
from cgos_server.tournaments.standings.branches import branch_matches
from cgos_server.tournaments.systems.cup import Cup
from cgos_server.tournaments.systems.double_elimination import DoubleElimination
from cgos_server.tournaments.tournament import system_of


def bracket_of(event: Event, links: MatchLinks | None = None) -> str | None:
    """The picture; None where its system has no bracket, or nothing is paired yet. Raises Refused where a record does
    not fit its system.

    :param links: where matches lead, for a picture that is a part of a page; None: it stands alone
    """
    system = system_of(event)
    if isinstance(system, Cup):
        cup = system.matches(event)
        return bracket_svg(event, cup, links) if cup else None
    if isinstance(system, DoubleElimination):
        matches = branch_matches(event, system.replays)
        return branches_svg(event, matches, links) if matches else None
    return None
