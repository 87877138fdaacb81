"""One venue's lobby: who is signed in, who is idle, who plays; lets bots in and brings them to their games.

Decides nothing about moves, pairs or ratings; must not know wire formats, passwords or SQL.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Coroutine, Iterable
from datetime import UTC, datetime
from typing import Any

import structlog

from cgos_server.core.facts import BotArrived, BotLeft
from cgos_server.core.games.base import Color
from cgos_server.errors import Refused, StoreError
from cgos_server.net.loop import Timekeeper
from cgos_server.observability.metrics import LoginOutcome, VenueMeter
from cgos_server.protocol.session import Credentials, PlayerSession
from cgos_server.runtime.bus import Bus
from cgos_server.runtime.live_game import LiveGame, Phase
from cgos_server.runtime.rater import Rater
from cgos_server.runtime.telling import Telling, stored_setup
from cgos_server.service.accounts import Accounts, SignedIn
from cgos_server.storage.records import ConnectionClosed, ConnectionOpened, Record
from cgos_server.storage.store import Store

log = structlog.get_logger(__name__)

RETELL_MS = 3_600_000
"""The end of a game is not repeated when it lies further back than this (Unix ms)."""


class State(enum.StrEnum):
    """What a signed-in version does."""

    IDLE = "idle"
    PAIRED = "paired"
    """Chosen for a game whose beginning is being committed."""
    PLAYING = "playing"
    OWING = "owes ready"
    AWAY = "away"
    """Not signed in; kept while its game runs."""


class Player:
    """One version in one venue: the :class:`~cgos_server.protocol.session.Seat` of its session.

    :ivar since: when its state began (microseconds)
    """

    __slots__ = (
        "_lobby",
        "address",
        "client",
        "color",
        "game",
        "name",
        "session",
        "since",
        "state",
        "telling",
        "version",
    )

    def __init__(self, lobby: Lobby, version: int, name: str) -> None:
        self._lobby = lobby
        self.version = version
        self.name = name
        self.session: PlayerSession | None = None
        self.address = self.client = ""
        self.state = State.AWAY
        self.since = 0
        self.game: LiveGame | None = None
        self.color = Color.BLACK
        self.telling: Telling | None = None

    # -- what its session says

    def move(self, text: str, analysis: str | None, received: int) -> None:
        game = self.game
        if game is not None:
            game.move(self.color, text, analysis, received)

    def ready(self) -> None:
        self._lobby.ready(self)

    def left(self, orderly: bool) -> None:
        self._lobby.left(self, orderly)


class Lobby:
    """The bots of one venue.

    :ivar connected: how many versions are signed in
    :ivar players: by version; those who are away stay while their game runs
    :ivar last_opponent: version -> version, of everybody who ever played here
    :param spawn: starts a coroutine in the server's task group
    :param connection_id: gives the store's number for a new connection
    :param initial: rating with which an unknown version enters
    """

    def __init__(
        self,
        venue: str,
        venue_id: int,
        *,
        store: Store,
        time: Timekeeper,
        bus: Bus,
        rater: Rater,
        accounts: Accounts,
        meter: VenueMeter,
        initial: Callable[[], float],
        ready_limit: int,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        names: dict[int, str],
    ) -> None:
        self.venue = venue
        self.connected = 0
        self.players: dict[int, Player] = {}
        self.last_opponent: dict[int, int] = {}
        self._venue_id = venue_id
        self._store = store
        self._time = time
        self._bus = bus
        self._rater = rater
        self._accounts = accounts
        self._meter = meter
        self._initial = initial
        self._ready_limit = ready_limit
        self._spawn = spawn
        self._names = names
        self._arriving: set[int] = set()
        self._warned: set[int] = set()

    # -- what others may ask

    def idle(self) -> list[Player]:
        """Who could be paired now."""
        return [player for player in self.players.values() if player.state is State.IDLE]

    def count(self, state: State) -> int:
        return sum(player.state is state for player in self.players.values())

    def games(self) -> Iterable[LiveGame]:
        """The running games."""
        return {player.game.id: player.game for player in self.players.values() if player.game is not None}.values()

    def player(self, version: int) -> Player:
        """The entry of a version, made where there is none (away)."""
        player = self.players.get(version)
        if player is None:
            player = self.players[version] = Player(self, version, self._names[version])
        return player

    # -- arriving

    def sign_in(self, session: PlayerSession, credentials: Credentials) -> None:
        """See :class:`~cgos_server.protocol.session.Reception`."""
        self._spawn(self._sign_in(session, credentials, self._time.received()))

    async def _sign_in(self, session: PlayerSession, credentials: Credentials, asked: int) -> None:
        outcome = LoginOutcome.REFUSED
        try:
            signed = await self._accounts.sign_in(credentials)
            outcome = LoginOutcome.ABANDONED
            if session.alive:
                await self._admit(session, credentials, signed, asked)
            if session.alive:
                outcome = LoginOutcome.REGISTERED if signed.new else LoginOutcome.ACCEPTED
        except Refused as refusal:
            outcome = LoginOutcome.REFUSED
            self._meter.refused(refusal.code)
            log.info("sign-in refused", connection=session.id, bot=credentials.name, venue=self.venue,
                     code=refusal.code, address=credentials.address)  # fmt: skip
            session.refused(refusal.sentence)
        except StoreError:
            self._meter.refused("store")
            session.refused("The server cannot reach its database just now. Please try again in a minute.")
        except Exception:
            # Without a word the bot would wait for ever.
            session.refused("The server failed to sign you in, by a fault of its own. Please tell its operator.")
            raise
        finally:
            self._meter.login(outcome)

    async def _admit(self, session: PlayerSession, credentials: Credentials, signed: SignedIn, asked: int) -> None:
        version = signed.version_id
        present = self.players.get(version)
        if version in self._arriving or (present is not None and present.session is not None):
            if present is not None and present.session is not None:
                present.session.info("Another sign-in with your name was refused, because you are here.")
            raise Refused(
                "already-here",
                f"{signed.name} is signed in here already. If that connection is dead, the server notices within "
                "30 seconds; try again then.",
            )
        self._arriving.add(version)
        try:
            self._names[version] = signed.name
            at = self._time.wall_ms()
            records: list[Record] = [
                ConnectionOpened(
                    session.id, self._venue_id, version, credentials.address, credentials.client, at
                )
            ]  # fmt: skip
            if not self._rater.ratings.knows(version):
                records += self._rater.ratings.enter(version, self._initial(), at).records
            await self._store.commit(records)
            untold = None
            if present is None or present.game is None:
                untold = await self._store.untold_game(self._venue_id, version, at - RETELL_MS)
        finally:
            self._arriving.discard(version)
        if not session.alive:
            self._store.submit([ConnectionClosed(self._time.wall_ms(), "lost during sign-in", session.id)])
            return
        player = self.player(version)
        player.session = session
        self.connected += 1
        player.address, player.client = credentials.address, credentials.client
        session.accepted(player)
        log.info("signed in", connection=session.id, bot=signed.name, venue=self.venue, address=credentials.address,
                 client=credentials.client)  # fmt: skip
        self._bus.publish(BotArrived(self.venue, player.name))
        if player.game is not None and player.game.phase is not Phase.OVER:
            self._enter(player, State.PLAYING)
            player.game.returned(player.color, session, asked)
        elif player.state is State.PAIRED:
            pass  # it left and came back while its game's beginning was being committed; `began` brings it there
        elif untold is not None:
            color = Color.BLACK if untold.black_id == version else Color.WHITE
            told = untold.black_told if color is Color.BLACK else untold.white_told
            player.telling = Telling(self._store, untold.id, color, told)
            self._enter(player, State.OWING)
            session.setup(stored_setup(untold))
            date = datetime.fromtimestamp((untold.ended_at or at) / 1000, UTC).strftime("%Y-%m-%d")
            session.game_over(date, untold.result or "Abort", untold.detail)
            player.telling.written()
        else:
            self._make_idle(player)

    def _make_idle(self, player: Player) -> None:
        self._enter(player, State.IDLE)
        if self.connected == 1:
            self._explain_waiting(player, self._running())

    def _explain_waiting(self, player: Player, games: int) -> None:
        if player.session is None:
            return
        others = self.connected - 1
        if others == 0:
            why = "You are the only bot here. Your game begins as soon as another one signs in."
        else:
            why = f"You wait for an opponent; {others} other bots are here."
        player.session.info(f"{why} Games in progress: {games} Players: {others + 1}")

    def _running(self) -> int:
        return sum(1 for _ in self.games())

    # -- between games

    def ready(self, player: Player) -> None:
        """The bot asks for its next game."""
        if player.state is State.OWING:
            self._acknowledged(player)
            self._make_idle(player)

    def left(self, player: Player, orderly: bool) -> None:
        """The bot's connection is gone."""
        session = player.session
        if session is None:
            return
        player.session = None
        self.connected -= 1
        if orderly and player.state is State.OWING:
            self._acknowledged(player)
        player.telling = None
        log.info("left", connection=session.id, bot=player.name, venue=self.venue, state=player.state.value,
                 orderly=orderly)  # fmt: skip
        if player.game is not None:
            self._enter(player, State.AWAY)
            player.game.left(player.color)
        elif player.state is not State.PAIRED:
            del self.players[player.version]
        reason = "orderly" if orderly else "lost"
        self._store.submit([ConnectionClosed(self._time.wall_ms(), reason, session.id)])
        self._bus.publish(BotLeft(self.venue, player.name))

    def began(self, game: LiveGame) -> None:
        """A game of this venue is committed: bring its players to it."""
        for color in Color:
            player = self.player(game.sides[color].version)
            player.game, player.color = game, color
            self._enter(player, State.PLAYING if player.session is not None else State.AWAY)
            self.last_opponent[player.version] = game.sides[color.other].version
        black, white = (self.players[side.version].session for side in game.sides)
        game.begin(black, white)

    def restored(self, game: LiveGame) -> None:
        """A game was read back after a restart; both players are away."""
        for color in Color:
            player = self.player(game.sides[color].version)
            player.game, player.color = game, color

    def ended(self, game: LiveGame) -> None:
        """A game's end was committed and told."""
        for color in Color:
            player = self.player(game.sides[color].version)
            player.game = None
            if player.session is None:
                del self.players[player.version]
            else:
                player.telling = game.telling(color)
                self._enter(player, State.OWING)

    def release(self, players: Iterable[Player]) -> None:
        """Those chosen for pairing are free again."""
        for player in players:
            if player.state is State.PAIRED:
                player.state = State.IDLE
                if player.session is None:
                    del self.players[player.version]

    def _acknowledged(self, player: Player) -> None:
        if player.telling is not None:
            player.telling.acknowledged()
            player.telling = None

    def _enter(self, player: Player, state: State) -> None:
        player.state = state
        player.since = self._time.now()
        self._warned.discard(player.version)

    # -- now and then

    def remind(self) -> None:
        """Called about once a second: tell bots that owe `ready` that they are not paired until it comes."""
        now = self._time.now()
        for player in self.players.values():
            late = player.state is State.OWING and now - player.since > self._ready_limit
            if late and player.session is not None and player.version not in self._warned:
                self._warned.add(player.version)
                player.session.info(
                    "You have not answered gameover with ready, so you get no further game. "
                    "Send ready to be paired again."
                )

    def keep_alive(self) -> None:
        """Called about once a minute: a word to every waiting bot, which also keeps address translators awake."""
        games = self._running()
        for player in self.idle():
            self._explain_waiting(player, games)

    def dismiss(self, version: int, sentence: str) -> bool:
        """Tell a version's connection why it must go, and close it."""
        player = self.players.get(version)
        if player is None or player.session is None:
            return False
        player.session.refused(sentence)
        return True
