"""What a lobby asks of the events: who plays in which, and what a bot wants of one.

Must not know: how events go on, wire formats.
"""

from __future__ import annotations

from typing import Final, Protocol

from cgos_protocol.errors import Code
from cgos_protocol.event_news import EventWish
from cgos_protocol.session import PlayerSession
from cgos_server.live.venue.player import Player


class EventDoor(Protocol):
    """The events, as the lobbies of the venues see them. One a server."""

    def arrived(self, venue: str, player: Player) -> None:
        """A bot has signed in to a venue: tell it where it stands in the events of that venue that are coming or on."""

    def wish(self, player: Player, session: PlayerSession, wish: EventWish, event: str) -> None:
        """A bot wants something of an event; see :meth:`cgos_protocol.session.Seat.event`."""


class _NoEvents:
    """Of a server that has not read its events yet."""

    def arrived(self, venue: str, player: Player) -> None: ...

    def wish(self, player: Player, session: PlayerSession, wish: EventWish, event: str) -> None:  # noqa: ARG002
        session.event_refused(event, Code.NO_EVENT, f"There is no event {event} that is coming or on.")


NO_EVENTS: Final[EventDoor] = _NoEvents()
