"""The read side put together: a class a subject on one set of connections, for the live server, commands and pages.

Must not know: which questions there are, how an answer is shown.
"""

from __future__ import annotations

from typing import Self

from cgos_server.storage.location import Location, PostgresUrl
from cgos_server.storage.reading.asking.questions import Questions
from cgos_server.storage.reading.bots import Bots
from cgos_server.storage.reading.bulk import Bulk
from cgos_server.storage.reading.changes import Changes
from cgos_server.storage.reading.events.lengths import GameLengths
from cgos_server.storage.reading.events.questions import Events
from cgos_server.storage.reading.games import Games
from cgos_server.storage.reading.keeping.naming import Erasing
from cgos_server.storage.reading.keeping.old_rows import Keeping
from cgos_server.storage.reading.keeping.personal import Personal
from cgos_server.storage.reading.keeping.sizes import Sizes
from cgos_server.storage.reading.ledger import Ledger
from cgos_server.storage.reading.pairings import Pairings
from cgos_server.storage.reading.people import People
from cgos_server.storage.reading.ratings import Ratings
from cgos_server.storage.reading.records import Records
from cgos_server.storage.reading.refits import Ranks, Refits
from cgos_server.storage.reading.server import Server
from cgos_server.storage.reading.source import Engine, Source
from cgos_server.storage.sqlite.connections import bulk_engine, reading_engine


class History:
    """Reads a database on connections that cannot write. Close it, or use it as a context manager.

    Every question raises StoreError where the database cannot be read, and Refused where a name or number is unknown.

    :param live: for the process that has the games: its questions wait for a PostgreSQL that restarts, and a disk that
        fails under them is an error and not the end of the process
    :param patience_s: how long a question of the live server waits, seconds
    :ivar names_known: changes whenever names may have been erased. Caches of answers with names have it in their keys,
        as it was before the answer was read
    :ivar bulk: hands out everything; on SQLite by few connections of its own, so that no page waits for it
    """

    def __init__(self, location: Location, *, live: bool = False, patience_s: float = 0.0) -> None:
        self.names_known = 0
        self.source = Source(location, _engine(location, live), patience_s)
        self.bulk_source = Source(location, _bulk_engine(location))
        self.games = Games(self.source)
        self.ratings = Ratings(self.source)
        self.ranks = Ranks(self.source)
        self.changes = Changes(self.source)
        self.ledger = Ledger(self.source)
        self.refits = Refits(self.source)
        self.records = Records(self.source)
        self.pairings = Pairings(self.source)
        self.events = Events(self.source)
        self.lengths = GameLengths(self.source)
        self.questions = Questions(self.source)
        self.bots = Bots(self.source)
        self.people = People(self.source)
        self.server = Server(self.source)
        self.keeping = Keeping(self.source)
        self.sizes = Sizes(self.bulk_source)
        self.bulk = Bulk(self.bulk_source)
        self.erasing = Erasing(self.bulk_source)
        self.personal = Personal(self.bulk_source)

    def forget_names(self) -> None:
        """Drop names that are known, and what was made with them: somebody may have been erased."""
        self.names_known += 1
        self.source.forget_names()
        self.bulk_source.forget_names()

    async def close(self) -> None:
        """Close all connections."""
        await self.source.close()
        await self.bulk_source.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        await self.close()


def _engine(location: Location, live: bool) -> Engine:
    if not isinstance(location, PostgresUrl):
        return reading_engine(location, mapped=not live)
    # Only where it is configured: its driver is an extra that need not be installed.
    from cgos_server.storage.postgres.connections import reading_engine as postgres_engine

    return postgres_engine(location)


def _bulk_engine(location: Location) -> Engine:
    return _engine(location, live=False) if isinstance(location, PostgresUrl) else bulk_engine(location)
