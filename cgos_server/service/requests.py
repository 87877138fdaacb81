"""What an operator may ask for, and what comes back: values that are the same in memory and, as JSON, on the control
socket.

Must not know: how it is done, who may ask, sockets.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from cgos_protocol.errors import Code, Refused
from cgos_server.service.control import ArrangedGame, EndedGame, PairingPreview, ServerStatus, VersionNow

RIGHTS: Final = ("admin",)
"""What an account may be given."""

SCOPES: Final = ("bots", "admin")
"""What a token of the API may be made for: one's own bots, or what an operator may do."""

EVENTS: Final = ("game-started", "game-ended", "time-losses", "set-aside", "signed-in", "signed-out")
"""What a webhook may be told."""

RESULTS: Final = ("Void", "B+Forfeit", "W+Forfeit", "Draw")
"""What an ended game can be made to count as."""


class _Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True):
    """A deed. `actor` is who asks, for the audit."""

    actor: str = "operator"


class BotAdd(_Request, frozen=True, kw_only=True, tag="bot add"):
    """Register a bot that may play at once."""

    name: str
    password: str


class BotPasswd(_Request, frozen=True, kw_only=True, tag="bot passwd"):
    """Replace a bot's password."""

    name: str
    password: str


class BotDisable(_Request, frozen=True, kw_only=True, tag="bot disable"):
    """Keep a bot out and dismiss its connections; `reason` is told to its author. `until`: Unix milliseconds, None:
    until it is enabled again."""

    name: str
    reason: str
    until: int | None = None


class BotEnable(_Request, frozen=True, kw_only=True, tag="bot enable"):
    """Let a disabled bot play again."""

    name: str


class BotRecall(_Request, frozen=True, kw_only=True, tag="bot recall"):
    """Let a bot that was set aside, or one of its versions, play again; without `venue` everywhere."""

    name: str
    venue: str | None = None


class Approve(_Request, frozen=True, kw_only=True, tag="approve"):
    """Let a bot play that registered itself and waits."""

    name: str


class AccountAdd(_Request, frozen=True, kw_only=True, tag="account add"):
    """Make a person's account."""

    name: str
    password: str
    admin: bool = False


class AccountPasswd(_Request, frozen=True, kw_only=True, tag="account passwd"):
    """Replace an account's password."""

    name: str
    password: str


class AccountGrant(_Request, frozen=True, kw_only=True, tag="account grant"):
    """Give an account a right (`admin`)."""

    name: str
    right: str


class AccountRevoke(_Request, frozen=True, kw_only=True, tag="account revoke"):
    """Take a right away."""

    name: str
    right: str


class AccountDisable(_Request, frozen=True, kw_only=True, tag="account disable"):
    """Keep a person out and end all that lets it in: sessions and tokens. `reason` is kept."""

    name: str
    reason: str


class AccountEnable(_Request, frozen=True, kw_only=True, tag="account enable"):
    """Let a person in again, by its password."""

    name: str


class TokenMake(_Request, frozen=True, kw_only=True, tag="token make"):
    """Make a token for a bot; `label` is for people."""

    bot: str
    label: str = ""


class TokenRevoke(_Request, frozen=True, kw_only=True, tag="token revoke"):
    """End a token's validity."""

    bot: str
    token: int


class SignIn(_Request, frozen=True, kw_only=True, tag="sign in"):
    """Open a session of the pages for an account; `address` is the person's."""

    name: str
    password: str
    address: str


class AccountRegister(_Request, frozen=True, kw_only=True, tag="account register"):
    """Make one's own account, where that is open, and sign in."""

    name: str
    password: str
    address: str


class SignOut(_Request, frozen=True, kw_only=True, tag="sign out"):
    """End the session with which it is asked."""


class PasswordChange(_Request, frozen=True, kw_only=True, tag="password change"):
    """Replace one's own password and end all other sessions."""

    old: str
    new: str


class BotClaim(_Request, frozen=True, kw_only=True, tag="bot claim"):
    """Become the owner of a bot by its password or one of its tokens."""

    bot: str
    secret: str


class BotRelease(_Request, frozen=True, kw_only=True, tag="bot release"):
    """Give a bot up."""

    bot: str


class BotOwn(_Request, frozen=True, kw_only=True, tag="bot own"):
    """Make an account the owner of a bot, whoever owned it; None: nobody."""

    bot: str
    account: str | None


class BotPause(_Request, frozen=True, kw_only=True, tag="bot pause"):
    """Give a bot no new game until it is resumed, wherever it signs in; running games go on."""

    bot: str


class BotResume(_Request, frozen=True, kw_only=True, tag="bot resume"):
    """Give it games again."""

    bot: str


class BotDrain(_Request, frozen=True, kw_only=True, tag="bot drain"):
    """Send a bot home when its running games have ended. It may come back."""

    bot: str


class BotLimit(_Request, frozen=True, kw_only=True, tag="bot limit"):
    """What its owner allows a bot, on top of what it says itself. `games_a_day`: None for no limit; `avoid`: wire names
    that it must not meet; `hours`: when its games may begin, as :func:`cgos_protocol.hours.parse` reads it, empty
    for always."""

    bot: str
    games_a_day: int | None = None
    avoid: list[str] = []
    hours: str = ""


class BotLook(_Request, frozen=True, kw_only=True, tag="bot look"):
    """What a bot's versions do in the live server now, and why they are not paired."""

    bot: str


class AccessMake(_Request, frozen=True, kw_only=True, tag="access make"):
    """Make a token for the API. `scopes` of :data:`SCOPES`; `days`: how long it is valid, None for ever."""

    label: str
    scopes: list[str]
    days: int | None = None


class AccessRevoke(_Request, frozen=True, kw_only=True, tag="access revoke"):
    """End one's own token or session."""

    access: int


class WebhookAdd(_Request, frozen=True, kw_only=True, tag="webhook add"):
    """Be told by HTTP what one's bots, or with `bot` that one, do. `events` of :data:`EVENTS`."""

    url: str
    events: list[str]
    bot: str | None = None


class WebhookRemove(_Request, frozen=True, kw_only=True, tag="webhook remove"):
    """Not to be told any more."""

    webhook: int


class WebhookGiveUp(_Request, frozen=True, kw_only=True, tag="webhook give up"):
    """Asked by the server itself: a webhook has failed for too long."""

    webhook: int
    why: str


class OnBehalf(_Request, frozen=True, kw_only=True, tag="on behalf"):
    """Do `request` with the rights of whoever has this session or token, and no others.

    :ivar credential: the session's or token's text
    :ivar address: the person's
    :ivar request: any other request as JSON; its `actor` is not believed
    """

    credential: str
    address: str
    request: msgspec.Raw


class AnchorSet(_Request, frozen=True, kw_only=True, tag="anchor set"):
    """State a rating in a venue. `bot` is a bot's name, for its own version, or the wire name of a version; `sd` is how
    exactly the rating is known (standard deviation, Elo), None: as the venue's rating system has it."""

    venue: str
    bot: str
    rating: float
    sd: float | None = None


class AnchorUnset(_Request, frozen=True, kw_only=True, tag="anchor unset"):
    """Let an anchor's rating move again; `bot` as in `AnchorSet`."""

    venue: str
    bot: str


class GameCorrect(_Request, frozen=True, kw_only=True, tag="correct"):
    """Change what an ended game counts as: ``Void``, ``B+Forfeit``, ``W+Forfeit`` or ``Draw``. `reason` is kept."""

    game: int
    result: str
    reason: str


class FamilyLink(_Request, frozen=True, kw_only=True, tag="family link"):
    """Put a bot into the family that `leader` leads: one engine under several names."""

    bot: str
    leader: str


class FamilyUnlink(_Request, frozen=True, kw_only=True, tag="family unlink"):
    """Take a bot out of its family."""

    bot: str


class Drain(_Request, frozen=True, kw_only=True, tag="drain"):
    """End the running server in good order."""


class StatusRequest(_Request, frozen=True, kw_only=True, tag="status"):
    """What the running server does now."""


class Match(_Request, frozen=True, kw_only=True, tag="match"):
    """Let two bots play now. Seconds of main time, 0 for the venue's own; with `game` the new game begins with the
    first `moves` moves (all without it) of that old one."""

    venue: str
    white: str
    black: str
    white_s: int = 0
    black_s: int = 0
    game: int | None = None
    moves: int | None = None


class GameAbort(_Request, frozen=True, kw_only=True, tag="abort"):
    """End a running game: without a result, or as ``B+Forfeit`` or ``W+Forfeit``. `reason` is told to both sides."""

    game: int
    result: str | None = None
    reason: str = ""


class VenuePause(_Request, frozen=True, kw_only=True, tag="pause"):
    """Pair nobody in a venue until it is resumed or the server starts again; running games go on."""

    venue: str


class VenueResume(_Request, frozen=True, kw_only=True, tag="resume"):
    """Pair again."""

    venue: str


class Kick(_Request, frozen=True, kw_only=True, tag="kick"):
    """Close the connections of a bot, or of one of its versions; `reason` is told. It may come back."""

    bot: str
    reason: str


class Preview(_Request, frozen=True, kw_only=True, tag="pairing preview"):
    """What would be paired now in a venue, by its own matchmaker or by another one; nothing comes of it.

    `options` are the method's, by their words in the configuration.
    """

    venue: str
    method: str | None = None
    options: dict[str, str | int | float | bool] = {}


class Reload(_Request, frozen=True, kw_only=True, tag="reload"):
    """Read the configuration again: what concerns pairing holds from now on."""


Request = (
    BotAdd
    | BotPasswd
    | BotDisable
    | BotEnable
    | BotRecall
    | Approve
    | AccountAdd
    | AccountPasswd
    | AccountGrant
    | AccountRevoke
    | AccountDisable
    | AccountEnable
    | TokenMake
    | TokenRevoke
    | SignIn
    | AccountRegister
    | SignOut
    | PasswordChange
    | BotClaim
    | BotRelease
    | BotOwn
    | BotPause
    | BotResume
    | BotDrain
    | BotLimit
    | BotLook
    | AccessMake
    | AccessRevoke
    | WebhookAdd
    | WebhookRemove
    | WebhookGiveUp
    | OnBehalf
    | AnchorSet
    | AnchorUnset
    | GameCorrect
    | FamilyLink
    | FamilyUnlink
    | Drain
    | Match
    | GameAbort
    | VenuePause
    | VenueResume
    | Kick
    | Preview
    | Reload
    | StatusRequest
)


class Done(msgspec.Struct, frozen=True, tag_field="is", tag="done"):
    """It is done and committed; `sentence` says what."""

    sentence: str


class TokenMade(msgspec.Struct, frozen=True, tag_field="is", tag="token"):
    """The only time that the token's text is seen."""

    id: int
    token: str


class SignedIn(msgspec.Struct, frozen=True, tag_field="is", tag="signed in"):
    """Answer to `SignIn`: the only time that the session's text is seen. `until` in Unix milliseconds."""

    account: str
    admin: bool
    session: str
    until: int


class AccessMade(msgspec.Struct, frozen=True, tag_field="is", tag="access"):
    """Answer to `AccessMake`: the only time that the token's text is seen."""

    id: int
    token: str


class WebhookMade(msgspec.Struct, frozen=True, tag_field="is", tag="webhook"):
    """Answer to `WebhookAdd`: what is sent is signed with the secret."""

    id: int
    secret: str


class StatusNow(msgspec.Struct, frozen=True, tag_field="is", tag="status"):
    """Answer to `StatusRequest`."""

    status: ServerStatus


class BotSeen(msgspec.Struct, frozen=True, tag_field="is", tag="bot seen"):
    """Answer to `BotLook`: its versions that are signed in, or whose games run."""

    versions: list[VersionNow]


class Arranged(msgspec.Struct, frozen=True, tag_field="is", tag="arranged"):
    """Answer to `Match`."""

    game: ArrangedGame


class Ended(msgspec.Struct, frozen=True, tag_field="is", tag="ended"):
    """Answer to `GameAbort`."""

    game: EndedGame


class Previewed(msgspec.Struct, frozen=True, tag_field="is", tag="preview"):
    """Answer to `Preview`."""

    preview: PairingPreview


class Reloaded(msgspec.Struct, frozen=True, tag_field="is", tag="reloaded"):
    """Answer to `Reload`: a sentence for each change; none where nothing has changed."""

    changes: list[str]


class Refusal(msgspec.Struct, frozen=True, tag_field="is", tag="refused"):
    """It was not done; see :class:`cgos_protocol.errors.Refused`."""

    code: Code
    sentence: str
    retry_after_s: float | None = None


Response = (
    Done
    | TokenMade
    | SignedIn
    | AccessMade
    | WebhookMade
    | StatusNow
    | BotSeen
    | Arranged
    | Ended
    | Previewed
    | Reloaded
)

_REQUEST: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_ANSWER: msgspec.json.Decoder[Response | Refusal] = msgspec.json.Decoder(Response | Refusal)


def decode(line: bytes) -> Request:
    """A request as it came over the control socket. Raises msgspec.DecodeError."""
    try:
        return _REQUEST.decode(line)
    except RecursionError as error:
        raise msgspec.DecodeError("it is nested too deeply") from error


async def ask(call: Callable[[bytes], Awaitable[bytes]], request: Request) -> Response:
    """Have a running server handle `request`; `call` takes one line to its control socket and brings the answer.

    :raises Refused: where the server refuses, or `call` does
    """
    response = _ANSWER.decode(await call(msgspec.json.encode(request)))
    if isinstance(response, Refusal):
        raise Refused.of(response.code, response.sentence, response.retry_after_s)
    return response
