"""What the read side answers: frozen values that msgspec encodes as they are.

Times are Unix milliseconds (``*_at``, ``at``) or microseconds of a clock (``*_us``). Must not know: where the answers
come from, how they are shown.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Value(msgspec.Struct, frozen=True):
    """Base of all answers."""


class VenueRow(Value, frozen=True):
    """A venue. `fixed`: what may never change, as a decoded JSON value."""

    id: int
    name: str
    fixed: Any
    created_at: int


class Standing(Value, frozen=True):
    """Where a version stands in a venue under a rating system. `last_game` may still be running."""

    system: str
    version: str
    mean: float
    spread: float
    games: int
    provisional: bool
    anchor: bool
    last_game: int | None
    last_game_at: int | None


class GameRow(Value, frozen=True):
    """One game in a list. `result`, `reason` and `ended_at` are None while it runs; `moves` is their number."""

    id: int
    venue: str
    black: str
    white: str
    black_label: str
    white_label: str
    started_at: int
    ended_at: int | None
    result: str | None
    reason: str | None
    moves: int


class MoveRow(Value, frozen=True):
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


class PairingRow(Value, frozen=True):
    """Why a game was played: the sentence, its inputs (decoded JSON), and why these colors."""

    game: int
    round: int
    black: str
    white: str
    high: str
    low: str
    reason: str
    colors: str
    detail: Any


class GameChange(Value, frozen=True):
    """What a game did to one rating."""

    system: str
    seq: int
    version: str
    before_mean: float
    before_spread: float
    after_mean: float
    after_spread: float
    games: int


class GameDetail(Value, frozen=True):
    """All about one game. `terms` and `start` are decoded JSON; `winner` is ``black``, ``white`` or None."""

    game: GameRow
    terms: Any
    start: Any
    winner: str | None
    margin2: int | None
    detail: str
    pairing: PairingRow | None
    moves: list[MoveRow]
    ratings: list[GameChange]


class RatingPoint(Value, frozen=True):
    """One change of one rating. `game`, `opponent` and `score2` (its own, in half points) after its own games only."""

    system: str
    seq: int
    at: int
    kind: str
    game: int | None
    opponent: str | None
    score2: int | None
    before_mean: float
    before_spread: float
    after_mean: float
    after_spread: float
    games: int


class BotRow(Value, frozen=True):
    """A registered bot. `tokens`: how many are valid; `last_seen_at`: start or end of its latest connection."""

    id: int
    name: str
    state: str
    reason: str
    created_at: int
    versions: list[str]
    tokens: int
    last_seen_at: int | None


class TokenRow(Value, frozen=True):
    """A token of a bot, without its secret."""

    id: int
    label: str
    created_at: int
    revoked_at: int | None


class AccountRow(Value, frozen=True):
    """A person's account."""

    id: int
    name: str
    admin: bool
    state: str
    created_at: int


class RoundDetail(Value, frozen=True):
    """One act of pairing with all it was decided from; `options`, `inputs`, `sits_out` and `notes` are decoded JSON."""

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
    pairings: list[PairingRow]


class LedgerRow(Value, frozen=True):
    """One numbered entry of a venue's ledger, by names."""

    seq: int
    at: int
    kind: str
    game: int | None
    version: str | None
    black: str | None
    white: str | None
    score2: int | None
    value: float | None


class Counts(Value, frozen=True):
    """How much there is. `ended`: games by reason of their verdict. `created_at`: of the database."""

    created_at: int
    bots: int
    versions: int
    running: int
    ended: dict[str, int]
    moves: int
