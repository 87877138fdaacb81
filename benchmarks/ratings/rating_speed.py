"""What the headline's numbers cost: CPU time of a step, of refits and of a replay, beside numpy's Cholesky of the same
size in the same run.

One BLAS thread, as on a server. Medians; ratios to the Cholesky carry over to other machines.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported, here and in the worker process

import multiprocessing
import platform
import statistics
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Annotated, Any

import numpy as np

from benchmarks.ratings.goal_pools import FAMILIES
from benchmarks.reporting import cpu, held, program
from cgos_server.core.rating.base import Fit, Refitting
from cgos_server.lab.ratings.pools import POOLS, Colors, generator, permuted_window, score2
from cgos_server.lab.ratings.runs import Driven

SIZES = (64, 256, 1000)
ROUNDS = {64: 60, 256: 60, 1000: 60, 2000: 60}
"""Games a version before anything is timed, by size."""

REPLAY_VERSIONS = 200
REPLAY_RESULTS = 100_000
GOALS = {
    "step of 1000, us": 50.0,
    "warm 64, ms": 8.0,
    "warm 256, ms": 60.0,
    "warm 1000, ms": 500.0,
    "cold 1000, ms": 15_000.0,
    "replay, s": 60.0,
}


class Played(Driven):
    """A pool of true strengths N(2000, 350) that plays by the permuted window of the true strengths.

    :param linked: families of eight versions in its place, each entered as successor of the one before
    """

    def __init__(self, versions: int, linked: bool = False) -> None:
        super().__init__("bayes")
        self.rng = generator(1, "speed", versions)
        predecessors: Sequence[int | None] = [None] * versions
        if linked:
            self.truth, predecessors = FAMILIES(self.rng, versions)
        else:
            self.truth = self.rng.normal(2000.0, 350.0, versions)
        self._colors = Colors(self.rng)
        for number, value in enumerate(self.truth.tolist()):
            self.enter(value if number < 2 else None, predecessor=predecessors[number])

    def results(self, count: int) -> list[tuple[int, int, int]]:
        """So many results to come, as `game` takes them."""
        results: list[tuple[int, int, int]] = []
        while len(results) < count:
            for pair in permuted_window(self.rng, self.truth):
                first, second = self._colors.first(*pair)
                difference = float(self.truth[first] - self.truth[second])
                results.append((first, second, score2(self.rng, POOLS["normal"], difference)))
        return results[:count]

    def play(self, count: int) -> None:
        """Fold so many results."""
        self.fold(self.results(count))

    def fold(self, results: Iterable[tuple[int, int, int]]) -> None:
        """Fold these."""
        for result in results:
            self.game(*result)


def cholesky(n: int, runs: int) -> float:
    """CPU seconds of numpy's Cholesky of a positive definite matrix of n rows, the median."""
    factor = np.random.default_rng(n).normal(size=(n, n))
    matrix = factor @ factor.T + n * np.eye(n)
    repeat = max(1, int(2e6 // (n * n)))

    def work() -> None:
        for _ in range(repeat):
            np.linalg.cholesky(matrix)

    return statistics.median(cpu(work) / repeat for _ in range(runs))


def refit_elsewhere(system: Refitting, job: Any) -> tuple[Fit, float]:
    """A refit and its CPU seconds, in whatever process this is called."""
    start = time.process_time()
    fit = system.refit(job)
    return fit, time.process_time() - start


def sized(n: int, runs: int, rounds: int) -> dict[str, float]:
    """CPU seconds of everything at one size, and the wall time of the cold refit in a worker process."""
    pool = Played(n)
    pool.play(rounds * n // 2)
    system: Any = pool.system
    seconds: dict[str, float] = {"cholesky": cholesky(n, runs)}
    job = system.job(pool.state, True)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        executor.submit(int).result()
        start = time.perf_counter()
        fit, seconds["cold"] = executor.submit(refit_elsewhere, system, job).result()
        seconds["cold_wall"] = time.perf_counter() - start
    seconds["install"] = cpu(lambda: setattr(pool, "state", system.install(pool.state, fit)))
    seconds |= _warm(pool, n, runs)
    steps = []
    for _ in range(runs):
        results = pool.results(max(200, n // 4))
        steps.append(cpu(partial(pool.fold, results)) / len(results))
        pool.refit(cold=False)
    seconds["step"] = statistics.median(steps)
    games = pool.results(rounds * n // 2)
    for _ in range(4):
        pool.fold(games)
    pool.refit(cold=False)
    seconds["warm_of_five_times_the_games"] = _warm(pool, n, runs)["warm"]
    return seconds


def _warm(pool: Played, n: int, runs: int) -> dict[str, float]:
    """A warm refit with its covariance after n/4 results; making its job and installing it, which the loop does."""
    system: Any = pool.system
    times: dict[str, list[float]] = {"job": [], "warm": [], "install_warm": []}
    for _ in range(runs):
        pool.play(max(1, n // 4))
        began = time.process_time()
        job = system.job(pool.state, False)
        made = time.process_time()
        fit = system.refit(job)
        fitted = time.process_time()
        pool.state = system.install(pool.state, fit)
        times["install_warm"].append(time.process_time() - fitted)
        times["job"].append(made - began)
        times["warm"].append(fitted - made)
    return {name: statistics.median(values) for name, values in times.items()}


def refit_costs(versions: int, linked: bool, rounds: int) -> dict[str, float]:
    """CPU seconds of one cold refit from the counts, one warm one after n/4 results, and of a step of the fold."""
    pool = Played(versions, linked)
    pool.play(rounds * versions // 2)
    system: Any = pool.system
    fit, cold = refit_elsewhere(system, system.job(pool.state, True))
    pool.state = system.install(pool.state, fit)
    warm = _warm(pool, versions, 1)["warm"]
    results = pool.results(max(200, versions // 4))
    return {"cold": cold, "warm": warm, "step": cpu(partial(pool.fold, results)) / len(results)}


def replay(results: int, versions: int = REPLAY_VERSIONS) -> dict[str, float]:
    """CPU seconds of a venue's life, and of its replay by the recorded refits; whether both end alike."""
    first = Played(versions)
    games = first.results(results)
    system: Any = first.system
    recorded: list[tuple[int, bool, str]] = []
    start = time.process_time()
    for number, result in enumerate(games):
        first.game(*result)
        wanted = system.wanted(first.state)
        if wanted.cold or wanted.results >= versions / 4:
            fit = system.refit(system.job(first.state, wanted.cold))
            first.state = system.install(first.state, fit)
            recorded.append((number, fit.cold, fit.notes))
    lived = time.process_time() - start
    again = Played(versions)
    refits = iter(recorded)
    due = next(refits, None)
    start = time.process_time()
    for number, result in enumerate(games):
        again.game(*result)
        if due is not None and due[0] == number:
            fit = system.refit(system.job(again.state, due[1], due[2]))
            again.state = system.install(again.state, fit)
            due = next(refits, None)
    spent = time.process_time() - start
    apart = float(np.max(np.abs(first.ratings()[0] - again.ratings()[0])))
    cold = sum(cold for _, cold, _ in recorded)
    return {
        "results": results,
        "versions": versions,
        "lived": lived,
        "replayed": spent,
        "cold": cold,
        "warm": len(recorded) - cold,
        "apart": apart,
    }


def run(
    runs: Annotated[int, "of which the median counts"] = 5,
    results: Annotated[int, "how long the replay is"] = REPLAY_RESULTS,
    sizes: Annotated[Sequence[int], "of the pools"] = (*SIZES, 2000),
    versions: Annotated[int, "whose results are replayed"] = REPLAY_VERSIONS,
) -> dict[str, Any]:
    """Measure everything and print it.

    :return: ``s``: by size, CPU seconds by name; ``ratios``: to the Cholesky; ``replay``; ``goals``: (found, goal)
    """
    print(f"Python {platform.python_version()}, numpy {np.__version__}, one BLAS thread, CPU time, medians of {runs}")
    seconds: dict[int, dict[str, float]] = {}
    for n in sizes:
        seconds[n] = sized(n, runs if n < 1000 else min(runs, 3), ROUNDS.get(n, 4))
        _report_size(n, seconds[n])
    replayed = replay(results, versions)
    print(
        f"replay of {results} results of {replayed['versions']} versions with {replayed['cold']} cold and "
        f"{replayed['warm']} warm refits as recorded: {replayed['replayed']:.1f} s (the venue's life: "
        f"{replayed['lived']:.1f} s), apart by {replayed['apart']:.1e} Elo"
    )
    figures = {f"warm {n}, ms": times["warm"] * 1e3 for n, times in seconds.items()}
    if 1000 in seconds:
        figures |= {"step of 1000, us": seconds[1000]["step"] * 1e6, "cold 1000, ms": seconds[1000]["cold"] * 1e3}
    if (results, versions) == (REPLAY_RESULTS, REPLAY_VERSIONS):
        figures["replay, s"] = replayed["replayed"]
    goals = held(figures, GOALS)
    return {
        "benchmark": "rating_speed",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "runs": runs,
        "s": {str(n): times for n, times in seconds.items()},
        "ratios": {
            str(n): {name: value / times["cholesky"] for name, value in times.items() if name != "cholesky"}
            for n, times in seconds.items()
        },
        "replay": replayed,
        "goals": goals,
    }


def brief() -> dict[str, Any]:
    """The goals' sizes, and a short replay."""
    return run(runs=3, results=20_000, sizes=SIZES)


def _report_size(n: int, times: dict[str, float]) -> None:
    print(f"{n} versions: Cholesky {times['cholesky'] * 1e3:.3f} ms")
    for name, value in times.items():
        if name != "cholesky":
            print(f"  {name:30} {value * 1e3:12.3f} ms {value / times['cholesky']:12.2f} x")


main = program(run, runs=1, results=100, versions=10, sizes=[10])


if __name__ == "__main__":
    main()
