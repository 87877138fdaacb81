"""Who plays, as the pages reach it: one server, or the nodes of a cluster. Must not know: pages, what commands do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final, Protocol, TypeVar

from cgos_protocol.errors import Code, Unavailable
from cgos_protocol.facts import AnyFact
from cgos_server.service.commands.registry import Call
from cgos_server.service.nodes.transcripts import NoTranscripts, OwnTranscripts, Transcripts
from cgos_server.storage.reading.history import History
from cgos_server.web.people.deliveries import Deliveries

A = TypeVar("A")

AWAY: Final = "The server that plays does not answer just now. Please try again in a minute."


class Server(Protocol):
    """The way to it. Every call raises Refused (``no-server`` where nobody answers) and OurFault.

    :ivar transcripts: what bots and the server said to each other
    """

    @property
    def transcripts(self) -> Transcripts: ...

    async def call(self, line: bytes) -> bytes:
        """The answer to a command of whoever can perform it."""

    async def here(self, line: bytes) -> bytes:
        """The answer to a command about the process beside these pages."""

    async def everywhere(self, line: bytes) -> Sequence[bytes]:
        """The answers of all that play, one at least."""

    def deliveries(self, history: History, now_ms: Callable[[], int], /) -> Deliveries:
        """What became of webhooks' messages."""

    async def hear(self, heard: Callable[[AnyFact | None], None], /) -> None:
        """Tell `heard` what happens, where this is the way on which it comes; None where something may be missing."""


async def for_visitors(asking: Awaitable[A]) -> A:
    """What `asking` brings; where nobody answers without the directories and addresses that operators are told."""
    try:
        return await asking
    except Unavailable as refusal:
        if refusal.code is Code.NO_SERVER:
            raise Unavailable(Code.NO_SERVER, AWAY) from refusal
        raise


class OneServer:
    """A server that is alone.

    :param call: asks it at its control socket; None where there is none to ask
    :param data: its data directory; None where there is none
    """

    def __init__(self, call: Call | None = None, data: Path | None = None) -> None:
        self._call = call
        self._data = data
        self.transcripts: Transcripts = NoTranscripts() if data is None else OwnTranscripts(data)

    async def call(self, line: bytes) -> bytes:
        if self._call is None:
            raise Unavailable(Code.NO_SERVER, AWAY)
        return await for_visitors(self._call(line))

    async def here(self, line: bytes) -> bytes:
        return await self.call(line)

    async def everywhere(self, line: bytes) -> Sequence[bytes]:
        return [await self.call(line)]

    def deliveries(self, _history: History, now_ms: Callable[[], int], /) -> Deliveries:
        return Deliveries(self._data, now_ms)

    async def hear(self, _heard: Callable[[AnyFact | None], None], /) -> None:
        """Whoever serves the pages is told by the server itself."""
