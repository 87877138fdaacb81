"""What commands work with: the store, the live server, accounts and ratings; whom they name; and one commit together
with the audit row.

Must not know: the commands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from cgos_protocol.errors import Code, NotFound, Unauthenticated
from cgos_protocol.ids import BotId, GameId, VersionId
from cgos_protocol.names import fold
from cgos_server.service.commands.audit import audit
from cgos_server.service.control import Control
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.sessions import Sessions
from cgos_server.service.personal.kept_files import KeptFiles
from cgos_server.service.pruning import Pruner
from cgos_server.service.ratings.venue_ledgers import VenueLedgers
from cgos_server.storage.reading.people_answers import WebhookRow
from cgos_server.storage.reading.stored import Access, BotLogin, Owner, Person, StoredGame
from cgos_server.storage.store import Store
from cgos_server.storage.writing.records import Record

_LAST_NUMBER: Final = 2**63 - 1
"""The largest number that a database holds."""


class Audited(Protocol):
    """What the audit keeps of a command."""

    @property
    def actor(self) -> str: ...

    @property
    def audited(self) -> tuple[str, ...] | None: ...

    def word(self) -> str: ...


class NamedVersion(NamedTuple):
    """A version that somebody named. `name` is its wire name."""

    bot_id: BotId
    version_id: VersionId
    name: str


class Caller(NamedTuple):
    """On whose behalf something is done. `address`: the person's."""

    person: Person
    address: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandContext:
    """What one command is done with.

    :ivar control: the live server, or None on a closed database
    :ivar pruner: removes what is old; None where nobody said how long things are kept
    :ivar asker: on whose behalf; None for whoever may do everything
    :ivar files: what is kept of people besides the database; None: nothing is
    """

    accounts: Accounts
    sessions: Sessions
    ledgers: VenueLedgers
    control: Control | None
    pruner: Pruner | None = None
    asker: Caller | None = None
    files: KeptFiles | None = None

    @property
    def store(self) -> Store:
        return self.accounts.store

    @property
    def ids(self) -> Ids:
        return self.accounts.ids

    @property
    def now_ms(self) -> Callable[[], int]:
        """Unix milliseconds."""
        return self.accounts.now_ms

    @property
    def server(self) -> Control:
        """The live server: only for commands that declare to need it."""
        assert self.control is not None
        return self.control

    @property
    def caller(self) -> Caller:
        """Whoever this is done for. Raises Refused (``not-signed-in``) where it is nobody in particular."""
        if self.asker is None:
            raise Unauthenticated(
                Code.NOT_SIGNED_IN, "This is done for somebody who is signed in, on the pages or by the API."
            )
        return self.asker

    async def bot(self, name: str) -> BotLogin:
        """Raises Refused (``unknown-bot``), with the name that may be meant."""
        bot = await self.store.history.bots.login(name)
        if bot is None:
            near = await self.store.history.bots.name_taken(fold(name))
            other = near is not None and near != name  # then nobody else can have this name
            hint = (
                f"Did you mean {near}?" if other else f"See: cgos-server bots. Add it with: cgos-server bot add {name}"
            )
            raise NotFound(Code.UNKNOWN_BOT, f"There is no bot {name}. {hint}")
        return bot

    async def version(self, name: str) -> NamedVersion:
        """The version with this wire name: a bot's name is its own version's. Raises Refused (``unknown-bot``)."""
        login = await self.store.history.bots.login(name)
        if login is None:
            for version, wire_name in (await self.store.history.bots.version_names()).items():
                if wire_name == name:
                    return NamedVersion((await self.store.history.bots.of_versions())[version], version, name)
            login = await self.bot(name)
        return NamedVersion(login.bot_id, login.version_id, login.name)

    async def account(self, name: str) -> Owner:
        """Raises Refused (``unknown-account``)."""
        owner = await self.store.history.people.owner(name)
        if owner is None:
            raise NotFound(
                Code.UNKNOWN_ACCOUNT, f"There is no account {name}. Add it with: cgos-server account add {name}"
            )
        return owner

    async def still_valid(self, person: Person) -> Owner:
        """The account, if it may still be used as it was when this was asked; under its lock."""
        owner = await self.account(person.name)
        if owner.state != "active" or await self.store.history.people.access(person.access_id) is None:
            raise Unauthenticated(Code.NOT_SIGNED_IN, "This session was ended meanwhile. Sign in again.")
        return owner

    async def access(self, number: int) -> Access | None:
        """The session or token with this number that was not ended, or None."""
        return await self.store.history.people.access(number) if 0 < number <= _LAST_NUMBER else None

    async def game(self, number: GameId) -> StoredGame | None:
        """The game with this number, or None."""
        return await self.store.history.games.stored(number) if 0 < number <= _LAST_NUMBER else None

    async def webhook(self, number: int) -> WebhookRow | None:
        """The webhook with this number that was not removed, or None."""
        return await self.store.history.people.webhook(number) if 0 < number <= _LAST_NUMBER else None

    async def live_webhooks(self, owner_id: int) -> list[WebhookRow]:
        """The webhooks of this account that are sent to."""
        return [hook for hook in await self.store.history.people.webhooks(owner_id) if hook.stopped_at is None]

    async def commit(
        self, command: Audited, subject: str, records: list[Record], **detail: str | int | float | bool
    ) -> None:
        """One commit with the audit row; `detail` are those that the command declares. Raises CommitFailed."""
        assert command.audited is not None, f"{command.word()} declares nothing to keep"
        assert set(detail) <= set(command.audited), f"{command.word()} declares not to keep {sorted(detail)}"
        row = audit(self.now_ms(), command.actor, command.word(), subject, **detail)
        await self.store.commit([*records, row])
