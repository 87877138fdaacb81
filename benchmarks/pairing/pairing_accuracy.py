"""What the matchmakers are worth to the ratings: simulated pools whose true strengths are known, one row for each.

As in ``rating_accuracy.py``: two anchors, everybody else unrated at first, one game a round for everybody, rated by
`bayes` with its defaults; but here the pairs are made by the server's matchmakers, under the barrier policy and with a
venue's default constraints. Nobody has owners or families, so in force are: not the last opponent, limits on repeated
opponents, costs of colors, of anchors and newcomers among themselves, and for `information` the largest expected score
of 0.95; a barrier gives way only where not everybody could be paired otherwise. Newcomers come one at a time into a
pool that is known to 20 Elo; only their own games count.

Runs on all cores and goes on where it was interrupted.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported, here and in the worker processes

import argparse
import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.ratings.rating_replicates import Checkpoints, add_arguments, carry_out, fingerprint, finish
from benchmarks.reporting import CommandLine
from cgos_server.lab.ratings import matchmakers, newcomers, pools, runs
from cgos_server.lab.ratings.matchmakers import METHODS, Rounds
from cgos_server.lab.ratings.newcomers import GOALS, newcomers_run, summary
from cgos_server.lab.ratings.pools import POOLS, limit_games
from cgos_server.lab.ratings.runs import pool_run, rms, share

SIZES: Mapping[str, tuple[str, int]] = {"normal": ("normal", 64), "bimodal": ("bimodal", 64), "large": ("normal", 256)}
"""Experiment -> pool and versions."""
MAIN = ("information", "permuted")
LARGE = ("information", "permuted", "birk, fifth", "entropy")
"""Rows of the large pool."""
NEWCOMERS = 64
"""Newcomers a replicate."""
NEWCOMER_GAMES = 72
ROUNDS = 160
SEED = 2026
RATED_BY: tuple[str, str, Mapping[str, Any]] = ("bayes", "bayes", {})


class Task(NamedTuple):
    """One replicate; everything that its figures depend on, but for the code.

    :ivar place: one of SIZES, or ``newcomers``
    :ivar row: one of METHODS
    """

    place: str
    row: str
    versions: int
    rounds: int
    seed: int
    replicate: int

    @property
    def experiment(self) -> str:
        return f"{self.place}, {self.row}"


def work(task: Task) -> dict[str, Any]:
    """One replicate, in a process of its own; with its CPU seconds."""
    start = time.process_time()
    name, options = METHODS[task.row]
    pool = dataclasses.replace(POOLS[SIZES.get(task.place, SIZES["normal"])[0]], versions=task.versions)

    def meet(rng: Any) -> Rounds:
        return Rounds(name, options, rng)

    if task.place == "newcomers":
        figures = newcomers_run(
            pool,
            task.seed,
            replicate=task.replicate,
            known="stated",
            newcomers=min(NEWCOMERS, task.versions),
            games=task.rounds,
            systems=(RATED_BY,),
            meet=meet,
        )
    else:
        figures = pool_run(
            pool, task.seed, replicate=task.replicate, systems=(RATED_BY,), rounds=task.rounds, meet=meet
        )
    return figures | {"cpu_s": time.process_time() - start}


def plan(options: argparse.Namespace) -> list[Task]:
    """All replicates, the main rows first."""
    tasks: list[Task] = []
    for place in options.places:
        known = LARGE if place == "large" else MAIN if place == "newcomers" else tuple(METHODS)
        for row in (row for row in options.rows if row in known):
            fewer = {"large": 12, "newcomers": 8}.get(place, 1 if row in MAIN else 3)
            versions = options.versions or SIZES.get(place, SIZES["normal"])[1]
            rounds = min(NEWCOMER_GAMES, options.rounds) if place == "newcomers" else options.rounds
            tasks += [
                Task(place=place, row=row, versions=versions, rounds=rounds, seed=options.seed, replicate=replicate)
                for replicate in range(options.first // fewer, math.ceil(options.replicates / fewer))
            ]
    return sorted(tasks, key=lambda task: task.row not in MAIN)


def sources() -> str:
    """A fingerprint of matchmakers, rating systems and simulation."""
    import cgos_server.core.pairing
    import cgos_server.core.rating

    packages = (cgos_server.core.pairing, cgos_server.core.rating)
    return fingerprint(packages, [newcomers, pools, runs, matchmakers])


def summarize(tasks: Sequence[Task], done: Mapping[Task, dict[str, Any]]) -> dict[str, Any]:
    """By experiment and row: what all its replicates come to."""
    groups: dict[str, dict[str, list[Task]]] = {}
    for task in tasks:
        if task in done:
            groups.setdefault(task.place, {}).setdefault(task.row, []).append(task)
    return {
        place: {
            row: (_of_newcomers if place == "newcomers" else _of_pool)(members, [done[task] for task in members])
            for row, members in rows.items()
        }
        for place, rows in groups.items()
    }


def _of_pool(tasks: Sequence[Task], replicates: Sequence[dict[str, Any]]) -> dict[str, Any]:
    pool, versions = SIZES[tasks[0].place]
    limit = POOLS[pool].limit if (versions, tasks[0].versions) == (64, 64) else None
    at: dict[str, Any] = {}
    for games in replicates[0]["at"]:
        rows = [replicate["at"][games][RATED_BY[0]] for replicate in replicates]
        rmse, se = rms([row["mse"] for row in rows])
        at[games] = {
            "rmse": rmse,
            "se": se,
            "median": math.sqrt(sorted(row["mse"] for row in rows)[len(rows) // 2]),
            "inside": share([row["inside"] for row in rows])[0],
            "pairs": share([row["pairs"] for row in rows if row["pairs"] is not None])[0],
            "offset": rms([row["offset"] ** 2 for row in rows])[0],
        }
        if limit:
            at[games]["games_used"] = int(games) / limit_games(limit, rmse)
    return {
        "versions": tasks[0].versions,
        "replicates": len(replicates),
        "cpu_s": share([replicate["cpu_s"] for replicate in replicates])[0],
        "at": at,
    }


def _of_newcomers(tasks: Sequence[Task], replicates: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "newcomers": len(replicates) * min(NEWCOMERS, tasks[0].versions),
        "cpu_s": share([replicate["cpu_s"] for replicate in replicates])[0],
        **summary(replicates, RATED_BY[0]),
    }


def report(figures: Mapping[str, Any], say: Callable[[str], None] = print) -> None:
    """The tables."""
    for place, rows in figures["experiments"].items():
        if place == "newcomers":
            _report_newcomers(rows, say)
            continue
        pool = POOLS[SIZES[place][0]]
        first_row = next(iter(rows.values()))
        say(f"\n{pool.text}, {first_row['versions']} versions: RMSE after so many games a version")
        say(f"  {'':18}{'replicates':>10}" + "".join(f"{games:>15}" for games in first_row["at"]))
        for row, entry in rows.items():
            cells = "".join(f"{at['rmse']:9.1f} ± {at['se']:3.1f}" for at in entry["at"].values())
            say(f"  {row:18}{entry['replicates']:10}{cells}   {entry['cpu_s']:.1f} CPU s each")
        for key, text in (("median", "median"), ("inside", "held"), ("pairs", "differences"), ("offset", "offset")):
            say(f"  {text}")
            for row, entry in rows.items():
                digits = 3 if key in ("inside", "pairs") else 1
                say(f"  {row:28}" + "".join(f"{at[key]:15.{digits}f}" for at in entry["at"].values()))


def _report_newcomers(rows: Mapping[str, Any], say: Callable[[str], None]) -> None:
    games = [game for game in (1, 2, 5, 10, 13, 15, 17, 23, 25, 31, 40, 52, 58, 70) if game <= NEWCOMER_GAMES]
    for row, result in rows.items():
        shown = [game for game in games if game <= len(result["rmse"])]
        say(f"\n{result['newcomers']} newcomers, {row}: games to {GOALS}: {list(result['to'].values())}")
        say("  " + "".join(f"{game:6}" for game in shown))
        say("  " + "".join(f"{result['rmse'][game - 1]:6.1f}" for game in shown))
        say("  " + "".join(f"  ±{result['se'][game - 1]:3.1f}" for game in shown))
        say("  " + "".join(f"{result['inside'][game - 1]:6.2f}" for game in shown))


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = CommandLine(
        __doc__, replicates=1, places=["newcomers"], rows=["birk half"], versions=8, rounds=3, workers=1, fresh=True
    )
    places = [*SIZES, "newcomers"]
    parser.add_argument(
        "--replicates",
        type=int,
        default=96,
        help="of the main rows; other rows, the large pool and newcomers have fewer (default 96)",
    )
    parser.add_argument("--first", type=int, default=0, help="leave out replicates before this one")
    parser.add_argument("--places", nargs="+", choices=places, default=places, metavar="PLACE", help=", ".join(places))
    parser.add_argument("--rows", nargs="+", choices=[*METHODS], default=[*METHODS], metavar="ROW")
    parser.add_argument("--versions", type=int, help="in every pool (default: 64 and 256)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"games a version (default {ROUNDS})")
    add_arguments(parser, "pairing-accuracy", SEED)
    return parser.read(words)


def main(words: Sequence[str] | None = None) -> None:
    """Print the tables; ``--json`` writes a file."""
    options = arguments(words)
    tasks = plan(options)
    checkpoints = Checkpoints(options.cache / "pairing_accuracy.jsonl", Task, sources(), options.fresh)
    failed = carry_out(tasks, checkpoints, options.workers, work)
    figures = {
        "benchmark": "pairing_accuracy",
        "seed": options.seed,
        "rows": {row: {"method": name, "options": dict(own)} for row, (name, own) in METHODS.items()},
        "experiments": summarize(tasks, checkpoints.done),
    }
    report(figures)
    finish(figures, options.json, failed)


if __name__ == "__main__":
    main()
