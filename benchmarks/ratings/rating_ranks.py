"""How honest ranks are: simulated pools whose true ranks are known, and what is said of ranks after so many games.

64 versions, two anchors at the 1/3 and 2/3 quantiles, everybody else unrated (2000) at first; each plays one game a
round; neighbors play after noise was added to the ratings, as in `lab accuracy`. All versions take part in the ranks.
Goes on where it was interrupted. Takes about half a minute of one core a replicate of five pools.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported, here and in the worker processes

import argparse
import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from benchmarks.ratings.rating_replicates import add_arguments, carry_out
from benchmarks.reporting import CommandLine, write_json
from cgos_server.core.rating.posterior_fold import PosteriorFold
from cgos_server.core.rating.ranks import DRAWS, SHARE_IN_ODDS, Ranks, Strengths, rank_counts, ranks
from cgos_server.lab.kept import fingerprint
from cgos_server.lab.ratings import pools, runs
from cgos_server.lab.ratings.pools import POOLS, Colors, Floats, anchors, generator, score2
from cgos_server.lab.ratings.runs import Driven, Window, share

CHOSEN: Final = ("normal", "bimodal", "three", "uniform", "narrow")
LOOKS: Final = (5, 10, 20, 40, 80)
SEED: Final = 1907
BINS: Final = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
"""Edges: probabilities are compared with what happened within each."""


class Task(NamedTuple):
    """One replicate of a pool; everything that its figures depend on, but for the code."""

    pool: str
    versions: int
    rounds: int
    seed: int
    replicate: int

    @property
    def experiment(self) -> str:
        return self.pool


def work(task: Task) -> dict[str, Any]:
    """One replicate, in a process of its own: figures by number of games."""
    pool = dataclasses.replace(POOLS[task.pool], versions=task.versions)
    truth = pool.draw(generator(task.seed, pool.name, "truth", task.replicate))
    rng = generator(task.seed, pool.name, "games", task.replicate)
    driven, fixed = Driven("bayes"), anchors(truth)
    for number in range(pool.versions):
        driven.enter(float(truth[number]) if number in fixed else None)
    colors, meetings = Colors(rng), Window(rng)
    at: dict[str, Any] = {}
    for games in range(1, task.rounds + 1):
        for pair in meetings.pairs(driven):
            first, second = colors.first(*pair)
            driven.game(first, second, score2(rng, pool, float(truth[first] - truth[second])))
        driven.refit_if_due()
        if games in LOOKS:
            at[str(games)] = figures(driven, truth)
    return {"at": at}


def figures(driven: Driven, truth: Floats) -> dict[str, Any]:
    """What is said of ranks now, and how true it is.

    ``inside``: share of rank intervals that hold the true rank; ``shortest``: the same of the shortest runs of ranks
    with .95; ``width``, ``shortest width``: how many ranks they hold on average; ``best``, ``first three``, ``any``
    (rank k and better, for every k): a row (count, sum of probabilities, how often it was so) for each of BINS;
    ``apart``: share of neighbors told apart; ``right``: (how many of them are in their true order, how many);
    ``groups``: largest; ``turned``; ``ms``: what it cost.
    """
    assert isinstance(driven.system, PosteriorFold)
    strengths = driven.system.strengths(driven.state)
    places = driven.system.places(driven.state, range(driven.versions))  # type: ignore[arg-type]
    true = np.empty(driven.versions, dtype=np.int64)
    true[np.argsort(-truth, kind="stable")] = np.arange(1, driven.versions + 1)
    true = true[[int(driven.system.version_at(driven.state, place)) for place in places.tolist()]]
    start = time.process_time()
    stated = ranks(strengths, places, np.random.default_rng(0))
    took = time.process_time() - start
    low, high = shortest(_counts(strengths, 1.0))
    up_to = np.cumsum(_counts(strengths, SHARE_IN_ODDS), axis=1)[:, :-1] / DRAWS
    was = true[:, None] <= np.arange(1, len(true))
    return {
        "inside": float(np.mean((stated.lower <= true) & (true <= stated.upper))),
        "shortest": float(np.mean((low <= true) & (true <= high))),
        "width": float(np.mean(stated.upper - stated.lower + 1)),
        "shortest width": float(np.mean(high - low + 1)),
        "best": _binned(stated.best, true == 1),
        "first three": _binned(stated.first_three, true <= 3),
        "any": _binned(up_to.ravel(), was.ravel()),
        "apart": stated.apart / (len(true) - 1),
        "right": _right(strengths, stated, true),
        "groups": max((last - first + 1 for first, last in stated.groups), default=1),
        "turned": stated.turned,
        "ms": 1e3 * took,
    }


def _counts(strengths: Strengths, part: float) -> Any:
    """Of ranks, with this part of the prior's share."""
    covariance = strengths.covariance + np.diag(part * strengths.share)
    return rank_counts(strengths.means, covariance, np.random.default_rng(0), DRAWS)


def shortest(counts: Any) -> tuple[Any, Any]:
    """First and last rank of the shortest run of ranks that holds .95 of each version's draws."""
    m = len(counts)
    up_to = np.concatenate((np.zeros((m, 1)), np.cumsum(counts, axis=1)), axis=1) / counts.sum(axis=1, keepdims=True)
    ends = np.array([np.searchsorted(row, row[:-1] + 0.95 - 1e-12) for row in up_to])
    lengths = np.where(ends <= m, ends - np.arange(m), m + 1)
    first = lengths.argmin(axis=1)
    return first + 1, ends[np.arange(m), first]


def _binned(stated: Floats, was: Any) -> list[list[float]]:
    where = np.clip(np.searchsorted(BINS, stated, side="right") - 1, 0, len(BINS) - 2)
    columns = [np.bincount(where, weights, len(BINS) - 1) for weights in (None, stated, was.astype(float))]
    return [[float(value) for value in row] for row in zip(*columns, strict=True)]


def _right(strengths: Strengths, stated: Ranks, true: Any) -> tuple[int, int]:
    order = np.argsort(stated.places)
    C = strengths.covariance + np.diag(strengths.share)
    right = known = 0
    for one, other in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        sd = float(np.sqrt(C[one, one] + C[other, other] - 2 * C[one, other]))
        if strengths.means[one] - strengths.means[other] > 1.6448536269514722 * sd:
            known += 1
            right += bool(true[one] < true[other])
    return right, known


def summarize(tasks: Sequence[Task], done: Mapping[Task, dict[str, Any]]) -> dict[str, Any]:
    """By pool and number of games, and over all of them: what the replicates come to."""
    pools: dict[str, Any] = {}
    for name in dict.fromkeys(task.pool for task in tasks):
        replicates = [done[task]["at"] for task in tasks if task.pool == name and task in done]
        if not replicates:
            continue
        looks = {games: _summary([replicate[games] for replicate in replicates]) for games in replicates[0]}
        every = [list(replicate.values()) for replicate in replicates]
        pools[name] = {"replicates": len(replicates), "at": looks} | {
            word: _calibration([[figures[word] for figures in replicate] for replicate in every])
            for word in ("best", "first three", "any")
        }
    return pools


def _summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    for word in ("inside", "shortest", "width", "shortest width", "apart", "groups", "ms"):
        summary[word], summary[f"{word} se"] = share([float(row[word]) for row in rows])
    right, known = (sum(row["right"][part] for row in rows) for part in (0, 1))
    return summary | {"right": right / known if known else None, "known": known}


def _calibration(replicates: Sequence[Sequence[Any]]) -> list[dict[str, float]]:
    """By bin: how many, the mean probability stated, how often it was so, and the standard error of the difference,
    from the scatter between replicates."""
    table = np.array(replicates, dtype=float).sum(axis=1)  # replicate, bin, (count, stated, was)
    bins = []
    for at in range(table.shape[1]):
        count, stated, was = table[:, at].sum(axis=0)
        if count:
            off = table[:, at, 2] - table[:, at, 1] - table[:, at, 0] * (was - stated) / count
            error = float(np.sqrt((off**2).sum() * len(off) / max(len(off) - 1, 1)) / count)
            bins.append({"count": count, "stated": stated / count, "was": was / count, "se": error})
    return bins


def report(pools: Mapping[str, Any], say: Callable[[str], None] = print) -> None:
    """The tables."""
    for name, pool in pools.items():
        say(f"\n{name}, {pool['replicates']} replicates")
        say("  games   95 % hold        shortest         ranks in it   apart   of them right   largest group   ms")
        for games, row in pool["at"].items():
            right = "-" if row["right"] is None else f"{row['right']:.3f} of {row['known']}"
            say(
                f"  {games:>5}   {row['inside']:.3f} ± {row['inside se']:.3f}   {row['shortest']:.3f} ± "
                f"{row['shortest se']:.3f}   {row['width']:5.1f} {row['shortest width']:5.1f}   {row['apart']:.2f}   "
                f"{right:>15}   {row['groups']:5.1f}   {row['ms']:5.1f}"
            )
        for word in ("best", "first three", "any"):
            cells = [
                f"{row['stated']:.3f}: {row['was']:.3f} ± {row['se']:.3f} ({row['count']:.0f})" for row in pool[word]
            ]
            say(f"  {word}: " + "; ".join(cells))


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = CommandLine(__doc__, replicates=1, pools=["normal-8"], rounds=5, workers=1)
    parser.add_argument("--replicates", type=int, default=24, help="of each pool (default 24)")
    parser.add_argument(
        "--pools", nargs="+", choices=list(POOLS), default=list(CHOSEN), metavar="POOL", help=", ".join(POOLS)
    )
    parser.add_argument("--rounds", type=int, default=max(LOOKS), help=f"games a version (default {max(LOOKS)})")
    add_arguments(parser, "rating-ranks", SEED)
    return parser.read(words)


def main(words: Sequence[str] | None = None) -> None:
    """Print the tables; ``--json`` writes a file."""
    options = arguments(words)
    tasks = [
        Task(
            pool=name,
            versions=POOLS[name].versions,
            rounds=options.rounds,
            seed=options.seed,
            replicate=number,
        )
        for number in range(options.replicates)
        for name in options.pools
    ]
    import cgos_server.core.rating

    code = fingerprint([cgos_server.core.rating, pools, runs])
    summaries = summarize(tasks, carry_out(work, tasks, options, name="rating_ranks", code=code))
    report(summaries)
    write_json(options.json, {"benchmark": "rating_ranks", "seed": options.seed, "pools": summaries})


if __name__ == "__main__":
    main()
