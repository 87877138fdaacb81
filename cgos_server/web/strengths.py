"""What the pages know of strengths jointly: the saved state of a venue's rating system, loaded once per saved state.

Loading costs one factorisation and is done in a thread; nothing is ever refitted here. Must not know: HTTP, how a page
looks.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from cgos_server.core.rating.base import Rating, RatingSystem
from cgos_server.errors import Refused
from cgos_server.service.odds import Joint, Odds, Table, odds, table
from cgos_server.storage.history import History
from cgos_server.web.settings import WebSettings

MOST: Final = 20
"""Versions in the table of who is stronger."""


@dataclass(frozen=True, slots=True)
class Strengths:
    """A venue's strengths.

    :ivar system: name of the rating system
    :ivar place: the entry and the refit after which the state was saved
    :ivar names: version id -> wire name, of everybody who has played
    :ivar table: the best against each other
    """

    system: str
    place: tuple[int, int]
    names: dict[int, str]
    ratings: dict[int, Rating]
    table: Table
    _system: RatingSystem
    _state: Any

    @property
    def seq(self) -> int:
        """The last entry that is counted."""
        return self.place[0]

    def pair(self, one: str, other: str) -> tuple[Rating, Rating, Odds] | None:
        """Two versions compared; None where one of these names has not played, or where both are the same."""
        ids = {name: version for version, name in self.names.items()}
        if one == other or one not in ids or other not in ids:
            return None
        first, second = ids[one], ids[other]
        return self.ratings[first], self.ratings[second], odds(self._system, self._state, first, second)


class StrengthsOf:
    """The latest of each venue that somebody asked for."""

    def __init__(self, history: History, settings: WebSettings) -> None:
        self._history = history
        self._settings = settings
        self._known: dict[str, Strengths] = {}
        self._one_at_a_time = asyncio.Lock()

    async def venue(self, name: str) -> Strengths | None:
        """None where there is no saved state of a system that knows strengths jointly, or none that can be read."""
        async with self._one_at_a_time:
            for system in await asyncio.to_thread(self._systems, name):
                place = await self._history.rating_state_place(name, system.name)
                if place is None:
                    continue
                known = self._known.get(name)
                if known is None or known.place != place or known.system != system.name:
                    saved = await self._history.rating_state(name, system.name)
                    if saved is None:
                        continue
                    names = await self._history.version_names()
                    try:
                        known = await asyncio.to_thread(_loaded, system, saved.seq, saved.refit, saved.state, names)
                    except ValueError:
                        continue  # of another release, or saved under other options
                    self._known[name] = known
                return known
        return None

    def _systems(self, venue: str) -> list[RatingSystem]:
        """In a thread, since some systems import much when they are first asked for."""
        rated = self._settings.rated(venue)
        try:
            return [system for system in map(rated.system, rated.systems) if isinstance(system, Joint)]
        except Refused:
            return []


def _loaded(system: RatingSystem, seq: int, refit: int, data: bytes, names: dict[int, str]) -> Strengths:
    # The linear algebra is not needed before somebody asks.
    from cgos_server.service.build import one_thread

    one_thread()
    state = system.load(data)
    ratings = {version: rating for version, rating in system.standings(state).items() if rating.games}
    played = {version: names[version] for version in ratings if version in names}
    best = table(system, state, MOST, played)
    return Strengths(system.name, (seq, refit), played, ratings, best, system, state)
