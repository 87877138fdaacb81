"""One venue at work: its desk, lobby, matchmaker and port, built from what the store holds of it.

Must not know: other venues, how the server starts and stops.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from cgos_protocol.session import OperatorDesk
from cgos_server.core.pairing.memory import Memory
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.venue import PairingSettings, Venue
from cgos_server.net.loop import Timekeeper
from cgos_server.observability.metrics import Metrics
from cgos_server.runtime.beginning import Beginner
from cgos_server.runtime.bus import FactBus
from cgos_server.runtime.deciding import Deciding
from cgos_server.runtime.fitting import Fitting
from cgos_server.runtime.gallery import Gallery
from cgos_server.runtime.gathering import Gatherer
from cgos_server.runtime.live_game import Desk, LiveGame
from cgos_server.runtime.lobby import Lobby
from cgos_server.runtime.matchmaker import VenueMatchmaker, remembered
from cgos_server.runtime.openings import Openings
from cgos_server.runtime.player import Player, State
from cgos_server.runtime.rater import Rater
from cgos_server.runtime.rating_watch import Games, RatingWatch
from cgos_server.runtime.refitter import Refitter
from cgos_server.runtime.setbacks import Setbacks
from cgos_server.service.accounts import Accounts, Operator
from cgos_server.service.families import Families
from cgos_server.service.ids import Ids
from cgos_server.service.ratings import VenueRatings, load_ratings
from cgos_server.storage.store import Store

_PACED = 2_000
"""Games that are looked at at the start for how fast bots play."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What all venues of a server share.

    :ivar names: version id -> wire name; arrivals add to it
    :ivar families: who belongs together; arrivals are added
    :ivar fitting: computes refits of ratings
    :ivar deciding: decides acts of pairing
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
    names: dict[int, str]
    families: Families
    operators: Callable[[str, Operator, str], OperatorDesk]
    spawn: Callable[[Coroutine[Any, Any, None]], None]
    fitting: Fitting
    deciding: Deciding
    build: str
    history: Games
    folded: Callable[[str, int], None]


@dataclass(slots=True)
class LiveVenue:
    """One venue at work. `port` is where its bots connect, 0 until it listens."""

    venue: Venue
    desk: Desk
    lobby: Lobby
    matchmaker: VenueMatchmaker
    ratings: VenueRatings
    refitter: Refitter
    watch: RatingWatch
    gallery: Gallery
    port: int = 0


async def open_venue(venue: Venue, shared: Shared) -> LiveVenue:
    """Read the venue's ledger and history, and set it up with nobody in it."""
    store = shared.store
    ratings = await load_ratings(
        store, venue, build=shared.build, at=shared.time.wall_ms(), progress=partial(shared.folded, venue.name)
    )
    meter = shared.metrics.venue(venue.name)
    refitter = Refitter(
        venue=venue.name, ratings=ratings, store=store, time=shared.time, fitting=shared.fitting, meter=meter
    )
    rater = Rater(
        venue=venue.name,
        ratings=ratings,
        names=shared.names.__getitem__,
        bus=shared.bus,
        updated=meter.rated,
        applied=refitter.changed,
    )
    openings = Openings(await store.history.pairings.halves(venue.id))
    lobby = Lobby(
        venue.name,
        venue.id,
        store=store,
        time=shared.time,
        bus=shared.bus,
        rater=rater,
        accounts=shared.accounts,
        meter=meter,
        initial=lambda: _initial(venue, ratings, lobby.idle),
        ready_limit=venue.ready_limit,
        spawn=shared.spawn,
        names=shared.names,
        families=shared.families,
        operator=partial(shared.operators, venue.name),
        setbacks=Setbacks(
            venue_id=venue.id,
            venue=venue.name,
            store=store,
            time=shared.time,
            stored=await store.history.pairings.setbacks(venue.id),
            most=lambda: desk.venue.pairing.set_aside,
        ),
        openings=openings,
    )

    def ended(game: LiveGame) -> None:
        lobby.ended(game)
        pairer.ended(game)

    desk = Desk(
        venue=venue,
        store=store,
        time=shared.time,
        bus=shared.bus,
        rater=rater,
        meter=meter,
        ended=ended,
        expects=lobby.expected.since_before,
    )
    last = remembered(matchmaker(venue.pairing.method, venue.pairing.options))
    memory = Memory(
        last,
        {(met.black, met.white): met.games for met in await store.history.pairings.meetings(venue.id)},
        await store.history.pairings.recent_opponents(venue.id, last),
        await store.history.pairings.thinking(venue.id, _PACED),
    )
    gatherer = Gatherer(
        lobby=lobby,
        ratings=ratings,
        memory=memory,
        families=shared.families,
        time=shared.time,
        number=await store.history.pairings.last_round(venue.id),
    )
    pairer = VenueMatchmaker(
        desk=desk,
        lobby=lobby,
        gatherer=gatherer,
        beginner=Beginner(
            desk=desk, lobby=lobby, ids=shared.ids, memory=memory, openings=openings, paces=gatherer.paces
        ),
        deciding=shared.deciding,
        openings=openings,
        ids=shared.ids,
        new_seed=lambda: secrets.randbits(64),
    )
    gallery = Gallery(
        venue=venue,
        store=store,
        bus=shared.bus,
        time=shared.time,
        games=lobby.games,
        game=lobby.game,
        spawn=shared.spawn,
    )
    watch = RatingWatch(venue=venue.name, ratings=ratings, games=shared.history, names=shared.names, meter=meter)
    return LiveVenue(
        venue=venue,
        desk=desk,
        lobby=lobby,
        matchmaker=pairer,
        ratings=ratings,
        refitter=refitter,
        watch=watch,
        gallery=gallery,
    )


def reconfigure(live: LiveVenue, pairing: PairingSettings) -> None:
    """Pair by other settings from the next act on. Raises Refused where the matchmaker objects; nothing is changed
    then."""
    live.matchmaker.configure(pairing)
    live.venue = live.desk.venue = replace(live.venue, pairing=pairing)


def _initial(venue: Venue, ratings: VenueRatings, idle: Callable[[], Sequence[Player]]) -> float:
    """The rating of a new version: the venue's own, or with `compat` the mean of those who wait, as on CGOS."""
    if venue.rating == "cgos-elo" and venue.rating_options.get("cgos-elo", {}).get("compat"):
        waiting = idle()
        if waiting:
            return sum(ratings.rating(player.version).mean for player in waiting) / len(waiting)
    return venue.initial


def running(venue: LiveVenue) -> list[LiveGame]:
    """The venue's games without a verdict, by number."""
    return sorted(venue.lobby.games(), key=lambda game: game.id)


def bots_by_state(venue: LiveVenue) -> dict[str, int]:
    """Signed-in bots: idle (chosen ones included), playing, owing, set aside."""
    lobby = venue.lobby
    return {
        "idle": lobby.count(State.IDLE) + lobby.count(State.PAIRED),
        "playing": lobby.count(State.PLAYING),
        "owing": lobby.count(State.OWING),
        "aside": lobby.count(State.ASIDE),
    }
