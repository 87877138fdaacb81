"""Who a bot is: sign-in with registration, password change and a pause after wrong passwords.

The only place that makes bots, so that one name never becomes two. Must not know: wires, sessions, venues.
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import NamedTuple
from weakref import WeakValueDictionary

import structlog

from cgos_protocol.errors import Code, Conflict, Forbidden, Invalid, NotFound, Refused, Unauthenticated
from cgos_protocol.ids import BotId, VersionId
from cgos_protocol.names import (
    PASSWORD_MAX,
    account_password_fault,
    bot_name_fault,
    fold,
    normalize_passphrase,
    password_fault,
)
from cgos_protocol.session import Credentials, Declaration, Limits, NamedPredecessor
from cgos_server.core.rating.lineage import Predecessor
from cgos_server.service.commands.audit import audit
from cgos_server.service.ids import Ids
from cgos_server.service.people.failures import Failures
from cgos_server.service.people.passwords import Passwords, digest, looks_like_token
from cgos_server.service.personal.erasing import ERASED
from cgos_server.service.ratings.families import Families, family_by_name
from cgos_server.storage.reading.stored import BotLogin, Owner
from cgos_server.storage.store import Store
from cgos_server.storage.writing.records import (
    BotAdded,
    BotFamily,
    BotPassword,
    BotState,
    Record,
    VersionAdded,
    VersionDescribed,
)

log = structlog.get_logger(__name__)

LABEL_MAX = 32
"""Characters of a version's own name."""


class Registration(enum.StrEnum):
    """What happens when a bot signs in under a name that nobody has."""

    OPEN = "open"
    APPROVAL = "approval"
    CLOSED = "closed"


class SignedIn(NamedTuple):
    """A bot. `name` is the wire name of the version; `new` where this sign-in registered bot or version; `paused` and
    `limits` are what its owner wants, see :class:`cgos_server.storage.store.BotLogin`."""

    bot_id: BotId
    version_id: VersionId
    name: str
    new: bool = False
    paused: bool = False
    limits: Limits = Limits()


class Operator(NamedTuple):
    """A person with the right ``admin``."""

    name: str


class Accounts:
    """Sign-in and registration.

    :param registration: a value of :class:`Registration`
    :param now_ms: Unix milliseconds
    :param failures: whoever looks at a password does so within an attempt of it
    :param may_command: True for the addresses from which operators may sign in like bots
    :param families: who belongs together; a new bot is put into the family that its name tells, if there is a
        convention
    """

    def __init__(
        self,
        store: Store,
        ids: Ids,
        passwords: Passwords,
        registration: str,
        now_ms: Callable[[], int],
        failures: Failures | None = None,
        may_command: Callable[[str], bool] = lambda _: False,
        families: Families | None = None,
    ) -> None:
        self.store = store
        self.ids = ids
        self.passwords = passwords
        self._registration = Registration(registration)
        self.now_ms = now_ms
        self._may_command = may_command
        self.families = families or Families({}, {})
        self.failures = failures or Failures(10, 60_000, now_ms)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._bot_locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    async def sign_in(self, credentials: Credentials) -> SignedIn | Operator:
        """The bot or operator behind `credentials`; a bot is registered where it is new and new names are taken.

        :raises Refused: with the sentence for the bot's author
        :raises StoreError: where the database does not answer
        """
        with self.failures.attempt(credentials.address, credentials.name):
            return await self._sign_in(credentials)

    async def register(self, name: str, password: str, state: str, actor: str, address: str) -> BotLogin:
        """Make the bot `name` with its only version, of the same wire name.

        :param state: ``active`` or ``pending``
        :param actor: who does it, for the audit
        :param address: where it came from; empty for commands
        :raises Refused: where the name or the password cannot be had; call it under :meth:`name_lock`
        """
        fault = bot_name_fault(name) or password_fault(password)
        if fault is not None:
            raise Invalid(Code.NAME_OR_PASSWORD, fault)
        if looks_like_token(password):
            raise NotFound(
                Code.UNKNOWN_TOKEN, f"There is no bot {name} here, so it has no token. Register with a password."
            )
        await self.must_be_free(name)
        hashed = await self.passwords.hash(password, address)
        at = self.now_ms()
        bot, version = self.ids.bot(), self.ids.version()
        records: list[Record] = [
            BotAdded(id=bot, name=name, name_key=fold(name), password=hashed, state=state, created_at=at),
            _version_added(version, bot, Declaration(wire_name=name), at),
            audit(at, actor, "bot add", name, state=state, origin=address or "command"),
        ]
        families = self.families
        leader = None
        if families.pattern is not None:
            leader = family_by_name(name, families.pattern, await self.store.history.bots.names())
        if leader is not None:
            records.append(BotFamily(leader, bot))
        await self.store.commit(records)
        families.lead(bot, leader)
        return BotLogin(
            bot_id=bot, version_id=version, name=name, password=hashed, state=state, reason="", tokens=frozenset()
        )

    async def predecessor(self, signed: SignedIn, named: NamedPredecessor) -> Predecessor:
        """The version that a bot names as the one that its own succeeds.

        :raises Refused: (``predecessor``) where there is none, it is the version itself, or it is neither one of the
            bot's nor of a bot of its owner
        """
        bots = self.store.history.people
        mine, other = await bots.bot_owner(signed.name), await bots.bot_owner(named.name)
        if other is None:
            sentence = f"There is no version {named.name} that {signed.name} could succeed"
        elif named.name == signed.name:
            sentence = f"{signed.name} cannot succeed itself"
        elif other.bot_id != signed.bot_id and (mine is None or mine.owner is None or mine.owner != other.owner):
            sentence = f"{named.name} is no version of this bot, and of no bot of its owner"
        else:
            version = await self.store.history.bots.version(named.name)
            return Predecessor(VersionId(version.id), named.sd, named.surely)
        raise Invalid(Code.PREDECESSOR, f"{sentence}: name another predecessor, or leave it out.")

    @asynccontextmanager
    async def name_lock(self, name: str) -> AsyncIterator[None]:
        """Hold it from the look whether `name` is free until its commit; capitals do not count. Raises Unavailable and
        StoreError as :meth:`cgos_server.storage.sharing.Sharing.hold` does."""
        key = fold(name)
        async with self._locks.setdefault(key, asyncio.Lock()), self.store.sharing.hold(f"name {key}"):
            yield

    @asynccontextmanager
    async def bot_lock(self, bot_id: BotId) -> AsyncIterator[None]:
        """Hold it from the look at a bot's state, owner or wishes until the commit that replaces them. Raises as
        :meth:`name_lock`."""
        async with self._bot_locks.setdefault(bot_id, asyncio.Lock()), self.store.sharing.hold(f"bot {bot_id}"):
            yield

    def family_lock(self) -> AbstractAsyncContextManager[None]:
        """Hold it from the look at families until the commit that changes them. Raises as :meth:`name_lock`."""
        return self.store.sharing.hold("families")

    async def new_password(self, password: str, address: str = "") -> str:
        """The hash of a password that a bot is to have. Raises Refused (``password``, ``busy``); `address` as in
        :meth:`Passwords.hash`."""
        return await self._hashed(password, password_fault(password), address)

    async def new_account_password(self, password: str, address: str = "") -> str:
        """As :meth:`new_password`, for a person's account."""
        passphrase = normalize_passphrase(password)
        return await self._hashed(passphrase, account_password_fault(passphrase), address)

    async def verify_account(self, stored: str, password: str, address: str) -> bool:
        """Return whether `password` is that of the account with the hash `stored`. Raises Refused (``busy``)."""
        passphrase = normalize_passphrase(password)
        return len(passphrase) <= PASSWORD_MAX and await self.passwords.verify(stored, passphrase, address)

    async def _hashed(self, password: str, fault: str | None, address: str) -> str:
        if fault is None and looks_like_token(password):
            fault = "A password must not look like a token: choose another."
        if fault is not None:
            raise Invalid(Code.PASSWORD, fault)
        return await self.passwords.hash(password, address)

    async def check_secret(self, login: BotLogin, secret: str, address: str) -> None:
        """Raises Refused (``wrong-password``) unless `secret` is the bot's password or a token of it."""
        if looks_like_token(secret):
            if digest(secret) not in login.tokens:
                raise Unauthenticated(Code.WRONG_PASSWORD, f"Sorry, this is no valid token of {login.name}.")
        elif not await self.passwords.verify(login.password, secret, address):
            raise Unauthenticated(Code.WRONG_PASSWORD, f"Sorry, password doesn't match the name {login.name}.")

    async def must_be_free(self, name: str) -> None:
        """Raises Refused (``name-taken``) where a bot or an account has this name, or one that differs in case, or it
        is kept for those who were erased."""
        if ERASED.fullmatch(name):
            raise Conflict(
                Code.NAME_TAKEN, f"Names such as {name} stand for people and bots that were erased. Choose another."
            )
        holder = await self.store.history.bots.name_taken(fold(name))
        if holder is not None:
            by_whom = "" if holder == name else f" by {holder}: capitals make no difference"
            raise Conflict(Code.NAME_TAKEN, f"The name {name} is taken{by_whom}. Choose another.")

    async def _sign_in(self, credentials: Credentials) -> SignedIn | Operator:
        login = await self.store.history.bots.login(credentials.name)
        if login is None:
            owner = await self.store.history.people.owner(credentials.name)
            if owner is not None:
                return await self._operator(owner, credentials)
            async with self.name_lock(credentials.name):
                # It may have been registered while we waited.
                login = await self.store.history.bots.login(credentials.name)
                new = login is None
                if login is None:
                    login = await self._welcome(credentials)
            if new:  # outside the lock: the version's name has one, too, and it may be the same
                return await self._version(login, credentials.declared, new=True)
        await self._check(login, credentials.secret, credentials.address)
        if credentials.new_secret is not None:
            await self._change_password(login, credentials, credentials.new_secret)
        return await self._version(login, credentials.declared, new=False)

    async def _operator(self, owner: Owner, credentials: Credentials) -> Operator:
        """Raises Refused unless the account may command from there and it is its password."""
        taken = Conflict(Code.NAME_TAKEN, f"The name {owner.name} is taken. Choose another.")
        if not owner.admin or owner.state != "active":
            raise taken
        if not self._may_command(credentials.address):
            log.warning("operator refused from this network", account=owner.name, address=credentials.address)
            raise taken  # a stranger learns nothing of whose name it is
        if not await self.verify_account(owner.password, credentials.secret, credentials.address):
            raise Unauthenticated(Code.WRONG_PASSWORD, f"Sorry, password doesn't match the name {owner.name}.")
        return Operator(owner.name)

    async def _version(self, login: BotLogin, declared: Declaration, *, new: bool) -> SignedIn:
        """The version that plays, made where the bot has none with this label, described anew where it has changed."""
        if not declared.label:
            if declared.wire_name not in ("", login.name):
                raise Invalid(
                    Code.WIRE_NAME,
                    f"Only a version can have a wire name of its own: declare one, or play as {login.name}.",
                )
            if not any(declared):
                return _signed(login, login.version_id, login.name, new)
            wire_name = login.name
        else:
            wire_name = declared.wire_name
        stored = await self.store.history.bots.labeled(login.bot_id, declared.label)
        if stored is None:
            return await self._new_version(login, declared)
        if wire_name not in ("", stored.wire_name):
            raise Invalid(
                Code.WIRE_NAME,
                f"Version {declared.label} of {login.name} is known as {stored.wire_name}. A version keeps its wire "
                "name: leave it out, or declare a new version.",
            )
        about = (declared.engine, declared.parameters, declared.author)
        if any(about) and about != (stored.engine, stored.parameters, stored.author):
            await self.store.commit([VersionDescribed(*about, stored.id)])
        return _signed(login, stored.id, stored.wire_name, new)

    async def _new_version(self, login: BotLogin, declared: Declaration) -> SignedIn:
        label = declared.label
        if len(label) > LABEL_MAX or not label.isascii() or not label.isprintable():
            raise Invalid(Code.VERSION, f"The name of a version has at most {LABEL_MAX} printable ASCII characters.")
        name = declared.wire_name or f"{login.name}-{label}"
        fault = bot_name_fault(name)
        if fault is not None:
            remedy = "" if declared.wire_name else " Give the version a wire name of its own."
            raise Invalid(Code.WIRE_NAME, f"The version would be shown as {name}. {fault}{remedy}")
        async with self.name_lock(name):
            # Another connection may have been faster.
            stored = await self.store.history.bots.labeled(login.bot_id, label)
            if stored is not None:
                return _signed(login, stored.id, stored.wire_name, False)
            await self.must_be_free(name)
            version, at = self.ids.version(), self.now_ms()
            await self.store.commit(
                [
                    _version_added(version, login.bot_id, declared._replace(wire_name=name), at),
                    audit(at, login.name, "version add", name, version=label),
                ]
            )
        return _signed(login, version, name, True)

    async def _welcome(self, credentials: Credentials) -> BotLogin:
        """Register a name that nobody has, under its lock."""
        name = credentials.name
        if self._registration is Registration.CLOSED:
            raise Forbidden(
                Code.REGISTRATION_CLOSED, f"There is no bot {name} here, and new ones are added by the operator only."
            )
        if credentials.new_secret is not None:
            raise NotFound(Code.UNKNOWN_NAME, f"There is no bot {name} here. Send one password to register it.")
        state = "active" if self._registration is Registration.OPEN else "pending"
        login = await self.register(name, credentials.secret, state=state, actor=name, address=credentials.address)
        if state == "pending":
            raise _waits(name)
        return login

    async def _check(self, login: BotLogin, secret: str, address: str) -> None:
        """Raises Refused unless `secret` is right and the bot may play."""
        await self.check_secret(login, secret, address)
        if login.state == "pending":
            raise _waits(login.name)
        if login.state != "active":
            await self._let_in_again(login)

    async def _let_in_again(self, login: BotLogin) -> None:
        """A bot that was disabled for a time, where that has passed. Raises Refused (``disabled``) where it has not."""
        async with self.bot_lock(login.bot_id):
            now = await self.store.history.bots.login(login.name)  # an operator may have decided otherwise meanwhile
            if now is None or now.state == "active":
                return
            at = self.now_ms()
            if now.until is None or at < now.until:
                raise _disabled(now, at)
            again = BotState("active", "", None, now.bot_id)
            why = audit(at, "the server", "bot enable", now.name, why="its time has passed")
            await self.store.commit([again, why])

    async def _change_password(self, login: BotLogin, credentials: Credentials, new: str) -> None:
        if looks_like_token(credentials.secret):
            raise Invalid(
                Code.TOKEN_CANNOT_CHANGE, "A token cannot change the password. Send the old password and the new one."
            )
        try:
            hashed = await self.new_password(new, credentials.address)
        except Refused as refusal:  # the word that clients of both protocols know
            code = Code.NAME_OR_PASSWORD if refusal.code is Code.PASSWORD else refusal.code
            raise Refused.of(code, refusal.sentence, refusal.retry_after_s) from refusal
        await self.store.commit(
            [
                BotPassword(hashed, login.bot_id),
                audit(self.now_ms(), login.name, "bot passwd", login.name, origin=credentials.address),
            ]
        )


def _version_added(version: VersionId, bot: BotId, declared: Declaration, at: int) -> VersionAdded:
    """The record of a new version with its wire name."""
    return VersionAdded(
        id=version,
        bot_id=bot,
        wire_name=declared.wire_name,
        wire_key=fold(declared.wire_name),
        label=declared.label,
        engine=declared.engine,
        parameters=declared.parameters,
        author=declared.author,
        created_at=at,
    )


def _signed(login: BotLogin, version: VersionId, wire_name: str, new: bool) -> SignedIn:
    return SignedIn(
        bot_id=login.bot_id, version_id=version, name=wire_name, new=new, paused=login.paused, limits=login.limits
    )


def until_words(until: int) -> str:
    """A moment (Unix milliseconds) for people."""
    return datetime.fromtimestamp(until / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _disabled(login: BotLogin, at: int) -> Refused:
    reason = login.reason or "ask the operator why."
    if login.until is None:
        return Forbidden(Code.DISABLED, f"{login.name} is disabled: {reason}")
    sentence = f"{login.name} is disabled until {until_words(login.until)}: {reason}"
    return Forbidden(Code.DISABLED, sentence, (login.until - at) / 1000)


def _waits(name: str) -> Refused:
    return Conflict(
        Code.WAITS_APPROVAL, f"{name} is registered and waits for approval by the operator. Try again later."
    )
