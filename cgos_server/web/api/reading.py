"""Answers of the API about the server and its venues.

Must not know: SQL, how addresses are read.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import msgspec

from cgos_protocol.api import figures, openapi
from cgos_protocol.api import messages as api
from cgos_protocol.api.route import PREFIX, Limit
from cgos_protocol.errors import CgosError, Code, NotFound
from cgos_server import __version__
from cgos_server.service import requests as deeds
from cgos_server.service.control import ServerStatus
from cgos_server.service.expectation import compare
from cgos_server.service.listed import best, placed
from cgos_server.service.pairing_stats import statistics
from cgos_server.storage.answers import Counts, VenueRow
from cgos_server.storage.game_answers import GamesAsked
from cgos_server.web.api.asked import (
    if_there,
    like,
    pair_statistics,
    record,
    standing,
    system_among,
    systems_of,
    terms,
)
from cgos_server.web.api.framework import Asked, Handler
from cgos_server.web.api.recomputing import Recomputing
from cgos_server.web.connecting import addresses, bots_host, websocket_address
from cgos_server.web.leaving import awaited
from cgos_server.web.pages.asked import Systems
from cgos_server.web.problems import Wrong
from cgos_server.web.site import Site

FRESH_MS: Final = 2_000
"""How old what is known of the live server may be."""

COUNTS_FRESH_MS: Final = 10_000
FIGURES_FRESH_MS: Final = 30_000
FIGURES_OF: Final = 1_000
"""Games that a venue's figures of pairing are counted up from: the latest."""

ROUNDS_OF: Final = 200
"""Acts of pairing whose candidates these figures look at: some hundred kilobytes each where a pool is large."""


class Reading:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._history = site.history
        self._systems = Systems(site)
        self._recomputing = Recomputing(site)
        self._description: dict[str, Any] = {}
        self._status: tuple[int, ServerStatus | None] = (-FRESH_MS, None)
        self._counted: tuple[int, Counts | None] = (0, None)
        self._figures: dict[str, tuple[int, figures.PairingFigures]] = {}
        self._counting = asyncio.Lock()

    async def index(self, _asked: Asked) -> api.Index:
        """What this server is."""
        return api.Index(
            server=self._site.settings.server_name,
            version=__version__,
            api=1,
            at=self._site.now_ms(),
            openapi=f"{PREFIX}/openapi.json",
            documentation="/docs/api",
            venues=[venue.name for venue in await self._ordered()],
        )

    async def openapi(self, _asked: Asked) -> dict[str, Any]:
        """The description of the API, with this server's own address left to whoever reads it."""
        if not self._description:
            self._description = openapi.document()
        return self._description

    async def status(self, _asked: Asked) -> api.Status:
        """Whether the server plays, and how much there is."""
        now, counts = await self._live(), await self._counts()
        return api.Status(
            server=self._site.settings.server_name,
            version=__version__,
            at=self._site.now_ms(),
            live=now is not None,
            ready=if_there(now, lambda each: each.ready),
            draining=if_there(now, lambda each: each.draining),
            up_s=if_there(now, lambda each: each.up_s),
            playing=if_there(now, lambda each: sum(venue.playing for venue in each.venues)),
            bots_here=if_there(now, lambda each: len(each.bots)),
            bots=counts.bots,
            versions=counts.versions,
            ended=dict(sorted(counts.ended.items())),
            running=counts.running,
            moves=counts.moves,
            created_at=counts.created_at,
        )

    async def _young(self) -> int:
        """How many moves of running games cannot be told yet."""
        if not any(map(self._site.settings.delay_ms, self._site.settings.venues)):
            return 0
        rows = await self._history.games.running()
        told = await self._site.visible_rows(rows)
        return sum(row.moves - seen.moves for row, seen in zip(rows, told, strict=True))

    async def venues(self, asked: Asked) -> api.Venues:
        """All venues."""
        return api.Venues(items=[await self._venue(asked, row) for row in await self._ordered()])

    async def venue(self, asked: Asked) -> api.Venue:
        """One venue."""
        return await self._venue(asked, await self._row(asked.word("venue")))

    async def standings(self, asked: Asked) -> api.Standings:
        """The standings of a venue."""
        venue, as_of, at = asked.word("venue"), asked.number("as_of"), asked.number("at")
        if as_of is not None and at is not None:
            raise Wrong("at", "Say either `as_of` or `at`, not both.")
        systems = await systems_of(self._site, venue)
        system = system_among(asked.text("system"), systems, venue)
        if at is not None:
            as_of = await self._history.ledger.entry_at(venue, at)
        last = await self._history.ledger.last_entry(venue)
        if as_of is not None and as_of > last:
            raise NotFound(Code.NO_ENTRY, f"The ledger of {venue} has no entry {as_of}: its last one is {last}.")
        seq, corrected = last if as_of is None else as_of, None
        stored = await self._history.ratings.standings(venue, system, as_of) if system else []
        published = placed(stored, self._site.settings.rated(venue).system)
        everybody = asked.word("show") == "all"
        if asked.flag("recomputed"):
            self._site.limits.spend(Limit.RECOMPUTE, self._site.visitor(asked.request))
            found = await awaited(asked.request.receive, self._recomputing.standings(venue, system, seq))
            retired = {each.standing.version for each in published if each.retired}
            corrected = found.corrected
            rows = [row for row in found.rows if everybody or (row.rank is not None and row.version not in retired)]
        else:
            rows = [standing(each.rank, each.standing) for each in published if everybody or each.listed]
        return api.Standings(
            venue=venue,
            system=system,
            systems=systems,
            seq=seq,
            last_entry=last,
            recomputed=bool(asked.flag("recomputed")),
            corrected=corrected,
            items=rows[: asked.count("limit")],
        )

    async def crosstable(self, asked: Asked) -> api.Crosstable:
        """Who beat whom how often."""
        venue, names = asked.word("venue"), asked.names("versions")
        if names is None:
            system = system_among(None, await systems_of(self._site, venue), venue)
            top = asked.count("top")
            names = [row.version for row in await best(self._history, venue, system, top)] if system else []
        names = list(dict.fromkeys(names))
        pairs = await self._history.records.crosstable(venue, names)
        return api.Crosstable(venue=venue, versions=names, pairs=[record(pair) for pair in pairs])

    async def pair(self, asked: Asked) -> api.PairStatistics:
        """Two versions compared."""
        venue, one, other = asked.word("venue"), asked.word("one"), asked.word("other")
        if one == other:
            raise Wrong("other", "A version is compared with another one, not with itself.")
        had = await self._history.records.pair(venue, one, other)
        headline = self._systems.headline(venue, await self._history.ratings.rated_counts(venue))
        ranked = await self._history.ratings.ranked([one, other])
        rated = {row.version: row for row in ranked if row.venue == venue and row.system == headline}
        known = await self._site.strengths.venue(venue)
        compared = compare(one, other, rated=rated.get(one), its=rated.get(other), known=known)
        return pair_statistics(venue, had, one, compared)

    async def ledger(self, asked: Asked) -> figures.LedgerPage:
        """Entries of a ledger."""
        venue, limit = asked.word("venue"), asked.count("limit")
        rows = await self._history.ledger.named(venue, asked.count("after"), limit + 1)
        page = rows[:limit]
        return figures.LedgerPage(
            venue=venue,
            items=page,
            next=page[-1].seq if len(rows) > limit else None,
            last_entry=await self._history.ledger.last_entry(venue),
        )

    async def metrics(self, asked: Asked) -> figures.VenueMetrics:
        """A venue in figures."""
        venue, now = (await self._row(asked.word("venue"))).name, await self._live()
        here = None if now is None else next((each for each in now.venues if each.name == venue), None)
        counts = await self._history.ratings.rated_counts(venue)
        latest = await self._history.games.find(GamesAsked(venue=venue), 1)
        return figures.VenueMetrics(
            venue=venue,
            at=self._site.now_ms(),
            playing=if_there(here, lambda each: each.playing),
            idle=if_there(here, lambda each: each.idle),
            owing=if_there(here, lambda each: each.owing),
            paused=if_there(here, lambda each: each.paused),
            last_entry=await self._history.ledger.last_entry(venue),
            rated_versions=counts.get(self._systems.headline(venue, counts), 0),
            last_game=latest[0].id if latest else None,
            pairing=await self._pairing(venue),
        )

    async def _ordered(self) -> list[VenueRow]:
        """All venues: the configured ones in their order, then those of before."""
        known = {venue.name: venue for venue in await self._history.server.venues()}
        order = dict.fromkeys((*self._site.settings.venues, *known))
        return [known[name] for name in order if name in known]

    async def _row(self, name: str) -> VenueRow:
        found = next((venue for venue in await self._history.server.venues() if venue.name == name), None)
        if found is None:
            raise NotFound(Code.NO_VENUE, f"There is no venue of this name on the server. {PREFIX}/venues lists them.")
        return found

    async def _venue(self, asked: Asked, row: VenueRow) -> api.Venue:
        settings = self._site.settings
        host = bots_host(settings.bots_host, settings.public_url, asked.request.headers.get("host", ""))
        configured = self._site.settings.venues.get(row.name)
        return api.Venue(
            id=row.id,
            name=row.name,
            created_at=row.created_at,
            configured=configured is not None,
            rated=configured is None or configured.counts,
            initial=if_there(configured, lambda each: each.rated.initial),
            rating_options={} if configured is None else dict(configured.rated.options),
            port=configured.port if configured else 0,
            address=addresses(settings, host)[row.name] if configured else "",
            websocket=websocket_address(settings.websocket_url, host, settings.websocket) if configured else "",
            systems=await systems_of(self._site, row.name),
            policy=configured.policy if configured else None,
            method=configured.method if configured else None,
            delay_ms=self._site.settings.delay_ms(row.name),
            last_entry=await self._history.ledger.last_entry(row.name),
            **terms(row.fixed),
        )

    async def _counts(self) -> Counts:
        """How much there is that may be told, some seconds old at most: everything is counted."""
        at, known = self._counted
        now = self._site.now_ms()
        if known is None or not 0 <= now - at < COUNTS_FRESH_MS:
            known = await self._history.server.counts()
            known = msgspec.structs.replace(known, moves=known.moves - await self._young())
            self._counted = now, known
        return known

    async def _live(self) -> ServerStatus | None:
        """What the server that plays says of itself, two seconds old at most; None where it does not answer."""
        at, known = self._status
        now = self._site.now_ms()
        if not 0 <= now - at < FRESH_MS:
            try:
                answer = await self._site.ask(deeds.StatusRequest())
            except CgosError:
                known = None
            else:
                known = answer.status if isinstance(answer, deeds.StatusNow) else None
            self._status = (now, known)
        return known

    async def _pairing(self, venue: str) -> figures.PairingFigures:
        """Counted up once for everybody who asks in the meantime."""
        async with self._counting:
            return await self._counted_up(venue)

    async def _counted_up(self, venue: str) -> figures.PairingFigures:
        now = self._site.now_ms()
        at, known = self._figures.get(venue, (0, None))
        if known is None or not 0 <= now - at < FIGURES_FRESH_MS:
            stats = await statistics(self._history, venue, FIGURES_OF, most_rounds=ROUNDS_OF)
            spreads = ("gaps", "waits", "expected", "bits")
            told = {name: like(figures.Spread, getattr(stats, name)) for name in spreads}
            known = like(figures.PairingFigures, stats, **told)
            self._figures[venue] = (now, known)
        return known


def handlers(site: Site) -> dict[str, Handler]:
    """Operation id -> its handler."""
    reading = Reading(site)
    return {
        "index": reading.index,
        "openapi": reading.openapi,
        "status": reading.status,
        "venues": reading.venues,
        "venue": reading.venue,
        "standings": reading.standings,
        "crosstable": reading.crosstable,
        "pair": reading.pair,
        "ledger": reading.ledger,
        "metrics": reading.metrics,
    }
