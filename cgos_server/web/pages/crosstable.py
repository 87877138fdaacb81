"""The crosstable of a venue: the best, or some that are named, against each other.

Must not know: SQL, the live server.
"""

from __future__ import annotations

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cgos_server.presentation.answers import after_games
from cgos_server.service.ratings.expectation import Jointly, chances
from cgos_server.service.ratings.listed import best
from cgos_server.storage.reading.game_answers import PairRecord
from cgos_server.web.drawing.heat_table import Cell, heat_rows
from cgos_server.web.pages.requests import Systems, number, refused_as_404, venue_of
from cgos_server.web.site import Pages, Site, bot_path, venue_path

TOPS: Final = (10, 20, 50)
MOST: Final = TOPS[-1]
"""Versions of one table."""


async def show(site: Site, request: Request) -> Response:
    """Scores and games between the best, or between those that are named."""
    name = request.path_params["name"]
    await venue_of(site, name)
    top = min(number(request.query_params.get("top")) or TOPS[1], MOST)
    named = request.query_params.get("bots", "").replace(",", " ").split()
    history = site.history
    system = "" if name in site.settings.sandboxes else next(iter(await Systems(site).rated(name)), "")
    if named:
        means = await history.ratings.means(name, system, named) if system else {}
        unknown = [each for each in dict.fromkeys(named) if each not in means]
        if unknown or len(means) > MOST:
            what = f"is not rated here: {', '.join(unknown[:5])}" if unknown else f"would be more than {MOST} bots"
            raise HTTPException(404 if unknown else 400, f"This table cannot be made: it {what}. Capitals matter.")
        names = sorted(means, key=lambda each: (-means[each], each))
    else:
        means = {row.version: row.mean for row in await best(history, name, system, top)} if system else {}
        names = list(means)
    with refused_as_404("There is no bot of one of these names on the server."):
        records = await history.records.crosstable(name, names)
    cells = cells_of(records, means, await site.strengths.venue(name))
    return site.render(
        "crosstable.html",
        here=name,
        name=name,
        system=system,
        names=names,
        tops=TOPS,
        top=None if named else top,
        named=", ".join(named),
        games=sum(record.with_result for record in records),
        place=await after_games(history, name, await history.ledger.last_entry(name)),
        rows=heat_rows(names, cells, f"{venue_path(name)}/pair", {each: bot_path(each) for each in names}),
    )


def cells_of(records: list[PairRecord], means: dict[str, float], known: Jointly | None) -> dict[tuple[str, str], Cell]:
    """Both sides of every pair."""
    cells = {}
    for record in records:
        both = chances(record.one, record.other, mean=means[record.one], its_mean=means[record.other], known=known)
        assert both is not None  # both have means
        expected = both.a_game(record.one_black, record.games - record.one_black)
        points = record.one_wins + record.draws / 2
        cells[record.one, record.other] = Cell(points, record.with_result, expected)
        cells[record.other, record.one] = Cell(record.with_result - points, record.with_result, 1 - expected)
    return cells


PAGES: Final[Pages] = {"/venue/{name}/crosstable": show}
