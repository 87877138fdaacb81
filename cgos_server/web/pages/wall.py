"""The wall: small boards of the games that run, of one venue or of all.

Must not know: SQL, how boards are kept up to date.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import structlog
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from cgos_protocol.api.live import LiveGame
from cgos_protocol.errors import OurFault
from cgos_protocol.games.base import Color, Ko, Ruleset, Start
from cgos_protocol.games.go_rules import Go, GoPosition
from cgos_server.web.drawing.board_svg import small_board_svg
from cgos_server.web.live.hub import BOARDS
from cgos_server.web.pages.asked import venue_of
from cgos_server.web.site import Site

log = structlog.get_logger(__name__)


class SmallBoard(NamedTuple):
    """One game on the wall."""

    game: LiveGame
    picture: Markup


class WallPage:
    """The handler."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def wall(self, request: Request) -> Response:
        """The newest of the running games."""
        name = request.query_params.get("venue") or None
        if name is not None:
            await venue_of(self._site, name)
        games = await self._site.hub.running(name, moves=True)
        venues = await self._site.history.server.venues()
        sizes = sorted({int(venue.fixed["size"]) for venue in venues if name in (None, venue.name)})
        return self._site.render(
            "wall.html",
            refresh=True,
            follows=True,
            here="/wall",
            name=name,
            venues=[venue.name for venue in venues],
            boards=small_boards(games),
            blanks=[(size, small_board_svg(size, {}, None, "")) for size in sizes],
            most=BOARDS,
            delays=sorted({self._site.settings.delay_ms(game.venue) // 1000 for game in games} - {0}),
        )


def small_boards(games: Iterable[LiveGame]) -> list[SmallBoard]:
    """Pictures of these games, without those that cannot be shown: they cost nobody the others."""
    found = []
    for game in games:
        try:
            found.append(SmallBoard(game, picture(game)))
        except OurFault as fault:
            log.error("a running game cannot be shown and is left out", game=game.game, error=str(fault))
    return found


def picture(game: LiveGame) -> Markup:
    """The board of a game as it stands. Raises OurFault as :func:`standing`."""
    position, last = standing(game)
    return small_board_svg(game.size, position.stones(), last, f"{game.black} – {game.white}, move {len(game.moves)}")


def standing(game: LiveGame) -> tuple[GoPosition, str | None]:
    """A game as it stands, and its last move. Raises OurFault where a stored move cannot be played."""
    # What was legal when it was played is legal by the least strict rules.
    rules = Ruleset(size=game.size, ko=Ko.SIMPLE, suicide=True)
    first = Color.BLACK if game.to_play == "b" else Color.WHITE
    set_up = bool(game.black_stones or game.white_stones or first is Color.WHITE)
    position = Go().new(rules, Start(game.black_stones, game.white_stones, first) if set_up else None)
    for move in game.moves:
        read = position.read(move)
        if read is None or position.play(read) is not None:
            raise OurFault(f"{move} of game {game.game} cannot be played.")
    return position, game.moves[-1] if game.moves else None


def routes(site: Site) -> list[BaseRoute]:
    """The addresses of this module."""
    return [Route("/wall", WallPage(site).wall)]
