"""Answers of the API to owners: their account, tokens, webhooks and bots.

Must not know: who may read what, what commands change.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

import msgspec
from msgspec.structs import asdict
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from cgos_protocol.api import people
from cgos_protocol.api.people import Access
from cgos_protocol.api.route import JSON, LARGEST, NDJSON, ZIP, Limit, Needs
from cgos_protocol.ids import BotId
from cgos_server.observability.transcript_files import TranscriptLine
from cgos_server.presentation.answers import published
from cgos_server.service.commands.tokens import SCOPES
from cgos_server.service.holds import NOT_HERE, Hold
from cgos_server.service.nodes.commands import LinesRequest
from cgos_server.service.people.authority import Sight
from cgos_server.storage.reading.people_answers import OwnedBot
from cgos_server.web.api.caller import person_of
from cgos_server.web.api.framework import bearer
from cgos_server.web.api.reading.exports import Bulk, personal_data
from cgos_server.web.api.reading.parameters import BotName, up_to
from cgos_server.web.api.typed import Group
from cgos_server.web.site import Site

OWN, OWN_BOTS = "Your own", "Your own bots"

MISSING: Final = "Cgos-Missing-Nodes"
"""Header of an answer that names the nodes of a cluster whose part of it is missing."""

_PORTION: Final = 500
"""Lines of a transcript that are encoded at once."""

_own, _bots = Group(OWN), Group(OWN_BOTS)


class ReadingOwn:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._history = site.history

    # -- the account

    @_own.get("/me/sessions", needs=Needs.TOKEN)
    async def my_sessions(self, request: Request) -> people.Sessions:
        """One's own sessions."""
        return people.Sessions(items=published(await self._access(request, "session"), list[people.OpenSession]))

    @_own.get("/me", needs=Needs.TOKEN)
    async def me(self, request: Request) -> people.Me:
        """Whose token this is, and what it may do."""
        person = await person_of(self._site, request, Sight.ACCOUNT)
        scopes = list(person.scopes)
        if person.kind == "session":
            scopes = [scope for scope in SCOPES if scope != "admin" or person.admin]
        return people.Me(account=person.name, admin=person.admin, scopes=scopes, expires_at=person.expires_at)

    @_own.get("/me/data.json", needs=Needs.BOTS, media=(JSON,), limit=Limit.BULK)
    async def my_data(self, request: Request) -> Annotated[Bulk, people.PersonalData]:
        """All that the server keeps about oneself and one's bots, without secrets.

        A stream of any length.
        """
        person = await person_of(self._site, request, Sight.OWN_BOTS)
        return await personal_data(self._site, person, packed=False)

    @_own.get("/me/data.zip", needs=Needs.BOTS, media=(ZIP,), limit=Limit.BULK)
    async def my_data_packed(self, request: Request) -> Bulk:
        """The same as `data.json` in an archive, with the transcripts of one's bots."""
        person = await person_of(self._site, request, Sight.OWN_BOTS)
        return await personal_data(self._site, person, packed=True)

    @_own.get("/me/bots", needs=Needs.BOTS)
    async def my_bots(self, request: Request) -> people.OwnBots:
        """One's own bots."""
        person = await person_of(self._site, request, Sight.OWN_BOTS)
        return people.OwnBots(items=[_own_bot(row) for row in await self._history.people.bots_of(person.owner_id)])

    @_own.get("/me/tokens", needs=Needs.TOKEN)
    async def my_tokens(self, request: Request) -> people.Tokens:
        """One's own tokens for the API."""
        return people.Tokens(items=published(await self._access(request, "token"), list[people.Token]))

    @_own.get("/me/webhooks", needs=Needs.BOTS)
    async def my_webhooks(self, request: Request) -> people.Webhooks:
        """One's own webhooks."""
        person = await person_of(self._site, request, Sight.OWN_BOTS)
        deliveries, items = self._site.deliveries, []
        await deliveries.refresh()
        for row in reversed(await self._history.people.webhooks(person.owner_id)):
            kept = deliveries.of(row.id)
            webhook = msgspec.structs.replace(
                published(row, people.Webhook),  # without its secret
                delivered=kept.success and published(kept.success, people.Delivery),
                failed=kept.failure and published(kept.failure, people.Delivery),
                failed_in_a_row=kept.in_a_row,
            )
            items.append(webhook)
        return people.Webhooks(items=items, counted_since=deliveries.since)

    # -- bots

    async def bot_now(self, bot: str, request: Request) -> people.OwnBotNow:
        """What its versions do just now."""
        await self._may_see(bot, request)
        detail = await self._history.bots.detail(bot)
        now = await self._site.bots_now.look(detail.name, bearer(request), request)
        items = [published(asdict(each) | {"version": each.name}, people.VersionNow) for each in now.versions or ()]
        here = {item.version for item in items}
        if now.versions is not None:
            items += [
                people.VersionNow(
                    version=version.name,
                    venue=None,
                    state=Hold.AWAY.state,
                    games=[],
                    paired=False,
                    began_at=version.last_seen_at,
                    since=None if version.last_seen_at is None else version.last_seen_at / 1000,
                    why=NOT_HERE,
                )
                for version in detail.versions
                if version.name not in here
            ]
        return people.OwnBotNow(bot=detail.name, known=now.versions is not None, sentence=now.sentence, items=items)

    @_bots.get("/bots/{bot}/tokens", needs=Needs.BOTS)
    async def bot_tokens(self, request: Request, bot: BotName) -> people.Tokens:
        """A bot's tokens."""
        await self._may_see(bot, request)
        rows = await self._history.bots.tokens(bot)
        without_end: dict[str, Any] = {"scopes": [], "expires_at": None}
        return people.Tokens(items=[published(asdict(row) | without_end, people.Token) for row in reversed(rows)])

    @_bots.get("/bots/{bot}/transcript", needs=Needs.BOTS, media=(NDJSON,), limit=Limit.BULK)
    async def transcript(
        self,
        request: Request,
        bot: BotName,
        game: Annotated[int | None, up_to(LARGEST), "Only what is about this game."] = None,
        limit: Annotated[int, up_to(20_000), "Lines, the last ones."] = 2_000,
    ) -> Annotated[Response, people.TranscriptLine]:
        """What was said on the wire, passwords masked."""
        await self._may_see(bot, request)
        detail = await self._history.bots.detail(bot)
        wanted = LinesRequest(bot=BotId(detail.id), game=game, limit=limit)
        lines, missing = await self._site.server.transcripts.lines(wanted)
        headers = {"Cache-Control": "no-store"} | ({MISSING: " ".join(missing)} if missing else {})
        return StreamingResponse(_ndjson(lines), media_type=NDJSON, headers=headers)

    # -- what they share

    async def _access(self, request: Request, kind: str) -> list[Access]:
        person = await person_of(self._site, request, Sight.ACCOUNT)
        return [row for row in await self._history.people.access_of(person.owner_id) if row.kind == kind]

    async def _may_see(self, bot: str, request: Request) -> None:
        """Raises Refused unless whoever asks may see what only the bot's owner sees."""
        await person_of(self._site, request, Sight.BOT, await self._history.people.owner_of(bot))


def _own_bot(row: OwnedBot) -> people.OwnBot:
    return published(asdict(row) | asdict(row.limits), people.OwnBot)


async def _ndjson(lines: list[TranscriptLine]) -> AsyncIterator[bytes]:
    for start in range(0, len(lines), _PORTION):
        portion = published(lines[start : start + _PORTION], list[people.TranscriptLine])
        yield msgspec.json.Encoder().encode_lines(portion)
