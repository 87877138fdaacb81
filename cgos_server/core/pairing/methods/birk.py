"""Birk's top-down candidate pairing: the best unpaired version draws n of the others and meets the strongest drawn.

Source: Christoph Birk, "A new pairing system idea for CGOS", computer-go list, 5 October 2006. Decides whom the one who
picks takes, and the sentences that explain it; who may be picked is :mod:`cgos_server.core.pairing.methods.picking`'s.
Must not know: storage, sessions, colors, when a round is due.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cgos_protocol.options import Choice
from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import MatchmakerDeclaration, Pairing, PairingPass
from cgos_server.core.pairing.constraints import Constraints
from cgos_server.core.pairing.methods.formula import Formula, compiled
from cgos_server.core.pairing.methods.picking import Pick, Picking, paired
from cgos_server.core.pairing.ranking import by_rating, who
from cgos_server.core.pairing.rolling import Waiting
from cgos_server.core.pairing.shared_options import flat

BYES = ("fair", "natural")


@dataclass(frozen=True, slots=True, kw_only=True)
class Birk:
    """The method with its options.

    :ivar formula: how many are drawn: a name or an own expression, see :mod:`cgos_server.core.pairing.methods.formula`;
        more candidates bring nearer neighbors together, ``one`` pairs at random
    :ivar bye: who sits out when the number is odd. ``fair``: set aside before pairing, who has sat out least recently
        since its last game (those who have not: who waits shortest; ties by lot). ``natural``: whoever is left over,
        which is mostly the lowest ranked
    """

    formula: str = "fifth"
    bye: str = "fair"
    constraints: Constraints = Constraints()  # noqa: RUF009 - a constant
    waiting: Waiting = Waiting()  # noqa: RUF009 - a constant

    @property
    def name(self) -> str:
        return "birk"

    @property
    def options(self) -> Mapping[str, Any]:
        return {"formula": self.formula, "bye": self.bye, **flat(self.constraints, self.waiting)}

    def pair(self, pairing_pass: PairingPass, rng: Rng) -> Pairing:
        """Pair the candidates, best first; equal ratings rank by ascending id.

        Among those whom the picker may meet now, the ones with the least barriers are what it draws from.
        """
        picking = Picking(pairing_pass, by_rating(pairing_pass.candidates), self.constraints, self.waiting)
        if self.bye == "fair":
            picking.choose_bye(rng)
        count = compiled(self.formula)
        active = len(pairing_pass.candidates)
        counts: dict[int, int] = {}

        def choose(avail: int, _above: int) -> int:
            n = counts[avail] = count(avail, active)
            return best_of(avail, n, rng)

        picks = picking.run(choose)

        def explain(pick: Pick) -> tuple[str, dict[str, Any]]:
            n = counts[pick.avail]
            detail = {"formula": self.formula, "avail": pick.avail, "n": n}
            one, other = who(picking.ranked[pick.one]), who(picking.ranked[pick.other])
            below = " below it" if pick.top else ""
            if pick.avail == 1:
                return f"{one} met the only opponent it could: {other}.", detail
            if n == 1:
                return f"{one} drew 1 of {pick.avail} opponents{below}: {other}.", detail
            return f"{one} drew {n} of {pick.avail} opponents{below} and met the strongest of them, {other}.", detail

        return paired(picking, picks, explain)


def best_of(avail: int, n: int, rng: Rng) -> int:
    """The best place, from 0, among `n` different ones of `avail`, every set of them equally likely.

    They need not be drawn one by one: none of the k best is among them with probability C(avail - k, n) / C(avail, n),
    and one uniform number is followed down these until it is reached. Where n is so small that this takes longer, they
    are drawn after all. Nothing but quotients and products, so that it comes out alike on every machine.
    """
    if n * n < avail:
        return int(rng.random() * avail) if n == 1 else sample(avail, n, rng)[0]
    u = rng.random()
    rest, beyond = avail, (avail - n) / avail
    while u < beyond:
        rest -= 1
        beyond *= (rest - n) / rest
    return avail - rest


def sample(size: int, n: int, rng: Rng) -> list[int]:
    """`n` different numbers of ``range(size)``, every set equally likely, ascending; draws `n` times.

    R. W. Floyd's method (Bentley and Floyd, "A sample of brilliance", CACM 30(9), 1987).
    """
    chosen: set[int] = set()
    for top in range(size - n, size):
        at = int(rng.random() * (top + 1))
        chosen.add(top if at in chosen else at)
    return sorted(chosen)


METHOD: Final = MatchmakerDeclaration(
    name="birk",
    about="one after the other draws an opponent among its nearest neighbors, as Birk's CGOS does",
    make=Birk,
    options={
        "formula": Formula(
            default="fifth",
            meaning="how many candidates are drawn: `half`, `fifth`, `sqrt`, `one`, or an expression of `avail`, the "
            "number of others, such as `1 + avail // 3`",
        ),
        "bye": Choice(
            BYES,
            default="fair",
            meaning="who sits out of an odd number: `fair` takes turns, `natural` takes whoever is left over",
        ),
    },
)
