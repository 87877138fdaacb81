"""Sessions of people: how one begins, how long it lasts, and how many accounts one address may make.

What is handed out is random and kept as its digest only; its text is in one answer and nowhere else. Must not know: who
may have what done, cookies, HTTP.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple

from cgos_protocol.api.people import Session
from cgos_protocol.errors import Code, RateLimited
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.failures import touched
from cgos_server.service.people.passwords import SESSION_PREFIX, digest, new_token
from cgos_server.storage.reading.stored import Owner
from cgos_server.storage.writing.records import AccessAdded, AccessForgotten, AccessRevoked, Record

DAY_MS: Final = 86_400_000
MOST_SESSIONS: Final = 20
"""Valid sessions of one account; the oldest one ends when another begins."""
REMEMBERED_DAYS: Final = 90
"""Days that one's ended sessions and tokens are still shown; the next sign-in after that removes them. Our choice."""
MOST_REGISTRATIONS: Final = 10
"""Accounts that may be made from one address within an hour. Our choice: a household, not a flood."""
_HOUR_MS: Final = 3_600_000


class Opened(NamedTuple):
    """A session that begins with the commit of these records. `number` is its own."""

    session: Session
    number: int
    records: list[Record]


class Sessions:
    """One a server.

    :param session_ms: how long a session lasts, milliseconds
    :ivar accounts_open: True where people make their accounts themselves
    """

    def __init__(self, accounts: Accounts, session_ms: int, accounts_open: bool) -> None:
        self.accounts_open = accounts_open
        self._accounts = accounts
        self._session_ms = session_ms
        self._decoy = ""
        self._registered: OrderedDict[str, list[int]] = OrderedDict()

    async def open(self, owner: Owner, address: str) -> Opened:
        """A new session of this account; called under the account's lock."""
        store, now = self._accounts.store, self._accounts.now_ms()
        text, number, until = new_token(SESSION_PREFIX), self._accounts.ids.access(), now + self._session_ms
        valid = [row for row in await store.history.people.valid_access(owner.id, now) if row.kind == "session"]
        records: list[Record] = [AccessRevoked(now, row.id) for row in valid[: max(0, len(valid) - MOST_SESSIONS + 1)]]
        records += [
            AccessForgotten(each)
            for each in await store.history.people.old_access(owner.id, now - REMEMBERED_DAYS * DAY_MS)
        ]
        records.append(
            AccessAdded(
                id=number,
                owner_id=owner.id,
                kind="session",
                digest=digest(text),
                label="",
                scopes="",
                address=address,
                created_at=now,
                expires_at=until,
            )
        )
        session = Session(account=owner.name, admin=owner.admin, session=text, until=until)
        return Opened(session, number, records)

    async def ended(self, owner_id: int, *, tokens_too: bool = False, but: int | None = None) -> list[Record]:
        """Records that end an account's sessions, except the one with the number `but`."""
        now = self._accounts.now_ms()
        return [
            AccessRevoked(now, row.id)
            for row in await self._accounts.store.history.people.valid_access(owner_id, now)
            if row.id != but and (row.kind == "session" or tokens_too)
        ]

    def registrations(self, address: str, now: int) -> list[int]:
        """When accounts were made from this address lately. Raises Refused (``too-many``)."""
        recent = touched(self._registered, address, list[int])
        recent[:] = [at for at in recent if at > now - _HOUR_MS]
        if len(recent) >= MOST_REGISTRATIONS:
            raise RateLimited(
                Code.TOO_MANY,
                "Too many accounts were made from your address. Try again in an hour.",
                (recent[0] + _HOUR_MS - now) / 1000,
            )
        return recent

    async def no_password(self) -> str:
        """A hash that belongs to nobody."""
        if not self._decoy:
            self._decoy = await self._accounts.passwords.hash(new_token())
        return self._decoy
