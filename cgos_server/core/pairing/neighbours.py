"""To be written."""
from __future__ import annotations
from dataclasses import dataclass
from cgos_server.core.pairing.constraints import Constraints
from cgos_server.core.pairing.rolling import Waiting
from cgos_server.core.pairing.base import Act, Rng, Pairing
from typing import Any
from collections.abc import Mapping
ORDERS = ("permuted", "adjacent", "random")


@dataclass(frozen=True, slots=True)
class Neighbours:
    order: str = "adjacent"
    window: float = 0.0
    constraints: Constraints = Constraints()
    waiting: Waiting = Waiting()

    @property
    def name(self) -> str:
        return self.order

    @property
    def options(self) -> Mapping[str, Any]:
        return {}

    def pair(self, act: Act, rng: Rng) -> Pairing:
        raise NotImplementedError
