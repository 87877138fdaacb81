"""Two connections, one name: which of them stays? Asked after the right password, never before.

A connection that still answers stays, and the newcomer is told so; a dead one gives way. One that answers at TCP level
but owes a word for a minute gives way too, and so does one behind a proxy that has been silent for a minute: there TCP
says nothing about the bot. Must not know: wire formats, what the bots play.
"""

from __future__ import annotations

from collections import OrderedDict

from cgos_protocol.errors import Code, Conflict, Refused
from cgos_protocol.ids import VersionId
from cgos_protocol.session import PlayerSession
from cgos_server.live.venue.player import Player
from cgos_server.net.loop import Timekeeper
from cgos_server.service.holds import Hold

PATIENCE_US = 60_000_000
"""How long an answer may be overdue, or a proxied connection silent, before it gives way."""

FIRST_PAUSE_US = 5_000_000
LONGEST_PAUSE_US = 320_000_000
_REMEMBERED = 10_000


class _Attempts:
    """Refused attempts of one address under one name."""

    __slots__ = ("pause", "until")

    def __init__(self) -> None:
        self.pause = 0
        self.until = 0


class DuplicateLogin:
    """One a venue.

    :param ready_limit: microseconds that a bot has for `ready`
    """

    def __init__(self, time: Timekeeper, ready_limit: int) -> None:
        self._time = time
        self._ready_limit = ready_limit
        self._attempts: OrderedDict[tuple[VersionId, str], _Attempts] = OrderedDict()

    def overdue(self, player: Player, session: PlayerSession) -> bool:
        """True where the connection has owed a word, or anything at all, for too long."""
        now = self._time.now()
        if player.has(Hold.OWES_READY) and now > player.since + self._ready_limit + PATIENCE_US:
            return True
        # By WebSocket a library answers pings for a bot that hangs: only what the bot itself says counts (PlayerSeat).
        silent = not session.says_ready or session.heard_at <= player.flagged
        if player.flagged and silent and now > player.flagged + PATIENCE_US:
            return True
        return session.proxied and now > session.heard_at + PATIENCE_US

    async def settle(self, player: Player, address: str) -> None:
        """Return where the connection of `player` must give way to a newcomer from `address`.

        :raises Refused: where it stays, and where the newcomer asks again too soon
        """
        session = player.session
        if session is None or not session.alive:
            return
        attempts = self._remembered(player.version, address)
        now = self._time.now()
        if now < attempts.until:
            raise _stays(player.name, attempts.until - now)
        if self.overdue(player, session):
            return
        answered = await session.answers("Another sign-in with your name is being attempted.")
        if answered and player.session is session and session.alive:
            attempts.pause = min(LONGEST_PAUSE_US, 2 * attempts.pause or FIRST_PAUSE_US)
            attempts.until = self._time.now() + attempts.pause
            raise _stays(player.name, attempts.pause)

    def settled(self, version: VersionId, address: str) -> None:
        """That address is in: nothing is held against it."""
        self._attempts.pop((version, address), None)

    def _remembered(self, version: VersionId, address: str) -> _Attempts:
        attempts = self._attempts.setdefault((version, address), _Attempts())
        self._attempts.move_to_end((version, address))
        if len(self._attempts) > _REMEMBERED:
            self._attempts.popitem(last=False)
        if attempts.until and self._time.now() > attempts.until + LONGEST_PAUSE_US:
            attempts.pause = 0
        return attempts


def _stays(name: str, wait: int) -> Refused:
    seconds = max(1, -(-wait // 1_000_000))
    return Conflict(
        Code.ALREADY_HERE,
        f"{name} is signed in here already, and that connection answers. Stop the other client first, or sign in under "
        f"another name; your next attempt is looked at in {seconds} s.",
        float(seconds),
    )
