"""The seam between wire protocols and the live server: what a lobby or a game may say to a bot, and hear from it.

Every wire protocol is a shell round these interfaces; a lobby or a game never knows which one it talks to. All calls
are plain synchronous calls inside the event loop and never raise: a session whose peer is gone swallows them.
Must not know: sockets, storage, how bots are paired.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from cgos_server.core.games.base import Color


class Credentials(NamedTuple):
    """What a bot signs in with.

    :ivar name: the name as sent, already checked against the name rules
    :ivar secret: password or token
    :ivar new_secret: the password that shall replace it, or None
    :ivar client: the client's own description of itself
    :ivar analysis: True where the client announced that its moves may carry analysis
    :ivar address: the peer's address, for limits and logs
    """

    name: str
    secret: str
    new_secret: str | None
    client: str
    analysis: bool
    address: str


class GameSetup(NamedTuple):
    """Everything a bot needs to sit down at a game, new or in the middle.

    :ivar komi2: in half points
    :ivar level_ms: the time control's figure at the start of the game
    :ivar black_label: rating as shown in parentheses: ``1800`` or ``1800?``
    :ivar moves: (normal spelling, mover's milliseconds left after it), alternating from Black
    """

    game: int
    size: int
    komi2: int
    level_ms: int
    black: str
    black_label: str
    white: str
    white_label: str
    moves: tuple[tuple[str, int], ...] = ()


class PlayerSession(Protocol):
    """One bot's connection, as the lobby and its game see it."""

    @property
    def id(self) -> int:
        """The connection's number, for logs and the store."""

    @property
    def alive(self) -> bool:
        """False once the connection is lost or closed."""

    def accepted(self, seat: Seat) -> None:
        """Sign-in succeeded: from now on the bot's moves go to `seat`."""

    def refused(self, sentence: str) -> None:
        """Sign-in failed, or the bot must go: tell it why, then close."""

    def setup(self, setup: GameSetup) -> None:
        """A game begins, or goes on after a reconnection."""

    def genmove(self, color: Color, left_ms: int) -> None:
        """Your move."""

    def played(self, color: Color, move: str, left_ms: int, then_left_ms: int | None) -> None:
        """The opponent moved. With `then_left_ms` it is also your move, with that much time."""

    def game_over(self, date: str, result: str, detail: str) -> None:
        """The game has ended; `ready` is owed. `date` is YYYY-MM-DD."""

    def info(self, text: str) -> None:
        """A word to the bot's author. Needs no answer."""


class Seat(Protocol):
    """What a signed-in session tells the live server."""

    def move(self, text: str, analysis: str | None, received: int) -> None:
        """The bot answered `genmove`. `received`: when the line counts as received (microseconds, loop's clock)."""

    def ready(self) -> None:
        """The bot wants its next game."""

    def left(self, orderly: bool) -> None:
        """The connection is gone; `orderly` where the peer said `quit` or closed it itself."""


class Reception(Protocol):
    """Where a session brings a bot that wants in. One a venue."""

    def sign_in(self, session: PlayerSession, credentials: Credentials) -> None:
        """Answers later with `session.accepted` or `session.refused`, unless the session dies first."""
