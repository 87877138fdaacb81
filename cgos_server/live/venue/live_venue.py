"""One venue at work: its roster, lobby, matchmaker and port, built from what the store holds of it.

Must not know: other venues, how the server starts and stops.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from cgos_protocol.ids import VersionId
from cgos_protocol.session import OperatorDesk
from cgos_server.core.pairing.memory import Memory
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.venue import PairingSettings, Venue
from cgos_server.live.bus import FactBus
from cgos_server.live.games.lengths import Lengths
from cgos_server.live.games.live_game import LiveGame, VenueContext
from cgos_server.live.pairing.candidates import CandidateCollector
from cgos_server.live.pairing.executor import PairingExecutor
from cgos_server.live.pairing.game_starter import GameStarter
from cgos_server.live.pairing.matchmaker import VenueMatchmaker, remembered
from cgos_server.live.pairing.openings import Openings
from cgos_server.live.ratings.rater import Rater
from cgos_server.live.ratings.rating_watch import Games, RatingWatch
from cgos_server.live.ratings.refit_executor import RefitExecutor
from cgos_server.live.ratings.refitter import Refitter
from cgos_server.live.signing_in.arrivals import Arrivals
from cgos_server.live.venue.gallery import Gallery
from cgos_server.live.venue.lobby import Lobby
from cgos_server.live.venue.play_limits import PlayLimits
from cgos_server.live.venue.reminders import Reminders
from cgos_server.live.venue.roster import Roster
from cgos_server.live.venue.suspensions import Suspensions
from cgos_server.net.loop import Timekeeper
from cgos_server.observability.metrics import Metrics
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts, Operator
from cgos_server.service.ratings.families import Families
from cgos_server.service.ratings.venue_ratings import VenueRatings, load_ratings
from cgos_server.storage.store import Store

_PACED = 2_000
"""Games that are looked at at the start for how fast bots play."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What all venues of a server share.

    :ivar names: version id -> wire name; arrivals add to it
    :ivar families: who belongs together; arrivals are added
    :ivar refit_executor: computes refits of ratings
    :ivar pairing_executor: decides pairing passes
    :ivar build: the arithmetic that the ratings depend on
    :ivar history: where a version's games are read
    :ivar folded: told, at the start, up to which entry a venue's ledger is folded; what it raises ends the start
    :ivar operators: gives an operator who signs in at a venue, from an address, its desk; raises Refused
    :ivar spawn: starts a coroutine in the server's task group
    """

    store: Store
    time: Timekeeper
    bus: FactBus
    ids: Ids
    accounts: Accounts
    metrics: Metrics
    names: dict[VersionId, str]
    families: Families
    operators: Callable[[str, Operator, str], OperatorDesk]
    spawn: Callable[[Coroutine[Any, Any, None]], None]
    refit_executor: RefitExecutor
    pairing_executor: PairingExecutor
    build: str
    history: Games
    folded: Callable[[str, int], None]


@dataclass(slots=True, kw_only=True)
class LiveVenue:
    """One venue at work. `port` is where its bots connect, 0 until it listens; `tls_port` the one for TLS."""

    venue: Venue
    context: VenueContext
    roster: Roster
    lobby: Lobby
    arrivals: Arrivals
    play_limits: PlayLimits
    suspensions: Suspensions
    reminders: Reminders
    matchmaker: VenueMatchmaker
    ratings: VenueRatings
    refitter: Refitter
    watch: RatingWatch
    gallery: Gallery
    lengths: Lengths
    port: int = 0
    tls_port: int = 0


async def open_venue(venue: Venue, shared: Shared) -> LiveVenue:
    """Read the venue's ledger and history, and set it up with nobody in it."""
    store, meter = shared.store, shared.metrics.venue(venue.name)
    ratings = await load_ratings(
        store, venue, build=shared.build, at=shared.time.wall_ms(), progress=partial(shared.folded, venue.name)
    )
    refitter = Refitter(
        venue=venue.name, ratings=ratings, store=store, time=shared.time, executor=shared.refit_executor, meter=meter
    )
    rater = Rater(
        venue=venue.name,
        ratings=ratings,
        names=shared.names.__getitem__,
        bus=shared.bus,
        updated=meter.rated,
        applied=refitter.changed,
    )
    context = VenueContext(
        venue=venue,
        store=store,
        time=shared.time,
        bus=shared.bus,
        rater=rater,
        meter=meter,
        spawn=shared.spawn,
    )
    roster = Roster(shared.names, shared.families)
    suspensions = Suspensions(context, roster, await store.history.pairings.suspensions(venue.id))
    play_limits = PlayLimits(context, roster)
    reminders = Reminders(context, roster, suspensions, play_limits)
    lobby = Lobby(context, roster, suspensions=suspensions, play_limits=play_limits, reminders=reminders)
    operator = partial(shared.operators, venue.name)
    openings = Openings(await store.history.pairings.halves(venue.id))
    pairer = await _matchmaker(context, roster, lobby, openings=openings, shared=shared)
    lengths = Lengths(shared.time.wall_ms)
    context.ended += (openings.ended, lobby.ended, pairer.ended, lengths.learn)
    return LiveVenue(
        venue=venue,
        context=context,
        roster=roster,
        lobby=lobby,
        arrivals=Arrivals(context, roster, lobby=lobby, accounts=shared.accounts, operator=operator),
        play_limits=play_limits,
        suspensions=suspensions,
        reminders=reminders,
        matchmaker=pairer,
        ratings=ratings,
        refitter=refitter,
        watch=RatingWatch(venue=venue.name, ratings=ratings, games=shared.history, names=shared.names, meter=meter),
        gallery=Gallery(context, roster),
        lengths=lengths,
    )


async def _matchmaker(
    context: VenueContext, roster: Roster, lobby: Lobby, *, openings: Openings, shared: Shared
) -> VenueMatchmaker:
    """With what it remembers of the games so far."""
    store, venue = shared.store, context.venue
    last = remembered(matchmaker(venue.pairing.method, venue.pairing.options))
    memory = Memory(
        last,
        {(met.black, met.white): met.games for met in await store.history.pairings.meetings(venue.id)},
        await store.history.pairings.recent_opponents(venue.id, last),
        await store.history.pairings.thinking(venue.id, _PACED),
    )
    collector = CandidateCollector(
        roster=roster,
        ratings=context.rater.ratings,
        memory=memory,
        time=shared.time,
        number=await store.history.pairings.last_round(venue.id),
    )
    starter = GameStarter(
        context=context,
        roster=roster,
        lobby=lobby,
        ids=shared.ids,
        memory=memory,
        openings=openings,
        paces=collector.paces,
    )
    return VenueMatchmaker(
        context=context,
        roster=roster,
        collector=collector,
        starter=starter,
        executor=shared.pairing_executor,
        openings=openings,
        ids=shared.ids,
        new_seed=partial(secrets.randbits, 64),
    )


def reconfigure(live: LiveVenue, pairing: PairingSettings) -> None:
    """Pair by other settings from the next pass on. Raises Refused where the matchmaker objects; nothing is changed
    then."""
    live.matchmaker.configure(pairing)
    live.venue = live.context.venue = replace(live.venue, pairing=pairing)


def running(venue: LiveVenue) -> list[LiveGame]:
    """The venue's games without a verdict, by number."""
    return sorted(venue.roster.games(), key=lambda game: game.id)


def bots_by_state(venue: LiveVenue) -> dict[str, int]:
    """Signed-in bots: idle (those about to play included), playing, owing, suspended."""
    count = venue.roster.states()
    return {
        "idle": count["idle"] + count["paired"],
        "playing": count["playing"],
        "owing": count["owes ready"],
        "suspended": count["suspended"],
    }
