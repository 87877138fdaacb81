"""The known history with its refits, on both databases."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from support.storage.storage_sample import games, people, put, refits

from cgos_server.storage import schema
from cgos_server.storage.location import Location
from cgos_server.storage.reading.history import History


@pytest.fixture
def rated(database: Location) -> Location:
    """A closed database with the sample and its refits."""
    put(database, [*people(), *games(), *refits()])
    return database


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def to_read(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Location:
    """The same for all tests that only read."""
    location: Location = tmp_path_factory.mktemp("rated") / "cgos.sqlite"
    if request.param == "postgres":
        location = request.getfixturevalue("lasting_url")(empty=True)
    schema.prepare(location)
    put(location, [*people(), *games(), *refits()])
    return location


@pytest.fixture
async def history(to_read: Location) -> AsyncIterator[History]:
    async with History(to_read) as opened:
        yield opened
