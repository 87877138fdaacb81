"""The small interface by which use cases drive the live server, and its stand-in for a server that is not running.

What travels over the control socket are these same words. Must not know: sockets, the lobby's insides.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from cgos_server.service.ratings import VenueRatings


class VenueStatus(msgspec.Struct, frozen=True):
    """One venue now. `idle` bots are ready for a game, `owing` bots have not answered `gameover` yet."""

    name: str
    port: int
    playing: int
    idle: int
    owing: int
    games: int


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


class Control(Protocol):
    """What use cases may ask of the live server."""

    def status(self) -> ServerStatus: ...

    def dismiss(self, bot: int, sentence: str) -> int:
        """Tell every connection of this bot (by its number, any version) `sentence` and close it; how many."""

    def ratings(self, venue: str) -> VenueRatings | None:
        """The live ratings of a venue, or None where there is no such venue."""

    def drain(self) -> None:
        """No new game; stop when the running ones have ended or the limit is reached."""
