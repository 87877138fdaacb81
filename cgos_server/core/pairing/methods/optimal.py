"""The best round by an objective: the matchmaker of every method that can say what a game is worth.

A round is compared with another level by level, the first one first:

1. Who must be paired and is not, as few as possible: with the barrier policy everybody must, with the rolling one whose
   turn it is, and each counts as often as it has waited whole mean games. So whoever is left although it is its turn:
   each version that it may ever meet is paired with one whose turn is no later.
2. With the barrier policy who sat out before: the fewer sit-outs those have who sit out, the better (so that of an odd
   number one of those with the fewest sits out). With the rolling policy: who has lost patience and stays unpaired, as
   few as possible.
3. Barriers that give way: the sum of their flags, as small as possible.
4. What the pairs are worth together, in whole millionths of a bit: worth - costs - unfairness with the barrier policy;
   allowances of both - shortfall with the rolling one, shortfall = 1 - worth + costs + unfairness.
5. Of an odd number under the barrier policy the lower rated sits out.

Pairs that are not open do not exist; with the rolling policy neither do those that nobody must have (level 1) and that
are worth no more than waiting (level 4 at 0 or below). Up to MOST_EXACT candidates the round is the best there is.

Must not know: what makes a game worth much, which wishes there are, how matchings are found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import Bools, Candidate, Floats, Ints, Pair, Pairing, PairingPass
from cgos_server.core.pairing.constraints import Barrier, Constraints, PairConstraints
from cgos_server.core.pairing.matching import Packing, best, pack
from cgos_server.core.pairing.methods.objective import Objective, Worths
from cgos_server.core.pairing.methods.wide import LOCAL_PAIRS, near_best
from cgos_server.core.pairing.ranking import came_first, ranked, who
from cgos_server.core.pairing.rolling import Waiting, allowances, unfairness
from cgos_server.core.pairing.shared_options import flat
from cgos_server.core.venue import Policy

MOST_EXACT: Final = 300
"""Above so many candidates the round is near the best (see :mod:`cgos_server.core.pairing.methods.wide`)."""

_MOST_SIT_OUTS: Final = 1000
"""More sit-outs than this count as this, so that a weight's width has a bound."""

_WHOLE: Final = 1_000_000
"""A bit."""

_MOST_LOSS: Final = 100
"""In a wide round a pair that costs more bits than this is not distinguished from one that costs so many."""

_NEIGHBORS: Final = 8
"""In a wide round, why somebody stays unpaired is told from so many neighbors in rating on either side."""


@dataclass(frozen=True, slots=True)
class Optimal:
    """The method with its options.

    :ivar objective: what games are worth
    :ivar constraints: the venue's wishes
    :ivar waiting: how long versions of a rolling venue hold out
    """

    objective: Objective
    constraints: Constraints = Constraints()  # noqa: RUF009 - a constant
    waiting: Waiting = Waiting()  # noqa: RUF009 - a constant

    @property
    def name(self) -> str:
        return self.objective.name

    @property
    def options(self) -> Mapping[str, Any]:
        return {**self.objective.options, **flat(self.constraints, self.waiting)}

    def pair(self, pairing_pass: PairingPass, rng: Rng) -> Pairing:
        """The best round, whatever the order of the candidates.

        `total` is the sum of level 4 over the pairs: the only sum that all rounds share that are best by all levels.
        """
        pairing_pass = ranked(pairing_pass)
        n = len(pairing_pass.candidates)
        if n < 2:
            return Pairing(
                pairs=(),
                sits_out={c.id: f"{who(c)} is alone: there is nobody to meet." for c in pairing_pass.candidates},
                notes=(),
                total=0,
            )
        rules = PairConstraints(self.constraints, pairing_pass, self.waiting)
        field = _Field(pairing_pass, self.objective.look(pairing_pass, rng), rules, self.waiting)
        return field.with_sentences(field.exact() if n <= MOST_EXACT else field.wide())


class _Edges(NamedTuple):
    """Open pairs with what decides about them; all (m,)."""

    i: Ints
    j: Ints
    worth: Floats
    costs: Floats
    unfair: Floats
    barriers: Ints
    value: Ints
    """Level 4."""

    def those(self, kept: Bools | Ints) -> _Edges:
        return _Edges._make(column[kept] for column in self)


class _Field:
    """One pass under one method: what its pairs are worth, level by level, and why."""

    def __init__(self, pairing_pass: PairingPass, worths: Worths, rules: PairConstraints, waiting: Waiting) -> None:
        self.pairing_pass, self.worths, self.rules, self.waiting = pairing_pass, worths, rules, waiting
        self.candidates: Sequence[Candidate] = pairing_pass.candidates
        self.n = len(pairing_pass.candidates)
        self.rolling = pairing_pass.policy is Policy.ROLLING
        sat_out = np.array([c.sat_out for c in pairing_pass.candidates], dtype=np.int64)
        if self.rolling:
            self.allowed = allowances(pairing_pass, waiting)
            self.must = rules.turns
            self.urge = np.array([rules.impatient(at) for at in range(self.n)], dtype=np.int64)
        else:
            self.allowed = np.zeros(self.n)
            self.must = np.ones(self.n, dtype=np.int64)
            self.urge = np.minimum(sat_out, _MOST_SIT_OUTS)

    # --- deciding -----------------------------------------------------------------------------------------------

    def open(self, i: Ints, j: Ints) -> tuple[Ints, Ints]:
        """Those of the pairs that may be made as far as the constraints go."""
        kept = self.rules.open(i, j)
        return i[kept], j[kept]

    def edges(self, i: Ints, j: Ints) -> _Edges:
        """What decides about open pairs."""
        worth, costs = self.worths.of(i, j), self.rules.costs(i, j)
        unfair = unfairness(self.pairing_pass, self.waiting, i, j)
        value = worth - costs - unfair
        if self.rolling:
            value = self.allowed[i] + self.allowed[j] - (1.0 - worth + costs + unfair)
        whole = np.rint(_WHOLE * value).astype(np.int64)
        return _Edges(
            i=i, j=j, worth=worth, costs=costs, unfair=unfair, barriers=self.rules.barriers(i, j), value=whole
        )

    def existing(self, edges: _Edges) -> Bools:
        """(m,) True where an open pair may be made in this pass."""
        return (self.must[edges.i] + self.must[edges.j] + (edges.value > 0)) > 0

    def levels(self, edges: _Edges) -> list[Ints]:
        """Levels 1 to 4."""
        i, j = edges.i, edges.j
        return [self.must[i] + self.must[j], self.urge[i] + self.urge[j], -edges.barriers, edges.value]

    def exact(self) -> _Edges:
        """The best round, by ascending places."""
        edges = self.edges(*self.open(*np.triu_indices(self.n, 1)))
        edges = edges.those(self.existing(edges))
        levels = self.levels(edges)
        if not self.rolling and self.n % 2:
            levels.append(2 * (self.n - 1) - edges.i - edges.j)
        chosen = best(self.n, edges.i, edges.j, pack(levels, self.n // 2))
        # The very numbers that decided: computed again for fewer pairs they could differ in the last bit.
        keys = np.array([i * self.n + j for i, j in chosen], dtype=np.int64)
        return edges.those(np.searchsorted(edges.i * self.n + edges.j, keys))

    def wide(self) -> _Edges:
        """A round near the best, without level 5, by ascending places."""
        most = int(np.ceil(2 * _WHOLE * self.allowed.max())) + _WHOLE
        urge = 2 * int(self.urge.max())
        must = 2 * int(self.must.max())
        packing = Packing(
            [(0, max(2, must)), (0, urge), (-int(~Barrier(0)), 0), (-_MOST_LOSS * _WHOLE, most)], LOCAL_PAIRS
        )

        def weigh(i: Ints, j: Ints) -> Ints:
            weights = np.zeros(len(i), dtype=np.int64)
            kept = np.flatnonzero(self.rules.open(i, j))
            edges = self.edges(i[kept], j[kept])
            edges = edges._replace(value=np.clip(edges.value, -_MOST_LOSS * _WHOLE, most))
            weights[kept] = np.where(self.existing(edges), packing.words(self.levels(edges)), 0)
            return weights

        ratings = np.array([c.rating for c in self.candidates], dtype=np.float64)
        balances = np.array([c.balance for c in self.candidates], dtype=np.int64)
        chosen = np.array(near_best(ratings, balances, weigh), dtype=np.int64).reshape(-1, 2)
        return self.edges(chosen[:, 0], chosen[:, 1])

    # --- telling ------------------------------------------------------------------------------------------------

    def with_sentences(self, chosen: _Edges) -> Pairing:
        """The round with its sentences."""
        pairs: list[Pair] = []
        notes: list[str] = []
        expected = self.rules.expected(chosen.i, chosen.j)
        for row in zip(*(column.tolist() for column in (*chosen, expected)), strict=True):
            pair, note = self._pair(*row)
            pairs.append(pair)
            if note:
                notes.append(note)
        alone = np.ones(self.n, dtype=np.bool_)
        alone[chosen.i] = alone[chosen.j] = False
        left = np.flatnonzero(alone).tolist()
        sits_out = dict(zip((self.candidates[at].id for at in left), self._why(left), strict=True))
        return Pairing(pairs=pairs, sits_out=sits_out, notes=notes, total=int(chosen.value.sum()))

    def _pair(
        self, i: int, j: int, worth: float, costs: float, unfair: float, barriers: int, value: int, expected: float
    ) -> tuple[Pair, str]:
        """The pair with its sentence, and the note that something gave way, or an empty one."""
        a, b = self.candidates[i], self.candidates[j]
        reason = f"{who(a)} met {who(b)}: {self.worths.say(i, j)}"
        for bits, what in ((costs, "for the venue's wishes"), (unfair, "as fast ones meet fast ones too often")):
            reason += f", {bits:.2f} off {what}" if bits >= 0.005 else ""
        reason += "."
        gave_way = self.rules.say(i, j) if barriers else ""
        if gave_way:
            reason += f" {gave_way}"
        detail: dict[str, Any] = {
            "worth": round(worth, 6),
            "costs": round(costs, 6),
            "unfairness": round(unfair, 6),
            "expected": round(expected, 4),
            "value": value,
        }
        if barriers:
            detail["gave_way"] = Barrier(barriers).words
        if self.rolling:
            allowance = float(self.allowed[i] + self.allowed[j])
            detail |= {"shortfall": round(1.0 - worth + costs + unfair, 6), "allowance": round(allowance, 6)}
            reason += f" They had waited {_seconds(a)} and {_seconds(b)}."
            for c, at in ((a, i), (b, j)):
                reason += came_first(c, int(self.must[at]), self.pairing_pass.policy, self.waiting)
        return Pair(a.id, b.id, reason, detail), gave_way

    def _why(self, left: list[int]) -> list[str]:
        """For each of those `left`, why it stays unpaired."""
        if not left:
            return []
        is_left = np.zeros(self.n, dtype=np.bool_)
        is_left[left] = True
        i, j = self._looked_at()
        concerned = is_left[i] | is_left[j]
        best_of = _best_of(self.edges(*self.open(i[concerned], j[concerned])))
        return [self._why_one(at, best_of.get(at), len(left)) for at in left]

    def _looked_at(self) -> tuple[Ints, Ints]:
        """Pairs from which it is told why somebody stays unpaired."""
        if self.n <= MOST_EXACT:
            i, j = np.triu_indices(self.n, 1)
            return i, j
        apart = np.arange(1, _NEIGHBORS + 1)
        i = np.repeat(np.arange(self.n), _NEIGHBORS)
        j = i + np.tile(apart, self.n)
        inside = j < self.n
        return i[inside], j[inside]

    def _why_one(self, at: int, best: _Open | None, left: int) -> str:
        name = who(self.candidates[at])
        if best is None:
            return f"{name} {self._nobody(at)}"
        partner = who(self.candidates[best.other])
        if not self.rolling:
            if left == 1 and self.n % 2:
                return f"{name} sits out, as {self.n} is an odd number: {self._why_this(at)}."
            return (
                f"{name} sits out: whom it could meet, {partner} among them, met others, and no more pairs were left."
            )
        if best.value > 0 or self.must[at]:
            return f"{name} waits: whom it could meet, {partner} among them, met others, which is worth more in all."
        allowed = float(self.allowed[at] + self.allowed[best.other])
        ready = "now" if self.n <= MOST_EXACT else "near it now"
        return (
            f"{name} waits, which is still worth more: its best opponent {ready}, {partner}, falls "
            f"{best.shortfall:.2f} bit short, and {allowed:.2f} is allowed after {_seconds(self.candidates[at])} and "
            f"{_seconds(self.candidates[best.other])}."
        )

    def _why_this(self, at: int) -> str:
        """Why it is this one of an odd number under the barrier policy."""
        fewest = int(self.urge.min())
        alike = int((self.urge == fewest).sum())
        if self.urge[at] > fewest:
            return "with it, and without one that has sat out less often, not all others could be paired"
        if alike == self.n:
            return "the round is best without it"
        if not fewest:
            if alike == 1:
                return "all others have sat out since their last game"
            return f"of the {alike} that have not sat out since their last game the round is best without it"
        times = f"{fewest} time{'s' if fewest != 1 else ''}"
        if alike == 1:
            return f"all others have sat out more than {times}"
        return f"of the {alike} that have sat out only {times} the round is best without it"

    def _nobody(self, at: int) -> str:
        """Why there is no open pair for it, as the rest of a sentence."""
        if self.n > MOST_EXACT:
            return f"stays unpaired: nobody within {_NEIGHBORS} places of it in rating may meet it now."
        others = np.flatnonzero(np.arange(self.n) != at)
        possible = others[self.rules.possible(np.full(len(others), at), others)]
        if not len(possible):
            return "must not meet anybody who is ready."
        nearest = int(possible[np.abs(possible - at).argmin()])
        whom = "its only possible opponent" if len(possible) == 1 else f"all {len(possible)} possible opponents"
        return (
            f"waits, as it is kept from {whom} for now: from {who(self.candidates[nearest])} because "
            f"{self.rules.why(at, nearest)}. It has waited {_seconds(self.candidates[at])}."
        )


class _Open(NamedTuple):
    """Somebody's best open pair."""

    value: int
    shortfall: float
    other: int


def _best_of(edges: _Edges) -> dict[int, _Open]:
    """Place -> its pair of the highest value, the highest rated partner where several are as good."""
    short = 1.0 - edges.worth + edges.costs + edges.unfair
    one, other = np.concatenate([edges.i, edges.j]), np.concatenate([edges.j, edges.i])
    value, short = np.tile(edges.value, 2), np.tile(short, 2)
    order = np.lexsort((other, -value, one))
    first = order[np.unique(one[order], return_index=True)[1]]
    return {
        at: _Open(worth, shortfall, partner)
        for at, worth, shortfall, partner in zip(
            one[first].tolist(), value[first].tolist(), short[first].tolist(), other[first].tolist(), strict=True
        )
    }


def _seconds(candidate: Candidate) -> str:
    return f"{candidate.waited / 1e6:.1f} s"
