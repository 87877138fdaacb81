"""How true ratings are among relatives, strangers and equals, in this tree and in another checkout of it.

64 versions, two anchors at the 1/3 and 2/3 quantiles, everybody else unrated at first; each plays one game a round, 80
in all; opponents by the permuted window. The games of a replicate are made once, kept in the cache, and rated by
`bayes` of this tree, by that of the checkout `--against DIR`, and, where the strengths are normal, by an estimator that
is told their distribution and all links: nobody does much better. The window looks at ratings of an estimator with a
fixed prior, which belongs to neither tree; with `--pairings own` it looks at those of whoever rates, and the games
differ. Links are told as by a server: a version enters as the successor of its predecessor, without an sd. Goes on
where it was interrupted. 24 replicates of all pools take about half an hour of CPU time a tree.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported, here and in the worker processes

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.moves.checkouts import checkout, commit
from benchmarks.ratings import goal_pools, goal_runs, goal_tables
from benchmarks.ratings.goal_pools import GOAL_POOLS, recorded
from benchmarks.ratings.rating_replicates import add_arguments, carry_out
from benchmarks.ratings.tree_child import TreeChild
from benchmarks.reporting import ROOT, CommandLine, write_json
from cgos_server.lab.kept import fingerprint
from cgos_server.lab.ratings import newcomers, pools, runs, told

NEWCOMER = "newcomer"
"""Newcomers, one at a time; see :mod:`cgos_server.lab.ratings.newcomers`."""
NEWCOMER_GAMES = 80
TOLD = "told"
PAIRINGS = ("shared", "own")
SEED = 1818


class Task(NamedTuple):
    """One replicate, rated by one tree; everything that its figures depend on, but for the benchmarks' code.

    :ivar code: TOLD, or a fingerprint of the tree's rating systems
    """

    pool: str
    code: str
    pairings: str
    versions: int
    rounds: int
    seed: int
    replicate: int

    @property
    def experiment(self) -> str:
        return f"{self.pool}, {self.code[:8]}"


def work(task: Task, trees: Mapping[str, Path], cache: Path) -> dict[str, Any]:
    """One replicate, in a process of the tree that rates it."""
    record = None
    which: dict[str, Any] = {
        "seed": task.seed,
        "replicate": task.replicate,
        "versions": task.versions,
        "rounds": task.rounds,
    }
    if task.pool != NEWCOMER:
        made_by = fingerprint([goal_pools, told, pools])
        record = str(recorded(cache / f"games-{made_by}", GOAL_POOLS[task.pool], **which))
    arguments: dict[str, Any] = {
        "pool": task.pool,
        "told": task.code == TOLD,
        "record": record,
        "own": task.pairings == "own",
        **which,
    }
    if task.code == TOLD:
        return goal_runs.run(**arguments)
    with TreeChild(trees[task.code], goal_runs.run) as child:
        return child.ask(**arguments)


def code_of(tree: Path) -> str:
    """A fingerprint of a tree's rating systems."""
    digest = hashlib.sha256()
    for path in sorted((tree / "cgos_server" / "core" / "rating").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def plan(options: argparse.Namespace, codes: Sequence[str]) -> list[Task]:
    """All replicates by each of `codes`; a replicate's tasks stand beside each other, so that a run that is cut off has
    all sides of what it has."""
    tasks: list[Task] = []
    for replicate in range(options.replicates):
        for pool in options.pools:
            kind = GOAL_POOLS.get(pool)
            versions = options.versions or (kind.versions if kind else 64)
            rounds = min(options.rounds, NEWCOMER_GAMES) if kind is None else min(options.rounds, kind.looks[-1])
            told_too = kind is None or kind.prior is not None
            own = options.pairings == "own" or kind is None
            sides = dict.fromkeys((*codes, TOLD) if told_too else codes)
            for code in sides:
                task = Task(
                    pool=pool,
                    code=code,
                    pairings=PAIRINGS[own],
                    versions=versions,
                    rounds=rounds,
                    seed=options.seed,
                    replicate=replicate,
                )
                tasks.append(task)
    return tasks


def summarize(tasks: Sequence[Task], done: Mapping[Task, dict[str, Any]], labels: Mapping[str, str]) -> dict[str, Any]:
    """By pool: what its replicates come to by each side, of those that all sides have.

    :param labels: code by side
    """
    rows: dict[str, dict[str, dict[int, dict[str, Any]]]] = {}
    for task in tasks:
        for side, code in labels.items():
            if task.code == code and task in done:
                rows.setdefault(task.pool, {}).setdefault(side, {})[task.replicate] = done[task]
    pools: dict[str, Any] = {}
    for name, sides in rows.items():
        common = sorted(set.intersection(*(set(its) for its in sides.values())))
        if common:
            pools[name] = goal_tables.summary(name, {side: [its[at] for at in common] for side, its in sides.items()})
            if name in GOAL_POOLS:
                pools[name]["ratios"] = goal_tables.ratios(sides, rows.get(GOAL_POOLS[name].games_of, {}))
    return pools


def sources() -> str:
    """A fingerprint of the simulation."""
    return fingerprint([goal_pools, goal_runs, told, newcomers, pools, runs])


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = CommandLine(__doc__, replicates=1, pools=["families"], versions=16, rounds=5, workers=1)
    choices = [*GOAL_POOLS, NEWCOMER]
    parser.add_argument("--tree", type=checkout, default=ROOT, metavar="DIR", help="in place of this checkout")
    parser.add_argument("--against", type=checkout, metavar="DIR", help="another checkout, of the commit before")
    parser.add_argument("--replicates", type=int, default=24, help="of each pool (default 24)")
    parser.add_argument("--pools", nargs="+", choices=choices, default=choices, metavar="POOL", help=", ".join(choices))
    parser.add_argument("--pairings", choices=PAIRINGS, default=PAIRINGS[0], help="whose ratings the window looks at")
    parser.add_argument("--quick", action="store_true", help="6 replicates of 40 rounds, no newcomers")
    parser.add_argument("--versions", type=int, help="in every pool (default: the pool's)")
    parser.add_argument(
        "--rounds", type=int, default=200, help="games a version at most (default: as the pool's looks)"
    )
    add_arguments(parser, "rating-goals", SEED)
    options = parser.read(words)
    if options.quick:
        options.replicates, options.rounds = 6, 40
        options.pools = [pool for pool in options.pools if pool != NEWCOMER]
    return options


def main(words: Sequence[str] | None = None) -> None:
    """Print the tables; ``--json`` writes a file."""
    options = arguments(words)
    trees = {"this": options.tree} | ({"against": options.against} if options.against else {})
    labels = {side: code_of(tree) for side, tree in trees.items()} | {TOLD: TOLD}
    tasks = plan(options, list(labels.values())[: len(trees)])
    by_code = {labels[side]: tree for side, tree in trees.items()}
    in_trees = partial(work, trees=by_code, cache=options.cache)
    done = carry_out(in_trees, tasks, options, name="rating_goals", code=sources())
    figures = {
        "benchmark": "rating_goals",
        "seed": options.seed,
        "pairings": options.pairings,
        "trees": {side: commit(tree) for side, tree in trees.items()},
        "pools": summarize(tasks, done, labels),
    }
    print("  ".join(f"{side}: {its}" for side, its in figures["trees"].items()))
    goal_tables.report(figures["pools"])
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
