"""Venues of other nodes: who asks for them is told where they are."""

from __future__ import annotations

import asyncio

import pytest

from cgos_protocol.errors import Conflict, StoreError
from cgos_server.live.venue.elsewhere import Elsewhere
from cgos_server.storage.sharing import Alone, GroupOwner


class Owners(Alone):
    """Who has the groups; away where that is not known."""

    def __init__(self, *owners: GroupOwner) -> None:
        self.all = owners
        self.away = False

    async def owners(self) -> list[GroupOwner]:
        if self.away:
            raise StoreError("PostgreSQL is away")
        return list(self.all)


async def test_who_asks_is_told_where_the_venue_is() -> None:
    elsewhere = Elsewhere({"19x19": "large", "5x5": "small"})
    assert ("19x19" in elsewhere, "9x9" in elsewhere, elsewhere.owners) == (True, False, [])
    elsewhere.refuse("9x9")
    with pytest.raises(Conflict, match=r"in the group large: no node has it just now\. Try again in a moment\."):
        elsewhere.refuse("19x19")
    owners = Owners(
        GroupOwner(group="large", node="b", address="b.example", lives=True),
        GroupOwner(group="small", node="c", address="c.example", lives=False),
    )
    for away in (False, True):  # what was known stays
        owners.away = away
        looking = asyncio.create_task(elsewhere.run(owners))
        await asyncio.sleep(0.01)
        looking.cancel()
        with pytest.raises(Conflict, match=r"The venue 19x19 is in the group large: node b at b\.example plays it\."):
            elsewhere.refuse("19x19")
        with pytest.raises(Conflict, match="no node has it just now"):
            elsewhere.refuse("5x5")
