"""Answers of the API about bots and their versions.

Must not know: SQL, how addresses are read.
"""

from __future__ import annotations

import re
from typing import Annotated, Final

from msgspec.structs import asdict

from cgos_protocol.api import messages as api
from cgos_protocol.api.figures import ColorFigures, Ending, SpoiltFigures, VersionFigures
from cgos_protocol.options import Number
from cgos_server.presentation.answers import opponent, published, ranked
from cgos_server.service import bot_figures
from cgos_server.storage.reading.answers import RankedRow
from cgos_server.web.api.reading.parameters import (
    BotName,
    Cursor,
    Name,
    PageSize,
    RatedVenue,
    System,
    VersionName,
    Words,
    up_to,
)
from cgos_server.web.api.reading.rated import system_meant, venue_meant
from cgos_server.web.api.typed import Group
from cgos_server.web.around.problems import Wrong
from cgos_server.web.pages.requests import DAY_MS, Systems
from cgos_server.web.site import Site

_CURSOR: Final = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})(?:\.([0-9a-f]{1,16}))?")

_bots = Group("Bots and versions")


class ReadingBots:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._history = site.history
        self._systems = Systems(site)

    @_bots.get("/bots")
    async def bots(
        self,
        after: Annotated[Name | None, "Names after this one: `next` of the page before."] = None,
        limit: Annotated[PageSize, up_to(1000)] = 200,
    ) -> api.BotPage:
        """All bots, by name."""
        rows = await self._history.bots.page(limit + 1, after or "")
        page = rows[:limit]
        return api.BotPage(
            items=published(page, list[api.Bot]),
            next=page[-1].name if len(rows) > limit else None,
        )

    @_bots.get("/bots/{bot}")
    async def bot(self, bot: BotName) -> api.BotDetail:
        """One bot with its versions."""
        detail = await self._history.bots.detail(bot)
        names = [version.name for version in detail.versions]
        rows = await self._ratings(names)
        headlines = self._systems.headlines(rows)
        return api.BotDetail(
            **asdict(published(detail, api.BotFacts)),
            versions=published(detail.versions, list[api.Version]),
            ratings=[ranked(row) for row in rows if row.system == headlines[row.venue]],
            links=await self._history.ledger.predecessors(version.id for version in detail.versions),
            strength_changes=await self._site.strength_changes.of(names),
        )

    @_bots.get("/versions/{version}")
    async def version(self, version: VersionName) -> api.VersionDetail:
        """One version and where it stands."""
        row = await self._history.bots.version(version)
        ratings = [ranked(rating) for rating in await self._ratings([row.name])]
        return api.VersionDetail(
            version=published(row, api.Version),
            ratings=ratings,
            links=await self._history.ledger.predecessors([row.id]),
            strength_changes=await self._site.strength_changes.of([row.name]),
        )

    @_bots.get("/versions/{version}/history")
    async def history(
        self,
        version: VersionName,
        venue: RatedVenue = None,
        system: System = None,
        points: Annotated[
            int | None, Number(2, 2000, whole=True), "Not every change, but about so many points of the curve."
        ] = None,
        after: Annotated[Words | None, "Changes after this one: `next` of the page before."] = None,
        limit: Annotated[PageSize, up_to(1000)] = 200,
    ) -> api.HistoryPage | api.RatingCurve:
        """A rating's changes, each with its game; or its curve.

        Without `points` a page of changes (`items`), with it a curve (`points`), counted down in the database.
        """
        version = (await self._history.bots.version(version)).name
        venue = await venue_meant(self._site, venue, version)
        system = await system_meant(self._site, venue, system)
        if points is not None:
            if after is not None:
                raise Wrong("after", "Say either `points` or `after`: a curve has no pages.")
            curve = await self._history.changes.band(venue, version, system, points)
            return api.RatingCurve(version=version, venue=venue, system=system, points=curve)
        seq, refit, known = _place(after)
        incarnation = await self._site.history.server.check_cursor(known)
        rows = await self._history.changes.page(version, venue, system=system, after=(seq, refit), limit=limit + 1)
        page = rows[:limit]
        return api.HistoryPage(
            version=version,
            venue=venue,
            system=system,
            items=published(page, list[api.RatingChange]),
            next=f"{page[-1].seq}.{page[-1].refit or 0}.{incarnation}" if len(rows) > limit else None,
        )

    @_bots.get("/versions/{version}/ranks")
    async def ranks(
        self,
        version: VersionName,
        cursor: Cursor,
        venue: RatedVenue = None,
        system: System = None,
        limit: Annotated[PageSize, up_to(1000)] = 200,
    ) -> api.RankHistory:
        """What refits said of a version's rank, and when."""
        version = (await self._history.bots.version(version)).name
        venue = await venue_meant(self._site, venue, version)
        system = await system_meant(self._site, venue, system)
        rows = await self._history.ranks.page(version, venue, system, after=cursor.after, limit=limit + 1)
        page = rows[:limit]
        return api.RankHistory(
            version=version,
            venue=venue,
            system=system,
            items=page,
            next=page[-1].refit if len(rows) > limit else None,
            incarnation=await self._site.history.server.check_cursor(cursor.incarnation),
        )

    @_bots.get("/versions/{version}/opponents")
    async def opponents(self, version: VersionName, venue: RatedVenue = None) -> api.Opponents:
        """Whom a version met, and what came of it."""
        version = (await self._history.bots.version(version)).name
        venue = await venue_meant(self._site, venue, version)
        rows = await self._history.records.opponents(venue, version)
        system = await system_meant(self._site, venue, None)
        means = await self._history.ratings.means(venue, system, [version, *(row.opponent for row in rows)])
        means = {} if venue in self._site.settings.sandboxes else means
        known = await self._site.strengths.venue(venue)
        met = bot_figures.opponents_with_expectation(version, rows, means.get, known)
        return api.Opponents(version=version, venue=venue, items=[opponent(*each) for each in met])

    @_bots.get("/versions/{version}/figures")
    async def figures(self, version: VersionName, venue: RatedVenue = None) -> VersionFigures:
        """How a version's games ended, by color and reason, and how much it was signed in."""
        version = (await self._history.bots.version(version)).name
        venue = await venue_meant(self._site, venue, version)
        rows = await self._history.records.verdicts(venue, [version])
        now = self._site.now_ms()
        presence = await self._history.bots.presence(version, now - 30 * DAY_MS, now)
        splits, shares = bot_figures.color_split(rows), bot_figures.rates(rows)
        return VersionFigures(
            version=version,
            venue=venue,
            verdicts=published(rows, list[Ending]),
            colors={color: ColorFigures(**split._asdict(), score=split.score) for color, split in splits.items()},
            spoilt={reason: SpoiltFigures(**share._asdict(), rate=share.rate) for reason, share in shares.items()},
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


def _place(cursor: str | None) -> tuple[int, int, str | None]:
    """After which entry and which refit a page begins, and in which incarnation. Raises Wrong."""
    if cursor is None:
        return 0, 0, None
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise Wrong("after", "`after` must be the `next` of the page before.")
    return int(match[1]), int(match[2]), match[3]
