"""The exact posterior of the learned prior with links, tails and equals, by sampling: hyperparameters are held.

Slow, simple, and written from the model alone: it shares no formula with the server's expectation propagation, so that
either can show the other's errors. Must not know: how the server computes, what hyperparameters are learned from.

The model: strengths r, centers m, their mean M and the mean step mu are unknown. A root has a mixture of normals about
the centers (body, tail, spike) as its prior; a successor of j one normal about r_j + mu, and with a share f that
mixture; games are Bradley and Terry's (1952), with draws Davidson's (1970).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from cgos_server.core.rating.bayes.pool import Floats, Hyper, Pool

HALF_LOGIT = math.log(10.0) / 800.0
"""Half of the logits of a point of Elo."""

STEP_MEAN_SD, TAIL_SD, SPIKE_SD = 100.0, 1000.0, 10.0
"""Of the mean step about 0; of the tail, beside s; of the spike. Elo."""

SERIES = 10
"""Pairs of terms in the sum of gamma variables; of what is left over, a millionth of the variance, the mean counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marginals:
    """Of each unknown, arrays of shape (n,).

    :ivar mean: Elo, as `sd` and the 2.5 % and 97.5 % quantiles `lower` and `upper`
    :ivar error: standard error of the mean, from the chains' own means
    :ivar r_hat: Gelman and Rubin's (1992) factor of the halves of all chains; 1 where they agree
    """

    mean: Floats
    sd: Floats
    lower: Floats
    upper: Floats
    error: Floats
    r_hat: Floats


@dataclass(frozen=True, slots=True)
class Draws:
    """What the sampler found.

    :ivar x: (draws, chains, D) r_0 .. r_n-1, m_1 .. m_Q, M, mu; strengths in Elo, as published
    :ivar fresh: (n,) probability that a version is in truth a root; 0 for an anchored one
    """

    x: Floats
    fresh: Floats

    def marginals(self, n: int) -> Marginals:
        """Of the first `n` unknowns."""
        r = self.x[:, :, :n]
        by_chain, flat = r.mean(axis=0), r.reshape(-1, n)
        half = len(r) // 2
        halves = np.concatenate([r[:half], r[half : 2 * half]], axis=1)
        within, between = halves.var(axis=0, ddof=1).mean(axis=0), halves.mean(axis=0).var(axis=0, ddof=1)
        lower, upper = np.quantile(flat, (0.025, 0.975), axis=0)
        return Marginals(
            mean=by_chain.mean(axis=0),
            sd=flat.std(axis=0),
            lower=lower,
            upper=upper,
            error=by_chain.std(axis=0, ddof=1) / r.shape[1] ** 0.5,
            r_hat=np.sqrt((half - 1) / half + between / within),
        )

    def superiority(self, n: int) -> Floats:
        """(n, n) probability that i is stronger than j."""
        r = self.x[:, :, :n].reshape(-1, n)
        return np.array([(r[:, i : i + 1] > r).mean(axis=0) for i in range(n)])

    def inside(self, lower: Floats, upper: Floats) -> Floats:
        """(n,) probability of each interval."""
        r = self.x[:, :, : len(lower)]
        inside: Floats = ((lower <= r) & (r <= upper)).mean(axis=(0, 1))
        return inside

    def ranks(self, n: int) -> Floats:
        """(n, n) probability that i has rank k + 1."""
        return rank_shares(self.x[:, :, :n].reshape(-1, n))


def rank_shares(r: Floats) -> Floats:
    """(n, n) how often i has rank k + 1 in the rows of (draws, n) strengths."""
    n = r.shape[1]
    rank = (-r).argsort(axis=1).argsort(axis=1)
    return np.array([np.bincount(rank[:, i], minlength=n) for i in range(n)]) / len(r)


class PriorFactors:
    """The prior factors as a table: version by version the normals that its strength may come from.

    Component c of version i says that a_ic' x ~ N(0, b_ic), with probability p_ic. Anchored roots have none.
    """

    def __init__(self, pool: Pool, hyper: Hyper) -> None:
        count, width = pool.n, len(hyper.w)
        self.size = count + width + 2
        links = {int(link[0]): link for link in zip(*pool.links, strict=True)}
        anchored = set(pool.anchors[0].tolist())
        self.versions = np.array([i for i in range(count) if i in links or i not in anchored], dtype=np.int64)
        classes = [1.0 - hyper.tail - hyper.equals, hyper.tail, hyper.equals]
        variances = [hyper.s**2, hyper.s**2 + TAIL_SD**2, SPIKE_SD**2]
        unit = np.eye(self.size)
        a, b, p = [], [], []
        for i in self.versions.tolist():
            _, old, sd, surely = links.get(i, (i, i, 1.0, 0.0))
            fresh = 1.0 if i not in links else 0.0 if surely else hyper.fresh
            a.append([unit[i] - unit[count + k] for _ in classes for k in range(width)])
            b.append([variance for variance in variances for _ in range(width)])
            p.append([fresh * share * weight for share in classes for weight in hyper.w])
            a[-1].append(unit[i] - unit[old] - unit[-1])
            b[-1].append((hyper.step if np.isnan(sd) else sd) ** 2)
            p[-1].append(1.0 - fresh)
        shape = (len(self.versions), 3 * width + 1)
        self.a: Floats = np.array(a).reshape(*shape, self.size)
        self.b: Floats = np.array(b).reshape(shape)
        with np.errstate(divide="ignore"):
            self._log_scale: Floats = np.log(np.array(p).reshape(shape)) - np.log(2 * np.pi * self.b) / 2

    def terms(self, x: Floats) -> Floats:
        """(chains, versions, components) log of p N(a'x; 0, b)."""
        residual = np.tensordot(x, self.a, (1, 2))
        terms: Floats = self._log_scale - residual**2 / (2.0 * self.b)
        return terms

    def log_density(self, x: Floats) -> Floats:
        """(chains,)"""
        terms = self.terms(x)
        top = terms.max(axis=2, initial=-1e300)
        total: Floats = (np.log(np.exp(terms - top[:, :, None]).sum(axis=2)) + top).sum(axis=1)
        return total

    def shares(self, x: Floats) -> Floats:
        """(chains, versions, components) probability of each component, given the unknowns."""
        terms = self.terms(x)
        terms = np.exp(terms - terms.max(axis=2, keepdims=True, initial=-1e300))
        shares: Floats = terms / terms.sum(axis=2, keepdims=True)
        return shares


class Likelihood:
    """The likelihood of all results. With u = HALF_LOGIT (r_first - r_second + advantage) a win has weight e^u, a loss
    e^-u, a draw nu."""

    def __init__(self, pool: Pool, hyper: Hyper) -> None:
        if not 0.0 <= hyper.draw <= 2.0:
            raise ValueError(f"The draw parameter is {hyper.draw}, above 2: sample a pool with fewer draws.")
        cells = np.arange(len(pool.first))
        self.difference: Floats = np.zeros((len(cells), pool.n + len(hyper.w) + 2))
        self.difference[cells, pool.first] = HALF_LOGIT
        self.difference[cells, pool.second] = -HALF_LOGIT
        self.advantage, self.draw = HALF_LOGIT * hyper.advantage, hyper.draw
        self.margin: Floats = pool.wins - pool.losses
        self.count: Floats = pool.wins + pool.draws + pool.losses
        angle, middle = math.acos(self.draw / 2.0), (2.0 * np.arange(1, SERIES + 1) - 1.0) * np.pi
        self._poles: Floats = np.concatenate([middle - angle, middle + angle]) ** 2

    def log_density(self, x: Floats) -> Floats:
        """(chains,)"""
        u = x @ self.difference.T + self.advantage
        total: Floats = u @ self.margin - np.log(2.0 * np.cosh(u) + self.draw) @ self.count
        return total

    def weights(self, x: Floats, rng: Generator) -> Floats:
        """(chains, cells) draws of omega, given which a cell's likelihood is exp(margin u - omega u^2).

        (2 cosh u + nu)^-N is, up to a factor, the product over its poles a of (1 + u^2/a^2)^-N, hence a scale mixture:
        omega is a sum of gamma variables over a^2 + u^2, for nu = 0 Polson, Scott and Windle's (2013) Polya-Gamma.
        """
        u = x @ self.difference.T + self.advantage
        scale = 1.0 / (self._poles + u[:, :, None] ** 2)
        gamma = rng.standard_gamma(self.count[:, None], scale.shape)
        near = np.maximum(np.abs(u), 1e-4)
        mean = np.sinh(near) / (near * (2.0 * np.cosh(near) + self.draw))
        weights: Floats = (gamma * scale).sum(axis=2) + self.count * (mean - scale.sum(axis=2))
        return weights


class Sampler:
    """Many chains side by side, each from a wide start of its own.

    A sweep draws components, weights of the cells and then all unknowns at once (Gibbs). After it two centers may
    change places (Metropolis): where their weights differ and their versions are far apart, nothing else would find
    the other order.
    """

    def __init__(self, pool: Pool, hyper: Hyper, chains: int, rng: Generator) -> None:
        self._pool, self._rng, self._chains = pool, rng, chains
        self._prior, self._games = PriorFactors(pool, hyper), Likelihood(pool, hyper)
        width, size, prior = len(hyper.w), self._prior.size, pool.prior
        self._centers = np.arange(pool.n, pool.n + width)
        self._precision, self._shift = np.zeros((size, size)), np.zeros(size)
        for known in (pool.anchors, pool.own):
            for version, value, sd in zip(*known, strict=True):
                self._precision[version, version] += sd**-2
                self._shift[version] += (value - prior.initial) / sd**2
        spread = np.zeros((width + 2, size))
        spread[np.arange(width), self._centers] = 1.0 / prior.center_sd
        spread[np.arange(width), -2] = -1.0 / prior.center_sd
        spread[-2, -2], spread[-1, -1] = 1.0 / prior.mean_sd, 1.0 / STEP_MEAN_SD
        self._precision += spread.T @ spread
        self._x = self._wide_start(hyper)

    def run(self, sweeps: int, burn_in: int) -> Draws:
        """:param burn_in: sweeps before these, which are forgotten"""
        kept = np.empty((sweeps, *self._x.shape))
        link = np.zeros(len(self._prior.versions))
        for sweep in range(-burn_in, sweeps):
            self._jointly()
            self._exchange()
            if sweep >= 0:
                kept[sweep] = self._x
                link += self._prior.shares(self._x)[:, :, -1].mean(axis=0)
        fresh = np.zeros(self._pool.n)
        fresh[self._prior.versions] = 1.0 - link / sweeps
        kept[:, :, :-1] += self._pool.prior.initial
        return Draws(kept, fresh)

    def _wide_start(self, hyper: Hyper) -> Floats:
        """Strengths and centers as if nothing was known of them but the prior of roots."""
        prior, shape = self._pool.prior, (self._chains, self._pool.n)
        x = np.zeros((self._chains, self._prior.size))
        x[:, -2] = self._rng.normal(0.0, prior.mean_sd, self._chains)
        x[:, self._centers] = x[:, -2:-1] + self._rng.normal(0.0, prior.center_sd, (self._chains, len(hyper.w)))
        x[:, : self._pool.n] = x[:, -2:-1] + self._rng.normal(0.0, hyper.s, shape)
        return x

    def _log_density(self, x: Floats) -> Floats:
        normal = x @ self._shift - ((x @ self._precision) * x).sum(axis=1) / 2
        total: Floats = normal + self._prior.log_density(x) + self._games.log_density(x)
        return total

    def _jointly(self) -> None:
        """Gibbs: components and weights given the unknowns, then the unknowns, jointly normal, given those."""
        prior, games = self._prior, self._games
        reached = prior.shares(self._x).cumsum(axis=2)
        component = (self._rng.random((*reached.shape[:2], 1)) > reached).sum(axis=2).clip(max=prior.b.shape[1] - 1)
        factor = np.arange(len(prior.versions))
        rows = prior.a[factor, component] / np.sqrt(prior.b[factor, component])[:, :, None]
        weights = games.weights(self._x, self._rng)
        precision = self._precision + rows.transpose(0, 2, 1) @ rows
        precision += (games.difference.T * 2.0 * weights[:, None, :]) @ games.difference
        shift = self._shift + (games.margin - 2.0 * weights * games.advantage) @ games.difference
        root = np.linalg.cholesky(precision)
        noise = np.linalg.solve(root.transpose(0, 2, 1), self._rng.standard_normal(shift.shape)[:, :, None])
        self._x = (np.linalg.solve(precision, shift[:, :, None]) + noise)[:, :, 0]

    def _exchange(self) -> None:
        """Metropolis: two centers change places."""
        if len(self._centers) == 1:
            return
        chains = np.arange(self._chains)
        one = self._rng.integers(0, len(self._centers), self._chains)
        two = (one + self._rng.integers(1, len(self._centers), self._chains)) % len(self._centers)
        proposed = self._x.copy()
        proposed[chains, self._centers[one]] = self._x[chains, self._centers[two]]
        proposed[chains, self._centers[two]] = self._x[chains, self._centers[one]]
        self._accept(proposed)

    def _accept(self, proposed: Floats) -> None:
        gain = self._log_density(proposed) - self._log_density(self._x)
        accepted = np.log(self._rng.random(self._chains)) < gain
        self._x = np.where(accepted[:, None], proposed, self._x)
