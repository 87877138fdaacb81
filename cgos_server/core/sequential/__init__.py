"""Is B stronger than A? Sequential tests on counted results: where they stand, what is estimated, what they cost.

Counts are of pairs of games with colors swapped on one opening, in which B scored 0, 1/2, 1, 3/2 and 2 points, or of
single games that B lost, drew and won.

>>> from cgos_server.core.sequential import Hypotheses, Scale, estimate, expected, pair_distribution, standing
>>> test = Hypotheses(lower=0, upper=2, scale=Scale.NORMALIZED)
>>> now = standing((379, 10170, 21828, 10640, 343), test)
>>> f"{now.reject_at:.2f} {now.llr:.6f} {now.accept_at:.2f} {now.decision}"
'-2.94 2.945495 2.94 accepted'
>>> about = estimate((379, 10170, 21828, 10640, 343), test)
>>> f"{about.elo:.2f}, {about.lower:.2f} to {about.upper:.2f}"
'1.42, 0.15 to 2.66'
>>> cost = expected(test, 0.0, pair_distribution(0.0, draws=0.5))
>>> f"{2 * cost.pairs:.0f} games where they are equal, and {100 * cost.accepted:.1f} % of such tests accept"
'160281 games where they are equal, and 5.0 % of such tests accept'
"""

from .estimate import LEAST_GAMES, Estimate, drop_vague_elo, estimate, fixed_estimate
from .hypotheses import Counts, Decision, Hypotheses, Scale
from .likelihood import closed_form, log_likelihood_ratio, log_likelihood_ratios
from .planning import Cost, expected, expected_at, fixed_length, pair_distribution, remaining
from .standing import Standing, first_decision, standing

__all__ = [
    "LEAST_GAMES",
    "Cost",
    "Counts",
    "Decision",
    "Estimate",
    "Hypotheses",
    "Scale",
    "Standing",
    "closed_form",
    "drop_vague_elo",
    "estimate",
    "expected",
    "expected_at",
    "first_decision",
    "fixed_estimate",
    "fixed_length",
    "log_likelihood_ratio",
    "log_likelihood_ratios",
    "pair_distribution",
    "remaining",
    "standing",
]
