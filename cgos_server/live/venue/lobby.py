"""One venue's lobby: brings bots that have arrived to their games, and takes from them what they say between games.

Decides nothing about moves, pairs or ratings; must not know wire formats, passwords or SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from cgos_protocol.event_news import EventWish
from cgos_protocol.facts import BotArrived, BotLeft
from cgos_protocol.games.base import Color
from cgos_protocol.ids import BotId, GameId
from cgos_protocol.question_news import QuestionWish, StopWish
from cgos_protocol.session import Availability, Credentials, Fault, Known, Limits, PlayerSession, Table, Wish
from cgos_server.core.rating.lineage import Predecessor
from cgos_server.live.games.live_game import LiveGame, VenueContext
from cgos_server.live.games.past_games import PastGames
from cgos_server.live.games.phases import GamePhase
from cgos_server.live.venue.event_door import NO_EVENTS, EventDoor
from cgos_server.live.venue.play_limits import PlayLimits
from cgos_server.live.venue.player import Capacity, Player
from cgos_server.live.venue.question_door import NO_QUESTIONS, QuestionDoor
from cgos_server.live.venue.reminders import Reminders
from cgos_server.live.venue.roster import Roster
from cgos_server.live.venue.suspensions import Suspensions
from cgos_server.service.holds import Hold
from cgos_server.service.people.accounts import SignedIn
from cgos_server.storage.reading.stored import StoredGame
from cgos_server.storage.writing.records import ConnectionClosed

log = structlog.get_logger(__name__)

# What each move asks for, bound once: Python 3.11 looks a member up through its enum's metaclass.
_OVER: Final = GamePhase.OVER
_RUNNING: Final = GamePhase.RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """A bot that may come in.

    :ivar since: when it asked to (microseconds): from then on the check of its password was our time
    :ivar capacity: shared by all venues of its connection
    :ivar predecessor: whom it names itself as the one that it succeeds
    """

    credentials: Credentials
    signed: SignedIn
    since: int
    capacity: Capacity
    wish: Wish
    predecessor: Predecessor | None = None


class Lobby:
    """The seats of one venue.

    :ivar stopping: the server ends, and with it all connections
    :ivar events: those of the server, once it has read them
    :ivar questions: the same of questions
    """

    def __init__(
        self,
        context: VenueContext,
        roster: Roster,
        *,
        suspensions: Suspensions,
        play_limits: PlayLimits,
        reminders: Reminders,
    ) -> None:
        self.stopping = False
        self.events: EventDoor = NO_EVENTS
        self.questions: QuestionDoor = NO_QUESTIONS
        self._context = context
        self._roster = roster
        self._suspensions = suspensions
        self._play_limits = play_limits
        self._reminders = reminders
        self._past_games = PastGames(context)

    # -- bots come and go

    def seat(self, session: PlayerSession, admission: Admission, untold: Sequence[StoredGame]) -> None:
        """Bring a bot that has arrived to its running games, and tell it what it missed."""
        context, roster = self._context, self._roster
        signed, credentials, wish = admission.signed, admission.credentials, admission.wish
        player = roster.player(signed.version_id)
        player.address, player.client = credentials.address, credentials.client
        player.arrive(session, admission.capacity, context.time.wall_ms())
        roster.connected += 1
        self._play_limits.arrived(player, signed)
        for arrived in context.arrived:
            arrived(player.version)
        session.accepted(PlayerSeat(self, player, session), signed.name)
        log.info(
            "signed in",
            connection=session.id,
            bot=signed.name,
            venue=context.venue.name,
            address=credentials.address,
            client=credentials.client,
        )
        context.bus.publish(BotArrived(context.venue.name, player.name))
        self._stir(player)
        self._suspensions.wants_to_play(player, by_word=False)
        self._play_limits.limit(player, wish.limits)
        self.events.arrived(context.venue.name, player)
        self.questions.arrived(context.venue.name, player)
        if player.has(Hold.PAUSED):
            session.info(Hold.PAUSED.bot)
        for game in list(player.games.values()):
            table = self._table(player, game)
            if table is not None:
                game.returned(player.color(game), table, admission.since)
        if session.says_ready:  # one game at a time, be it one that runs or one that is over
            untold = () if player.games or player.reserved else untold[-1:]
        for stored in untold:
            self._past_games.tell_end(player, session, stored)
        untold_ids = {stored.id for stored in untold}
        rest = [known for known in wish.known if known.game not in untold_ids and known.game not in player.games]
        if rest:
            self._past_games.sync(player, session, rest)
        explained = (Hold.OWES_READY, Hold.SUSPENDED, Hold.PAUSED, Hold.OUT_OF_HOURS)
        if not player.games and not any(map(player.has, explained)):
            self._explain_to_the_only_one(player)

    def left(self, player: Player, orderly: bool) -> None:
        """The bot's connection is gone."""
        session, state = player.session, player.state
        if session is None:
            return
        venue = self._context.venue
        if orderly:
            player.acknowledged()
        player.leave()
        self._roster.connected -= 1
        log.info("left", connection=session.id, bot=player.name, venue=venue.name, state=state, orderly=orderly)
        for game in list(player.games.values()):
            game.left(player.color(game))
        self._roster.forget(player)
        reason = "orderly" if orderly else "the server was stopped" if self.stopping else "lost"
        self._context.store.submit([ConnectionClosed(self._context.time.wall_ms(), reason, session.id)])
        self._context.bus.publish(BotLeft(venue.name, player.name))

    def send_home(self, bot: BotId) -> None:
        """Its owner wishes that this bot leaves when its running games have ended; it may come back."""
        for player in self._roster.of_bot(bot):
            player.put(Hold.SENT_HOME)
            if player.capacity.used and player.session is not None:
                player.session.info("Your owner sends you home when your running games have ended.")
            self._stir(player)
            player.send_home()

    # -- what a bot says between games

    def ready(self, player: Player) -> None:
        """The bot asks for its next game."""
        if not player.says_ready():
            return
        self._stir(player)
        game = next(iter(player.games.values()), None)
        table = None if game is None else self._table(player, game)
        if game is not None and table is not None:
            game.returned(player.color(game), table)
        else:
            self._explain_to_the_only_one(player)

    def change(self, player: Player, availability: Availability) -> None:
        """The bot wants games, or none for now, or none any more."""
        player.wants(availability)
        self._stir(player)
        if availability is Availability.READY:
            self._suspensions.wants_to_play(player, by_word=True)
        player.send_home()

    def limit(self, player: Player, limits: Limits) -> None:
        """What the bot says of its limits; its owner may allow less."""
        self._play_limits.limit(player, limits)

    def sync(self, player: Player, session: PlayerSession, known: Sequence[Known]) -> None:
        """Tell what follows what the client knows."""
        self._past_games.sync(player, session, known)

    # -- games begin and end

    def began(self, game: LiveGame) -> None:
        """A game of this venue is committed: bring its players to it."""
        players = [self._take(self._roster.player(side.version), game) for side in game.sides]
        for player in players:
            player.daily.begun += 1
        try:
            game.begin(*(self._table(player, game) for player in players))
        except Exception as error:
            game.fail(error)

    def restored(self, game: LiveGame) -> None:
        """A game was read back after a restart; both players are away."""
        for side in game.sides:
            self._take(self._roster.player(side.version), game)

    def ended(self, game: LiveGame) -> None:
        """A game's end was committed and told."""
        self._roster.running.pop(game.id, None)
        now = self._context.time.now()
        for color in Color:
            player = self._roster.player(game.sides[color].version)
            player.ended(game, now)
            if player.session is not None and game.present(color) and game.flagged is color:
                player.flagged = now
            self._stir(player)
            self._suspensions.ended(player, game, color)
            player.send_home()
            self._roster.forget(player)

    def _take(self, player: Player, game: LiveGame) -> Player:
        self._roster.running[game.id] = game
        player.take(game)
        self._stir(player)
        return player

    def _table(self, player: Player, game: LiveGame) -> Table | None:
        """Where its connection plays `game`; None where it is away, or not free for it as it has one at a time."""
        session = player.session
        if session is None:
            return None
        if session.says_ready:
            if player.board is not None or player.has(Hold.OWES_READY):
                return None
            player.board = game
        return session.table(game.id)

    def _stir(self, player: Player) -> None:
        player.stir(self._context.time.now())

    def _explain_to_the_only_one(self, player: Player) -> None:
        """A bot that is alone is told so at once; any other one soon has a game."""
        if self._roster.connected == 1:
            self._reminders.explain(player, 1)


class PlayerSeat:
    """The :class:`~cgos_protocol.session.Seat` of one connection in one venue.

    Decides whether what it says is about a game of its own and comes from the connection that holds the seat: once
    another one took its place it says nothing any more.
    """

    __slots__ = ("_lobby", "_player", "_session")

    def __init__(self, lobby: Lobby, player: Player, session: PlayerSession) -> None:
        self._lobby = lobby
        self._player = player
        self._session = session

    @property
    def bot(self) -> BotId:
        return self._player.bot

    @property
    def _valid(self) -> bool:
        return self._player.session is self._session

    def _spoke(self) -> bool:
        """The bot itself said something, which clears the suspicion of a flag; False where its place is taken."""
        player = self._player
        if player.session is not self._session:
            return False
        player.flagged = 0
        return True

    def move(self, text: str, analysis: str | None, received: int) -> None:
        player = self._player
        game = player.board
        if game is not None and player.session is self._session:
            game.move(player.color(game), text, analysis, received)

    def play(self, game: GameId, ply: int, text: str, analysis: str | None, received: int) -> Fault | None:
        player = self._player
        live = player.games.get(game) if self._spoke() else None
        if live is None or live.phase is _OVER:
            return Fault.NO_GAME
        color = player.color(live)
        committed = live.ply
        if ply <= committed:
            return None if live.repeats(ply, text) else Fault.CONTRADICTION
        if ply > committed + 1:
            return Fault.GAP
        if live.phase is _RUNNING and color is live.referee.to_play:
            live.move(color, text, analysis, received)
            return None
        return live.objection(color, text) if live.committing else Fault.NOT_YOUR_TURN

    def ready(self) -> None:
        if self._spoke():
            self._lobby.ready(self._player)

    def seen(self, game: GameId) -> None:
        delivery = self._player.deliveries.pop(game, None) if self._spoke() else None
        if delivery is not None:
            delivery.acknowledged()

    def available(self, availability: Availability) -> None:
        if self._spoke():
            self._lobby.change(self._player, availability)

    def limit(self, limits: Limits) -> None:
        if self._spoke():
            self._lobby.limit(self._player, limits)

    def sync(self, known: Sequence[Known]) -> None:
        if self._spoke():
            self._lobby.sync(self._player, self._session, known)

    def event(self, wish: EventWish, event: str) -> None:
        if self._spoke():
            self._lobby.events.wish(self._player, self._session, wish, event)

    def question(self, wish: QuestionWish | StopWish) -> None:
        if self._spoke():
            self._lobby.questions.wish(self._player, self._session, wish)

    def left(self, orderly: bool) -> None:
        if self._valid:
            self._lobby.left(self._player, orderly)
