"""Tells a bot how games ended that it missed or asks about, from the store.

Must not know: wire formats, SQL, who signs in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import structlog

from cgos_protocol.errors import CgosError, StoreError
from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId
from cgos_protocol.session import Known, PlayerSession
from cgos_server.live.games.live_game import VenueContext
from cgos_server.live.games.phases import GamePhase
from cgos_server.live.games.result_delivery import ResultDelivery, stored_over, stored_setup
from cgos_server.live.venue.player import Capacity, Player
from cgos_server.storage.reading.stored import StoredGame

log = structlog.get_logger(__name__)

ASKED_MAX: Final = 2_048
"""Games of the past that a bot may have asked for and not been told yet."""


class PastGames:
    """One a venue."""

    def __init__(self, context: VenueContext) -> None:
        self._context = context

    def tell_end(self, player: Player, session: PlayerSession, stored: StoredGame) -> None:
        """Show an ended game and how it ended."""
        venue = self._context.venue.name
        color = Color.BLACK if stored.black_id == player.version else Color.WHITE
        progress = stored.black_told if color is Color.BLACK else stored.white_told
        delivery = ResultDelivery(self._context.store, stored.id, color, progress)
        try:
            setup = stored_setup(stored, venue)
        except (CgosError, ValueError) as error:
            log.error("the end of a stored game cannot be told", game=stored.id, venue=venue, exc_info=error)
            return
        table = session.table(stored.id)
        table.setup(setup, color)
        table.game_over(stored_over(stored))
        delivery.written()
        player.told(stored.id, delivery)

    def sync(self, player: Player, session: PlayerSession, known: Sequence[Known]) -> None:
        """Tell what follows what the client knows: of running games at once, of ended ones from the store."""
        ended: list[GameId] = []
        for number in dict.fromkeys(game for game, _ in known):
            live = player.games.get(number)
            if live is None or live.phase is GamePhase.OVER:
                ended.append(number)
            else:
                live.retell(player.color(live))
        looking = bool(player.wanted_games)
        player.wanted_games.update(dict.fromkeys(ended))
        if len(player.wanted_games) > ASKED_MAX:
            session.info("You ask for more games than can be looked up at once; ask again for those that are missing.")
            for number in list(player.wanted_games)[ASKED_MAX:]:
                del player.wanted_games[number]
        if ended and not looking:
            player.capacity.owed += 1
            self._context.spawn(self._answer(player, session, player.capacity))

    async def _answer(self, player: Player, session: PlayerSession, capacity: Capacity) -> None:
        try:
            await self._tell_ended(player, session)
        finally:
            capacity.owed -= 1
            if player.session is session:
                player.send_home()

    async def _tell_ended(self, player: Player, session: PlayerSession) -> None:
        unknown: list[GameId] = []
        while player.session is session and player.wanted_games:
            number = next(iter(player.wanted_games))
            try:
                stored = await self._context.store.history.games.stored(number)
            except StoreError:
                if player.session is session:
                    player.wanted_games.clear()
                session.info("The server cannot reach its database just now; ask again for the games that are missing.")
                return
            if player.session is not session:
                return
            del player.wanted_games[number]
            if stored is None or not self._is_of(stored, player):
                unknown.append(number)
            elif stored.result is not None and number not in player.deliveries:
                self.tell_end(player, session, stored)
        if unknown:
            session.unknown(unknown)

    def _is_of(self, stored: StoredGame, player: Player) -> bool:
        sides = (stored.black_id, stored.white_id)
        return stored.venue_id == self._context.venue.id and player.version in sides
