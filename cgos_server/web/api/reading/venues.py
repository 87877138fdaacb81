"""Answers of the API about venues: rules, standings, ledgers, figures.

Must not know: SQL, how addresses are read.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Final, Literal

import msgspec
from starlette.requests import Request

from cgos_protocol.api import figures, games
from cgos_protocol.api import messages as api
from cgos_protocol.api.route import PREFIX, Limit
from cgos_protocol.clock import TimeControl
from cgos_protocol.errors import Code, NotFound
from cgos_protocol.games.base import Ruleset
from cgos_protocol.names import NAME_PATTERN
from cgos_protocol.options import Number, Several, Text, UnixTime
from cgos_protocol.v2.render import rules_info, time_info
from cgos_server.presentation import words
from cgos_server.presentation.answers import pair_statistics, published, record
from cgos_server.presentation.connecting import addresses, bots_host, tls_addresses, websocket_address
from cgos_server.service.pairing.statistics import statistics
from cgos_server.service.ratings.expectation import compare
from cgos_server.service.ratings.listed import best, listing, with_last_games
from cgos_server.storage.reading.answers import VenueRow
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.web.api.reading.parameters import (
    MOMENT,
    Before,
    Cursor,
    OtherVersionName,
    PageSize,
    System,
    VenueName,
    VersionName,
    up_to,
)
from cgos_server.web.api.reading.rated import system_among, system_meant, systems_of
from cgos_server.web.api.reading.recomputing import Recomputing
from cgos_server.web.api.reading.server import LiveServer
from cgos_server.web.api.typed import Group
from cgos_server.web.around.disconnect import awaited
from cgos_server.web.around.problems import Wrong
from cgos_server.web.pages.requests import Systems, venues_in_order
from cgos_server.web.site import Site

FIGURES_FRESH_MS: Final = 30_000
FIGURES_OF: Final = 1_000
"""Games that a venue's figures of pairing are counted up from: the latest."""

ROUNDS_OF: Final = 200
"""Rounds whose candidates these figures look at: some hundred kilobytes each where a pool is large."""

_venues = Group("Venues")


class ReadingVenues:
    """The handlers."""

    def __init__(self, site: Site, live: LiveServer) -> None:
        self._site = site
        self._history = site.history
        self._systems = Systems(site)
        self._recomputing = Recomputing(site)
        self._live = live
        self._figures: dict[str, tuple[int, figures.PairingFigures]] = {}
        self._counting = asyncio.Lock()

    @_venues.get("/venues")
    async def venues(self, request: Request) -> api.Venues:
        """All venues."""
        return api.Venues(items=[await self._venue(request, row) for row in await venues_in_order(self._site)])

    @_venues.get("/venues/{venue}")
    async def venue(self, request: Request, venue: VenueName) -> api.Venue:
        """One venue."""
        return await self._venue(request, await self._row(venue))

    @_venues.get("/venues/{venue}/standings", also=(Limit.RECOMPUTE,))
    async def standings(
        self,
        request: Request,
        venue: VenueName,
        system: System = None,
        as_of: Annotated[int | None, "As they were published after this entry of the ledger."] = None,
        at: Annotated[int | None, UnixTime(), f"As they were published at this time. {MOMENT}"] = None,
        on: Annotated[str | None, "As they were published at the end of this day (UTC), such as 2026-01-31."] = None,
        recomputed: Annotated[bool, "Compute them again, every game as it counts now."] = False,
        show: Annotated[
            Literal["active", "all"],
            "`all`: also versions without a rated game, and retired ones: no game for 30 days before the latest one.",
        ] = "active",
        limit: Annotated[PageSize, up_to(100_000)] = 100_000,
    ) -> api.Standings:
        """The standings, now or as they were.

        As they were published, corrections and late refits left as they were then; or `recomputed` from the ledger:
        one at a time, limited for one address (`recompute`), and kept. What takes longer than 30 s is refused
        (`not-now`) with the command that has time for it.
        """
        if len([each for each in (as_of, at, on) if each is not None]) > 1:
            raise Wrong("at", "Give only one of `as_of`, `at` and `on`.")
        try:
            at = words.day_end(on) if on is not None else at
        except ValueError as error:
            raise Wrong("on", "The parameter 'on' must be a date, such as 2026-01-31.") from error
        systems = await systems_of(self._site, venue)
        system = system_among(system, systems, venue)
        if at is not None:
            as_of = await self._history.ledger.entry_at(venue, at)
        last = await self._history.ledger.last_entry(venue)
        if as_of is not None and as_of > last:
            raise NotFound(Code.NO_ENTRY, f"The ledger of {venue} has no entry {as_of}: its last one is {last}.")
        seq, corrected = last if as_of is None else as_of, None
        rows = await self._history.ratings.standings(venue, system, as_of) if system else []
        listed = listing(rows, self._site.settings.rated(venue).system)
        if recomputed:
            self._site.limits.spend(Limit.RECOMPUTE, self._site.visitor(request))
            again = await awaited(request.receive, self._recomputing.standings(venue, system, seq))
            corrected, items, ranks = again.corrected, with_last_games(again.rows, rows), again.ranks
        else:
            items = published(listed.rows, list[api.Standing])
            ranks = await self._history.ranks.summary(venue, system, as_of)
        return api.Standings(
            venue=venue,
            system=system,
            systems=systems,
            seq=seq,
            last_entry=last,
            recomputed=recomputed,
            corrected=corrected,
            items=[row for row in items if show == "all" or listed.lists(row)][:limit],
            ranks=ranks,
        )

    @_venues.get("/venues/{venue}/crosstable")
    async def crosstable(
        self,
        venue: VenueName,
        versions: Annotated[
            list[str] | None,
            Several(Text(0, 64, pattern=NAME_PATTERN), 100),
            "These versions, instead of the best.",
        ] = None,
        top: Annotated[int, Number(2, 100, whole=True), "So many of the best that are active."] = 30,
    ) -> api.Crosstable:
        """Who beat whom how often, among the best or among these."""
        if versions is None:
            system = await system_meant(self._site, venue, None)
            versions = [row.version for row in await best(self._history, venue, system, top)] if system else []
        versions = list(dict.fromkeys(versions))
        pairs = await self._history.records.crosstable(venue, versions)
        return api.Crosstable(venue=venue, versions=versions, pairs=[record(pair) for pair in pairs])

    @_venues.get("/venues/{venue}/pairs/{one}/{other}")
    async def pair(self, venue: VenueName, one: VersionName, other: OtherVersionName) -> api.PairStatistics:
        """Two versions compared."""
        if one == other:
            raise Wrong("other", "A version is compared with another one, not with itself.")
        games_of_both = await self._history.records.pair(venue, one, other)
        headline = self._systems.headline(venue, await self._history.ratings.rated_counts(venue))
        ranked = await self._history.ratings.ranked([one, other])
        sandbox = venue in self._site.settings.sandboxes
        rated = {row.version: row for row in ranked if not sandbox and (row.venue, row.system) == (venue, headline)}
        known = await self._site.strengths.venue(venue)
        compared = compare(one, other, rated=rated.get(one), its=rated.get(other), known=known)
        return pair_statistics(venue, games_of_both, one, compared, sandbox=sandbox)

    @_venues.get("/venues/{venue}/ledger")
    async def ledger(
        self, venue: VenueName, cursor: Cursor, limit: Annotated[PageSize, up_to(1000)] = 200
    ) -> figures.LedgerPage:
        """The numbered facts that ratings follow from."""
        last = await self._history.ledger.last_entry(venue)
        rows = await self._history.ledger.named(venue, cursor.after, limit + 1)
        page = rows[:limit]
        return figures.LedgerPage(
            venue=venue,
            items=page,
            next=page[-1].seq if len(rows) > limit else None,
            last_entry=last,
            incarnation=await self._site.history.server.check_cursor(cursor.incarnation, cursor.after, last),
        )

    @_venues.get("/venues/{venue}/metrics")
    async def metrics(self, venue: VenueName) -> figures.VenueMetrics:
        """A venue in figures."""
        venue, status = (await self._row(venue)).name, await self._live.status()
        now = next((each for each in status.venues if each.name == venue), None) if status else None
        counts = await self._history.ratings.rated_counts(venue)
        latest = await self._history.games.find(GameFilter(venue=venue), 1)
        return figures.VenueMetrics(
            venue=venue,
            at=self._site.now_ms(),
            playing=now.playing if now else None,
            idle=now.idle if now else None,
            owing=now.owing if now else None,
            paused=now.paused if now else None,
            last_entry=await self._history.ledger.last_entry(venue),
            rated_versions=counts.get(self._systems.headline(venue, counts), 0),
            last_game=latest[0].id if latest else None,
            pairing=await self._pairing(venue),
        )

    @_venues.get("/venues/{venue}/rounds")
    async def rounds(
        self, venue: VenueName, before: Before = None, limit: Annotated[PageSize, up_to(200)] = 50
    ) -> games.RoundPage:
        """Rounds, newest first."""
        rows = await self._history.pairings.rounds(venue, limit + 1, before)
        page = rows[:limit]
        return games.RoundPage(
            venue=venue,
            items=page,
            next=page[-1].number if len(rows) > limit else None,
        )

    async def _row(self, name: str) -> VenueRow:
        row = next((venue for venue in await self._history.server.venues() if venue.name == name), None)
        if row is None:
            raise NotFound(Code.NO_VENUE, f"There is no venue of this name on the server. {PREFIX}/venues lists them.")
        return row

    async def _venue(self, request: Request, row: VenueRow) -> api.Venue:
        settings = self._site.settings
        host = bots_host(settings.bots_host, settings.public_url, request.headers.get("host", ""))
        configured = settings.venues.get(row.name)
        rules, time = msgspec.convert(row.fixed, Ruleset), msgspec.convert(row.fixed["time"], TimeControl)
        return api.Venue(
            id=row.id,
            name=row.name,
            created_at=row.created_at,
            configured=configured is not None,
            rated=configured is None or configured.counts,
            initial=configured.rated.initial if configured else None,
            rating_options=dict(configured.rated.options) if configured else {},
            port=configured.port if configured else 0,
            address=addresses(settings, host)[row.name] if configured else "",
            tls_address=tls_addresses(settings, host)[row.name] if configured else "",
            websocket=(
                websocket_address(settings.websocket_url, host, settings.websocket, tls=settings.websocket_tls)
                if configured
                else ""
            ),
            systems=await systems_of(self._site, row.name),
            policy=configured.policy if configured else None,
            method=configured.method if configured else None,
            delay_ms=settings.delay_ms(row.name),
            last_entry=await self._history.ledger.last_entry(row.name),
            rules=rules_info(rules),
            time=time_info(time),
            terms=words.terms(rules, time),
        )

    async def _pairing(self, venue: str) -> figures.PairingFigures:
        """Counted up once for everybody who asks in the meantime."""
        async with self._counting:
            now = self._site.now_ms()
            at, known = self._figures.get(venue, (0, None))
            if known is None or not 0 <= now - at < FIGURES_FRESH_MS:
                stats = await statistics(self._history, venue, FIGURES_OF, most_rounds=ROUNDS_OF)
                known = published(stats, figures.PairingFigures)
                self._figures[venue] = (now, known)
            return known
