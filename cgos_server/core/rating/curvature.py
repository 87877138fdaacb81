"""How sharply the results and all else determine the strengths of whole-history rating, and their covariance by that.

Decides how the covariance follows from what a refit records of its maximum, so that it need not be kept: whoever has
the same record gets the same bits (the linear algebra on one thread). Must not know: versions, spans of time, results.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cgos_server.core.rating.bayes.linear import invert
from cgos_server.core.rating.bayes.pool import Floats, Ints


class Ties(NamedTuple):
    """What is known of differences of two strengths: (k,) positions, and precisions in 1/Elo^2; pairs may recur."""

    one: Ints
    other: Ints
    weight: Floats


class Curvature(NamedTuple):
    """Minus the Hessian of the log posterior at its maximum, by what it is made of; N strengths of n versions.

    :ivar alone: (N,) what is known of each by itself, 1/Elo^2
    :ivar tied: drift and lineage
    :ivar met: results, `one` with the first move, each with minus the second derivative of its log likelihood
    :ivar advantage: what is known of the first move's worth besides results, 1/Elo^2; 0: that it is worth nothing
    :ivar last: (n,) position of each version's strength today
    """

    alone: Floats
    tied: Ties
    met: Ties
    advantage: float
    last: Ints


def untied() -> Ties:
    """Nothing."""
    return Ties(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))


def prior_precision(alone: Floats, tied: Ties, advantage: float) -> Floats:
    """The precision without results: of the strengths and, where `advantage` is above 0, of what the first move is
    worth."""
    return _with_ties(np.diag(np.append(alone, advantage) if advantage else alone), tied)


def with_results(prior: Floats, size: int, met: Ties) -> Floats:
    """The precision with results; `size` of the unknowns are strengths."""
    precision = _with_ties(prior, met)
    full = len(prior)
    if full > size:
        across = np.bincount(met.one, met.weight, full) - np.bincount(met.other, met.weight, full)
        precision[size] += across
        precision[:, size] += across
        precision[size, size] += met.weight.sum()
    return precision


def covariance(curvature: Curvature) -> Floats:
    """(N, N) of all strengths, or with one more for the first move's worth, Elo^2.

    :raises ValueError: positions that are none
    :raises numpy.linalg.LinAlgError: weights that are no precision
    """
    prior = prior_precision(curvature.alone, curvature.tied, curvature.advantage)
    return invert(with_results(prior, len(curvature.alone), curvature.met)).matrix


def today(curvature: Curvature, whole: Floats) -> Floats:
    """(n, n) of today's strengths, out of the covariance of all."""
    return np.ascontiguousarray(whole[np.ix_(curvature.last, curvature.last)])


def _with_ties(precision: Floats, ties: Ties) -> Floats:
    full = len(precision)
    between = np.bincount(ties.one * full + ties.other, ties.weight, full * full).reshape(full, full)
    grown: Floats = precision - between - between.T
    diagonal = np.einsum("ii->i", grown)
    diagonal += np.bincount(ties.one, ties.weight, full) + np.bincount(ties.other, ties.weight, full)
    return grown
