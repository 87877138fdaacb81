from __future__ import annotations

from functools import partial
from math import erf, exp, log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.questions.posterior import Games, Prior, superiority
from cgos_server.core.questions.tally import Score
from cgos_server.core.rating.base import Outcome

SCORES = st.builds(Score, st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
GAMES = st.builds(Games, SCORES, SCORES)
PRIORS = st.builds(Prior, st.floats(-300, 300), st.floats(5, 200))


def outcome_at(difference: float, advantage: float = 20.0, draw: float = 0.4) -> Outcome:
    """Davidson's model: a draw as likely as `draw` times the geometric mean of win and loss."""
    strength = exp((difference + advantage) * log(10.0) / 400.0)
    total = strength + 1.0 + draw * sqrt(strength)
    return Outcome(strength / total, draw * sqrt(strength) / total, 1.0 / total)


def by_sums(prior: Prior, games: Games) -> float:
    """The same by a plain sum over 40 000 differences."""
    wide = 10.0 * prior.sd
    logs = []
    for step in range(40_001):
        at = prior.mean + wide * (step / 20_000 - 1.0)
        total = -0.5 * ((at - prior.mean) / prior.sd) ** 2
        for score, outcome in ((games.as_black, outcome_at(at)), (games.as_white, outcome_at(-at))):
            mine = outcome if score is games.as_black else Outcome(outcome.loss, outcome.draw, outcome.win)
            total += sum(seen * log(p) for seen, p in zip(score, (mine.win, mine.draw, mine.loss), strict=True))
        logs.append((at, total))
    best = max(total for _, total in logs)
    weights = [(at, exp(total - best)) for at, total in logs]
    above = sum(weight * (0.5 if abs(at) < 1e-9 else at > 0) for at, weight in weights)
    return above / sum(weight for _, weight in weights)


@pytest.mark.parametrize(("mean", "sd"), [(0.0, 80.0), (30.0, 60.0), (-200.0, 100.0), (400.0, 10.0), (-400.0, 10.0)])
def test_without_games_it_is_that_of_the_ladder(mean: float, sd: float) -> None:
    assert superiority(Prior(mean, sd), Games(), outcome_at) == pytest.approx(
        0.5 * (1.0 + erf(mean / sd / sqrt(2.0))), abs=2e-4
    )


@pytest.mark.parametrize(
    ("prior", "games"),
    [
        (Prior(-20.0, 90.0), Games(Score(9, 2, 5), Score(8, 1, 7))),
        (Prior(150.0, 200.0), Games(Score(3, 0, 9), Score(2, 0, 10))),
        (Prior(0.0, 300.0), Games(Score(2100, 200, 2000), Score(2000, 210, 2090))),
        (Prior(0.0, 300.0), Games(Score(5, 0, 0), Score(0, 0, 0))),
    ],
)
def test_games_count_by_their_likelihood(prior: Prior, games: Games) -> None:
    assert superiority(prior, games, outcome_at) == pytest.approx(by_sums(prior, games), abs=1e-3)


def test_the_first_move_is_not_strength() -> None:
    as_black = Games(Score(10, 0, 5))
    as_white = Games(as_white=Score(10, 0, 5))
    prior = Prior(0.0, 100.0)
    assert superiority(prior, as_black, outcome_at) < superiority(prior, as_white, outcome_at)
    fair = partial(outcome_at, advantage=0.0)
    assert superiority(prior, as_black, fair) == pytest.approx(superiority(prior, as_white, fair), abs=1e-9)


@given(PRIORS, GAMES)
def test_both_sides_together_are_certain(prior: Prior, games: Games) -> None:
    mirrored = Games(Score(*games.as_white[::-1]), Score(*games.as_black[::-1]))
    one = superiority(prior, games, outcome_at)
    other = superiority(Prior(-prior.mean, prior.sd), mirrored, outcome_at)
    assert one + other == pytest.approx(1.0, abs=1e-6)


@given(PRIORS, GAMES)
def test_a_win_more_never_harms(prior: Prior, games: Games) -> None:
    more = games._replace(as_black=games.as_black._replace(wins=games.as_black.wins + 1))
    assert superiority(prior, more, outcome_at) >= superiority(prior, games, outcome_at) - 2e-4
