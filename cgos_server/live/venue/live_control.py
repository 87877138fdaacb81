"""The live server as use cases see it: implements :class:`cgos_server.service.control.Control`.

Must not know: who asks, over which socket.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

import msgspec

from cgos_protocol.api.messages import StrengthChange
from cgos_protocol.api.people import BotNow, EndedGame, GameNow, Previewed, Upgraded, VenueNow
from cgos_protocol.errors import Code, ConfigError, Invalid
from cgos_protocol.facts import NamesErased
from cgos_protocol.games.base import Color
from cgos_protocol.ids import BotId, GameId, VersionId
from cgos_protocol.session import Limits
from cgos_server import __version__
from cgos_server.core.renaming import Renaming
from cgos_server.live.venue import rulings, vacating
from cgos_server.live.venue.elsewhere import Elsewhere
from cgos_server.live.venue.live_venue import LiveVenue, bots_by_state, running
from cgos_server.live.venue.player import Player
from cgos_server.net.loop import Timekeeper
from cgos_server.observability.logs import LogCounts
from cgos_server.observability.metrics import Metrics
from cgos_server.service.control import ArrangedGame, ServerStatus, VersionNow
from cgos_server.service.events.desk import NO_EVENTS, EventDesk
from cgos_server.service.holds import Hold, for_owner
from cgos_server.service.pairing.preview import preview
from cgos_server.service.plugin_report import plugin_report
from cgos_server.service.questions.desk import NO_QUESTIONS, QuestionDesk
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.reading.stored import StoredGame
from cgos_server.storage.store import Store


@dataclass(slots=True)
class Addresses:
    """Where a server listens, as URLs; empty where it does not."""

    websocket: str = ""
    web: str = ""
    health: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerActs:
    """What the control has the server itself do.

    :ivar drain: begins the orderly end
    :ivar reload: reads the configuration again and says what has changed; raises ConfigError, Refused
    :ivar check_upgrade: whether the program at this path can take over; raises Refused
    :ivar upgrade: lets it
    :ivar hand_over: lets another node of the cluster go on
    """

    drain: Callable[[], None]
    reload: Callable[[], Awaitable[list[str]]]
    check_upgrade: Callable[[str | None], Awaitable[Upgraded]]
    upgrade: Callable[[], None]
    hand_over: Callable[[], None]


class LiveControl:
    """Answers at once, from memory.

    :param elsewhere: which venues other nodes of a cluster play; None where this process is alone
    :ivar events: the live events, once they are open
    :ivar questions: the live questions, likewise
    :ivar draining: True once the server takes no new game
    :ivar pause_s: as :attr:`cgos_server.service.control.ServerStatus.pause_s`
    """

    def __init__(
        self,
        venues: Mapping[str, LiveVenue],
        store: Store,
        time: Timekeeper,
        metrics: Metrics,
        logs: LogCounts,
        addresses: Addresses,
        acts: ServerActs,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.draining = False
        self.pause_s: float | None = None
        self.events: EventDesk = NO_EVENTS
        self.questions: QuestionDesk = NO_QUESTIONS
        self._venues = venues
        self._store = store
        self._time = time
        self._metrics = metrics
        self._logs = logs
        self._addresses = addresses
        self._acts = acts
        self._elsewhere = elsewhere or Elsewhere()
        self._since = time.now()

    def begin_draining(self) -> None:
        """Take no new game."""
        self.draining = True
        for venue in self._venues.values():
            venue.matchmaker.holds.add(Hold.STOPPING)

    def status(self) -> ServerStatus:
        report = plugin_report()
        return ServerStatus(
            pid=os.getpid(),
            version=__version__,
            up_s=(self._time.now() - self._since) / 1e6,
            ready=self._store.healthy and not self.draining,
            draining=self.draining,
            venues=[self._venue(venue) for venue in self._venues.values()],
            games=[status for venue in self._venues.values() for status in self._games(venue)],
            bots=[status for venue in self._venues.values() for status in self._bots(venue)],
            moves=self._metrics.moves,
            ended=self._metrics.ended,
            warnings=self._logs.warnings,
            errors=self._logs.errors,
            web=self._addresses.web,
            health=self._addresses.health,
            websocket=self._addresses.websocket,
            pause_s=self.pause_s,
            node=self._elsewhere.node,
            group=self._elsewhere.group,
            groups=self._elsewhere.owners,
            plugins=report.used,
            plugin_problems=report.problems,
        )

    def strength_changes(self) -> list[StrengthChange]:
        return [change for venue in self._venues.values() for change in venue.watch.changes()]

    def dismiss(self, bot: BotId, sentence: str) -> int:
        gone = [
            venue.roster.dismiss(player.version, sentence)
            for venue in self._venues.values()
            for player in venue.roster.of_bot(bot)
        ]
        return sum(gone)

    async def vacate(self, bots: Collection[BotId], sentence: str) -> None:
        self.events.leave(bots)
        self.questions.leave(bots)
        await vacating.vacate(self._venues.values(), self._store, bots, sentence)

    async def erased(self, names: Mapping[VersionId, str], renaming: Renaming) -> None:
        for venue in self._venues.values():
            vacating.rename(venue, names, renaming)
        await self.events.read_again()
        for bus in {venue.context.bus for venue in self._venues.values()}:  # they share one
            bus.publish(NamesErased())

    def wishes(self, bot: BotId, paused: bool, limits: Limits) -> None:
        for venue in self._venues.values():
            venue.play_limits.wish(bot, paused, limits)

    def look(self, bot: BotId) -> list[VersionNow]:
        return [
            self._version(venue, player)
            for venue in self._venues.values()
            for player in venue.roster.players.values()
            if player.bot == bot
        ]

    def drain_bot(self, bot: BotId) -> int:
        # Its venues share one connection, and with it one capacity.
        connections = {id(player.capacity) for venue in self._venues.values() for player in venue.roster.of_bot(bot)}
        for venue in self._venues.values():
            venue.lobby.send_home(bot)
        return len(connections)

    def ratings(self, venue: str) -> VenueRatings | None:
        live = self._venues.get(venue)
        if live is None:
            self._elsewhere.refuse(venue)
            return None
        return live.ratings

    def ratings_changed(self, venue: str) -> None:
        live = self._venues.get(venue)
        if live is not None:
            live.refitter.changed()

    def drain(self) -> None:
        self._acts.drain()

    def match(
        self,
        venue: str,
        white: str,
        black: str,
        mains_s: tuple[int, int],
        opening: StoredGame | None,
        plies: int | None,
        actor: str,
    ) -> ArrangedGame:
        return rulings.arrange(
            self._live(venue), white=white, black=black, mains_s=mains_s, opening=opening, plies=plies, actor=actor
        )

    def end_game(self, game: GameId, winner: Color | None, detail: str) -> EndedGame:
        return rulings.end(self._venues.values(), game, winner, detail)

    def pause(self, venue: str, paused: bool) -> None:
        holds = self._live(venue).matchmaker.holds
        if paused:
            holds.add(Hold.VENUE_PAUSED)
        else:
            holds.discard(Hold.VENUE_PAUSED)

    def kick(self, name: str, sentence: str) -> int:
        gone = 0
        for venue in self._venues.values():
            player = venue.roster.named(name)
            if player is not None:
                gone += venue.roster.dismiss(player.version, sentence)
        return gone

    def recall(self, venue: str | None, versions: Collection[VersionId]) -> dict[str, list[VersionId]]:
        venues = self._venues.values() if venue is None else [self._live(venue)]
        recalled = {
            one.venue.name: [version for version in versions if one.suspensions.recall(version)] for one in venues
        }
        return {name: numbers for name, numbers in recalled.items() if numbers}

    async def preview(
        self, venue: str, method: str | None, options: Mapping[str, str | int | float | bool]
    ) -> Previewed:
        live = self._live(venue)
        previewed = await live.matchmaker.preview(method, options)
        return preview(
            live.venue.name,
            previewed.method,
            pairing_pass=previewed.pairing_pass,
            pairing=previewed.decided.pairing,
            listed=previewed.listed,
            second=previewed.second,
        )

    async def reload(self) -> list[str]:
        try:
            return await self._acts.reload()
        except ConfigError as error:
            raise Invalid(
                Code.CONFIGURATION, f"The configuration is at fault, and nothing was changed. {error}"
            ) from error

    async def check_upgrade(self, program: str | None) -> Upgraded:
        return await self._acts.check_upgrade(program)

    def upgrade(self) -> None:
        self._acts.upgrade()

    def hand_over(self) -> None:
        self._acts.hand_over()

    def _live(self, venue: str) -> LiveVenue:
        return self._elsewhere.require(self._venues, venue)

    def _venue(self, venue: LiveVenue) -> VenueNow:
        bots = bots_by_state(venue)
        return VenueNow(
            name=venue.venue.name,
            port=venue.port,
            playing=bots["playing"],
            idle=bots["idle"],
            owing=bots["owing"],
            games=len(running(venue)),
            paused=Hold.VENUE_PAUSED in venue.matchmaker.holds,
        )

    def _version(self, venue: LiveVenue, player: Player) -> VersionNow:
        now_ms = self._time.wall_ms()
        others = [one for one in venue.roster.here() if one is not player]
        seen = msgspec.structs.replace(
            venue.reminders.seen(player),
            holds=player.holds | venue.matchmaker.holds,
            others=len(others),
            free=sum(one.available for one in others),
        )
        status = for_owner(seen)
        since = now_ms - (self._time.now() - player.since) // 1000
        if seen.hold is Hold.SUSPENDED:
            since = venue.suspensions.state(player.version).at
        return VersionNow(
            name=player.name,
            venue=venue.venue.name,
            state=status.state,
            since=since / 1000,
            began_at=since,
            games=list(player.games),
            slots=player.capacity.slots,
            why=status.why,
            paired=status.waits,
        )

    def _games(self, venue: LiveVenue) -> list[GameNow]:
        return [
            GameNow(
                game=game.id,
                venue=venue.venue.name,
                black=game.sides[Color.BLACK].name,
                white=game.sides[Color.WHITE].name,
                ply=game.ply,
                black_here=game.present(Color.BLACK),
                white_here=game.present(Color.WHITE),
            )
            for game in running(venue)
        ]

    def _bots(self, venue: LiveVenue) -> list[BotNow]:
        return [
            BotNow(
                name=player.name,
                venue=venue.venue.name,
                state=player.state,
                address=player.address,
                client=player.client,
                game=next(iter(player.games), None),
                suspended=venue.suspensions.state(player.version).reason if player.has(Hold.SUSPENDED) else "",
                paused=player.has(Hold.PAUSED),
                connection=player.session.id,
                since=player.signed_in_at / 1000,
                signed_in_at=player.signed_in_at,
            )
            for player in venue.roster.here()
            if player.session is not None
        ]
