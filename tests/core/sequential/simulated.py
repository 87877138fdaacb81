"""Tests that end by themselves, simulated with the code that runs."""

from __future__ import annotations

import numpy as np

from cgos_server.core.sequential import Hypotheses, log_likelihood_ratios
from cgos_server.core.sequential.hypotheses import Floats


def ended(hypotheses: Hypotheses, distribution: tuple[float, ...], number: int, seed: int) -> tuple[Floats, Floats]:
    """Counts of so many tests at their end, and their log-likelihood ratios."""
    rng = np.random.default_rng(seed)
    counts, ratios = np.zeros((number, len(distribution))), np.zeros(number)
    going = np.arange(number)
    while len(going):
        counts[going, rng.choice(len(distribution), len(going), p=distribution)] += 1
        ratios[going] = log_likelihood_ratios(counts[going], hypotheses)
        going = going[(ratios[going] < hypotheses.accept_at) & (ratios[going] > hypotheses.reject_at)]
    return counts, ratios
