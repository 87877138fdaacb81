"""Answers of the API to operators: what was done, who signed in, and people's accounts.

Must not know: who may read what, what commands change.
"""

from __future__ import annotations

from typing import Annotated

from starlette.requests import Request

from cgos_protocol.api import people
from cgos_protocol.api.route import Needs
from cgos_server.service.people.authority import Sight
from cgos_server.web.api.caller import person_of
from cgos_server.web.api.reading.parameters import AccountName, Before, Name, PageSize, Words, up_to
from cgos_server.web.api.typed import Group
from cgos_server.web.site import Site

ADMIN = "Operators"

_operators = Group(ADMIN)


class ReadingOperators:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._history = site.history

    @_operators.get("/admin/audit", id="admin_audit", needs=Needs.ADMIN)
    async def audit(
        self,
        request: Request,
        before: Before = None,
        actor: Annotated[Words | None, "Done by."] = None,
        action: Annotated[Words | None, "This deed, such as `bot disable`."] = None,
        subject: Annotated[Words | None, "Done to."] = None,
        limit: Annotated[PageSize, up_to(500)] = 100,
    ) -> people.AuditPage:
        """What was done by whom, newest first."""
        await person_of(self._site, request, Sight.SERVER)
        rows = await self._history.server.audit(
            limit=limit + 1, before=before, actor=actor, action=action, subject=subject
        )
        page = rows[:limit]
        return people.AuditPage(items=page, next=page[-1].id if len(rows) > limit else None)

    @_operators.get("/admin/connections", id="admin_connections", needs=Needs.ADMIN)
    async def connections(
        self,
        request: Request,
        bot: Annotated[Name | None, "Of this bot or version."] = None,
        venue: Annotated[Name | None, "In the venue of this name."] = None,
        address: Annotated[Words | None, "From exactly this address."] = None,
        open: Annotated[bool, "Only those without an end."] = False,  # noqa: A002
        before: Before = None,
        limit: Annotated[PageSize, up_to(500)] = 100,
    ) -> people.ConnectionPage:
        """Who signed in from where, newest first."""
        await person_of(self._site, request, Sight.SERVER)
        rows = await self._history.bots.connections(
            bot, venue, address=address, only_open=open, limit=limit + 1, before=before
        )
        page = rows[:limit]
        return people.ConnectionPage(items=page, next=page[-1].id if len(rows) > limit else None)

    @_operators.get("/admin/accounts/{account}/access", id="account_access", needs=Needs.ADMIN)
    async def access(self, request: Request, account: AccountName) -> people.AccessList:
        """Somebody's sessions and tokens.

        `DELETE /me/tokens/{token}` ends any of them.
        """
        await person_of(self._site, request, Sight.SERVER)
        rows = await self._history.people.access_of(await self._history.people.account_id(account))
        return people.AccessList(account=account, items=rows)

    @_operators.get("/admin/accounts", needs=Needs.ADMIN)
    async def accounts(self, request: Request) -> people.Accounts:
        """All accounts of people."""
        await person_of(self._site, request, Sight.SERVER)
        return people.Accounts(items=await self._history.people.accounts())
