"""What owners and operators send to the API ``/api/v1`` and are answered: values that server and client share.

Bodies are strict: a field that is not known is refused. Must not know: HTTP, who may do what.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from cgos_protocol.api.messages import Answer, Count, GameNumber, Id, Moment, WireName, replaced_by
from cgos_protocol.ids import GameId
from cgos_protocol.names import ACCOUNT_PASSWORD_MIN, NAME_PATTERN, PASSWORD_MAX, PASSWORD_MIN

Name = Annotated[WireName, Meta(min_length=1, max_length=64)]
AskerName = Annotated[str, Meta(min_length=1, max_length=64, extra_json_schema={"pattern": rf"^\*$|{NAME_PATTERN}"})]
"""An account or a bot, or `*` for everybody."""
Password = Annotated[str, Meta(min_length=1, max_length=1024)]
"""One that is compared with the one that is kept."""


def _new_password(least: int, pattern: str) -> Meta:
    """A password that is to be. Its rules are for programs: whoever breaks them is answered by the rule itself, with a
    sentence, and not by the reader of bodies."""
    return Meta(extra_json_schema={"minLength": least, "maxLength": PASSWORD_MAX, "pattern": pattern})


BotPassword = Annotated[str, _new_password(PASSWORD_MIN, "^[!-~]*$")]
AccountPassword = Annotated[str, _new_password(ACCOUNT_PASSWORD_MIN, r"^[^\x00-\x1f\x7f-\x9f]*$")]
Label = Annotated[str, Meta(max_length=100)]
Reason = Annotated[str, Meta(min_length=1, max_length=200)]
Scope = Literal["bots", "admin"]
Event = Literal[
    "game-started",
    "game-ended",
    "event-started",
    "event-round",
    "event-ended",
    "question",
    "time-losses",
    "suspended",
    "strength-changed",
    "signed-in",
    "signed-out",
]
CorrectedResult = Literal["Void", "B+Forfeit", "W+Forfeit", "Draw"]


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of what is sent to the API."""


class Done(Answer, frozen=True, kw_only=True):
    """It is done and committed; `sentence` says what."""

    sentence: str


class Me(Answer, frozen=True, kw_only=True):
    """Whose token this is, and what it may do."""

    account: WireName
    admin: bool
    scopes: list[str]
    expires_at: Moment | None


class PersonalData(Answer, frozen=True, kw_only=True):
    """All that the server keeps about somebody: a list of rows for each section, as they stand in its tables.

    `format` says what the sections mean. Neither passwords nor secrets are in it.
    """

    format: str
    at: Moment
    account: list[dict[str, Any]]
    sessions_and_tokens: list[dict[str, Any]]
    webhooks: list[dict[str, Any]]
    bots: list[dict[str, Any]]
    versions: list[dict[str, Any]]
    bot_tokens: list[dict[str, Any]]
    connections: list[dict[str, Any]]
    suspensions: list[dict[str, Any]]
    event_entries: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    event_log: list[dict[str, Any]]
    corrections: list[dict[str, Any]]
    audit: list[dict[str, Any]]
    games: list[dict[str, Any]]


class Session(Answer, frozen=True, kw_only=True):
    """Somebody is signed in. This is the only time that the session's text is seen; it is sent as a token is, and can
    do what its account can."""

    account: WireName
    admin: bool
    session: str
    until: Moment


class OpenSession(Answer, frozen=True, kw_only=True):
    """A session of the pages or of the API, without its text. `address`: where it was opened."""

    id: Id
    address: str
    created_at: Moment
    expires_at: Moment | None
    revoked_at: Moment | None


class Sessions(Answer, frozen=True, kw_only=True):
    """One's own sessions, ended ones too, newest first."""

    items: list[OpenSession]


class OwnBot(Answer, frozen=True, kw_only=True):
    """One's own bot."""

    name: WireName
    state: str
    reason: str
    until: Moment | None
    paused: bool
    games_a_day: int | None
    avoid: list[str]
    accepts: Annotated[
        list[str],
        Meta(description="Accounts and bots in whose questions it plays, `*` for everybody's; empty: nobody's."),
    ]
    hours: Annotated[str, Meta(description="When its games may begin, in UTC; empty: always.")]
    versions: list[WireName]
    tokens: Annotated[Count, Meta(description="How many of its tokens are valid.")]
    last_seen_at: Annotated[
        Moment | None, Meta(description="Start or end of its latest connection: the start where it is signed in.")
    ]
    signed_in: bool


class VersionNow(Answer, frozen=True, kw_only=True):
    """What a version does in a venue just now.

    `state`: `not connected`, `idle`, `about to play`, `in an event` (kept for its next game there), `playing`, or what
    keeps it from a new game: `paused`, `draining`, `resting` (the bot itself asked for a pause), `suspended`,
    `out of hours`, `at its daily limit`, `owes ready`, `being counted`, `slow to read`, `venue paused`, `server stops`.
    Others may come.
    """

    version: WireName
    venue: Annotated[WireName | None, Meta(description="null: it is signed in nowhere.")]
    state: str
    began_at: Annotated[Moment | None, Meta(description="When that began; null: not known.")]
    since: Annotated[float | None, replaced_by("began_at", "Unix time in seconds")]
    games: Annotated[list[GameNumber], Meta(description="Those that it plays.")]
    why: Annotated[str, Meta(description="Why it is not paired just now, or what it waits for; a sentence.")]
    paired: Annotated[bool, Meta(description="False: something besides an opponent keeps it from a new game.")]


class OwnBotNow(Answer, frozen=True, kw_only=True):
    """What one's bot does just now, at most two seconds old. `known`: false where the server that plays does not
    answer; then `sentence` says so and there are no `items`."""

    bot: WireName
    known: bool
    sentence: str
    items: list[VersionNow]


class OwnBots(Answer, frozen=True, kw_only=True):
    """One's own bots."""

    items: list[OwnBot]


class Token(Answer, frozen=True, kw_only=True):
    """A token, without its secret. Of a bot it has no scopes."""

    id: Id
    label: str
    scopes: list[str]
    created_at: Moment
    expires_at: Moment | None
    revoked_at: Moment | None


class Tokens(Answer, frozen=True, kw_only=True):
    """Tokens, revoked ones too, newest first."""

    items: list[Token]


class NewToken(Answer, frozen=True, kw_only=True):
    """A token was made. This is the only time that its text is seen."""

    id: Id
    token: str


class Delivery(Answer, frozen=True, kw_only=True):
    """What became of a message. `tries`: the how-manieth try of it that was."""

    at: Moment
    event: str
    sentence: str
    tries: int


class Webhook(Answer, frozen=True, kw_only=True):
    """An address that is told what bots do. `stopped_at` and `why`: it failed for too long and is told no more."""

    id: Id
    url: str
    events: list[str]
    bot: Annotated[WireName | None, Meta(description="Of this bot alone; null: of all one's bots.")]
    created_at: Moment
    stopped_at: Moment | None
    why: str
    delivered: Annotated[Delivery | None, Meta(description="The latest message that was delivered.")] = None
    failed: Annotated[Delivery | None, Meta(description="The latest try that failed.")] = None
    failed_in_a_row: Annotated[Count, Meta(description="Tries that failed since the last success.")] = 0


class Webhooks(Answer, frozen=True, kw_only=True):
    """One's own webhooks, newest first. `counted_since`: since when it is known what became of messages."""

    items: list[Webhook]
    counted_since: Moment


class NewWebhook(Answer, frozen=True, kw_only=True):
    """A webhook was made. What is sent to it is signed with the secret, which is seen only this once."""

    id: Id
    secret: str


class PreviewedPair(Answer, frozen=True, kw_only=True):
    """Two versions that would meet; `detail` is what was weighed."""

    high: WireName
    low: WireName
    reason: str
    detail: dict[str, Any]


class Previewed(Answer, frozen=True, kw_only=True):
    """What a pairing pass would decide now. Nothing comes of it. `sits_out`: name -> why; `total`: worth of the
    pairs less costs, and what waiting added, in millionths of a bit, null where the method does not say."""

    venue: WireName
    policy: str
    method: str
    options: dict[str, Any]
    ready: list[str]
    pairs: list[PreviewedPair]
    sits_out: dict[str, str]
    notes: list[str]
    total: int | None


class Account(Answer, frozen=True, kw_only=True):
    """A person's account."""

    id: Id
    name: WireName
    admin: bool
    state: str
    created_at: Moment


class Accounts(Answer, frozen=True, kw_only=True):
    """All accounts, by name."""

    items: list[Account]


class TranscriptLine(Answer, frozen=True, kw_only=True):
    """A line or message on the wire.

    `way`: `<` the bot said it, `>` the server; `game`:
    the one that it is about, 0 where none is known.
    """

    said_at: Annotated[Moment, Meta(description="When it was received or written: Unix time in milliseconds.")]
    at: Annotated[int, replaced_by("said_at", "Unix time in microseconds")]
    name: WireName
    connection: int
    way: str
    text: str
    venue: WireName
    game: GameId


class Arranged(Answer, frozen=True, kw_only=True):
    """A game that is about to begin. `plies`: moves of an old game with which it begins."""

    game: GameId
    venue: WireName
    black: WireName
    white: WireName
    rated: bool
    plies: int


class EndedGame(Answer, frozen=True, kw_only=True):
    """A game that was ended."""

    game: GameId
    venue: WireName
    black: WireName
    white: WireName
    result: str


class Reloaded(Answer, frozen=True, kw_only=True):
    """A sentence for each thing that holds from now on; none where nothing has changed."""

    changes: list[str]


class Upgraded(Answer, frozen=True, kw_only=True):
    """Another program takes over: it was checked, and begins at once. `before` and `after` are versions of cgos-server;
    `notes` are sentences about what it will leave out. `pause_s`: how long nobody was served, seconds, where that is
    known already."""

    before: str
    after: str
    notes: list[str]
    pause_s: float | None = None


class Connection(Answer, frozen=True, kw_only=True):
    """A sign-in of a bot. `reason` is why it went; without an end it is there, or a crash has hidden it."""

    id: Id
    venue: WireName
    version: WireName
    bot: WireName
    address: str
    client: Annotated[str, Meta(description="What it said it is.")]
    opened_at: Moment
    closed_at: Moment | None
    reason: str


class ConnectionPage(Answer, frozen=True, kw_only=True):
    """Sign-ins, newest first. `next` is the `before` of the next page, null at the end."""

    items: list[Connection]
    next: int | None


class Access(Answer, frozen=True, kw_only=True):
    """What lets a person in, without its text. `address`: where it was made."""

    id: Id
    kind: Literal["session", "token"]
    label: str
    scopes: list[str]
    address: str
    created_at: Moment
    expires_at: Moment | None
    revoked_at: Moment | None


class AccessList(Answer, frozen=True, kw_only=True):
    """Somebody's sessions and tokens, ended ones too while they are kept, newest first."""

    account: WireName
    items: list[Access]


class AuditEntry(Answer, frozen=True, kw_only=True):
    """Something that an operator, an owner or the server itself did."""

    id: Id
    at: Moment
    actor: str
    action: str
    subject: str
    detail: dict[str, Any]


class AuditPage(Answer, frozen=True, kw_only=True):
    """Deeds, newest first. `next` is the `before` of the next page, null at the end."""

    items: list[AuditEntry]
    next: int | None


class VenueNow(Answer, frozen=True, kw_only=True):
    """A venue in the live server."""

    name: WireName
    port: int
    playing: int
    idle: int
    owing: int
    games: int
    paused: bool


class BotNow(Answer, frozen=True, kw_only=True):
    """A signed-in version."""

    name: WireName
    venue: WireName
    state: str
    address: str
    client: str
    game: GameId | None
    suspended: str
    paused: bool
    connection: int
    since: Annotated[float, replaced_by("signed_in_at", "Unix time in seconds")]
    signed_in_at: Annotated[Moment | None, Meta(description="null: the server that plays is older.")] = None


class GameNow(Answer, frozen=True, kw_only=True):
    """A running game."""

    game: GameId
    venue: WireName
    black: WireName
    white: WireName
    ply: int
    black_here: bool
    white_here: bool


class ServerNow(Answer, frozen=True, kw_only=True):
    """The live server, for operators."""

    pid: int
    version: str
    up_s: float
    ready: bool
    draining: bool
    venues: list[VenueNow]
    games: list[GameNow]
    bots: list[BotNow]
    moves: int
    ended: dict[str, int]
    warnings: int
    errors: int
