"""The rows that an erasure writes: whoever is erased is replaced, and texts that name somebody are worded anew.

Field order as in :mod:`cgos_server.storage.writing.records`. Must not know: SQL, what a text means.
"""

from __future__ import annotations

from typing import Final, NamedTuple, get_args

from cgos_protocol.ids import BotId, ConnectionId, EventId, GameId, VenueId, VersionId


class OwnerErased(NamedTuple):
    """An account of nobody: a name that nobody can have, and no password that lets anybody in."""

    name: str
    name_key: str
    password: str
    admin: int
    state: str
    id: int


class BotErased(NamedTuple):
    """Likewise a bot. It stays, since games refer to it."""

    name: str
    name_key: str
    password: str
    state: str
    reason: str
    owner_id: int | None
    until: int | None
    paused: int
    limits: str
    id: BotId


class VersionErased(NamedTuple):
    """Likewise a version of one."""

    wire_name: str
    wire_key: str
    label: str
    engine: str
    parameters: str
    author: str
    id: VersionId


class TokenForgotten(NamedTuple):
    """A token of a bot goes."""

    id: int


class WebhookForgotten(NamedTuple):
    """A webhook goes."""

    id: int


class BotReworded(NamedTuple):
    """Why a bot is disabled, and whom its owner does not want it to meet (JSON)."""

    reason: str
    limits: str
    id: BotId


class VersionReworded(NamedTuple):
    """What a version says of itself."""

    label: str
    engine: str
    parameters: str
    author: str
    id: VersionId


class TokenReworded(NamedTuple):
    """What a bot's token is for."""

    label: str
    id: int


class AccessReworded(NamedTuple):
    """What a person's token is for."""

    label: str
    id: int


class WebhookReworded(NamedTuple):
    """Where a webhook leads, and why it was stopped."""

    url: str
    why: str
    id: int


class ConnectionReworded(NamedTuple):
    """Where a connection came from, which program it was, how it ended."""

    address: str
    client: str
    reason: str
    id: ConnectionId


class SuspensionReworded(NamedTuple):
    """Why a version is suspended."""

    reason: str
    venue_id: VenueId
    version_id: VersionId


class RoundReworded(NamedTuple):
    """A recorded pairing pass; JSON."""

    inputs: str
    sits_out: str
    notes: str
    id: int


class PairingReworded(NamedTuple):
    """Why a game is played."""

    reason: str
    colors: str
    detail: str
    game_id: GameId


class GameReworded(NamedTuple):
    """How a game ended, and the name of its opening."""

    detail: str
    opening: str
    id: GameId


class AnalysisReworded(NamedTuple):
    """What the mover said about its move."""

    text: str
    game_id: GameId
    ply: int


class CorrectionReworded(NamedTuple):
    """Who changed what a game counts as, and why."""

    actor: str
    reason: str
    id: int


class AuditReworded(NamedTuple):
    """Who did what to whom; `detail` is JSON."""

    actor: str
    subject: str
    detail: str
    id: int


class EventReworded(NamedTuple):
    """One entry of an event's log; `body` is JSON."""

    actor: str
    body: str
    event_id: EventId
    seq: int


Reworded = (
    BotReworded
    | VersionReworded
    | TokenReworded
    | AccessReworded
    | WebhookReworded
    | ConnectionReworded
    | SuspensionReworded
    | RoundReworded
    | PairingReworded
    | GameReworded
    | AnalysisReworded
    | CorrectionReworded
    | AuditReworded
    | EventReworded
)
"""A row with all its texts in which somebody may be named, and behind them its key."""

REWORDED: Final[tuple[type[Reworded], ...]] = get_args(Reworded)

Erasing = OwnerErased | BotErased | VersionErased | TokenForgotten | WebhookForgotten | Reworded
