"""Lots that a test has written down."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cgos_server.tournaments.base import Floats, Ints


class Scripted:
    """A Chance that gives what was written for (purpose, *keys), and fails for anything else."""

    def __init__(self, draws: Mapping[tuple[str | int, ...], float]) -> None:
        self.draws = dict(draws)

    def unit(self, purpose: str, *keys: int) -> float:
        return self.draws[(purpose, *keys)]

    def units(self, purpose: str, first: Ints, second: Ints) -> Floats:
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return np.array([self.unit(purpose, a, b) for a, b in pairs], dtype=np.float64)
