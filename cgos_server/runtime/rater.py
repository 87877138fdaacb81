"""Applies a venue's results to its ratings, in memory at once, and hands over what the result's transaction must hold.

Must not know: how a game was played, how ratings are computed.
"""

from __future__ import annotations

from collections.abc import Callable

from cgos_server.core.facts import RatingChanged
from cgos_server.core.rating.registry import label
from cgos_server.core.verdict import Verdict
from cgos_server.runtime.bus import FactBus
from cgos_server.service.ratings import Applied, VenueRatings


class Rater:
    """One a venue.

    :param names: version id -> wire name
    :param updated: told how many ratings moved, after each commit
    """

    def __init__(
        self,
        venue: str,
        ratings: VenueRatings,
        names: Callable[[int], str],
        bus: FactBus,
        updated: Callable[[int], None],
    ) -> None:
        self.venue = venue
        self.ratings = ratings
        self._names = names
        self._bus = bus
        self._updated = updated

    def label(self, version: int) -> str:
        """The version's rating as bots see it: ``1800`` or ``1800?``."""
        return label(self.ratings.rating(version))

    def apply(self, game: int, black: int, white: int, verdict: Verdict, at: int) -> Applied | None:
        """Fold the verdict in, unless it is one that does not count. `at` in Unix ms."""
        score2 = verdict.score2
        if score2 is None:
            return None
        return self.ratings.game(game, black, white, score2, at)

    def tell(self, applied: Applied) -> None:
        """After the commit of `applied`: publish what changed."""
        self._updated(len(applied.changes))
        if self._bus.wanted(RatingChanged):
            for version, before, after in applied.changes:
                self._bus.publish(
                    RatingChanged(self.venue, applied.entry.seq, self._names(version), before.mean, after.mean)
                )
