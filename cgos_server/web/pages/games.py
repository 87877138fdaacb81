"""Games that somebody looks for: by venue, bots, verdict, result, date and length, in pages by their numbers.

Must not know: SQL, the live server.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.games import Game
from cgos_protocol.api.route import LARGEST
from cgos_protocol.errors import Code, NotFound
from cgos_protocol.verdict import Reason
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.web.pages.requests import DAY_MS, PAGE_SIZE, bot_of, date, page_of, with_query
from cgos_server.web.site import Pages, Site

RESULTS: Final = {"B": "Black won", "W": "White won", "draw": "drawn", "none": "no result"}

FIELDS: Final = {
    "bot": "of {}",
    "opponent": "against {}",
    "venue": "on {}",
    "running": "that {}",
    "reason": "that ended by {}",
    "result": "with the result “{}”",
    "min_moves": "of {} moves and more",
    "max_moves": "of at most {} moves",
    "since": "since {}",
    "until": "until {}",
}
"""The parts of an address that say which games are wanted, and how each is said in a sentence."""


class Filters(NamedTuple):
    """What was asked for.

    :ivar problems: what makes no sense, each as a sentence
    """

    given: dict[str, str]
    wanted: GameFilter
    before: int | None
    after: int | None
    problems: list[str]


def read(request: Request, venues: list[str]) -> Filters:
    """Which games an address asks for."""
    given = {key: (request.query_params.get(key) or "").strip() for key in FIELDS}
    problems: list[str] = []
    values: dict[str, Any] = {key: given[key] or None for key in ("venue", "bot", "opponent", "reason", "result")}
    if values["venue"] not in (None, *venues):
        problems.append(f"There is no venue {given['venue']!r}. The venues are {', '.join(venues) or 'none yet'}.")
    if values["reason"] not in (None, *Reason):
        problems.append(f"No game ends by {given['reason']!r}. Choose from: {', '.join(Reason)}.")
    if values["result"] not in (None, *RESULTS):
        problems.append(f"No result is called {given['result']!r}. Choose from: {', '.join(RESULTS)}.")
    if given["opponent"] and not given["bot"]:
        values["bot"], values["opponent"] = values["opponent"], None
    if given["running"] not in ("", "yes", "no"):
        problems.append("Running is yes or no.")
    values["running"] = {"yes": True, "no": False}.get(given["running"])
    for key, name in (("min_moves", "The fewest moves"), ("max_moves", "The most moves")):
        values[key] = _number(given[key])
        if given[key] and values[key] is None:
            problems.append(f"{name} should be a whole number, such as 100, not {given[key]!r}.")
    for key, later in (("since", 0), ("until", DAY_MS)):
        try:
            day = date(given[key])
            values[key] = None if day is None else day + later
        except HTTPException:
            problems.append(f"{given[key]!r} is no date. Dates are written as 2026-01-31.")
    before, after = (request.query_params.get(key, "") for key in ("before", "after"))
    if any(place and _number(place) is None for place in (before, after)):
        problems.append("A page of games begins before or after the number of a game.")
    wanted = GameFilter() if problems else GameFilter(**values)
    return Filters(given=given, wanted=wanted, before=_number(before), after=_number(after), problems=problems)


async def show(site: Site, request: Request) -> Response:
    """The games that are asked for."""
    venues = [venue.name for venue in await site.history.server.venues()]
    filters = read(request, venues)
    problems = filters.problems
    games: list[Game] = []
    older = newer = None
    if not problems:
        try:
            games, older, newer = await _page(site, filters)
            games = await site.visible_rows(games)
        except NotFound as refusal:
            if refusal.code not in (Code.NO_BOT, Code.NO_VERSION):
                raise
            names = [name for name in (filters.given["bot"], filters.given["opponent"]) if name]
            problems.append(f"There is no bot of this name ({' or '.join(names)}). Capitals matter.")
    own = await _own(site, filters.wanted.bot) if games and filters.wanted.bot else ()
    return site.render(
        "games.html",
        400 if problems else 200,
        here="/games",
        venues=venues,
        reasons=list(Reason),
        results=RESULTS,
        given=filters.given,
        any=any(filters.given.values()),
        sentence=in_words(filters.given),
        problems=problems,
        games=games,
        own=own,
        first=filters.before is None and filters.after is None,
        older=None if older is None else with_query(request, before=older, after=None),
        newer=None if newer is None else with_query(request, before=None, after=newer),
        newest=with_query(request, before=None, after=None),
    )


async def _page(site: Site, filters: Filters) -> tuple[list[Game], int | None, int | None]:
    """A page of games, before which number the next older one ends, after which the next newer one begins."""
    if filters.after is not None:
        rows = await site.history.games.after(filters.wanted, PAGE_SIZE + 1, filters.after)
        page = rows[:PAGE_SIZE][::-1]
        newer = page[0].id if len(rows) > PAGE_SIZE else None
        return page, page[-1].id if page else None, newer
    page, older = page_of(await site.history.games.find(filters.wanted, PAGE_SIZE + 1, filters.before))
    return page, older, page[0].id if page and filters.before is not None else None


async def _own(site: Site, name: str) -> list[str]:
    bot = await bot_of(site, name)
    return [version.name for version in bot.versions if name in (bot.name, version.name)]


def in_words(given: dict[str, str]) -> str:
    """Which games these are, as half a sentence: ``of gnugo on 9x9 that ended by time``."""
    words = given | {
        "running": {"yes": "run now", "no": "have ended"}.get(given["running"], ""),
        "result": RESULTS.get(given["result"], given["result"]),
    }
    return " ".join(phrase.format(words[key]) for key, phrase in FIELDS.items() if words[key])


def _number(text: str) -> int | None:
    if not text.isascii() or not text.isdecimal() or len(text) > 30:
        return None
    return min(int(text), LARGEST)


PAGES: Final[Pages] = {"/games": show}
