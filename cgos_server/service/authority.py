"""Who may ask for what: the one place where rights are decided, for pages and API alike.

A session has the rights of its account, a token only its scopes: ``bots`` for what belongs to its account, ``admin``
for what an operator may do, if the account is an operator's. What touches the account itself needs a session: no token
makes or widens another one. Every request is named in one of the groups; what is named nowhere is refused.

Pure: values in, a refusal out. Must not know: where people and owners are kept, how anything is done.
"""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

from cgos_protocol.errors import Code, Forbidden, Unauthenticated
from cgos_server.service import requests as deeds
from cgos_server.storage.reading.stored import Person

_BY_NAME: Final = (deeds.BotPasswd, deeds.BotRecall)
_BY_BOT: Final = (
    deeds.TokenMake,
    deeds.TokenRevoke,
    deeds.BotRelease,
    deeds.BotPause,
    deeds.BotResume,
    deeds.BotDrain,
    deeds.BotLimit,
    deeds.BotLook,
)

OWN_BOT: Final = (*_BY_NAME, *_BY_BOT)
"""The owner of the bot that is named, or an operator."""

OWN_WEBHOOK: Final = (deeds.WebhookRemove,)
"""Whoever made it, or an operator."""

CLAIMING: Final = (deeds.BotClaim,)
"""Everybody who is somebody, with the scope ``bots``; the bot's own secret decides."""

OWN_ACCOUNT: Final = (deeds.SignOut, deeds.PasswordChange, deeds.AccessMake)
"""Oneself, by a session."""

OWN_ACCESS: Final = (deeds.AccessRevoke,)
"""One's own sessions and tokens, by a session; a token may end itself; operators may end anybody's."""

OPERATORS: Final = (
    deeds.BotAdd,
    deeds.BotDisable,
    deeds.BotEnable,
    deeds.BotOwn,
    deeds.Approve,
    deeds.AccountAdd,
    deeds.AccountPasswd,
    deeds.AccountGrant,
    deeds.AccountRevoke,
    deeds.AccountDisable,
    deeds.AccountEnable,
    deeds.AnchorSet,
    deeds.AnchorUnset,
    deeds.GameCorrect,
    deeds.FamilyLink,
    deeds.FamilyUnlink,
    deeds.Drain,
    deeds.Match,
    deeds.GameAbort,
    deeds.VenuePause,
    deeds.VenueResume,
    deeds.Kick,
    deeds.Preview,
    deeds.Reload,
    deeds.StatusRequest,
)
"""Operators."""

MAYBE_BOT: Final = (deeds.WebhookAdd,)
"""As `CLAIMING`; where a bot is named, as `OWN_BOT`."""

NOBODY: Final = (deeds.SignIn, deeds.AccountRegister, deeds.WebhookGiveUp, deeds.OnBehalf)
"""Nobody on somebody's behalf: they are asked without one, or by the server itself."""


class Sight(enum.Enum):
    """What is shown to some people only."""

    ACCOUNT = "account"
    """What is one's own account's: to whoever is signed in, or has any token."""
    OWN_BOTS = "own bots"
    """What is told of all one's own bots."""
    BOT = "bot"
    """What is told of a bot to its owner and to operators."""
    SERVER = "server"
    """What operators see."""


class About(NamedTuple):
    """What a request is about, if somebody can own it: a bot by a name, a webhook or a session or token by number."""

    bot: str | None = None
    webhook: int | None = None
    access: int | None = None


def about(request: deeds.Request) -> About:
    """What the request is about, as far as that decides who may ask."""
    match request:
        case deeds.BotPasswd(name=name) | deeds.BotRecall(name=name):
            return About(bot=name)
        case (
            deeds.TokenMake(bot=bot)
            | deeds.TokenRevoke(bot=bot)
            | deeds.BotRelease(bot=bot)
            | deeds.BotPause(bot=bot)
            | deeds.BotResume(bot=bot)
            | deeds.BotDrain(bot=bot)
            | deeds.BotLimit(bot=bot)
            | deeds.BotLook(bot=bot)
        ):
            return About(bot=bot)
        case deeds.WebhookAdd(bot=str(bot)):
            return About(bot=bot)
        case deeds.WebhookRemove(webhook=webhook):
            return About(webhook=webhook)
        case deeds.AccessRevoke(access=access):
            return About(access=access)
    return About()


def may(person: Person | None, request: deeds.Request, owner: int | None) -> None:
    """Let it pass, or raise Refused: ``not-signed-in``, ``not-allowed`` or ``scope``.

    :param person: who is behind the credential, as the account is now; None for nobody
    :param owner: the account that owns what the request is :func:`about`; None where nobody does, or where there is no
        such thing
    """
    if person is None:
        raise Unauthenticated(
            Code.NOT_SIGNED_IN, "This needs somebody who is signed in, and this session or token is not valid any more."
        )
    kind = type(request)
    if kind in OWN_BOT or (kind in MAYBE_BOT and about(request).bot is not None):
        _owner_or_operator(person, owner, "This bot is not yours. Claim it with its password or one of its tokens.")
    elif kind in OWN_WEBHOOK:
        _owner_or_operator(person, owner, "You have no such webhook.")
    elif kind in CLAIMING or kind in MAYBE_BOT:
        _scope(person, "bots")
    elif kind in OWN_ACCOUNT:
        if person.kind != "session":
            raise Forbidden(Code.SCOPE, "A token cannot do this: sign in with the account's password.")
    elif kind in OWN_ACCESS:
        _own_access(person, request, owner)
    elif kind in OPERATORS:
        _operator(person, "Only operators of this server may do this.")
    else:
        raise Forbidden(Code.NOT_ALLOWED, "This cannot be asked for on somebody's behalf.")


def may_see(person: Person | None, sight: Sight, owner: int | None = None) -> Person:
    """Whoever it is, if it may see this; raises as :func:`may`. `owner`: of the bot that it is about."""
    if person is None:
        raise Unauthenticated(
            Code.NOT_SIGNED_IN, "This needs somebody who is signed in, and this session or token is not valid any more."
        )
    match sight:
        case Sight.ACCOUNT:
            pass
        case Sight.OWN_BOTS:
            _scope(person, "bots")
        case Sight.BOT:
            _owner_or_operator(person, owner, "This bot is not yours. Claim it with its password or one of its tokens.")
        case Sight.SERVER:
            _operator(person, "Only operators of this server may see this.")
    return person


def _owner_or_operator(person: Person, owner: int | None, otherwise: str) -> None:
    if owner is not None and owner == person.owner_id:
        if not (person.admin and _has(person, "admin")):
            _scope(person, "bots")
    else:
        _operator(person, otherwise)


def _own_access(person: Person, request: deeds.Request, owner: int | None) -> None:
    if owner is None or owner != person.owner_id:
        _operator(person, "You have no such session or token.")
    elif person.kind != "session" and about(request).access != person.access_id:
        raise Forbidden(Code.SCOPE, "A token can end itself and nothing else: sign in with the account's password.")


def _operator(person: Person, otherwise: str) -> None:
    if not person.admin:
        raise Forbidden(Code.NOT_ALLOWED, otherwise)
    _scope(person, "admin")


def _scope(person: Person, scope: str) -> None:
    if not _has(person, scope):
        raise Forbidden(Code.SCOPE, f"This token was not made for it: it needs the scope {scope}.")


def _has(person: Person, scope: str) -> bool:
    return person.kind == "session" or scope in person.scopes
