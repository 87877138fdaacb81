"""What speaks against a pair besides the method's own objective: what forbids it, what has to give way first, what
merely costs something.

Hard: a version never meets itself, nor one that it must be kept apart from. A **barrier** forbids a pair until one of
the two has waited for `patience`; then barriers give way, the largest expected score first. A **cost** only makes a
pair less welcome. Must not know: how pairs are made, whose worth the costs are weighed against.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, pi
from typing import Any

import numpy as np

from cgos_server.core.pairing.base import LOGIT, Bools, Candidate, Floats, Ints, PairingPass, of_difference
from cgos_server.core.pairing.meetings import Meetings, Places, among
from cgos_server.core.pairing.rolling import Waiting, turns
from cgos_server.core.venue import Policy

MOST_LOGITS = 700.0
"""Above it e to that power is no number any more."""


class Kin(enum.StrEnum):
    """Whether versions of one owner, or of one family, may meet."""

    FORBIDDEN = "forbidden"
    DISCOURAGED = "discouraged"
    FREE = "free"


class Barrier(enum.IntFlag):
    """Why a pair is not made while both can still wait. The larger the number, the later it gives way; two barriers at
    once give way after either alone."""

    EXPECTED = 1
    """The expected score is too one-sided."""
    LAST = 2
    """One was the other's last opponent."""
    KIN = 4
    """Same owner or family, where that is discouraged."""
    OFTEN = 8
    """Too many of the last games of one of them were against the other."""
    AVOID = 16
    """One's owner would rather not meet the other."""

    @property
    def words(self) -> list[str]:
        """Each flag as a word of the record."""
        return [one.name.lower() for one in Barrier if one in self and one.name]


_ALL = sum(Barrier)

_ARRIVALS = (
    (Barrier.EXPECTED, 0, 0.0),
    (Barrier.LAST | Barrier.KIN, 2, 0.0),
    (Barrier.OFTEN | Barrier.AVOID, 24, 0.25),
)
"""Barriers, and how many versions should have become free before they give way, at least and as a share of those that
are connected: waiting for somebody else is worth it only as far as somebody comes."""

MOST_PATIENCE = 30
"""Times `patience`: after that every barrier has given way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """A venue's wishes about pairs. Costs are in bits, the unit of what a game can tell at most.

    :ivar same_owner: versions of one owner
    :ivar same_family: versions of one family
    :ivar avoid_last: whether a version is kept from its last opponent while a third is connected
    :ivar repeat_most: games against one opponent among the last `repeat_last` of either; in a small pool so many more
        that twice an even share is allowed
    :ivar repeat_last: how many last games are looked at
    :ivar max_expected: largest expected score, 0.5 to 1 (1: no limit)
    :ivar patience: microseconds of waiting after which the first barriers give way; see :class:`PairConstraints`
    :ivar color_cost: bits that a pair costs in which both are owed the same color
    :ivar anchor_cost: bits that a pair of anchors costs
    :ivar newcomer_cost: bits that a pair of provisional versions costs while there are well-known ones to meet
    :ivar repeat_cost: bits that a pair costs for each recent meeting of the two
    """

    same_owner: Kin = Kin.FORBIDDEN
    same_family: Kin = Kin.DISCOURAGED
    avoid_last: bool = True
    repeat_most: int = 10
    repeat_last: int = 100
    max_expected: float = 1.0
    patience: int = 10_000_000
    color_cost: float = 0.05
    anchor_cost: float = 0.2
    newcomer_cost: float = 0.1
    repeat_cost: float = 0.0


FREE = Constraints(
    same_owner=Kin.FREE,
    same_family=Kin.FREE,
    avoid_last=False,
    repeat_most=1_000_000,
    color_cost=0.0,
    anchor_cost=0.0,
    newcomer_cost=0.0,
)
"""Nothing but what is hard."""

LEAST_LIMIT = 2
"""So many games against one opponent are too many for nobody, however few it has played."""

SURE = 2.0
"""Standard deviations of a difference within which it may well lie."""

MOST_OWED = 4
"""A color owed more often than this costs no more: a version that was out of balance for once could meet nobody."""

MOST_COST = 100.0
"""Bits: what costs more costs no more than this, so that whoever has waited long can afford any game."""


class PairConstraints:
    """The constraints applied to one pass.

    Indices are places in ``pairing_pass.candidates``. Pairs come as two arrays of the same length, so that a method
    that looks at few pairs of many versions pays for those only. All answers are symmetric in i and j, and depend on
    nothing but sums, products, quotients and square roots, so that they are the same on every machine.

    The rules:

    - Never: a version with itself, with one in `apart` of either, with one of its owner or family where that is
      FORBIDDEN.
    - EXPECTED: the better one's expected score (Elo's logistic) is above `max_expected` even if their difference is
      SURE standard deviations less than it seems; what is known of it comes from ``pairing_pass.knowledge`` where there
      is one, else from both `sd`. So nobody is kept from a newcomer because of the number it begins with, nor two camps
      from each other whose distance is not well known (our choice: with a limit on the mean alone they stay unlinked).
    - OFTEN: one of the two has met the other in as many of its remembered games as its limit, or more. A version with
      r remembered games (no more than `repeat_last`) has the limit max(repeat_most * r / repeat_last, 2 r / others),
      rounded up, and at least 2: the same share from the first games on, twice an even share in a small pool. `others`
      are the versions connected besides itself, less those candidates that it must not meet as kin. Since all the
      others together cannot have had more than r games with it, nobody is barred from everybody, and of two versions
      alone neither is barred at all.
    - LAST: one was the other's last opponent, and a third version is connected.
    - KIN, AVOID: as their names say; AVOID where either wishes so.

    Giving way: EXPECTED after `patience`; LAST and KIN after `patience`, and as long as it takes until two others have
    become free (``pairing_pass.flow``); OFTEN and AVOID likewise, two dozen others or a quarter of all. After
    MOST_PATIENCE times `patience`, or for a version whose turn it is, all of them. With the barrier policy all of them
    at once, as waiting there means a whole round. It is enough that one of the two has waited so long.

    :param waiting: when a version's turn comes; None: never
    """

    def __init__(self, constraints: Constraints, pairing_pass: PairingPass, waiting: Waiting | None = None) -> None:
        self.constraints = constraints
        self.pairing_pass = pairing_pass
        n = len(pairing_pass.candidates)
        self._places = Places(pairing_pass)
        self.meetings = Meetings(pairing_pass, self._places)
        fields = list(zip(*pairing_pass.candidates, strict=True)) or [()] * len(Candidate._fields)
        columns: Any = Candidate._make(fields)
        self._rating = np.array(columns.rating, np.float64)
        self._sd = np.array(columns.sd, np.float64)
        self._waited = np.array(columns.waited, np.int64)
        self._owner = np.array(columns.owner, np.int64)
        self._family = np.array(columns.family, np.int64)
        self._anchor = np.array(columns.anchor, np.bool_)
        self._provisional = np.array(columns.provisional, np.bool_)
        self._balance = np.array(columns.balance, np.int64)
        self._recent = np.array(columns.recent, np.int64)
        self._waiting = waiting
        self._given_way = self._giving_way()
        self._apart = self._told(columns.apart)
        self._avoid = self._told(columns.avoid)
        self._last = np.full(n, -1)
        if constraints.avoid_last and pairing_pass.pool > 2:
            ids = [-1 if last is None else last for last in columns.last_opponent]
            self._last = self._places.of(np.array(ids, np.int64))
        self._welcome = bool(constraints.newcomer_cost) and not np.all(self._provisional)

    def _giving_way(self) -> Ints:
        """(n,) flags of the barriers that give way for each version."""
        n, patience = len(self._waited), self.constraints.patience
        if self.pairing_pass.policy is Policy.BARRIER:
            return np.full(n, _ALL)
        flags = np.zeros(n, np.int64)
        for barriers, least, share in _ARRIVALS:
            arrivals = max(least, share * self.pairing_pass.pool)
            arrived = arrivals / self.pairing_pass.flow * 1e6 if self.pairing_pass.flow > 0.0 else 0.0
            after = min(max(patience, arrived), MOST_PATIENCE * patience)
            flags |= np.where(self._waited >= after, int(barriers), 0)
        flags[self.turns > 0] = _ALL
        return flags

    @cached_property
    def turns(self) -> Ints:
        """(n,) whose turn it is; see :func:`cgos_server.core.pairing.rolling.turns`."""
        if self._waiting is None:
            return np.zeros(len(self._waited), np.int64)
        return turns(self.pairing_pass, self._waiting, self.constraints.patience)

    def _told(self, others: Sequence[Sequence[int]]) -> Ints:
        pairs = [(place, ids) for place, ids in enumerate(others) if ids]
        return self._places.pairs(pairs) if pairs else np.zeros(0, np.int64)

    def _kin(self, wish: Kin, i: Ints, j: Ints) -> Bools:
        """(m,) True where the two are of one owner or family for which `wish` is set."""
        kin = np.zeros(len(i), np.bool_)
        for wished, group in self._groups:
            if wished is wish and group.any():
                one = group[i]
                kin |= (one == group[j]) & (one != 0)
        return kin

    @property
    def _groups(self) -> tuple[tuple[Kin, Ints], ...]:
        return (self.constraints.same_owner, self._owner), (self.constraints.same_family, self._family)

    @cached_property
    def limits(self) -> Ints:
        """(n,) how many games against one opponent each may have among its remembered games."""
        c = self.constraints
        kin = np.ones(len(self._recent), np.int64)
        for wish, group in self._groups:
            if wish is Kin.FORBIDDEN:
                _, label, size = np.unique(group, return_inverse=True, return_counts=True)
                kin = np.maximum(kin, np.where(group != 0, size[label], 1))
        others = np.maximum(1, self.pairing_pass.pool - kin)
        recent = np.minimum(self._recent, c.repeat_last)
        share = np.maximum(-(-c.repeat_most * recent // c.repeat_last), -(-2 * recent // others))
        limits: Ints = np.maximum(LEAST_LIMIT, share)
        return limits

    def spread(self, i: Ints, j: Ints) -> Floats:
        """(m,) variance of the difference of the two ratings, Elo squared; 0 where nothing is known of it."""
        known = self.pairing_pass.knowledge
        if known is None:
            return of_difference(self._sd * self._sd, None, i, j)
        return of_difference(np.diagonal(known.covariance), known.covariance, i, j)

    def _shrunk(self, i: Ints, j: Ints) -> Floats:
        """(m,) rating of i minus rating of j, Elo, pulled towards 0 by what is not known of it: by sqrt(1 + pi v / 8),
        v being its variance in units of (400 / ln 10)^2 (MacKay, "The evidence framework applied to classification
        networks", 1992)."""
        difference: Floats = self._rating[i] - self._rating[j]
        return difference / np.sqrt(1.0 + (pi / 8.0 * LOGIT * LOGIT) * self.spread(i, j))

    def expected(self, i: Ints, j: Ints) -> Floats:
        """(m,) expected score of i against j in their decided games, 0 to 1, averaged over what is not known of their
        difference. How often games are drawn does not change it (Davidson 1970)."""
        score: Floats = 1.0 / (1.0 + np.exp(np.minimum(-LOGIT * self._shrunk(i, j), MOST_LOGITS)))
        return score

    def possible(self, i: Ints, j: Ints) -> Bools:
        """(m,) False where a pair is forbidden for good."""
        possible: Bools = (i != j) & ~self._kin(Kin.FORBIDDEN, i, j)
        if len(self._apart):
            possible &= ~among(self._places.keys(i, j), self._apart)
        return possible

    def never(self, i: int, j: int) -> str:
        """Why this pair is forbidden for good, without a full stop; empty where it is not."""
        one, other = np.array([i]), np.array([j])
        if self.possible(one, other)[0]:
            return ""
        for (wish, group), what in zip(self._groups, ("owner", "family"), strict=True):
            if wish is Kin.FORBIDDEN and group[i] == group[j] != 0:
                return f"both are of one {what}, which is forbidden"
        return "they are kept apart for good"

    def barriers(self, i: Ints, j: Ints) -> Ints:
        """(m,) the :class:`Barrier` flags of each pair, whether anybody has lost patience or not."""
        c = self.constraints
        flags: Ints = Barrier.KIN * self._kin(Kin.DISCOURAGED, i, j)
        flags |= Barrier.LAST * ((self._last[i] == j) | (self._last[j] == i))
        if len(self._avoid):
            flags |= Barrier.AVOID * among(self._places.keys(i, j), self._avoid)
        if self.pairing_pass.meetings and self.pairing_pass.pool > 2:
            met, history = self.meetings.lookup(i, j)
            flags[met[self._too_often(i[met], j[met], history.recent_i, history.recent_j)]] |= Barrier.OFTEN
        if c.max_expected < 1.0:
            flags |= Barrier.EXPECTED * self.lopsided(i, j)
        return flags

    def lopsided(self, i: Ints, j: Ints) -> Bools:
        """(m,) True where the barrier EXPECTED is there; `i` may be of length 1 for all."""
        most = self.constraints.max_expected
        if most >= 1.0:
            return np.zeros(len(j), np.bool_)
        nearest = np.abs(self._rating[i] - self._rating[j]) - SURE * np.sqrt(self.spread(i, j))
        lopsided: Bools = nearest > log(most / (1.0 - most)) / LOGIT
        return lopsided

    def _often(self) -> Ints:
        """(k,) keys of the pairs with the barrier OFTEN. No limit is below 2, so that most meetings need no look."""
        met = [m[:4] for m in self.pairing_pass.meetings if m[2] >= LEAST_LIMIT or m[3] >= LEAST_LIMIT]
        a, b, recent_a, recent_b = np.array(met, np.int64).reshape(-1, 4).T
        i, j = self._places.of(a), self._places.of(b)
        there = (i >= 0) & (j >= 0)
        i, j = i[there], j[there]
        often = self._too_often(i, j, recent_a[there], recent_b[there])
        return self._places.keys(i[often], j[often])

    def _too_often(self, i: Ints, j: Ints, recent_i: Ints, recent_j: Ints) -> Bools:
        """(m,) True where that many remembered games against each other are too many for one of the two."""
        often: Bools = (recent_i >= self.limits[i]) | (recent_j >= self.limits[j])
        return often

    def marked(self, most: int) -> tuple[Ints, Ints] | None:
        """All pairs that are not possible or have a barrier other than EXPECTED, (k,) and (k,), each once, i < j; None
        where there are more than `most`."""
        n = self._places.n
        keys = [self._apart, self._avoid]
        had_last = np.flatnonzero(self._last >= 0)
        keys.append(self._places.keys(had_last, self._last[had_last]))
        if self.pairing_pass.meetings and self.pairing_pass.pool > 2:
            keys.append(self._often())
        for wish, group in self._groups:
            if wish is not Kin.FREE and group.any():
                order = np.argsort(group, kind="stable")
                _, first, size = np.unique(group[order], return_index=True, return_counts=True)
                there = group[order][first] != 0
                if int(np.sum((size * (size - 1) // 2)[there])) > most:
                    return None
                for apart in range(1, int(np.max(size[there], initial=1))):
                    one, other = order[:-apart], order[apart:]
                    kin = (group[one] == group[other]) & (group[one] != 0)
                    keys.append(self._places.keys(one[kin], other[kin]))
        every = np.unique(np.concatenate(keys))
        if len(every) > most:
            return None
        low, high = np.divmod(every, max(1, n))
        return low, high

    def open(self, i: Ints, j: Ints) -> Bools:
        """(m,) True where a pair may be made now: possible, and without a barrier that holds for both."""
        free: Bools = self.holding(self.barriers(i, j), i, j) == 0
        return self.possible(i, j) & free

    def holding(self, barriers: Ints, i: Ints, j: Ints) -> Ints:
        """(m,) those of the pairs' `barriers`, as :meth:`barriers` gives them, that still hold for both."""
        holding: Ints = barriers & ~(self._given_way[i] | self._given_way[j])
        return holding

    def costs(self, i: Ints, j: Ints) -> Floats:
        """(m,) what speaks against each pair, in bits, 0 to MOST_COST.

        Both owed the same color: `color_cost` times how often the less owed one is, at most MOST_OWED times. Two
        anchors: `anchor_cost`. Two provisional ones while some candidate is not: `newcomer_cost`. `repeat_cost` for
        each meeting among the remembered games of either, the larger of the two counts.
        """
        c = self.constraints
        cost: Floats = np.zeros(len(i))
        if c.color_cost:
            one, other = self._balance[i], self._balance[j]
            owed = np.minimum(np.minimum(np.abs(one), np.abs(other)), MOST_OWED)
            cost += c.color_cost * np.where(np.sign(one) == np.sign(other), owed, 0)
        if c.anchor_cost:
            cost += c.anchor_cost * (self._anchor[i] & self._anchor[j])
        if self._welcome:
            cost += c.newcomer_cost * (self._provisional[i] & self._provisional[j])
        if c.repeat_cost and self.pairing_pass.meetings:
            met, history = self.meetings.lookup(i, j)
            cost[met] += c.repeat_cost * np.maximum(history.recent_i, history.recent_j)
        return np.minimum(cost, MOST_COST)

    def impatient(self, i: int) -> bool:
        """True once some barrier gives way for the version."""
        return bool(self._given_way[i])

    def why(self, i: int, j: int) -> str:
        """What speaks against this pair until somebody is out of patience, without a full stop; empty where nothing
        does."""
        i, j = sorted((i, j), key=lambda place: self.pairing_pass.candidates[place].id)
        one, other = np.array([i]), np.array([j])
        flags = Barrier(int(self.barriers(one, other)[0]))
        a, b = self.pairing_pass.candidates[i], self.pairing_pass.candidates[j]
        words = []
        if Barrier.AVOID in flags:
            by = a if b.id in a.avoid else b
            words.append(f"the owner of {by.name} would rather not meet {(b if by is a else a).name}")
        if Barrier.KIN in flags:
            discouraged_owner = self.constraints.same_owner is Kin.DISCOURAGED and a.owner == b.owner != 0
            words.append(f"both are of one {'owner' if discouraged_owner else 'family'}")
        if Barrier.LAST in flags:
            words.append(
                "they have just met"
                if self._last[i] == j and self._last[j] == i
                else (
                    f"{(b if self._last[i] == j else a).name} was the last opponent of"
                    f" {(a if self._last[i] == j else b).name}"
                )
            )
        if Barrier.OFTEN in flags:
            history = self.meetings.of(one, other)
            first = history.recent_i[0] >= self.limits[i]
            games, by = (history.recent_i[0], a) if first else (history.recent_j[0], b)
            words.append(f"{games} of the last {by.recent} games of {by.name} were against {(b if first else a).name}")
        if Barrier.EXPECTED in flags:
            score = float(self.expected(one, other)[0])
            better = a if score >= 0.5 else b
            words.append(f"the expected score of {better.name} is {max(score, 1.0 - score):.3f}")
        return " and ".join(words)

    def say(self, i: int, j: int) -> str:
        """What gave way for this pair, as a sentence; empty where nothing did."""
        why = self.why(i, j)
        if not why:
            return ""
        if self.pairing_pass.policy is Policy.BARRIER:
            return f"It gave way that {why}: a whole round would have been missed otherwise."
        flags = int(self.barriers(np.array([i]), np.array([j]))[0])

        def patience(place: int) -> tuple[int, int, int, int]:
            c = self.pairing_pass.candidates[place]
            return (flags & int(self._given_way[place])).bit_count(), c.waited, c.sat_out, -c.id

        longest = self.pairing_pass.candidates[max(i, j, key=patience)]
        passed = f" and was passed over {longest.sat_out} times" if longest.sat_out > 1 else ""
        return f"It gave way that {why}: {longest.name} had waited {longest.waited / 1e6:.1f} s{passed}."
