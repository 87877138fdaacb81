"""How people come in and go out, and change their own passwords.

What an account may do is looked up at every request and never kept in a session. Must not know: cookies, HTTP.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
import structlog

from cgos_protocol.api import people as api
from cgos_protocol.api.people import Done, Session
from cgos_protocol.api.route import Limit
from cgos_protocol.errors import Code, Forbidden, Invalid, Unauthenticated
from cgos_protocol.names import NAME_MAX, NAME_MIN, bot_name_fault, name_fault
from cgos_server.core.addresses import party
from cgos_server.service.commands.accounts import new_account
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import SESSION_ONLY, AccountSecret, Field, Source, VisitorAddress
from cgos_server.service.commands.reasons import shown_address
from cgos_server.service.commands.surfaces import ApiRoute, PageForm
from cgos_server.storage.reading.stored import Owner
from cgos_server.storage.writing.records import AccessRevoked, OwnerChanged, Record

log = structlog.get_logger(__name__)

_OWN_NAME: Final = Field(body=api.Name, label="Your name", caption="Name", autocomplete="username")
_NAME_RULE: Final = (
    f"From {NAME_MIN} to {NAME_MAX} letters, digits, '_', '.' and '-'. People and bots share one list of names."
)


class SignIn(Command[Session], frozen=True, kw_only=True, tag="sign in"):
    """Sign in with an account's password."""

    allowed = Right.STRANGER
    audited = ("session",)
    surfaces = (
        ApiRoute(
            "sign_in",
            "POST",
            "/sign-in",
            body="SignIn",
            body_says="The account's name and password.",
            limit=Limit.SIGN_IN,
            about="The answer holds the session's text, to be sent as `Authorization: Bearer ...` as a token is.",
        ),
        PageForm("/sign-in", "Sign in"),
    )

    name: Annotated[str, _OWN_NAME]
    password: Annotated[
        str,
        Field(body=api.Password, label="The password", source=Source.SECRET, autocomplete="current-password"),
    ]
    address: VisitorAddress

    async def perform(self, context: CommandContext) -> Session:
        """Raises Refused (``wrong-password``, ``too-many-failures``, ``disabled``, ``busy``)."""
        address, accounts = shown_address(self.address), context.accounts
        wrong = Unauthenticated(Code.WRONG_PASSWORD, "The name or the password is not right.")
        if name_fault(self.name) is not None:
            raise wrong  # nobody can be called so
        with accounts.failures.attempt(address, self.name):
            owner = await context.store.history.people.owner(self.name)
            # A check that cannot succeed takes as long as one that can: who has an account is nobody's business.
            stored = await context.sessions.no_password() if owner is None else owner.password
            right = await accounts.verify_account(stored, self.password, address)
            if owner is None or not right:
                log.info("wrong password for an account", account=self.name, address=address)
                raise wrong
        async with accounts.name_lock(owner.name):
            now = await context.account(owner.name)
            if now.password != owner.password:
                raise Unauthenticated(
                    Code.WRONG_PASSWORD, "The password was replaced just now. Sign in with the new one."
                )
            if now.state != "active":
                raise Forbidden(
                    Code.DISABLED, f"The account {now.name} is disabled. Ask the operators of this server why."
                )
            return await _open(self, context, now, address=address)


class AccountRegister(Command[Session], frozen=True, kw_only=True, tag="account register"):
    """Make one's own account, where that is open, and sign in."""

    allowed = Right.STRANGER
    audited = ("session",)
    surfaces = (
        ApiRoute(
            "register",
            "POST",
            "/accounts",
            body="Register",
            body_says="The name and the password of an account that is to be: 10 to 128 characters.",
            limit=Limit.SIGN_IN,
            status=201,
        ),
        PageForm("/register", "Make the account"),
    )

    name: Annotated[str, msgspec.structs.replace(_OWN_NAME, hint=_NAME_RULE)]
    password: AccountSecret
    address: VisitorAddress

    async def perform(self, context: CommandContext) -> Session:
        """Raises Refused (``registration-closed``, ``name``, ``name-taken``, ``password``, ``too-many``, ``busy``)."""
        address, accounts = shown_address(self.address), context.accounts
        if not context.sessions.accounts_open:
            raise Forbidden(
                Code.REGISTRATION_CLOSED, "Accounts are made by the operators of this server only. Ask them."
            )
        fault = bot_name_fault(self.name)
        if fault is not None:
            raise Invalid(Code.NAME, fault)
        began = context.now_ms()
        made = context.sessions.registrations(party(address), began)
        made.append(began)  # before anything is waited for, lest many at once pass
        try:
            async with accounts.name_lock(self.name):
                added = await new_account(context, self.name, self.password, address=address)
                owner = Owner(id=added.id, name=added.name, password=added.password, admin=False, state="active")
                return await _open(self, context, owner, address=address, before=[added])
        except BaseException:
            if began in made:  # it may be more than an hour ago
                made.remove(began)
            raise


class SignOut(Command[Done], frozen=True, kw_only=True, tag="sign out"):
    """End the session with which this is asked."""

    allowed = Right.SESSION
    audited = ("session",)
    surfaces = (ApiRoute("sign_out", "DELETE", "/me/session"), PageForm("/sign-out", "Sign out"))

    async def perform(self, context: CommandContext) -> Done:
        person = context.caller.person
        ended = AccessRevoked(context.now_ms(), person.access_id)
        await context.commit(self, person.name, [ended], session=person.access_id)
        return Done(sentence="You are signed out.")


class PasswordChange(Command[Done], frozen=True, kw_only=True, tag="password change"):
    """Replace one's own password; every other session ends."""

    allowed = Right.SESSION
    audited = ("sessions_ended",)
    surfaces = (
        ApiRoute(
            "change_password",
            "PUT",
            "/me/password",
            body="ChangePassword",
            body_says="One's own password, the old one and the new one, which has 10 to 128 characters.",
            limit=Limit.SIGN_IN,
            about=SESSION_ONLY,
        ),
        PageForm("/account/password", "Change the password"),
    )

    old: Annotated[
        str,
        Field(body=api.Password, label="The old password", source=Source.SECRET, autocomplete="current-password"),
    ]
    new: AccountSecret

    async def perform(self, context: CommandContext) -> Done:
        """Tokens stay. Raises Refused (``wrong-password``, ``password`` ...)."""
        caller, accounts = context.caller, context.accounts
        person = caller.person
        async with accounts.name_lock(person.name):
            with accounts.failures.attempt(caller.address, person.name):
                owner = await context.still_valid(person)
                if not await accounts.verify_account(owner.password, self.old, caller.address):
                    raise Unauthenticated(Code.WRONG_PASSWORD, "The old password is not right.")
            hashed = await accounts.new_account_password(self.new, caller.address)
            ended = await context.sessions.ended(owner.id, but=person.access_id)
            changed = OwnerChanged(hashed, int(owner.admin), owner.state, owner.id)
            await context.commit(self, owner.name, [changed, *ended], sessions_ended=len(ended))
        return Done(sentence="Your password is replaced, and every other session of yours is ended.")


async def _open(
    command: SignIn | AccountRegister,
    context: CommandContext,
    owner: Owner,
    *,
    address: str,
    before: Sequence[Record] = (),
) -> Session:
    """A session, in one commit with what comes `before` it; called under the account's lock."""
    session, number, records = await context.sessions.open(owner, address)
    command = msgspec.structs.replace(command, actor=f"{owner.name} ({address})")
    await context.commit(command, owner.name, [*before, *records], session=number)
    return session


COMMANDS: Final = (SignIn, AccountRegister, SignOut, PasswordChange)
