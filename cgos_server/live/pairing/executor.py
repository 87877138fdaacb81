"""Has a pairing pass decided: at once where the candidates are few, else in a child, as the solver lets nobody else
compute meanwhile.

Must not know: where candidates come from, what becomes of the pairs.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol

from cgos_protocol.errors import OurFault
from cgos_server.core.pairing.base import Pairing, PairingPass
from cgos_server.core.pairing.explain import encode_inputs, rounded
from cgos_server.core.pairing.registry import decide as decided_by
from cgos_server.core.pairing.registry import matchmaker, matchmakers
from cgos_server.live.processes.children import Child, ChildFailed

MOST_INLINE = 32
"""Candidates up to which a pass is decided in the event loop: some milliseconds."""

LIMIT_S = 20.0
"""A decision that takes longer is given up, with the child, and those whom it was about are free for the next pass."""


class Decided(NamedTuple):
    """A decision, and what it was made from as it is recorded: empty where it pairs nobody, which is no round."""

    pairing: Pairing
    inputs: str


class PairingExecutor(Protocol):
    """Whoever decides pairing passes."""

    async def decide(self, method: str, options: Mapping[str, Any], pairing_pass: PairingPass, seed: int) -> Decided:
        """Decide it. Raises OurFault where that failed."""


def decide(method: str, options: Mapping[str, Any], pairing_pass: PairingPass, seed: int) -> Decided:
    """Decide a pass here and now, from exactly what its record will hold."""
    pairing_pass = rounded(pairing_pass)
    pairing = decided_by(matchmaker(method, options), pairing_pass, random.Random(seed))
    return Decided(pairing, encode_inputs(pairing_pass, matchmakers().origin(method)) if pairing.pairs else "")


class PairingProcess:
    """Decides small passes itself and gives the others to its child."""

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._child = Child("pairing")
        self._limit_s = limit_s

    def close(self) -> None:
        """End whatever it computes."""
        self._child.close()

    async def decide(self, method: str, options: Mapping[str, Any], pairing_pass: PairingPass, seed: int) -> Decided:
        """See :class:`PairingExecutor`."""
        if len(pairing_pass.candidates) <= MOST_INLINE:
            return decide(method, options, pairing_pass, seed)
        try:
            return await self._child.do(
                partial(decide, method, dict(options), pairing_pass=pairing_pass, seed=seed), self._limit_s
            )
        except ChildFailed as error:
            raise OurFault(f"A pairing pass {error}") from error
