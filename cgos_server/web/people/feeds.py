"""Feeds in Atom (RFC 4287): the games of a bot, and of a venue, that have ended; and what other pages make feeds of.

Must not know: SQL, who reads them.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Final, NamedTuple

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


class FeedEntry(NamedTuple):
    """Something that happened.

    :ivar path: of its page
    :ivar id: its own for good, below the pages' address
    :ivar at: Unix ms
    :ivar file: path of a game's record, empty for none
    """

    path: str
    id: str
    at: int
    title: str
    summary: str
    file: str = ""


def feed(site: Site, request: Request, title: str, *, page: str, own: str, entries: Sequence[FeedEntry]) -> Response:
    """A feed of these entries.

    :param page: path of the page that it belongs to
    :param own: its own path
    """
    base = site.address(request)
    root = ET.Element("feed", {"xmlns": ATOM, "xml:lang": "en"})
    _said(root, "title", f"{title} – {site.settings.server_name}")
    _said(root, "id", f"{base}{own}")
    _said(root, "updated", words.machine_moment(max((entry.at for entry in entries), default=0)))
    ET.SubElement(root, "link", {"rel": "self", "type": "application/atom+xml", "href": f"{base}{own}"})
    ET.SubElement(root, "link", {"rel": "alternate", "type": "text/html", "href": f"{base}{page}"})
    _said(ET.SubElement(root, "author"), "name", site.settings.server_name)
    for entry in entries:
        _entry(root, base, entry)
    text = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return Response(text, media_type="application/atom+xml; charset=utf-8")


def _feed(site: Site, request: Request, title: str, page: str, games: Sequence[Game]) -> Response:
    entries = [_of_game(game) for game in games]
    return feed(site, request, title, page=page, own=f"{page}/feed.atom", entries=entries)


def _of_game(game: Game) -> FeedEntry:
    address, result = f"/game/{game.id}", game.result or ""
    counts = f" It counts as {game.corrected} now." if game.corrected is not None else ""
    return FeedEntry(
        path=address,
        id=address,
        at=game.ended_at or game.started_at,
        title=f"{game.black} – {game.white}: {result}",
        summary=f"{game.black} ({game.black_label}) with Black and {game.white} ({game.white_label}) with White in "
        f"{game.venue}: {result} after {words.count(game.moves, 'move')}.{counts}",
        file=f"{address}.sgf",
    )


def _entry(root: ET.Element, base: str, one: FeedEntry) -> None:
    entry = ET.SubElement(root, "entry")
    _said(entry, "title", one.title)
    _said(entry, "id", f"{base}{one.id}")
    _said(entry, "updated", words.machine_moment(one.at))
    _said(entry, "published", words.machine_moment(one.at))
    ET.SubElement(entry, "link", {"rel": "alternate", "type": "text/html", "href": f"{base}{one.path}"})
    if one.file:
        enclosure = {"rel": "enclosure", "type": "application/x-go-sgf", "href": f"{base}{one.file}"}
        ET.SubElement(entry, "link", enclosure)
    _said(entry, "summary", one.summary)


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
