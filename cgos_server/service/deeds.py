"""What deeds of operators share: finding whom they name, and one commit together with the audit row.

Must not know: the deeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cgos_protocol.errors import Code, Invalid, NotFound
from cgos_protocol.names import fold
from cgos_server.service.audit import audit
from cgos_server.service.requests import Request
from cgos_server.storage.people_answers import WebhookRow
from cgos_server.storage.reading.stored import Access, BotLogin, Owner
from cgos_server.storage.records import Record
from cgos_server.storage.store import Store

LAST_NUMBER = 2**63 - 1
"""The largest number that a database holds."""

REASON_MAX = 200
"""Characters of a reason."""

ADDRESS_MAX = 64
"""Characters of a person's address."""


class Named(NamedTuple):
    """A version that an operator named. `name` is its wire name."""

    bot_id: int
    version_id: int
    name: str


class Deeds:
    """The store and the time of those who handle requests.

    :param now_ms: Unix milliseconds
    """

    def __init__(self, store: Store, now_ms: Callable[[], int]) -> None:
        self.store = store
        self.now_ms = now_ms

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

    async def version(self, name: str) -> Named:
        """The version with this wire name: a bot's name is its own version's. Raises Refused (``unknown-bot``)."""
        login = await self.store.history.bots.login(name)
        if login is None:
            for version, wire_name in (await self.store.history.bots.version_names()).items():
                if wire_name == name:
                    return Named((await self.store.history.bots.of_versions())[version], version, name)
            login = await self.bot(name)
        return Named(login.bot_id, login.version_id, login.name)

    async def owner(self, name: str) -> Owner:
        """The account. Raises Refused (``unknown-account``)."""
        owner = await self.store.history.people.owner(name)
        if owner is None:
            raise NotFound(
                Code.UNKNOWN_ACCOUNT, f"There is no account {name}. Add it with: cgos-server account add {name}"
            )
        return owner

    async def access(self, number: int) -> Access | None:
        """The session or token with this number that was not ended, or None."""
        return await self.store.history.people.access(number) if 0 < number <= LAST_NUMBER else None

    async def webhook(self, number: int) -> WebhookRow | None:
        """The webhook with this number that was not removed, or None."""
        return await self.store.history.people.webhook(number) if 0 < number <= LAST_NUMBER else None

    async def commit(
        self, request: Request, subject: str, records: list[Record], **detail: str | int | float | bool
    ) -> None:
        """One commit with the audit row. Raises CommitFailed."""
        action = str(request.__struct_config__.tag)
        await self.store.commit([*records, audit(self.now_ms(), request.actor, action, subject, **detail)])


def one_line(reason: str) -> str:
    """A reason as it is kept and told: without line ends, and without what no terminal and no page should be told."""
    return " ".join("".join(each for each in word if each.isprintable()) for word in reason.split())[:REASON_MAX]


def shown_address(address: str) -> str:
    """A person's address as it is kept: what a proxy says of it may be anything."""
    return one_line(address)[:ADDRESS_MAX]


def reason_for(reason: str, what: str) -> str:
    """The reason as it is kept, for which there has to be one. Raises Refused (``reason``); `what` needs it."""
    said = one_line(reason)
    if not said:
        raise Invalid(Code.REASON, f"Say why {what}: it is kept, and people are told.")
    return said
