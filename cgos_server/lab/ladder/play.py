"""What a ladder is to those who play in it: how long they wait, whom they meet, how much of their time they play.

Must not know: how pairs are made, ratings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

import numpy as np
from msgspec import Struct

from cgos_protocol.ids import VersionId
from cgos_server.core.pairing.base import Ints, Matchmaker
from cgos_server.core.rating.incremental.cgos_elo import expected
from cgos_server.core.venue import Policy
from cgos_server.lab.ladder.clockwork import Game, Ladder, Timing
from cgos_server.lab.ladder.players import Lots, Players, Population, drawn, stream
from cgos_server.lab.ladder.raters import KNOWN, rater

LAST: Final = 100
"""Games of a version among which no opponent should be too frequent."""


class Figures(Struct, frozen=True, kw_only=True):
    """Times in seconds, shares from 0 to 1.

    :ivar games_of: games of each version, the one that thinks least first
    :ivar least_games: games of the version that has fewest, over those of the median one
    :ivar wait_max_games: the longest wait in mean games; who still waits at the end counts
    :ivar utilization: share of the versions' time in a game
    :ivar lowest_utilization: of the version that has least of it
    :ivar idle_of: share of each version's time that it waits, the one that thinks least first
    :ivar opponents: how many different ones a version has, on the average
    :ivar own_share: of the games of the fastest third's versions, those against that third
    :ivar thirds: of the games of each third (fastest first) those against each third
    :ivar most_often: largest share of one opponent among the last 100 games of any version, at any time; 0 where
        nobody has played as many
    :ivar passed_over: passes in a row in which a version was left unpaired while others were paired, the most there was
    :ivar worth: 4 p (1 - p) of a game, on the average: what it tells of an even game's information
    """

    games: int
    games_of: tuple[int, ...]
    least_games: float
    utilization: float
    lowest_utilization: float
    idle_of: tuple[float, ...]
    wait_p50: float
    wait_p90: float
    wait_p99: float
    wait_max: float
    wait_max_games: float
    opponents: float
    own_share: float
    thirds: tuple[tuple[float, ...], ...]
    most_often: float
    passed_over: int
    worth: float
    passes: int


class Play:
    """Watches a ladder."""

    def __init__(self, players: Players) -> None:
        self._players = players
        self._waits: list[float] = []
        self._busy = np.zeros(players.all)
        self._until: dict[int, float] = {}
        self._games: list[tuple[int, int]] = []
        self._most_often = 0.0
        self._passed_over = 0
        self._worth = 0.0
        self._recent: list[deque[int]] = [deque() for _ in range(players.all)]
        self._counts: list[dict[int, int]] = [{} for _ in range(players.all)]

    def paired(self, waits: Iterable[float], passed_over: int) -> None:
        self._waits += waits
        self._passed_over = max(self._passed_over, passed_over)

    def began(self, game: Game) -> None:
        black, white, truth = game.black, game.white, self._players.truth
        self._met(black, white)
        self._met(white, black)
        self._games.append((black, white))
        p = expected(float(truth[black] - truth[white]))
        self._worth += 4.0 * p * (1.0 - p)

    def ended(self, game: Game, score2: int) -> None:  # noqa: ARG002
        self._busy[[game.black, game.white]] += game.length

    def arrived(self, version: VersionId, now: float) -> None:
        pass

    def left(self, version: VersionId, now: float, waited: float | None) -> None:
        self._until[version] = now
        if waited is not None:
            self._waits.append(waited)

    def look(self, now: float, there: Iterable[VersionId]) -> bool:  # noqa: ARG002
        return False

    def _met(self, version: int, opponent: int) -> None:
        recent, counts = self._recent[version], self._counts[version]
        recent.append(opponent)
        counts[opponent] = counts.get(opponent, 0) + 1
        if len(recent) > LAST:
            counts[recent.popleft()] -= 1
        if len(recent) == LAST:
            self._most_often = max(self._most_often, counts[opponent] / LAST)

    def figures(self, ladder: Ladder) -> Figures:
        """What came of it, at its end."""
        players, settle, end = self._players, ladder.timing.settle, ladder.now
        busy = self._busy.copy()
        for game in ladder.running:
            busy[[game.black, game.white]] += game.length - max(0.0, game.end - settle - end)
        waits = np.array([*self._waits, *(end - since for since in ladder.ready.values())])
        until = np.array([self._until.get(version, end) for version in range(players.all)])
        there = np.maximum(until - players.arrives, 1e-9)
        used = busy / there
        order = np.argsort(players.thinking, kind="stable")
        games = np.array(self._games, np.int64).reshape(-1, 2)
        games_of = np.bincount(games.ravel(), minlength=players.all)
        thirds = self._thirds(games, order)
        p50, p90, p99 = np.percentile(waits, (50, 90, 99)).tolist()
        return Figures(
            games=len(games),
            games_of=tuple(games_of[order].tolist()),
            least_games=float(games_of.min() / max(1.0, float(np.median(games_of)))),
            utilization=float(busy.sum() / there.sum()),
            lowest_utilization=float(used.min()),
            idle_of=tuple((1.0 - used[order]).tolist()),
            wait_p50=p50,
            wait_p90=p90,
            wait_p99=p99,
            wait_max=float(waits.max()),
            wait_max_games=float(waits.max() / (busy.sum() / max(1, games_of.sum()) + settle)),
            opponents=self._opponents(games),
            own_share=thirds[0][0],
            thirds=thirds,
            most_often=self._most_often,
            passed_over=self._passed_over,
            worth=self._worth / max(1, len(games)),
            passes=ladder.passes,
        )

    def _thirds(self, games: Ints, order: Ints) -> tuple[tuple[float, ...], ...]:
        third = np.empty(self._players.all, np.int64)
        third[order] = np.minimum(2, np.arange(len(third)) * 3 // len(third))
        met = np.zeros((3, 3))
        np.add.at(met, (third[games[:, 0]], third[games[:, 1]]), 1.0)
        met += met.T
        shares = met / np.maximum(met.sum(axis=1, keepdims=True), 1.0)
        return tuple(map(tuple, shares.tolist()))

    def _opponents(self, games: Ints) -> float:
        met = {(min(pair), max(pair)) for pair in games.tolist()}
        return 2.0 * len(met) / self._players.all


def simulate(
    population: Population,
    method: Matchmaker,
    policy: Policy,
    *,
    interval: float = 1.0,
    settle: float = 0.5,
    seed: int = 0,
) -> Figures:
    """A ladder of known strengths, for the play alone."""
    players = drawn(population, seed, 0)
    ladder = Ladder(
        players=players,
        lots=Lots(population, players, seed, 0),
        method=method,
        policy=policy,
        timing=Timing(hours=population.hours, interval=interval, settle=settle),
        rater=rater(players, KNOWN, {}, stream(population, seed, "known", 0)),
        luck=int(stream(population, seed, "pairing", 0).integers(2**63)),
    )
    play = Play(players)
    ladder.run(play)
    return play.figures(ladder)
