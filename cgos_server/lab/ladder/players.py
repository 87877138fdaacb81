"""Who plays: strengths, speeds, owners and families, who comes when and who leaves; and what chance brings them.

Everything is drawn before the first game from (seed, pool, replicate), so that whoever pairs and rates them meets the
same versions and the same luck. Must not know: matchmakers, rating systems, the course of a ladder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from msgspec import Struct
from numpy.random import Generator

from cgos_protocol.errors import Code, Invalid
from cgos_server.lab.ladder.kinds import KINDS
from cgos_server.lab.ratings.pools import Floats, anchors, generator, half_points
from cgos_server.lab.ratings.told import Prior

HOUR = 3600.0
DAY = 24.0 * HOUR
"""Seconds."""

LEAST_LEFT = 4
"""Nobody leaves while no more than these are there."""

OWN = (0.7, 1.3)
"""A version's thinking in a game, as a multiple of its mean, is uniform in between."""

_BLOCK = 64
"""Games of each version whose lots are drawn at a time."""


class Population(Struct, frozen=True, kw_only=True):
    """How a pool is drawn.

    :ivar pool: a word of :data:`KINDS`
    :ivar versions: who are there from the beginning
    :ivar fastest: seconds that the fastest of them thinks in a game, on the average
    :ivar spread: the slowest one thinks so many times longer
    :ivar owners: how many versions each owner of several has; which ones, is drawn
    :ivar families: likewise; without it the families are the pool's own
    :ivar arrivals: versions that join in a day, on the average
    :ivar departures: versions that leave in a day, on the average
    """

    pool: str = "normal"
    versions: int = 64
    hours: float = 24.0
    fastest: float = 12.0
    spread: float = 25.0
    owners: tuple[int, ...] = ()
    families: tuple[int, ...] = ()
    arrivals: float = 0.0
    departures: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Players:
    """All who ever play; a version is its number, and the first `present` are there from the beginning.

    :ivar truth: (n,) strengths, Elo
    :ivar thinking: (n,) seconds that each thinks in a game, on the average
    :ivar predecessors: of each the one that it is stated to succeed, or None
    :ivar owners: (n,) each one's owner, 0: nobody else's
    :ivar families: (n,) each one's family, 0: of its own
    :ivar arrives: (n,) seconds
    :ivar leaves: (n,) seconds, infinite for who stays
    :ivar anchors: who stand at the 1/3 and the 2/3 quantile of those from the beginning
    :ivar prior: what the oracle is told
    :ivar once: the result of two versions is always the same with the same colors
    """

    present: int
    truth: Floats
    thinking: Floats
    predecessors: tuple[int | None, ...]
    owners: tuple[int, ...]
    families: tuple[int, ...]
    arrives: Floats
    leaves: Floats
    anchors: tuple[int, int]
    prior: Prior
    once: bool

    @property
    def all(self) -> int:
        return len(self.truth)


def stream(population: Population, seed: int, use: str, replicate: int) -> Generator:
    """The source of randomness of one use."""
    return generator(seed, *("ladder", population.pool, use, replicate))


def drawn(population: Population, seed: int, replicate: int) -> Players:
    """The versions of one replicate.

    :raises Refused: where groups have more versions than there are
    """
    kind, present = KINDS[population.pool], population.versions
    of = partial(stream, population, seed)
    arrives = np.concatenate([np.zeros(present), _times(of("arrivals", replicate), population.arrivals, population)])
    total = len(arrives)
    rng = of("truth", replicate)
    truth, predecessors = kind.draw(rng, total)
    prior = kind.prior(total)
    thinking = population.fastest * population.spread ** np.concatenate(
        [np.arange(present) / max(1, present - 1), of("speeds", replicate).random(total - present)]
    )
    if any(below is not None for below in predecessors):
        # They come in the order of their links, so it is the speeds that are drawn by lot.
        thinking[:present] = of("order", replicate).permutation(thinking[:present])
        families = _roots(predecessors)
    else:
        order = _order(of("order", replicate), present, total)
        truth, prior = truth[order], prior.reordered(order)
        families = (0,) * total
    fixed = anchors(truth[:present])
    groups = of("groups", replicate)
    own = _labels(present, population.families, groups)
    return Players(
        present=present,
        truth=truth,
        thinking=thinking,
        predecessors=predecessors,
        owners=(*_labels(present, population.owners, groups), *(0,) * (total - present)),
        families=(*own, *(0,) * (total - present)) if population.families else families,
        arrives=arrives,
        leaves=_leaves(of("departures", replicate), arrives, fixed, population),
        anchors=fixed,
        prior=prior,
        once=kind.once,
    )


def _times(rng: Generator, a_day: float, population: Population) -> Floats:
    """Seconds at which something happens that happens so often, at any time alike (a Poisson process)."""
    times: list[float] = []
    at = 0.0
    while a_day > 0.0:
        at += float(rng.exponential(DAY / a_day))
        if at >= population.hours * HOUR:
            break
        times.append(at)
    return np.array(times, dtype=np.float64)


def _order(rng: Generator, present: int, total: int) -> Sequence[int]:
    """In which they come; the one that was drawn last, who may be a star, is there from the beginning."""
    order: list[int] = rng.permutation(total).tolist()
    place = order.index(total - 1)
    if place >= present:
        other = place % present
        order[place], order[other] = order[other], order[place]
    return order


def _roots(predecessors: Sequence[int | None]) -> tuple[int, ...]:
    """The number of each one's family, from 1."""
    roots: list[int] = []
    for number, below in enumerate(predecessors):
        roots.append(number + 1 if below is None else roots[below])
    return tuple(roots)


def _labels(present: int, sizes: Sequence[int], rng: Generator) -> list[int]:
    """For each version the number of its group, from 1, or 0 where it is in none."""
    if sum(sizes) > present:
        raise Invalid(
            Code.LAB,
            f"Groups of {sum(sizes)} versions cannot be made of {present}. Take more versions or smaller groups.",
        )
    labels = [number for number, size in enumerate(sizes, 1) for _ in range(size)]
    labels += [0] * (present - len(labels))
    return [labels[at] for at in rng.permutation(present).tolist()] if sizes else labels


def _leaves(rng: Generator, arrives: Floats, fixed: tuple[int, int], population: Population) -> Floats:
    """When each leaves: anybody who is there and no anchor, with equal chances."""
    leaves = np.full(len(arrives), math.inf)
    for at in _times(rng, population.departures, population).tolist():
        there = np.flatnonzero((arrives <= at) & (leaves > at))
        if len(there) > LEAST_LEFT:
            leaves[rng.choice([version for version in there.tolist() if version not in fixed])] = at
    return leaves


class Lots:
    """What chance brings, by numbers: the same for a game however the ladder came to it.

    Two versions' third game with the same colors has the same lot under every matchmaker, and a version's third game
    the same thinking.
    """

    def __init__(self, population: Population, players: Players, seed: int, replicate: int) -> None:
        self._players = players
        self._results = stream(population, seed, "results", replicate)
        self._thinking = stream(population, seed, "thinking", replicate)
        self._result_lots: list[Floats] = []
        self._thinking_lots: list[Floats] = []

    def score2(self, black: int, white: int, number: int) -> int:
        """Half points of Black in the game of these two, with these colors, that has this number, from 0."""
        layers, truth, all_of_them = self._result_lots, self._players.truth, self._players.all
        number = 0 if self._players.once else number
        while len(layers) <= number:
            layers.append(self._results.random((all_of_them, all_of_them)))
        return half_points(float(layers[number][black, white]), float(truth[black] - truth[white]))

    def thinking(self, version: int, number: int) -> float:
        """Seconds that a version thinks in its game of this number, from 0."""
        block, at = divmod(number, _BLOCK)
        while len(self._thinking_lots) <= block:
            self._thinking_lots.append(self._thinking.uniform(*OWN, (_BLOCK, self._players.all)))
        return float(self._players.thinking[version] * self._thinking_lots[block][at, version])
