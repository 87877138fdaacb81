"""What a game's begin, its end, its result and a move cost a server, in CPU microseconds each; of older commits too.

All bots are in step: they hold a game's first move and, after its end, their `ready` for a while, so that the CPU time
between two quiet moments belongs to begins alone (the pairing, in the game process, included) or to ends alone, idle
time subtracted. Games of 2 and of 22 plies, played at once, tell a move from an end; a venue without ratings tells the
result from the rest of the end. CPU time of the whole process, and of its event loop's thread alone; child processes
are not in it. By lines. `--against DIR` measures another checkout by turns. Loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from benchmarks.moves.checkouts import checkout, commit, hosted
from benchmarks.moves.loads import SIGN_IN_LIMIT_S, cpu_seconds, reports
from benchmarks.moves.server_moves import scripted_game
from benchmarks.reporting import ROOT, program

PASSES = ["PASS", "PASS"]
LONGER = 20
"""Plies that the longer games have more."""


class Sample(msgspec.Struct, kw_only=True, frozen=True):
    """Where a server and its bots stand: CPU seconds, games since the beginning (once for each side)."""

    at: float
    process: float
    loop: float
    begun: int
    ended: int


class Spent(msgspec.Struct, kw_only=True):
    """CPU microseconds."""

    process: float
    loop: float

    def minus(self, other: Spent, divisor: float = 1.0) -> Spent:
        return Spent(process=(self.process - other.process) / divisor, loop=(self.loop - other.loop) / divisor)


class Costs(msgspec.Struct, kw_only=True):
    """Of one run."""

    begin: Spent
    end: Spent
    """With its result, without its moves."""
    result: Spent
    move: Spent


def sample(pid: int, begun: int, ended: int) -> Sample:
    """As of now; the loop's thread is the first one, whose time the kernel tells in nanoseconds."""
    loop = int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0]) / 1e9
    return Sample(at=time.monotonic(), process=cpu_seconds(pid), loop=loop, begun=begun, ended=ended)


def phases(samples: Sequence[Sample]) -> tuple[Spent, Spent]:
    """A begin and an end: what was spent from quiet moment to quiet moment, without what is spent when nothing happens.

    :raises RuntimeError: less than one begin and one end are between quiet moments
    """
    pairs = list(itertools.pairwise(samples))
    kinds = ["end" if b.ended > a.ended else "begin" if b.begun > a.begun else "" for a, b in pairs]
    marks = [(at, kind) for at, kind in enumerate(kinds) if kind]
    # The middle between the last step of one kind and the first of the other.
    cuts = [((a[0] + b[0] + 1) // 2, b[1]) for a, b in itertools.pairwise(marks) if a[1] != b[1]]
    quiet = [
        pair
        for at, pair in enumerate(pairs)
        if cuts and cuts[0][0] < at < cuts[-1][0] and not any(kinds[max(0, at - 3) : at + 4])
    ]
    if len(cuts) < 3 or not quiet:
        raise RuntimeError("the bots did not play in step: too few games, or too short a hold")
    idle = {
        which: statistics.median((getattr(b, which) - getattr(a, which)) / (b.at - a.at) for a, b in quiet)
        for which in ("process", "loop")
    }
    totals = {kind: dict.fromkeys(("process", "loop", "games"), 0.0) for kind in ("begin", "end")}
    for (first, kind), (last, _) in itertools.pairwise(cuts):
        a, b, total = samples[first], samples[last], totals[kind]
        for which, rate in idle.items():
            total[which] += getattr(b, which) - getattr(a, which) - rate * (b.at - a.at)
        total["games"] += (b.begun - a.begun if kind == "begin" else b.ended - a.ended) / 2
    begin, end = (
        Spent(process=total["process"] / total["games"] * 1e6, loop=total["loop"] / total["games"] * 1e6)
        for total in (totals["begin"], totals["end"])
    )
    return begin, end


def played(
    tree: Path, script: Sequence[str], *, bots: int, cycles: int, hold: float, rated: bool
) -> tuple[Spent, Spent]:
    """A begin, and an end with its moves, of games of this script."""
    samples: list[Sample] = []
    with tempfile.TemporaryDirectory(prefix="cgos-bench-") as name:
        file = Path(name) / "script.json"
        file.write_text(json.dumps(script))
        with hosted(tree, Path(name), bots, venue="" if rated else "rated = false\n") as running:
            options = ("--script", str(file), "--hold", str(hold), "--progress", str(hold / 10))
            for report in reports(running.lines, bots, SIGN_IN_LIMIT_S, *options):
                if report.errors or report.closed:
                    raise RuntimeError(f"bots were refused or dropped: {report}")
                if report.games >= bots:  # sign-in and the first games are over
                    samples.append(sample(running.pid, report.begun, report.games))
                if report.games >= (cycles + 2) * bots:
                    break
    return phases(samples)


def costs(tree: Path, *, bots: int, cycles: int, hold: float) -> Costs:
    """One run of a tree: three servers, one after the other."""
    longer = [*scripted_game()[:LONGER], *PASSES]
    begin, short = played(tree, PASSES, bots=bots, cycles=cycles, hold=hold, rated=True)
    _, long = played(tree, longer, bots=bots, cycles=cycles, hold=hold, rated=True)
    _, unrated = played(tree, PASSES, bots=bots, cycles=cycles, hold=hold, rated=False)
    move = long.minus(short, LONGER)
    moves = Spent(process=2 * move.process, loop=2 * move.loop)
    return Costs(begin=begin, end=short.minus(moves), result=short.minus(unrated), move=move)


def run(
    tree: Annotated[Path, checkout, "in place of this one"] = ROOT,
    against: Annotated[Path | None, checkout, "another checkout, by turns"] = None,
    runs: int = 5,
    bots: int = 200,
    cycles: Annotated[int, "games of every bot in a run"] = 6,
    hold: Annotated[float, "seconds between a game's begin and end"] = 1.0,
) -> dict[str, list[Costs]]:
    """All runs of each tree, by turns, by its commit."""
    trees = [tree] if against is None else [tree, against]
    results: dict[str, list[Costs]] = {commit(tree_path): [] for tree_path in trees}
    for _ in range(runs):
        for tree_path in trees:
            results[commit(tree_path)].append(costs(tree_path, bots=bots, cycles=cycles, hold=hold))
    for name, all_costs in results.items():
        print(f"{name}: CPU us of the process (of its loop's thread), medians of {runs}, {bots} bots")
        for what in Costs.__struct_fields__:
            spent = [getattr(cost, what) for cost in all_costs]
            process, loop = (statistics.median(getattr(usage, part) for usage in spent) for part in ("process", "loop"))
            print(f"  {what:8} {process:8.1f} ({loop:.1f})", flush=True)
    return results


main = program(run, runs=1, bots=2, cycles=1, hold=0.4)


if __name__ == "__main__":
    main()
