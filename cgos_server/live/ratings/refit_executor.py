"""Has refits computed in two children, one for the short ones and one for the long, so that the short ones never wait
for the long; and ranks in a third one, so that no refit waits for them.

Must not know: venues, when a refit is due, what becomes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from cgos_protocol.errors import OurFault
from cgos_server.core.rating.base import Fit, Refitting
from cgos_server.core.rating.ranks import Ranks
from cgos_server.live.processes.children import COMMAND, Child, ChildFailed

LIMIT_S = 900.0
"""A refit that takes longer is given up, with the child."""


class FitFailed(OurFault):
    """A refit, or the ranks after one, could not be computed; the ratings go on without."""


class RefitExecutor(Protocol):
    """Whoever computes refits, and the ranks that follow from them."""

    async def refit(self, system: Refitting, job: Any, cold: bool) -> Fit:
        """Compute it. Raises FitFailed."""

    async def ranks(self, task: Callable[[], Ranks]) -> Ranks:
        """What it returns; it can be pickled. Raises FitFailed."""


class FitProcesses:
    """The children."""

    def __init__(self, command: Sequence[str] = COMMAND, limit_s: float = LIMIT_S) -> None:
        self._warm, self._cold, self._ranks = (Child(name, command) for name in ("warm-refit", "cold-refit", "ranks"))
        self._limit_s = limit_s

    def close(self) -> None:
        """End whatever it computes."""
        self._warm.close()
        self._cold.close()
        self._ranks.close()

    async def refit(self, system: Refitting, job: Any, cold: bool) -> Fit:
        """See :class:`RefitExecutor`."""
        child = self._cold if cold else self._warm
        try:
            return await child.do(partial(system.refit, job), self._limit_s)
        except ChildFailed as error:
            raise FitFailed(f"a refit {error}") from error

    async def ranks(self, task: Callable[[], Ranks]) -> Ranks:
        """See :class:`RefitExecutor`."""
        try:
            return await self._ranks.do(task, self._limit_s)
        except ChildFailed as error:
            raise FitFailed(f"ranks {error}") from error
