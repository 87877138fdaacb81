"""Two versions compared, and the best against each other."""

from __future__ import annotations

import random
from statistics import NormalDist
from typing import Any

import pytest

from cgos_server.core.rating.base import Entry, Kind, Refitting
from cgos_server.core.rating.registry import rating_system
from cgos_server.service.ratings.ledger_fold import Run
from cgos_server.service.ratings.odds import odds, table


def _played(name: str, games: int = 120) -> Run:
    run, rng = Run(rating_system(name, 1800.0, {})), random.Random(4)
    for version in range(1, 6):
        run.fold(Entry(run.seq + 1, Kind.ENTER, version, value=1800.0))
    for _ in range(games):
        black, white = rng.sample(range(1, 6), 2)
        score2 = rng.choice((2, 2, 1)) if black > white else rng.choice((0, 0, 1))
        run.fold(Entry(run.seq + 1, Kind.GAME, None, black, white, score2))
    if run.refitting is not None:
        run.refit_now(cold=True)
    return run


@pytest.mark.parametrize("name", ["bayes", "whole-history"])
def test_both_ways_come_to_the_same(name: str) -> None:
    run = _played(name)
    there, back = odds(run.system, run.state, 5, 2), odds(run.system, run.state, 2, 5)
    assert there.superiority is not None
    assert back.superiority is not None
    assert there.half_width is not None
    assert there.superiority + back.superiority == pytest.approx(1.0)
    assert there.superiority > 0.9
    assert there.difference == pytest.approx(-back.difference)
    assert there.half_width == pytest.approx(back.half_width or 0)
    # The probability and the interval say the same of one normal distribution.
    normal = NormalDist(there.difference, there.half_width / 1.959963984540054)
    assert there.superiority == pytest.approx(1 - normal.cdf(0.0), abs=1e-9)
    for first, second in ((there.as_black, back.as_white), (there.as_white, back.as_black)):
        assert first.win + first.draw + first.loss == pytest.approx(1.0)
        assert first.draw > 0.05  # a third of the games were drawn
        assert (first.win, first.draw, first.loss) == pytest.approx((second.loss, second.draw, second.win))
        assert first.score + second.score == pytest.approx(1.0)
        assert first.difference == pytest.approx(-(second.difference or 0))
        assert first.half_width == second.half_width == pytest.approx(there.half_width)
    # What the first move is worth is on one side and then on the other.
    assert there.as_black.difference is not None
    assert there.as_white.difference is not None
    assert there.as_black.difference + there.as_white.difference == pytest.approx(2 * there.difference)
    assert there.as_black.difference != there.difference


def test_a_system_without_a_joint_distribution_says_what_it_can() -> None:
    run = _played("cgos-elo")
    pair_odds = odds(run.system, run.state, 5, 1)
    assert pair_odds.superiority is pair_odds.half_width is None
    assert pair_odds.difference == run.ratings[5].mean - run.ratings[1].mean > 0
    assert pair_odds.as_black.score > 0.5
    assert pair_odds.as_black.difference is pair_odds.as_white.half_width is None
    with pytest.raises(TypeError, match="cgos-elo"):
        table(run.system, run.state, 3)
    with pytest.raises(KeyError):
        odds(run.system, run.state, 5, 99)


def test_the_best_against_each_other() -> None:
    run = _played("bayes")
    system: Any = run.system
    assert isinstance(system, Refitting)
    odds_table = table(system, run.state, 3)
    assert odds_table.versions == sorted(run.ratings, key=lambda version: -run.ratings[version].mean)[:3]
    assert [rating.mean for rating in odds_table.ratings] == [
        run.ratings[version].mean for version in odds_table.versions
    ]
    for i, row in enumerate(odds_table.superior):
        for j, share in enumerate(row):
            if i == j:
                assert share is None
            else:
                assert share == system.superiority(run.state, odds_table.versions[i], odds_table.versions[j])
    assert table(system, run.state, 20, only=[1, 4, 99]).versions == [4, 1]
