"""What an earlier model of a rating system published: refits say in their notes which model computed them.

A model is what a rating system takes strengths and results to be. When a release changes it, its numbers are others,
and refits of the model before can neither be followed nor computed again: the ratings are filled again from the
results, and what was published stays as it was. Must not know: what a model is made of, how ratings are filled.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, NamedTuple

from cgos_server.core.rating.base import RatingSystem
from cgos_server.storage.reading.history import History
from cgos_server.storage.reading.source import VenueKey
from cgos_server.storage.reading.stored import StoredRefit

FIRST: Final = 1
"""The model of refits that name none, and of systems that never had another one."""


class Earlier(NamedTuple):
    """What earlier models than a system's own published in a venue.

    :ivar model: the last of them
    :ivar refits: number of its last refit
    :ivar until: the last entry whose changes were published before a refit of the system's own model; None: there is no
        such refit yet
    """

    model: int
    refits: int
    until: int | None

    def published(self, entry: int) -> bool:
        """Whether what this entry did to ratings was published by an earlier model."""
        return self.until is None or entry <= self.until


def model(system: RatingSystem) -> int:
    """The number of a system's model."""
    return int(getattr(system, "model", FIRST))


def model_of(notes: str) -> int:
    """The number of the model whose refit left these notes."""
    try:
        decoded = json.loads(notes)
    except ValueError:
        return FIRST
    return int(decoded.get("model", FIRST)) if isinstance(decoded, dict) else FIRST


def earlier_of(refits: Sequence[StoredRefit], system: RatingSystem) -> Earlier | None:
    """The same of all refits that are recorded, in the order of their numbers."""
    models = [model_of(refit.notes) for refit in refits]
    first = bisect_left(models, model(system))
    if not first:
        return None
    return Earlier(models[first - 1], refits[first - 1].number, refits[first].applied if first < len(refits) else None)


async def earlier_model(history: History, venue: VenueKey, system: RatingSystem) -> Earlier | None:
    """What earlier models published under a system's name; None for nothing.

    By bisection: models only go up, and refits are numbered without gaps. Raises Refused where there is no such venue.
    """
    own, name = model(system), system.name
    low, high, last = 0, await history.refits.last(venue, name), FIRST
    while low < high:
        middle = (low + high + 1) // 2
        (refit,) = await history.refits.after(venue, name, middle - 1, 1)
        if (computed_by := model_of(refit.notes)) < own:
            low, last = middle, computed_by
        else:
            high = middle - 1
    if not low:
        return None
    following = await history.refits.after(venue, name, low, 1)
    return Earlier(last, low, following[0].applied if following else None)
