"""One venue's lobby: who is signed in, who is idle, who plays; lets bots in and brings them to their games.

Decides nothing about moves, pairs or ratings; must not know wire formats, passwords or SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import structlog

from cgos_protocol.errors import CgosError, Code, Conflict, Refused, StoreError
from cgos_protocol.facts import BotArrived, BotLeft
from cgos_protocol.games.base import Color
from cgos_protocol.session import (
    Availability,
    Credentials,
    Known,
    Limits,
    OperatorDesk,
    PlayerSession,
    Table,
    Wish,
)
from cgos_server.net.loop import Timekeeper
from cgos_server.observability.metrics import LoginOutcome, VenueMeter
from cgos_server.runtime.admission import Admission, Expected, admit, presumed_name
from cgos_server.runtime.allowances import Allowances
from cgos_server.runtime.bus import FactBus
from cgos_server.runtime.contention import Contention
from cgos_server.runtime.live_game import LiveGame, Phase
from cgos_server.runtime.openings import Openings
from cgos_server.runtime.owners import PAUSED, Owners
from cgos_server.runtime.player import Capacity, Player, State
from cgos_server.runtime.rater import Rater
from cgos_server.runtime.seat import PlayerSeat
from cgos_server.runtime.setbacks import Setbacks
from cgos_server.runtime.telling import Telling, stored_over, stored_setup
from cgos_server.service.accounts import Accounts, Operator
from cgos_server.service.families import Families
from cgos_server.storage.reading.stored import StoredGame
from cgos_server.storage.records import ConnectionClosed, ConnectionOpened, Record
from cgos_server.storage.store import Store

log = structlog.get_logger(__name__)

RETELL_MS = 3_600_000
"""The end of a game is not repeated when it lies further back than this (Unix ms)."""

ASKED_MAX = 2_048
"""Games of the past that a bot may have asked for and not been told yet."""


class Lobby:
    """The bots of one venue.

    :ivar allowances: what bots and their owners allow
    :ivar connected: how many versions are signed in
    :ivar expected: who is on the way in
    :ivar players: by version; those who are away stay while a game of theirs runs
    :ivar owners: what owners want of their bots
    :ivar last_opponent: version -> version, of everybody who ever played here
    :param spawn: starts a coroutine in the server's task group
    :param initial: rating with which an unknown version enters
    :param names: version id -> wire name; arrivals add to it
    :param families: who belongs together; arrivals are added
    :param operator: gives an operator from an address its desk; raises Refused where it may not
    :ivar setbacks: who is set aside
    """

    def __init__(
        self,
        venue: str,
        venue_id: int,
        *,
        store: Store,
        time: Timekeeper,
        bus: FactBus,
        rater: Rater,
        accounts: Accounts,
        meter: VenueMeter,
        initial: Callable[[], float],
        ready_limit: int,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        names: dict[int, str],
        families: Families,
        operator: Callable[[Operator, str], OperatorDesk],
        setbacks: Setbacks,
        openings: Openings,
    ) -> None:
        self.venue = venue
        self.connected = 0
        self.stopping = False
        self.expected = Expected()
        self.players: dict[int, Player] = {}
        self.setbacks = setbacks
        self._openings = openings
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
        self._families = families
        self._operator = operator
        self._contention = Contention(time, ready_limit)
        self._games: dict[int, LiveGame] = {}
        self._arriving: set[int] = set()
        self._warned: set[int] = set()
        self.owners = Owners(self)
        self.allowances = Allowances(
            venue_id=venue_id, venue=venue, store=store, time=time, spawn=spawn, stir=self.stir
        )

    # -- what others may ask

    def idle(self) -> list[Player]:
        """Who could be paired now."""
        return [player for player in self.players.values() if player.available]

    def count(self, state: State) -> int:
        return sum(player.state is state for player in self.players.values())

    def games(self) -> Iterable[LiveGame]:
        """The running games."""
        return self._games.values()

    def begun(self) -> int:
        """Games that run, or whose beginning is being committed."""
        return len(self._games) + sum(player.chosen for player in self.players.values()) // 2

    def game(self, number: int) -> LiveGame | None:
        """A running game."""
        return self._games.get(number)

    def player(self, version: int) -> Player:
        """The entry of a version, made where there is none (away)."""
        player = self.players.get(version)
        if player is None:
            player = Player(version, self._names[version], self._families.bot(version))
            self.players[version] = player
        return player

    # -- arriving

    def sign_in(self, session: PlayerSession, credentials: Credentials) -> None:
        """See :class:`~cgos_protocol.session.Reception`."""
        self._spawn(self._sign_in(session, credentials, self._time.received()))

    async def _sign_in(self, session: PlayerSession, credentials: Credentials, asked: int) -> None:
        async def enter() -> bool:
            with self.expected.expecting(presumed_name(credentials), asked):
                signed = await self._accounts.sign_in(credentials)
                if not session.alive:
                    return False
                if isinstance(signed, Operator):
                    session.operator(self._operator(signed, credentials.address))
                    log.info(
                        "operator signed in",
                        connection=session.id,
                        account=signed.name,
                        venue=self.venue,
                        address=credentials.address,
                    )
                    return False
                await admit(
                    [(self, session)],
                    Admission(credentials=credentials, signed=signed, asked=asked, capacity=Capacity(1), wish=Wish()),
                )
                return signed.new

        await self.receive(session, credentials, enter)

    async def receive(
        self, session: PlayerSession, credentials: Credentials, enter: Callable[[], Coroutine[Any, Any, bool]]
    ) -> None:
        """Run a sign-in; whatever comes of it, the session hears it and it is counted.

        :param enter: does it; True where it registered a new name. Whom it has told a refusal, it has closed
        """
        outcome = LoginOutcome.ABANDONED
        try:
            new = await enter()
            if session.alive:
                outcome = LoginOutcome.REGISTERED if new else LoginOutcome.ACCEPTED
        except Refused as refusal:
            outcome = LoginOutcome.REFUSED
            self._meter.refused(refusal.code)
            log.info(
                "sign-in refused",
                connection=session.id,
                bot=credentials.name,
                venue=self.venue,
                code=refusal.code,
                address=credentials.address,
            )
            if session.alive:
                session.refused(refusal.code, refusal.sentence, refusal.retry_after_s)
        except StoreError:
            outcome = LoginOutcome.REFUSED
            self._meter.refused(Code.STORE)
            session.refused(
                Code.STORE, "The server cannot reach its database just now. Please try again in a minute.", 60.0
            )
        except Exception:
            outcome = LoginOutcome.REFUSED
            # Without a word the bot would wait for ever.
            session.refused(
                Code.OUR_FAULT, "The server failed to sign you in, by a fault of its own. Please tell its operator."
            )
            raise
        finally:
            self._meter.login(outcome)

    @contextmanager
    def arriving(self, admission: Admission) -> Iterator[None]:
        """Keep the version's place until the end of the block: nobody else comes in under its name meanwhile.

        :raises Refused: where it is kept already
        """
        signed = admission.signed
        if signed.version_id in self._arriving:
            raise Conflict(
                Code.ALREADY_ARRIVING, f"Another sign-in as {signed.name} is being looked at. Try again.", 5.0
            )
        self._arriving.add(signed.version_id)
        try:
            with self.expected.expecting(signed.name, admission.asked):
                yield
        finally:
            self._arriving.discard(signed.version_id)

    async def make_room(self, admission: Admission) -> None:
        """Have a connection of the version that is there already give way.

        :raises Refused: where it stays
        """
        present = self.players.get(admission.signed.version_id)
        if present is not None and present.session is not None:
            await self._contention.settle(present, admission.credentials.address)
            self._replace(present)

    def turned_away(self, session: PlayerSession) -> None:
        """Its arrival was written down, and it does not come in."""
        self._store.submit([ConnectionClosed(self._time.wall_ms(), "lost during sign-in", session.id)])

    def _replace(self, player: Player) -> None:
        """The connection that is there gives way."""
        session = player.session
        if session is None:
            return  # it went by itself meanwhile
        log.info("connection replaced by a new sign-in", connection=session.id, bot=player.name, venue=self.venue)
        self.left(player, orderly=False)
        session.refused("replaced", "Another client signed in under your name, and this connection did not answer.")

    async def enroll(self, session: PlayerSession, admission: Admission) -> None:
        """Write the arrival down. Raises StoreError."""
        signed, credentials = admission.signed, admission.credentials
        version = signed.version_id
        self._names[version] = signed.name
        self._families.arrived(version, signed.bot_id)
        at = self._time.wall_ms()
        records: list[Record] = [
            ConnectionOpened(session.id, self._venue_id, version, credentials.address, credentials.client, at)
        ]
        ratings = self._rater.ratings
        if not ratings.knows(version):
            other = self._families.predecessor(version, ratings.standings())
            records += ratings.enter(version, self._initial(), at, other).records
        await self._store.commit(records)

    def running(self, version: int) -> frozenset[int]:
        """The games that a version plays, or is away from."""
        player = self.players.get(version)
        return frozenset() if player is None else frozenset(player.games)

    async def untold(self, version: int, session: PlayerSession) -> list[StoredGame]:
        """The games whose end the version was not surely told. Raises StoreError."""
        if session.says_ready and self.running(version):
            return []  # one game at a time: the one that runs
        return await self._store.history.games.untold(self._venue_id, version, self._time.wall_ms() - RETELL_MS)

    def seat(self, session: PlayerSession, admission: Admission, untold: Sequence[StoredGame]) -> None:
        """Bring a bot that has arrived to its running games, and tell it what it missed."""
        signed, credentials, wish = admission.signed, admission.credentials, admission.wish
        self._contention.settled(signed.version_id, credentials.address)
        player = self.player(signed.version_id)
        player.session = session
        self.connected += 1
        player.address, player.client = credentials.address, credentials.client
        player.capacity = admission.capacity
        player.capacity.used += len(player.games) + player.reserved
        player.availability = Availability.READY
        player.owing = False
        player.flagged = 0
        player.signed_in_at = self._time.wall_ms()
        self.owners.seated(player, signed)
        session.accepted(PlayerSeat(self, player, session), signed.name)
        log.info(
            "signed in",
            connection=session.id,
            bot=signed.name,
            venue=self.venue,
            address=credentials.address,
            client=credentials.client,
        )
        self._bus.publish(BotArrived(self.venue, player.name))
        self.stir(player)
        self.setbacks.signed_in(player)
        self.allowances.seated(player, wish.limits)
        if player.paused:
            session.info(PAUSED)
        for game in list(player.games.values()):
            table = self._table(player, game)
            if table is not None:
                game.returned(player.color(game), table, admission.asked)
        if session.says_ready:  # one game at a time, be it one that runs or one that is over
            untold = () if player.games or player.reserved else untold[-1:]
        for stored in untold:
            self._tell_end(player, session, stored)
        told = {stored.id for stored in untold}
        rest = [known for known in wish.known if known.game not in told and known.game not in player.games]
        if rest:
            self.sync(player, session, rest)
        waits = not player.games and not player.owing and not player.aside and not player.paused
        if waits and not player.closed and self.connected == 1:
            self._explain_waiting(player, self._running())

    def _tell_end(self, player: Player, session: PlayerSession, stored: StoredGame) -> None:
        """Show an ended game and how it ended."""
        color = Color.BLACK if stored.black_id == player.version else Color.WHITE
        telling = Telling(
            self._store, stored.id, color, stored.black_told if color is Color.BLACK else stored.white_told
        )
        try:
            setup = stored_setup(stored, self.venue)
        except (CgosError, ValueError) as error:
            log.error("the end of a stored game cannot be told", game=stored.id, venue=self.venue, exc_info=error)
            return
        table = session.table(stored.id)
        table.setup(setup, color)
        table.game_over(stored_over(stored))
        telling.written()
        player.told(stored.id, telling)
        player.owing = player.owing or session.says_ready

    def sync(self, player: Player, session: PlayerSession, known: Sequence[Known]) -> None:
        """Tell what follows what the client knows: of running games at once, of ended ones from the store."""
        rest: list[int] = []
        for number in dict.fromkeys(game for game, _ in known):
            live = player.games.get(number)
            if live is None or live.phase is Phase.OVER:
                rest.append(number)
            else:
                live.retell(player.color(live))
        looking = bool(player.asked)
        player.asked.update(dict.fromkeys(rest))
        if len(player.asked) > ASKED_MAX:
            session.info("You ask for more games than can be looked up at once; ask again for those that are missing.")
            for number in list(player.asked)[ASKED_MAX:]:
                del player.asked[number]
        if rest and not looking:
            player.capacity.owed += 1
            self._spawn(self._answer(player, session, player.capacity))

    async def _answer(self, player: Player, session: PlayerSession, capacity: Capacity) -> None:
        try:
            await self._tell_ended(player, session)
        finally:
            capacity.owed -= 1
            if player.session is session:
                self._send_home(player)

    async def _tell_ended(self, player: Player, session: PlayerSession) -> None:
        unknown: list[int] = []
        while player.session is session and player.asked:
            number = next(iter(player.asked))
            try:
                stored = await self._store.history.games.stored(number)
            except StoreError:
                if player.session is session:
                    player.asked.clear()
                session.info("The server cannot reach its database just now; ask again for the games that are missing.")
                return
            if player.session is not session:
                return
            del player.asked[number]
            if (
                stored is None
                or stored.venue_id != self._venue_id
                or player.version
                not in (
                    stored.black_id,
                    stored.white_id,
                )
            ):
                unknown.append(number)
            elif stored.result is not None and number not in player.tellings:
                self._tell_end(player, session, stored)
        if unknown:
            session.unknown(unknown)

    def _explain_waiting(self, player: Player, games: int) -> None:
        if player.session is None:
            return
        if player.aside:
            self.setbacks.tell(player)
            return
        if player.paused:
            player.session.info(PAUSED)
            return
        if self.allowances.tell(player):
            return
        others = self.connected - 1
        if others == 0:
            why = "You are the only bot here. Your game begins as soon as another one signs in."
        else:
            why = f"You wait for an opponent; {others} other bots are here."
        player.session.info(f"{why} Games in progress: {games} Players: {others + 1}")

    def _running(self) -> int:
        return len(self._games)

    # -- between games

    def ready(self, player: Player) -> None:
        """The bot asks for its next game."""
        if player.owing:
            player.owing = False
            player.acknowledged()
            self.stir(player)
            waiting = next(iter(player.games.values()), None)
            table = None if waiting is None else self._table(player, waiting)
            if waiting is not None and table is not None:
                waiting.returned(player.color(waiting), table)
            elif self.connected == 1:
                self._explain_waiting(player, self._running())

    def change(self, player: Player, availability: Availability) -> None:
        """The bot wants games, or none for now, or none any more."""
        player.availability = Availability.DRAINING if player.called_home else availability
        self.stir(player)
        if availability is Availability.READY:
            self.setbacks.wants_to_play(player)
        self._send_home(player)

    def limit(self, player: Player, limits: Limits) -> None:
        """What the bot says of its limits; its owner may allow less."""
        self.allowances.limit(player, limits)

    def left(self, player: Player, orderly: bool) -> None:
        """The bot's connection is gone."""
        session = player.session
        if session is None:
            return
        state = player.state
        player.session = None
        self.connected -= 1
        if orderly:
            player.acknowledged()
        player.tellings.clear()
        player.asked.clear()
        player.board = None
        player.capacity.used -= len(player.games) + player.reserved  # its other venues are a moment behind
        player.capacity = Capacity(1)
        player.owing = False
        log.info("left", connection=session.id, bot=player.name, venue=self.venue, state=state.value, orderly=orderly)
        for game in list(player.games.values()):
            game.left(player.color(game))
        self._forget(player)
        reason = "orderly" if orderly else "the server was stopped" if self.stopping else "lost"
        self._store.submit([ConnectionClosed(self._time.wall_ms(), reason, session.id)])
        self._bus.publish(BotLeft(self.venue, player.name))

    def began(self, game: LiveGame) -> None:
        """A game of this venue is committed: bring its players to it."""
        players = [self.player(side.version) for side in game.sides]
        for player in players:
            player.release()
            self._take(player, game)
            player.begun += 1
        try:
            game.begin(*(self._table(player, game) for player in players))
        except Exception as error:
            game.fail(error)

    def restored(self, game: LiveGame) -> None:
        """A game was read back after a restart; both players are away."""
        for color in Color:
            self._take(self.player(game.sides[color].version), game)

    def ended(self, game: LiveGame) -> None:
        """A game's end was committed and told."""
        self._games.pop(game.id, None)
        self._openings.ended(game)
        for color in Color:
            player = self.player(game.sides[color].version)
            player.games.pop(game.id, None)
            session = player.session
            if player.board is game:
                player.board = None
            if session is not None:
                player.capacity.give_back(self._time.now())
            if session is not None and game.present(color):
                player.told(game.id, game.telling(color))
                player.owing = session.says_ready
                if game.flagged is color:
                    player.flagged = self._time.now()
            self.stir(player)
            self.setbacks.ended(player, game, color)
            self._send_home(player)
            self._forget(player)

    def release(self, players: Iterable[Player]) -> None:
        """Those chosen for pairing are free again."""
        for player in players:
            player.release()
            self._send_home(player)
            self._forget(player)

    def _take(self, player: Player, game: LiveGame) -> None:
        self._games[game.id] = game
        player.games[game.id] = game
        player.capacity.used += 1
        self.stir(player)

    def _table(self, player: Player, game: LiveGame) -> Table | None:
        """Where its connection plays `game`; None where it is away, or not free for it as it has one at a time."""
        session = player.session
        if session is None:
            return None
        if session.says_ready:
            if player.board is not None or player.owing:
                return None
            player.board = game
        return session.table(game.id)

    def stir(self, player: Player) -> None:
        """What the bot does has changed: its waiting begins anew."""
        player.since = self._time.now()
        self._warned.discard(player.version)

    def _send_home(self, player: Player) -> None:
        """A bot that wants no more games leaves when all its venues are done, and have told it what it asked."""
        draining = player.availability is Availability.DRAINING
        done = player.capacity.used == 0 and player.capacity.owed == 0
        if draining and player.session is not None and done:
            whose = "your owner" if player.called_home else "you"
            player.session.refused("drained", f"Your last game is over, as {whose} wished. Goodbye.")

    def _forget(self, player: Player) -> None:
        """Nobody needs the entry of a bot that is away and plays nothing."""
        if player.session is None and not player.games and not player.reserved:
            self.players.pop(player.version, None)

    # -- now and then

    def remind(self) -> None:
        """Called about once a second: tell bots that owe `ready` that they are not paired until it comes, and look at
        who is set aside or at a limit."""
        now = self._time.now()
        for player in self.players.values():
            self.setbacks.look(player)
            late = player.owing and now - player.since > self._ready_limit
            if late and player.session is not None and player.version not in self._warned:
                self._warned.add(player.version)
                player.session.info(
                    "You have not answered gameover with ready, so you get no further game. "
                    "Send ready to be paired again."
                )
            self.allowances.look(player)

    def keep_alive(self) -> None:
        """Called about once a minute: a word to every waiting bot, which also keeps address translators awake."""
        games = self._running()
        for player in self.players.values():
            if player.state in (State.IDLE, State.ASIDE):
                self._explain_waiting(player, games)

    def recall(self, version: int) -> bool:
        """An operator ends that a version is set aside; False where it was not."""
        player = self.players.get(version)
        recalled = self.setbacks.recall(version, player)
        if recalled and player is not None:
            self.stir(player)
        return recalled

    def dismiss(self, version: int, sentence: str) -> bool:
        """Tell a version's connection why it must go, and close it."""
        player = self.players.get(version)
        if player is None or player.session is None:
            return False
        player.session.refused("dismissed", sentence)
        return True
