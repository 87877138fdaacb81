"""One bot as its owner sees it: how it loses, what it may do, its tokens, its games with what went over the wire.

For the owner and for operators. Must not know: SQL, what a command does, where transcripts lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from cgos_protocol.api.games import Game
from cgos_protocol.api.people import Done
from cgos_protocol.ids import BotId, GameId
from cgos_server.presentation import transcript_lines as wire
from cgos_server.presentation import words
from cgos_server.service.holds import NOT_HERE, Hold
from cgos_server.service.people.authority import Sight, may_see
from cgos_server.storage.reading.answers import BotDetail
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.web.pages.requests import NO_GAME, PAGE_SIZE, before, number, page_of, refused_as_404
from cgos_server.web.people.admin_bots import newest_versions
from cgos_server.web.people.form_page import FormPage
from cgos_server.web.people.sessions import PRIVATE, Form, Visit, to_sign_in, token_of, visit
from cgos_server.web.site import Pages, Site

COUNTED: Final = 500
"""Latest ended games over which the days are counted."""

DAYS: Final = 14

AWAY: Final = 20
"""Versions that are not connected and shown as such: the latest."""

NOWHERE: Final = "You have no bot of this name. Capitals matter; a bot is claimed on your account's page."


class Day(NamedTuple):
    """What a bot played on one day (UTC). `lost`: reason -> games lost so."""

    day: str
    games: int
    lost: dict[str, int]


def by_day(games: Sequence[Game], versions: Sequence[str]) -> list[Day]:
    """The latest days on which games ended, newest first."""
    days: dict[str, tuple[int, dict[str, int]]] = {}
    for game in games:
        if game.ended_at is None:
            continue
        count, lost = days.get(words.day(game.ended_at), (0, {}))
        loser = {"B+": game.white, "W+": game.black}.get((game.corrected or game.result or "")[:2])
        if loser in versions and game.reason is not None:
            lost = lost | {game.reason: lost.get(game.reason, 0) + 1}
        days[words.day(game.ended_at)] = (count + 1, lost)
    return [Day(day, count, lost) for day, (count, lost) in sorted(days.items(), reverse=True)[:DAYS]]


async def own(site: Site, request: Request, here: Visit) -> BotDetail:
    """The bot that the address names. Raises HTTPException 404 where it is somebody else's, as where there is none."""
    name = request.path_params["bot"]
    with refused_as_404(NOWHERE):
        may_see(here.person, Sight.BOT, await site.history.people.owner_of(name))
        bot = await site.history.bots.detail(name)
    if bot.name != name:  # a version's name
        raise HTTPException(404, NOWHERE)
    return bot


class OwnBotPage(FormPage):
    """One bot."""

    address = "/account/bot/{bot}"
    template = "people/bot.html"

    async def values(self, request: Request, here: Visit) -> dict[str, Any]:
        bot = await own(self.site, request, here)
        history = self.site.history
        versions = [version.name for version in bot.versions]
        ended = await history.games.find(GameFilter(bot=bot.name, running=False), COUNTED)
        page, older = page_of(await history.games.find(GameFilter(bot=bot.name), PAGE_SIZE + 1, before(request)))
        limits = bot.limits if isinstance(bot.limits, dict) else {}
        games_a_day = limits.get("games_a_day")
        return {
            "bot": bot,
            "versions": versions,
            "live": await self.site.bots_now.look(bot.name, here.session, request),
            "strength_changes": await self.site.strength_changes.of(versions),
            "seen_at": {version.name: version.last_seen_at for version in bot.versions},
            "away": AWAY,
            "not_here": (Hold.AWAY.state, NOT_HERE),
            "days": by_day(ended, versions),
            "counted": COUNTED,
            "lost_words": {"time": "on time", "illegal move": "by an illegal move", "forfeit": "by forfeit"},
            "tokens": [token for token in await history.bots.tokens(bot.name) if token.revoked_at is None],
            "filled": {
                "games_a_day": "" if games_a_day is None else str(games_a_day),
                "avoid": " ".join(limits.get("avoid", [])),
                "accepts": " ".join(limits.get("accepts", [])),
                "hours": limits.get("hours", ""),
            },
            "choices": {"version": newest_versions(bot)},
            "games": page,
            "older": older,
            "transcript_days": self.site.settings.transcript_days,
        }

    async def done(self, request: Request, here: Visit, answer: Any, form: Form) -> Response:
        if isinstance(answer, Done):
            try:
                await own(self.site, request, here)
            except HTTPException:  # it was given up
                return self.back(request, here, answer.sentence, "/account")
        return await super().done(request, here, answer, form)


async def transcript(site: Site, request: Request) -> Response:
    """What went over the wire in one game of one bot: a timed table, or with ``format=text`` a file."""
    here = await visit(site, request)
    if here is None:
        return to_sign_in(request)
    bot = await own(site, request, here)
    game = number(request.query_params.get("game"))
    if game is None:
        raise HTTPException(400, "Which game? Follow the links of the bot's page.")
    row = await _game(site, GameId(game), [version.name for version in bot.versions])
    wanted = wire.lines_of(BotId(bot.id), game, row.started_at, row.ended_at or site.now_ms())
    lines, missing = await site.server.transcripts.lines(wanted)
    if request.query_params.get("format") == "text":
        name = f"{bot.name}-{game}.txt"
        headers = PRIVATE | {"Content-Disposition": f'attachment; filename="{name}"'}
        return PlainTextResponse(wire.as_text(lines) + wire.as_note(missing), headers=headers)
    response = site.render(
        "people/transcript.html",
        here="/account",
        person=here.person,
        token=token_of(here.session),
        bot=bot.name,
        game=row,
        lines=wire.timed(lines),
        days=site.settings.transcript_days,
        missing=missing,
    )
    response.headers.update(PRIVATE)
    return response


async def _game(site: Site, game: GameId, versions: Sequence[str]) -> Game:
    with refused_as_404(NO_GAME):
        row = (await site.history.games.detail(game)).game
    if row.black not in versions and row.white not in versions:
        raise HTTPException(404, "This bot did not play in that game.")
    return row


PAGES: Final[Pages] = {f"{OwnBotPage.address}/transcript": transcript}
