"""What owners want of their bots in one venue: no new game for now, limits, going home. In force at once, and told.

Must not know: who owns a bot, how the wishes are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Protocol

from cgos_protocol.session import Availability, Limits
from cgos_server.runtime.player import Player
from cgos_server.service.accounts import SignedIn

PAUSED: Final = "Your owner has paused you: you get no new game until your owner resumes you."


class Players(Protocol):
    """A venue's players, as far as their owners reach them."""

    @property
    def players(self) -> Mapping[int, Player]:
        """By version."""

    def limit(self, player: Player, limits: Limits) -> None:
        """The bot's own limits are these; what its owner allows is looked at again."""

    def stir(self, player: Player) -> None:
        """What the bot does has changed: its waiting begins anew."""

    def change(self, player: Player, availability: Availability) -> None:
        """The bot wants games, or none for now, or no more."""


class Owners:
    """One a venue."""

    def __init__(self, venue: Players) -> None:
        self._venue = venue
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
            self._venue.limit(player, player.declared)
            if was != paused and player.session is not None:
                self._venue.stir(player)
                player.session.info(PAUSED if paused else "Your owner lets you play again: you get games.")

    def send_home(self, bot: int) -> None:
        """This bot leaves when its running games have ended; it may come back."""
        for player in self._here(bot):
            player.called_home = True
            if player.capacity.used and player.session is not None:
                player.session.info("Your owner sends you home when your running games have ended.")
            self._venue.change(player, Availability.DRAINING)

    def _here(self, bot: int) -> Iterator[Player]:
        for player in list(self._venue.players.values()):
            if player.bot == bot and player.session is not None:
                yield player
