"""Pairs that were settled before anybody asked: the second games of openings, one with two, three with four.

A matchmaker like any other, so that such a round is recorded and explained like any other. Must not know: who owes whom
a game.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import Pair, Pairing, PairingPass

SECOND_GAMES = "second-games"


class AsListed:
    """The candidates stand in the order of their pairs."""

    @property
    def name(self) -> str:
        return SECOND_GAMES

    @property
    def options(self) -> Mapping[str, Any]:
        return {}

    def pair(self, pairing_pass: PairingPass, rng: Rng) -> Pairing:  # noqa: ARG002 - nothing is left to chance
        """The first with the second, the third with the fourth; an odd one out sits out."""
        pairs: list[Pair] = []
        listed = list(pairing_pass.candidates)
        while len(listed) > 1:
            one, other = listed.pop(0), listed.pop(0)
            high, low = sorted((one, other), key=lambda candidate: (-candidate.rating, candidate.id))
            pairs.append(Pair(high.id, low.id, f"{one.name} and {other.name} play their second game of an opening."))
        return Pairing(pairs=pairs, sits_out={left.id: f"{left.name} has no second game to play." for left in listed})
