"""Small pools for the tests of the posterior, and simulated ones whose true strengths are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cgos_server.core.rating.bayes import likelihood
from cgos_server.core.rating.bayes.pool import Floats, Ints, Links, Pool, Posterior, Prior

Known = Sequence[Sequence[float]]


def column(rows: Known, index: int) -> Any:
    return np.array([row[index] for row in rows])


def ids(rows: Known, index: int) -> Ints:
    return np.array([int(row[index]) for row in rows], dtype=np.int64)


def floats(rows: Known, index: int) -> Floats:
    return np.array([float(row[index]) for row in rows])


def linked(rows: Sequence[Sequence[Any]]) -> Links:
    """:param rows: (new, old), with the own sd or None, and whether it is sure"""
    full = sorted((tuple(row) + (None, False)[len(row) - 2 :] for row in rows), key=lambda row: row[0])
    return Links(
        ids(full, 0),
        ids(full, 1),
        sd=np.array([np.nan if sd is None else float(sd) for _, _, sd, _ in full]),
        surely=ids(full, 3),
    )


def pool(
    n: int,
    cells: Known = (),
    *,
    anchors: Known = (),
    own: Known = (),
    links: Sequence[Sequence[Any]] = (),
    prior: Prior | None = None,
) -> Pool:
    """:param cells: rows of (first, second, wins, draws, losses); an ordered pair may occur once"""
    return Pool(
        n=n,
        prior=prior or Prior(initial=2000.0),
        anchors=(ids(anchors, 0), floats(anchors, 1), floats(anchors, 2)),
        own=(ids(own, 0), floats(own, 1), floats(own, 2)),
        links=linked(links),
        first=ids(cells, 0),
        second=ids(cells, 1),
        wins=floats(cells, 2),
        draws=floats(cells, 3),
        losses=floats(cells, 4),
    )


def simulated(
    truth: Floats, games: int, seed: int, *, advantage: float = 0.0, draw: float = 0.0, anchors: Sequence[int] = ()
) -> Pool:
    """`games` games between random pairs of versions whose strengths are `truth`, random colors."""
    rng = np.random.default_rng(seed)
    n = len(truth)
    first = rng.integers(0, n, games)
    second = (first + rng.integers(1, n, games)) % n
    p = likelihood.probabilities(truth[first] - truth[second], advantage, draw)
    chance = rng.random(games)
    outcome = np.where(chance < p.win, 0, np.where(chance < p.win + p.draw, 1, 2))
    keys, where = np.unique(first * n + second, return_inverse=True)
    wins, draws, losses = (np.bincount(where, outcome == kind, len(keys)).astype(float) for kind in range(3))
    empty = pool(n, anchors=[(index, truth[index], 1.0) for index in anchors])
    return replace(empty, first=keys // n, second=keys % n, wins=wins, draws=draws, losses=losses)


def shuffled(given_pool: Pool, seed: int) -> Pool:
    """The same results, listed in another order."""
    order = np.random.default_rng(seed).permutation(len(given_pool.first))
    return replace(
        given_pool,
        first=given_pool.first[order],
        second=given_pool.second[order],
        wins=given_pool.wins[order],
        draws=given_pool.draws[order],
        losses=given_pool.losses[order],
    )


def sds(of: Posterior, n: int) -> Floats:
    deviations: Floats = np.sqrt(np.diagonal(of.C)[:n])
    return deviations


def apart(first: Posterior, second: Posterior, n: int) -> float:
    """The largest difference of two posteriors' means, in standard deviations of the second."""
    return float((np.abs(first.x[:n] - second.x[:n]) / sds(second, n)).max())
