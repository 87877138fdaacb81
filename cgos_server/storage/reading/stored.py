"""Rows as the live server goes on with them after a start or a sign-in, and whom it lets in.

Named tuples whose fields are the columns of their questions. Must not know: SQL, what is done with them.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from cgos_protocol.clock import ClockState
from cgos_protocol.ids import BotId, ConnectionId, EventId, GameId, QuestionId, VenueId, VersionId
from cgos_protocol.session import Limits


class BotLogin(NamedTuple):
    """What sign-in needs to know of a registered name.

    :ivar password: the argon2 hash
    :ivar state: ``active``, ``pending`` or ``disabled``
    :ivar reason: why it is disabled, for the person
    :ivar tokens: hexadecimal SHA-256 digests of its valid tokens
    :ivar until: when a disabled one may play again (Unix ms), None for never
    :ivar owner: the account that owns it, None for none
    :ivar paused: True where its owner wants no game for it
    :ivar limits: what its owner allows, besides what it says itself
    """

    bot_id: BotId
    version_id: VersionId
    name: str
    password: str
    state: str
    reason: str
    tokens: frozenset[str]
    until: int | None = None
    owner: int | None = None
    paused: bool = False
    limits: Limits = Limits()


class BotOwned(NamedTuple):
    """Whose a bot is. `owner`: the account, None where nobody owns it."""

    bot_id: BotId
    name: str
    owner: int | None


class StoredVersion(NamedTuple):
    """A version of a bot as it last described itself; fields as in
    :class:`cgos_server.storage.writing.records.VersionAdded`."""

    id: VersionId
    wire_name: str
    label: str
    engine: str
    parameters: str
    author: str


class Owner(NamedTuple):
    """A person's account.

    :ivar password: the argon2 hash
    :ivar admin: True for an operator
    :ivar state: ``active`` or ``disabled``
    """

    id: int
    name: str
    password: str
    admin: bool
    state: str


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """Who is behind a valid session or token of an active account.

    :ivar access_id: the session's or token's number
    :ivar admin: True for an operator, as the account is now
    :ivar kind: ``session`` or ``token``
    :ivar scopes: what a token was made for; a session has all rights of its account
    :ivar expires_at: Unix milliseconds, None for never
    """

    access_id: int
    owner_id: int
    name: str
    admin: bool
    kind: str
    scopes: tuple[str, ...]
    expires_at: int | None


class Access(NamedTuple):
    """Something that lets a person in; fields as in :class:`cgos_server.storage.writing.records.AccessAdded`."""

    id: int
    owner_id: int
    kind: str
    label: str


class RankRow(NamedTuple):
    """What is said of a version's rank; fields as in :class:`cgos_server.storage.writing.refitting.RankMoved`."""

    rank_lower: int | None
    rank_upper: int | None
    best: float | None
    first_three: float | None


class RanksRow(NamedTuple):
    """What is said of all ranks together; fields as in
    :class:`cgos_server.storage.writing.refitting.RanksSummed`."""

    leader_id: VersionId
    versions: int
    apart: int
    turned: int | None
    groups: str


class StoredMove(NamedTuple):
    """A committed move, mover's clock after it."""

    move: str
    clock: ClockState


class StoredGame(NamedTuple):
    """A game with its moves: enough to go on with it, or to tell its end once more.

    :ivar terms: JSON of what it was started with (rules, time control, limits)
    :ivar result: None while unfinished
    :ivar ended_at: Unix milliseconds, None while unfinished
    :ivar winner: 0 Black, 1 White, None none
    :ivar reason: a value of :class:`cgos_protocol.verdict.Reason`, None while unfinished
    :ivar plies: number of moves, None while unfinished
    :ivar why: why these two met, a sentence; empty where no pairing was recorded
    :ivar opening: the name of the opening it began with, or empty
    :ivar event: the name of the event that it is played in, or empty
    :ivar event_round: its round there, 0 where there is none
    """

    id: GameId
    venue_id: VenueId
    black_id: VersionId
    white_id: VersionId
    black: str
    white: str
    black_label: str
    white_label: str
    terms: str
    start: str
    started_at: int
    moves: tuple[StoredMove, ...]
    result: str | None = None
    detail: str = ""
    ended_at: int | None = None
    black_told: int = 2
    white_told: int = 2
    winner: int | None = None
    reason: str | None = None
    plies: int | None = None
    why: str = ""
    opening: str = ""
    event: str = ""
    event_round: int = 0


class Meeting(NamedTuple):
    """How often `black` played Black against `white` in a venue (games that ended with a result)."""

    black: VersionId
    white: VersionId
    games: int


class StoredSuspension(NamedTuple):
    """A version that spoilt its latest games; fields as in
    :class:`cgos_server.storage.writing.records.SuspensionNow`."""

    version_id: VersionId
    spoilt: int
    suspended: bool
    reason: str
    at: int


class Half(NamedTuple):
    """An opening that two versions played more often with these colors than with the others.

    :ivar games: how many times more
    :ivar at: when the latest of all their games with it began (Unix ms)
    """

    black: VersionId
    white: VersionId
    opening: str
    games: int
    at: int


class StoredRefit(NamedTuple):
    """A recorded refit; fields as in :class:`cgos_server.storage.writing.refitting.RefitAdded`."""

    number: int
    included: int
    base: int
    applied: int
    cold: bool
    notes: str
    build: str


class Shown(NamedTuple):
    """What is stored of a version's rating now; fields as in :class:`cgos_server.storage.writing.records.RatingNow`."""

    mean: float
    spread: float
    provisional: bool
    anchor: bool
    lower: float | None
    upper: float | None


class Counted(NamedTuple):
    """What a game counts as in its venue's ledger, corrections included.

    :ivar seq: its own entry, None where it never counted
    :ivar score2: half points for Black, None: nothing
    :ivar repeat: True where its own entry was marked as a repeat of an earlier game and no correction came after
    :ivar ruled: True where a correction changed what it counts as, and did not only put it in a repeated game's place
    """

    seq: int | None
    score2: int | None
    digest: int | None
    repeat: bool
    ruled: bool


class FirstRepeat(NamedTuple):
    """A game that was marked as a repeat and still counts as nothing but that."""

    game_id: GameId
    score2: int


class NextIds(NamedTuple):
    """The next free number of each kind that the server gives out itself."""

    owner: int
    bot: BotId
    version: VersionId
    token: int
    connection: ConnectionId
    round: int
    game: GameId
    access: int
    webhook: int
    event: EventId
    question: QuestionId


class Incarnation(NamedTuple):
    """Which copy of the database this is, see :mod:`cgos_server.storage.incarnation`.

    :ivar numbers_above: new numbers are larger than this one; 0 where the database was never restored or copied
    """

    incarnation: str
    numbers_above: int

    @property
    def suffix(self) -> str:
        """What sets numbers of entries apart from those of other incarnations; empty in the first one."""
        return f"-{self.incarnation}" if self.numbers_above else ""
