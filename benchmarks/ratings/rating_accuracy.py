"""How far off ratings are, and how honest their intervals: simulated pools whose true strengths are known.

All rating systems see the same results; none is told anything about the pool. 64 versions, two anchors at the 1/3 and
2/3 quantiles, everybody else unrated (2000) at first; each plays one game a round; neighbors play after noise was
added to the ratings (the permuted window of CGOS). Runs on all cores and goes on where it was interrupted: the figures
of every replicate are a line of a file in the cache directory. Takes about 45 minutes on two cores.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported, here and in the worker processes

import argparse
import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.ratings import rating_picture
from benchmarks.ratings.rating_replicates import Checkpoints, add_arguments, carry_out, fingerprint, finish
from benchmarks.reporting import CommandLine
from cgos_server.lab.ratings import newcomers, pools, runs
from cgos_server.lab.ratings.newcomers import GOALS, newcomers_run, summary, told_run
from cgos_server.lab.ratings.pools import GAMES, LIMIT_GAMES, LIMITS, POOLS, limit_at, limit_games
from cgos_server.lab.ratings.runs import pool_run, rms, share

System = tuple[str, str, Mapping[str, Any]]

HEADLINE: System = ("bayes", "bayes", {})
VIEWS: Sequence[System] = (
    ("cgos-elo", "cgos-elo", {}),
    ("gor", "gor", {}),
    ("egf2021", "egf2021", {}),
    ("glicko2", "glicko2", {}),
)
PEER: System = ("cgos-elo, compat", "cgos-elo", {"compat": True})
POINTS = ("gor", "egf2021")
"""Systems whose points are not Elo: they are compared after the straight line that fits best."""

MAIN = ("normal", "bimodal")
NARROW = "stated, window 500"
TOLD, TOLD_NARROW = "told", "told, window 500"
KNOWN: Mapping[str, int] = {"stated": 6, NARROW: 12, "results": 48, TOLD: 6, TOLD_NARROW: 6}
"""How the versions that newcomers meet are known (``told``: nobody can do better) -> so many times fewer replicates."""
ROUNDS = 160
NEWCOMERS = 64
"""Newcomers a replicate."""
NEWCOMER_GAMES = 72
SEED = 2026


class Task(NamedTuple):
    """One replicate of an experiment; everything that its figures depend on, but for the code.

    :ivar kind: ``pool``: `drives` is the headline or the view that makes the pairs; ``newcomers``: `drives` says how
        the established versions are known
    """

    kind: str
    pool: str
    drives: str
    versions: int
    rounds: int
    seed: int
    replicate: int

    @property
    def experiment(self) -> str:
        return f"{self.pool}, {self.drives}" if self.kind == "pool" else f"newcomers, {self.drives}"


def work(task: Task) -> dict[str, Any]:
    """One replicate, in a process of its own; with its CPU seconds."""
    start = time.process_time()
    pool = dataclasses.replace(POOLS[task.pool], versions=task.versions)
    of_newcomers: dict[str, Any] = {
        "replicate": task.replicate,
        "newcomers": min(NEWCOMERS, task.versions),
        "games": task.rounds,
    }
    reach = 500.0 if task.drives in (NARROW, TOLD_NARROW) else None
    if task.drives in (TOLD, TOLD_NARROW):
        figures = told_run(pool, task.seed, reach=reach, **of_newcomers)
    elif task.kind == "newcomers":
        systems = (HEADLINE, *(view for view in VIEWS if view[0] not in POINTS))
        known = "stated" if task.drives == NARROW else task.drives
        figures = newcomers_run(pool, task.seed, known=known, systems=systems, reach=reach, **of_newcomers)
    else:
        systems = (PEER, VIEWS[0]) if task.drives == PEER[0] else (HEADLINE, *VIEWS)
        figures = pool_run(pool, task.seed, replicate=task.replicate, systems=systems, rounds=task.rounds)
    return figures | {"cpu_s": time.process_time() - start}


def plan(options: argparse.Namespace) -> list[Task]:
    """All replicates, the main pools first."""
    main = options.replicates
    fewer = {name: 8 if POOLS[name].nu or POOLS[name].advantage else 12 for name in POOLS if name not in MAIN}
    counts = {name: math.ceil(main / fewer.get(name, 1)) for name in POOLS}

    def replicates(count: int, pool: str, **fields: Any) -> list[Task]:
        versions = options.versions or POOLS[pool].versions
        return [
            Task(pool=pool, versions=versions, seed=options.seed, replicate=number, **fields) for number in range(count)
        ]

    tasks: list[Task] = []
    for name in [name for name in POOLS if name in options.pools]:
        for drives in (HEADLINE[0], PEER[0]) if name in MAIN else (HEADLINE[0],):
            tasks += replicates(counts[name], name, kind="pool", drives=drives, rounds=options.rounds)
    if "newcomers" in options.pools:
        games = min(NEWCOMER_GAMES, options.rounds)
        for known, fewer_times in KNOWN.items():
            count = math.ceil(main / fewer_times)
            tasks += replicates(count, "normal", kind="newcomers", drives=known, rounds=games)
    return sorted(tasks, key=lambda task: task.kind == "pool" and task.pool not in MAIN)


def sources() -> str:
    """A fingerprint of the rating systems and of the simulation."""
    import cgos_server.core.rating

    return fingerprint([cgos_server.core.rating], [newcomers, pools, runs])


def summarize(tasks: Sequence[Task], done: Mapping[Task, dict[str, Any]]) -> dict[str, Any]:
    """By experiment: what all its replicates come to."""
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        if task in done:
            groups.setdefault(task.experiment, []).append(task)
    return {
        name: (_pool_summary if members[0].kind == "pool" else _newcomer_summary)(members, [done[t] for t in members])
        for name, members in groups.items()
    }


def _pool_summary(tasks: Sequence[Task], replicates: Sequence[dict[str, Any]]) -> dict[str, Any]:
    first = tasks[0]
    pool = POOLS[first.pool]
    limit = pool.limit if first.versions == pool.versions else None
    systems: dict[str, Any] = {}
    for games in replicates[0]["at"]:
        for label in replicates[0]["at"][games]:
            rows = [replicate["at"][games][label] for replicate in replicates]
            rmse, rmse_se = rms([row["mse"] for row in rows])
            line, line_se = rms([row["line"] for row in rows])
            entry = {"rmse": rmse, "se": rmse_se, "line": line, "line_se": line_se}
            entry["offset"] = rms([row["offset"] ** 2 for row in rows])[0]
            if limit:
                best = line if label in POINTS else rmse
                entry["games_used"] = int(games) / limit_games(limit, best)
            if "inside" in rows[0]:
                entry["inside"], entry["inside_se"] = share([row["inside"] for row in rows])
                pairs = [row["pairs"] for row in rows if row["pairs"] is not None]
                entry["pairs"], entry["pairs_se"] = share(pairs) if pairs else (math.nan, math.nan)
                entry["halfwidth"] = share([row["halfwidth"] for row in rows])[0]
                entry["seen"] = share([row["seen"] for row in rows])[0]
            systems.setdefault(label, {})[games] = entry
    learned = [replicate["learned"] for replicate in replicates]
    return {
        "kind": "pool",
        "pool": pool.name,
        "text": pool.text,
        "versions": first.versions,
        "replicates": len(replicates),
        "draws": share([replicate["draws"] for replicate in replicates])[0],
        "cpu_s": share([replicate["cpu_s"] for replicate in replicates])[0],
        "driver_cpu_s": [share([replicate["cpu"][part] for replicate in replicates])[0] for part in (0, 1)],
        "refits": [share([replicate["refits"][part] for replicate in replicates])[0] for part in (0, 1)],
        "learned": {
            key: share([values[key] for values in learned])[0]
            for key in sorted(set.intersection(*(set(values) for values in learned)))
            if all(isinstance(values[key], int | float) for values in learned)
        },
        "limit": {games: limit_at(limit, int(games)) for games in replicates[0]["at"]} if limit else None,
        "systems": systems,
    }


def _newcomer_summary(tasks: Sequence[Task], replicates: Sequence[dict[str, Any]]) -> dict[str, Any]:
    systems = {label: summary(replicates, label) for label in replicates[0]["at"]}
    for label, entry in systems.items():
        if label != HEADLINE[0]:
            del entry["inside"]
    return {
        "kind": "newcomers",
        "known": tasks[0].drives,
        "newcomers": len(replicates) * min(NEWCOMERS, tasks[0].versions),
        "established": {
            label: rms([replicate["established"][label] for replicate in replicates])[0]
            for label in replicates[0]["established"]
        },
        "cpu_s": share([replicate["cpu_s"] for replicate in replicates])[0],
        "systems": systems,
    }


def report(figures: Mapping[str, Any], say: Callable[[str], None] = print) -> None:
    """The tables."""
    for name, experiment in figures["experiments"].items():
        if experiment["kind"] == "newcomers":
            _report_newcomers(name, experiment, say)
        else:
            _report_pool(name, experiment, say)
    say("\nThe limit: RMSE of the best schedule, told the true prior")
    say(f"  {'after games':44}" + "".join(f"{games:>7}" for games in LIMIT_GAMES))
    for row, values in LIMITS.items():
        say(f"  {row:44}" + "".join(f"{value:7.0f}" for value in values))


def _report_pool(name: str, experiment: Mapping[str, Any], say: Callable[[str], None]) -> None:
    fold, refit = experiment["driver_cpu_s"]
    say(f"\n{name}: {experiment['text']}, {experiment['versions']} versions, {experiment['replicates']} replicates")
    say(
        f"  {experiment['draws']:.0%} draws; {experiment['cpu_s']:.1f} CPU s a replicate, "
        f"of them for the driver {fold:.1f} folding, "
        f"{refit:.1f} in {experiment['refits'][0]:.0f} cold and {experiment['refits'][1]:.0f} warm refits"
    )
    games = list(next(iter(experiment["systems"].values())))
    say(f"  {'RMSE after games':26}" + "".join(f"{number:>14}" for number in games))
    for label, rows in experiment["systems"].items():
        say(f"  {label:26}" + "".join(f"{row['rmse']:8.1f} ± {row['se']:3.1f}" for row in rows.values()))
        if label in POINTS:
            cells = "".join(f"{row['line']:8.1f} ± {row['line_se']:3.1f}" for row in rows.values())
            say(f"  {'  best straight line':26}{cells}")
    if experiment["limit"]:
        say(f"  {'limit':26}" + "".join(f"{experiment['limit'][number]:14.0f}" for number in games))
        for label, rows in experiment["systems"].items():
            say(f"  {label + ': games / limit':26}" + "".join(f"{row['games_used']:14.2f}" for row in rows.values()))
    for label, rows in experiment["systems"].items():
        if "inside" in next(iter(rows.values())):
            for key, text in (("inside", "95 % hold"), ("pairs", "differences")):
                cells = "".join(f"{row[key]:8.3f} ± {row[key + '_se']:.3f}"[-14:] for row in rows.values())
                say(f"  {label + ': ' + text:26}{cells}")
            say(f"  {label + ': half-width':26}" + "".join(f"{row['halfwidth']:14.0f}" for row in rows.values()))
            say(f"  {label + ': offset (rms)':26}" + "".join(f"{row['offset']:14.1f}" for row in rows.values()))
    if experiment["learned"]:
        say(
            "  last cold refit, mean: "
            + ", ".join(f"{key} {value:.3g}" for key, value in experiment["learned"].items())
        )


def _report_newcomers(name: str, experiment: Mapping[str, Any], say: Callable[[str], None]) -> None:
    known = ", ".join(f"{label} {rmse:.0f}" for label, rmse in experiment["established"].items())
    say(
        f"\n{name}: {experiment['newcomers']} newcomers; the others are known to ({known}) Elo; "
        f"{experiment['cpu_s']:.0f} CPU s each"
    )
    games = [game for game in (1, 2, 5, 10, 14, 16, 20, 24, 26, 40, 54, 60, 72) if game <= _length(experiment)]
    say(f"  {'RMSE after games':24}" + "".join(f"{game:6}" for game in games) + "   games to " + str(GOALS))
    for label, rows in experiment["systems"].items():
        cells = "".join(f"{rows['rmse'][game - 1]:6.0f}" for game in games)
        say(f"  {label:24}{cells}   {', '.join(str(rows['to'][f'{goal:g}'] or '-') for goal in GOALS)}")
        say(f"  {'':24}" + "".join(f"  ±{rows['se'][game - 1]:3.1f}" for game in games))
        if "inside" in rows:
            say(f"  {label + ': 95 % hold':24}" + "".join(f"{rows['inside'][game - 1]:6.2f}" for game in games))


def _length(experiment: Mapping[str, Any]) -> int:
    return len(next(iter(experiment["systems"].values()))["rmse"])


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = CommandLine(__doc__, replicates=1, pools=["normal-8"], rounds=6, workers=1, fresh=True)
    choices = [*POOLS, "newcomers"]
    parser.add_argument(
        "--replicates", type=int, default=192, help="of the main pools; others have fewer (default 192)"
    )
    parser.add_argument("--pools", nargs="+", choices=choices, default=choices, metavar="POOL", help=", ".join(choices))
    parser.add_argument("--quick", action="store_true", help="the main pools alone, 6 replicates, 40 rounds")
    parser.add_argument("--versions", type=int, help="in every pool (default: the pool's)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"games a version (default {ROUNDS})")
    add_arguments(parser, "rating-accuracy", SEED)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the main pools (SVG)")
    options = parser.read(words)
    if options.quick:
        options.replicates, options.rounds, options.pools = 6, 40, list(MAIN)
    return options


def main(words: Sequence[str] | None = None) -> None:
    """Print the tables; ``--json`` and ``--picture`` write files."""
    options = arguments(words)
    tasks = plan(options)
    checkpoints = Checkpoints(options.cache / "rating_accuracy.jsonl", Task, sources(), options.fresh)
    failed = carry_out(tasks, checkpoints, options.workers, work)
    figures = {
        "benchmark": "rating_accuracy",
        "seed": options.seed,
        "games": [games for games in GAMES if games <= options.rounds],
        "experiments": summarize(tasks, checkpoints.done),
    }
    report(figures)
    if options.picture:
        options.picture.write_text(rating_picture.draw(figures), encoding="utf-8")
    finish(figures, options.json, failed)


if __name__ == "__main__":
    main()
