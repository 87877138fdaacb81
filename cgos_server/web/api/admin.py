"""Answers of the API to operators: all that commands and operators' lines can do to the running server.

What changes something is handed to the game process, which decides whether the token allows it. Must not know: who may
ask for what, how deeds are done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cgos_protocol.api import people
from cgos_server.service import requests as deeds
from cgos_server.service.authority import Sight
from cgos_server.web.api.acting import answered, doing, person_of
from cgos_server.web.api.asked import like
from cgos_server.web.api.framework import Asked, Handler
from cgos_server.web.site import Site


class Operating:
    """The handlers whose answers are more than a sentence."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._history = site.history

    async def status(self, asked: Asked) -> people.ServerNow:
        """The live server."""
        status = (await answered(self._site, asked, deeds.StatusRequest(), deeds.StatusNow)).status
        return like(
            people.ServerNow,
            status,
            venues=[like(people.VenueNow, venue) for venue in status.venues],
            games=[like(people.GameNow, game) for game in status.games],
            bots=[like(people.BotNow, bot) for bot in status.bots],
        )

    async def audit(self, asked: Asked) -> people.AuditPage:
        """Who did what, newest first."""
        await person_of(self._site, asked, Sight.SERVER)
        limit = asked.count("limit")
        rows = await self._history.server.audit(
            limit + 1, asked.number("before"), asked.text("actor"), asked.text("action"), asked.text("subject")
        )
        page = rows[:limit]
        return people.AuditPage(items=page, next=page[-1].id if len(rows) > limit else None)

    async def connections(self, asked: Asked) -> people.ConnectionPage:
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

    async def access(self, asked: Asked) -> people.AccessList:
        """Somebody's sessions and tokens."""
        await person_of(self._site, asked, Sight.SERVER)
        name = asked.word("account")
        rows = await self._history.people.access_of(await self._history.people.account_id(name))
        return people.AccessList(account=name, items=rows)

    async def accounts(self, asked: Asked) -> people.Accounts:
        """All accounts, by name."""
        await person_of(self._site, asked, Sight.SERVER)
        return people.Accounts(items=await self._history.people.accounts())

    async def abort_game(self, asked: Asked) -> people.EndedGame:
        """A running game ends."""
        body: people.AbortGame = asked.body
        deed = deeds.GameAbort(game=asked.count("game"), result=body.result, reason=body.reason)
        return like(people.EndedGame, (await answered(self._site, asked, deed, deeds.Ended)).game)

    async def arrange_match(self, asked: Asked) -> people.Arranged:
        """Two bots play now."""
        body: people.ArrangeMatch = asked.body
        deed = deeds.Match(
            venue=body.venue,
            white=body.white,
            black=body.black,
            white_s=body.white_s,
            black_s=body.black_s,
            game=body.game,
            moves=body.moves,
        )
        return like(people.Arranged, (await answered(self._site, asked, deed, deeds.Arranged)).game)

    async def preview_pairing(self, asked: Asked) -> people.Previewed:
        """What would be paired now."""
        body: people.PreviewPairing = asked.body
        deed = deeds.Preview(venue=asked.word("venue"), method=body.method, options=dict(body.options))
        found = (await answered(self._site, asked, deed, deeds.Previewed)).preview
        return like(people.Previewed, found, pairs=[like(people.PreviewedPair, pair) for pair in found.pairs])

    async def reload(self, asked: Asked) -> people.Reloaded:
        """The configuration is read again."""
        return like(people.Reloaded, await answered(self._site, asked, deeds.Reload(), deeds.Reloaded))


def handlers(site: Site) -> dict[str, Handler]:
    """Operation id -> who answers it."""
    more = Operating(site)
    found: dict[str, Handler] = {
        "admin_status": more.status,
        "admin_audit": more.audit,
        "admin_connections": more.connections,
        "account_access": more.access,
        "accounts": more.accounts,
        "abort_game": more.abort_game,
        "arrange_match": more.arrange_match,
        "preview_pairing": more.preview_pairing,
        "reload": more.reload,
    }
    return found | {operation: doing(site, build) for operation, build in _SENTENCES}


# Those whose answer is a sentence: what each asks the game process for.
_SENTENCES: Final[tuple[tuple[str, Callable[[Asked], deeds.Request]], ...]] = (
    ("add_bot", lambda asked: deeds.BotAdd(name=asked.body.name, password=asked.body.password)),
    ("set_owner", lambda asked: deeds.BotOwn(bot=asked.word("bot"), account=asked.body.account)),
    ("link_family", lambda asked: deeds.FamilyLink(bot=asked.word("bot"), leader=asked.body.leader)),
    ("unlink_family", lambda asked: deeds.FamilyUnlink(bot=asked.word("bot"))),
    (
        "disable_bot",
        lambda asked: deeds.BotDisable(name=asked.word("bot"), reason=asked.body.reason, until=asked.body.until),
    ),
    ("enable_bot", lambda asked: deeds.BotEnable(name=asked.word("bot"))),
    ("approve_bot", lambda asked: deeds.Approve(name=asked.word("bot"))),
    ("kick_bot", lambda asked: deeds.Kick(bot=asked.word("bot"), reason=asked.body.reason)),
    (
        "correct_game",
        lambda asked: deeds.GameCorrect(game=asked.count("game"), result=asked.body.result, reason=asked.body.reason),
    ),
    ("pause_venue", lambda asked: deeds.VenuePause(venue=asked.word("venue"))),
    ("resume_venue", lambda asked: deeds.VenueResume(venue=asked.word("venue"))),
    (
        "set_anchor",
        lambda asked: deeds.AnchorSet(
            venue=asked.word("venue"), bot=asked.word("version"), rating=asked.body.rating, sd=asked.body.sd
        ),
    ),
    ("unset_anchor", lambda asked: deeds.AnchorUnset(venue=asked.word("venue"), bot=asked.word("version"))),
    ("drain_server", lambda _: deeds.Drain()),
    (
        "add_account",
        lambda asked: deeds.AccountAdd(name=asked.body.name, password=asked.body.password, admin=asked.body.admin),
    ),
    (
        "set_account_password",
        lambda asked: deeds.AccountPasswd(name=asked.word("account"), password=asked.body.password),
    ),
    ("disable_account", lambda asked: deeds.AccountDisable(name=asked.word("account"), reason=asked.body.reason)),
    ("enable_account", lambda asked: deeds.AccountEnable(name=asked.word("account"))),
    ("grant_right", lambda asked: deeds.AccountGrant(name=asked.word("account"), right=asked.word("right"))),
    ("revoke_right", lambda asked: deeds.AccountRevoke(name=asked.word("account"), right=asked.word("right"))),
)
