"""Birk's method as it was before candidates had constraints: only rounds recorded then are computed with it.

It draws each candidate singly, so it uses up the random numbers otherwise than :mod:`cgos_server.core.pairing.birk`;
pairs and sentences come out as they were recorded. Must not know: storage, sessions, colours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cgos_server.core.pairing.base import Act, Candidate, Pair, Pairing
from cgos_server.core.pairing.birk import sample
from cgos_server.core.pairing.formula import FORMULAS
from cgos_server.core.pairing.ranking import least_recent, who
from cgos_server.core.randomness import Rng


@dataclass(frozen=True, slots=True)
class RecordedBirk:
    """The method with the options that it had.

    :ivar formula: a key of FORMULAS
    :ivar bye: ``fair`` or ``natural``
    :ivar avoid_last: a version does not draw its previous opponent while any other is unpaired
    """

    formula: str = "fifth"
    bye: str = "fair"
    avoid_last: bool = True

    @property
    def name(self) -> str:
        return "birk"

    @property
    def options(self) -> Mapping[str, Any]:
        return {"formula": self.formula, "bye": self.bye, "avoid_last": self.avoid_last}

    def pair(self, act: Act, rng: Rng) -> Pairing:
        """Pair the candidates; of the act nothing else is looked at."""
        unpaired = sorted(act.candidates, key=lambda c: (-c.rating, c.id))
        sits_out: dict[int, str] = {}
        if len(unpaired) > 1 and len(unpaired) % 2 and self.bye == "fair":
            at, why = least_recent(unpaired, rng)
            sits_out[unpaired[at].id] = f"{who(unpaired[at])} sits out, as {len(unpaired)} is an odd number: {why}."
            del unpaired[at]
        pairs: list[Pair] = []
        notes: list[str] = []
        while len(unpaired) > 1:
            p = unpaired.pop(0)
            apart = self._apart(p, unpaired, notes)
            if len(apart) == len(unpaired):
                sits_out[p.id] = f"{who(p)} must not meet anybody who was left."
            else:
                pairs.append(self._pick(p, unpaired, apart, rng))
        for left in unpaired:
            sits_out[left.id] = (
                f"{who(left)} was left over when all others had been paired."
                if pairs
                else f"{who(left)} is alone: there is nobody to meet."
            )
        return Pairing(pairs, sits_out, notes)

    def _apart(self, p: Candidate, others: list[Candidate], notes: list[str]) -> list[int]:
        """Places among `others` that `p` is kept from, after ``avoid_last`` has given way where it had to."""
        apart = [i for i, q in enumerate(others) if q.id in p.apart or p.id in q.apart]
        if self.avoid_last and p.last_opponent is not None:
            last = next((i for i, q in enumerate(others) if q.id == p.last_opponent), None)
            if last is not None and last not in apart:
                if len(apart) + 1 < len(others):
                    apart.append(last)
                else:
                    notes.append(f"{who(p)} had no choice but its last opponent: allowed for this pick.")
        return apart

    def _pick(self, p: Candidate, others: list[Candidate], apart: list[int], rng: Rng) -> Pair:
        """Draw an opponent for `p` and take it out of `others`."""
        pool = [at for at in range(len(others)) if at not in apart]
        avail = len(pool)
        n = min(FORMULAS[self.formula](avail), avail)
        drawn = [pool[i] for i in sample(avail, n, rng)]
        detail: dict[str, Any] = {
            "formula": self.formula,
            "avail": avail,
            "n": n,
            "drawn": [others[i].id for i in drawn],
        }
        opponent = others[drawn[0]]
        reason = _reason(p, opponent, n, avail)
        if apart:
            detail["kept_from"] = [others[i].id for i in apart]
            kept_from = ", ".join(others[i].name for i in apart) if len(apart) <= 3 else f"{len(apart)} others"
            reason += f" It was kept from {kept_from}."
        del others[drawn[0]]
        return Pair(p.id, opponent.id, reason, detail)


def _reason(p: Candidate, opponent: Candidate, n: int, avail: int) -> str:
    if avail == 1:
        return f"{who(p)} met the only opponent it could: {who(opponent)}."
    if n == 1:
        return f"{who(p)} drew 1 of {avail} opponents below it: {who(opponent)}."
    return f"{who(p)} drew {n} of {avail} opponents below it and met the strongest of them, {who(opponent)}."
