"""What each address answers: reads the history, picks what a page shows, has it rendered.

Everything is made for one request from the database as it is then. Must not know: SQL, sockets, the live server.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import jinja2
import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from cgos_server import __version__
from cgos_server.core.clock import TimeControl
from cgos_server.core.games.base import Color, Ruleset
from cgos_server.core.rating.registry import SYSTEMS, half_width
from cgos_server.errors import Refused
from cgos_server.protocol import names, sgf
from cgos_server.storage.answers import GameRow, RatingPoint, Standing, VenueRow
from cgos_server.storage.history import History
from cgos_server.web import words
from cgos_server.web.board_svg import board_svg
from cgos_server.web.interval_svg import interval_svg, scale
from cgos_server.web.settings import Rated, WebSettings
from cgos_server.web.stored_game import StoredGame, clock_of
from cgos_server.web.strengths import StrengthsOf

PAGE_SIZE: Final = 30
"""Games on one page of a list."""

FRONT_ROWS: Final = 8
"""Bots, and running games, that the front page shows of each venue."""

CHANGES: Final = 30
"""Latest changes of a rating on a bot's page."""

_LARGEST_ID: Final = 2**63 - 1
_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?")
_ANYWHERE = ("", "0.0.0.0", "::")


class Player(NamedTuple):
    """One side of a game page."""

    color: str
    name: str
    label: str
    won: bool
    change: tuple[str, str] | None
    clock: str
    captures: int


class MoveLine(NamedTuple):
    """One line of a game page's list of moves."""

    ply: int
    color: str
    move: str
    used: str
    left: str


class VenueView(NamedTuple):
    """A venue on the front page."""

    name: str
    terms: str
    port: int | None
    standings: list[Standing]
    running: list[GameRow]


class Pages:
    """The handlers.

    :param static_version: changes when the static files do
    :param wall_ms: Unix time in milliseconds
    """

    def __init__(
        self, history: History, settings: WebSettings, static_version: str, wall_ms: Callable[[], int]
    ) -> None:
        self._history = history
        self._settings = settings
        self._wall_ms = wall_ms
        self._strengths = StrengthsOf(history, settings.rated)
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("cgos_server.web"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(
            moment=words.moment,
            machine_moment=words.machine_moment,
            rating=lambda mean: f"{mean:.0f}",
            percent=lambda share: f"{100 * share:.0f}",
            heat=lambda share: f"p{round(share * 10)}",
        )
        self._templates.globals.update(
            server=settings.server_name,
            venue_names=list(settings.ports),
            venue_path=lambda name: f"/venue/{quote(name, safe='')}",
            bot_path=lambda name: f"/bot/{quote(name, safe='')}",
            ago=words.ago,
            half_width=half_width,
            finely=words.finely,
            scale=scale,
            interval=_interval,
            program_version=__version__,
            static_version=static_version,
        )

    def render(
        self, template: str, status: int = 200, refresh: bool = False, here: str = "", **values: Any
    ) -> Response:
        """A page. With `refresh` it loads itself again; `here` is the entry of the menu it belongs to."""
        page = self._templates.get_template(template).render(
            values, refresh=self._settings.refresh_s if refresh else 0, here=here, now=self._wall_ms()
        )
        return HTMLResponse(page, status)

    # -- pages

    async def front(self, _request: Request) -> Response:
        """All venues."""
        known = {venue.name: venue for venue in await self._history.venues()}
        order = [name for name in self._settings.ports if name in known]
        order += [name for name in known if name not in self._settings.ports]
        running = await self._history.running_games()
        venues = [
            VenueView(
                name,
                _terms(known[name]),
                self._settings.ports.get(name),
                await self._headline_standings(name),
                [game for game in running if game.venue == name],
            )
            for name in order
        ]
        return self.render("front.html", refresh=True, venues=venues, rows=FRONT_ROWS)

    async def venue(self, request: Request) -> Response:
        """Standings, running and recent games of one venue."""
        name = request.path_params["name"]
        before = _before(request)
        venue = next((venue for venue in await self._history.venues() if venue.name == name), None)
        if venue is None:
            raise HTTPException(404, "There is no venue of this name on the server.")
        games = await self._history.games(venue=name, limit=PAGE_SIZE + 1, before=before)
        page, older = _page(games)
        if before is not None:
            return self.render("venue_games.html", here=name, name=name, games=page, older=older)
        systems, system, rows = await self._standings(request, name)
        as_of, last = _number(request.query_params.get("as_of")), await self._history.last_entry(name)
        return self.render(
            "venue.html",
            refresh=as_of is None,
            here=name,
            name=name,
            terms=_terms(venue),
            port=self._settings.ports.get(name),
            systems=systems,
            system=system,
            standings=rows,
            as_of=as_of,
            last=last,
            running=await self._history.running_games(name),
            games=[game for game in page if game.result is not None],
            older=older,
        )

    async def bot(self, request: Request) -> Response:
        """A bot's ratings and games."""
        name = request.path_params["name"]
        before = _before(request)
        bot = next((bot for bot in await self._history.bots() if name == bot.name or name in bot.versions), None)
        if bot is None:
            raise HTTPException(404, "There is no bot of this name on the server. Capitals matter.")
        games, older = _page(await self._history.games(bot=name, limit=PAGE_SIZE + 1, before=before))
        ratings: list[tuple[str, int, Standing]] = []
        changes: list[tuple[str, str, list[RatingPoint]]] = []
        for venue in await self._history.venues() if before is None else ():
            tables = _by_system(await self._history.standings(venue.name))
            for system in self._order(venue.name, tables):
                ranked = enumerate(tables[system], 1)
                ratings += [(venue.name, rank, row) for rank, row in ranked if row.version in bot.versions]
            headline = self._headline(venue.name, tables)
            shown = [name] if name in bot.versions else bot.versions[-1:]
            for row in tables.get(headline, []):
                if row.version in shown:
                    points = await self._history.rating_history(row.version, venue.name, CHANGES, headline)
                    changes.append((venue.name, row.version, points[::-1]))
        return self.render(
            "bot.html",
            bot=bot,
            name=name,
            ratings=ratings,
            several=len({row.system for _, _, row in ratings}) > 1,
            changes=changes,
            games=games,
            older=older,
            first=before is None,
        )

    async def odds(self, request: Request) -> Response:
        """Who is stronger than whom in a venue, or two versions compared."""
        name = request.path_params["name"]
        if all(venue.name != name for venue in await self._history.venues()):
            raise HTTPException(404, "There is no venue of this name on the server.")
        known = await self._strengths.venue(name)
        one, other = request.query_params.get("a"), request.query_params.get("b")
        if one is None or other is None:
            return self.render("odds.html", here=name, name=name, known=known)
        pair = None if known is None else known.pair(one, other)
        if known is None or pair is None:
            raise HTTPException(404, "Two bots can be compared here once both have played. Capitals matter.")
        return self.render("pair.html", here=name, name=name, known=known, one=one, other=other, pair=pair)

    async def game(self, request: Request) -> Response:
        """One game with its board at the ply asked for, or the latest."""
        game = await self._stored(request)
        detail = game.detail
        last = len(detail.moves)
        asked = _number(request.query_params.get("ply"))
        ply = last if asked is None else min(asked, last)
        seen = game.position(ply)
        row = detail.game
        headline = self._headline(row.venue, (change.system for change in detail.ratings))
        changes = {
            change.version: (
                words.rating(headline, change.before_mean, change.before_spread, False),
                words.rating(headline, change.after_mean, change.after_spread, False),
            )
            for change in detail.ratings
            if change.system == headline
        }
        players = [
            Player(
                color.letter,
                name,
                label,
                detail.winner == color.name.lower(),
                changes.get(name),
                words.time_left(game.terms.time, game.clock_after(color, ply)),
                seen.captures[color],
            )
            for color, name, label in (
                (Color.BLACK, row.black, row.black_label),
                (Color.WHITE, row.white, row.white_label),
            )
        ]
        title = f"{row.black} – {row.white}, move {ply}" if ply else f"{row.black} – {row.white}, before the first move"
        board = board_svg(game.terms.rules.size, seen.stones, seen.last, title, _described(seen.stones, seen.last))
        return self.render(
            "game.html",
            refresh=row.result is None and asked is None,
            here=row.venue,
            game=row,
            detail=detail,
            players=players,
            ending=game.ending(),
            to_play=game.color(last + 1).name.capitalize(),
            terms=words.terms(game.terms.rules, game.terms.time),
            board=board,
            ply=ply,
            last=last,
            moves=_move_lines(game),
        )

    async def game_sgf(self, request: Request) -> Response:
        """One game as a file."""
        game = await self._stored(request)
        headers = {"Content-Disposition": f'attachment; filename="{game.detail.game.id}.sgf"'}
        text = sgf.write(game.record(self._settings.server_name))
        return Response(text, media_type="application/x-go-sgf; charset=utf-8", headers=headers)

    async def connect(self, request: Request) -> Response:
        """How to bring a bot here."""
        settings = self._settings
        host = settings.bots_host
        if host in _ANYWHERE:
            match = _HOST.fullmatch(request.headers.get("host", ""))
            host = match[1] if match else "localhost"
        elif ":" in host:
            host = f"[{host}]"
        return self.render(
            "connect.html",
            here="/connect",
            host=host,
            ports=settings.ports,
            websocket=settings.websocket,
            registration=settings.registration,
            name_min=names.NAME_MIN,
            name_max=names.NAME_MAX,
        )

    # -- failures

    async def refused(self, _request: Request, error: Exception) -> Response:
        """Nothing here, or not so: 404, 405 and their like."""
        assert isinstance(error, HTTPException)
        sentence = (
            error.detail
            if error.status_code == 404 and error.detail != "Not Found"
            else _SENTENCES.get(error.status_code, "The server does not answer this request.")
        )
        return self.render(
            "failure.html", error.status_code, title=_TITLES.get(error.status_code, "No"), sentence=sentence
        )

    async def unreadable(self, _request: Request, _error: Exception) -> Response:
        """The database does not answer."""
        sentence = "The database cannot be read just now. Games go on; please try again in a minute."
        return self.render("failure.html", 503, title="Not now", sentence=sentence)

    async def failed(self, _request: Request, _error: Exception) -> Response:
        """A fault of ours; it is in the log."""
        sentence = "This page failed, and that is our fault. It was noted in the server's log. Games are not affected."
        return self.render("failure.html", 500, title="Our fault", sentence=sentence)

    def _order(self, venue: str, there: Iterable[str]) -> list[str]:
        """Rating systems that have published something in a venue, the headline first."""
        found = set(there)
        order = dict.fromkeys((*self._settings.rated.get(venue, Rated(())).systems, *SYSTEMS))
        return [*(system for system in order if system in found), *sorted(found - set(order))]

    def _headline(self, venue: str, there: Iterable[str]) -> str:
        return next(iter(self._order(venue, there)), "")

    async def _headline_standings(self, venue: str) -> list[Standing]:
        tables = _by_system(await self._history.standings(venue))
        return tables.get(self._headline(venue, tables), [])

    async def _standings(self, request: Request, venue: str) -> tuple[list[str], str, list[Standing]]:
        """All systems of a venue, the one that is asked for, and its standings, at the entry that is asked for."""
        asked, as_of = request.query_params.get("system"), _number(request.query_params.get("as_of"))
        try:
            tables = _by_system(await self._history.standings(venue, as_of=as_of))
        except Refused as refusal:
            if refusal.code != "no-entry":
                raise
            raise HTTPException(404, "There were not so many results here yet.") from refusal
        systems = self._order(venue, tables)
        if asked is not None and asked not in systems:
            raise HTTPException(404, "This venue is not rated by a system of this name.")
        system = asked or next(iter(systems), "")
        return systems, system, tables.get(system, [])

    async def _stored(self, request: Request) -> StoredGame:
        number = request.path_params["id"]
        if number <= _LARGEST_ID:
            try:
                return StoredGame(await self._history.game(number))
            except Refused as refusal:
                if refusal.code != "no-game":
                    raise
        raise HTTPException(404, "There is no game of this number on the server.")


def _interval(on: Any, row: Standing) -> str:
    """The bar of a standing, nothing where its system says no interval."""
    half = half_width(row.system, row.spread)
    if half is None:
        return ""
    return interval_svg(on, row.mean, half, words.rating(row.system, row.mean, row.spread, bool(row.provisional)))


_TITLES = {404: "Not here", 405: "Not so"}
_SENTENCES = {
    404: "There is no page at this address. The venues, with all their games and bots, are linked above.",
    405: "These pages can only be read.",
}


def _terms(venue: VenueRow) -> str:
    rules = msgspec.convert(venue.fixed, Ruleset)
    return words.terms(rules, msgspec.convert(venue.fixed["time"], TimeControl))


def _by_system(rows: Iterable[Standing]) -> dict[str, list[Standing]]:
    """Rating system -> its standings, best first."""
    tables: dict[str, list[Standing]] = {}
    for row in rows:
        tables.setdefault(row.system, []).append(row)
    return tables


def _page(games: list[GameRow]) -> tuple[list[GameRow], int | None]:
    """The games of this page, and before which number the next one begins, if there is one."""
    page = games[:PAGE_SIZE]
    return page, page[-1].id if len(games) > PAGE_SIZE else None


def _number(text: str | None) -> int | None:
    """A number from a query; 404 where it is none. Beyond what a number of a row can be it counts as the largest."""
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 30:
        raise HTTPException(404)
    return min(int(text), _LARGEST_ID)


def _before(request: Request) -> int | None:
    return _number(request.query_params.get("before"))


def _move_lines(game: StoredGame) -> list[MoveLine]:
    return [
        MoveLine(
            row.ply,
            game.color(row.ply).letter,
            row.move,
            words.span(row.used_us),
            words.time_left(game.terms.time, clock_of(row)),
        )
        for row in game.detail.moves
    ]


def _described(stones: dict[str, Color], last: str | None) -> str:
    """The position for people who cannot see it."""
    parts = [f"The last move was {last}."] if last else []
    for color in Color:
        own = [name for name, stone in stones.items() if stone is color]
        parts.append(f"{color.name.capitalize()}: {', '.join(own) or 'no stones'}.")
    return " ".join(parts)


def wall_ms() -> int:
    """Unix time in milliseconds."""
    return time.time_ns() // 1_000_000
