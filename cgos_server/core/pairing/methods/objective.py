"""What a method that pairs by an objective must be able to say: what each game of a round would be worth.

Must not know: how the pairs are chosen, constraints, waiting.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import Floats, Ints, PairingPass


class Worths(Protocol):
    """An objective looking at one pass."""

    def of(self, i: Ints, j: Ints) -> Floats:
        """(m,) what a game of each pair is worth: 0 or more, at most about 1, which is a whole bit or as good as one.
        `i` and `j`, of one length, are places in ``pairing_pass.candidates``; worth is symmetric."""

    def say(self, i: int, j: int) -> str:
        """In words why this pair is worth what it is, without a full stop: ``0.98 bit, expected score 0.58``."""


class Objective(Protocol):
    """A measure of what a round is good for."""

    @property
    def name(self) -> str:
        """The word in configuration."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Its own options, JSON values."""

    def look(self, pairing_pass: PairingPass, rng: Rng) -> Worths:
        """Look at a pass; whatever chance takes part in is drawn here."""
