"""What the read side answers where that is more or other than what the API publishes: frozen values that msgspec
encodes as they are. What is published unchanged is the API's own type, such as
:class:`cgos_protocol.api.games.Game`.

Times are Unix milliseconds (``*_at``, ``at``) or microseconds of a clock (``*_us``). Must not know: where the answers
come from, how they are shown.
"""

from __future__ import annotations

from typing import Any

import msgspec

from cgos_protocol.api.events import GameInEvent
from cgos_protocol.api.games import Game, GameChange, Pairing
from cgos_protocol.api.messages import BotFacts, RatingChange, Standing, Version
from cgos_protocol.ids import GameId, VenueId, VersionId
from cgos_server.storage.reading.stored import StoredRefit


class Value(msgspec.Struct, frozen=True):
    """Base of all answers."""


class VenueRow(Value, frozen=True, kw_only=True):
    """A venue. `fixed`: what may never change, as a decoded JSON value."""

    id: VenueId
    name: str
    fixed: Any
    created_at: int


class Lately(Value, frozen=True, kw_only=True):
    """What has come lately. `games` counts all of them; `started` has when the newest ones began, newest first;
    `latest_at` is the time of the latest record of any kind that has one."""

    games: int
    started: list[int]
    created_at: int
    latest_at: int


class StandingRow(Standing, frozen=True, kw_only=True):
    """Where a version stands in a venue under a rating system, as it was last published: by entry `seq`, or by a refit
    after that entry. `last_game` may still be running.

    As of an earlier entry: `provisional` is None where the rating has changed since, and `last_game` is the game that
    changed the rating last, None where something else did.
    """

    seq: int
    system: str


class RankedRow(StandingRow, frozen=True, kw_only=True):
    """The same in one venue of several."""

    venue: str


class MoveRow(Value, frozen=True, kw_only=True):
    """One move, the mover's clock after it, and what the mover said about it: compact JSON as it was sent, or None."""

    ply: int
    move: str
    main_us: int
    period_us: int
    quota: int
    bank_us: int
    used_us: int
    at: int
    analysis: str | None


class CorrectionRow(Value, frozen=True, kw_only=True):
    """An operator changed what an ended game counts as.

    :ivar seq: the ledger's entry, None where ratings are not concerned
    :ivar was: the result that counted before
    :ivar winner: ``black``, ``white`` or None
    :ivar result: the result that counts from then on, ``Void`` for none
    """

    game: GameId
    venue: str
    at: int
    seq: int | None
    actor: str
    reason: str
    was: str
    winner: str | None
    result: str


class GameDetail(Value, frozen=True, kw_only=True):
    """All about one game. `terms` and `start` are decoded JSON; `winner` is ``black``, ``white`` or None.
    `corrections` are in their order; `repeats` is the earliest game of these two with the same moves and result, where
    this one came later and was marked as its repeat. `event` is None where it was played in none."""

    game: Game
    terms: Any
    start: Any
    winner: str | None
    margin2: int | None
    detail: str
    pairing: Pairing | None
    moves: list[MoveRow]
    ratings: list[GameChange]
    corrections: list[CorrectionRow] = []
    repeats: GameId | None = None
    event: GameInEvent | None = None


class ChangeRow(RatingChange, frozen=True, kw_only=True):
    """One change of one rating; refits that moved the rating by 0.1 and less are left out, so `before_*` of a refit is
    the point before, not to the last digit."""

    system: str


class RefitRow(Value, frozen=True, kw_only=True):
    """A recorded refit; fields as in :class:`cgos_server.storage.writing.refitting.RefitAdded`. `notes` is decoded
    JSON, `build` the text of what computed it."""

    system: str
    number: int
    included: int
    base: int
    applied: int
    cold: bool
    notes: Any
    build: str
    at: int
    took_us: int


class SavedState(Value, frozen=True, kw_only=True):
    """A rating system's saved state after entry `seq` and refit `refit` (0: none), to be loaded by that system."""

    seq: int
    refit: int
    at: int
    state: bytes


class PublishedChange(Value, frozen=True, kw_only=True):
    """What one entry did to one version's rating. `version` is its id, `games` the number after it."""

    seq: int
    version: VersionId
    before_mean: float
    before_spread: float
    after_mean: float
    after_spread: float
    games: int
    after_lower: float | None = None
    after_upper: float | None = None


class PublishedPoint(Value, frozen=True, kw_only=True):
    """Where a refit put a version, by its id."""

    version: VersionId
    mean: float
    spread: float
    lower: float | None = None
    upper: float | None = None


class PublishedRefit(Value, frozen=True, kw_only=True):
    """A refit as it can be taken again, the text of what computed it, what it moved, by version ids, and when it was
    put in."""

    refit: StoredRefit
    build: str
    points: list[PublishedPoint]
    at: int


class VersionGame(Value, frozen=True, kw_only=True):
    """A rated game from one version's side.

    :ivar opponent: its version id
    :ivar color: the version's own, ``black`` or ``white``
    :ivar score2: its own result in half points, corrections included; None: nothing any more
    :ivar repeat: True where it was marked as a repeat of an earlier game and no correction came after
    """

    seq: int
    game: GameId
    at: int
    opponent: VersionId
    color: str
    score2: int | None
    repeat: bool


class TokenRow(Value, frozen=True, kw_only=True):
    """A token of a bot, without its secret."""

    id: int
    label: str
    created_at: int
    revoked_at: int | None


class RoundDetail(Value, frozen=True, kw_only=True):
    """One pairing pass with all it was decided from; `options`, `inputs`, `sits_out` and `notes` are decoded JSON;
    `total` as in :class:`cgos_server.core.pairing.base.Pairing`, None where it was not recorded."""

    id: int
    venue: str
    number: int
    at: int
    policy: str
    method: str
    options: Any
    seed: str
    inputs: Any
    sits_out: Any
    notes: Any
    pairings: list[Pairing]
    total: int | None = None


class PairedGame(Value, frozen=True, kw_only=True):
    """One game as pairing sees it, versions by their numbers. `round` is None where no matchmaker paired it; `detail`:
    what the pair was decided by (decoded JSON), None where there is no pairing."""

    id: GameId
    round: int | None
    black_id: VersionId
    white_id: VersionId
    black_label: str
    white_label: str
    started_at: int
    ended_at: int | None
    reason: str | None
    opening: str
    detail: Any
    event_id: int | None = None
    question_id: int | None = None


class PairedRound(Value, frozen=True, kw_only=True):
    """One pairing pass as statistics see it: `inputs` as they are stored, `sits_out` and `notes` decoded."""

    id: int
    number: int
    at: int
    policy: str
    method: str
    inputs: str
    sits_out: Any
    notes: Any


class ConnectionSpan(Value, frozen=True, kw_only=True):
    """When a version was signed in. `closed_at` is None while it is, and after a crash until the next start."""

    version_id: VersionId
    opened_at: int
    closed_at: int | None


class Counts(Value, frozen=True, kw_only=True):
    """How much there is. `ended`: games by reason of their verdict. `created_at`: of the database."""

    created_at: int
    bots: int
    versions: int
    running: int
    ended: dict[str, int]
    moves: int


class BotRow(BotFacts, frozen=True, kw_only=True):
    """A registered bot in a list. `versions`: wire names, oldest first; `tokens`: how many are valid."""

    versions: list[str]
    tokens: int


class BotDetail(BotFacts, frozen=True, kw_only=True):
    """A registered bot. `tokens`: how many are valid; `limits`: what its owner allows, decoded JSON, or None."""

    versions: list[Version]
    tokens: int
    limits: Any


class PresenceRow(Value, frozen=True, kw_only=True):
    """When a version was signed in. `closed_at` is None while it is, and after a crash until the next start."""

    venue: str
    opened_at: int
    closed_at: int | None
    address: str
