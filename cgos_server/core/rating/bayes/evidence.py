"""How probable the results are under where expectation propagation stands: what the starts are compared by.

Decides the log evidence. Must not know: how the sites came about.
"""

from __future__ import annotations

from math import log, pi

import numpy as np

from . import prior_sites, sites
from .joint import Joint
from .pool import Prior
from .propagation import Standing


def log_evidence(joint: Joint, prior: Prior, now: Standing) -> float:
    """log Z of expectation propagation (Minka 2001), in nats, with the priors of what is learned.

    Relative to `initial`, and without the normalization of anchors, own factors and links: only differences between
    fits of one pool mean anything.

    :param now: the sites and what they give
    """
    hyper, at = now.hyper, now.at
    d, v = joint.differences(at.x), joint.variances(at.C)
    cavity = sites.cavities(d, v, now.T, now.V)
    tilted = sites.tilted(
        joint.cells, d, precision=cavity.precision, mean=cavity.mean, advantage=hyper.advantage, draw=hyper.draw
    )
    safe = np.where(cavity.met, v, 1.0)
    games = tilted.log_z - 0.5 * (d * d / safe + np.log(safe))
    games += 0.5 * (cavity.mean**2 * cavity.precision - np.log(cavity.precision))
    total = float(games[cavity.met].sum())
    if len(joint.free):
        Sg, mu = joint.of_free(at.x, at.C)
        versions = prior_sites.update(Sg, mu, PS=now.PS, PH=now.PH, w=np.array(hyper.w), s=hyper.s)
        total += float((versions.log_z - versions.marginal + versions.cavity).sum())
    total += 0.5 * float(at.shift @ at.x) - 0.5 * at.log_det + 0.5 * joint.size * log(2.0 * pi)
    total -= 0.5 * joint.components * log(2.0 * pi * prior.center_sd**2) + 0.5 * log(2.0 * pi * prior.mean_sd**2)
    total -= 0.5 * (log(hyper.s / prior.width) / prior.width_log_sd) ** 2
    if prior.advantage_sd > 0:
        total -= 0.5 * (hyper.advantage / prior.advantage_sd) ** 2
    if hyper.draw > 0:
        total -= 0.5 * log(hyper.draw) ** 2
    return total
