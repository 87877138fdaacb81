"""What the read side answers to pages and to the API beside :mod:`cgos_server.storage.reading.answers`: which games to
look for, counts over many games, thinned rating histories.

Times are Unix milliseconds. `result`, `reason` and colors are the words that are stored and shown. Must not know:
where the answers come from, how they are shown.
"""

from __future__ import annotations

from typing import Any, Literal

from cgos_protocol.api.games import Game
from cgos_protocol.ids import GameId
from cgos_server.storage.reading.answers import Value

Outcome = Literal["B", "W", "draw", "none"]
"""What a game counts as now, corrections included: a win, a draw, or ended without a result."""


class GameTerms(Value, frozen=True):
    """What a game was begun with: `terms` and `start` are decoded JSON."""

    terms: Any
    start: Any


class GameFilter(Value, frozen=True, kw_only=True):
    """Which games are looked for; None: whichever.

    :ivar bot: a bot's or a version's name; it played with either color
    :ivar opponent: another one's, against which it played
    :ivar event: it was played in the event of this name
    :ivar exact: both are versions' names, and mean no other version of a bot that is called like one of its own
    :ivar reason: of the verdict as the game ended (``score``, ``time``...)
    :ivar result: what the game counts as now, corrections included; a running game counts as nothing of it
    :ivar min_moves: of an ended game; running games have no length yet and are left out
    :ivar max_moves: as `min_moves`
    :ivar since: it began at this time or later
    :ivar until: it began before this time
    :ivar running: only games without a verdict, or only ended ones
    """

    venue: str | None = None
    bot: str | None = None
    opponent: str | None = None
    reason: str | None = None
    result: Outcome | None = None
    min_moves: int | None = None
    max_moves: int | None = None
    since: int | None = None
    until: int | None = None
    running: bool | None = None
    event: str | None = None
    exact: bool = False


class GamePart(Value, frozen=True, kw_only=True):
    """Part of an answer: `before` is where to go on, None where there is nothing more. A part may hold fewer games than
    asked for, even none, though there are more."""

    games: list[Game]
    before: int | None


class PairRecord(Value, frozen=True, kw_only=True):
    """What came of the ended games of two versions in a venue, corrections included.

    :ivar games: ended ones: wins, draws and those without a result
    :ivar one_black: in how many of `games` `one` had Black
    :ivar without_result: void, aborted, or corrected to nothing
    :ivar with_result: those with a result, rated or not
    :ivar last_game: the latest ended one; `last_at` is when it ended
    """

    one: str
    other: str
    games: int
    one_black: int
    one_wins_black: int
    one_wins_white: int
    other_wins_black: int
    other_wins_white: int
    draws: int
    without_result: int
    with_result: int
    last_game: GameId | None
    last_at: int | None

    @property
    def one_wins(self) -> int:
        """With both colors."""
        return self.one_wins_black + self.one_wins_white

    @property
    def other_wins(self) -> int:
        """With both colors."""
        return self.other_wins_black + self.other_wins_white


class OpponentRow(Value, frozen=True, kw_only=True):
    """A version's ended games against one opponent in a venue, from its own side, corrections included.

    :ivar games: as in :class:`PairRecord`
    :ivar as_black: in how many of `games` it had Black itself
    :ivar score: points in the games with a result: 1 a win, a half a draw
    """

    opponent: str
    games: int
    wins: int
    losses: int
    draws: int
    without_result: int
    with_result: int
    as_black: int
    as_white: int
    score: float
    last_game: GameId
    last_at: int | None
