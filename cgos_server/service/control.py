"""The small interface by which use cases drive the live server, and its stand-in for a server that is not running.

What travels over the control socket are these same words. Must not know: sockets, the lobby's insides.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from cgos_server.core.games.base import Color
from cgos_server.service.ratings import VenueRatings
from cgos_server.storage.store import StoredGame


class VenueStatus(msgspec.Struct, frozen=True):
    """One venue now. `idle` bots are ready for a game, `owing` bots have not answered `gameover` yet. While it is
    `paused` nobody is paired."""

    name: str
    port: int
    playing: int
    idle: int
    owing: int
    games: int
    paused: bool = False


class GameStatus(msgspec.Struct, frozen=True):
    """One running game."""

    game: int
    venue: str
    black: str
    white: str
    ply: int
    black_here: bool
    white_here: bool


class BotStatus(msgspec.Struct, frozen=True):
    """One signed-in version. `state`: ``idle``, ``playing`` or ``owes ready``."""

    name: str
    venue: str
    state: str
    address: str
    client: str
    game: int | None


class ServerStatus(msgspec.Struct, frozen=True):
    """The live server now. `moves` and `ended` (verdict word -> games) count since this process started."""

    pid: int
    version: str
    up_s: float
    ready: bool
    draining: bool
    venues: list[VenueStatus]
    games: list[GameStatus]
    bots: list[BotStatus]
    moves: int
    ended: dict[str, int]
    warnings: int
    errors: int
    web: str
    health: str
    websocket: str = ""


class ArrangedGame(msgspec.Struct, frozen=True):
    """A game that an operator has arranged and that is about to begin. Labels are ratings as shown: ``1800?``.

    :ivar plies: moves of an old game with which it begins
    """

    game: int
    venue: str
    white: str
    white_label: str
    black: str
    black_label: str
    rated: bool
    plies: int


class EndedGame(msgspec.Struct, frozen=True):
    """A game that an operator has ended."""

    game: int
    venue: str
    white: str
    black: str
    result: str


class Control(Protocol):
    """What use cases may ask of the live server."""

    def status(self) -> ServerStatus: ...

    def dismiss(self, bot: int, sentence: str) -> int:
        """Tell every connection of this bot (by its number, any version) `sentence` and close it; how many."""

    def ratings(self, venue: str) -> VenueRatings | None:
        """The live ratings of a venue, or None where there is no such venue."""

    def ratings_changed(self, venue: str) -> None:
        """Entries were applied to the ratings of a venue: its refits are to hear of it."""

    def drain(self) -> None:
        """No new game; stop when the running ones have ended or the limit is reached."""

    def match(
        self,
        venue: str,
        white: str,
        black: str,
        mains_s: tuple[int, int],
        opening: StoredGame | None,
        plies: int | None,
        actor: str,
    ) -> ArrangedGame:
        """Let these two play now.

        :param mains_s: seconds for [White, Black]; 0 is the venue's own main time
        :param opening: an old game with whose first `plies` moves (None: all) this one begins
        :param actor: who wishes it, for the record
        :raises Refused: where they cannot, such as ``no-venue``, ``same-player``, ``no-white``, ``black-busy``,
            ``bad-time``, ``bad-game``, ``bad-length``, ``draining``
        """

    def end_game(self, game: int, winner: Color | None, detail: str) -> EndedGame:
        """End a running game: `winner` wins by forfeit, or with None the game is aborted.

        Raises Refused (``no-game``, ``ending``).
        """

    def pause(self, venue: str, paused: bool) -> None:
        """Stop or go on pairing in a venue. Raises Refused (``unknown-venue``)."""

    def kick(self, name: str, sentence: str) -> int:
        """Tell every connection that plays under this wire name `sentence` and close it; how many."""
