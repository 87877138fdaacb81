"""Days of a ladder in simulated time: do bots wait, do fast ones meet everybody, does anybody meet one too often?

Bots of known strengths, whose thinking spreads 25-fold (log-uniform), are paired by the venue's matchmakers with the
acts that a server would make; games last as long as both think. Run it for the table, ``--json FILE`` for the figures.
Some bots may be of one owner or of one family: ``--owners 7 --spread 1 --bots 10`` is seven bots of one owner among
three others. Every policy sees the same pool. Must not know: storage, sessions, rating systems.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import os
import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from benchmarks.reporting import CommandLine, write_json
from cgos_protocol.ids import VersionId
from cgos_server.core.pairing.base import Candidate, Matchmaker, PairingPass
from cgos_server.core.pairing.memory import Memory
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.pairing.rolling import due
from cgos_server.core.venue import Policy

SECOND = 1_000_000
LAST = 100
"""Games of a bot among which no opponent should be too frequent."""

LENGTHS = 20
"""Ended games whose length tells how soon versions become free; in a large pool twice the pool."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Who plays.

    :ivar thinking: seconds that each bot thinks in a game, on the average, fastest first; its number is its version
    :ivar strengths: true ones, Elo
    :ivar ratings: what is known of them, with a standard deviation of SD
    :ivar owners: each bot's owner, 0: nobody else's
    :ivar families: each bot's family, 0: of its own
    """

    thinking: Sequence[float]
    strengths: Sequence[float]
    ratings: Sequence[float]
    owners: Sequence[int]
    families: Sequence[int]

    SD = 40.0

    @classmethod
    def draw(
        cls,
        bots: int,
        fastest: float,
        spread: float,
        seed: int,
        owners: Sequence[int] = (),
        families: Sequence[int] = (),
    ) -> Pool:
        """Thinking log-uniform in even steps, so that a small pool has its extremes too; strengths N(2000, 350).

        :param owners: how many bots each owner of several has; which ones, is drawn
        :param families: likewise
        :raises ValueError: where they have more bots than there are
        """
        rng = random.Random(seed)
        thinking = [fastest * spread ** (k / max(1, bots - 1)) for k in range(bots)]
        strengths = [rng.gauss(2000.0, 350.0) for _ in range(bots)]
        ratings = [strength + rng.gauss(0.0, cls.SD) for strength in strengths]
        return cls(
            thinking=thinking,
            strengths=strengths,
            ratings=ratings,
            owners=_groups(bots, owners, rng),
            families=_groups(bots, families, rng),
        )


def _groups(bots: int, sizes: Sequence[int], rng: random.Random) -> Sequence[int]:
    """For each bot the number of its group, from 1, or 0 where it is in none."""
    if sum(sizes) > bots:
        raise ValueError(f"Groups of {sum(sizes)} bots cannot be made of {bots}. Give more bots or smaller groups.")
    labels = [number for number, size in enumerate(sizes, 1) for _ in range(size)]
    labels += [0] * (bots - len(labels))
    if sizes:
        rng.shuffle(labels)
    return labels


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of it; times in seconds, shares 0 to 1.

    :ivar games_of: games of each bot, the one that thinks least first
    :ivar least_games: games of the bot that has fewest, over those of the median one
    :ivar wait_max_games: the longest wait in mean games; who still waits at the end counts
    :ivar utilization: share of the bots' time in a game
    :ivar lowest_utilization: of the bot that has least of it
    :ivar own_share: of the games of the fastest third's bots, those against that third
    :ivar thirds: of the games of each third (fastest first) those against each third
    :ivar most_often: largest share of one opponent among the last 100 games of any bot, at any time
    :ivar passed_over: acts in a row in which a version was left unpaired while others were paired, the most there was
    :ivar worth: 4 p (1 - p) of a game, on the average: what it tells of an even game's information
    """

    bots: int
    hours: float
    policy: str
    method: str
    games: int
    games_of: Sequence[int]
    least_games: float
    utilization: float
    lowest_utilization: float
    wait_p50: float
    wait_p90: float
    wait_p99: float
    wait_max: float
    wait_max_games: float
    own_share: float
    thirds: Sequence[Sequence[float]]
    most_often: float
    passed_over: int
    worth: float
    acts: int
    act_ms: float
    seconds: float


class Ladder:
    """One venue in simulated time. The clock goes from one pairing pass to the next, each bot's games are drawn from
    its own source of randomness.

    :param interval: seconds between two acts
    :param settle: seconds from a game's end until its bots are ready again
    """

    def __init__(
        self,
        pool: Pool,
        policy: Policy,
        method: Matchmaker,
        interval: float = 1.0,
        settle: float = 0.5,
        seed: int = 1,
    ) -> None:
        self.pool, self.policy, self.method = pool, policy, method
        self.interval, self.settle = interval, settle
        self.bots = len(pool.thinking)
        self.memory = Memory(LAST, {}, {}, {})
        self.waits: list[float] = []
        self.busy = [0.0] * self.bots
        self.games: list[tuple[int, int]] = []
        self.most_often = 0.0
        self.passed_over = 0
        self.worth = 0.0
        self.acts = 0
        self.act_seconds = 0.0
        self.now = 0.0
        self._rng = random.Random(seed)
        self._ready = dict.fromkeys(map(VersionId, range(self.bots)), 0.0)
        self._running: list[tuple[float, VersionId, VersionId, float, float]] = []
        self._sat_out: dict[VersionId, tuple[int, int]] = {}
        self._lengths: deque[float] = deque(maxlen=max(LENGTHS, 2 * self.bots))
        self._recent: list[deque[int]] = [deque() for _ in range(self.bots)]
        self._counts: list[dict[int, int]] = [{} for _ in range(self.bots)]
        self._paces: dict[VersionId, float] = self.memory.paces(self._ready)

    def run(self, hours: float) -> Iterator[float]:
        """Play so long; says now and then which share is done."""
        end = hours * 3600.0
        shown = 0.0
        while True:
            # Nothing can be decided before there are two: the acts until then are skipped.
            if len(self._ready) < 2 or (self.policy is Policy.BARRIER and self._running):
                last = self._running[0][0] if self.policy is Policy.ROLLING else max(r[0] for r in self._running)
                self.now = max(self.now, self._tick(last))
            if self.now >= end:
                break
            self._finish()
            if due(self.policy, len(self._ready), len(self._running)):
                self._pair_ready()
            self.now += self.interval
            if self.now - shown > end / 200.0:
                shown = self.now
                yield shown / end
        for until, a, b, own_a, own_b in self._running:
            over = max(0.0, until - self.settle - end)
            for bot in (a, b):
                self.busy[bot] += own_a + own_b - over

    def _tick(self, at: float) -> float:
        """The first pairing not before `at`."""
        return math.ceil(at / self.interval - 1e-9) * self.interval

    def _finish(self) -> None:
        while self._running and self._running[0][0] <= self.now:
            at, a, b, own_a, own_b = heapq.heappop(self._running)
            for bot, own in ((a, own_a), (b, own_b)):
                self._ready[bot] = at
                self.busy[bot] += own_a + own_b
                self.memory.thought(bot, int(own * SECOND))
            self._lengths.append(own_a + own_b + self.settle)
            self._paces = {}

    def pairing_pass(self) -> PairingPass:
        """What the matchmaker is asked now."""
        memory, ready = self.memory, self._ready
        self._paces = self._paces or memory.paces(map(VersionId, range(self.bots)))
        candidates = []
        for bot, since in ready.items():
            sat_out, last_sat_out = self._sat_out.get(bot, (0, None))
            candidates.append(
                Candidate(
                    id=bot,
                    name=f"bot-{bot}",
                    rating=self.pool.ratings[bot],
                    waited=int((self.now - since) * SECOND),
                    sat_out=sat_out,
                    last_sit_out=last_sat_out,
                    last_opponent=memory.last_opponent(bot),
                    sd=self.pool.SD,
                    games=1000,
                    balance=memory.balance(bot),
                    owner=self.pool.owners[bot],
                    family=self.pool.families[bot],
                    recent=memory.remembered(bot),
                    pace=self._paces.get(bot, 0.5),
                    paced=memory.paced(bot),
                )
            )
        if len(ready) > 20:
            pairs = sorted({pair for bot in ready for pair in memory.met(bot, ready)})
            meetings = [memory.meeting(*pair) for pair in pairs]
        else:
            meetings = [m for m in (memory.meeting(a, b) for a, b in combinations(sorted(ready), 2)) if any(m[2:])]
        # By Little's law, as nearly everybody plays nearly always.
        flow = self.bots * len(self._lengths) / sum(self._lengths) if self._lengths else 0.0
        return PairingPass(
            candidates=candidates, meetings=meetings, knowledge=None, policy=self.policy, connected=self.bots, flow=flow
        )

    def _pair_ready(self) -> None:
        pairing_pass = self.pairing_pass()
        began = time.perf_counter()
        pairing = self.method.pair(pairing_pass, self._rng)
        self.act_seconds += time.perf_counter() - began
        self.acts += 1
        if not pairing.pairs:
            return
        for pair in pairing.pairs:
            self._play(pair.high, pair.low)
        for bot in self._ready:
            self._sat_out[bot] = (self._sat_out.get(bot, (0, 0))[0] + 1, self.acts)
            self.passed_over = max(self.passed_over, self._sat_out[bot][0])

    def _play(self, high: VersionId, low: VersionId) -> None:
        rng, pool = self._rng, self.pool
        for bot in (high, low):
            self.waits.append(self.now - self._ready.pop(bot))
            self._sat_out.pop(bot, None)
        black, white = (high, low) if self.memory.balance(high) <= self.memory.balance(low) else (low, high)
        self.memory.began(black, white, self._paces)
        self._met(high, low)
        self._met(low, high)
        self.games.append((high, low))
        p = 1.0 / (1.0 + 10.0 ** ((pool.strengths[low] - pool.strengths[high]) / 400.0))
        self.worth += 4.0 * p * (1.0 - p)
        own = [pool.thinking[bot] * (0.7 + 0.6 * rng.random()) for bot in (high, low)]
        heapq.heappush(self._running, (self.now + own[0] + own[1] + self.settle, high, low, own[0], own[1]))

    def _met(self, bot: int, opponent: int) -> None:
        recent, counts = self._recent[bot], self._counts[bot]
        recent.append(opponent)
        counts[opponent] = counts.get(opponent, 0) + 1
        if len(recent) > LAST:
            counts[recent.popleft()] -= 1
        if len(recent) == LAST:
            self.most_often = max(self.most_often, counts[opponent] / LAST)

    def figures(self, hours: float, seconds: float) -> Figures:
        """What came of the run."""
        third = [min(2, bot * 3 // self.bots) for bot in range(self.bots)]
        met = np.zeros((3, 3))
        for a, b in self.games:
            met[third[a], third[b]] += 1
            met[third[b], third[a]] += 1
        thirds = met / np.maximum(met.sum(axis=1, keepdims=True), 1)
        games_of = np.bincount(np.array(self.games, np.int64).ravel(), minlength=self.bots)
        waits = np.array([*self.waits, *(hours * 3600.0 - since for since in self._ready.values())])
        mean_game = sum(self.busy) / max(1, games_of.sum()) + self.settle
        p50, p90, p99 = np.percentile(waits, (50, 90, 99))
        used = np.array(self.busy) / (hours * 3600.0)
        return Figures(
            bots=self.bots,
            hours=hours,
            policy=self.policy.value,
            method=self.method.name,
            games=len(self.games),
            games_of=games_of.tolist(),
            least_games=float(games_of.min() / max(1.0, np.median(games_of))),
            utilization=float(used.mean()),
            lowest_utilization=float(used.min()),
            wait_p50=float(p50),
            wait_p90=float(p90),
            wait_p99=float(p99),
            wait_max=float(waits.max()),
            wait_max_games=float(waits.max()) / mean_game,
            own_share=float(thirds[0, 0]),
            thirds=thirds.round(4).tolist(),
            most_often=self.most_often,
            passed_over=self.passed_over,
            worth=self.worth / max(1, len(self.games)),
            acts=self.acts,
            act_ms=1000.0 * self.act_seconds / max(1, self.acts),
            seconds=seconds,
        )


def simulate(
    pool: Pool,
    policy: Policy,
    method: Matchmaker,
    hours: float,
    *,
    interval: float = 1.0,
    settle: float = 0.5,
    seed: int = 1,
    tell: Callable[[float], None] = lambda _share: None,
) -> Figures:
    """Play `hours` of a ladder."""
    ladder = Ladder(pool=pool, policy=policy, method=method, interval=interval, settle=settle, seed=seed)
    began = time.process_time()
    for share in ladder.run(hours):
        tell(share)
    return ladder.figures(hours, time.process_time() - began)


ROWS: Mapping[str, Callable[[Figures], str]] = {
    "games": lambda f: f"{f.games:,}",
    "time in a game, all / least": lambda f: f"{f.utilization:.1%} / {f.lowest_utilization:.1%}",
    "games of a bot, least / median / most": lambda f: (
        f"{min(f.games_of)} / {np.median(f.games_of):g} / {max(f.games_of)}"
    ),
    "wait s, p50 / p90 / p99 / max": lambda f: (
        f"{f.wait_p50:.1f} / {f.wait_p90:.1f} / {f.wait_p99:.1f} / {f.wait_max:.0f}"
    ),
    "longest wait, mean games": lambda f: f"{f.wait_max_games:.1f}",
    "fastest third against itself": lambda f: f"{f.own_share:.1%}",
    "fastest third against 1st/2nd/3rd": lambda f: " / ".join(f"{x:.0%}" for x in f.thirds[0]),
    "slowest third against 1st/2nd/3rd": lambda f: " / ".join(f"{x:.0%}" for x in f.thirds[2]),
    "most frequent opponent of 100 games": lambda f: f"{f.most_often:.0%}",
    "passed over in a row, most": lambda f: str(f.passed_over),
    "worth of a game": lambda f: f"{f.worth:.3f}",
    "acts, ms each": lambda f: f"{f.acts:,}, {f.act_ms:.2f}",
    "CPU s": lambda f: f"{f.seconds:.0f}",
}


def sizes(text: str) -> tuple[int, ...]:
    """Numbers of bots with commas between them."""
    return tuple(int(word) for word in text.split(","))


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = CommandLine(__doc__, bots=6, hours=0.5, method="random")
    parser.add_argument("--bots", type=int, default=40)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--policy", choices=["both", "rolling", "barrier"], default="both")
    parser.add_argument("--method", default="information", help="as in the configuration")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=JSON", help="of [venue.pairing]")
    parser.add_argument("--fastest", type=float, default=12.0, help="seconds that the fastest bot thinks in a game")
    parser.add_argument("--spread", type=float, default=25.0, help="the slowest one thinks so many times longer")
    parser.add_argument(
        "--owners", type=sizes, default=(), metavar="N,N", help="how many bots each owner of several has"
    )
    parser.add_argument("--families", type=sizes, default=(), metavar="N,N", help="how many bots each family has")
    parser.add_argument("--interval", type=float, default=1.0, help="seconds between two pairing passes")
    parser.add_argument("--settle", type=float, default=0.5, help="seconds from a game's end to the next `ready`")
    parser.add_argument("--seed", type=int, default=1)
    return parser.read(words)


def main(words: Sequence[str] | None = None) -> None:
    """Simulate what the command line asks for and print the table."""
    options = arguments(words)
    console = Console()
    chosen: dict[str, Any] = {}
    for text in options.option:
        key, _, value = text.partition("=")
        chosen[key] = json.loads(value)
    pool = Pool.draw(options.bots, options.fastest, options.spread, options.seed, options.owners, options.families)
    policies = list(Policy) if options.policy == "both" else [Policy(options.policy)]
    by_policy: list[Figures] = []
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        for policy in policies:
            task = progress.add_task(policy.value, total=1.0)
            by_policy.append(
                simulate(
                    pool,
                    policy,
                    matchmaker(options.method, chosen),
                    options.hours,
                    interval=options.interval,
                    settle=options.settle,
                    seed=options.seed,
                    tell=lambda share, task=task: progress.update(task, completed=share),  # type: ignore[misc]
                )
            )
    last = options.fastest * options.spread
    table = Table(
        title=f"{options.method}: {options.bots} bots that think {options.fastest:g} to {last:g} s a game, "
        f"{options.hours:g} hours"
    )
    table.add_column("")
    for figures in by_policy:
        table.add_column(figures.policy, justify="right")
    for name, say in ROWS.items():
        table.add_row(name, *(say(figures) for figures in by_policy))
    console.print(table)
    write_json(options.json, [asdict(figures) for figures in by_policy])


if __name__ == "__main__":
    main()
