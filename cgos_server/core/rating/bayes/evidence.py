"""How probable the results are under where expectation propagation stands: what the starts are compared by.

Decides the log evidence. Must not know: how the sites came about.
"""

from __future__ import annotations

from math import log, pi

import numpy as np

from . import prior_sites, sites
from .joint import Joint
from .learning import STEP_LOG_SD, log_sd
from .pool import MEAN_STEP_SD, STEP, Prior
from .propagation import Standing, prior_updates


def log_evidence(joint: Joint, prior: Prior, now: Standing) -> float:
    """log Z of expectation propagation (Minka 2001), in nats, with the priors of what is learned of the prior.

    Relative to `initial`, and without the normalization of anchors and own factors: only differences between fits of
    one pool mean anything. The first move's worth and draws are much the same in all of them and left out.

    :param now: the sites and what they give
    """
    hyper, at = now.hyper, now.at
    d, v = joint.differences(at.x), joint.variances(at.C)
    cavity = sites.cavities(d, v, now.factors.T, now.factors.V)
    tilted = sites.tilted(
        joint.cells, d, precision=cavity.precision, mean=cavity.mean, advantage=hyper.advantage, draw=hyper.draw
    )
    safe = np.where(cavity.met, v, 1.0)
    games = tilted.log_z - 0.5 * (d * d / safe + np.log(safe))
    games += 0.5 * (cavity.mean**2 * cavity.precision - np.log(cavity.precision))
    total = float(games[cavity.met].sum())
    for _, each in prior_updates(joint, now):
        total += float((each.log_z - each.marginal + each.cavity).sum())
    total += 0.5 * float(at.shift @ at.x) - 0.5 * at.log_det + 0.5 * joint.size * log(2.0 * pi)
    total -= 0.5 * joint.components * log(2.0 * pi * prior.center_sd**2) + 0.5 * log(2.0 * pi * prior.mean_sd**2)
    total -= 0.5 * log(2.0 * pi * MEAN_STEP_SD**2) + 0.5 * (log(hyper.step / STEP) / STEP_LOG_SD) ** 2
    total -= 0.5 * (log(hyper.s / prior.width) / log_sd(prior, joint, hyper.s, prior.width)) ** 2
    if hyper.equals > 0:
        body, equals = prior_sites.EQUALS_PRIOR
        share = hyper.equals / (1.0 - hyper.tail)
        total += body * log(1.0 - share) + equals * log(share)
    return total
