"""Many simulated tournaments paired by maximum weight matching, at once and on arrays: game by game the same ones that
:func:`cgos_server.tournaments.simulation.one_event.simulate` plays one by one.

Axes: b tournaments, n players by seat (id - 1), m = n or n - 1 of them by rank once the bye is out, k = m / 2 pairs.
Must not know: events, processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from cgos_protocol.errors import OurFault
from cgos_server.tournaments.base import DRAW, LOSS, WIN, Ints
from cgos_server.tournaments.chance import COLOR_LOT, ManyLots
from cgos_server.tournaments.pairing.mwm_weights import MILLION, power, third_of
from cgos_server.tournaments.simulation.many_bounds import Bools
from cgos_server.tournaments.simulation.many_rounds import DETOURS, Fields, Matching, Weigh, best
from cgos_server.tournaments.simulation.one_event import Measures, Plan, check, drawn, game_chances
from cgos_server.tournaments.standings.quality import kendall_of, ndcg_of, spearman_of
from cgos_server.tournaments.systems.mwm import Mwm

CELLS: Final = 256 * 32 * 32
"""Of arrays that stay in the processor's cache."""

MOST_AT_ONCE: Final = 256

MOST_PLAYERS: Final = 512
"""Larger fields gain nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """What came of it.

    :ivar white: (b, r, k) ids
    :ivar black: (b, r, k) ids
    :ivar made: (b, r, k) half points of White
    :ivar byes: (b, r) ids; 0: nobody
    :ivar order: (b, n) ids by the final ranking, best first
    :ivar measures: of each tournament
    """

    white: Ints
    black: Ints
    made: Ints
    byes: Ints
    order: Ints
    measures: list[Measures]


def is_fast(plan: Plan) -> bool:
    """Whether :func:`simulate_many` can play by that plan. Raises Refused where nobody can."""
    method = check(plan)
    listed = plan.options.get("ties", "listed") == "listed"
    return isinstance(method, Mwm) and plan.players <= MOST_PLAYERS and listed


def at_once(players: int) -> int:
    """How many tournaments are best simulated together."""
    return min(MOST_AT_ONCE, max(1, CELLS // players**2))


def simulate_many(
    plan: Plan, seeds: Sequence[int], matching: Matching = best, detours: Sequence[float] = DETOURS
) -> Many:
    """The tournaments with these seeds. Plans that it cannot play are our fault: see :func:`is_fast`.

    :param matching: who solves the matchings, for measurements
    :param detours: see :data:`DETOURS`; ``(math.inf,)`` has one matching of the whole field a round, for measurements
    """
    method = check(plan)
    if not is_fast(plan) or not isinstance(method, Mwm):
        raise OurFault(f"{plan.system} is not simulated on arrays.")
    state = _State(plan=plan, method=method, seeds=seeds, matching=matching, detours=detours)
    for number in range(1, (plan.rounds or 0) + 1):
        state.play(number)
    return state.result()


class _State:
    """Where b tournaments stand after the same round."""

    def __init__(
        self, plan: Plan, method: Mwm, seeds: Sequence[int], matching: Matching, detours: Sequence[float]
    ) -> None:
        self.plan, self.seeds, self.matching, self.detours = plan, seeds, matching, detours
        self.order, self.beta = method.order, method.balance
        self.by_lot = self.order in ("random", "random2")
        b, n, rounds = len(seeds), plan.players, plan.rounds or 0
        self.b, self.n, self.k = b, n, n // 2
        self.strengths, self.ratings = drawn(plan, seeds)
        self.thousandths = np.floor(self.strengths * 1000.0 + 0.5).astype(np.int64)
        self.by_rating = _places(np.argsort(-self.ratings, axis=1, kind="stable"))
        self.score = np.zeros((b, n), dtype=np.int64)
        self.balance = np.zeros((b, n), dtype=np.int64)
        self.byes = np.zeros((b, n), dtype=np.int64)
        self.times = np.zeros((b, n, n), dtype=np.int64)
        self.opponents = np.full((b, n, rounds), -1, dtype=np.int64)
        self.made = np.zeros((b, n, rounds), dtype=np.int64)
        self.had_white = np.zeros((b, n, rounds), dtype=np.bool_)
        self.before = np.zeros((b, n, rounds), dtype=np.int64)
        self.games: list[tuple[Ints, Ints, Ints]] = []
        self.sat_out: list[Ints] = []
        self.color_differences: list[Ints] = []
        self.float_pairs = np.zeros(b, dtype=np.int64)
        self.widest = np.zeros(b, dtype=np.int64)
        self.apart = np.zeros((2, b), dtype=np.int64)
        self.rows = np.arange(b)[:, None]

    def play(self, number: int) -> None:
        at = number - 1
        self.before[:, :, at] = self.score
        lots = ManyLots(self.seeds, number)
        ranked = np.argsort(self.by_rating - self.score * self.n, axis=1)
        if self.n % 2:
            ranked = self._sit_out(ranked, at)
        else:
            self.sat_out.append(np.full(self.b, -1))
        score, balance = (np.take_along_axis(each, ranked, axis=1) for each in (self.score, self.balance))
        fields = Fields(
            score,
            balance,
            met=self._met(ranked),
            times=lambda t: self.times[t][np.ix_(ranked[t], ranked[t])],
            beta=self.beta,
            matching=self.matching,
            detours=self.detours,
        )
        far = power(np.arange(fields.m)) if self.order == "burstein" else None
        # Without lots the first round's ranks are the same pairs in all tournaments.
        pairs = fields.pair(self._third(fields, ranked, lots), far, alike=at == 0 and not self.by_lot)
        one, other = (np.take_along_axis(ranked, pairs[:, :, side], axis=1) for side in (0, 1))
        if self.plan.differences:
            self._compare(fields, ranked, pairs=(one, other))
        self.float_pairs += (self.score[self.rows, one] != self.score[self.rows, other]).sum(axis=1)
        ahead = self.balance[self.rows, one] - self.balance[self.rows, other]
        coins = lots.units(COLOR_LOT, one + 1, other + 1) < 0.5
        better_has_white = np.where(ahead == 0, coins, ahead < 0)
        white, black = np.where(better_has_white, one, other), np.where(better_has_white, other, one)
        numbers = lots.units("outcome", white + 1, black + 1)
        wins, holds = game_chances(
            self.plan.model, *(np.take_along_axis(self.strengths, side, axis=1) for side in (white, black))
        )
        made = np.where(numbers < wins, WIN, np.where(numbers < holds, DRAW, LOSS))
        for players, others, points, color in ((white, black, made, 1), (black, white, WIN - made, -1)):
            self.opponents[self.rows, players, at] = others
            self.made[self.rows, players, at] = points
            self.had_white[self.rows, players, at] = color == 1
            self.balance[self.rows, players] += color
            self.times[self.rows, players, others] += 1
        self.score += self.made[:, :, at]
        self.games.append((white, black, made))
        balances = np.abs(self.balance)
        self.color_differences.append(balances.sum(axis=1))
        self.widest = np.maximum(self.widest, balances.max(axis=1))

    def _met(self, ranked: Ints) -> tuple[Ints, Ints, Ints]:
        """Tournaments and ranks of those who were paired before, both of whom play now."""
        rank = np.full((self.b, self.n), -1, dtype=np.int64)
        np.put_along_axis(rank, ranked, np.broadcast_to(np.arange(ranked.shape[1]), ranked.shape), axis=1)
        none = np.zeros((self.b, 0), dtype=np.int64)
        one, other = (
            np.take_along_axis(rank, np.concatenate([none, *(game[side] for game in self.games)], axis=1), axis=1)
            for side in (0, 1)
        )
        field, at = np.nonzero((one >= 0) & (other >= 0))
        return field, one[field, at], other[field, at]

    def _sit_out(self, ranked: Ints, at: int) -> Ints:
        """The ranks without the last of those with the fewest byes."""
        byes = np.take_along_axis(self.byes, ranked, axis=1)
        last = self.n - 1 - np.argmin(byes[:, ::-1], axis=1)
        rows = np.arange(self.b)
        out = ranked[rows, last]
        self.byes[rows, out] += 1
        self.made[rows, out, at] = WIN
        self.sat_out.append(out)
        stays = np.ones(ranked.shape, dtype=np.bool_)
        stays[rows, last] = False
        return ranked[stays].reshape(self.b, self.n - 1)

    def _third(self, fields: Fields, ranked: Ints, lots: ManyLots) -> Weigh:
        """The third component of the weights: by tournament and two ranks."""
        m, apart = fields.m, 1 + int(fields.score.max(initial=0))
        seats = ranked.ravel()
        numbers = np.zeros((self.b, self.n, self.n) if self.by_lot else (0, 0, 0), dtype=np.int64)
        if self.by_lot:
            one, other = np.triu_indices(self.n, 1)
            numbers[:, one, other] = np.floor(lots.units("u", one + 1, other + 1) * MILLION)
            numbers += numbers.transpose(0, 2, 1)
        # The ranks of all tournaments as one field, in which no two tournaments have a score in common.
        scores = (fields.score - apart * np.arange(self.b)[:, None]).ravel()
        third = third_of(self.order, scores, lambda i, j: numbers[i // m, seats[i], seats[j]])
        return lambda t, i, j: third(t * m + i, t * m + j)

    def _compare(self, fields: Fields, ranked: Ints, pairs: tuple[Ints, Ints]) -> None:
        """Counts how far apart in strength the pairs are, and could have been."""
        one, other = pairs
        by_rank = np.take_along_axis(self.thousandths, ranked, axis=1)
        widest = fields.pair(lambda t, i, j: np.abs(by_rank[t, i] - by_rank[t, j]))
        could = np.take_along_axis(by_rank, widest[:, :, 0], axis=1) - np.take_along_axis(
            by_rank, widest[:, :, 1], axis=1
        )
        made = self.thousandths[self.rows, one] - self.thousandths[self.rows, other]
        self.apart += np.abs(made).sum(axis=1), np.abs(could).sum(axis=1)

    def result(self) -> Many:
        order = self._final()
        white, black, made = (np.stack(each, axis=1) for each in zip(*self.games, strict=True))
        in_order = np.take_along_axis(self.strengths, order, axis=1)
        truth = np.argsort(-self.strengths, axis=1, kind="stable")
        places = np.take_along_axis(_places(truth), order, axis=1)
        ahead = self.strengths[self.rows[:, :, None], white] - self.strengths[self.rows[:, :, None], black]
        rounds, games = len(self.games), white[0].size
        columns: dict[str, Any] = {
            "kendall": kendall_of(in_order),
            "spearman": spearman_of(places),
            "ndcg": ndcg_of(places),
            "float_pairs": self.float_pairs.astype(np.float64),
            "color_difference": np.sum(self.color_differences, axis=0) / rounds,
            "largest_color_difference": self.widest.astype(np.float64),
            "unforeseen": ((made - DRAW) * ahead < 0).sum(axis=(1, 2)) / games,
            "draws": (made == DRAW).sum(axis=(1, 2)) / games,
            "best_first": (order[:, 0] == truth[:, 0]).astype(np.float64),
            "rounds": np.full(self.b, float(rounds)),
            "games": np.full(self.b, float(games)),
        }
        if self.plan.differences:
            apart, possible = self.apart / 1000.0
            columns["strength_difference"] = np.where(possible > 0, apart / np.where(possible > 0, possible, 1.0), 1.0)
        lists = {name: each.tolist() for name, each in columns.items()}
        measures = [Measures(**{name: each[t] for name, each in lists.items()}) for t in range(self.b)]
        return Many(
            white=white + 1,
            black=black + 1,
            made=made,
            byes=np.stack(self.sat_out, axis=1) + 1,
            order=order + 1,
            measures=measures,
        )

    def _final(self) -> Ints:
        """(b, n) seats by the final ranking: :attr:`Mwm.tie_breakers` on arrays."""
        rows, rounds = self.rows[:, :, None], self.opponents.shape[2]
        played = self.opponents >= 0
        left = np.arange(rounds - 1, -1, -1)
        theirs = np.where(played, self.score[rows, self.opponents], self.before + WIN - self.made + left)
        buchholz = theirs.sum(axis=2)
        cut = buchholz - theirs.min(axis=2)
        ratings = np.where(played, self.ratings[rows, self.opponents], np.inf)
        number = played.sum(axis=2)
        lowest = ratings.min(axis=2)
        others = np.where(played, ratings, 0.0).sum(axis=2) - np.where(number > 0, lowest, 0.0)
        mean = np.where(number > 1, others / np.maximum(number - 1, 1), 0.0)
        won = self.made == WIN
        black = played & ~self.had_white
        quarters = np.where(played, self.made * theirs, 0).sum(axis=2)
        keys = (
            self.by_rating,
            -quarters,
            -black.sum(axis=2),
            -(won & black).sum(axis=2),
            -won.sum(axis=2),
            -mean,
            -self._direct(cut, buchholz),
            -buchholz,
            -cut,
            -self.score,
        )
        return np.lexsort(keys, axis=1)

    def _direct(self, cut: Ints, buchholz: Ints) -> Ints:
        """(b, n) half points among those equal so far, if they have all met; 0: they have not."""
        equal: Bools = _equal(self.score) & _equal(cut) & _equal(buchholz)
        diagonal = np.eye(self.n, dtype=np.bool_)
        met_all: Bools = np.all(~equal | diagonal | (self.times > 0), axis=2)
        applies = (~equal | met_all[:, None, :]).all(axis=2)
        rows = self.rows[:, :, None]
        among = equal[rows, np.arange(self.n)[:, None], self.opponents] & (self.opponents >= 0)
        return np.where(applies, np.where(among, self.made, 0).sum(axis=2), 0)


def _places(seats: Ints) -> Ints:
    """The inverse of each row: by seat the place from 0."""
    places = np.empty_like(seats)
    np.put_along_axis(places, seats, np.broadcast_to(np.arange(seats.shape[1]), seats.shape), axis=1)
    return places


def _equal(key: Ints) -> Bools:
    """(b, n, n) of (b, n)."""
    equal: Bools = np.equal(key[:, :, None], key[:, None, :])
    return equal
