"""Has an act of pairing decided: at once where the candidates are few, else in a child, as the solver lets nobody else
compute meanwhile.

Must not know: where candidates come from, what becomes of the pairs.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Protocol

import numpy as np

from cgos_server.core.pairing.base import Act, Ints, Meeting, Pairing
from cgos_server.core.pairing.explain import encode_inputs, rounded
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.errors import OurFault
from cgos_server.runtime.children import Child, ChildFailed

MOST_INLINE = 64
"""Candidates up to which an act is decided in the event loop: some milliseconds."""

LIMIT_S = 60.0
"""A decision that takes longer is given up, with the child."""


_PACKED = 1_000
"""Meetings packed before the loop gets a turn."""


class Decided(NamedTuple):
    """A decision, and what it was made from as it is recorded."""

    pairing: Pairing
    inputs: str


class Deciding(Protocol):
    """Whoever decides acts of pairing."""

    async def decide(self, method: str, options: Mapping[str, Any], act: Act, seed: int) -> Decided:
        """Decide it. Raises OurFault where that failed."""


def decide(method: str, options: Mapping[str, Any], act: Act, seed: int) -> Decided:
    """Decide an act here and now, from exactly what its record will hold."""
    act = rounded(act)
    return Decided(matchmaker(method, options).pair(act, random.Random(seed)), encode_inputs(act))


def _decide_there(method: str, options: Mapping[str, Any], act: Act, meetings: Ints, seed: int) -> Decided:
    """As :func:`decide`, in the child: the meetings came in a form that costs the game process nothing to send."""
    return decide(method, options, replace(act, meetings=[Meeting(*row) for row in meetings.tolist()]), seed)


async def _packed(act: Act) -> Ints:
    """The meetings as rows of an array. Among a thousand versions there are tens of thousands: a slice at a time."""
    parts = [np.zeros((0, len(Meeting._fields)), np.int64)]
    for start in range(0, len(act.meetings), _PACKED):
        parts.append(np.array(act.meetings[start : start + _PACKED], np.int64))
        await asyncio.sleep(0)
    return np.concatenate(parts)


class PairingProcess:
    """Decides small acts itself and gives the others to its child. Use it as a context manager."""

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._child = Child("pairing", 0)
        self._limit_s = limit_s

    def __enter__(self) -> PairingProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.close()

    async def decide(self, method: str, options: Mapping[str, Any], act: Act, seed: int) -> Decided:
        """See :class:`Deciding`."""
        if len(act.candidates) <= MOST_INLINE:
            return decide(method, options, act, seed)
        task = partial(_decide_there, method, dict(options), replace(act, meetings=()), await _packed(act), seed)
        try:
            return await self._child.do(task, self._limit_s)
        except ChildFailed as error:
            raise OurFault(f"An act of pairing {error}") from error
