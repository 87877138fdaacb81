"""The small interface by which use cases drive the events of the live server.

Must not know: how events go on, sockets.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Protocol

from cgos_protocol.errors import Code, Unavailable
from cgos_protocol.ids import BotId, VersionId
from cgos_server.tournaments.running.log import Said
from cgos_server.tournaments.running.settings import EventSettings
from cgos_server.tournaments.running.state import EventState


class EventDesk(Protocol):
    """What use cases may ask of the live events. Names are those of events that are not over, or are at hand again."""

    def announce(self, settings: EventSettings, actor: str) -> EventState:
        """A new event. Raises Refused where it cannot be."""

    def is_rated(self, settings: EventSettings) -> bool:
        """Whether the games of an event announced so would count for the ratings of its venue. Raises Refused where its
        venue cannot hold it."""

    def state(self, name: str) -> EventState:
        """Where an event stands. Raises Refused (``no-event``)."""

    async def reopen(self, name: str) -> EventState:
        """As :meth:`state`, of an event that is over too: from then on it is at hand, so that its results can be ruled.
        Raises Refused (``no-event``)."""

    def say(self, name: str, said: Said, actor: str) -> EventState:
        """Write an entry of its log, and do what follows from it. Raises Refused where it cannot be; nothing is changed
        then."""

    def leave(self, bots: Collection[BotId]) -> None:
        """Have these bots withdraw from whatever they have entered and is not over."""

    async def read_again(self) -> None:
        """Names in the logs were replaced: have all events as their logs say."""

    def rating(self, venue: str, version: VersionId) -> float | None:
        """Of a version in a venue, Elo; None where it has none yet."""


class _NoEvents:
    """Of a server that has not read its events yet."""

    def announce(self, settings: EventSettings, actor: str) -> EventState:  # noqa: ARG002
        raise self._not_yet()

    def is_rated(self, settings: EventSettings) -> bool:  # noqa: ARG002
        raise self._not_yet()

    def state(self, name: str) -> EventState:  # noqa: ARG002
        raise self._not_yet()

    async def reopen(self, name: str) -> EventState:  # noqa: ARG002
        raise self._not_yet()

    def say(self, name: str, said: Said, actor: str) -> EventState:  # noqa: ARG002
        raise self._not_yet()

    def leave(self, bots: Collection[BotId]) -> None:  # noqa: ARG002
        raise self._not_yet()

    async def read_again(self) -> None:
        raise self._not_yet()

    def rating(self, venue: str, version: VersionId) -> float | None:  # noqa: ARG002
        return None

    def _not_yet(self) -> Unavailable:
        return Unavailable(Code.STARTING, "The server is starting. Ask again in a moment.", 1)


NO_EVENTS: Final[EventDesk] = _NoEvents()
