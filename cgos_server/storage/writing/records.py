"""The rows that the writer takes, as values: one class a kind of write.

Field order is the order of the statement's parameters. Times are Unix milliseconds (``*_at``) or microseconds of a
clock (``*_us``). Must not know: SQL, the event loop, who writes.
"""

from __future__ import annotations

from typing import NamedTuple

from cgos_protocol.ids import BotId, ConnectionId, EventId, GameId, VenueId, VersionId
from cgos_server.storage.writing.asking import Asking
from cgos_server.storage.writing.erasing import Erasing
from cgos_server.storage.writing.refitting import Refitting


class VenueAdded(NamedTuple):
    """A venue's first start. `fixed` is JSON of what may never change (game, size, komi, rules, time)."""

    id: VenueId
    name: str
    fixed: str
    created_at: int


class OwnerAdded(NamedTuple):
    """A person's account. `admin` is 0 or 1."""

    id: int
    name: str
    name_key: str
    password: str
    admin: int
    created_at: int


class OwnerChanged(NamedTuple):
    """An account's password hash, right or state. `state`: ``active`` or ``disabled``."""

    password: str
    admin: int
    state: str
    id: int


class BotAdded(NamedTuple):
    """A bot registered. `state`: ``active``, ``pending`` or ``disabled``. `name_key` is the folded name."""

    id: BotId
    name: str
    name_key: str
    password: str
    state: str
    created_at: int


class BotPassword(NamedTuple):
    """A bot's password hash was replaced."""

    password: str
    id: BotId


class BotState(NamedTuple):
    """A bot was approved, disabled or enabled; `reason` for people. `until`: when a disabled one may play again (Unix
    ms), None for never."""

    state: str
    reason: str
    until: int | None
    id: BotId


class BotOwner(NamedTuple):
    """A bot was claimed by an account, or with None given up."""

    owner_id: int | None
    id: BotId


class BotWishes(NamedTuple):
    """What a bot's owner wants. `paused`: 1 where it is to get no game; `limits`: JSON of
    :class:`cgos_protocol.session.Limits`, empty for none."""

    paused: int
    limits: str
    id: BotId


class AccessAdded(NamedTuple):
    """Something that lets a person in. `kind`: ``session`` or ``token``; `digest` is the hexadecimal SHA-256 of its
    text; `scopes`: words with blanks between them; `expires_at` in Unix ms, None for never."""

    id: int
    owner_id: int
    kind: str
    digest: str
    label: str
    scopes: str
    address: str
    created_at: int
    expires_at: int | None


class AccessRevoked(NamedTuple):
    """It lets nobody in any more."""

    revoked_at: int
    id: int


class AccessForgotten(NamedTuple):
    """It lets nobody in for so long that nobody asks about it any more: the row goes. The audit stays."""

    id: int


class WebhookAdded(NamedTuple):
    """Somebody wants to be told by HTTP. `bot_id`: of one bot only, None for all of the owner's; `secret` signs what is
    sent; `events`: words with blanks between them."""

    id: int
    owner_id: int
    bot_id: BotId | None
    url: str
    secret: str
    events: str
    created_at: int


class WebhookStopped(NamedTuple):
    """It is not sent to any more; `why` for people."""

    stopped_at: int
    why: str
    id: int


class VersionAdded(NamedTuple):
    """A version of a bot, with its server-wide unique wire name.

    `wire_key` is the folded wire name. `label` is unique for its bot; empty for the version that carries the bot's own
    name. `parameters` is compact JSON of an object, or empty.
    """

    id: VersionId
    bot_id: BotId
    wire_name: str
    wire_key: str
    label: str
    engine: str
    parameters: str
    author: str
    created_at: int


class VersionDescribed(NamedTuple):
    """A version signed in and describes itself otherwise than before."""

    engine: str
    parameters: str
    author: str
    id: VersionId


class TokenAdded(NamedTuple):
    """A token of a bot; `digest` is the hexadecimal SHA-256 of its text."""

    id: int
    bot_id: BotId
    digest: str
    label: str
    created_at: int


class TokenRevoked(NamedTuple):
    """A token stopped being valid."""

    revoked_at: int
    id: int


class ConnectionOpened(NamedTuple):
    """A sign-in succeeded."""

    id: ConnectionId
    venue_id: VenueId
    version_id: VersionId
    address: str
    client: str
    opened_at: int


class ConnectionClosed(NamedTuple):
    """A signed-in connection ended."""

    closed_at: int
    reason: str
    id: ConnectionId


class ConnectionForgotten(NamedTuple):
    """A connection that ended so long ago that it is kept no longer: the row goes."""

    id: ConnectionId


class ConnectionAddress(NamedTuple):
    """A connection stays, with another address or, empty, without one."""

    address: str
    id: ConnectionId


class RoundAdded(NamedTuple):
    """One pairing pass, replayable: `options`, `inputs`, `sits_out` and `notes` are JSON, `seed` a decimal number;
    `total` is what the pairs are worth together, see :class:`cgos_server.core.pairing.base.Pairing`."""

    id: int
    venue_id: VenueId
    number: int
    at: int
    policy: str
    method: str
    options: str
    seed: str
    inputs: str
    sits_out: str
    notes: str
    total: int | None = None


class RoundInputs(NamedTuple):
    """A pairing pass has other inputs or, empty, none any more."""

    inputs: str
    id: int


class GameAdded(NamedTuple):
    """A game begins. Labels are the ratings as shown to the bots; `start` is JSON of set-up stones or empty; `opening`
    is the name of the one that it begins with, or empty."""

    id: GameId
    venue_id: VenueId
    round_id: int | None
    black_id: VersionId
    white_id: VersionId
    black_label: str
    white_label: str
    terms: str
    start: str
    started_at: int
    opening: str = ""


class PairingAdded(NamedTuple):
    """Why this game is played: the sentence for people and its inputs as JSON; `colors` says why these colors."""

    game_id: GameId
    round_id: int
    high_id: VersionId
    low_id: VersionId
    reason: str
    colors: str
    detail: str


class MoveAdded(NamedTuple):
    """One accepted move (or a pass) with the mover's clock after it."""

    game_id: GameId
    ply: int
    move: str
    main_us: int
    period_us: int
    quota: int
    bank_us: int
    used_us: int
    at: int


class AnalysisAdded(NamedTuple):
    """What the mover said about its move: one line of compact JSON, bounded."""

    game_id: GameId
    ply: int
    text: str


class AnalysisForgotten(NamedTuple):
    """What the mover said about its move is kept no longer: the row goes."""

    game_id: GameId
    ply: int


class GameEnded(NamedTuple):
    """A verdict. `winner` is 0 Black, 1 White, None none. `black_told` and `white_told`: see `Told`."""

    ended_at: int
    winner: int | None
    reason: str
    margin2: int | None
    detail: str
    result: str
    black_told: int
    white_told: int
    id: GameId


class BlackTold(NamedTuple):
    """0: `gameover` was never written to Black; 1: written, not acknowledged; 2: settled."""

    progress: int
    id: GameId


class WhiteTold(NamedTuple):
    """As `BlackTold`, for White."""

    progress: int
    id: GameId


class LedgerAdded(NamedTuple):
    """A numbered entry of a venue's ledger; see :class:`cgos_server.core.rating.base.Entry`.

    `game_id` is also the game that a correction is about. `digest`: the same number for the same moves and result, of
    games that ended by score or resignation.
    """

    venue_id: VenueId
    seq: int
    at: int
    kind: str
    game_id: GameId | None
    version_id: VersionId | None
    black_id: VersionId | None
    white_id: VersionId | None
    score2: int | None
    value: float | None
    sd: float | None = None
    other_id: VersionId | None = None
    was2: int | None = None
    repeat: int = 0
    digest: int | None = None
    surely: int = 0


class RatingMoved(NamedTuple):
    """History: entry `seq` moved this version's rating under `system`."""

    venue_id: VenueId
    system: str
    seq: int
    version_id: VersionId
    before_mean: float
    before_spread: float
    after_mean: float
    after_spread: float
    games: int
    before_lower: float | None = None
    before_upper: float | None = None
    after_lower: float | None = None
    after_upper: float | None = None


class RatingNow(NamedTuple):
    """The standing of a version under `system` after entry `seq` (replaces the older row)."""

    venue_id: VenueId
    system: str
    version_id: VersionId
    mean: float
    spread: float
    games: int
    provisional: int
    anchor: int
    seq: int
    lower: float | None = None
    upper: float | None = None


class SuspensionNow(NamedTuple):
    """How many games in a row a version spoilt in a venue, and whether it is suspended for it (replaces the older row).

    `suspended` is 0 or 1; `reason` is a sentence for people, empty for none.
    """

    venue_id: VenueId
    version_id: VersionId
    spoilt: int
    suspended: int
    reason: str
    at: int


class StateSaved(NamedTuple):
    """A system's whole state after entry `seq` and refit `refit` (0: none), to start from (replaces the older one)."""

    venue_id: VenueId
    system: str
    seq: int
    refit: int
    at: int
    state: bytes


class BuildSeen(NamedTuple):
    """What the numbers depend on to the last bit besides the results: Python, numpy, BLAS, processor. `id` is a digest
    of `text` (replaces itself)."""

    id: str
    text: str


class RatingPluginSeen(NamedTuple):
    """A plug-in, by distribution and version, computes a system's ratings in a venue; after entry `seq` it began to,
    the last time that it did (replaces itself)."""

    venue_id: VenueId
    system: str
    plugin: str
    seq: int


class CorrectionAdded(NamedTuple):
    """An operator changed what an ended game counts as; the game's own row stays. `seq` is the ledger's entry, None
    where ratings are not concerned. `winner` and `result` as in `GameEnded`; `result` ``Void`` for nothing."""

    game_id: GameId
    at: int
    seq: int | None
    actor: str
    reason: str
    winner: int | None
    result: str


class BotFamily(NamedTuple):
    """The bot belongs to the family that is led by the bot with the number `family_id`; None: to its own."""

    family_id: BotId | None
    id: BotId


class AuditAdded(NamedTuple):
    """Somebody did something to the server: who, what, to whom, why. `detail` is JSON."""

    at: int
    actor: str
    action: str
    subject: str
    detail: str


class AuditForgotten(NamedTuple):
    """An entry of the audit is kept no longer: the row goes."""

    id: int


class EventAdded(NamedTuple):
    """An event is announced."""

    id: EventId
    name: str
    venue_id: VenueId
    created_at: int
    phase: str


class EventPhase(NamedTuple):
    """An event is in another phase."""

    phase: str
    id: EventId


class EventLogged(NamedTuple):
    """One entry of an event's log; `body` is JSON of :mod:`cgos_server.tournaments.running.log`."""

    event_id: EventId
    seq: int
    at: int
    actor: str
    kind: str
    body: str


class EventEntrant(NamedTuple):
    """A version entered an event, under the number `entrant`."""

    event_id: EventId
    entrant: int
    version_id: VersionId
    bot_id: BotId


class EventGame(NamedTuple):
    """A game is one of an event: of a round, under a number of the event."""

    game_id: GameId
    event_id: EventId
    round: int
    number: int


Record = (
    VenueAdded
    | OwnerAdded
    | OwnerChanged
    | BotAdded
    | BotPassword
    | BotState
    | BotOwner
    | BotWishes
    | AccessAdded
    | AccessRevoked
    | AccessForgotten
    | WebhookAdded
    | WebhookStopped
    | VersionAdded
    | VersionDescribed
    | TokenAdded
    | TokenRevoked
    | ConnectionOpened
    | ConnectionClosed
    | ConnectionForgotten
    | ConnectionAddress
    | RoundAdded
    | RoundInputs
    | GameAdded
    | PairingAdded
    | MoveAdded
    | AnalysisAdded
    | AnalysisForgotten
    | GameEnded
    | BlackTold
    | WhiteTold
    | LedgerAdded
    | RatingMoved
    | RatingNow
    | SuspensionNow
    | Refitting
    | StateSaved
    | BuildSeen
    | RatingPluginSeen
    | CorrectionAdded
    | BotFamily
    | EventAdded
    | EventPhase
    | EventLogged
    | EventEntrant
    | Asking
    | EventGame
    | AuditAdded
    | AuditForgotten
    | Erasing
)
