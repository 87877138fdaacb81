"""Methods that put the versions in a row and pair neighbors: by rating, by rating and chance, by chance alone.

Decides the row. Must not know: who may be picked, storage, sessions, colors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from cgos_protocol.options import Number
from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import Candidate, Floats, Ints, MatchmakerDeclaration, Pairing, PairingPass
from cgos_server.core.pairing.constraints import Constraints
from cgos_server.core.pairing.methods.picking import Pick, Picking, paired
from cgos_server.core.pairing.ranking import by_rating, who
from cgos_server.core.pairing.rolling import Waiting
from cgos_server.core.pairing.shared_options import flat

ORDERS = ("permuted", "adjacent", "random")

LEAST_WINDOW = 500.0
"""Elo; and with so few versions that nobody has a 4th neighbor, FEW_WINDOW."""
FEW_WINDOW = 3000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbors:
    """The method called `order`.

    ``adjacent``: in the order of the ratings. ``random``: in an order drawn by lot. ``permuted``: in the order of the
    ratings after a uniform random number from 0 to the width of the window was added to each, as the CGOS server of
    zakki does it.

    The first in the row meets the next one that it may meet, and so on. With an odd number one is set aside as in
    Birk's method with its fair bye.

    :ivar window: for ``permuted``: width in Elo; 0: zakki's rule, see :func:`width`
    """

    order: str = "adjacent"
    window: float = 0.0
    constraints: Constraints = Constraints()  # noqa: RUF009 - a constant
    waiting: Waiting = Waiting()  # noqa: RUF009 - a constant

    @property
    def name(self) -> str:
        return self.order

    @property
    def options(self) -> Mapping[str, Any]:
        own = {"window": self.window} if self.order == "permuted" else {}
        return {**own, **flat(self.constraints, self.waiting)}

    def pair(self, pairing_pass: PairingPass, rng: Rng) -> Pairing:
        """Pair the candidates along the row; the order in which they come in `pairing_pass` does not matter."""
        row, detail = self._row(pairing_pass.candidates, rng)
        picking = Picking(pairing_pass, row, self.constraints, self.waiting)
        picking.choose_bye(rng)
        picks = picking.run(lambda avail, above: min(above, avail - 1))

        def explain(pick: Pick) -> tuple[str, dict[str, Any]]:
            one, other = who(picking.ranked[pick.one]), who(picking.ranked[pick.other])
            return f"{one} met {self._next_one(detail)}, {other}.", {"avail": pick.avail, **detail}

        return paired(picking, picks, explain)

    def _row(self, candidates: Sequence[Candidate], rng: Rng) -> tuple[Ints, dict[str, Any]]:
        """The places in the order in which they pick, and what there is to tell about it."""
        ranked = by_rating(candidates)
        if self.order == "adjacent":
            return ranked, {}
        if self.order == "random":
            return ranked[_shuffled(len(ranked), rng)], {}
        ratings = np.array([candidates[place].rating for place in ranked.tolist()])
        reach = self.window or width(ratings)
        drawn = ratings + reach * np.array([rng.random() for _ in range(len(ratings))])
        return ranked[np.argsort(-drawn, kind="stable")], {"window": round(reach, 1)}

    def _next_one(self, detail: Mapping[str, Any]) -> str:
        if self.order == "adjacent":
            return "the next one in the order of the ratings"
        if self.order == "random":
            return "the next one in an order drawn by lot"
        return f"the next one after up to {detail['window']:.0f} Elo, drawn by lot, had been added to each rating"


def width(ratings: Floats) -> float:
    """The window of zakki's CGOS server, Elo: 1.5 times the largest gap between a version and the 4th after it, and no
    less than LEAST_WINDOW.

    :param ratings: (n,) in any order
    """
    ranked = np.sort(ratings)
    return max(LEAST_WINDOW, 1.5 * float(np.max(ranked[4:] - ranked[:-4]))) if len(ranked) > 4 else FEW_WINDOW


def _shuffled(n: int, rng: Rng) -> list[int]:
    """0 to n - 1 in a random order, every order equally likely (Fisher and Yates; Durstenfeld 1964)."""
    order = list(range(n))
    for last in range(n - 1, 0, -1):
        at = int(rng.random() * (last + 1))
        order[last], order[at] = order[at], order[last]
    return order


PERMUTED: Final = MatchmakerDeclaration(
    name="permuted",
    about="neighbors in a slightly shuffled ranking meet, as on the first CGOS",
    make=partial(Neighbors, order="permuted"),
    options={"window": Number(0.0, 100_000.0, default=0.0, meaning="width of the window, Elo; 0: as CGOS chooses it")},
)

ADJACENT: Final = MatchmakerDeclaration(
    name="adjacent", about="neighbors in the ranking meet", make=partial(Neighbors, order="adjacent")
)

RANDOM: Final = MatchmakerDeclaration(
    name="random", about="anybody meets anybody", make=partial(Neighbors, order="random")
)
