"""The small interface by which use cases drive the live server, and its stand-in for a server that is not running.

What travels over the control socket are these same words. Must not know: sockets, the lobby's insides.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

import msgspec

from cgos_protocol.games.base import Color
from cgos_protocol.session import Limits
from cgos_server.service.ratings import VenueRatings
from cgos_server.storage.reading.stored import StoredGame


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
    """One signed-in version. `state`: ``idle``, ``paired`` (its game is about to begin), ``playing``, ``owes ready`` or
    ``set aside``. `set_aside`: why it gets no game, empty for one that does.

    :ivar paused: its owner wants no game for it
    :ivar connection: its connection's number
    :ivar since: when it signed in, in Unix seconds
    """

    name: str
    venue: str
    state: str
    address: str
    client: str
    game: int | None
    set_aside: str = ""
    paused: bool = False
    connection: int = 0
    since: float = 0.0


class VersionNow(msgspec.Struct, frozen=True):
    """One version of a bot in one venue, as its owner sees it: signed in, or away while a game of it runs.

    :ivar state: of :class:`cgos_server.service.standing.Word`
    :ivar since: when that began, in Unix seconds
    :ivar games: those that it plays, by number
    :ivar slots: games that it plays at once, at most
    :ivar why: why it is not paired just now, or what it waits for; a sentence
    :ivar paired: False where something stands between it and its next game besides an opponent
    """

    name: str
    venue: str
    state: str
    since: float
    games: list[int]
    slots: int
    why: str
    paired: bool


class ServerStatus(msgspec.Struct, frozen=True):
    """The live server now. `moves` and `ended` (verdict word -> games) count since this process started.

    :ivar plugins: those that can be used: ``rating system steady-elo of cgos-steady-elo 1.0``
    :ivar plugin_problems: sentences about those that cannot
    """

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
    plugins: list[str] = []
    plugin_problems: list[str] = []


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


class PreviewedPair(msgspec.Struct, frozen=True):
    """Two versions that would meet; fields as in :class:`cgos_server.core.pairing.base.Pair`."""

    high: str
    low: str
    reason: str
    detail: dict[str, Any]


class PairingPreview(msgspec.Struct, frozen=True):
    """What an act of pairing would decide if it came now. Nothing comes of it.

    :ivar method: the matchmaker, with all its `options` in force
    :ivar ready: who could play now, best first
    :ivar sits_out: name -> the sentence that says why
    :ivar total: what the pairs are worth together, in millionths; None where the method does not say
    """

    venue: str
    policy: str
    method: str
    options: dict[str, Any]
    ready: list[str]
    pairs: list[PreviewedPair]
    sits_out: dict[str, str]
    notes: list[str]
    total: int | None = None


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

    def recall(self, venue: str | None, versions: Collection[int]) -> dict[str, list[int]]:
        """Let these versions play again where they were set aside, with a clean slate.

        :param venue: only there; None for everywhere
        :returns: venue -> the versions that were set aside in it; a venue without one is left out
        :raises Refused: ``unknown-venue``
        """

    def wishes(self, bot: int, paused: bool, limits: Limits) -> None:
        """What a bot's owner wants, in force at once wherever the bot (by its number, any version) is signed in.

        :param paused: it gets no new game
        :param limits: besides what the bot itself says
        """

    def look(self, bot: int) -> list[VersionNow]:
        """The versions of this bot (by its number) that are signed in, or whose games run."""

    def drain_bot(self, bot: int) -> int:
        """Give the connections of this bot no new game, and close each when its games have ended; how many."""

    async def preview(
        self, venue: str, method: str | None, options: Mapping[str, str | int | float | bool]
    ) -> PairingPreview:
        """What would be paired now.

        :param method: by another matchmaker; None for the venue's own
        :param options: on top of the method's defaults, or of the venue's own options where it is the venue's method
        :raises Refused: where the venue, the method or an option is unknown
        """

    async def reload(self) -> list[str]:
        """Read the configuration again and put in force what can be changed without a restart.

        :returns: a sentence for each thing that changed, and for each that needs a restart
        :raises Refused: where the configuration is at fault; then nothing has changed
        """
