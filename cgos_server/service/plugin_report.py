"""Which plug-ins are installed and which of them cannot be used, for people.

Must not know: what any of them does, who is told.
"""

from __future__ import annotations

from typing import NamedTuple

from cgos_protocol.games.registry import games
from cgos_server.core.pairing.registry import matchmakers
from cgos_server.core.rating.registry import systems
from cgos_server.tournaments.registry import systems as tournament_systems


class PluginReport(NamedTuple):
    """:ivar used: phrases: ``rating system steady-elo of cgos-steady-elo 1.0``
    :ivar problems: sentences about those that clash or fail
    """

    used: list[str]
    problems: list[str]


def plugin_report() -> PluginReport:
    """All plug-ins of this environment. Imports them when it is first asked for."""
    catalogs = (games(), systems(), matchmakers(), tournament_systems())
    return PluginReport(
        [f"{catalog.noun} {name} of {origin}" for catalog in catalogs for name, origin in catalog.origins.items()],
        [problem for catalog in catalogs for problem in catalog.problems],
    )
