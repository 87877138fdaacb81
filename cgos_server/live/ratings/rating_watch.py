"""Looks once an hour whether everything that is rated in a venue plays like its number, and tells the operator.

Must not know: how that is tested, how ratings are computed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final, Protocol

import structlog

from cgos_protocol.errors import CgosError
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.breaks import looks
from cgos_server.observability.metrics import VenueMeter
from cgos_server.service.ratings.rating_health import BreakFinding, check_anchors, check_version
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.reading.answers import VersionGame

log = structlog.get_logger(__name__)

FIRST_S: Final = 60.0
EVERY_S: Final = 3_600.0
MOST_GAMES: Final = 10_000
"""Of a version, the latest ones."""

_A_TURN: Final = 50
"""Predictions in one turn of the event loop."""


class Games(Protocol):
    """Where a version's games are read; :class:`cgos_server.storage.reading.changes.Changes` does it."""

    async def games(self, version: str, venue: str, limit: int | None = None) -> list[VersionGame]: ...


class RatingWatch:
    """One a venue. For a task group: ``group.create_task(watch.run())``.

    :param names: version id -> wire name
    """

    def __init__(
        self, venue: str, ratings: VenueRatings, games: Games, names: Mapping[VersionId, str], meter: VenueMeter
    ) -> None:
        self._venue = venue
        self._ratings = ratings
        self._games = games
        self._names = names
        self._meter = meter
        self._looked: dict[VersionId, int] = {}
        self._broken: dict[VersionId, BreakFinding] = {}
        self._doubted: set[str] = set()

    async def run(self) -> None:
        """For ever."""
        wait_s = FIRST_S
        while True:
            await asyncio.sleep(wait_s)
            wait_s = EVERY_S
            try:
                await self.look()
            except CgosError as error:
                log.warning("the ratings could not be checked", venue=self._venue, error=str(error))
            except Exception as error:  # a look that fails must not end the server
                log.error("our fault; the ratings could not be checked", venue=self._venue, exc_info=error)

    async def look(self) -> None:
        """Check the anchors, and every version that has passed another number of games at which it is looked at.

        :raises StoreError: where games cannot be read
        """
        self._look_at_anchors()
        for version, rating in list(self._ratings.standings().items()):
            passed = looks(rating.games)
            if passed > self._looked.get(version, 0):
                await self._look_at(version)
                self._looked[version] = passed
        self._meter.warnings["break"] = len(self._broken)

    def _look_at_anchors(self) -> None:
        alarms = {
            finding.version: finding.sentence
            for finding in check_anchors(self._ratings.anchor_residuals(), self._names, self._venue)
            if finding.alarm
        }
        for name in alarms.keys() - self._doubted:
            log.warning(alarms[name], venue=self._venue)
        self._doubted = set(alarms)
        self._meter.warnings["anchor"] = len(alarms)

    async def _look_at(self, version: VersionId) -> None:
        name = self._names[version]
        games = await self._games.games(name, self._venue, MOST_GAMES)
        met = {(version, game.opponent) if game.color == "black" else (game.opponent, version) for game in games}
        expected = {}
        for number, pair in enumerate(sorted(met)):
            expected[pair] = self._ratings.predict(*pair)
            if number % _A_TURN == _A_TURN - 1:
                await asyncio.sleep(0)
        finding = await asyncio.to_thread(lambda: check_version(name, version, games, lambda *pair: expected[pair]))
        if finding is None:
            self._broken.pop(version, None)
        elif self._broken.get(version) is None or self._broken[version].look != finding.look:
            self._broken[version] = finding
            log.warning(finding.sentence, venue=self._venue)
