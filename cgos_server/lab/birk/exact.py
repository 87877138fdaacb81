"""The exact distribution of Birk's top-down pairing: how likely each pair is, and each rank to be left out.

For the plain method (Birk 2006): natural bye, no constraints. It is what the server's sampler is held against, and
shares nothing with it but how many are drawn. Must not know: the sampler, how figures are shown.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import NamedTuple

from cgos_server.core.pairing.methods.formula import compiled


class Distribution(NamedTuple):
    """One round among ranks 1 (best) to np.

    :ivar pairs: (better rank, worse rank) -> probability; every pair is there, impossible ones with 0
    :ivar sits_out: rank -> probability of being left over; all 0 where np is even
    """

    pairs: dict[tuple[int, int], Fraction]
    sits_out: dict[int, Fraction]


def distribution(np: int, formula: str) -> Distribution:
    """Dynamic programming over the sets of unpaired ranks; time and memory grow like 2^np (np = 20: seconds).

    :param formula: a name, or an own one as :func:`cgos_server.core.pairing.methods.formula.compiled` reads it

    Within one step every set has the same size, so the probabilities of a step share one denominator and only whole
    numbers are added up.
    """
    count = compiled(formula)
    pairs = {(i, j): Fraction(0) for i in range(1, np + 1) for j in range(i + 1, np + 1)}
    reached = {(1 << np) - 1: 1}
    denominator = 1
    for avail in range(np - 1, 0, -2):
        n = count(avail, np)
        weights = [comb(avail - 1 - r, n - 1) for r in range(avail - n + 1)]
        denominator *= comb(avail, n)
        met: dict[tuple[int, int], int] = {}
        after: dict[int, int] = {}
        for unpaired, ways in reached.items():
            best = unpaired & -unpaired
            rest = others = unpaired ^ best
            for weight in weights:
                opponent = others & -others
                others ^= opponent
                pair = (best.bit_length(), opponent.bit_length())
                met[pair] = met.get(pair, 0) + ways * weight
                after[rest ^ opponent] = after.get(rest ^ opponent, 0) + ways * weight
        for pair, ways in met.items():
            pairs[pair] += Fraction(ways, denominator)
        reached = after
    sits_out = {rank: Fraction(reached.get(1 << (rank - 1), 0), denominator) for rank in range(1, np + 1)}
    return Distribution(pairs, sits_out)
