"""Feeds in Atom (RFC 4287): the games of a bot, and of a venue, that have ended.

Must not know: SQL, who reads them.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.games import Game
from cgos_server.presentation import words
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.web.pages.requests import NO_BOT, refused_as_404, venue_of
from cgos_server.web.site import Pages, Site, bot_path, venue_path

ENTRIES: Final = 50
ATOM: Final = "http://www.w3.org/2005/Atom"
"""The namespace."""


async def of_bot(site: Site, request: Request) -> Response:
    """What a bot, or one of its versions, has played."""
    name = request.path_params["name"]
    with refused_as_404(NO_BOT):
        games = await site.history.games.find(GameFilter(bot=name, running=False), ENTRIES)
    return _feed(site, request, f"Games of {name}", bot_path(name), games=games)


async def of_venue(site: Site, request: Request) -> Response:
    """What was played in a venue."""
    name = request.path_params["name"]
    await venue_of(site, name)
    games = await site.history.games.find(GameFilter(venue=name, running=False), ENTRIES)
    return _feed(site, request, f"Games in {name}", venue_path(name), games=games)


def _feed(site: Site, request: Request, title: str, page: str, games: Sequence[Game]) -> Response:
    base = site.address(request)
    feed = ET.Element("feed", {"xmlns": ATOM, "xml:lang": "en"})
    _said(feed, "title", f"{title} – {site.settings.server_name}")
    _said(feed, "id", f"{base}{page}/feed.atom")
    _said(feed, "updated", words.machine_moment(max((game.ended_at or 0 for game in games), default=0)))
    ET.SubElement(feed, "link", {"rel": "self", "type": "application/atom+xml", "href": f"{base}{page}/feed.atom"})
    ET.SubElement(feed, "link", {"rel": "alternate", "type": "text/html", "href": f"{base}{page}"})
    _said(ET.SubElement(feed, "author"), "name", site.settings.server_name)
    for game in games:
        _entry(feed, base, game)
    text = ET.tostring(feed, encoding="utf-8", xml_declaration=True)
    return Response(text, media_type="application/atom+xml; charset=utf-8")


def _entry(feed: ET.Element, base: str, game: Game) -> None:
    entry = ET.SubElement(feed, "entry")
    address = f"{base}/game/{game.id}"
    result = game.result or ""
    _said(entry, "title", f"{game.black} – {game.white}: {result}")
    _said(entry, "id", address)
    _said(entry, "updated", words.machine_moment(game.ended_at or game.started_at))
    _said(entry, "published", words.machine_moment(game.ended_at or game.started_at))
    ET.SubElement(entry, "link", {"rel": "alternate", "type": "text/html", "href": address})
    ET.SubElement(entry, "link", {"rel": "enclosure", "type": "application/x-go-sgf", "href": f"{address}.sgf"})
    counts = f" It counts as {game.corrected} now." if game.corrected is not None else ""
    _said(
        entry,
        "summary",
        f"{game.black} ({game.black_label}) with Black and {game.white} ({game.white_label}) with White in "
        f"{game.venue}: {result} after {words.count(game.moves, 'move')}.{counts}",
    )


def _said(parent: ET.Element, tag: str, text: str) -> None:
    ET.SubElement(parent, tag).text = "".join(character for character in text if _allowed(character))


def _allowed(character: str) -> bool:
    """Whether XML 1.0 can hold it."""
    return (
        character in "\t\n\r"
        or " " <= character <= "\ud7ff"
        or "\ue000" <= character <= "\ufffd"
        or (character >= "\U00010000")
    )


PAGES: Final[Pages] = {
    "/bot/{name}/feed.atom": of_bot,
    "/venue/{name}/feed.atom": of_venue,
}
