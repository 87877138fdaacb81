"""Where the 95 % intervals of a refit begin and end: two numbers for each version, not one half-width.

Decides the ends: quantiles of the mixture in which expectation propagation leaves each version, and for versions whose
results hold them from one side alone those of prior times likelihood, on a grid. Must not know: how the sites came
about, what is between two refits, what is shown to whom.
"""

from __future__ import annotations

from dataclasses import replace
from math import pi, sqrt
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cgos_server.core.rating.base import Z95

from . import prior_sites, sites
from .joint import Joint
from .likelihood import log_normalizer
from .pool import Q_ELO, Ends, Floats, Hyper, Ints, Pool, Prior, even_ends
from .propagation import Standing, prior_updates

LOW, HIGH = 0.025, 0.975
STEPS, NEAR = 60, 1e-3
"""A quantile is sought in so many steps at most, until none moves further than the second, Elo."""
FEW_GAMES: Final = 14.0
"""Games of a version, on average: below it the prior's share counts twice in a shown variance."""
END_TAIL: Final = 0.05
"""v_T', the share of the tail where the ends of one-sided versions are sought."""
LEAST_INFORMATION: Final = 4.0
"""Games between equals: results that say less leave a version one-sided."""
FARTHEST_SCORE: Final = 0.45
"""Of the games, from an even score: further off, a version is one-sided."""
NODES: Final = 121
NEARLY_ALL: Final = 1e-4
"""The second grid leaves out so much at either end of the first."""
CHUNK: Final = 2000
"""Opponents whose results are worked on at a time."""


def ends_of(pool: Pool, joint: Joint, now: Standing) -> Ends:
    """Of a refit whose last standing this is."""
    n, at, links = joint.n, now.at, joint.links
    if not n:
        return even_ends(0)
    updates = [updated for _, updated in prior_updates(joint, now)]
    fresh, own = np.ones(n), np.zeros(n)
    own[joint.roots] = now.factors.PS[:, 0, 0]
    own[links.new] = now.factors.LS[:, 0, 0]
    fresh[links.new] = updates[1].rho[:-1].sum(axis=0)
    own[pool.anchors[0]] = 0.0
    mean, variance = at.x[:n], np.diagonal(at.C)[:n]
    kappa = 2.0 if joint.mean_games < FEW_GAMES else 1.0
    wider = np.sqrt(1.0 + kappa * np.clip(own * variance, 0.0, 1.0) * fresh)
    sd = np.sqrt(variance) * wider
    lower, upper = mean - Z95 * sd, mean + Z95 * sd
    for versions, updated in zip((joint.roots, links.new), updates, strict=True):
        sound: NDArray[np.bool_] = updated.rho.sum(axis=0) > 0.5
        which: Ints = versions[sound]
        if which.size:
            middle = mean[which] + (updated.mean[:, sound] - mean[which]) * wider[which]
            spread = np.sqrt(np.maximum(updated.variance[:, sound], 1e-9)) * wider[which]
            lower[which], upper[which] = mixture_quantiles(updated.rho[:, sound], middle, spread)
    one_sided = _one_sided(pool, joint, now)
    if one_sided.size:
        low, high = _product_quantiles(pool.prior, joint, now, one_sided)
        lower[one_sided] = np.minimum(lower[one_sided], low)
        upper[one_sided] = np.maximum(upper[one_sided], high)
    return Ends(own=own, fresh=fresh, below=(mean - lower) / sd, above=(upper - mean) / sd, kappa=kappa)


def mixture_quantiles(weight: Floats, mean: Floats, sd: Floats) -> tuple[Floats, Floats]:
    """The 2.5 % and 97.5 % quantiles (n,) of n mixtures of normals, given by (K, n) arrays: by Newton steps from those
    of normal distributions with the same moments, by halving where a step would leave what is left."""
    middle = (weight * mean).sum(axis=0)
    spread = np.sqrt((weight * (sd * sd + (mean - middle) ** 2)).sum(axis=0))
    y = middle + Z95 * spread * np.array([[-1.0], [1.0]])
    low, high = np.tile((mean - 9.0 * sd).min(axis=0), (2, 1)), np.tile((mean + 9.0 * sd).max(axis=0), (2, 1))
    level = np.array([LOW, HIGH])[:, None]
    weight, mean, sd = weight[:, None], mean[:, None], sd[:, None]
    for _ in range(STEPS):
        z = (y - mean) / sd
        short = level - (weight * normal_below(z)).sum(axis=0)
        low, high = np.where(short > 0, y, low), np.where(short > 0, high, y)
        density = (weight / sd * np.exp(-0.5 * z * z)).sum(axis=0) / sqrt(2.0 * pi)
        stepped = y + short / np.maximum(density, 1e-12)
        before, y = y, np.where((stepped > low) & (stepped < high), stepped, 0.5 * (low + high))
        if np.abs(y - before).max() < NEAR:
            break
    return y[0], y[1]


def normal_below(z: Floats) -> Floats:
    """P(standard normal < z), to 1e-7 (Abramowitz & Stegun 1964, 26.2.17)."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(z))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    above = np.exp(-0.5 * z * z) / np.sqrt(2.0 * pi) * series
    below: Floats = np.where(z > 0, 1.0 - above, above)
    return below


def _one_sided(pool: Pool, joint: Joint, now: Standing) -> Ints:
    """Versions that are no anchors, have games, and whose results tell less than a few even games would, or hardly
    anything but wins, or losses."""
    cells, n, hyper = joint.cells, joint.n, now.hyper
    _, bend = sites.slopes(cells, joint.differences(now.at.x), hyper.advantage, hyper.draw)
    games = cells.games

    def total(of_one: Floats, of_two: Floats) -> Floats:
        summed = np.bincount(cells.one, of_one, n) + np.bincount(cells.two, of_two, n)
        return summed.astype(np.float64)

    played, over_even = total(games, games), total(cells.margin, -cells.margin)
    information = 4.0 / Q_ELO**2 * total(bend, bend)
    held = (information >= LEAST_INFORMATION) & (np.abs(over_even) <= FARTHEST_SCORE * played)
    one_sided = (played > 0) & ~held
    one_sided[pool.anchors[0]] = False
    return np.flatnonzero(one_sided)


class _Components(NamedTuple):
    """Of the priors of v versions, each (K, v): log weights, means, variances."""

    log_weight: Floats
    mean: Floats
    variance: Floats


def _product_quantiles(prior: Prior, joint: Joint, now: Standing, which: Ints) -> tuple[Floats, Floats]:
    """2.5 % and 97.5 % quantiles of prior times likelihood of these versions, the others as they are known."""
    x, C = now.at.x, now.at.C
    priors = _priors(prior, joint, now, which)
    mean, far = x[which], 6.0 * np.sqrt(np.diagonal(C)[which])
    possible = np.isfinite(priors.log_weight)
    reach = 4.0 * np.sqrt(priors.variance)
    low = np.minimum(mean - far, np.where(possible, priors.mean - reach, np.inf).min(axis=0))
    high = np.maximum(mean + far, np.where(possible, priors.mean + reach, -np.inf).max(axis=0))
    results = _Results.of(joint, now, which)
    for _ in range(2):
        nodes = np.linspace(low, high, NODES)
        cumulative = _cumulative(nodes, _log_prior(priors, nodes) + results.log_likelihood(nodes))
        low, high, lower, upper = (
            _quantile(nodes, cumulative, level) for level in (NEARLY_ALL, 1.0 - NEARLY_ALL, LOW, HIGH)
        )
    return lower, upper


def _priors(prior: Prior, joint: Joint, now: Standing, which: Ints) -> _Components:
    """With a heavier tail than expectation propagation has, and all else but the version at its marginal."""
    x, C, n, hyper = now.at.x, now.at.C, joint.n, now.hyper
    hyper = _with_end_tail(hyper) if prior.tail else hyper
    links = joint.links
    where = np.searchsorted(links.new, which)
    linked = np.zeros(len(which), dtype=np.bool_)
    inside = where < len(links.new)
    linked[inside] = links.new[where[inside]] == which[inside]
    of_roots = prior_sites.of_roots(hyper)
    centers = n + of_roots.along
    count = len(centers) + 1
    log_weight = np.full((count, len(which)), -np.inf)
    mean, variance = np.zeros_like(log_weight), np.ones_like(log_weight)
    log_weight[:-1] = of_roots.log_weight
    mean[:-1] = x[centers][:, None]
    variance[:-1] = of_roots.variance + np.diagonal(C)[centers][:, None]
    if linked.any():
        link = links.part(where[linked])
        mixture = prior_sites.of_successors(hyper, link)
        log_weight[:, linked] = mixture.log_weight
        old, step = link.old, joint.size - 1
        mean[-1, linked] = x[old] + x[step]
        variance[-1, linked] = mixture.variance[-1] + C[old, old] + C[step, step] + 2.0 * C[old, step]
    return _Components(log_weight, mean, variance)


def _with_end_tail(hyper: Hyper) -> Hyper:
    return replace(hyper, tail=END_TAIL, equals=hyper.equals * (1.0 - END_TAIL) / (1.0 - hyper.tail))


def _log_prior(priors: _Components, nodes: Floats) -> Floats:
    """(NODES, v), up to a constant."""
    total = np.full_like(nodes, -np.inf)
    for log_weight, mean, variance in zip(*priors, strict=True):
        term = log_weight - 0.5 * ((nodes - mean) ** 2 / variance + np.log(variance))
        total = np.logaddexp(total, term)
    return total


class _Results(NamedTuple):
    """The results of v versions against each of their opponents, in the order of the versions.

    :ivar begin: (v,) each version's first; `version`: (e,) whose they are
    :ivar scale: (e,) how far the opponent's uncertainty flattens them; `opponent`: (e,) its mean, Elo
    :ivar margin: (e,) half of (wins - losses); `ahead`: (e,) games with the first move; `behind`: (e,) without;
        `neutral`: (e,) where nobody had it, None: there are none
    :ivar shift: what the first move is worth, in logits; `draw`: Davidson's parameter
    """

    begin: Ints
    version: Ints
    scale: Floats
    opponent: Floats
    margin: Floats
    ahead: Floats
    behind: Floats
    neutral: Floats | None
    shift: float
    draw: float

    @classmethod
    def of(cls, joint: Joint, now: Standing, which: Ints) -> _Results:
        cells, x, variance = joint.cells, now.at.x, np.diagonal(now.at.C)
        place = np.full(joint.n, -1, dtype=np.int64)
        place[which] = np.arange(len(which))
        ones, twos = np.flatnonzero(place[cells.one] >= 0), np.flatnonzero(place[cells.two] >= 0)
        version = np.concatenate([place[cells.one[ones]], place[cells.two[twos]]])
        order = np.argsort(version, kind="stable")
        opponent = np.concatenate([cells.two[ones], cells.one[twos]])[order]
        return cls(
            begin=np.searchsorted(version[order], np.arange(len(which))),
            version=version[order],
            scale=1.0 / np.sqrt(1.0 + pi / 8.0 * Q_ELO**2 * variance[opponent]),
            opponent=x[opponent],
            margin=np.concatenate([cells.margin[ones], -cells.margin[twos]])[order],
            ahead=np.concatenate([cells.ahead[ones], cells.behind[twos]])[order],
            behind=np.concatenate([cells.behind[ones], cells.ahead[twos]])[order],
            neutral=None
            if cells.neutral is None
            else np.concatenate([cells.neutral[ones], cells.neutral[twos]])[order],
            shift=Q_ELO * now.hyper.advantage,
            draw=now.hyper.draw,
        )

    def log_likelihood(self, nodes: Floats) -> Floats:
        """(NODES, v) at strengths `nodes` (NODES, v), up to a constant."""
        values = np.empty((len(nodes), len(self.version)))
        for begin in range(0, len(self.version), CHUNK):
            part = slice(begin, begin + CHUNK)
            scale = Q_ELO * self.scale[part]
            z = scale * (nodes[:, self.version[part]] - self.opponent[part])
            shift = self.shift * self.scale[part]
            values[:, part] = self.margin[part] * z
            values[:, part] -= self.ahead[part] * log_normalizer(z + shift, self.draw)
            values[:, part] -= self.behind[part] * log_normalizer(z - shift, self.draw)
            if self.neutral is not None:
                values[:, part] -= self.neutral[part] * log_normalizer(z, self.draw)
        summed: Floats = np.add.reduceat(values, self.begin, axis=1)
        return summed


def _cumulative(nodes: Floats, log_density: Floats) -> Floats:
    """(NODES, v) distribution functions by trapezoids."""
    density = np.exp(log_density - log_density.max(axis=0))
    steps = 0.5 * (density[1:] + density[:-1]) * np.diff(nodes, axis=0)
    cumulative = np.zeros_like(nodes)
    np.cumsum(steps, axis=0, out=cumulative[1:])
    cumulative /= cumulative[-1]
    return cumulative


def _quantile(nodes: Floats, cumulative: Floats, level: float) -> Floats:
    """(v,) linear between nodes."""
    after: NDArray[np.int64] = np.clip((cumulative < level).sum(axis=0), 1, len(nodes) - 1)
    column = np.arange(nodes.shape[1])
    low, high = cumulative[after - 1, column], cumulative[after, column]
    share = np.where(high > low, (level - low) / np.where(high > low, high - low, 1.0), 0.0)
    quantile: Floats = nodes[after - 1, column] + share * (nodes[after, column] - nodes[after - 1, column])
    return quantile
