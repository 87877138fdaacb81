"""What is asked of the studies of questions, and the game that they play.

Must not know: any study, rating systems.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from math import sqrt
from typing import Final, TypeAlias, TypeVar

import numpy as np
from msgspec import Struct
from numpy.random import Generator
from numpy.typing import NDArray

from cgos_protocol.errors import Code, Invalid
from cgos_server.core.rating.bayes.likelihood import draw_parameter
from cgos_server.core.sequential import Hypotheses, pair_distribution
from cgos_server.core.sequential.hypotheses import EQUAL_SCORE, elo_of, nelo_of, scores
from cgos_server.core.sequential.likelihood import moments
from cgos_server.lab.ratings.pools import Floats, half_points
from cgos_server.lab.report import Check, Mean

T = TypeVar("T")
A = TypeVar("A")
K = TypeVar("K", bound=Hashable)

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

PAIRED: Final = 5
"""So many results a pair of games has: 0, 1/2, 1, 3/2 and 2 points."""

BOUNDS: Final = ("0,10", "0,50")
"""Of the tests, normalized Elo: the lower one and the upper one."""

_SECANTS: Final = 50
_NEAR: Final = 1e-10


class Game(Struct, frozen=True, kw_only=True):
    """The game that is played: Bradley and Terry (1952), with draws Davidson (1970).

    :ivar draws: the share of their games that equals draw, 0..1 (below 1)
    :ivar spread: standard deviation of what an opening is worth to the first mover, Elo
    :ivar first_move: what the first move is worth besides, Elo
    """

    draws: float
    spread: float
    first_move: float = 0.0

    def pair(self, difference: float) -> Floats:
        """(5,) chances of what B scores in two games with colors swapped on one opening.

        :param difference: by how much B is stronger, Elo of the model
        """
        return np.array(pair_distribution(difference, draws=self.draws, spread=self.spread))

    def difference_at(self, normalized: float) -> float:
        """The Elo of the model at which pairs of games have this difference in normalized Elo, by secants."""
        before, missing_before = 0.0, normalized
        at = normalized
        for _ in range(_SECANTS):
            missing = normalized - normalized_of(self.pair(at))
            if abs(missing) < _NEAR:
                break
            slope = (missing - missing_before) / (at - before)
            before, missing_before = at, missing
            at -= missing / slope
        return at

    def on_one_opening(self, rng: Generator, difference: float, games: int) -> list[int]:
        """Half points, by lot, of one who is `difference` Elo stronger, in so many games on one opening, drawn by lot;
        it moves first in the first one and in every second one from there on."""
        worth, nu = self.first_move + self.spread * float(rng.standard_normal()), draw_parameter(self.draws)
        return [
            half_points(float(lot), difference + (-worth if number % 2 else worth), nu)
            for number, lot in enumerate(rng.random(games))
        ]


def normalized_of(chances: Floats) -> float:
    """The difference in normalized Elo of chances of the shape (5,): the score over one half in standard deviations of
    a game, times 800 / ln 10 (Van den Bergh 2020)."""
    mean, sd = moments(chances)
    return nelo_of(float((mean - EQUAL_SCORE) / sd), PAIRED)


def logistic_of(chances: Floats) -> float:
    """The same in logistic Elo."""
    elo = elo_of(float(scores(PAIRED) @ chances))
    assert elo is not None, "both sides win sometimes"
    return elo


class Asked(Struct, frozen=True, kw_only=True):
    """Which figures are wanted, and how exact.

    :ivar studies: words of :data:`cgos_server.lab.questions.studies.STUDIES`; none: all
    :ivar bounds: of the tests, as BOUNDS has them
    :ivar tests: sequential tests at each true difference
    :ivar ladders: simulated ladders in whose results questions are asked, and pools that newcomers enter
    :ivar versions: of each ladder; an even number, at least 4
    :ivar rounds: games of each version on the ladder before anything is asked
    :ivar within: of gauntlets: half of the 95 % interval that is wanted, Elo
    :ivar draws: see :class:`Game`, as of `spread`
    """

    studies: tuple[str, ...] = ()
    bounds: tuple[str, ...] = BOUNDS
    tests: int = 20_000
    ladders: int = 100
    versions: int = 64
    rounds: int = 30
    within: float = 50.0
    draws: float = 0.2
    spread: float = 50.0

    def __post_init__(self) -> None:
        if self.versions % 2:
            raise Invalid(
                Code.LAB, f"A ladder has pairs of versions, so {self.versions} cannot be. Give an even number."
            )

        _ = self.hypotheses

    @property
    def hypotheses(self) -> tuple[Hypotheses, ...]:
        """One test for each of the bounds, with the error rates that are the default of questions."""
        return tuple(map(_test, dict.fromkeys(self.bounds)))

    @property
    def game(self) -> Game:
        """What is played."""
        return Game(draws=self.draws, spread=self.spread)


def _test(bounds: str) -> Hypotheses:
    try:
        lower, upper = map(float, bounds.split(","))
    except ValueError:
        sentence = f"Bounds are two numbers such as {BOUNDS[0]}, and {bounds} is no such thing."
        raise Invalid(Code.LAB, sentence) from None
    return Hypotheses(lower=lower, upper=upper)


def named(test: Hypotheses) -> str:
    """Its bounds."""
    return f"[{test.lower:g}, {test.upper:g}]"


def grouped(answers: Mapping[T, A], key: Callable[[T], K]) -> dict[K, dict[T, A]]:
    """Answers of the tasks that belong together, in their order."""
    groups: dict[K, dict[T, A]] = {}
    for task, answer in answers.items():
        groups.setdefault(key(task), {})[task] = answer
    return groups


def share_of(cases: Bools) -> Mean:
    """How many of these independent cases, as a share, with its standard error; there is a case at least."""
    share = float(np.mean(cases))
    return Mean(share, sqrt(share * (1.0 - share) / len(cases)))


def at_most(claim: str, share: Mean, rate: float) -> Check:
    """That a share is no larger than an error rate, its standard error besides."""
    allowed = share.error or 0.0
    return Check(claim=claim, holds=share.mean <= rate + allowed, measured=share, expected=rate, allowed=allowed)


def clustered(parts: Iterable[tuple[float, float]]) -> Mean:
    """A share, from cases and what they are of, for each ladder; there is something in one of them at least.

    The standard error takes ladders, not cases, to be independent, and there is none of one ladder.
    """
    cases, of = np.array([(float(some), float(all_)) for some, all_ in parts]).T
    share = float(cases.sum() / of.sum())
    some = int(np.count_nonzero(of))
    if some < 2:
        return Mean(share)
    return Mean(share, float(np.sqrt(((cases - share * of) ** 2).sum() * some / (some - 1.0)) / of.sum()))
