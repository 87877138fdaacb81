"""Which plug-ins are installed: the entry points that other distributions declare in this program's groups.

The one place that looks at the Python environment. A group's plug-ins are plain values, in an order that depends on
nothing but what is installed, so that every process of a server (its children, the web process, a command beside it)
finds the same. Must not know: what a plug-in is for, what becomes of one that cannot be used.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple


class Group(enum.StrEnum):
    """The groups of entry points."""

    GAMES = "cgos_server.games"
    RATING_SYSTEMS = "cgos_server.rating_systems"
    MATCHMAKERS = "cgos_server.matchmakers"
    TOURNAMENT_SYSTEMS = "cgos_server.tournament_systems"


class Plugin(NamedTuple):
    """One entry point.

    :ivar name: the word by which people choose it
    :ivar distribution: the name of the distribution that brings it
    :ivar version: that distribution's version
    :ivar load: imports and returns what it refers to; raises whatever that raises
    """

    name: str
    distribution: str
    version: str
    load: Callable[[], Any]

    @property
    def origin(self) -> str:
        """Who brings it, as records and people have it: ``cgos-first-capture 1.2``."""
        return f"{self.distribution} {self.version}"


@cache  # What is installed does not change under a running process: a package takes part from the next start on.
def installed(group: Group) -> tuple[Plugin, ...]:
    """The plug-ins of a group by name, then by distribution. Nothing of them is imported."""
    from importlib.metadata import entry_points  # takes longer than many a command does without plug-ins

    plugins = [
        Plugin(entry.name, entry.dist.name, entry.dist.version, entry.load)
        for entry in entry_points(group=group.value)
        if entry.dist is not None
    ]
    return tuple(sorted(plugins, key=lambda plugin: plugin[:3]))
