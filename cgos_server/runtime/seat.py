"""The seat through which a bot's connection speaks in one venue.

Decides whether what it says is about a game of its own and comes from the connection that holds the seat. Must not
know: wire formats, how bots sign in, who is paired.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cgos_protocol.session import Availability, Fault, Known, Limits, PlayerSession
from cgos_server.runtime.live_game import Phase
from cgos_server.runtime.player import Player


class SeatedVenue(Protocol):
    """What a seat needs of the venue in which it stands."""

    def ready(self, player: Player) -> None:
        """The bot knows how its game ended, and wants another one."""

    def change(self, player: Player, availability: Availability) -> None:
        """The bot wants games, or none for now, or no more."""

    def limit(self, player: Player, limits: Limits) -> None:
        """The bot limits how often, when and whom it plays."""

    def sync(self, player: Player, session: PlayerSession, known: Sequence[Known]) -> None:
        """The bot wants to hear what follows what it knows."""

    def left(self, player: Player, orderly: bool) -> None:
        """Its connection is gone; `orderly` where the bot closed it."""


class PlayerSeat:
    """The :class:`~cgos_protocol.session.Seat` of one connection. Once another connection took its place it
    says nothing any more."""

    __slots__ = ("_player", "_session", "_venue")

    def __init__(self, venue: SeatedVenue, player: Player, session: PlayerSession) -> None:
        self._venue = venue
        self._player = player
        self._session = session

    @property
    def bot(self) -> int:
        return self._player.bot

    @property
    def _valid(self) -> bool:
        return self._player.session is self._session

    def _spoke(self) -> bool:
        """The bot itself said something, which clears the suspicion of a flag; False where its place is taken."""
        player = self._player
        if player.session is not self._session:
            return False
        player.flagged = 0
        return True

    def move(self, text: str, analysis: str | None, received: int) -> None:
        player = self._player
        game = player.board
        if game is not None and player.session is self._session:
            game.move(player.color(game), text, analysis, received)

    def play(self, game: int, ply: int, text: str, analysis: str | None, received: int) -> Fault | None:
        player = self._player
        live = player.games.get(game) if self._spoke() else None
        if live is None or live.phase is Phase.OVER:
            return Fault.NO_GAME
        color = player.color(live)
        committed = live.ply
        if ply <= committed:
            return None if live.repeats(ply, text) else Fault.CONTRADICTION
        if ply > committed + 1:
            return Fault.GAP
        if live.phase is Phase.COMMITTING:
            return live.objection(color, text)
        if live.phase is not Phase.RUNNING or color is not live.referee.to_play:
            return Fault.NOT_YOUR_TURN
        live.move(color, text, analysis, received)
        return None

    def ready(self) -> None:
        if self._spoke():
            self._venue.ready(self._player)

    def seen(self, game: int) -> None:
        telling = self._player.tellings.pop(game, None) if self._spoke() else None
        if telling is not None:
            telling.acknowledged()

    def available(self, availability: Availability) -> None:
        if self._spoke():
            self._venue.change(self._player, availability)

    def limit(self, limits: Limits) -> None:
        if self._spoke():
            self._venue.limit(self._player, limits)

    def sync(self, known: Sequence[Known]) -> None:
        if self._spoke():
            self._venue.sync(self._player, self._session, known)

    def left(self, orderly: bool) -> None:
        if self._valid:
            self._venue.left(self._player, orderly)
