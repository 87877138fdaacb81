"""Who may have what done: the one place where rights are decided, for pages and API alike.

A session has the rights of its account, a token only its scopes: ``bots`` for what belongs to its account, ``admin``
for what an operator may do, if the account is an operator's. What touches the account itself needs a session: no token
makes or widens another one. Every command declares its right; what declares none is refused.

Pure: values in, a refusal out. Must not know: where people and owners are kept, single commands.
"""

from __future__ import annotations

import enum
from typing import Any, Final

from cgos_protocol.errors import Code, Forbidden, Unauthenticated
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.storage.reading.stored import Person

NOT_YOURS: Final = "This bot is not yours. Claim it with its password or one of its tokens."


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


def may(person: Person | None, command: Command[Any], owner: int | None) -> Person:
    """Whoever it is, if it may have the command done; else raises Refused: ``not-signed-in``, ``not-allowed`` or
    ``scope``.

    :param person: who is behind the credential, as the account is now; None for nobody
    :param owner: the account that owns what the command concerns; None where nobody does, or where there is no such
        thing
    """
    person = _somebody(person)
    match command.allowed:
        case Right.OPERATOR:
            _operator(person, "Only operators of this server may do this.")
        case Right.OWN_BOT:
            _owner_or_operator(person, owner, NOT_YOURS)
        case Right.OWN_BOT_IF_NAMED if command.concerned() is not None:
            _owner_or_operator(person, owner, NOT_YOURS)
        case Right.OWN_BOT_IF_NAMED | Right.SIGNED_IN:
            _scope(person, "bots")
        case Right.OWN_WEBHOOK:
            _owner_or_operator(person, owner, "You have no such webhook.")
        case Right.OWN_QUESTION:
            _owner_or_operator(person, owner, "You have no such question.")
        case Right.OWN_ACCESS:
            _own_access(person, command, owner)
        case Right.SESSION:
            if person.kind != "session":
                raise Forbidden(Code.SCOPE, "A token cannot do this: sign in with the account's password.")
        case Right.STRANGER | Right.NOBODY:
            raise Forbidden(Code.NOT_ALLOWED, "This cannot be asked for on somebody's behalf.")
    return person


def may_see(person: Person | None, sight: Sight, owner: int | None = None) -> Person:
    """Whoever it is, if it may see this; raises as :func:`may`. `owner`: of the bot that it is about."""
    person = _somebody(person)
    match sight:
        case Sight.ACCOUNT:
            pass
        case Sight.OWN_BOTS:
            _scope(person, "bots")
        case Sight.BOT:
            _owner_or_operator(person, owner, NOT_YOURS)
        case Sight.SERVER:
            _operator(person, "Only operators of this server may see this.")
    return person


def is_operator(person: Person) -> bool:
    """Whether this session or token has the rights of an operator."""
    return person.admin and _has(person, "admin")


def _somebody(person: Person | None) -> Person:
    if person is None:
        raise Unauthenticated(
            Code.NOT_SIGNED_IN, "This needs somebody who is signed in, and this session or token is not valid any more."
        )
    return person


def _owner_or_operator(person: Person, owner: int | None, otherwise: str) -> None:
    if owner is not None and owner == person.owner_id:
        if not is_operator(person):
            _scope(person, "bots")
    else:
        _operator(person, otherwise)


def _own_access(person: Person, command: Command[Any], owner: int | None) -> None:
    if owner is None or owner != person.owner_id:
        _operator(person, "You have no such session or token.")
    elif person.kind != "session" and command.concerned() != person.access_id:
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
