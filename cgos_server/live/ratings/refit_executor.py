"""Has refits computed in two children, one for the short ones and one for the long, so that the short ones never wait
for the long.

Must not know: venues, when a refit is due, what becomes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

from cgos_protocol.errors import OurFault
from cgos_server.core.rating.base import Fit, Refitting
from cgos_server.live.processes.children import COMMAND, Child, ChildFailed

LIMIT_S = 900.0
"""A refit that takes longer is given up, with the child."""


class FitFailed(OurFault):
    """A refit could not be computed; the ratings go on without it."""


class RefitExecutor(Protocol):
    """Whoever computes refits."""

    async def refit(self, system: Refitting, job: Any, cold: bool) -> Fit:
        """Compute it. Raises FitFailed."""


class FitProcesses:
    """The children."""

    def __init__(self, command: Sequence[str] = COMMAND, limit_s: float = LIMIT_S) -> None:
        self._warm, self._cold = (Child(name, command) for name in ("warm-refit", "cold-refit"))
        self._limit_s = limit_s

    def close(self) -> None:
        """End whatever it computes."""
        self._warm.close()
        self._cold.close()

    async def refit(self, system: Refitting, job: Any, cold: bool) -> Fit:
        """See :class:`RefitExecutor`."""
        child = self._cold if cold else self._warm
        try:
            return await child.do(partial(system.refit, job), self._limit_s)
        except ChildFailed as error:
            raise FitFailed(f"a refit {error}") from error
