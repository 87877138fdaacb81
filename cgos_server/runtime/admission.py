"""How a bot whose password was right comes in: looked at everywhere first, then seated everywhere at once.

Also knows who is on the way in, so that no flag falls while the server makes a bot wait. Must not know: passwords, wire
formats, what happens in a game.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol

from cgos_protocol.errors import Refused
from cgos_protocol.session import Credentials, Declaration, PlayerSession, Wish
from cgos_server.runtime.player import Capacity
from cgos_server.service.accounts import SignedIn
from cgos_server.storage.reading.stored import StoredGame


@dataclass(frozen=True, slots=True)
class Admission:
    """A bot that may come in.

    :ivar asked: when it asked to (microseconds): from then on the check of its password was our time
    :ivar capacity: shared by all venues of its connection
    """

    credentials: Credentials
    signed: SignedIn
    asked: int
    capacity: Capacity
    wish: Wish


class Expected:
    """Who asked to come in and has no answer yet, by wire name. One a venue."""

    def __init__(self) -> None:
        self._asked: dict[str, list[int]] = {}

    @contextmanager
    def expecting(self, name: str, asked: int) -> Iterator[None]:
        """Until the end of the block the bot that plays as `name`, and asked for it at `asked`, is on the way in."""
        instants = self._asked.setdefault(name, [])
        instants.append(asked)
        try:
            yield
        finally:
            instants.remove(asked)
            if not instants:
                del self._asked[name]

    def since_before(self, name: str, instant: int) -> bool:
        """True where somebody who plays as `name` has been on the way in since before `instant`."""
        return any(asked <= instant for asked in self._asked.get(name, ()))


def presumed_name(credentials: Credentials) -> str:
    """The wire name under which these credentials most likely play; sure only after their check."""
    declared: Declaration = credentials.declared
    return declared.wire_name or (f"{credentials.name}-{declared.label}" if declared.label else credentials.name)


class Admitting(Protocol):
    """What a venue does to let a bot in."""

    def arriving(self, admission: Admission) -> AbstractContextManager[None]:
        """Keep the version's place until the end of the block. Raises Refused where it is kept already."""

    async def make_room(self, admission: Admission) -> None:
        """Have a connection of the version that is there already give way. Raises Refused where it stays."""

    async def enroll(self, session: PlayerSession, admission: Admission) -> None:
        """Write the arrival down. Raises StoreError."""

    def running(self, version: int) -> frozenset[int]:
        """The games that the version plays, or is away from."""

    async def untold(self, version: int, session: PlayerSession) -> list[StoredGame]:
        """The games whose end the version was not surely told. Raises StoreError."""

    def seat(self, session: PlayerSession, admission: Admission, untold: Sequence[StoredGame]) -> None:
        """Bring the bot to its running games, and tell it what it missed."""

    def turned_away(self, session: PlayerSession) -> None:
        """Its arrival was written down, and it does not come in."""


async def admit(places: Sequence[tuple[Admitting, PlayerSession]], admission: Admission) -> None:
    """Seat a bot in all of these lobbies or none; the sessions are one connection's.

    Nobody is seated before all has been looked at: nothing begins in one venue while the bot waits for another. Where
    one lobby refuses, its session is told so.

    :raises Refused: where another connection of the bot stays
    :raises StoreError: where the database does not answer
    """
    enrolled: list[tuple[Admitting, PlayerSession]] = []
    with ExitStack() as arriving:
        try:
            for lobby, session in places:
                try:
                    arriving.enter_context(lobby.arriving(admission))
                    await lobby.make_room(admission)
                except Refused as refusal:
                    session.refused(refusal.code, refusal.sentence, refusal.retry_after_s)
                    raise
            for lobby, session in places:
                enrolled.append((lobby, session))
                await lobby.enroll(session, admission)
            untold = await _untold(places, admission.signed.version_id)
            if all(session.alive for _, session in places):
                enrolled.clear()
                for lobby, session in places:
                    lobby.seat(session, admission, untold[lobby])
        finally:
            for lobby, session in enrolled:
                lobby.turned_away(session)


async def _untold(places: Sequence[tuple[Admitting, PlayerSession]], version: int) -> dict[Admitting, list[StoredGame]]:
    """By lobby: the ended games of which the version is to be told.

    A lobby is asked again where a game ended meanwhile: its end may have been committed too late for the answer.
    """
    untold: dict[Admitting, list[StoredGame]] = {}
    running: dict[Admitting, frozenset[int]] = {}
    while missing := [place for place in places if place[0] not in untold]:
        for lobby, session in missing:
            running[lobby] = lobby.running(version)
            untold[lobby] = await lobby.untold(version, session)
        for lobby, _ in places:
            if running[lobby] - lobby.running(version):
                del untold[lobby]
    return untold
