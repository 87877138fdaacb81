"""A venue's ratings from a store, with less ceremony than the server has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cgos_protocol.ids import VenueId
from cgos_server.core.rating.base import RatingSystem
from cgos_server.service.ratings.venue_ratings import VenueRatings


async def loaded_ratings(
    store: Any,
    venue_id: int,
    headline: RatingSystem,
    views: Sequence[RatingSystem] = (),
    build: str = "",
    view_failed: Callable[[str, Exception], None] = lambda _name, _error: None,
    at: int = 0,
) -> VenueRatings:
    ratings = VenueRatings(VenueId(venue_id), headline, views, build, view_failed)
    await ratings.load(store, at)
    return ratings
