"""Brings a connection's bot into several venues at once: one check of its password, all venues or none.

Must not know: wire formats, what happens in a lobby.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from contextlib import ExitStack
from typing import Any

from cgos_protocol.errors import Code, Invalid
from cgos_protocol.session import Credentials, PlayerSession, Wish
from cgos_server.net.loop import Timekeeper
from cgos_server.runtime.admission import Admission, admit, presumed_name
from cgos_server.runtime.lobby import Lobby
from cgos_server.runtime.player import Capacity
from cgos_server.service.accounts import Accounts, Operator


class HouseConcierge:
    """The :class:`~cgos_protocol.session.Concierge` of the server."""

    def __init__(
        self,
        lobbies: Mapping[str, Lobby],
        accounts: Accounts,
        time: Timekeeper,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._lobbies = lobbies
        self._accounts = accounts
        self._time = time
        self._spawn = spawn

    def sign_in(self, sessions: Mapping[str, PlayerSession], credentials: Credentials, wish: Wish) -> None:
        """See :class:`~cgos_protocol.session.Concierge`. `sessions` holds at least one."""
        asked = self._time.received()
        first, session = next(iter(sessions.items()))
        unknown = [venue for venue in sessions if venue not in self._lobbies]
        if unknown:
            names = ", ".join(self._lobbies)
            session.refused(Code.NO_VENUE, f"There is no venue {unknown[0]} here. The venues are: {names}.")
            return
        lobby = self._lobbies[first]
        self._spawn(lobby.receive(session, credentials, lambda: self._enter(sessions, credentials, wish, asked)))

    async def _enter(
        self, sessions: Mapping[str, PlayerSession], credentials: Credentials, wish: Wish, asked: int
    ) -> bool:
        places = [(self._lobbies[venue], session) for venue, session in sessions.items()]
        with ExitStack() as on_the_way:
            for lobby, _ in places:
                on_the_way.enter_context(lobby.expected.expecting(presumed_name(credentials), asked))
            signed = await self._accounts.sign_in(credentials)
            if isinstance(signed, Operator):
                raise Invalid(
                    Code.OPERATOR,
                    f"{signed.name} is an operator's account: use the command line, or a venue's CGOS port.",
                )
            if not all(session.alive for session in sessions.values()):
                return False
            await admit(
                places,
                Admission(
                    credentials=credentials, signed=signed, asked=asked, capacity=Capacity(wish.slots), wish=wish
                ),
            )
        return signed.new
