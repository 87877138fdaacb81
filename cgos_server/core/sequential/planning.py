"""What a test costs before it is asked: expected pairs and the probability of acceptance at a true difference.

The log-likelihood ratio is taken for a Brownian motion, with barriers moved by the expected overshoot (Wald 1945,
Siegmund 1985). Must not know: hours, budgets, who plays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from cgos_protocol.errors import Code, Invalid
from cgos_server.core.rating.bayes.likelihood import draw_parameter, probabilities

from .estimate import barriers, difference_of
from .hypotheses import CELLS, Counts, Decision, Floats, Hypotheses, Scale, score_of, t_of, targets
from .likelihood import log_ratios, with_mean, with_t
from .passage import ends_above, expected_time
from .standing import standing

_NODES: Final = 40
_SMALLEST: Final = 1e-9
_BEFORE: Final = 2
"""So many results of two equals are added to the counts before it is said what is still to come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What is to be expected of a test.

    :ivar pairs: how many pairs it takes on average (single games, where these are counted)
    :ivar accepted: the probability that it accepts
    """

    pairs: float
    accepted: float


def pair_distribution(
    difference: float, advantage: float = 0.0, draws: float = 0.0, spread: float = 0.0
) -> tuple[float, ...]:
    """How likely B scores 0, 1/2, 1, 3/2 and 2 points in two games with colors swapped, as a pool's model has it.

    With draws or uneven openings the points of so many Elo of strength are those of fewer logistic Elo.

    :param difference: by how much B is stronger, Elo of the pool's model (Bradley & Terry 1952, Davidson 1970)
    :param advantage: what the first move is worth, Elo
    :param draws: the share of their games that equals draw, 0..1 (below 1)
    :param spread: standard deviation of what an opening is worth to the first mover besides, Elo; given the opening,
        both games are independent
    """
    if not (0.0 <= draws < 1.0 and spread >= 0.0):
        raise Invalid(Code.COUNTS, "A share of draws is at least 0 and below 1, and a spread is not negative.")
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES if spread else 1)
    first = advantage + spread * nodes
    nu = draw_parameter(draws)
    # Of B in the first game, where it moves first, and in the second one, where it does not: loss, draw, win.
    one = np.stack(probabilities(difference + first, draw=nu)[::-1])
    other = np.stack(probabilities(first - difference, draw=nu))
    weights = weights / weights.sum()
    cells = [
        sum(float(weights @ (one[i] * other[points - i])) for i in range(3) if 0 <= points - i < 3)
        for points in range(max(CELLS))
    ]
    return tuple(cells)


def expected(hypotheses: Hypotheses, difference: float | None, distribution: Sequence[float]) -> Cost:
    """What the test costs and how often it accepts where B is stronger by `difference`.

    :param difference: logistic Elo, that is, of the score; None: that of `distribution`
    :param distribution: of the results, five or three probabilities; they are tilted to the score of the difference
    """
    return _cost(hypotheses, *_motion(hypotheses, _tilted(difference, distribution)))


def expected_at(hypotheses: Hypotheses, difference: float, distribution: Sequence[float]) -> Cost:
    """The same at a difference on the scale of the hypotheses, such as one of their bounds, Elo."""
    shares = _tilted(None, distribution)
    if hypotheses.scale is Scale.LOGISTIC:
        shares = with_mean(shares, score_of(difference))
    else:
        shares = with_t(shares, t_of(difference, len(shares)))
    return _cost(hypotheses, *_motion(hypotheses, shares))


def fixed_length(hypotheses: Hypotheses, difference: float | None, distribution: Sequence[float]) -> float:
    """How many pairs a test of fixed length takes that has the same error rates.

    :param difference: at which the variance of the results is taken, as in :func:`expected`
    """
    shares = _tilted(difference, distribution)
    _, sd = difference_of(shares, hypotheses.scale)
    null, other = targets(hypotheses, len(shares))
    normal = NormalDist()
    width = normal.inv_cdf(1.0 - hypotheses.alpha) + normal.inv_cdf(1.0 - hypotheses.beta)
    return (width * sd / (other - null)) ** 2


def remaining(counts: Sequence[int] | Counts, hypotheses: Hypotheses) -> Cost:
    """What is still to come from these counts on, where results go on as they were; nothing after a decision."""
    counted = Counts.of(counts)
    now = standing(counted, hypotheses)
    if now.decision is not None:
        return Cost(pairs=0.0, accepted=float(now.decision is Decision.ACCEPTED))
    cells = np.array(counted.cells, dtype=np.float64) + _BEFORE * _of_equals(len(counted.cells))
    drift, sd = _motion(hypotheses, cells / cells.sum())
    return _cost(hypotheses, drift, sd, now.llr)


def _of_equals(cells: int) -> Floats:
    if cells == max(CELLS):
        return np.array(pair_distribution(0.0, draws=0.2))
    return np.array([0.4, 0.2, 0.4])


def _tilted(difference: float | None, distribution: Sequence[float]) -> Floats:
    """The distribution nearest to the given one that has the score of the difference, if there is one."""
    shares = np.maximum(np.array(distribution, dtype=np.float64), _SMALLEST)
    if len(shares) not in CELLS:
        raise Invalid(Code.COUNTS, "A distribution of results has five probabilities of pairs, or three of games.")
    shares /= shares.sum()
    return shares if difference is None else with_mean(shares, score_of(difference))


def _motion(hypotheses: Hypotheses, shares: Floats) -> tuple[float, float]:
    """Drift and standard deviation of what one result adds to the log-likelihood ratio."""
    jumps = log_ratios(shares, hypotheses)
    drift = float(shares @ jumps)
    return drift, float(np.sqrt(shares @ (jumps - drift) ** 2))


def _cost(hypotheses: Hypotheses, drift: float, sd: float, start: float = 0.0) -> Cost:
    between = barriers(hypotheses, sd, start)
    return Cost(pairs=expected_time(between, drift / sd), accepted=ends_above(between, drift / sd))
