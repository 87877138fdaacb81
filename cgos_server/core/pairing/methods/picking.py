"""Versions that pick an opponent one after another, as Birk's method and those by neighbors do it: whom each may pick
now, who is set aside beforehand, what becomes of those who are left.

Decides nothing about which of the permitted partners is taken: the method's own `Choose` does. Must not know: storage,
sessions, colors.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import Bools, Candidate, Floats, Ints, Pair, Pairing, PairingPass
from cgos_server.core.pairing.constraints import Barrier, Constraints, Kin, PairConstraints
from cgos_server.core.pairing.ranking import came_first, least_recent, who
from cgos_server.core.pairing.rolling import Waiting, allowances, turns, unfairness
from cgos_server.core.venue import Policy

NARROW = 128
"""Up to so many candidates every pair is looked at beforehand. In a wider field (rolling policy) a pair is drawn before
it is asked whether its game is worth it yet, and if it is not, both wait for the next pass."""

MARKED = 50
"""More marked pairs a candidate than this are not listed; rows are computed as they are needed."""

MOST_MENDED = 16
"""With more than this left over, no pair is taken apart for them."""

NEVER, BARRED, LATER = -3, -2, -1
"""In place of the barriers' sum: never possible; not while both can wait; not worth it yet."""

UNABLE = 1_000_000
"""More than any sum of barriers."""

Choose = Callable[[int, int], int]
"""`choose(avail, above)`: which of `avail` (>= 1) partners, best first from 0, is picked by one that ranks below the
first `above` of them."""

MOST_TOLD = 20
"""Of those that somebody was kept from, so many are recorded by their ids."""


class Pick(NamedTuple):
    """A pair that was made. Places are ranks: 0 is the best.

    :ivar one: who picked
    :ivar other: whom
    :ivar avail: how many it could have picked
    :ivar kept: unpaired ones that it was kept from
    :ivar top: whether it was the best of the unpaired
    :ivar taken_apart: whom `other` had picked or been picked by before that pair was taken apart, or None
    :ivar tier: sum of the barriers that gave way
    :ivar called_back: whether `other` had been set aside before
    """

    one: int
    other: int
    avail: int
    kept: Sequence[int] = ()
    top: bool = True
    taken_apart: int | None = None
    tier: int = 0
    called_back: bool = False


Explain = Callable[[Pick], tuple[str, dict[str, Any]]]


class Picking:
    """One pass, its candidates in the order in which they pick.

    :param order: places in ``pairing_pass.candidates``, best first
    """

    def __init__(self, pairing_pass: PairingPass, order: Ints, constraints: Constraints, waiting: Waiting) -> None:
        self.pairing_pass = pairing_pass
        self.ranked: list[Candidate] = [pairing_pass.candidates[place] for place in order.tolist()]
        self.left: dict[int, str] = {}
        self._aside: int | None = None
        self._order = order
        self._constraints = constraints
        self._waiting = waiting
        self._rolling = pairing_pass.policy is Policy.ROLLING
        self._n = len(self.ranked)
        self._free = not self._rolling and _unconstrained(pairing_pass, constraints)

    @cached_property
    def rules(self) -> PairConstraints:
        """The constraints of this pass; its indices are places in ``pairing_pass.candidates``."""
        return PairConstraints(self._constraints, self.pairing_pass, self._waiting)

    @cached_property
    def _turns(self) -> Ints:
        """(n,) whose turn it is: who has waited so long that it comes first."""
        if self._free:  # nothing else needs constraints
            return turns(self.pairing_pass, self._waiting, self._constraints.patience)[self._order]
        return self.rules.turns[self._order]

    @cached_property
    def _turn_of(self) -> list[int]:
        listed: list[int] = self._turns.tolist()
        return listed

    def tiers(self, i: Ints, j: Ints) -> Ints:
        """(m,) for pairs of ranks: the sum of the barriers that would give way, or NEVER, BARRED or LATER."""
        rules, one, other = self.rules, self._order[i], self._order[j]
        flags = rules.barriers(one, other)
        held = rules.holding(flags, one, other) != 0
        tiers: Ints = np.where(rules.possible(one, other), np.where(held, BARRED, flags), NEVER)
        if self._rolling and self._n <= NARROW:
            later = ~self._worth(i, j)
            tiers = np.where((tiers >= 0) & later, LATER, tiers)
        return tiers

    @cached_property
    def _allowances(self) -> Floats:
        return allowances(self.pairing_pass, self._waiting)[self._order]

    def _worth(self, i: Ints, j: Ints) -> Bools:
        """(m,) for pairs of ranks: whether making it now is worth more than waiting (rolling policy)."""
        one, other = self._order[i], self._order[j]
        price = self.rules.costs(one, other) + unfairness(self.pairing_pass, self._waiting, one, other)
        worth: Bools = (price <= self._allowances[i] + self._allowances[j]) | (self._turns[i] + self._turns[j] > 0)
        return worth

    @cached_property
    def _table(self) -> Ints:
        """(n, n) tiers of all pairs of ranks."""
        i, j = np.triu_indices(self._n, 1)
        table = np.full((self._n, self._n), NEVER)
        table[i, j] = table[j, i] = self.tiers(i, j)
        return table

    @property
    def _narrow(self) -> bool:
        return not self._free and self._n <= NARROW

    def choose_bye(self, rng: Rng) -> None:
        """With an odd number, take out who has sat out least recently since its last game (those who have not: who
        waits shortest; ties by lot).

        Where every pair is looked at, those who can meet nobody are left out before counting, and nobody is set aside
        who is the only one that somebody else could meet, if that can be helped. Nor is anybody whose turn it is, else
        it is one whose turn is the latest.
        """
        there: Bools = np.ones(self._n, np.bool_)
        needed: Bools = np.zeros(self._n, np.bool_)
        if self._narrow and self._n > 1:
            able = self._table >= 0
            there[:] = able.any(axis=1)
            needed[:] = (able & (able.sum(axis=1) == 1)[:, None]).any(axis=0)
        in_play = np.flatnonzero(there)
        if len(in_play) < 2 or len(in_play) % 2 == 0:
            return
        spared = there & ~needed & (self._turns == 0)
        if not spared.any():
            spared = there & (self._turns <= max(1, self._turns[there].min()))
        choice = np.flatnonzero(spared)
        ranked = [self.ranked[rank] for rank in choice.tolist()]
        at, why = least_recent(ranked, rng)
        if len(choice) < len(in_play):
            why = f"among those who can best be spared, {why}"
        self._aside = rank = int(choice[at])
        others = f" ({self._n - len(in_play)} more can meet nobody now)" if len(in_play) < self._n else ""
        self.left[rank] = f"{who(self.ranked[rank])} sits out, as {len(in_play)} is an odd number{others}: {why}."

    def run(self, choose: Choose) -> list[Pick]:
        """Everybody picks, best first, those before all others whose turn it is; who finds nobody is in `left` with a
        sentence."""
        picking = [rank for rank in range(self._n) if rank not in self.left]
        if self._turns.any():
            picking.sort(key=lambda rank: -self._turns[rank])
        marks = None if self._narrow else self._marks()
        picks = self._by_rows(picking, choose) if marks is None else self._by_marks(picking, choose, marks)
        if not self._free:
            picks = self._called_back(self._mended(picks))
            if self._rolling and not self._narrow:
                picks = self._worthwhile(picks)
        for rank, why in self.left.items():
            self.left[rank] = why or self._left_over(rank)
        return picks

    def _marks(self) -> list[list[int]] | None:
        """For each rank those that it is kept from, but for the expected score, ascending; None where they are too many
        to list."""
        if self._free:
            return [[]] * self._n
        marked = self.rules.marked(MARKED * self._n)
        if marked is None:
            return None
        rank = np.empty(self._n, np.int64)
        rank[self._order] = np.arange(self._n)
        low, high = rank[marked[0]], rank[marked[1]]
        one, other = np.concatenate((low, high)), np.concatenate((high, low))
        by = np.lexsort((other, one))
        ends = np.searchsorted(one[by], np.arange(self._n + 1)).tolist()
        listed = other[by].tolist()
        return [listed[ends[rank] : ends[rank + 1]] for rank in range(self._n)]

    def _by_rows(self, picking: list[int], choose: Choose) -> list[Pick]:
        """Every partner of who picks is looked at."""
        free = np.zeros(self._n, np.bool_)
        free[picking] = True
        picks: list[Pick] = []
        for one in picking:
            if not free[one]:
                continue
            free[one] = False
            others = np.flatnonzero(free)
            pick = self._row(one, others, choose)
            if pick is not None:
                free[pick.other] = False
                picks.append(pick)
        return picks

    def _row(self, one: int, others: Ints, choose: Choose) -> Pick | None:
        if not len(others):
            self.left[one] = ""
            return None
        tiers = self._table[one, others] if self._narrow else self.tiers(np.full(len(others), one), others)
        able = tiers >= 0
        if not able.any():
            self.left[one] = self._nobody(one, others, tiers)
            return None
        lowest = tiers[able].min()
        pool = others[tiers == lowest]
        above = int(np.searchsorted(pool, one))
        other = int(pool[choose(len(pool), above)])
        kept = others[(tiers != 0) & (others != other)].tolist() if len(pool) < len(others) else ()
        return Pick(one=one, other=other, avail=len(pool), kept=kept, top=bool(one < others[0]), tier=int(lowest))

    def _by_marks(self, picking: list[int], choose: Choose, marks: list[list[int]]) -> list[Pick]:
        """Only those that somebody is kept from are looked at; the rest are counted."""
        limited = self._constraints.max_expected < 1.0
        unpaired = sorted(picking, reverse=True)
        free = bytearray(self._n)
        for rank in picking:
            free[rank] = 1
        picks: list[Pick] = []
        for one in picking:
            if not free[one]:
                continue
            free[one] = 0
            above = 0
            if unpaired[-1] == one:
                unpaired.pop()
            else:
                above = len(unpaired) - 1 - unpaired.index(one)
                del unpaired[-1 - above]
            if not unpaired:
                self.left[one] = ""
                continue
            kept = [rank for rank in marks[one] if free[rank]] if marks[one] else []
            if limited:
                kept = sorted({*kept, *self._lopsided(one, free)})
            avail = len(unpaired) - len(kept)
            if not avail:
                pick = self._row(one, np.array(unpaired[::-1]), choose)
                if pick is not None:
                    unpaired.remove(pick.other)
                    free[pick.other] = 0
                    picks.append(pick)
                continue
            nth = choose(avail, above - bisect_right(kept, one) if above else 0)
            at = nth
            while kept and (further := nth + bisect_right(kept, unpaired[-1 - at])) != at:
                at = further
            other = unpaired[-1 - at]
            del unpaired[-1 - at]
            free[other] = 0
            picks.append(Pick(one=one, other=other, avail=avail, kept=kept, top=not above))
        return picks

    def _lopsided(self, one: int, free: bytearray) -> list[int]:
        """Those in `free` against whom the expected score speaks."""
        others = np.flatnonzero(np.frombuffer(free, np.bool_))
        far: list[int] = others[self.rules.lopsided(self._order[[one]], self._order[others])].tolist()
        return far

    def _worthwhile(self, picks: list[Pick]) -> list[Pick]:
        """Without the pairs that are not worth making yet: in so wide a field nobody picks twice."""
        if not picks:
            return picks
        worth = self._worth(np.array([pick.one for pick in picks]), np.array([pick.other for pick in picks]))
        for pick, made in zip(picks, worth.tolist(), strict=True):
            if not made:
                for rank, other in ((pick.one, pick.other), (pick.other, pick.one)):
                    self.left[rank] = (
                        f"{who(self.ranked[rank])} and {who(self.ranked[other])} came together, but their game is not"
                        " worth it yet: both wait."
                    )
        return [pick for pick, made in zip(picks, worth.tolist(), strict=True) if made]

    def _mended(self, picks: list[Pick]) -> list[Pick]:
        """Two who are left over and cannot meet each other take a pair apart, if each can meet one of it: of those with
        the least barriers the latest."""
        left = [rank for rank in self.left if rank != self._aside]
        if not 2 <= len(left) <= MOST_MENDED or not picks:
            return picks
        every = np.arange(self._n)
        rows = {rank: self.tiers(np.full(self._n, rank), every) for rank in left}
        for u in left:
            for v in left:
                if u < v and u in self.left and v in self.left:
                    self._mend(picks, u, v, rows)
        return picks

    def _mend(self, picks: list[Pick], u: int, v: int, rows: Mapping[int, Ints]) -> None:
        ends = np.array([pick[:2] for pick in picks])
        one, other = rows[u][ends], rows[v][ends[:, ::-1]]
        give_way = np.where((one >= 0) & (other >= 0), one + other, UNABLE)[::-1]
        at, side = divmod(int(np.argmin(give_way)), 2)
        if give_way[at, side] < UNABLE:
            at = len(picks) - 1 - at
            a, b = int(ends[at, side]), int(ends[at, 1 - side])
            picks[at : at + 1] = [
                Pick(one=u, other=a, avail=1, kept=(v,), top=False, taken_apart=b, tier=int(rows[u][a])),
                Pick(one=v, other=b, avail=1, kept=(u,), top=False, taken_apart=a, tier=int(rows[v][b])),
            ]
            del self.left[u], self.left[v]

    def _called_back(self, picks: list[Pick]) -> list[Pick]:
        """Who was set aside meets, if it can, one of those who are left over after all: whose turn came first, and of
        several the one with the least barriers."""
        left = np.array([rank for rank in self.left if rank != self._aside], np.int64)
        if self._aside is None or not len(left):
            return picks
        tiers = self.tiers(np.full(len(left), self._aside), left)
        give_way = np.where(tiers >= 0, tiers, UNABLE)
        able = np.flatnonzero(give_way < UNABLE)
        if not len(able):
            return picks
        at = int(able[np.lexsort((give_way[able], -self._turns[left[able]]))[0]])
        one = int(left[at])
        del self.left[one], self.left[self._aside]
        return [*picks, Pick(one, self._aside, 1, top=False, tier=int(tiers[at]), called_back=True)]

    def _left_over(self, one: int) -> str:
        """Why somebody stays unpaired who found nobody when its turn came."""
        if self._n == 1:
            return f"{who(self.ranked[one])} is alone: there is nobody to meet."
        others = np.array([rank for rank in self.left if rank != one], np.int64)
        if len(others):
            tiers = self.tiers(np.full(len(others), one), others)
            if (tiers < 0).all():
                return self._nobody(one, others, tiers)
        alone = "all others had been paired" if not len(others) else "nobody else could be picked any more"
        return f"{who(self.ranked[one])} was left over when {alone}."

    def _nobody(self, one: int, others: Ints, tiers: Ints) -> str:
        """Why none of `others` could be picked."""
        name = who(self.ranked[one])
        if (tiers == NEVER).all():
            return f"{name} must not meet anybody who was still to be paired."
        if (tiers == LATER).any():
            waited = self.ranked[one].waited / 1e6
            return f"{name} waits for a better opponent: no game that it could have was worth it after {waited:.1f} s."
        other = int(others[tiers == BARRED][0])
        why = self.rules.why(int(self._order[one]), int(self._order[other]))
        return f"{name} waits a little for somebody else: {why}."

    def came_first(self, pick: Pick) -> str:
        """Whose turn it was, as a sentence; empty where it was nobody's, and in a round recorded without that."""
        if not self._waiting.overdue or not (self._turn_of[pick.one] or self._turn_of[pick.other]):
            return ""
        return "".join(
            came_first(self.ranked[rank], self._turn_of[rank], self.pairing_pass.policy, self._waiting)
            for rank in (pick.one, pick.other)
        )

    def gave_way(self, pick: Pick) -> str:
        """What gave way for a pair of which something did, as a sentence."""
        return self.rules.say(int(self._order[pick.one]), int(self._order[pick.other]))


def _unconstrained(pairing_pass: PairingPass, constraints: Constraints) -> bool:
    """True where nothing can speak against any pair of this pass under the barrier policy."""
    return (
        constraints.same_owner is Kin.FREE
        and constraints.same_family is Kin.FREE
        and not constraints.avoid_last
        and constraints.repeat_most > constraints.repeat_last
        and constraints.max_expected >= 1.0
        and not any(c.apart or c.avoid for c in pairing_pass.candidates)
    )


def paired(picking: Picking, picks: Sequence[Pick], explain: Explain) -> Pairing:
    """The picks as what a matchmaker answers: each with its sentence, followed by whom the picker was kept from and
    what gave way.

    :param explain: the method's own sentence about a pick that it chose itself, and what that was made of
    """
    pairs: list[Pair] = []
    notes: list[str] = []
    for pick in picks:
        one, other = picking.ranked[pick.one], picking.ranked[pick.other]
        detail: dict[str, Any] = {"avail": 1}
        if pick.called_back:
            reason = f"{who(one)} would have been left over: {who(other)}, set aside before, met it after all."
        elif pick.taken_apart is None:
            reason, detail = explain(pick)
        else:
            parted = who(picking.ranked[pick.taken_apart])
            detail["taken_apart"] = picking.ranked[pick.taken_apart].id
            reason = f"{who(one)} would have been left over: {who(other)} and {parted} were taken apart for it."
        reason += picking.came_first(pick)
        if pick.kept:
            detail["kept_from"] = [picking.ranked[rank].id for rank in pick.kept[:MOST_TOLD]]
            names = ", ".join(picking.ranked[rank].name for rank in pick.kept[:3])
            reason += f" It was kept from {names if len(pick.kept) <= 3 else f'{len(pick.kept)} others'}."
        if pick.tier:
            detail["gave_way"] = Barrier(pick.tier).words
            gave_way = picking.gave_way(pick)
            reason += f" {gave_way}"
            notes.append(f"{who(one)} meets {who(other)}. {gave_way}")
        better = one.rating > other.rating or (one.rating == other.rating and one.id < other.id)
        high, low = (one, other) if better else (other, one)
        pairs.append(Pair(high.id, low.id, reason, detail))
    return Pairing(
        pairs=pairs, sits_out={picking.ranked[rank].id: why for rank, why in picking.left.items()}, notes=notes
    )
