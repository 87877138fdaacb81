"""The wall: small boards of the games that run, of one venue or of all.

Must not know: SQL, how boards are kept up to date.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import structlog
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.live import LiveGame
from cgos_protocol.errors import OurFault
from cgos_server.presentation.stored_game import as_it_stands
from cgos_server.web.drawing.board_svg import small_board_svg
from cgos_server.web.live.hub import BOARDS
from cgos_server.web.pages.requests import venue_of
from cgos_server.web.site import Pages, Site

log = structlog.get_logger(__name__)


class SmallBoard(NamedTuple):
    """One game on the wall."""

    game: LiveGame
    picture: Markup


async def show(site: Site, request: Request) -> Response:
    """The newest of the running games."""
    name = request.query_params.get("venue") or None
    if name is not None:
        await venue_of(site, name)
    games = await site.hub.running(name, moves=True)
    venues = await site.history.server.venues()
    sizes = sorted({int(venue.fixed["size"]) for venue in venues if name in (None, venue.name)})
    return site.render(
        "wall.html",
        refresh=True,
        follows=True,
        here="/wall",
        name=name,
        venues=[venue.name for venue in venues],
        boards=small_boards(games),
        blanks=[(size, small_board_svg(size, {}, None, "")) for size in sizes],
        most=BOARDS,
        delays=sorted({site.settings.delay_ms(game.venue) // 1000 for game in games} - {0}),
    )


def small_boards(games: Iterable[LiveGame]) -> list[SmallBoard]:
    """Pictures of these games, without those that cannot be shown: they cost nobody the others."""
    boards = []
    for game in games:
        try:
            boards.append(SmallBoard(game, picture(game)))
        except OurFault as fault:
            log.error("a running game cannot be shown and is left out", game=game.game, error=str(fault))
    return boards


def picture(game: LiveGame) -> Markup:
    """The board of a game as it stands. Raises OurFault as :func:`as_it_stands`."""
    position, last = as_it_stands(game)
    return small_board_svg(game.size, position.stones(), last, f"{game.black} – {game.white}, move {len(game.moves)}")


PAGES: Final[Pages] = {"/wall": show}
