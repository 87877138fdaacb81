"""Answers of the API to owners: their account, tokens, webhooks and bots.

Must not know: who may read what, what commands change.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import msgspec
from starlette.responses import Response, StreamingResponse

from cgos_protocol.api import people
from cgos_protocol.api.people import Access
from cgos_protocol.api.route import NDJSON
from cgos_server.observability import transcript_files
from cgos_server.service.commands.tokens import SCOPES
from cgos_server.service.holds import NOT_HERE, Hold
from cgos_server.service.people.authority import Sight
from cgos_server.web.api.acting import person_of
from cgos_server.web.api.asked import if_there, like
from cgos_server.web.api.framework import ApiRequest, Handler
from cgos_server.web.site import Site

_LATEST_US: Final = 2**62
_PORTION: Final = 500
"""Lines of a transcript that are encoded at once."""


class Own:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._history = site.history

    # -- the account

    async def me(self, asked: ApiRequest) -> people.Me:
        """Whose token this is."""
        person = await person_of(self._site, asked, Sight.ACCOUNT)
        scopes = list(person.scopes)
        if person.kind == "session":
            scopes = [scope for scope in SCOPES if scope != "admin" or person.admin]
        return people.Me(account=person.name, admin=person.admin, scopes=scopes, expires_at=person.expires_at)

    async def my_sessions(self, asked: ApiRequest) -> people.Sessions:
        """Sessions, ended ones too."""
        rows = await self._access(asked, "session")
        return people.Sessions(items=[like(people.OpenSession, row) for row in rows])

    async def my_tokens(self, asked: ApiRequest) -> people.Tokens:
        """Tokens of the API, revoked ones too."""
        return people.Tokens(items=[like(people.Token, row) for row in await self._access(asked, "token")])

    async def my_webhooks(self, asked: ApiRequest) -> people.Webhooks:
        """Webhooks without their secrets, newest first."""
        person = await person_of(self._site, asked, Sight.OWN_BOTS)
        rows = await self._history.people.webhooks(person.owner_id)
        deliveries, items = self._site.deliveries, []
        for row in reversed(rows):
            kept = deliveries.of(row.id)
            items.append(
                like(
                    people.Webhook,
                    row,
                    delivered=if_there(kept.success, lambda it: like(people.Delivery, it)),
                    failed=if_there(kept.failure, lambda it: like(people.Delivery, it)),
                    failed_in_a_row=kept.in_a_row,
                )
            )
        return people.Webhooks(items=items, counted_since=deliveries.since)

    # -- bots

    async def my_bots(self, asked: ApiRequest) -> people.OwnBots:
        """One's own bots."""
        person = await person_of(self._site, asked, Sight.OWN_BOTS)
        rows = await self._history.people.bots_of(person.owner_id)
        return people.OwnBots(
            items=[
                like(
                    people.OwnBot,
                    row,
                    games_a_day=row.limits.games_a_day,
                    avoid=list(row.limits.avoid),
                    hours=row.limits.hours,
                )
                for row in rows
            ]
        )

    async def bot_now(self, asked: ApiRequest) -> people.OwnBotNow:
        """What its versions do just now."""
        await self._bot(asked)
        bot = await self._history.bots.detail(asked.word("bot"))
        now = await self._site.bots_now.look(bot.name, asked.credential, asked.request)
        items = [like(people.VersionNow, one, version=one.name, games=list(one.games)) for one in now.versions or ()]
        here = {one.version for one in items}
        if now.versions is not None:
            items += [
                people.VersionNow(
                    version=version.name,
                    venue=None,
                    state=Hold.AWAY.state,
                    games=[],
                    paired=False,
                    since=None if version.last_seen_at is None else version.last_seen_at / 1000,
                    why=NOT_HERE,
                )
                for version in bot.versions
                if version.name not in here
            ]
        return people.OwnBotNow(bot=bot.name, known=now.versions is not None, sentence=now.sentence, items=items)

    async def bot_tokens(self, asked: ApiRequest) -> people.Tokens:
        """Tokens of a bot, revoked ones too, newest first."""
        await self._bot(asked)
        rows = await self._history.bots.tokens(asked.word("bot"))
        return people.Tokens(items=[like(people.Token, row, scopes=[], expires_at=None) for row in reversed(rows)])

    async def transcript(self, asked: ApiRequest) -> Response:
        """The last lines on the wire, as NDJSON."""
        await self._bot(asked)
        bot = await self._history.bots.detail(asked.word("bot"))
        game, limit, lines = asked.number("game"), asked.count("limit"), []
        if self._site.data is not None:
            folder = self._site.data / transcript_files.FOLDER
            lines = await asyncio.to_thread(
                transcript_files.read, folder, bot.id, since_us=0, until_us=_LATEST_US, game=game, limit=limit
            )
        return StreamingResponse(_ndjson(lines), media_type=NDJSON, headers={"Cache-Control": "no-store"})

    # -- what they share

    async def _access(self, asked: ApiRequest, kind: str) -> list[Access]:
        person = await person_of(self._site, asked, Sight.ACCOUNT)
        return [row for row in await self._history.people.access_of(person.owner_id) if row.kind == kind]

    async def _bot(self, asked: ApiRequest) -> None:
        """Raises Refused unless whoever asks may see what only the bot's owner sees."""
        await person_of(self._site, asked, Sight.BOT, await self._history.people.owner_of(asked.word("bot")))


async def _ndjson(lines: list[transcript_files.TranscriptLine]) -> AsyncIterator[bytes]:
    for start in range(0, len(lines), _PORTION):
        portion = [like(people.TranscriptLine, line) for line in lines[start : start + _PORTION]]
        yield msgspec.json.Encoder().encode_lines(portion)


def handlers(site: Site) -> dict[str, Handler]:
    """Operation id -> who answers it."""
    own = Own(site)
    return {
        "me": own.me,
        "my_sessions": own.my_sessions,
        "my_tokens": own.my_tokens,
        "my_webhooks": own.my_webhooks,
        "my_bots": own.my_bots,
        "bot_now": own.bot_now,
        "bot_tokens": own.bot_tokens,
        "transcript": own.transcript,
    }
