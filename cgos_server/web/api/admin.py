"""Answers of the API to operators: what they read, and what the live server is and does.

Must not know: who may read what, what commands change.
"""

from __future__ import annotations

from cgos_protocol.api import people
from cgos_server.service.control import ArrangedGame, ServerStatus
from cgos_server.service.people.authority import Sight
from cgos_server.web.api.acting import person_of
from cgos_server.web.api.framework import ApiRequest, Handler
from cgos_server.web.site import Site


class OperatorsReading:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._history = site.history

    async def audit(self, asked: ApiRequest) -> people.AuditPage:
        """Who did what, newest first."""
        await person_of(self._site, asked, Sight.SERVER)
        limit = asked.count("limit")
        rows = await self._history.server.audit(
            limit=limit + 1,
            before=asked.number("before"),
            actor=asked.text("actor"),
            action=asked.text("action"),
            subject=asked.text("subject"),
        )
        page = rows[:limit]
        return people.AuditPage(items=page, next=page[-1].id if len(rows) > limit else None)

    async def connections(self, asked: ApiRequest) -> people.ConnectionPage:
        """Sign-ins of bots, newest first."""
        await person_of(self._site, asked, Sight.SERVER)
        limit = asked.count("limit")
        rows = await self._history.bots.connections(
            asked.text("bot"),
            asked.text("venue"),
            address=asked.text("address"),
            only_open=bool(asked.flag("open")),
            limit=limit + 1,
            before=asked.number("before"),
        )
        page = rows[:limit]
        return people.ConnectionPage(items=page, next=page[-1].id if len(rows) > limit else None)

    async def access(self, asked: ApiRequest) -> people.AccessList:
        """Somebody's sessions and tokens."""
        await person_of(self._site, asked, Sight.SERVER)
        name = asked.word("account")
        rows = await self._history.people.access_of(await self._history.people.account_id(name))
        return people.AccessList(account=name, items=rows)

    async def accounts(self, asked: ApiRequest) -> people.Accounts:
        """All accounts, by name."""
        await person_of(self._site, asked, Sight.SERVER)
        return people.Accounts(items=await self._history.people.accounts())


def server_now(status: ServerStatus) -> people.ServerNow:
    """What operators see of the live server by the API."""
    return people.ServerNow(
        pid=status.pid,
        version=status.version,
        up_s=status.up_s,
        ready=status.ready,
        draining=status.draining,
        venues=status.venues,
        games=status.games,
        bots=status.bots,
        moves=status.moves,
        ended=status.ended,
        warnings=status.warnings,
        errors=status.errors,
    )


def arranged(game: ArrangedGame) -> people.Arranged:
    """A game that is about to begin, without the labels of ratings."""
    return people.Arranged(
        game=game.game, venue=game.venue, black=game.black, white=game.white, rated=game.rated, plies=game.plies
    )


def handlers(site: Site) -> dict[str, Handler]:
    """Operation id -> who answers it."""
    reading = OperatorsReading(site)
    return {
        "admin_audit": reading.audit,
        "admin_connections": reading.connections,
        "account_access": reading.access,
        "accounts": reading.accounts,
    }
