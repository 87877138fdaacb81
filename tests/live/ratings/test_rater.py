"""What a result did to ratings is told with both ends of their intervals."""

from __future__ import annotations

import pytest

from cgos_protocol.facts import RatingChanged
from cgos_protocol.verdict import Reason, Verdict
from cgos_server.core.rating.registry import rating_system
from cgos_server.live.bus import Bus
from cgos_server.live.ratings.rater import Rater
from cgos_server.service.ratings.venue_ratings import VenueRatings


@pytest.mark.parametrize("system", ["bayes", "cgos-elo"])
def test_a_change_is_told_with_its_interval(system: str) -> None:
    facts: list[RatingChanged] = []
    bus = Bus(on_error=lambda error: pytest.fail(str(error)))
    bus.subscribe(RatingChanged, facts.append)
    ratings = VenueRatings(1, rating_system(system, 1800.0, {}))
    for version in (1, 2):
        ratings.enter(version, 1800.0, 0)
    rater = Rater("9x9", ratings, {1: "anna", 2: "bert"}.__getitem__, bus, lambda _: None)
    applied = rater.apply(7, 1, 2, Verdict(0, Reason.RESIGNATION), (), at=0)
    assert applied is not None
    rater.tell(applied)
    assert {fact.version for fact in facts} == {"anna", "bert"}
    for fact, change in zip(facts, applied.changes, strict=True):
        moved = rater.moved(change)
        assert (fact.before, fact.after) == (moved.before, moved.after) == (change.before.mean, change.after.mean)
        assert (fact.lower, fact.upper) == (moved.lower, moved.upper) == (change.after.lower, change.after.upper)
        if system == "bayes":
            assert fact.lower is not None
            assert fact.upper is not None
            assert fact.lower < fact.after < fact.upper
            assert fact.plus_minus == moved.plus_minus == (fact.upper - fact.lower) / 2
        else:
            assert fact.plus_minus is fact.lower is fact.upper is None
