"""What owners want of their bots in one venue: no new game for now, limits, going home. In force at once, and told.

Must not know: who owns a bot, how the wishes are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from cgos_server.protocol.session import Availability, Limits
from cgos_server.runtime.player import Player
from cgos_server.service.accounts import SignedIn

if TYPE_CHECKING:
    from cgos_server.runtime.lobby import Lobby

PAUSED: Final = "Your owner has paused you: you get no new game until your owner resumes you."


class Owners:
    """One a lobby."""

    def __init__(self, lobby: Lobby) -> None:
        self._lobby = lobby
        self._wishes: dict[int, tuple[bool, Limits]] = {}

    def seated(self, player: Player, signed: SignedIn) -> None:
        """A bot has signed in: what its owner said since its sign-in was looked at counts, not what was read then."""
        player.called_home = False
        player.paused, player.allowed = self._wishes.get(player.bot, (signed.paused, signed.limits))

    def wish(self, bot: int, paused: bool, limits: Limits) -> None:
        """See :meth:`cgos_server.service.control.Control.wishes`."""
        self._wishes[bot] = (paused, limits)
        for player in self._here(bot):
            was, player.paused, player.allowed = player.paused, paused, limits
            self._lobby.limit(player, player.declared)
            if was != paused and player.session is not None:
                self._lobby.stir(player)
                player.session.info(PAUSED if paused else "Your owner lets you play again: you get games.")

    def send_home(self, bot: int) -> None:
        """This bot leaves when its running games have ended; it may come back."""
        for player in self._here(bot):
            player.called_home = True
            if player.capacity.used and player.session is not None:
                player.session.info("Your owner sends you home when your running games have ended.")
            self._lobby.change(player, Availability.DRAINING)

    def _here(self, bot: int) -> Iterator[Player]:
        for player in list(self._lobby.players.values()):
            if player.bot == bot and player.session is not None:
                yield player
