"""What one round costs, and how far a round of thousands is from the best one.

Exact rounds of 250 versions, near-best rounds of 10 000, and every method by the way in which the server asks it. CPU
time of one thread, medians. The field: ratings N(2000, 350); five earlier rounds paired the same way, whose pairs are
barred (10 bits); a pair costs what a game tells less than a bit by Elo's logistic, and 0.05 bit where both are owed the
same color. Colors are owed as the rounds gave them, or, which is harder, drawn at random: then one color is short
here and the other there. The loss is all of that, not only the excess over the best round, which for up to 1000
versions is found exactly beside it.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported

import platform
import random
import time
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reporting import cpu, held, processor, program, table
from cgos_protocol.ids import VersionId
from cgos_server.core.pairing.base import Candidate, Knowledge, Matchmaker, Meeting, PairingPass
from cgos_server.core.pairing.matching import Packing, best, pack
from cgos_server.core.pairing.methods.wide import LOCAL_PAIRS, near_best
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.venue import Policy

Ints = NDArray[np.int64]
Pairs = list[tuple[int, int]]

ROUNDS = 5
BIT = 1_000_000
BARRED = 10 * BIT
COLOR = BIT // 20

GOALS = {
    "exact 250, s": 0.15,
    "near best 10000, s": 1.0,
    "near best 10000, loss in % of a bit": 0.5,
    "birk 10000, s": 0.05,
}
ROWS: tuple[tuple[str, int, Policy, dict[str, Any]], ...] = (
    *(
        (name, 250, policy, {})
        for name in ("entropy", "expected-change", "information")
        for policy in (Policy.BARRIER, Policy.ROLLING)
    ),
    ("entropy", 1000, Policy.BARRIER, {}),
    ("information", 1000, Policy.ROLLING, {}),
    *((name, 10_000, Policy.BARRIER, {}) for name in ("entropy", "information")),
    ("information", 10_000, Policy.ROLLING, {}),
    *(("birk", 10_000, Policy.BARRIER, {"formula": formula}) for formula in ("half", "fifth", "sqrt", "one")),
    *((name, 10_000, Policy.BARRIER, {}) for name in ("permuted", "adjacent", "random")),
)
"""Method, versions, policy, options: rounds as the server has them made."""


class Field:
    """Versions after some rounds paired the same way.

    :param drawn: colors are owed at random, not as the rounds gave them
    """

    def __init__(self, n: int, seed: int = 1, *, drawn: bool = False) -> None:
        self.n = n
        self.rng = np.random.default_rng([seed, n, drawn])
        self.ratings = self.rng.normal(2000.0, 350.0, n)
        self.balance = np.zeros(n, dtype=np.int64)
        self.rounds: list[Pairs] = []
        self._met = np.zeros(0, dtype=np.int64)
        # All pairs that can be made before those that are barred, then the loss in millionths of a bit.
        self._packing = Packing([(1, 1), (-BARRED - 2 * BIT, 0)], LOCAL_PAIRS)
        for _ in range(ROUNDS):
            if drawn:
                self.balance = self.rng.choice([-1, 1], n)
            self._play(self.near_best())
        if drawn:
            self.balance = self.rng.choice([-1, 1], n)

    def _play(self, pairs: Pairs) -> None:
        self.rounds.append(pairs)
        i, j = np.array(pairs).T
        self._met = np.sort(np.concatenate([self._met, i * self.n + j]))
        first = np.where(self.balance[i] == self.balance[j], self.rng.choice([-1, 1], len(i)), 0)
        black = np.where(first == 0, np.sign(self.balance[j] - self.balance[i]), first)
        self.balance[i] += black
        self.balance[j] -= black

    def cost(self, i: Ints, j: Ints) -> Ints:
        """(m,) millionths of a bit; i < j."""
        win = 1.0 / (1.0 + 10.0 ** (np.abs(self.ratings[i] - self.ratings[j]) / 400.0))
        information = -(win * np.log2(win) + (1.0 - win) * np.log2(1.0 - win))
        cost = np.rint(BIT * (1.0 - information)).astype(np.int64)
        cost += COLOR * (np.sign(self.balance[i]) * np.sign(self.balance[j]) > 0)
        if len(self._met):
            keys = i * self.n + j
            cost += BARRED * (self._met[np.minimum(np.searchsorted(self._met, keys), len(self._met) - 1)] == keys)
        return cost

    def weigh(self, i: Ints, j: Ints) -> Ints:
        cost = self.cost(i, j)
        return self._packing.words([np.ones_like(cost), -cost])

    def near_best(self) -> Pairs:
        return near_best(self.ratings, self.balance, self.weigh)

    def best(self) -> Pairs:
        i, j = np.triu_indices(self.n, 1)
        cost = self.cost(i, j)
        return best(self.n, i, j, pack([np.ones_like(cost), -cost], self.n // 2))

    def loss(self, pairs: Pairs) -> float:
        """Millionths of a bit a pair."""
        return float(self.cost(*np.array(pairs).T).mean())

    def pairing_pass(self, policy: Policy) -> PairingPass:
        """What the server would ask about."""
        last: dict[int, VersionId] = {}
        for i, j in self.rounds[-1]:
            last[i], last[j] = VersionId(j), VersionId(i)
        waited = self.rng.integers(0, 20_000_000, self.n).tolist()
        pace = self.rng.random(self.n).tolist()
        candidates = [
            Candidate(
                VersionId(at),
                f"version-{at}",
                rating,
                waited=waited[at],
                last_opponent=last.get(at),
                sd=60.0,
                games=50,
                balance=balance,
                recent=ROUNDS,
                pace=pace[at],
            )
            for at, (rating, balance) in enumerate(zip(self.ratings.tolist(), self.balance.tolist(), strict=True))
        ]
        meetings = [
            Meeting(a=VersionId(i), b=VersionId(j), recent_a=1, recent_b=1, black_a=1, black_b=0)
            for pairs in self.rounds
            for i, j in pairs
        ]
        return PairingPass(
            candidates=candidates,
            meetings=meetings,
            knowledge=self._knowledge() if self.n <= 1000 else None,
            policy=policy,
            flow=self.n / 60.0,
        )

    def _knowledge(self) -> Knowledge:
        """Standard deviations of 60 Elo, a part of it in common with whoever stands near."""
        apart = np.abs(self.ratings[:, None] - self.ratings[None, :])
        covariance = 1800.0 * np.eye(self.n) + 1800.0 * np.exp(-apart / 100.0)
        return Knowledge(covariance, covariance @ covariance)


def matchings(sizes: Sequence[int], exact_up_to: int, runs: int) -> list[dict[str, Any]]:
    """Near-best rounds, and beside them exact ones: CPU seconds and loss, in millionths of a bit a pair."""
    rows = []
    for n in sizes:
        for drawn in (False, True):
            field = Field(n, drawn=drawn)
            row: dict[str, Any] = {
                "n": n,
                "colors": "drawn" if drawn else "played",
                "seconds": cpu(field.near_best, runs),
                "loss": field.loss(field.near_best()),
                "pairs": len(field.near_best()),
            }
            if n <= exact_up_to:
                start = time.process_time()
                pairs = field.best()
                row |= {"exact_seconds": time.process_time() - start, "exact_loss": field.loss(pairs)}
                row["excess"] = row["loss"] - row["exact_loss"]
            rows.append(row)
    return rows


def _pair(method: Matchmaker, pairing_pass: PairingPass) -> None:
    method.pair(pairing_pass, random.Random(1))


def methods(largest: int, runs: int) -> list[dict[str, Any]]:
    """Rounds by the registry's methods, with their reasons: CPU seconds."""
    fields = {n: Field(n) for n in {n for _, n, _, _ in ROWS if n <= largest}}
    rows = []
    for name, n, policy, options in ROWS:
        if n > largest:
            continue
        pairing_pass = fields[n].pairing_pass(policy)
        method = matchmaker(name, options)
        pairing = method.pair(pairing_pass, random.Random(1))
        seconds = cpu(partial(_pair, method, pairing_pass), runs)
        words = " ".join((name, *map(str, options.values())))
        row = {"method": words, "n": n, "policy": str(policy), "seconds": seconds, "pairs": len(pairing.pairs)}
        rows.append(row)
    return rows


def run(
    runs: Annotated[int, "of which the median counts"] = 5,
    largest: Annotated[int, "the largest field"] = 10_000,
    exact: Annotated[int, "the largest field that is also paired exactly (1000: about ten seconds each)"] = 1000,
) -> dict[str, Any]:
    """Measure everything and print it.

    :return: ``matchings``, ``methods``: a row each; ``goals``: (found, goal)
    """
    machine = f"Python {platform.python_version()}, numpy {np.__version__}, rustworkx {version('rustworkx')}"
    print(f"{machine}, {processor()}, CPU time of one thread, medians of {runs}")
    field = Field(250)
    exact_s = cpu(field.best, runs)
    print(f"exact round of 250 (costs, packing and matching): {exact_s * 1e3:.1f} ms")
    rounds = matchings([n for n in (300, 500, 1000, 3000, 10_000) if n <= largest], exact, runs)
    _report_matchings(rounds)
    by_method = methods(largest, runs)
    _report_methods(by_method)
    figures = {"exact 250, s": exact_s}
    widest = [row for row in rounds if row["n"] == 10_000]
    if widest:
        figures["near best 10000, s"] = max(row["seconds"] for row in widest)
        figures["near best 10000, loss in % of a bit"] = max(row["loss"] for row in widest) / BIT * 100.0
    birk = [row["seconds"] for row in by_method if row["method"].startswith("birk") and row["n"] == 10_000]
    if birk:
        figures["birk 10000, s"] = birk[0]
    goals = held(figures, GOALS)
    return {
        "benchmark": "pairing_speed",
        "machine": machine,
        "processor": processor(),
        "runs": runs,
        "exact_250": exact_s,
        "matchings": rounds,
        "methods": by_method,
        "goals": goals,
    }


def brief() -> dict[str, Any]:
    """All sizes, three times, exact rounds up to 300."""
    return run(runs=3, exact=300)


def _report_matchings(rows: Sequence[dict[str, Any]]) -> None:
    cells = []
    for row in rows:
        exact = ("-", "-", "-")
        if "excess" in row:
            exact = (f"{row['exact_seconds'] * 1e3:.0f}", f"{row['exact_loss']:.0f}", f"{row['excess']:.1f}")
        cells.append((row["n"], row["colors"], f"{row['seconds'] * 1e3:.0f}", f"{row['loss']:.0f}", *exact))
    columns = ("versions", "colors owed", "ms", "loss", "exact: ms", "its loss", "excess")
    print(table("Near-best rounds; loss in millionths of a bit a pair", columns, cells, left=("colors owed",)))


def _report_methods(rows: Sequence[dict[str, Any]]) -> None:
    cells = [(row["method"], row["n"], row["policy"], f"{row['seconds'] * 1e3:.1f}", row["pairs"]) for row in rows]
    columns = ("method", "versions", "policy", "ms", "pairs")
    print(table("Rounds as the server has them made, reasons included", columns, cells, left=("policy",)))


main = program(run, runs=1, largest=60, exact=60)


if __name__ == "__main__":
    main()
