"""Has an event's next games computed: at once where its field is small, else in a child, as the solver lets nobody else
compute meanwhile.

Must not know: where events come from, what becomes of the games.
"""

from __future__ import annotations

from functools import partial
from typing import Final, Protocol, TypeAlias

import msgspec

from cgos_protocol.errors import OurFault, Refused
from cgos_server.live.processes.children import Child, ChildFailed
from cgos_server.tournaments.base import Event, Round
from cgos_server.tournaments.tournament import ready_games

MOST_INLINE = 12
"""Entrants up to which games are computed in the event loop: some milliseconds."""

LIMIT_S = 300.0
"""What takes longer is given up, with the child; the event is paused then."""

Rounds: TypeAlias = tuple[Round, ...]

_EVENTS: Final = msgspec.json.Decoder(Event)
_ROUNDS: Final = msgspec.json.Decoder(Rounds)


class EventPairer(Protocol):
    """Whoever computes what could begin."""

    async def ready(self, event: Event) -> tuple[Round, ...] | Refused:
        """What could begin now, or why nothing can. Raises OurFault where that failed."""


class EventPairing:
    """Computes it itself for small fields and gives the others to its child."""

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._child = Child("event-pairing")
        self._limit_s = limit_s

    def close(self) -> None:
        """End whatever it computes."""
        self._child.close()

    async def ready(self, event: Event) -> tuple[Round, ...] | Refused:
        """See :class:`EventPairer`."""
        if len(event.entrants) <= MOST_INLINE:
            return ready(event)
        try:
            # As JSON: to pickle hundreds of games holds the interpreter for much longer.
            answer = await self._child.do(partial(_ready_json, msgspec.json.encode(event)), self._limit_s)
        except ChildFailed as error:
            raise OurFault(f"The pairing of {event.name} {error}") from error
        return answer if isinstance(answer, Refused) else _ROUNDS.decode(answer)


def ready(event: Event) -> tuple[Round, ...] | Refused:
    """What could begin now, or why nothing can."""
    try:
        return ready_games(event)
    except Refused as refusal:
        return refusal


def _ready_json(event: bytes) -> bytes | Refused:
    rounds = ready(_EVENTS.decode(event))
    return rounds if isinstance(rounds, Refused) else msgspec.json.encode(rounds)
