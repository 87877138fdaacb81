"""Two versions compared: what came of their games, what was to be expected, who is stronger; all their games.

Must not know: SQL, the live server.
"""

from __future__ import annotations

import math
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cgos_server.core.rating.base import Z95
from cgos_server.core.rating.registry import sure
from cgos_server.errors import Refused
from cgos_server.service.bot_figures import expected_score
from cgos_server.storage.game_answers import GamesAsked, PairRecord
from cgos_server.storage.rank_history import RankedRow
from cgos_server.web.pages.asked import PAGE_SIZE, Systems, before, page_of, venue_of, with_query
from cgos_server.web.site import Site, venue_path
from cgos_server.web.strengths import Strengths


class Compared(NamedTuple):
    """Two versions by their ratings.

    :ivar superiority: the probability that the first is stronger; None where the system does not say
    :ivar difference: Elo, the first minus the second
    :ivar half: half of its 95 % interval; None where the system does not say
    :ivar black: expected score of the first as Black, 0..1
    :ivar white: the same as White
    :ivar jointly: whether both were judged from what is known of them together
    """

    superiority: float | None
    difference: float
    half: float | None
    black: float
    white: float
    jointly: bool

    def expected(self, record: PairRecord) -> float:
        """The first one's expected points in the games with a result, colours as they were had."""
        share = record.one_black / record.games if record.games else 0.5
        return record.rated * (share * self.black + (1 - share) * self.white)


class PairPage:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._systems = Systems(site)

    async def pair(self, request: Request) -> Response:
        """Two versions in a venue."""
        name = request.path_params["name"]
        await venue_of(self._site, name)
        one, other = (request.query_params.get(key, "").strip() for key in ("a", "b"))
        if not one or not other or one == other:
            raise HTTPException(404, "Two different bots can be compared here: name them by a= and b= in the address.")
        history = self._site.history
        try:
            record = await history.pair_record(name, one, other)
        except Refused as refusal:
            raise HTTPException(
                404, "There is no bot of one of these names on the server. Capitals matter."
            ) from refusal
        asked = GamesAsked(venue=name, bot=one, opponent=other)
        games, older = page_of(await history.find_games(asked, PAGE_SIZE + 1, before(request)))
        systems = list(await self._systems.rated(name))
        ratings = {
            row.version: row
            for row in await history.ranked([one, other])
            if row.venue == name and row.system in systems[:1]
        }
        known = await self._site.strengths.venue(name) if len(ratings) == 2 else None
        compared = compare(ratings.get(one), ratings.get(other), known)
        return self._site.render(
            "pair.html",
            here=name,
            name=name,
            one=one,
            other=other,
            record=record,
            points=record.one_wins + record.draws / 2,
            expected=None if compared is None else compared.expected(record),
            ratings=[ratings.get(one), ratings.get(other)],
            compared=compared,
            known=known,
            games=games,
            first=before(request) is None,
            older=None if older is None else with_query(request, before=older),
            newest=with_query(request, before=None),
        )

    async def odds(self, request: Request) -> Response:
        """Who is stronger than whom among the best of a venue; two of them have a page of their own."""
        name = request.path_params["name"]
        await venue_of(self._site, name)
        one, other = request.query_params.get("a"), request.query_params.get("b")
        if one is not None and other is not None:
            return RedirectResponse(f"{venue_path(name)}/pair?{urlencode({'a': one, 'b': other})}")
        known = await self._site.strengths.venue(name)
        return self._site.render("odds.html", here=name, name=name, known=known)


def compare(one: RankedRow | None, other: RankedRow | None, known: Strengths | None) -> Compared | None:
    """What is known of two versions: jointly where it can be, else from the numbers that are published of each."""
    if one is None or other is None:
        return None
    jointly = None if known is None else known.pair(one.version, other.version)
    if jointly is not None:
        _, _, odds = jointly
        scores = odds.as_black.score, odds.as_white.score
        return Compared(odds.superiority, odds.difference, odds.half_width, *scores, jointly=True)
    difference = one.mean - other.mean
    score = expected_score(one.mean, other.mean)
    spread = math.hypot(one.spread, other.spread)
    if not sure(one.system) or not spread:
        return Compared(None, difference, None, score, score, jointly=False)
    superiority = 0.5 * math.erfc(-difference / spread / math.sqrt(2))
    return Compared(superiority, difference, Z95 * spread, score, score, jointly=False)


def routes(site: Site) -> list[BaseRoute]:
    """The addresses of this module."""
    pages = PairPage(site)
    return [Route("/venue/{name}/pair", pages.pair), Route("/venue/{name}/odds", pages.odds)]
