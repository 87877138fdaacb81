"""The headline's posterior beside the exact one, in small pools: how far off expectation propagation is.

The server fits each pool cold; then its hyperparameters are held and the same posterior is sampled. Differences of
means are in standard deviations of the sampled posterior; superiority is compared for all pairs, ranks by draws from
the server's normal. What the server adds because hyperparameters are not known is in its shown intervals alone.
Variants of the pools tell where a difference comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import erfc, sqrt
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np

from benchmarks.ratings.sampled_posterior import Draws, Sampler, rank_shares
from benchmarks.reporting import program, table
from cgos_server.core.rating.bayes import fit
from cgos_server.core.rating.bayes.belief import Belief, head
from cgos_server.core.rating.bayes.pool import Floats, Links, Pool, Posterior, Prior
from cgos_server.lab.ratings.pools import INITIAL, Colors, generator, permuted_window, score2
from cgos_server.lab.ratings.pools import Pool as SimulatedPool

MEANS, SUPERIORITY = 0.15, 0.03
"""Larger differences are listed one by one."""


COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "R-hat": "r_hat",
        "error": "error",
        "mean": "mean",
        "rms": "mean_rms",
        "sd >": "sd_least",
        "sd <": "sd_most",
        "stronger": "superiority",
        "best": "best",
        "top 3": "three",
        "places": "places",
        "inside": "inside",
    }
)
"""Heads of the table: figures of :func:`compared`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Small:
    """One of the pools.

    :ivar truth: strengths, Elo
    :ivar rounds: games a version, by the permuted window of the true strengths
    :ivar anchors: versions whose strength is known
    :ivar links: (successor, predecessor)
    :ivar nu: Davidson's draw parameter
    """

    truth: Sequence[float]
    rounds: int
    anchors: Sequence[int]
    links: Sequence[tuple[int, int]] = ()
    nu: float = 0.0


def _family(first: int, count: int) -> list[tuple[int, int]]:
    """`count` versions from number `first` on, each the successor of the one before."""
    return [(new, new - 1) for new in range(first + 1, first + count)]


def _steps(start: float, count: int, step: float = 40.0) -> list[float]:
    return [start + step * place for place in range(count)]


_ROOTS = (1655.0, 1790.0, 1850.0, 1915.0, 1960.0, 2005.0, 2040.0, 2085.0, 2130.0, 2190.0, 2310.0)

SMALL: Mapping[str, Small] = MappingProxyType(
    {
        "a chain": Small(truth=_steps(1800.0, 8), rounds=10, anchors=(0,), links=_family(0, 8)),
        "two families": Small(
            truth=[*_steps(1650.0, 5), *_steps(2150.0, 5), 1800.0, 2250.0],
            rounds=10,
            anchors=(10, 11),
            links=[*_family(0, 5), *_family(5, 5)],
        ),
        "a wrong link": Small(
            truth=[*_steps(1700.0, 4), *_steps(2260.0, 4), 1750.0, 2200.0],
            rounds=12,
            anchors=(8, 9),
            links=_family(0, 8),
        ),
        "one wins all": Small(truth=[*_ROOTS, 3500.0], rounds=20, anchors=(4,)),
        "few games": Small(truth=_steps(1250.0, 16, 100.0), rounds=5, anchors=(7,)),
        "equals": Small(truth=np.linspace(1998.5, 2001.5, 20).tolist(), rounds=200, anchors=(10,)),
        "draws": Small(
            truth=[*_steps(1900.0, 5), 1650.0, 2050.0, 2400.0], rounds=12, anchors=(6,), links=_family(0, 5), nu=1.2
        ),
    }
)


VARIANTS: Mapping[str, Callable[[Pool], Pool]] = MappingProxyType(
    {
        "as it is": lambda pool: pool,
        "sure links": lambda pool: replace(pool, links=pool.links._replace(surely=np.ones_like(pool.links.new))),
        "no tail": lambda pool: replace(pool, prior=replace(pool.prior, tail=0.0, equals=False)),
        "one center": lambda pool: replace(pool, prior=replace(pool.prior, components=1, tail=0.0, equals=False)),
    }
)
"""The same games without what may be at fault: sure links have no alternative in the prior of roots; without a tail the
prior has three normals, and with one center a single one."""


def played(name: str, seed: int) -> Pool:
    """The games of that pool, and what else is known."""
    small, rng = SMALL[name], generator(seed, name)
    truth, colors = np.array(small.truth), Colors(rng)
    game = SimulatedPool(name=name, text=name, nu=small.nu)
    tally: dict[tuple[int, int], list[float]] = {}
    for _ in range(small.rounds):
        for pair in permuted_window(rng, truth):
            first, second = colors.first(*pair)
            score = score2(rng, game, truth[first] - truth[second])
            tally.setdefault((first, second), [0.0, 0.0, 0.0])[2 - score] += 1.0
    met, counts = np.array(sorted(tally)), np.array([tally[pair] for pair in sorted(tally)])
    links, anchors = np.array(small.links, dtype=np.int64).reshape(-1, 2), np.array(small.anchors)
    return Pool(
        n=len(truth),
        prior=Prior(initial=INITIAL),
        anchors=(anchors, truth[anchors], np.ones(len(anchors))),
        own=(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)),
        links=Links(links[:, 0], links[:, 1], np.full(len(links), np.nan), np.zeros_like(links[:, 0])),
        first=met[:, 0],
        second=met[:, 1],
        wins=counts[:, 0],
        draws=counts[:, 1],
        losses=counts[:, 2],
    )


def compared(pool: Pool, posterior: Posterior, draws: Draws, rng: np.random.Generator) -> dict[str, Any]:
    """How far the server's posterior is from the draws.

    :return: the largest over free versions, or pairs, of: ``error`` (Monte Carlo's, of means) and ``mean`` in sampled
        standard deviations, ``superiority``, ``best`` and ``three`` (to be the best, among the first three; in
        probability), ``places`` (either end of the 95 % interval of the rank). ``sd_least`` and ``sd_most`` are
        ratios; ``inside`` is the least sampled probability of a shown 95 % interval
    """
    n = pool.n
    exact = draws.marginals(n)
    mean, covariance = posterior.x[:n], posterior.C[:n, :n]
    sd = np.sqrt(np.diagonal(covariance))
    belief = Belief(
        x=head(posterior.x, n),
        C=head(posterior.C, n),
        ends=posterior.ends,
        hyper=posterior.hyper,
        prior=pool.prior,
        established=None,
    )
    shown = belief.all_shown(centered=False)
    free = np.setdiff1d(np.arange(n), pool.anchors[0])
    off = (mean - exact.mean) / exact.sd
    superiority = _superiority(mean, covariance)
    wrong = np.triu(superiority - draws.superiority(n), 1)
    ranks = rank_shares(rng.multivariate_normal(mean, covariance, size=20_000, method="cholesky"))
    exact_ranks = draws.ranks(n)
    best, three = ranks[:, 0] - exact_ranks[:, 0], (ranks - exact_ranks)[:, :3].sum(axis=1)
    ends = _rank_ends(ranks) - _rank_ends(exact_ranks)
    return {
        "versions": n,
        "games": float((pool.wins + pool.draws + pool.losses).sum() * 2 / n),
        "start": posterior.start,
        "r_hat": float(exact.r_hat.max()),
        "error": float((exact.error / exact.sd)[free].max()),
        "mean": float(np.abs(off[free]).max()),
        "mean_rms": float(np.sqrt((off[free] ** 2).mean())),
        "sd_least": float((sd / exact.sd)[free].min()),
        "sd_most": float((sd / exact.sd)[free].max()),
        "superiority": float(np.abs(wrong).max()),
        "best": float(np.abs(best).max()),
        "three": float(np.abs(three).max()),
        "places": int(np.abs(ends).max()),
        "inside": float(draws.inside(shown.lower, shown.upper)[free].min()),
        "each": [
            {
                "version": i,
                "mean": mean[i],
                "sd": sd[i],
                "lower": shown.lower[i],
                "upper": shown.upper[i],
                "exact": {key: getattr(exact, key)[i] for key in ("mean", "sd", "lower", "upper", "error")},
                "fresh": draws.fresh[i],
            }
            for i in range(n)
        ],
        "pairs": [
            {"pair": (int(i), int(j)), "superiority": superiority[i, j], "off": wrong[i, j]}
            for i, j in np.argwhere(np.abs(wrong) > SUPERIORITY)
        ],
    }


def _superiority(mean: Floats, covariance: Floats) -> Floats:
    """(n, n) probability that i is stronger than j where strengths are normal."""
    variance = np.diagonal(covariance)[:, None] + np.diagonal(covariance)[None, :] - 2.0 * covariance
    standardized = (mean[:, None] - mean[None, :]) / np.sqrt(np.maximum(variance, 1e-12))
    superiority: Floats = np.vectorize(lambda z: erfc(-z / sqrt(2.0)) / 2.0, otypes=[float])(standardized)
    return superiority


def _rank_ends(ranks: Floats) -> Floats:
    """(n, 2) the ranks between which a version is with 95 %, from 0."""
    below = ranks.cumsum(axis=1)
    return np.stack([(below < 0.025).sum(axis=1), (below < 0.975).sum(axis=1)], axis=1)


def run(
    pools: Annotated[Sequence[str], "these alone", tuple(SMALL)] = tuple(SMALL),
    variants: Annotated[Sequence[str], "and these", tuple(VARIANTS)] = ("as it is",),
    seed: Annotated[int, "of the games and of the draws"] = 2026,
    chains: Annotated[int, "side by side"] = 32,
    sweeps: Annotated[int, "of each chain, after a fifth as many that are forgotten"] = 4000,
) -> dict[str, Any]:
    """:return: by pool and variant, what :func:`compared` says"""
    figures = {}
    for name, variant in product(pools, variants):
        pool = VARIANTS[variant](played(name, seed))
        posterior = fit.cold(pool)
        rng = generator(seed, name, "draws")
        draws = Sampler(pool, posterior.hyper, chains, rng).run(sweeps, burn_in=sweeps // 5)
        label = name if variant == "as it is" else f"{name}, {variant}"
        figures[label] = compared(pool, posterior, draws, rng)
        _report(label, figures[label])
    rows = [(name, *(_figure(of[key]) for key in COLUMNS.values())) for name, of in figures.items()]
    print(table("the headline less the sampled posterior", ("pool", *COLUMNS), rows))
    return figures


def _figure(value: float) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _report(name: str, of: Mapping[str, Any]) -> None:
    """What is further off than it should be."""
    for version in of["each"]:
        exact = version["exact"]
        if abs(version["mean"] - exact["mean"]) > MEANS * exact["sd"]:
            print(
                f"{name}: version {version['version']} is {version['mean']:.0f} +- {version['sd']:.0f},"
                f" sampled {exact['mean']:.0f} +- {exact['sd']:.0f}"
            )
    for pair in of["pairs"]:
        print(f"{name}: superiority of {pair['pair']} is {pair['superiority']:.3f}, off by {pair['off']:+.3f}")


main = program(run, pools=["a chain"], chains=4, sweeps=20)


if __name__ == "__main__":
    main()
