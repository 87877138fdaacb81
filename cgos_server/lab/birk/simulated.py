"""Rounds by the server's own Birk matchmaker, counted: who meets whom, who sits out.

Nothing but the method decides: no constraints. Ratings are all different, so that rank r is the version of number r.
Must not know: the exact law, how figures are shown.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cgos_protocol.ids import VersionId
from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import Candidate, Matchmaker, Pairing, PairingPass
from cgos_server.core.pairing.constraints import FREE
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.pairing.rolling import Waiting
from cgos_server.core.pairing.shared_options import flat
from cgos_server.lab.ratings.pools import generator

CHUNK: Final = 1000
"""Rounds a task."""

Counts: TypeAlias = NDArray[np.int64]


class Series(NamedTuple):
    """What is counted together.

    :ivar players: in each round
    :ivar formula: as :func:`cgos_server.core.pairing.methods.formula.compiled` reads it
    :ivar bye: ``natural``: whoever is left over, rounds know nothing of each other; that is the published method.
        ``fair``: the server's default, rounds of a task follow one another
    """

    players: int
    formula: str
    bye: str = "natural"


class Task(Struct, frozen=True, kw_only=True):
    """Some rounds of a series, with a stream of random numbers of their own."""

    series: Series
    rounds: int
    number: int
    seed: int


class Tally(Struct, frozen=True, kw_only=True):
    """What was counted over some rounds of n players.

    :ivar met: (n, n) rounds in which two ranks met, the better one first; 0 elsewhere
    :ivar sat_out: (n,) rounds in which a rank sat out
    :ivar again: rounds in which somebody sat out who had done so in the round before, of those that follow one
    :ivar following: rounds that follow one
    """

    rounds: int
    met: Counts
    sat_out: Counts
    again: int
    following: int

    def plus(self, other: Tally) -> Tally:
        """Both together."""
        return Tally(
            rounds=self.rounds + other.rounds,
            met=self.met + other.met,
            sat_out=self.sat_out + other.sat_out,
            again=self.again + other.again,
            following=self.following + other.following,
        )


def method(formula: str, bye: str) -> Matchmaker:
    """The server's matchmaker, whom nothing keeps from any pair.

    :raises Refused: where the formula is none
    """
    return matchmaker("birk", {**flat(FREE, Waiting()), "formula": formula, "bye": bye})


def tasks(series: Sequence[Series], rounds: int, seed: int) -> Iterator[Task]:
    """So many rounds of each; the series take turns, so that an interruption leaves about as many of each."""
    for number, begun in enumerate(range(0, rounds, CHUNK)):
        for each in series:
            yield Task(series=each, rounds=min(CHUNK, rounds - begun), number=number, seed=seed)


def counted(task: Task) -> Tally:
    """Pair the rounds of a task."""
    players, formula, bye = task.series
    words = ("birk", players, formula, bye, task.number)
    rng = random.Random(int(generator(task.seed, *words).integers(2**63)))
    candidates = tuple(Candidate(VersionId(rank), f"rank {rank}", -float(rank)) for rank in range(1, players + 1))
    rounds = _one_by_one if bye == "natural" else _in_sequence
    met, sat_out = np.zeros((players + 1, players + 1), np.int64), np.zeros(players + 1, np.int64)
    again, before = 0, None
    for pairing in rounds(method(formula, bye), candidates, task.rounds, rng):
        for pair in pairing.pairs:
            met[pair.high, pair.low] += 1
        left = next(iter(pairing.sits_out), None)
        if left is not None:
            sat_out[left] += 1
            again += left == before
        before = left
    return Tally(rounds=task.rounds, met=met[1:, 1:], sat_out=sat_out[1:], again=again, following=task.rounds - 1)


def _one_by_one(how: Matchmaker, candidates: Sequence[Candidate], rounds: int, rng: Rng) -> Iterator[Pairing]:
    """Rounds that know nothing of each other."""
    pairing_pass = PairingPass(candidates=candidates)
    for _ in range(rounds):
        yield how.pair(pairing_pass, rng)


def _in_sequence(how: Matchmaker, candidates: Sequence[Candidate], rounds: int, rng: Rng) -> Iterator[Pairing]:
    """Rounds of a venue with the barrier policy, which knows who sat out since its last game. All games end at once."""
    left: dict[VersionId, Candidate] = {}
    for number in range(1, rounds + 1):
        pairing = how.pair(PairingPass(candidates=[left.get(each.id, each) for each in candidates]), rng)
        yield pairing
        left = {
            each.id: each._replace(sat_out=left.get(each.id, each).sat_out + 1, last_sit_out=number)
            for each in candidates
            if each.id in pairing.sits_out
        }
