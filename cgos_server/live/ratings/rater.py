"""Applies a venue's results to its ratings, in memory at once, and hands over what the result's transaction must hold.

Must not know: how a game was played, how ratings are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from cgos_protocol.facts import RatingChanged
from cgos_protocol.ids import GameId, VersionId
from cgos_protocol.intervals import half_width
from cgos_protocol.session import RatingMoved
from cgos_protocol.verdict import Reason, Verdict
from cgos_server.core.rating.base import Change
from cgos_server.core.rating.registry import ends, label
from cgos_server.core.rating.repeats import game_digest
from cgos_server.live.bus import FactBus
from cgos_server.service.ratings.venue_ratings import Applied, VenueRatings

_COMPARED: Final = frozenset((Reason.SCORE, Reason.RESIGNATION))
"""Ends after which the same moves are the same game; that a bot loses on time again is news."""


class Rater:
    """One a venue.

    :param names: version id -> wire name
    :param updated: told how many ratings moved, after each commit
    :param applied: told that the ledger has grown
    """

    def __init__(
        self,
        venue: str,
        ratings: VenueRatings,
        names: Callable[[VersionId], str],
        bus: FactBus,
        updated: Callable[[int], None],
        applied: Callable[[], None] = lambda: None,
    ) -> None:
        self.venue = venue
        self.ratings = ratings
        self._names = names
        self._bus = bus
        self._updated = updated
        self._applied = applied

    def label(self, version: VersionId) -> str:
        """The version's rating as bots see it: ``1800`` or ``1800?``."""
        return label(self.ratings.rating(version))

    def moved(self, change: Change) -> RatingMoved:
        """What a result did to a rating, as its bot is told."""
        _, before, after = change
        lower, upper = ends(self.ratings.system.name, after)
        return RatingMoved(
            before=before.mean, after=after.mean, plus_minus=half_width(lower, upper), lower=lower, upper=upper
        )

    def apply(
        self, game: GameId, black: VersionId, white: VersionId, verdict: Verdict, moves: Iterable[str], at: int
    ) -> Applied | None:
        """Fold the verdict in, unless it is one that does not count. `at` in Unix ms."""
        score2 = verdict.score2
        if score2 is None:
            return None
        digest = game_digest(moves, score2) if verdict.reason in _COMPARED else None
        applied = self.ratings.game(game, black, white, score2=score2, at=at, digest=digest)
        self._applied()
        return applied

    def tell(self, applied: Applied) -> None:
        """After the commit of `applied`: publish what changed."""
        self._updated(len(applied.changes))
        if self._bus.wanted(RatingChanged):
            for change in applied.changes:
                before, after, plus_minus, lower, upper = self.moved(change)
                self._bus.publish(
                    RatingChanged(
                        venue=self.venue,
                        seq=applied.entry.seq,
                        version=self._names(change.version),
                        before=before,
                        after=after,
                        plus_minus=plus_minus,
                        lower=lower,
                        upper=upper,
                    )
                )
