"""What a round of a tournament costs, and how many tournaments can be simulated.

CPU time of one thread; rounds: median and largest over an event's rounds. Every ratio is of two things measured in turn
in the same run. Of each system events are simulated one by one, as the server plays them: the record grows round by
round, and each round is paired from it with all its sentences. The networkx loop is the simulation on arrays with
networkx for the matching of the whole field each round: the same edges and weights ("networkx", which plays the same
tournaments), or weights without the last part that makes the best round the only one ("plain", which is quicker for it,
and plays others where two rounds are equally good). The ratio is to the faster of these. "Blocks" is what only the
solver is worth: networkx in the loop as it is, which splits the field where it may.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported

import math
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from typing import Annotated, Any

import networkx
import numpy as np
import rustworkx

from benchmarks.reporting import held, processor, program, table
from cgos_server.tournaments.base import Event, Game, Result, Round
from cgos_server.tournaments.chance import Lots
from cgos_server.tournaments.event import begin
from cgos_server.tournaments.pairing.mwm_weights import (
    MILLION,
    ORDERS,
    TIE_BITS,
    edges_of,
    packed,
    pair_field,
    third_of,
)
from cgos_server.tournaments.registry import SYSTEMS
from cgos_server.tournaments.simulation.many_events import simulate_many
from cgos_server.tournaments.simulation.many_rounds import best
from cgos_server.tournaments.simulation.one_event import Plan, entrants_of, seed_of, simulate
from cgos_server.tournaments.tournament import next_round

GOALS = {
    "tcec 64, ms": 50.0,
    "tcec-double 64, ms": 50.0,
    "mwm 32, ms": 10.0,
    "mwm 128, ms": 100.0,
    "mwm 1024 / bare rustworkx": 1.5,
}
LEAST = {"tournaments / networkx loop": 15.0, "burstein / networkx loop": 100.0, "events of any system": 100.0}
"""The larger the better."""

CASES = (("tcec", 64), ("tcec-double", 64), *((order, n) for n in (32, 128) for order in ORDERS))
ROUNDS = {"tcec": 11, "tcec-double": 11, **dict.fromkeys(ORDERS, 9)}
SIMULATED = ("dutch", "burstein", "random2")
PLAYERS, LENGTH = 32, 7
OWN_LENGTH = ("round-robin", "cup", "double-elimination", "bubble")
"""Systems whose events are over by themselves; such whole events are measured besides."""


def event_of(system: str, n: int) -> Event:
    ratings = np.random.default_rng(n).normal(2000.0, 350.0, n).round()
    return Event(system=system, entrants=entrants_of(ratings), seed=n)


def rounds(system: str, n: int) -> list[float]:
    """CPU seconds of each round of an event."""
    event = event_of(system, n)
    seconds = []
    for number in range(1, ROUNDS[system] + 1):
        start = time.process_time()
        drawn = next_round(event)
        seconds.append(time.process_time() - start)
        lots = Lots(n, number)
        event = begin(
            event, Round(number=number, games=tuple(played(game, lots) for game in drawn.games), byes=drawn.byes)
        )
    return seconds


def played(game: Game, lots: Lots) -> Game:
    drawn = lots.unit("result", game.white, game.black)
    points = 2 if drawn < 0.4 else 0 if drawn > 0.7 else 1
    return Game(black=game.black, white=game.white, result=Result(2 - points, points), reason=game.reason)


class Position:
    """A field of n before a round, by rank, after some rounds of neighbors."""

    def __init__(self, n: int, before: int, order: str) -> None:
        rng = np.random.default_rng([n, before])
        self.score = np.zeros(n, dtype=np.int64)
        self.balance = np.zeros(n, dtype=np.int64)
        self.times = np.zeros((n, n), dtype=np.int64)
        for _ in range(before):
            ranked = np.argsort(-self.score, kind="stable")
            for first, second in ranked.reshape(-1, 2).tolist():
                made = int(rng.integers(3))
                self.score[first] += made
                self.score[second] += 2 - made
                self.balance[first] += 1 if self.balance[first] <= self.balance[second] else -1
                self.balance[second] += -1 if self.balance[first] > self.balance[second] else 1
                self.times[first, second] = self.times[second, first] = 1
        ranked = np.argsort(-self.score, kind="stable")
        self.score, self.balance = self.score[ranked], np.clip(self.balance[ranked], -2, 2)
        self.times = self.times[np.ix_(ranked, ranked)]
        u = np.triu((rng.random((n, n)) * MILLION).astype(np.int64), 1)
        self.third = third_of(order, self.score, lambda i, j: u[i, j])
        self.n = n

    def ours(self) -> object:
        return pair_field(self.score, self.balance, times=self.times, beta=2, third=self.third)

    def bare(self) -> Callable[[], object]:
        """The matching of all pairs that the rules allow, already weighed, by rustworkx alone."""
        i, j, weight = edges_of("strict", self.score, balance=self.balance, times=self.times, beta=2, third=self.third)
        weights = packed(self.n, i, j, weight)
        graph: rustworkx.PyGraph[None, int] = rustworkx.PyGraph(multigraph=True)
        graph.add_nodes_from([None] * self.n)
        graph.add_edges_from(list(zip(i.tolist(), j.tolist(), weights, strict=True)))
        return lambda: rustworkx.max_weight_matching(graph, max_cardinality=False, weight_fn=int)


def by_networkx(n: int, edges: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    graph = networkx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(edges)
    return list(networkx.max_weight_matching(graph, maxcardinality=True))


def by_plain_networkx(n: int, edges: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """With what somebody would give it who does not mind which of two equally good rounds it is."""
    return by_networkx(n, [(i, j, plain(weight)) for i, j, weight in edges])


def plain(weight: int) -> int:
    """A weight of the simulations without what separates equally good rounds."""
    return weight // (PLAYERS // 2 * ((1 << TIE_BITS) - 1) + 1)


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def events(runs: int, largest: int) -> list[dict[str, Any]]:
    """Rounds as the command makes them, explanations included."""
    rows = []
    for system, n in CASES:
        if n > largest:
            continue
        medians = [
            statistics.median(samples) for samples in zip(*(rounds(system, n) for _ in range(runs)), strict=True)
        ]
        rows.append(
            {
                "system": system,
                "n": n,
                "rounds": len(medians),
                "median": statistics.median(medians),
                "largest": max(medians),
            }
        )
    return rows


def large(n: int, runs: int, orders: Sequence[str] = ("dutch", "burstein", "random2")) -> list[dict[str, Any]]:
    """Our matching beside the bare one of the same graph."""
    rows = []
    for order in orders:
        for before in (0, 4):
            position = Position(n, before, order)
            bare = position.bare()
            pairs = [(cpu(position.ours), cpu(bare)) for _ in range(runs)]
            ours, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
            rows.append(
                {"order": order, "n": n, "round": before + 1, "ours": ours, "bare": theirs, "ratio": ours / theirs}
            )
    return rows


def systems(runs: int, count: int) -> list[dict[str, Any]]:
    """Events of every system, one after the other, each system in turn."""
    plans = [Plan(system=system, players=PLAYERS, rounds=LENGTH) for system in SYSTEMS]
    plans += [Plan(system=system, players=PLAYERS, rounds=None) for system in OWN_LENGTH]
    seeds = [seed_of(2, index) for index in range(count)]
    rows = []
    for plan in plans:
        played = [simulate(plan, seed).measures for seed in seeds]
        seconds = statistics.median(cpu(partial(_play, plan, seeds)) for _ in range(runs)) / count
        rows.append(
            {
                "system": plan.system,
                "whole": plan.rounds is None,
                "rounds": statistics.mean(each.rounds for each in played),
                "games": statistics.mean(each.games for each in played),
                "seconds": seconds,
                "rate": 1.0 / seconds,
            }
        )
    return rows


def _play(plan: Plan, seeds: list[int]) -> None:
    for seed in seeds:
        simulate(plan, seed)


def _loops(plan: Plan, seeds: list[int]) -> dict[str, tuple[int, Callable[[], object]]]:
    """What is held against each other: how many tournaments, and what plays them."""
    few, some = seeds[: 1 + len(seeds) // 32], seeds[: 1 + len(seeds) // 4]
    return {
        "ours": (len(seeds), lambda: simulate_many(plan, seeds)),
        "whole": (len(some), lambda: simulate_many(plan, some, best, (math.inf,))),
        "networkx": (len(few), lambda: simulate_many(plan, few, by_networkx, (math.inf,))),
        "plain": (len(few), lambda: simulate_many(plan, few, by_plain_networkx, (math.inf,))),
        "blocks": (len(few), lambda: simulate_many(plan, few, by_networkx)),
        "events": (len(few), lambda: [simulate(plan, seed) for seed in few]),
    }


def simulations(runs: int, count: int) -> list[dict[str, Any]]:
    """Tournaments a second and core, each kind in turn."""
    rows = []
    seeds = [seed_of(1, index) for index in range(count)]
    for system in SIMULATED:
        loops = _loops(Plan(system=system, players=PLAYERS, rounds=LENGTH), seeds)
        speeds: dict[str, list[float]] = {name: [] for name in loops}
        for _ in range(runs):
            for name, (count, work) in loops.items():
                speeds[name].append(count / cpu(work))
        rates = {name: statistics.median(samples) for name, samples in speeds.items()}
        rows.append({"system": system, **rates, "ratio": rates["ours"] / max(rates["networkx"], rates["plain"])})
    return rows


def run(
    runs: Annotated[int, "of which the median counts"] = 3,
    largest: Annotated[int, "players of the round held against the bare matching; 1024: about five minutes"] = 1024,
    largest_event: Annotated[int, "players of the largest event that is paired round by round"] = 128,
    tournaments: Annotated[int, "simulated at a time"] = 256,
    whole: Annotated[int, "events of each system that are simulated one by one"] = 20,
) -> dict[str, Any]:
    """Measure everything and print it.

    :return: ``events``, ``large``, ``simulations``, ``systems``: a row each; ``goals``: (found, goal)
    """
    machine = (
        f"Python {platform.python_version()}, numpy {np.__version__}, rustworkx {version('rustworkx')}, "
        f"networkx {networkx.__version__}, {processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    )
    print(f"{machine}; CPU time of one thread, medians of {runs}")
    rows = events(runs, largest_event)
    columns: Sequence[str] = ("system", "players", "rounds", "median", "largest")
    cells = [
        (row["system"], row["n"], row["rounds"], f"{row['median'] * 1e3:.1f}", f"{row['largest'] * 1e3:.1f}")
        for row in rows
    ]
    print(table("Rounds by the command's own way, ms", columns, cells))
    compared = large(largest, 1)
    columns = ("order", "players", "round", "ours", "bare", "ratio")
    cells = [(row["order"], row["n"], row["round"], *(f"{row[name]:.2f}" for name in columns[3:])) for row in compared]
    print(table("One large round beside the bare matching of all its possible pairs, s", columns, cells))
    simulated = simulations(runs, tournaments)
    columns = ("system", "ours", "whole field, rustworkx", "events", "networkx", "plain", "blocks", "ours / networkx")
    cells = [
        (
            row["system"],
            *(f"{row[name]:.0f}" for name in ("ours", "whole", "events")),
            *(f"{row[name]:.1f}" for name in ("networkx", "plain", "blocks", "ratio")),
        )
        for row in simulated
    ]
    print(table(f"Simulated tournaments of {PLAYERS} players and {LENGTH} rounds, a second and core", columns, cells))
    every = systems(runs, whole)
    columns = ("system", "rounds", "games", "ms an event", "events a second")
    cells = [
        (
            row["system"],
            f"{row['rounds']:.1f}",
            f"{row['games']:.0f}",
            f"{row['seconds'] * 1e3:.1f}",
            f"{row['rate']:.0f}",
        )
        for row in every
    ]
    print(table(f"Events of {PLAYERS} players one by one: of {LENGTH} rounds, then whole ones, a core", columns, cells))
    figures = {f"{row['system']} {row['n']}, ms": row["largest"] * 1e3 for row in rows if row["n"] == 64}
    for n in {row["n"] for row in rows} & {32, 128}:
        figures[f"mwm {n}, ms"] = max(row["largest"] * 1e3 for row in rows if row["n"] == n)
    figures[f"mwm {largest} / bare rustworkx"] = max(row["ratio"] for row in compared)
    figures["tournaments / networkx loop"] = min(row["ratio"] for row in simulated)
    figures["burstein / networkx loop"] = next(row["ratio"] for row in simulated if row["system"] == "burstein")
    figures["events of any system"] = min(row["rate"] for row in every if not row["whole"])
    goals = held(figures, GOALS | LEAST, least=LEAST)
    return {
        "benchmark": "tournament_speed",
        "machine": machine,
        "runs": runs,
        "events": rows,
        "large": compared,
        "simulations": simulated,
        "systems": every,
        "goals": goals,
    }


def brief() -> dict[str, Any]:
    """Everything once, the large field with 256 players."""
    return run(runs=1, largest=256)


main = program(run, runs=1, largest=16, largest_event=32, tournaments=8, whole=1)


if __name__ == "__main__":
    main()
