"""Where a sequential test stands: its log-likelihood ratio between its bounds, and what it decided.

Must not know: how a likelihood is computed, what becomes of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .hypotheses import Counts, Decision, Hypotheses
from .likelihood import log_likelihood_ratio, log_likelihood_ratios


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a test stands.

    :ivar llr: the log-likelihood ratio
    :ivar reject_at: at this ratio and below it the test rejects
    :ivar accept_at: at this one and above it accepts
    :ivar decision: None while it goes on
    """

    llr: float
    reject_at: float
    accept_at: float
    decision: Decision | None


def standing(counts: Sequence[int] | Counts, hypotheses: Hypotheses) -> Standing:
    """Where the test between two hypotheses stands after these counts."""
    llr = log_likelihood_ratio(counts, hypotheses)
    return Standing(
        llr=llr, reject_at=hypotheses.reject_at, accept_at=hypotheses.accept_at, decision=decided(llr, hypotheses)
    )


def first_decision(results: Sequence[int], cells: int, hypotheses: Hypotheses) -> int | None:
    """After how many of these results, one after the other, the test ended; None where it goes on.

    :param results: the cell of each, 0..`cells` - 1
    """
    each = np.array(results, dtype=np.intp)
    counts = np.cumsum(each[:, None] == np.arange(cells), axis=0)
    ratios = log_likelihood_ratios(counts, hypotheses)
    ended = np.flatnonzero((ratios >= hypotheses.accept_at) | (ratios <= hypotheses.reject_at))
    return int(ended[0]) + 1 if len(ended) else None


def decided(llr: float, hypotheses: Hypotheses) -> Decision | None:
    """What a log-likelihood ratio decides; None between the bounds."""
    if llr >= hypotheses.accept_at:
        return Decision.ACCEPTED
    return Decision.REJECTED if llr <= hypotheses.reject_at else None
