"""How much a bot and its owner allow, in one venue: games begun within a day, and the hours at which they begin.

What both allow is in force. Counts, looks at the clock, and tells the bot. Must not know: who owns a bot, how wishes
are kept, pairs, wire formats, SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

import structlog

from cgos_protocol.errors import StoreError
from cgos_protocol.hours import ALWAYS, notice
from cgos_protocol.session import Limits
from cgos_server.net.loop import Timekeeper
from cgos_server.runtime.player import Player, stricter
from cgos_server.storage.store import Store

log = structlog.get_logger(__name__)

DAY_MS: Final = 86_400_000
RECOUNT_US: Final = 600_000_000
"""A bot at its daily limit is looked at again after so long."""

HOURS_BEGIN: Final = "Your hours have begun: you get games again."


class Allowances:
    """One a lobby.

    :param spawn: starts a coroutine in the server's task group
    :param stir: told that what a bot does has changed
    """

    def __init__(
        self,
        venue_id: int,
        venue: str,
        store: Store,
        time: Timekeeper,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        stir: Callable[[Player], None],
    ) -> None:
        self._venue_id = venue_id
        self._venue = venue
        self._store = store
        self._time = time
        self._spawn = spawn
        self._stir = stir

    def seated(self, player: Player, declared: Limits) -> None:
        """It has signed in: it is told whatever keeps it waiting."""
        player.closed = False
        self.limit(player, declared)

    def limit(self, player: Player, declared: Limits) -> None:
        """What the bot says of its limits; its owner may allow less. Games begun in the last 24 hours are counted at
        once, and again now and then."""
        before = player.limits.hours
        player.declared = declared
        player.limits = stricter(declared, player.allowed)
        if player.limits.games_a_day is not None:
            self._count(player)
        if not self._hours(player) and player.closed and player.limits.hours != before:
            self.tell(player)

    def look(self, player: Player) -> None:
        """Called about once a second: whether its hours have begun or ended, and where it is at its daily limit, its
        games anew."""
        limits = player.limits
        if limits.hours is ALWAYS and limits.games_a_day is None and not player.closed:
            return
        self._hours(player)
        if player.at_limit and self._time.now() - player.counted > RECOUNT_US:
            self._count(player)

    def tell(self, player: Player) -> bool:
        """Say what keeps it waiting; False where nothing of this does."""
        if player.session is None or not (player.closed or player.at_limit):
            return False
        if player.closed:
            player.session.info(notice(player.limits.hours, self._time.wall_ms()))
        else:
            player.session.info(
                f"You have begun {player.begun} games within 24 hours, and you or your owner allow "
                f"{player.limits.games_a_day}: the next one begins when the oldest of them is a day old."
            )
        return True

    def _hours(self, player: Player) -> bool:
        """Look at the clock; True where that changed something."""
        hours = player.limits.hours
        closed = hours is not ALWAYS and not hours.holds(self._time.wall_ms())
        if closed == player.closed:
            return False
        player.closed = closed
        self._stir(player)
        if not closed and player.session is not None:
            player.session.info(HOURS_BEGIN)
        elif closed:
            self.tell(player)
        return True

    def _count(self, player: Player) -> None:
        """Count its games of a day anew; it gets none until they are counted."""
        if not player.counting:
            player.counting = True
            player.counted = self._time.now()
            player.begun = 0
            self._spawn(self._counted(player))

    async def _counted(self, player: Player) -> None:
        since = self._time.wall_ms() - DAY_MS
        try:
            begun = await self._store.history.games.begun(self._venue_id, player.version, since)
        except StoreError:
            log.warning("games of a day could not be counted", bot=player.name, venue=self._venue)
            begun = player.limits.games_a_day or 0
        finally:
            player.counting = False
        player.begun += begun
