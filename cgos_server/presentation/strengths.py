"""What the pages know of strengths jointly: the saved state of a venue's rating system, some time old.

While games are played a state is saved every few seconds; it is loaded again once a minute at most. Loading costs one
factorisation and is done in a thread; nothing is ever refitted here. Must not know: HTTP, how a page looks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from cgos_protocol.errors import Refused
from cgos_protocol.ids import VersionId
from cgos_server.core.questions.posterior import Games, Prior, superiority
from cgos_server.core.rating.base import Rating, RatingSystem
from cgos_server.presentation.settings import WebSettings
from cgos_server.service.ratings.expectation import Chances
from cgos_server.service.ratings.odds import Joint, Odds, Table, odds, table
from cgos_server.storage.reading.answers import SavedState
from cgos_server.storage.reading.history import History

FRESH_S: Final = 60.0
"""How old what is known may be before a newer state is loaded."""

MOST: Final = 20
"""Versions in the table of who is stronger."""

MOST_CHANCES: Final = 100_000
"""Pairs of a venue whose expected scores are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strengths:
    """A venue's strengths.

    :ivar system: name of the rating system
    :ivar place: the entry and the refit after which the state was saved
    :ivar names: version id -> wire name, of everybody who has played, and `ids` the other way
    :ivar table: the best against each other
    :ivar headline: True where the ratings that are shown are this system's
    """

    system: str
    place: tuple[int, int]
    names: dict[VersionId, str]
    ids: dict[str, VersionId]
    table: Table
    headline: bool
    _system: RatingSystem
    _state: Any
    _chances: dict[tuple[VersionId, VersionId], Chances]

    @property
    def newcomer(self) -> Rating | None:
        """Where a version without a predecessor begins; None where another system says so."""
        assert isinstance(self._system, Joint)
        return self._system.rate_newcomer(self._state) if self.headline else None

    @property
    def seq(self) -> int:
        """The last entry that is counted."""
        return self.place[0]

    def odds(self, one: str, other: str) -> Odds | None:
        """Two versions compared; None where one of these names has not played, or where both are the same."""
        both = self._both(one, other)
        return None if both is None else odds(self._system, self._state, *both)

    def chances(self, one: str, other: str) -> Chances | None:
        """The expected scores alone, which are much cheaper, and kept; None as in :meth:`odds`."""
        both = self._both(one, other)
        if both is None:
            return None
        first, second = both
        known = self._chances.get(both)
        if known is None:
            black = self._system.predict(self._state, first, second).score
            white = self._system.predict(self._state, second, first).score
            if len(self._chances) >= MOST_CHANCES:
                self._chances.clear()
            known = self._chances[both] = Chances(black, 1 - white)
        return known

    def chances_at(self, difference: float) -> Chances | None:
        """The expected scores of somebody who is `difference` Elo ahead by the ratings that are shown; None where they
        are another system's."""
        if not self.headline:
            return None
        assert isinstance(self._system, Joint)
        black, white = (self._system.outcome_at(self._state, ahead).score for ahead in (difference, -difference))
        return Chances(black, 1 - white)

    def superiority(self, one: VersionId, other: VersionId, games: Games) -> float | None:
        """The probability that `one` is stronger than `other`, by the state and games that it does not know; None where
        it does not know both."""
        assert isinstance(self._system, Joint)
        try:
            prior = Prior(*self._system.joint_difference(self._state, one, other))
        except KeyError:
            return None
        return superiority(prior, games, partial(self._system.outcome_at, self._state))

    def _both(self, one: str, other: str) -> tuple[VersionId, VersionId] | None:
        """Their ids; None where one of these names has not played, or where both are the same."""
        first, second = self.ids.get(one), self.ids.get(other)
        return None if first is None or second is None or first == second else (first, second)


class StrengthsOf:
    """The latest of each venue that somebody asked for.

    :param clock: seconds of a monotonic clock
    """

    def __init__(self, history: History, settings: WebSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._history = history
        self._settings = settings
        self._clock = clock
        self._known: dict[str, tuple[float, int, Strengths]] = {}
        self._systems: dict[str, list[RatingSystem]] = {}
        self._one_at_a_time = asyncio.Lock()

    async def venue(self, name: str) -> Strengths | None:
        """None in a sandbox, and where there is no saved state of a system that knows strengths jointly, or none that
        can be read."""
        if name in self._settings.sandboxes:
            return None
        async with self._one_at_a_time:
            if name not in self._systems:
                self._systems[name] = await asyncio.to_thread(self._joint, name)
            headline = self._settings.rated(name).systems[0]
            for system in self._systems[name]:
                place = await self._history.refits.state_place(name, system.name)
                if place is None:
                    continue
                names_known = self._history.names_known
                at, knew, known = self._known.get(name, (0.0, 0, None))
                known = known if knew == names_known else None
                fresh = known is not None and self._clock() - at < FRESH_S
                if known is None or known.system != system.name or (known.place != place and not fresh):
                    saved = await self._history.refits.state(name, system.name)
                    if saved is None:
                        continue
                    names = await self._history.bots.version_names()
                    try:
                        known = await asyncio.to_thread(_loaded, system, saved, names, headline=system.name == headline)
                    except ValueError:
                        continue  # of another release, or saved under other options
                    self._known[name] = self._clock(), names_known, known
                return known
        return None

    def _joint(self, venue: str) -> list[RatingSystem]:
        """In a thread, since some systems import much when they are first asked for."""
        rated = self._settings.rated(venue)
        try:
            return [system for system in map(rated.system, rated.systems) if isinstance(system, Joint)]
        except Refused:
            return []


def _loaded(system: RatingSystem, saved: SavedState, names: dict[VersionId, str], *, headline: bool) -> Strengths:
    # The linear algebra is not needed before somebody asks.
    from cgos_server.service.ratings.build import one_thread

    one_thread()
    state = system.load(saved.state)
    standings = system.standings(state)
    played = {version: names[version] for version, rating in standings.items() if rating.games and version in names}
    ids = {name: version for version, name in played.items()}
    best = table(system, state, MOST, played)
    return Strengths(
        system=system.name,
        place=(saved.seq, saved.refit),
        names=played,
        ids=ids,
        table=best,
        headline=headline,
        _system=system,
        _state=state,
        _chances={},
    )
