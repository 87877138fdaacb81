"""What the read side answers: frozen values that msgspec encodes as they are.

Times are Unix milliseconds (``*_at``, ``at``) or microseconds of a clock (``*_us``). Must not know: where the answers
come from, how they are shown.
"""

from __future__ import annotations

from typing import Any

import msgspec

from cgos_server.storage.store import StoredRefit


class Value(msgspec.Struct, frozen=True):
    """Base of all answers."""


class VenueRow(Value, frozen=True):
    """A venue. `fixed`: what may never change, as a decoded JSON value."""

    id: int
    name: str
    fixed: Any
    created_at: int


class Standing(Value, frozen=True):
    """Where a version stands in a venue under a rating system, as it was last published: by entry `seq`, or by a refit
    after that entry. `last_game` may still be running.

    As of an earlier entry: `provisional` is None where the rating has changed since, and `last_game` is the game that
    changed the rating last, None where something else did.
    """

    system: str
    version: str
    mean: float
    spread: float
    games: int
    provisional: bool | None
    anchor: bool
    last_game: int | None
    last_game_at: int | None
    seq: int


class GameRow(Value, frozen=True):
    """One game in a list. `result`, `reason` and `ended_at` are None while it runs; `moves` is their number.
    `corrected`: the result that counts now (``Void`` for none), where that is another one than `result`. `opening`: the
    name of the one that it began with, or empty."""

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
    corrected: str | None = None
    opening: str = ""


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


class CorrectionRow(Value, frozen=True):
    """An operator changed what an ended game counts as.

    :ivar seq: the ledger's entry, None where ratings are not concerned
    :ivar was: the result that counted before
    :ivar winner: ``black``, ``white`` or None
    :ivar result: the result that counts from then on, ``Void`` for none
    """

    game: int
    venue: str
    at: int
    seq: int | None
    actor: str
    reason: str
    was: str
    winner: str | None
    result: str


class GameDetail(Value, frozen=True):
    """All about one game. `terms` and `start` are decoded JSON; `winner` is ``black``, ``white`` or None.
    `corrections` are in their order; `repeats` is the earliest game of these two with the same moves and result, where
    this one came later and was marked as its repeat."""

    game: GameRow
    terms: Any
    start: Any
    winner: str | None
    margin2: int | None
    detail: str
    pairing: PairingRow | None
    moves: list[MoveRow]
    ratings: list[GameChange]
    corrections: list[CorrectionRow] = []
    repeats: int | None = None


class RatingPoint(Value, frozen=True):
    """One change of one rating. `game` is the entry's; `opponent` and `score2` (its own, in half points) after its own
    games only.

    `kind` is the entry's, or ``refit`` for refit number `refit` that was put in after entry `seq`; refits that moved
    the rating by 0.1 and less are left out, so `before_*` of a refit is the point before, not to the last digit.
    """

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
    refit: int | None = None


class RefitRow(Value, frozen=True):
    """A recorded refit; fields as in :class:`cgos_server.storage.records.RefitAdded`. `notes` is decoded JSON,
    `build` the text of what computed it."""

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


class SavedState(Value, frozen=True):
    """A rating system's saved state after entry `seq` and refit `refit` (0: none), to be loaded by that system."""

    seq: int
    refit: int
    at: int
    state: bytes


class PublishedChange(Value, frozen=True):
    """What one entry did to one version's rating. `version` is its id, `games` the number after it."""

    seq: int
    version: int
    before_mean: float
    before_spread: float
    after_mean: float
    after_spread: float
    games: int


class PublishedPoint(Value, frozen=True):
    """Where a refit put a version, by its id."""

    version: int
    mean: float
    spread: float


class PublishedRefit(Value, frozen=True):
    """A refit as it can be taken again, the text of what computed it, what it moved, by version ids, and when it was
    put in."""

    refit: StoredRefit
    build: str
    points: list[PublishedPoint]
    at: int


class VersionGame(Value, frozen=True):
    """A rated game from one version's side.

    :ivar opponent: its version id
    :ivar color: the version's own, ``black`` or ``white``
    :ivar score2: its own result in half points, corrections included; None: nothing any more
    :ivar repeat: True where it was marked as a repeat of an earlier game and no correction came after
    """

    seq: int
    game: int
    at: int
    opponent: int
    color: str
    score2: int | None
    repeat: bool


class SetAside(Value, frozen=True):
    """A version that gets no game in a venue, because it spoilt so many in a row; `reason`: how the last one."""

    venue: str
    version: str
    spoilt: int
    reason: str
    at: int


class BotRow(Value, frozen=True):
    """A registered bot. `tokens`: how many are valid; `last_seen_at`: start or end of its latest connection, the start
    where it is `signed_in`; `family`: the bot that leads its family, None where it belongs to no other's; `set_aside`:
    where it gets no game; `until`: when a disabled one may play again, None for never; `owner`: the account that it
    belongs to, which may have `paused` it."""

    id: int
    name: str
    state: str
    reason: str
    created_at: int
    versions: list[str]
    tokens: int
    last_seen_at: int | None
    signed_in: bool = False
    family: str | None = None
    set_aside: list[SetAside] = []
    until: int | None = None
    paused: bool = False
    owner: str | None = None


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
    """One act of pairing with all it was decided from; `options`, `inputs`, `sits_out` and `notes` are decoded JSON;
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
    pairings: list[PairingRow]
    total: int | None = None


class PairedGame(Value, frozen=True):
    """One game as pairing sees it, versions by their numbers. `round` is None where an operator arranged it; `detail`:
    what the pair was decided by (decoded JSON), None where there is no pairing."""

    id: int
    round: int | None
    black_id: int
    white_id: int
    black_label: str
    white_label: str
    started_at: int
    ended_at: int | None
    reason: str | None
    opening: str
    detail: Any


class PairedRound(Value, frozen=True):
    """One act of pairing as statistics see it: `inputs` as they are stored, `sits_out` and `notes` decoded."""

    id: int
    number: int
    at: int
    policy: str
    method: str
    inputs: str
    sits_out: Any
    notes: Any


class ConnectionSpan(Value, frozen=True):
    """When a version was signed in. `closed_at` is None while it is, and after a crash until the next start."""

    version_id: int
    opened_at: int
    closed_at: int | None


class LedgerRow(Value, frozen=True):
    """One numbered entry of a venue's ledger, by names; see :class:`cgos_server.core.rating.base.Entry` and
    :class:`cgos_server.storage.records.LedgerAdded`."""

    seq: int
    at: int
    kind: str
    game: int | None
    version: str | None
    black: str | None
    white: str | None
    score2: int | None
    value: float | None
    sd: float | None = None
    other: str | None = None
    was2: int | None = None
    repeat: bool = False
    digest: int | None = None


class Counts(Value, frozen=True):
    """How much there is. `ended`: games by reason of their verdict. `created_at`: of the database."""

    created_at: int
    bots: int
    versions: int
    running: int
    ended: dict[str, int]
    moves: int
