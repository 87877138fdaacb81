"""Birk's top-down candidate pairing: the best unpaired version draws n of the others and meets the strongest drawn.

Source: Christoph Birk, "A new pairing system idea for CGOS", computer-go list, 5 October 2006. Decides pairs, who sits
out and the sentences that explain both. Must not know: storage, sessions, colours, when a round is due.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from types import MappingProxyType
from typing import Any

from cgos_server.core.pairing.base import Act, Candidate, Pair, Pairing, Rng
from cgos_server.core.pairing.constraints import Constraints
from cgos_server.core.pairing.formula import FORMULAS
from cgos_server.core.pairing.rolling import Waiting
from cgos_server.core.pairing.settings import flat

BYES = ("fair", "natural")


@dataclass(frozen=True, slots=True)
class Birk:
    """The method with its options.

    :ivar formula: a key of FORMULAS; more candidates bring nearer neighbours together, ``one`` pairs at random
    :ivar bye: who sits out when the number is odd. ``fair``: set aside before pairing, who has sat out least recently
        since its last game (those who have not: who waits shortest; ties by lot). ``natural``: whoever is left over,
        which is mostly the lowest ranked
    :ivar avoid_last: a version does not draw its previous opponent while any other is unpaired
    """

    formula: str = "fifth"
    bye: str = "fair"
    constraints: Constraints = Constraints()
    waiting: Waiting = Waiting()

    @property
    def name(self) -> str:
        return "birk"

    @property
    def options(self) -> Mapping[str, Any]:
        return {"formula": self.formula, "bye": self.bye, **flat(self.constraints, self.waiting)}

    def pair(self, candidates: Sequence[Candidate], rng: Rng) -> Pairing:
        """Pair `candidates`, best first; equal ratings rank by ascending id.

        Versions that must not meet never do: who may meet none of those left sits out. ``avoid_last`` gives way where
        there is no other choice, which is a note.
        """
        unpaired = sorted(candidates, key=lambda c: (-c.rating, c.id))
        sits_out: dict[int, str] = {}
        if len(unpaired) > 1 and len(unpaired) % 2 and self.bye == "fair":
            at, why = _set_aside(unpaired, rng)
            sits_out[unpaired.pop(at).id] = why
        pairs: list[Pair] = []
        notes: list[str] = []
        while len(unpaired) > 1:
            p = unpaired.pop(0)
            apart = self._apart(p, unpaired, notes)
            if len(apart) == len(unpaired):
                sits_out[p.id] = f"{_who(p)} must not meet anybody who was left."
            else:
                pairs.append(self._pick(p, unpaired, apart, rng))
        for left in unpaired:
            sits_out[left.id] = (
                f"{_who(left)} was left over when all others had been paired."
                if pairs
                else f"{_who(left)} is alone: there is nobody to meet."
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
                    notes.append(f"{_who(p)} had no choice but its last opponent: allowed for this pick.")
        return apart

    def _pick(self, p: Candidate, others: list[Candidate], apart: list[int], rng: Rng) -> Pair:
        """Draw an opponent for `p` and take it out of `others`."""
        pool = list(range(len(others)))
        for at in sorted(apart, reverse=True):
            del pool[at]
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


def sample(size: int, n: int, rng: Rng) -> list[int]:
    """`n` different numbers of ``range(size)``, every set equally likely, ascending; draws `n` times.

    R. W. Floyd's method (Bentley and Floyd, "A sample of brilliance", CACM 30(9), 1987).
    """
    chosen: set[int] = set()
    for top in range(size - n, size):
        at = int(rng.random() * (top + 1))
        chosen.add(top if at in chosen else at)
    return sorted(chosen)


def _set_aside(ranked: list[Candidate], rng: Rng) -> tuple[int, str]:
    """The fair bye among an odd number: (place of who sits out, why)."""
    fresh = [c for c in ranked if c.last_sit_out is None]
    if fresh:
        shortest = min(c.waited for c in fresh)
        tied = [i for i, c in enumerate(ranked) if c.last_sit_out is None and c.waited == shortest]
        why = f"of those that have not sat out since their last game it had waited shortest ({shortest / 1e6:.1f} s)"
    else:
        oldest = min(c.last_sit_out for c in ranked if c.last_sit_out is not None)
        tied = [i for i, c in enumerate(ranked) if c.last_sit_out == oldest]
        why = f"all have sat out since their last game, it least recently (round {oldest})"
    at = tied[0]
    if len(tied) > 1:
        at = tied[int(rng.random() * len(tied))]
        why += f", drawn by lot from {len(tied)} alike"
    return at, f"{_who(ranked[at])} sits out, as {len(ranked)} is an odd number: {why}."


def _reason(p: Candidate, opponent: Candidate, n: int, avail: int) -> str:
    if avail == 1:
        return f"{_who(p)} met the only opponent it could: {_who(opponent)}."
    if n == 1:
        return f"{_who(p)} drew 1 of {avail} opponents below it: {_who(opponent)}."
    return f"{_who(p)} drew {n} of {avail} opponents below it and met the strongest of them, {_who(opponent)}."


def _who(candidate: Candidate) -> str:
    return f"{candidate.name} ({round(candidate.rating)})"
