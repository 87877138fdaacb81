"""What other sites show of this server: rating badges, a small live board, pictures for links (Open Graph); what
search engines read of it.

Badges and pictures may be kept by caches for some minutes; a board in a frame has a content policy of its own, with
which any site may frame it and nothing but our own files is loaded. Must not know: SQL, how a picture is drawn.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cgos_protocol.errors import OurFault, Refused
from cgos_server.presentation import words
from cgos_server.presentation.stored_game import Seen
from cgos_server.storage.reading.answers import RankedRow
from cgos_server.web.drawing import card_png
from cgos_server.web.drawing.badge_svg import STYLES, badge_svg
from cgos_server.web.drawing.board_svg import board_svg
from cgos_server.web.pages.requests import NO_BOT, Systems, refused_as_404, terms_of, venue_of, visible_game
from cgos_server.web.site import Site, bot_path, event_path, venue_path

KEPT: Final = 128
"""Pictures that are kept in memory, some 15 kB each."""

WAITING: Final = 16
"""Pictures that may wait for their turn; whoever comes then is sent away."""

_FOR_MINUTES: Final = "public, max-age=300, stale-while-revalidate=600"
_SHORTLY: Final = "public, max-age=20"
_ANYWHERE: Final = {"Cross-Origin-Resource-Policy": "cross-origin"}

FRAMED: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors *"
    ),
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Referrer-Policy": "no-referrer",
}
"""Of the board that any site may frame."""

_SITEMAP: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
_LISTED: Final = 50_000
"""Addresses that a sitemap may have."""


class Embeds:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._systems = Systems(site)
        self._pictures = Pictures()

    async def badge(self, request: Request) -> Response:
        """A version's rating in a venue, or the best of a bot's versions. Query: `style`, `label`, `system`."""
        query = request.query_params
        style = query.get("style", "flat")
        if style not in STYLES:
            raise HTTPException(400, f"There is no such style. Choose one of: {', '.join(STYLES)}.")
        venue, name = request.path_params["venue"], request.path_params["version"]
        label = query.get("label", venue)
        status, color, right = 200, "none", "not rated"
        try:
            row = await self._standing(venue, name, query.get("system"))
        except (Refused, HTTPException):
            status, right = 404, "unknown"
        else:
            if row is not None:
                right = words.briefly(row)
                color = "provisional" if row.provisional else "known"
        return badge_answer(badge_svg(label, right, color, style), status)

    async def board(self, request: Request) -> Response:
        """A game's board for a frame. It follows the game by a script, or loads itself again where none runs."""
        game = await visible_game(self._site, request)
        detail = game.detail
        row, ply = detail.game, len(detail.moves)
        seen = game.position(ply)
        running = row.result is None
        title = f"{row.black} – {row.white}"
        players = [
            (color.letter, name, label, words.time_left(game.terms.time, game.clock_after(color, ply)))
            for color, name, label in game.sides()
        ]
        page = self._site.render(
            "embed.html",
            refresh=running,
            running=running,
            first=game.color(1).letter,
            black=" ".join(game.start.black) if game.start else "",
            white=" ".join(game.start.white) if game.start else "",
            moves=" ".join(move.move for move in detail.moves) if running else "",
            game=row,
            title=title,
            players=players,
            ply=ply,
            ending=game.ending(),
            address=self._site.address(request),
            board=board_svg(
                game.terms.rules.size, seen.stones, last=seen.last, title=title, description=f"After move {ply}."
            ),
        )
        page.headers.update(FRAMED | {"Cache-Control": "no-cache" if running else _FOR_MINUTES})
        return page

    async def game_picture(self, request: Request) -> Response:
        """A game's position as a picture of 1200 by 630."""
        game = await visible_game(self._site, request)
        detail = game.detail
        row, ply, place = detail.game, len(detail.moves), self._site.settings.server_name

        def draw() -> bytes:
            seen: Seen = game.position(ply)
            state = f"move {ply}" if row.result is None else row.result
            if row.corrected is not None:
                state = f"{state}, now {row.corrected}"
            heading = [f"{row.black} (black)", f"{row.white} (white)"]
            text = [f"{row.black_label} – {row.white_label}", f"{row.venue}, game {row.id}", state]
            return card_png.board_card(
                game.terms.rules.size, seen.stones, last=seen.last, heading=heading, text=text, place=place
            )

        key = ("game", row.id, ply, row.result, row.corrected)
        return await self._picture(key, draw, _SHORTLY if row.result is None else _FOR_MINUTES)

    async def bot_picture(self, request: Request) -> Response:
        """A bot's or version's name and its rating in the venue where it played most."""
        name = request.path_params["name"]
        with refused_as_404(NO_BOT):
            rows = await self._ranked(name)
        value, text = "", ["not rated yet"]
        if rows:
            row = max(rows, key=lambda row: row.games)
            value = words.standing(row)
            rank = "" if row.rank is None else f"rank {row.rank}, "
            text = [f"{row.venue}: {rank}{words.count(row.games, 'rated game')}"]
            text += [row.version] if row.version != name else []
        place = self._site.settings.server_name
        return await self._picture(("bot", name, value, *text), lambda: card_png.name_card(name, value, text, place))

    async def venue_picture(self, request: Request) -> Response:
        """The five best of a venue."""
        venue = await venue_of(self._site, request.path_params["venue"])
        rows = await self._systems.best(venue.name, 5)
        lines = [card_png.Line(row.version, words.briefly(row)) for row in rows]
        terms, place = terms_of(venue), self._site.settings.server_name
        return await self._picture(
            ("venue", venue.name, *lines), lambda: card_png.list_card(venue.name, lines, terms, place)
        )

    async def robots(self, request: Request) -> Response:
        """Say what search engines may read."""
        closed = "".join(f"Disallow: {path}\n" for path in ("/account", "/admin", "/api/"))
        return PlainTextResponse(f"User-agent: *\n{closed}Sitemap: {self._site.address(request)}/sitemap.xml\n")

    async def sitemap(self, request: Request) -> Response:
        """List the pages that search engines should know."""
        history, base = self._site.history, self._site.address(request)
        paths = ["/", "/events", "/questions", "/connect", "/docs/api"]
        paths += map(venue_path, self._site.settings.venues)
        paths += [event_path(event.name) for event in await history.events.all()]
        paths += [bot_path(bot.name) for bot in await history.bots.page(_LISTED - len(paths)) if bot.state == "active"]
        urls = "".join(f"<url><loc>{base}{path}</loc></url>" for path in paths[:_LISTED])
        text = f'<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="{_SITEMAP}">{urls}</urlset>'
        return Response(text, media_type="text/xml")

    async def icon(self, _request: Request) -> Response:
        """Send programs that know no other address to the icon."""
        return RedirectResponse("/static/icon.svg")

    async def _picture(self, key: tuple[object, ...], draw: Callable[[], bytes], keep: str = _FOR_MINUTES) -> Response:
        return _kept(await self._pictures.get(key, draw), "image/png", 200, {"Cache-Control": keep})

    async def _versions(self, name: str) -> list[str]:
        """The version of this name, else all of the bot. Raises Refused."""
        try:
            return [(await self._site.history.bots.version(name)).name]
        except Refused:
            return [version.name for version in (await self._site.history.bots.detail(name)).versions]

    async def _ranked(self, name: str, system: str | None = None) -> list[RankedRow]:
        """Where these versions stand under this system, else under the headline of each venue. Raises Refused."""
        rows = await self._site.history.ratings.ranked(await self._versions(name))
        headlines = self._systems.headlines(rows)
        return [row for row in rows if row.system == (system or headlines[row.venue])]

    async def _standing(self, venue: str, name: str, system: str | None) -> RankedRow | None:
        """The best of these versions in a venue. Raises Refused, HTTPException."""
        await venue_of(self._site, venue)
        rows = await self._ranked(name, system)
        return max((row for row in rows if row.venue == venue), key=lambda row: row.mean, default=None)


class Pictures:
    """The latest pictures, each drawn once, in a thread and one at a time, so that they cost one core at most."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[object, ...], bytes] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()
        self._waiting = 0

    async def get(self, key: tuple[object, ...], draw: Callable[[], bytes]) -> bytes:
        """The picture under this key, which says everything that is on it.

        :raises OurFault: where it cannot be drawn
        :raises HTTPException: 503 where :data:`WAITING` others wait already
        """
        if key not in self._known and self._waiting >= WAITING:
            raise HTTPException(503, "Too many pictures are being drawn just now. Please try again in a minute.")
        self._waiting += 1
        try:
            return await self._turn(key, draw)
        finally:
            self._waiting -= 1

    async def _turn(self, key: tuple[object, ...], draw: Callable[[], bytes]) -> bytes:
        async with self._one_at_a_time:
            if key not in self._known:
                try:
                    self._known[key] = await asyncio.to_thread(draw)
                except (ImportError, OSError) as error:
                    raise OurFault(f"Pictures cannot be drawn here: {error}") from error
                if len(self._known) > KEPT:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
            return self._known[key]


def social(path: str, title: str, text: str, address: str, picture: str | None = None) -> Markup:
    """The tags by which other sites show a link to a page: a template's global.

    :param text: a sentence
    :param address: the server's, without a slash at its end
    :param picture: path of the page whose picture goes with it; None: the page itself, empty: no page
    """
    tags = Markup(
        '<meta property="og:type" content="website"><meta property="og:title" content="{title}">'
        '<meta property="og:description" content="{text}"><meta property="og:url" content="{address}{path}">'
        '<meta name="description" content="{text}">'
    ).format(title=title, text=text, address=address, path=path)
    if picture == "":
        return tags
    return tags + Markup(
        '<meta property="og:image" content="{address}/og{path}.png">'
        '<meta property="og:image:width" content="{w}"><meta property="og:image:height" content="{h}">'
        '<meta property="og:image:alt" content="{title}"><meta name="twitter:card" content="summary_large_image">'
    ).format(title=title, address=address, path=picture or path, w=card_png.WIDTH, h=card_png.HEIGHT)


def _kept(body: bytes, media: str, status: int, headers: dict[str, str]) -> Response:
    """An answer that any site may show and any cache may keep."""
    return Response(body, status, {"Cache-Control": _FOR_MINUTES} | _ANYWHERE | headers, media)


def badge_answer(picture: str, status: int) -> Response:
    """A badge as an answer."""
    # Colors stand in attributes; nothing else may happen where somebody opens the picture by itself.
    policy = {"Content-Security-Policy": "default-src 'none'"}
    return _kept(picture.encode(), "image/svg+xml; charset=utf-8", status, policy)


def routes(site: Site) -> list[BaseRoute]:
    """The addresses of this module."""
    embeds = Embeds(site)
    site.offer({"social": social})
    return [
        Route("/robots.txt", embeds.robots),
        Route("/sitemap.xml", embeds.sitemap),
        Route("/favicon.ico", embeds.icon),
        Route("/badge/{venue}/{version}.svg", embeds.badge),
        Route("/embed/game/{id:int}", embeds.board),
        Route("/og/game/{id:int}.png", embeds.game_picture),
        Route("/og/bot/{name}.png", embeds.bot_picture),
        Route("/og/venue/{venue}.png", embeds.venue_picture),
    ]
