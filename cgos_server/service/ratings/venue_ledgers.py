"""Where commands reach the ratings of venues: those of the live server, or read from the ledger of a closed database.

Must not know: ratings' formulas, what the commands append.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from cgos_protocol.errors import Code, NotFound, Refused, Unavailable
from cgos_server.service.control import Control
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.store import Store

LoadRatings = Callable[[str], Awaitable[VenueRatings]]

_TRIES: Final = 100
"""How often the database is asked anew because results came meanwhile."""

T = TypeVar("T")


class VenueLedgers:
    """One a server.

    :param control: the live server, or None on a closed database
    :param load_ratings: where there is no live server: a venue's ratings from its ledger; raises Refused for an
        unknown venue
    :ivar lock: while it is held, what a command finds in the database holds until it is done
    """

    def __init__(self, store: Store, control: Control | None, load_ratings: LoadRatings | None) -> None:
        self.lock = asyncio.Lock()
        self._store = store
        self._control = control
        self._load_ratings = load_ratings

    async def ratings(self, venue: str) -> VenueRatings:
        """Raises Refused (``unknown-venue``, ``venue-elsewhere``)."""
        ratings = self._control.ratings(venue) if self._control is not None else None
        if self._control is None and self._load_ratings is not None:
            ratings = await self._load_ratings(venue)
        if ratings is None:
            raise NotFound(Code.UNKNOWN_VENUE, f"There is no venue {venue}. See: cgos-server check")
        return ratings

    async def all(self) -> dict[str, VenueRatings]:
        """The ratings of all venues that this process has."""
        by_venue: dict[str, VenueRatings] = {}
        for venue in await self._store.history.server.venues():
            try:
                by_venue[venue.name] = await self.ratings(venue.name)
            except Refused as refusal:
                if refusal.code not in (Code.UNKNOWN_VENUE, Code.VENUE_ELSEWHERE):
                    raise
        return by_venue

    async def settled(self, ratings: VenueRatings, look: Callable[[], Awaitable[T]]) -> T:
        """What `look` finds in the database while that holds all of the venue's entries."""
        for _ in range(_TRIES):
            seq = ratings.seq
            await self._store.commit([])  # what was submitted before is committed after this
            answer = await look()
            if ratings.seq == seq:
                return answer
        raise Unavailable(Code.BUSY, "Results come faster than the past can be looked at. Try again.", 10.0)

    def changed(self, venue: str) -> None:
        """Entries were applied: its refits are to hear of it."""
        if self._control is not None:
            self._control.ratings_changed(venue)
