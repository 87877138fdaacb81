"""What the read side answers to pages and to the API beside :mod:`cgos_server.storage.answers`: lists of games and what
to look for, counts over many games, bots and versions, thinned rating histories, rows of bulk streams.

Times are Unix milliseconds. `result`, `reason` and colors are the words that are stored and shown. Must not know:
where the answers come from, how they are shown.
"""

from __future__ import annotations

from typing import Any, Literal

from cgos_server.storage.answers import GameRow, SetAside, Value

Outcome = Literal["B", "W", "draw", "none"]
"""What a game counts as now, corrections included: a win, a draw, or ended without a result."""


class GameTerms(Value, frozen=True):
    """What a game was begun with: `terms` and `start` are decoded JSON."""

    terms: Any
    start: Any


class GamesAsked(Value, frozen=True):
    """Which games are looked for; None: whichever.

    :ivar bot: a bot's or a version's name; it played with either color
    :ivar opponent: another one's, against which it played
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
    exact: bool = False


class GamesFound(Value, frozen=True):
    """Part of an answer: `before` is where to go on, None where there is nothing more. A part may hold fewer games than
    asked for, even none, though there are more."""

    games: list[GameRow]
    before: int | None


class PairRecord(Value, frozen=True):
    """What came of the ended games of two versions in a venue, corrections included.

    :ivar games: ended ones: wins, draws and those without a result
    :ivar one_black: in how many of `games` `one` had Black
    :ivar without_result: void, aborted, or corrected to nothing
    :ivar rated: those with a result
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
    rated: int
    last_game: int | None
    last_at: int | None

    @property
    def one_wins(self) -> int:
        """With both colors."""
        return self.one_wins_black + self.one_wins_white

    @property
    def other_wins(self) -> int:
        """With both colors."""
        return self.other_wins_black + self.other_wins_white


class OpponentRow(Value, frozen=True):
    """A version's ended games against one opponent in a venue, from its own side, corrections included.

    :ivar games: as in :class:`PairRecord`
    :ivar as_black: in how many of `games` it had Black itself
    :ivar score: points in the rated games: 1 a win, a half a draw
    """

    opponent: str
    games: int
    wins: int
    losses: int
    draws: int
    without_result: int
    rated: int
    as_black: int
    as_white: int
    score: float
    last_game: int
    last_at: int | None


class VerdictRow(Value, frozen=True):
    """How many games of some versions ended so. `reason` is the verdict's; `outcome` is what they count as now."""

    color: Literal["black", "white"]
    reason: str
    outcome: Literal["won", "lost", "drawn", "none"]
    games: int


class RoundRow(Value, frozen=True):
    """One act of pairing in a list: how many games it began, how many candidates got none."""

    id: int
    number: int
    at: int
    policy: str
    method: str
    games: int
    sits_out: int


class VersionRow(Value, frozen=True):
    """A version of a bot. `parameters` is decoded JSON or None; `last_seen_at`: start or end of its latest connection,
    the start where it is `signed_in`."""

    id: int
    name: str
    label: str
    engine: str
    parameters: Any
    author: str
    created_at: int
    last_seen_at: int | None
    signed_in: bool
    bot: str


class BotDetail(Value, frozen=True):
    """A registered bot; fields as in :class:`cgos_server.storage.answers.BotRow`.

    :ivar owner: the account that claimed it, or None
    :ivar until: when a disabled one may play again, None for never
    :ivar paused: its owner wants no game for it
    :ivar limits: what its owner allows, decoded JSON, or None
    """

    id: int
    name: str
    state: str
    reason: str
    created_at: int
    versions: list[VersionRow]
    tokens: int
    last_seen_at: int | None
    signed_in: bool
    family: str | None
    set_aside: list[SetAside]
    owner: str | None
    until: int | None
    paused: bool
    limits: Any


class PresenceRow(Value, frozen=True):
    """When a version was signed in. `closed_at` is None while it is, and after a crash until the next start."""

    venue: str
    opened_at: int
    closed_at: int | None
    address: str


class ConnectionRow(Value, frozen=True):
    """One sign-in, for operators."""

    id: int
    venue: str
    version: str
    bot: str
    address: str
    client: str
    opened_at: int
    closed_at: int | None
    reason: str


class AuditRow(Value, frozen=True):
    """Somebody did something to the server. `detail` is decoded JSON."""

    id: int
    at: int
    actor: str
    action: str
    subject: str
    detail: Any


class BandPoint(Value, frozen=True):
    """A version's rating after entry `seq`, or after a refit that was put in after that entry. `games`: rated so
    far."""

    seq: int
    at: int
    mean: float
    spread: float
    games: int


class NamedRefit(Value, frozen=True):
    """A recorded refit; fields as in :class:`cgos_server.storage.answers.RefitRow`. `moved`: wire name, mean, spread of
    everybody whom it moved."""

    number: int
    at: int
    system: str
    included: int
    base: int
    applied: int
    cold: bool
    notes: Any
    build: str
    moved: list[tuple[str, float, float]]


class ChangeRow(Value, frozen=True):
    """One change of one rating by one entry, for bulk streams. `game` where a game or its correction did it."""

    seq: int
    at: int
    kind: str
    system: str
    version: str
    game: int | None
    before_mean: float
    before_spread: float
    after_mean: float
    after_spread: float
    games: int
