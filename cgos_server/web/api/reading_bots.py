"""Answers of the API about bots and their versions.

Must not know: SQL, how addresses are read.
"""

from __future__ import annotations

import re
from typing import Final

from cgos_protocol.api import figures
from cgos_protocol.api import messages as api
from cgos_server.core.rating.registry import half_width
from cgos_server.service import bot_figures
from cgos_server.storage.answers import BotRow, RankedRow
from cgos_server.web.api.asked import (
    like,
    opponent,
    ranked,
    rating_change,
    system_among,
    systems_of,
    venue_meant,
)
from cgos_server.web.api.framework import Asked, Handler
from cgos_server.web.pages.asked import DAY_MS, Systems
from cgos_server.web.problems import Wrong
from cgos_server.web.site import Site

_CURSOR: Final = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})")


class ReadingBots:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._history = site.history
        self._systems = Systems(site)

    async def bots(self, asked: Asked) -> api.BotPage:
        """All bots, by name without regard to capitals."""
        after, limit = asked.text("after"), asked.count("limit")
        rows = await self._history.bots.page(limit + 1, after or "")
        page = rows[:limit]
        return api.BotPage(items=[_bot(row) for row in page], next=page[-1].name if len(rows) > limit else None)

    async def bot(self, asked: Asked) -> api.BotDetail:
        """One bot with its versions."""
        found = await self._history.bots.detail(asked.word("bot"))
        rows = await self._ratings([version.name for version in found.versions])
        return like(
            api.BotDetail,
            found,
            ratings=[ranked(row) for row in rows if row.system == self._headlines(rows)[row.venue]],
        )

    async def version(self, asked: Asked) -> api.VersionDetail:
        """One version and where it stands."""
        found = await self._history.bots.version(asked.word("version"))
        ratings = [ranked(row) for row in await self._ratings([found.name])]
        return api.VersionDetail(version=found, ratings=ratings)

    async def history(self, asked: Asked) -> api.HistoryPage | api.RatingCurve:
        """A rating's changes, or its curve."""
        version = (await self._history.bots.version(asked.word("version"))).name
        venue = await venue_meant(self._site, asked.text("venue"), version)
        system = system_among(asked.text("system"), await systems_of(self._site, venue), venue)
        points = asked.number("points")
        if points is not None:
            if asked.text("after") is not None:
                raise Wrong("after", "Say either `points` or `after`: a curve has no pages.")
            band = await self._history.changes.band(venue, version, system, points)
            curve = [like(api.RatingPoint, row, half_width=half_width(system, row.spread)) for row in band]
            return api.RatingCurve(version=version, venue=venue, system=system, points=curve)
        limit = asked.count("limit")
        rows = await self._history.changes.page(
            version, venue, system=system, after=_place(asked.text("after")), limit=limit + 1
        )
        page = rows[:limit]
        return api.HistoryPage(
            version=version,
            venue=venue,
            system=system,
            items=[rating_change(row) for row in page],
            next=f"{page[-1].seq}.{page[-1].refit or 0}" if len(rows) > limit else None,
        )

    async def opponents(self, asked: Asked) -> api.Opponents:
        """Whom a version met."""
        version = (await self._history.bots.version(asked.word("version"))).name
        venue = await venue_meant(self._site, asked.text("venue"), version)
        rows = await self._history.records.opponents(venue, version)
        system = system_among(None, await systems_of(self._site, venue), venue)
        means = await self._history.ratings.means(venue, system, [version, *(row.opponent for row in rows)])
        known = await self._site.strengths.venue(venue)
        return api.Opponents(
            version=version,
            venue=venue,
            items=[opponent(*each) for each in bot_figures.opponents_with_expectation(version, rows, means.get, known)],
        )

    async def figures(self, asked: Asked) -> figures.VersionFigures:
        """How its games ended, and how much it was signed in."""
        version = (await self._history.bots.version(asked.word("version"))).name
        venue = await venue_meant(self._site, asked.text("venue"), version)
        rows = await self._history.records.verdicts(venue, [version])
        now = self._site.now_ms()
        presence = await self._history.bots.presence(version, now - 30 * DAY_MS, now)
        return figures.VersionFigures(
            version=version,
            venue=venue,
            verdicts=rows,
            colors={color: like(figures.ColorFigures, split) for color, split in bot_figures.color_split(rows).items()},
            spoilt={reason: like(figures.SpoiltFigures, share) for reason, share in bot_figures.rates(rows).items()},
            uptime_7_days=bot_figures.uptime(presence, now - 7 * DAY_MS, now),
            uptime_30_days=bot_figures.uptime(presence, now - 30 * DAY_MS, now),
        )

    async def _ratings(self, versions: list[str]) -> list[RankedRow]:
        """Where versions stand, by venue, the headline system of each first."""
        rows = await self._history.ratings.ranked(versions)
        systems = {
            venue: self._systems.order(venue, [row.system for row in rows if row.venue == venue])
            for venue in {row.venue for row in rows}
        }
        return sorted(rows, key=lambda row: (row.venue, systems[row.venue].index(row.system), -row.mean))

    def _headlines(self, rows: list[RankedRow]) -> dict[str, str]:
        venues = {row.venue for row in rows}
        return {venue: self._systems.headline(venue, [r.system for r in rows if r.venue == venue]) for venue in venues}


def _bot(row: BotRow) -> api.Bot:
    return like(api.Bot, row)


def _place(cursor: str | None) -> tuple[int, int]:
    """After which entry and which refit a page begins. Raises Wrong."""
    if cursor is None:
        return 0, 0
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise Wrong("after", "`after` must be the `next` of the page before.")
    return int(match[1]), int(match[2])


def handlers(site: Site) -> dict[str, Handler]:
    """Operation id -> its handler."""
    reading = ReadingBots(site)
    return {
        "bots": reading.bots,
        "bot": reading.bot,
        "version": reading.version,
        "history": reading.history,
        "opponents": reading.opponents,
        "figures": reading.figures,
    }
