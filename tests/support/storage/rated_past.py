"""A venue's rated past in a real database: a few versions, some dozens of results, refits that overlap with results."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from cgos_protocol.errors import CommitFailed
from cgos_protocol.terms import encode_terms
from cgos_server.config.loader import load
from cgos_server.config.venues import enroll_venues
from cgos_server.core.rating.registry import rating_system
from cgos_server.core.venue import Venue, terms_of
from cgos_server.service.ratings.build import one_thread, this_build
from cgos_server.service.ratings.ledger_fold import Begun
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage import schema
from cgos_server.storage.opening import open_store
from cgos_server.storage.store import Store
from cgos_server.storage.writing import records as r
from cgos_server.storage.writing.group_commit import CommitListener

T0 = 1_700_000_000_000  # 2023-11-14 22:13:20 UTC
NAMES = ("Ant", "Bee", "Cat", "Dog", "Elk", "Fox")
"""From weak to strong, 150 Elo apart; the first and the fifth are anchors at 1200 and 1800."""
ANCHORS = {"Ant": 1200.0, "Elk": 1800.0}
VENUE = "9x9"


class RatedPast:
    """Writes it as a live server would: every result with its records in one commit, refits begun and put in later."""

    def __init__(self, store: Store, venue: Venue, systems: Sequence[str], seed: int) -> None:
        first, *views = [rating_system(name, venue.initial, {}) for name in systems]
        self.store, self.venue = store, venue
        self.ratings = VenueRatings(venue.id, first, views, this_build().text)
        self.rng = random.Random(seed)
        self.at = T0
        self.games: list[tuple[int, int, int]] = []

    async def begin(self, names: Sequence[str] = NAMES) -> None:
        """Bots, versions, anchors."""
        group: list[r.Record] = []
        for number, name in enumerate(names, 1):
            group.append(r.BotAdded(number, name, name.lower(), "no hash", "active", T0))
            group.append(r.VersionAdded(number, number, name, name.lower(), "", "", "", "", T0))
            group += self.ratings.enter(number, self.venue.initial, T0).records
        for name, value in ANCHORS.items():
            if name in names:
                group += self.ratings.anchor(names.index(name) + 1, value, T0).records
        await self.store.commit(group)
        self.versions = list(range(1, len(names) + 1))

    async def play(self, games: int, changed: dict[int, float] | None = None) -> None:
        """So many random results; a warm refit that takes two games and a cold one that takes five go on beside them.

        :param changed: strength of versions that do not play like their number
        """
        warm: tuple[int, list[Begun]] | None = None
        cold: tuple[int, list[Begun]] | None = None
        for number in range(games):
            black, white = self.rng.sample(self.versions, 2)
            strength = {version: 1050.0 + 150.0 * version for version in self.versions} | (changed or {})
            expected = 1 / (1 + 10 ** ((strength[white] - strength[black]) / 400))
            await self.game(black, white, 2 if self.rng.random() < expected else 0)
            if warm is not None and number >= warm[0]:
                warm = await self._finish(warm[1])
            if cold is not None and number >= cold[0]:
                cold = await self._finish(cold[1])
            if cold is None and number % 20 == 3:
                cold = number + 5, self._start(cold=True)
            elif warm is None and self._refitted():
                warm = number + 2, self._start(cold=False)
        for left in (cold, warm):
            await self._finish(left[1] if left else [])

    async def game(self, black: int, white: int, score2: int, digest: int | None = None) -> int:
        """One more game; its number."""
        self.at += 60_000
        number = len(self.games) + 1
        self.games.append((black, white, score2))
        winner = {2: 0, 0: 1}.get(score2)
        result = {2: "B+3.0", 0: "W+3.0", 1: "Draw"}[score2]
        await self.store.commit(
            [
                r.RoundAdded(
                    number,
                    self.venue.id,
                    number,
                    self.at,
                    "rolling",
                    "birk",
                    "{}",
                    "1",
                    '{"candidates":[]}',
                    "{}",
                    "[]",
                ),
                r.GameAdded(
                    number,
                    self.venue.id,
                    number,
                    black,
                    white,
                    "1",
                    "2",
                    encode_terms(terms_of(self.venue)),
                    "",
                    self.at,
                ),
                r.GameEnded(self.at, winner, "score", (score2 - 1) * 6, "", result, 2, 2, number),
                *self.ratings.game(number, black, white, score2, self.at, digest).records,
            ]
        )
        return number

    async def correct(self, game: int, score2: int | None) -> int:
        """The game counts otherwise from now on; the ledger's entry."""
        self.at += 60_000
        black, white, was2 = self.games[game - 1]
        applied = self.ratings.correct(game, black, white, was2, score2, self.at)
        result = {None: "Void", 2: "B+Forfeit", 0: "W+Forfeit", 1: "Draw"}[score2]
        winner = None if score2 in (None, 1) else 0 if score2 == 2 else 1
        added = r.CorrectionAdded(game, self.at, applied.entry.seq, "operator", "a test", winner, result)
        await self.store.commit([*applied.records, added])
        return applied.entry.seq

    async def save(self) -> None:
        """The states, to start from."""
        await self.store.commit(self.ratings.states(self.at))

    def _refitted(self) -> bool:
        return all(self.ratings.refitted(name) for name in self.ratings.wanted())

    def _start(self, cold: bool) -> list[Begun]:
        return [self.ratings.begin(name, cold) for name in self.ratings.wanted()]

    async def _finish(self, begun: Sequence[Begun]) -> None:
        for started in begun:
            fit = self.ratings.refitting(started.system).refit(started.job)
            done = self.ratings.finish(started, fit, self.at, 1000)
            if done is not None:
                ranking = self.ratings.ranking(started, fit)
                assert ranking is not None
                await self.store.commit([*done, *self.ratings.ranked(ranking, ranking.task())])


def _raise(error: Exception) -> None:
    raise error


async def open_past(
    data: Path, systems: Sequence[str] = ("bayes", "cgos-elo"), seed: int = 5, names: Sequence[str] = NAMES
) -> RatedPast:
    """A new database in the directory `data` with the built-in venues; 9x9 has versions. Close its store."""
    schema.prepare(data / "cgos.sqlite")
    config = load(None, {}, {"server.data": data})

    def failed(error: CommitFailed) -> None:
        raise error

    store = await open_store(config.server.location, CommitListener(failed=failed, on_error=_raise))
    venue = next(venue for venue in await enroll_venues(config, store, T0, "here") if venue.name == VENUE)
    past = RatedPast(store, venue, systems, seed)
    await past.begin(names)
    return past


VOIDED = 3
"""The game of :func:`write_past` that was voided later."""


async def write_past(data: Path) -> None:
    """A past with everything: results, overlapping refits, a correction, a saved state and results after it."""
    past = await open_past(data)
    await past.play(30)
    await past.correct(VOIDED, None)
    await past.play(6)
    await past.save()
    await past.play(10)
    await past.store.close()


def alter(data: Path, sql: str, *values: object) -> int:
    """Change the database by hand; how many rows that were."""
    with contextlib.closing(sqlite3.connect(data / "cgos.sqlite")) as connection, connection:
        return connection.execute(sql, values).rowcount


@pytest.fixture(scope="session")
def rated_past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a rated past that nobody changes."""
    one_thread()
    data = tmp_path_factory.mktemp("rated") / "data"
    data.mkdir()
    asyncio.run(write_past(data))
    return data
