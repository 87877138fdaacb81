"""Is B stronger than A? Sequential tests on counted results: where they stand, what is estimated, what they cost.

>>> from cgos_server.core.sequential import Hypotheses, standing
>>> test = Hypotheses(lower=0, upper=2)
>>> now = standing((379, 10170, 21828, 10640, 343), test)
>>> f"{now.reject_at:.2f} {now.llr:.6f} {now.accept_at:.2f} {now.decision}"
'-2.94 2.945495 2.94 accepted'
"""

from .hypotheses import Counts, Decision, Hypotheses, Scale
from .likelihood import closed_form, log_likelihood_ratio, log_likelihood_ratios
from .standing import Standing, standing

__all__ = [
    "Counts",
    "Decision",
    "Hypotheses",
    "Scale",
    "Standing",
    "closed_form",
    "log_likelihood_ratio",
    "log_likelihood_ratios",
    "standing",
]
