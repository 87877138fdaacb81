"""How much a bot and its owner allow, in one venue: whether it plays at all, games begun within a day, and the hours at
which they begin.

What both allow is in force; in whose questions it plays is what either of them says. Counts, looks at the clock, and
tells the bot. Must not know: who owns a bot, how wishes are kept, pairs, wire formats, SQL.
"""

from __future__ import annotations

from typing import Final

import structlog

from cgos_protocol.errors import StoreError
from cgos_protocol.hours import ALWAYS, notice
from cgos_protocol.ids import BotId
from cgos_protocol.session import Limits
from cgos_server.live.games.live_game import VenueContext
from cgos_server.live.venue.player import Player, in_force
from cgos_server.live.venue.roster import Roster
from cgos_server.service.holds import Hold
from cgos_server.service.people.accounts import SignedIn

log = structlog.get_logger(__name__)

DAY_MS: Final = 86_400_000
RECOUNT_US: Final = 600_000_000
"""A bot at its daily limit is looked at again after so long."""

HOURS_BEGIN: Final = "Your hours have begun: you get games again."


class PlayLimits:
    """One a venue."""

    def __init__(self, context: VenueContext, roster: Roster) -> None:
        self._context = context
        self._roster = roster
        self._wishes: dict[BotId, tuple[bool, Limits]] = {}

    def arrived(self, player: Player, signed: SignedIn) -> None:
        """A bot has signed in: what its owner said since its sign-in was looked at counts, not what was read then."""
        paused, player.allowed = self._wishes.get(player.bot, (signed.paused, signed.limits))
        player.put(Hold.PAUSED, paused)

    def wish(self, bot: BotId, paused: bool, limits: Limits) -> None:
        """See :meth:`cgos_server.service.control.Control.wishes`."""
        self._wishes[bot] = (paused, limits)
        for player in self._roster.of_bot(bot):
            changed, player.allowed = player.put(Hold.PAUSED, paused), limits
            self.limit(player, player.declared)
            if changed and player.session is not None:
                player.stir(self._context.time.now())
                player.session.info(Hold.PAUSED.bot if paused else "Your owner lets you play again: you get games.")

    def limit(self, player: Player, declared: Limits) -> None:
        """What the bot says of its limits; its owner may allow less. Games begun in the last 24 hours are counted at
        once, and again now and then."""
        before = player.limits.hours
        player.declared = declared
        player.limits = in_force(declared, player.allowed)
        if player.limits.games_a_day is not None:
            self._count(player)
        if not self._look_at_hours(player) and player.has(Hold.OUT_OF_HOURS) and player.limits.hours != before:
            self._tell_hours(player)

    def look(self, player: Player) -> None:
        """Called about once a second: whether its hours have begun or ended, and where it is at its daily limit, its
        games anew."""
        limits = player.limits
        if limits.hours is not ALWAYS or player.has(Hold.OUT_OF_HOURS):
            self._look_at_hours(player)
        at_limit = limits.games_a_day is not None and player.daily.begun >= limits.games_a_day
        if at_limit and self._context.time.now() - player.daily.counted > RECOUNT_US:
            self._count(player)

    def _look_at_hours(self, player: Player) -> bool:
        """Look at the clock; True where that changed something."""
        hours = player.limits.hours
        closed = hours is not ALWAYS and not hours.holds(self._context.time.wall_ms())
        if not player.put(Hold.OUT_OF_HOURS, closed):
            return False
        player.stir(self._context.time.now())
        if closed:
            self._tell_hours(player)
        elif player.session is not None:
            player.session.info(HOURS_BEGIN)
        return True

    def _tell_hours(self, player: Player) -> None:
        if player.session is not None:
            player.session.info(notice(player.limits.hours, self._context.time.wall_ms()))

    def _count(self, player: Player) -> None:
        """Count its games of a day anew; it gets none until they are counted."""
        daily = player.daily
        if not daily.counting:
            daily.counting = True
            daily.counted = self._context.time.now()
            daily.begun = 0
            self._context.spawn(self._counted(player))

    async def _counted(self, player: Player) -> None:
        venue = self._context.venue
        since = self._context.time.wall_ms() - DAY_MS
        try:
            begun = await self._context.store.history.games.begun(venue.id, player.version, since)
        except StoreError:
            log.warning("games of a day could not be counted", bot=player.name, venue=venue.name)
            begun = player.limits.games_a_day or 0
        finally:
            player.daily.counting = False
        player.daily.begun += begun
