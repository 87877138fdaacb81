"""People's accounts: sign-in, sessions of the pages, tokens of the API, registration, passwords and rights.

What is handed out (a session, a token) is random and kept as its digest only; its text is in one answer and nowhere
else. What an account may do is looked up at every request and never kept in a session. Must not know: who may ask for
what (see authority), cookies, HTTP.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple

import msgspec
import structlog

from cgos_protocol.errors import Code, Conflict, Forbidden, Invalid, NotFound, RateLimited, Unauthenticated
from cgos_protocol.names import bot_name_fault, fold, name_fault, password_fault
from cgos_server.core.addresses import party
from cgos_server.service.accounts import Accounts
from cgos_server.service.deeds import Deeds, one_line, reason_for
from cgos_server.service.ids import Ids
from cgos_server.service.passwords import ACCESS_PREFIX, SESSION_PREFIX, Passwords, digest, new_token
from cgos_server.service.requests import (
    RIGHTS,
    SCOPES,
    AccessMade,
    AccessMake,
    AccessRevoke,
    AccountAdd,
    AccountDisable,
    AccountEnable,
    AccountGrant,
    AccountPasswd,
    AccountRegister,
    AccountRevoke,
    Done,
    PasswordChange,
    SignedIn,
    SignIn,
    SignOut,
)
from cgos_server.storage.reading.stored import Owner, Person
from cgos_server.storage.records import AccessAdded, AccessForgotten, AccessRevoked, OwnerAdded, OwnerChanged, Record

log = structlog.get_logger(__name__)

DAY_MS: Final = 86_400_000
MOST_SESSIONS: Final = 20
"""Valid sessions of one account; the oldest one ends when another begins."""
MOST_TOKENS: Final = 50
"""Valid tokens of one account."""
MOST_DAYS: Final = 3650
"""Days that a token may be valid, if it is not for ever."""
REMEMBERED_DAYS: Final = 90
"""Days that one's ended sessions and tokens are still shown; the next sign-in after that removes them. Our choice."""
MOST_REGISTRATIONS: Final = 10
"""Accounts that may be made from one address within an hour. Our choice: a household, not a flood."""
_HOUR_MS: Final = 3_600_000
_REMEMBERED: Final = 10_000
"""Addresses that made an account, of which this is known; the longest untouched is forgotten first."""
LABEL_MAX: Final = 80
"""Characters of a label."""


class Caller(NamedTuple):
    """On whose behalf something is asked. `address`: the person's."""

    person: Person
    address: str


class People:
    """Handles what concerns accounts.

    :param session_ms: how long a session lasts, milliseconds
    :param accounts_open: True where people make their accounts themselves
    """

    def __init__(
        self, deeds: Deeds, ids: Ids, accounts: Accounts, passwords: Passwords, session_ms: int, accounts_open: bool
    ) -> None:
        self._deeds = deeds
        self._store = deeds.store
        self._now_ms = deeds.now_ms
        self._ids = ids
        self._accounts = accounts
        self._passwords = passwords
        self._session_ms = session_ms
        self._open = accounts_open
        self._decoy = ""
        self._registered: OrderedDict[str, list[int]] = OrderedDict()

    # -- coming in

    async def sign_in(self, request: SignIn, address: str) -> SignedIn:
        """A session. Raises Refused (``wrong-password``, ``too-many-failures``, ``disabled``, ``busy``)."""
        wrong = Unauthenticated(Code.WRONG_PASSWORD, "The name or the password is not right.")
        if name_fault(request.name) is not None:
            raise wrong  # nobody can be called so
        with self._accounts.failures.attempt(address, request.name):
            owner = await self._store.history.people.owner(request.name)
            if password_fault(request.password) is not None:
                raise wrong
            # A check that cannot succeed takes as long as one that can: who has an account is nobody's business.
            stored = await self._no_password() if owner is None else owner.password
            right = await self._passwords.verify(stored, request.password, address)
            if owner is None or not right:
                log.info("wrong password for an account", account=request.name, address=address)
                raise wrong
        async with self._accounts.name_lock(owner.name):
            now = await self._owner(owner.name)
            if now.password != owner.password:
                raise Unauthenticated(
                    Code.WRONG_PASSWORD, "The password was replaced just now. Sign in with the new one."
                )
            if now.state != "active":
                raise Forbidden(
                    Code.DISABLED, f"The account {now.name} is disabled. Ask the operators of this server why."
                )
            return await self._session(request, now, address, [])

    async def register(self, request: AccountRegister, address: str) -> SignedIn:
        """A new account and its first session. Raises Refused (``registration-closed``, ``name``, ``name-taken``,
        ``password``, ``too-many``, ``busy``)."""
        if not self._open:
            raise Forbidden(
                Code.REGISTRATION_CLOSED, "Accounts are made by the operators of this server only. Ask them."
            )
        fault = bot_name_fault(request.name)
        if fault is not None:
            raise Invalid(Code.NAME, fault)
        began = self._now_ms()
        made = self._not_too_many(party(address), began)
        made.append(began)  # before anything is waited for, lest many at once pass
        try:
            async with self._accounts.name_lock(request.name):
                await self._accounts.must_be_free(request.name)
                hashed = await self._accounts.new_account_password(request.password, address)
                owner = Owner(id=self._ids.owner(), name=request.name, password=hashed, admin=False, state="active")
                added = OwnerAdded(owner.id, owner.name, fold(owner.name), hashed, 0, self._now_ms())
                return await self._session(request, owner, address, [added])
        except BaseException:
            if began in made:  # it may be more than an hour ago
                made.remove(began)
            raise

    async def _session(
        self, request: SignIn | AccountRegister, owner: Owner, address: str, before: list[Record]
    ) -> SignedIn:
        """Open a session, in one commit with what comes `before` it; called under the account's lock."""
        now = self._now_ms()
        text, number, until = new_token(SESSION_PREFIX), self._ids.access(), now + self._session_ms
        sessions = [
            row for row in await self._store.history.people.valid_access(owner.id, now) if row.kind == "session"
        ]
        ended = [AccessRevoked(now, row.id) for row in sessions[: max(0, len(sessions) - MOST_SESSIONS + 1)]]
        opened = AccessAdded(number, owner.id, "session", digest(text), "", "", address, now, until)
        old = [
            AccessForgotten(each)
            for each in await self._store.history.people.old_access(owner.id, now - REMEMBERED_DAYS * DAY_MS)
        ]
        request = msgspec.structs.replace(request, actor=f"{owner.name} ({address})")
        await self._deeds.commit(request, owner.name, [*before, *ended, *old, opened], session=number)
        return SignedIn(owner.name, owner.admin, text, until)

    def _not_too_many(self, address: str, now: int) -> list[int]:
        """When accounts were made from this address lately. Raises Refused (``too-many``)."""
        recent = self._registered.setdefault(address, [])
        recent[:] = [at for at in recent if at > now - _HOUR_MS]
        self._registered.move_to_end(address)
        if len(self._registered) > _REMEMBERED:
            self._registered.popitem(last=False)
        if len(recent) >= MOST_REGISTRATIONS:
            raise RateLimited(
                Code.TOO_MANY,
                "Too many accounts were made from your address. Try again in an hour.",
                (recent[0] + _HOUR_MS - now) / 1000,
            )
        return recent

    async def _no_password(self) -> str:
        """A hash that belongs to nobody."""
        if not self._decoy:
            self._decoy = await self._passwords.hash(new_token())
        return self._decoy

    # -- one's own

    async def sign_out(self, request: SignOut, caller: Caller) -> Done:
        """End the session or token by which this is asked."""
        number = caller.person.access_id
        await self._deeds.commit(request, caller.person.name, [AccessRevoked(self._now_ms(), number)], session=number)
        return Done("You are signed out.")

    async def password_change(self, request: PasswordChange, caller: Caller) -> Done:
        """Also ends all other sessions; tokens stay. Raises Refused (``wrong-password``, ``password`` ...)."""
        person = caller.person
        async with self._accounts.name_lock(person.name):
            with self._accounts.failures.attempt(caller.address, person.name):
                owner = await self._still(person)
                if not await self._passwords.verify(owner.password, request.old, caller.address):
                    raise Unauthenticated(Code.WRONG_PASSWORD, "The old password is not right.")
            hashed = await self._accounts.new_account_password(request.new, caller.address)
            ended = await self._ended(owner.id, sessions_only=True, but=person.access_id)
            changed = OwnerChanged(hashed, int(owner.admin), owner.state, owner.id)
            await self._deeds.commit(request, owner.name, [changed, *ended], sessions_ended=len(ended))
        return Done("Your password is replaced, and every other session of yours is ended.")

    async def access_make(self, request: AccessMake, caller: Caller) -> AccessMade:
        """A token of the API. Raises Refused (``scopes``, ``days``, ``full``)."""
        person = caller.person
        scopes = [scope for scope in SCOPES if scope in request.scopes]
        if not scopes or set(scopes) != set(request.scopes):
            raise Invalid(Code.SCOPES, f"A token is for one or more of: {', '.join(SCOPES)}.")
        if request.days is not None and not 1 <= request.days <= MOST_DAYS:
            raise Invalid(Code.DAYS, f"A token is valid for 1 to {MOST_DAYS} days, or for ever.")
        async with self._accounts.name_lock(person.name):
            owner = await self._still(person)
            if "admin" in scopes and not owner.admin:
                raise Forbidden(Code.NOT_ALLOWED, "Only operators can make a token for what operators may do.")
            now = self._now_ms()
            tokens = [
                row for row in await self._store.history.people.valid_access(owner.id, now) if row.kind == "token"
            ]
            if len(tokens) >= MOST_TOKENS:
                raise Conflict(Code.FULL, f"An account has at most {MOST_TOKENS} tokens. End one that you do not need.")
            text, number = new_token(ACCESS_PREFIX), self._ids.access()
            label = one_line(request.label)[:LABEL_MAX]
            until = None if request.days is None else now + request.days * DAY_MS
            words = " ".join(scopes)
            added = AccessAdded(number, owner.id, "token", digest(text), label, words, caller.address, now, until)
            await self._deeds.commit(request, owner.name, [added], token=number, label=label, scopes=words)
        return AccessMade(number, text)

    async def access_revoke(self, request: AccessRevoke) -> Done:
        """Raises Refused (``unknown-access``)."""
        found = await self._deeds.access(request.access)
        if found is None:
            raise NotFound(
                Code.UNKNOWN_ACCESS, f"There is no session or token {request.access}, or it is ended already."
            )
        await self._deeds.commit(
            request, f"{found.kind} {found.id}", [AccessRevoked(self._now_ms(), found.id)], account=found.owner_id
        )
        return Done(f"The {found.kind} {found.id} is ended.")

    async def _still(self, person: Person) -> Owner:
        """The account, if it may still be used as it was when this was asked; under its lock."""
        owner = await self._owner(person.name)
        if owner.state != "active" or await self._store.history.people.access(person.access_id) is None:
            raise Unauthenticated(Code.NOT_SIGNED_IN, "This session was ended meanwhile. Sign in again.")
        return owner

    async def _ended(self, owner_id: int, *, sessions_only: bool, but: int | None = None) -> list[Record]:
        now = self._now_ms()
        return [
            AccessRevoked(now, row.id)
            for row in await self._store.history.people.valid_access(owner_id, now)
            if row.id != but and (row.kind == "session" or not sessions_only)
        ]

    # -- by operators

    async def add(self, request: AccountAdd) -> Done:
        """Make an account. Raises Refused for a name or password that cannot be."""
        fault = name_fault(request.name)
        if fault is not None:
            raise Invalid(Code.NAME, fault)
        async with self._accounts.name_lock(request.name):
            await self._accounts.must_be_free(request.name)
            hashed = await self._accounts.new_account_password(request.password)
            added = OwnerAdded(
                self._ids.owner(), request.name, fold(request.name), hashed, int(request.admin), self._now_ms()
            )
            await self._deeds.commit(request, request.name, [added], admin=request.admin)
        return Done(f"The account {request.name} is made{', with the right admin' if request.admin else ''}.")

    async def passwd(self, request: AccountPasswd) -> Done:
        """Also ends all sessions."""
        async with self._accounts.name_lock(request.name):  # a row is replaced as a whole
            owner = await self._owner(request.name)
            hashed = await self._accounts.new_account_password(request.password)
            ended = await self._ended(owner.id, sessions_only=True)
            changed = OwnerChanged(hashed, int(owner.admin), owner.state, owner.id)
            await self._deeds.commit(request, owner.name, [changed, *ended])
        return Done(f"The password of {owner.name} is replaced.")

    async def right(self, request: AccountGrant | AccountRevoke) -> Done:
        """Give or take a right, from the next request on. Raises Refused for one that there is not."""
        if request.right not in RIGHTS:
            raise NotFound(
                Code.UNKNOWN_RIGHT, f"There is no right {request.right!r}. Choose one of: {', '.join(RIGHTS)}."
            )
        grant = isinstance(request, AccountGrant)
        async with self._accounts.name_lock(request.name):
            owner = await self._owner(request.name)
            changed = OwnerChanged(owner.password, int(grant), owner.state, owner.id)
            await self._deeds.commit(request, owner.name, [changed], right=request.right)
        return Done(f"{owner.name} {'has' if grant else 'does not have'} the right {request.right}.")

    async def disable(self, request: AccountDisable) -> Done:
        """Also ends all its sessions and tokens."""
        reason = reason_for(request.reason, "the account is disabled")
        async with self._accounts.name_lock(request.name):
            owner = await self._owner(request.name)
            ended = await self._ended(owner.id, sessions_only=False)
            changed = OwnerChanged(owner.password, int(owner.admin), "disabled", owner.id)
            await self._deeds.commit(request, owner.name, [changed, *ended], reason=reason, ended=len(ended))
        return Done(f"The account {owner.name} is disabled, and all its sessions and tokens are ended.")

    async def enable(self, request: AccountEnable) -> Done:
        """Let somebody in again, by the password: what was ended stays so."""
        async with self._accounts.name_lock(request.name):
            owner = await self._owner(request.name)
            changed = OwnerChanged(owner.password, int(owner.admin), "active", owner.id)
            await self._deeds.commit(request, owner.name, [changed])
        return Done(f"{owner.name} may sign in again.")

    async def _owner(self, name: str) -> Owner:
        return await self._deeds.owner(name)
