"""Looks once an hour whether everything that is rated in a venue plays like its number, and tells the operator.

What it noticed is kept in memory alone, for whoever asks: after a start it is computed again from the games, a minute
later. A version that is on watch or flagged is tested anew at every look, so that corrections take back what
rested on the games that they changed. Must not know: how that is tested, how ratings are computed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Protocol

import msgspec
import structlog

from cgos_protocol.api.messages import StrengthChange
from cgos_protocol.errors import CgosError
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Outcome
from cgos_server.core.rating.breaks import State, looks
from cgos_server.core.renaming import Renaming
from cgos_server.observability.metrics import VenueMeter
from cgos_server.service.ratings.rating_health import check_anchors, check_version, settled
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.reading.answers import VersionGame

log = structlog.get_logger(__name__)

FIRST_S: Final = 60.0
EVERY_S: Final = 3_600.0
MOST_GAMES: Final = 20_000
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
        self._changes: dict[VersionId, StrengthChange] = {}
        self._doubted: set[str] = set()

    def changes(self) -> list[StrengthChange]:
        """The versions whose strength seems to have changed, as of the latest look, by wire name."""
        return sorted(self._changes.values(), key=lambda change: change.version)

    def rename(self, renaming: Renaming) -> None:
        """Use the new names in what was noticed."""
        renamed = renaming.values(msgspec.to_builtins(self._changes))
        self._changes = msgspec.convert(renamed, dict[VersionId, StrengthChange])

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
        """Check the anchors, every version that has another number of games at which it is looked at, and those that
        were on watch or flagged.

        :raises StoreError: where games cannot be read
        """
        self._look_at_anchors()
        changes: dict[VersionId, StrengthChange] = {}
        looked: dict[VersionId, int] = {}
        for version, rating in list(self._ratings.standings().items()):
            passed = looks(rating.games)
            if passed != self._looked.get(version, 0) or version in self._changes:
                change = await self._check(version, ())
                if change is not None:
                    changes[version] = change
                looked[version] = passed
        self._tell(await settled(changes, self._check))
        self._looked |= looked
        for state in State:
            self._meter.warnings[state] = sum(change.state == state for change in self._changes.values())

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

    def _tell(self, changes: dict[VersionId, StrengthChange]) -> None:
        """Warn of what is new among what was noticed, and keep it."""
        before, self._changes = self._changes, changes
        for version, change in changes.items():
            was = before.get(version)
            if was is None or (was.state, was.noticed_after) != (change.state, change.noticed_after):
                log.warning(change.sentence, venue=self._venue, proposal=change.proposal)
        for version in before.keys() - changes.keys():
            log.info("a version does not break with its past any more", version=self._names[version], venue=self._venue)

    async def _check(self, version: VersionId, without: Collection[VersionId]) -> StrengthChange | None:
        name = self._names[version]
        games = await self._games.games(name, self._venue, MOST_GAMES)
        ratings = dict(self._ratings.standings())
        expected = await self._expected(version, games)
        return await asyncio.to_thread(
            check_version,
            name,
            version,
            games,
            venue=self._venue,
            predict=lambda *pair: expected[pair],
            ratings=ratings,
            sure=self._ratings.system.sure,
            earlier=max(ratings[version].games - MOST_GAMES, 0) if len(games) == MOST_GAMES else 0,
            without=without,
        )

    async def _expected(
        self, version: VersionId, games: Sequence[VersionGame]
    ) -> dict[tuple[VersionId, VersionId], Outcome]:
        """(black, white) -> what to expect of the two, for all pairs of these games."""
        met = {(version, game.opponent) if game.color == "black" else (game.opponent, version) for game in games}
        expected = {}
        for number, pair in enumerate(sorted(met)):
            expected[pair] = self._ratings.predict(*pair)
            if number % _A_TURN == _A_TURN - 1:
                await asyncio.sleep(0)
        return expected
