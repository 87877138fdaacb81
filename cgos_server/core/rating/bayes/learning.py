"""What a round of a cold refit learns besides strengths: the prior's shape, the first move's worth, draws.

Decides one step of each, with its prior. Must not know: sites, when to stop.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, sqrt
from typing import Final

import numpy as np

from . import prior_sites, sites
from .joint import Joint
from .pool import STEP, Hyper, Prior

FIRST_WIDTH: Final = 500.0
"""Elo: where the width of a single component begins, and its median."""
FEW_GAMES: Final = 7.5
"""Games of a version, on average: below it the width's prior is tighter above its median."""
STEP_LOG_SD: Final = 0.7
"""Of ln tau, about the logarithm of `STEP`."""
LEAST_STEP: Final = 5.0
"""Elo."""

LONGEST_ADVANTAGE, LONGEST_LN_DRAW = 100.0, 1.0
"""The longest steps of the advantage (Elo) and of ln nu in one round."""


def of_prior(joint: Joint, prior: Prior, hyper: Hyper, total: prior_sites.Sums) -> tuple[Hyper, float]:
    """One step of width, weights, step, fresh share and share of equals; the largest change of ln s, ln tau, v_K."""
    body, step = prior_sites.BODY, prior_sites.STEP
    median = FIRST_WIDTH if hyper.single and prior.components > 1 else prior.width
    width = prior_sites.width(
        float(total.by_class[body]),
        float(total.q1[body]),
        q2=float(total.q2[body]),
        s=hyper.s,
        median=median,
        log_sd=log_sd(prior, joint, hyper.s, median),
    )
    change = abs(width.change)
    hyper = replace(hyper, s=width.s, w=prior_sites.weights(total))
    if np.isnan(joint.links.sd).any():
        tau = prior_sites.width(
            float(total.by_class[step]),
            float(total.q1[step]),
            q2=float(total.q2[step]),
            s=hyper.step,
            median=STEP,
            log_sd=STEP_LOG_SD,
        )
        tau_now = max(tau.s, LEAST_STEP)
        change = max(change, abs(log(tau_now / hyper.step)))
        hyper = replace(hyper, step=tau_now)
    if total.links and not hyper.single:
        hyper = replace(hyper, fresh=prior_sites.fresh_share(total))
    if hyper.equals > 0:
        equals = prior_sites.share_of_equals(total, hyper.tail)
        change = max(change, abs(equals - hyper.equals))
        hyper = replace(hyper, equals=equals)
    return hyper, change


def log_sd(prior: Prior, joint: Joint, s: float, median: float) -> float:
    """Of ln s: tighter above its median while there are few games, where else the scale may explode."""
    return prior.early_log_sd if s > median and joint.mean_games < FEW_GAMES else prior.width_log_sd


def of_games(hyper: Hyper, prior: Prior, games: sites.Update) -> tuple[Hyper, float]:
    """One Newton step of advantage and of ln nu on the expected log likelihood; the larger in standard deviations.

    Priors (our choice): advantage ~ N(0, advantage_sd^2), ln nu ~ N(0, 1).
    """
    evidence, change = games.tilted.evidence, 0.0
    if evidence is None:
        return hyper, change
    advantage, draw = hyper.advantage, hyper.draw
    if prior.advantage_sd > 0:
        known = 1.0 / prior.advantage_sd**2
        bend = known - evidence.advantage_bend
        step = (evidence.advantage_slope - known * advantage) / bend
        step = min(max(step, -LONGEST_ADVANTAGE), LONGEST_ADVANTAGE)
        advantage += step
        change = abs(step) * sqrt(bend)
    if draw > 0:
        bend = 1.0 - evidence.draw_bend
        step = (evidence.draw_slope - log(draw)) / bend
        step = min(max(step, -LONGEST_LN_DRAW), LONGEST_LN_DRAW)
        draw *= exp(step)
        change = max(change, abs(step) * sqrt(bend))
    return replace(hyper, advantage=advantage, draw=draw), change
