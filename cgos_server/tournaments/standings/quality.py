"""How true a final ranking is, and how fair the rounds were that led to it.

The measures of Sauer, Cseh & Lenzner (2022), from a ranking or from an event's record. Must not know: systems other
than the weights of pairing by maximum weight matching, which normalize the strength difference.

The true order sorts strengths descending, equal ones by id (our choice). Fewer than two are ranked perfectly: 1.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.base import Event, Floats, Ints
from cgos_server.tournaments.ledger import Line, course, ledger
from cgos_server.tournaments.pairing.mwm_weights import Third, of_ranks, pair_field


class ColorStatistics(NamedTuple):
    """Colors of an event.

    :ivar differences: after each round, the sum over all players of |games with White - with Black|
    :ivar largest: largest such difference of one player after any round
    """

    differences: tuple[int, ...]
    largest: int


class StrengthDifference(NamedTuple):
    """:ivar made: sum of |strength - strength| over the pairs made
    :ivar most: the largest sum that the same rules would have allowed
    """

    made: float
    most: float

    @property
    def share(self) -> float:
        """1 where there was nothing to reach. Above 1 only where the pairs made were worse in score or colors."""
        return self.made / self.most if self.most else 1.0


class Unforeseen(NamedTuple):
    """:ivar number: of games that the weaker one by true strength won
    :ivar games: really played, draws included
    """

    number: int
    games: int

    @property
    def share(self) -> float:
        return self.number / self.games if self.games else 0.0


def kendall(order: Sequence[int], strength: Mapping[int, float]) -> float:
    """Kendall's tau (1945) with the true order, from -1 (reversed) to 1 (identical). A pair of equal strengths counts
    nothing but stays in the denominator (tau-a; our choice).

    :param order: ids, best first
    :raises Refused: where an id is twice in the order or has no strength
    """
    return float(kendall_of(_in_order(order, strength)[None, :])[0])


def spearman(order: Sequence[int], strength: Mapping[int, float]) -> float:
    """Spearman's rho (1904) with the true order, from -1 to 1. Arguments as of :func:`kendall`."""
    _in_order(order, strength)
    return float(spearman_of(_true_places(order, strength)[None, :])[0])


def ndcg(order: Sequence[int], strength: Mapping[int, float]) -> float:
    """Normalized discounted cumulative gain (Järvelin & Kekäläinen 2002), above 0, at most 1. Gain and discount are our
    choice: who is truly t-th from the top (0, 1...) is worth n - 1 - t, and divided by log2(i + 2) where it is listed
    i-th. Arguments as of :func:`kendall`."""
    _in_order(order, strength)
    return float(ndcg_of(_true_places(order, strength)[None, :])[0])


def kendall_of(strengths: Floats) -> Floats:
    """(b,) of many rankings: (b, n) strengths, best ranked first."""
    n = strengths.shape[1]
    if n < 2:
        return np.ones(len(strengths))
    above, below = np.triu_indices(n, 1)
    signs = np.sign(strengths[:, above] - strengths[:, below]).sum(axis=1)
    tau: Floats = signs / (n * (n - 1) / 2)
    return tau


def spearman_of(places: Ints) -> Floats:
    """(b,) of many rankings: (b, n) true places from 0, best ranked first."""
    n = places.shape[1]
    if n < 2:
        return np.ones(len(places))
    off = places - np.arange(n)
    rho: Floats = 1.0 - 6.0 * (off * off).sum(axis=1) / (n * (n * n - 1))
    return rho


def ndcg_of(places: Ints) -> Floats:
    """(b,) of many rankings: (b, n) true places from 0, best ranked first."""
    n = places.shape[1]
    if n < 2:
        return np.ones(len(places))
    discount = np.log2(np.arange(n) + 2.0)
    best = (np.arange(n - 1, -1, -1) / discount).sum()
    gained: Floats = ((n - 1 - places) / discount).sum(axis=1) / best
    return gained


def float_pairs(event: Event) -> int:
    """Pairs of players who had different scores before the round in which they were paired, whatever came of it."""
    count = 0
    for each, before in zip(event.rounds, course(event).scores, strict=False):
        count += sum([before[one] != before[other] for one, other in set(each.pairs)])
    return count


def colors(event: Event) -> ColorStatistics:
    """Colors of the games really played."""
    differences = []
    largest = 0
    for after in course(event).balances[1:]:
        balances = list(map(abs, after.values()))
        differences.append(sum(balances))
        largest = max([largest, *balances])
    return ColorStatistics(tuple(differences), largest)


def longest_run(line: Line) -> int:
    """The longest run of one color over a player's games really played; 0 without games."""
    sides = [entry.white for entry in line.entries if entry.kind == "game"]
    return max((len(list(run)) for _, run in itertools.groupby(sides)), default=0)


def unforeseen(event: Event, strength: Mapping[int, float]) -> Unforeseen:
    """Games really played that the weaker one won; draws are never unforeseen.

    :raises Refused: where a player has no strength
    """
    require(strength, [one.id for one in event.entrants])
    number = games = 0
    for game, result in event.played:
        games += 1
        ahead = strength[game.white] - strength[game.black]
        number += (result.white - result.black) * ahead < 0
    return Unforeseen(number, games)


def strength_difference(event: Event, strength: Mapping[int, float], beta: int = 2) -> StrengthDifference:
    """How far apart opponents were in true strength, against the most that was possible.

    The most is what pairing by maximum weight matching reaches for the same players when, after score and colors, it
    looks at nothing but the strength difference (in thousandths; exponent 1 is our choice, as the expression of Sauer,
    Cseh & Lenzner is lost), its relaxations included. Both sums are over all rounds (our choice). Byes count nothing;
    a pair that met several times in a round counts once.

    :param beta: largest allowed difference of somebody's colors
    :raises Refused: where a player has no strength, or met several others in a round
    """
    require(strength, [one.id for one in event.entrants])
    rating = {one.id: one.rating if one.rating is not None else -np.inf for one in event.entrants}
    seat = {one.id: at for at, one in enumerate(event.entrants)}
    thousandths = {id_: int(np.floor(value * 1000.0 + 0.5)) for id_, value in strength.items()}
    made = most = 0
    for each in event.rounds:
        pairs = set(each.pairs)
        ids = [id_ for pair in pairs for id_ in pair]
        if len(set(ids)) < len(ids):
            raise Invalid(
                Code.MANY_OPPONENTS,
                f"In round {each.number} somebody has several opponents, so no pairing can be compared with it. Leave "
                "the strength difference out.",
            )
        if not pairs:
            continue
        before = ledger(event, each.number - 1)
        lines = before.lines
        ids.sort(key=lambda id_: (-lines[id_].score, -rating[id_], seat[id_]))
        times, barred = of_ranks(ids, before.met, event.forbidden)
        strengths = np.array([thousandths[id_] for id_ in ids], dtype=np.int64)
        score = np.array([lines[id_].score for id_ in ids], dtype=np.int64)
        balance = np.array([lines[id_].balance for id_ in ids], dtype=np.int64)
        made += sum(abs(thousandths[one] - thousandths[other]) for one, other in pairs)
        best = pair_field(score, balance, times=times, beta=beta, third=difference_of(strengths), barred=barred)
        most += best.total[-1]
    return StrengthDifference(made / 1000.0, most / 1000.0)


def difference_of(strengths: Ints) -> Third:
    """The third component of the weights that makes the strength difference as large as can be.

    :param strengths: (n,) by rank
    """
    return lambda i, j: np.abs(strengths[i] - strengths[j])


def require(strength: Mapping[int, float], ids: Sequence[int]) -> None:
    """Raises Refused where one of the ids has no strength, or is there twice."""
    for id_, count in Counter(ids).items():
        if count > 1:
            raise Invalid(Code.RANKING, f"Player {id_} is {count} times in the ranking. List everybody once.")
        if id_ not in strength:
            raise Invalid(Code.RANKING, f"Player {id_} has no strength. Give the strength of all who are ranked.")
        if strength[id_] != strength[id_]:
            raise Invalid(Code.RANKING, f"The strength of player {id_} is not a number. Give a number.")


def _in_order(order: Sequence[int], strength: Mapping[int, float]) -> Floats:
    require(strength, order)
    return np.array([strength[id_] for id_ in order], dtype=np.float64)


def _true_places(order: Sequence[int], strength: Mapping[int, float]) -> Ints:
    places = {id_: at for at, id_ in enumerate(sorted(order, key=lambda id_: (-strength[id_], id_)))}
    return np.array([places[id_] for id_ in order], dtype=np.int64)
