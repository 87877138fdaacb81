"""What the read side answers about people: who somebody is, what is theirs, what lets them in.

Times are Unix milliseconds. Never holds a password or the text of a token; only :class:`WebhookRow` holds a secret,
because what is sent is signed with it. Must not know: where the answers come from, who may see them.
"""

from __future__ import annotations

from cgos_protocol.api.messages import Suspended
from cgos_protocol.api.people import Account
from cgos_server.storage.reading.answers import Value


class AccountDetail(Account, frozen=True, kw_only=True):
    """A person's account. `bots`: how many it owns."""

    bots: int


class OwnedLimits(Value, frozen=True, kw_only=True):
    """What its owner allows a bot; fields as in :class:`cgos_protocol.session.Limits`, `avoid` and `accepts` in the
    order of names, `hours` as people write them, empty for all."""

    games_a_day: int | None
    avoid: list[str]
    accepts: list[str]
    hours: str = ""


class OwnedBot(Value, frozen=True, kw_only=True):
    """A bot as its owner sees it.

    :ivar until: when a disabled one may play again, None for never
    :ivar paused: its owner wants no game for it
    :ivar tokens: how many are valid
    :ivar last_seen_at: start or end of its latest connection, the start where it is `signed_in`
    :ivar suspended: where it gets no game, and why
    """

    id: int
    name: str
    state: str
    reason: str
    until: int | None
    paused: bool
    limits: OwnedLimits
    created_at: int
    versions: list[str]
    tokens: int
    last_seen_at: int | None
    signed_in: bool
    suspended: list[Suspended]


class BotOwnerRow(Value, frozen=True, kw_only=True):
    """Whose version it is: its bot and that bot's owner."""

    bot: str
    owner_id: int


class WebhookRow(Value, frozen=True, kw_only=True):
    """Where somebody wants to be told. `bot`: of that one only, None for all of the owner's; `stopped_at` with `why`:
    nothing is sent any more. `secret` signs what is sent: never show it."""

    id: int
    owner_id: int
    owner: str
    bot: str | None
    url: str
    secret: str
    events: list[str]
    created_at: int
    stopped_at: int | None
    why: str


class WebhookNotes(Value, frozen=True, kw_only=True):
    """What became of webhooks' messages, as the process that sends them notes it for others.

    :ivar outcomes: number of a webhook -> JSON
    :ivar since: when that begins; None where nothing was ever noted
    :ivar until: everything that happened before was told, or will be
    """

    outcomes: dict[int, str]
    since: int | None
    until: int | None
