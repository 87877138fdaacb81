"""The store's interface: told facts in groups, asked questions at start and sign-in. No SQL crosses this line.

Every write of the server goes through :meth:`Store.submit` of the one writer. Groups are committed in the order of
their submission, each wholly or not at all, and `then` is called in the event loop only after the commit: commit,
then tell. Must not know: games' rules, sessions, ratings' formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from cgos_protocol.clock import ClockState
from cgos_protocol.session import Limits
from cgos_server.core.rating.base import Entry
from cgos_server.storage.records import Record


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

    bot_id: int
    version_id: int
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

    bot_id: int
    name: str
    owner: int | None


class StoredVersion(NamedTuple):
    """A version of a bot as it last described itself; fields as in
    :class:`cgos_server.storage.records.VersionAdded`."""

    id: int
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


class Person(msgspec.Struct, frozen=True):
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


def as_person(row: Sequence[Any]) -> Person:
    """The person of a row with the fields of :class:`Person` in their order."""
    access_id, owner_id, name, admin, kind, scopes, expires_at = row
    return Person(
        access_id=access_id,
        owner_id=owner_id,
        name=name,
        admin=bool(admin),
        kind=kind,
        scopes=tuple(scopes.split()),
        expires_at=expires_at,
    )


class Access(NamedTuple):
    """Something that lets a person in; fields as in :class:`cgos_server.storage.records.AccessAdded`."""

    id: int
    owner_id: int
    kind: str
    label: str


class StoredWebhook(NamedTuple):
    """Where somebody is told by HTTP; fields as in :class:`cgos_server.storage.records.WebhookAdded`."""

    id: int
    owner_id: int
    bot_id: int | None
    url: str


class Token(NamedTuple):
    """A bot's token, without its text.

    :ivar created_at: Unix milliseconds
    :ivar revoked_at: Unix milliseconds, None while it is valid
    """

    id: int
    label: str
    created_at: int
    revoked_at: int | None


class StoredVenue(NamedTuple):
    """A venue as the database knows it."""

    id: int
    name: str
    fixed: str


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
    """

    id: int
    venue_id: int
    black_id: int
    white_id: int
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


class Meeting(NamedTuple):
    """How often `black` played Black against `white` in a venue (games that ended with a result)."""

    black: int
    white: int
    games: int


class StoredSetback(NamedTuple):
    """A version that spoilt its latest games; fields as in :class:`cgos_server.storage.records.SetbackNow`."""

    version_id: int
    spoilt: int
    set_aside: bool
    reason: str
    at: int


class Half(NamedTuple):
    """An opening that two versions played more often with these colors than with the others.

    :ivar games: how many times more
    :ivar at: when the latest of all their games with it began (Unix ms)
    """

    black: int
    white: int
    opening: str
    games: int
    at: int


class StoredState(NamedTuple):
    """A rating system's saved state; fields as in :class:`cgos_server.storage.records.StateSaved`."""

    seq: int
    refit: int
    state: bytes


class StoredRefit(NamedTuple):
    """A recorded refit; fields as in :class:`cgos_server.storage.records.RefitAdded`."""

    number: int
    included: int
    base: int
    applied: int
    cold: bool
    notes: str
    build: str


class Shown(NamedTuple):
    """What is stored of a version's rating now; fields as in :class:`cgos_server.storage.records.RatingNow`."""

    mean: float
    spread: float
    provisional: bool
    anchor: bool


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

    game_id: int
    score2: int


class NextIds(NamedTuple):
    """The next free number of each kind that the server gives out itself."""

    owner: int
    bot: int
    version: int
    token: int
    connection: int
    round: int
    game: int
    access: int
    webhook: int


class Store(Protocol):
    """A database behind a dozen calls."""

    def submit(self, records: Sequence[Record], then: Callable[[], None] | None = None) -> None:
        """Queue a group of writes. Called in the event loop, never blocks, never raises.

        `then` is called in the event loop after the group's commit, in order of submission. If the commit fails for
        longer than the configured time, `then` is never called and `failed` (given to the store when it was built)
        is called once with a :class:`cgos_protocol.errors.CommitFailed`.
        """

    async def commit(self, records: Sequence[Record]) -> None:
        """As :meth:`submit`, and wait until it is committed. Raises CommitFailed."""

    @property
    def healthy(self) -> bool:
        """False while commits are failing or have not returned for longer than a second."""

    async def venues(self) -> list[StoredVenue]: ...

    async def next_ids(self) -> NextIds: ...

    async def login(self, name: str) -> BotLogin | None:
        """The bot with exactly this name, or None."""

    async def name_taken(self, name_key: str) -> str | None:
        """The bot, account or version whose folded (wire) name is `name_key` as it is spelt, or None."""

    async def version(self, bot_id: int, label: str) -> StoredVersion | None:
        """The version of this bot with exactly this label, or None."""

    async def owner(self, name: str) -> Owner | None:
        """The account with exactly this name, or None."""

    async def person(self, digest: str, now_ms: int) -> Person | None:
        """Whose session or token has this digest, where it is valid at `now_ms` (Unix ms) and the account is active;
        otherwise None."""

    async def access(self, access_id: int) -> Access | None:
        """One session or token that was not revoked, or None."""

    async def valid_access(self, owner_id: int, now_ms: int) -> list[Access]:
        """The sessions and tokens with which this account could be used at `now_ms` (Unix ms), oldest first."""

    async def old_access(self, owner_id: int, before_ms: int) -> list[int]:
        """The numbers of sessions and tokens of this account that ended before this time (Unix ms), some of the oldest
        first."""

    async def webhook(self, webhook_id: int) -> StoredWebhook | None:
        """One webhook that is sent to, or None."""

    async def webhooks_of(self, owner_id: int) -> list[StoredWebhook]:
        """The webhooks of this account that are sent to, oldest first."""

    async def bot_owner(self, name: str) -> BotOwned | None:
        """Whose the bot is that has this name, or whose version has it; None where there is none."""

    async def tokens(self, bot_id: int) -> list[Token]:
        """All tokens that this bot ever had, oldest first."""

    async def unfinished_games(self) -> list[StoredGame]:
        """All games without a verdict, moves included, oldest first."""

    async def left_open(self) -> dict[int, int]:
        """Connections whose end was not written down, as the server was killed: number -> when it was still alive by
        what else is stored, Unix ms; not before the connection began. To be asked before anybody signs in."""

    async def untold_games(self, venue_id: int, version_id: int, since: int) -> list[StoredGame]:
        """The games of this version that ended at or after `since` (Unix ms) and whose end it was not surely told (its
        `told` is below 2), moves included, in the order of their ends; the latest 32 at most."""

    async def game(self, game_id: int) -> StoredGame | None:
        """One game, moves included, or None."""

    async def recent_games(self, venue_id: int, limit: int) -> list[StoredGame]:
        """The latest `limit` games of the venue that have ended, without their moves, oldest first (by number)."""

    async def games_begun(self, venue_id: int, version_id: int, since: int) -> int:
        """How many games of this version in this venue began at or after `since` (Unix ms)."""

    async def ledger(self, venue_id: int, after: int = 0, limit: int | None = None) -> list[Entry]:
        """The venue's numbered entries from `after` + 1 on, in order, `limit` at most."""

    async def published(self, venue_id: int) -> dict[str, int]:
        """Rating system -> the last entry whose changes it published in this venue."""

    async def shown(self, venue_id: int, system: str) -> dict[int, Shown]:
        """Version id -> what is stored of its rating under this system now."""

    async def rating_state(self, venue_id: int, system: str) -> StoredState | None:
        """The saved state of this system in this venue, or None."""

    async def refits(self, venue_id: int, system: str, after: int = 0, limit: int | None = None) -> list[StoredRefit]:
        """The recorded refits with numbers above `after`, in order, `limit` at most."""

    async def last_refit(self, venue_id: int, system: str) -> int:
        """Number of the last recorded refit, 0 for none."""

    async def digests(self, venue_id: int, after: int = 0, limit: int | None = None) -> list[tuple[int, int, int, int]]:
        """(entry, black, white, digest) of every GAME entry above `after` that has a digest and counts as it was
        played, in order, `limit` at most."""

    async def counted(self, game_id: int) -> Counted | None:
        """What the ledger says of an ended game; None where it has no entry there."""

    async def first_repeat(self, venue_id: int, black: int, white: int, digest: int) -> FirstRepeat | None:
        """The earliest uncorrected game between these two that was marked as a repeat with this digest, or None."""

    async def bot_names(self) -> list[tuple[int, str, int | None]]:
        """(id, name, family's id or None) of every bot, oldest first."""

    async def bot_ids(self) -> dict[int, int]:
        """version id -> id of the bot whose version it is."""

    async def meetings(self, venue_id: int) -> list[Meeting]: ...

    async def recent_opponents(self, venue_id: int, last: int) -> dict[int, list[int]]:
        """version id -> version ids of the opponents in its last games, `last` at most, oldest first.

        Whoever played in none of the venue's latest 50,000 games is left out, and of the others older games are.
        """

    async def halves(self, venue_id: int) -> list[Half]:
        """The openings that two versions have not yet played equally often with either color. Games that run count,
        void and aborted ones do not."""

    async def thinking(self, venue_id: int, games: int) -> dict[int, float]:
        """version id -> mean microseconds a game that it thought itself, in the venue's latest `games` games that ended
        with a result."""

    async def setbacks(self, venue_id: int) -> list[StoredSetback]:
        """The versions that spoilt their latest game or are set aside, by id."""

    async def last_round(self, venue_id: int) -> int:
        """Number of the venue's latest act of pairing, 0 for none."""

    async def version_names(self) -> dict[int, str]:
        """version id -> wire name."""

    async def close(self) -> None:
        """Commit what has gathered, then release everything."""
