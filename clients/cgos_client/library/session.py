"""A bot or a watcher on a server, for programs: ``async with connect(...) as session``.

Carries out what :mod:`cgos_client.library.games` and :mod:`cgos_client.library.watching` decide. Must not know:
sockets, when to try again, how a bot chooses its moves.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

from cgos_client.addresses import server_address
from cgos_client.errors import CgosClientError, QuestionRefused, SessionClosed, WatchRefused
from cgos_client.library import games as core
from cgos_client.library.codec import Codec, Encoding
from cgos_client.library.connection_keeper import ConnectionKeeper
from cgos_client.library.game import Game
from cgos_client.library.link import Endpoint
from cgos_client.library.notifier import Notifier
from cgos_client.library.questions import Answer, Questions
from cgos_client.library.tournaments import EventEffect, Events, Heard, Refusal
from cgos_client.library.watching import GameWatch, VenueEvent, VenueWatch, View, Watches
from cgos_client.retry import Pauses, Retries
from cgos_client.settings import BadSetting, bot_name, checked_hours, event_name
from cgos_client.version import __version__
from cgos_protocol.errors import Code
from cgos_protocol.ids import GameId
from cgos_protocol.names import password_fault
from cgos_protocol.session import NARROWEST_STEP, WIDEST_STEP
from cgos_protocol.v2 import messages as ws

log = logging.getLogger(__name__)

LEAVING_SECONDS = 5.0
"""How long leaving may take: what was said last is sent, and the connection closed in order."""

DRAINED_SECONDS = 15.0
"""How long a server may take to say that a bot without games is drained, before the bot goes all the same."""

ENTER_AGAIN_SECONDS = 60.0
"""An event that could not be entered, for a reason that may pass, is tried again after so long."""


class Session:
    """A stay on a server, over as many connections as it takes. Made by :func:`connect`.

    :ivar name: the bot's wire name, as the server shows it; empty for watchers
    :ivar venues: the venues in which the bot is seated
    """

    def __init__(self, keeper: ConnectionKeeper, sign_in: ws.SignIn | None, events: Iterable[str] = ()) -> None:
        self.name = ""
        self.venues: tuple[str, ...] = ()
        self._keeper = keeper
        self._core = core.Games(sign_in=sign_in)
        self._watches = Watches()
        self._events = Events(wanted=dict.fromkeys(events))
        self._entering: asyncio.TimerHandle | None = None
        self._questions = Questions()
        self._games: dict[int, Game] = {}
        self._fresh: deque[Game] = deque()
        self._changes = Notifier()
        self._over = False
        self._failure: CgosClientError | None = None
        self._drain_timer: asyncio.TimerHandle | None = None

    # -- what it knows

    @property
    def welcome(self) -> ws.Welcome | None:
        """What the server said of itself and its venues; None before it was reached."""
        return self._core.welcome

    @property
    def connected(self) -> bool:
        """True while there is a connection and, for a bot, it is signed in."""
        return self._core.admitted

    @property
    def latency_ms(self) -> float | None:
        """The way to the server and back in milliseconds, as the server measures it; None while it has not said."""
        return self._core.latency_ms

    @property
    def playing(self) -> list[Game]:
        """The games that have not ended."""
        return list(self._games.values())

    # -- what a bot does

    async def games(self) -> AsyncIterator[Game]:
        """The bot's games, each once: new ones as they begin, and unfinished ones from an earlier run.

        Ends after :meth:`drain`, once the last game is over, and when the session is closed. Raises CgosClientError
        where the session cannot go on.
        """
        while True:
            while self._fresh:
                yield self._fresh.popleft()
            if self._over:
                if self._failure is not None:
                    raise self._failure
                return
            await self._changes.wait()

    async def play(self, play: Callable[[Game], Awaitable[object]]) -> None:
        """Run `play` for every game, as many at once as there are; ends as :meth:`games` does.

        What `play` raises ends the other games' calls too and comes out in an ExceptionGroup.
        """
        failure: CgosClientError | None = None

        async def play_game(game: Game) -> None:
            await play(game)

        async with asyncio.TaskGroup() as tasks:
            try:
                async for game in self.games():
                    tasks.create_task(play_game(game))
            except CgosClientError as error:
                failure = error
        if failure is not None:
            raise failure

    async def drain(self) -> None:
        """No new game any more. When the last one is over :meth:`games` ends."""
        self._do(self._core.want(core.Wish.DRAIN))

    async def pause(self) -> None:
        """No new game until :meth:`ready`; running games go on."""
        self._do(self._core.want(core.Wish.PAUSE))

    async def ready(self) -> None:
        """New games again, after :meth:`pause`."""
        self._do(self._core.want(core.Wish.GAMES))

    async def limits(
        self, games_a_day: int | None = None, avoid: Iterable[str] = (), hours: str = "", accepts: Iterable[str] = ()
    ) -> None:
        """What the bot's owner allows, in place of what held before.

        :param games_a_day: most games begun within 24 hours; None: no limit
        :param avoid: wire names that it must not meet
        :param hours: when its games may begin, in UTC: ``22-6``, ``Mon-Fri 18-24, Sat``; empty: always
        :param accepts: accounts and bots of other owners in whose questions it plays, ``*`` for everybody's
        :raises BadSetting: where the hours cannot be read
        """
        self._do(self._core.limit(_limits(games_a_day, avoid, hours, accepts)))

    # -- events

    async def enter_event(self, event: str) -> None:
        """Play in the event of that name, as soon as it takes the bot. Holds over reconnections; what the server says
        comes out of :meth:`event_news`. When the server asks who will be there, the session checks in, whoever entered
        the bot. Raises BadSetting where that can be no event's name."""
        self._events_do(self._events.enter(event_name(event)))

    async def withdraw_event(self, event: str) -> None:
        """Play in that event no more; once it has started, the bot's open games there are forfeited."""
        self._events_do(self._events.withdraw(event))

    async def event_news(self) -> AsyncIterator[ws.EventTold]:
        """What happens in the bot's events, each once, for one reader; ends as :meth:`games` does."""
        while True:
            while self._events.news:
                yield self._events.news.popleft()
            if self._over:
                if self._failure is not None:
                    raise self._failure
                return
            await self._changes.wait()

    # -- questions

    async def ask(self, wish: ws.Ask) -> ws.Asked:
        """Ask about the bot's own strength, for the account that owns it; what it is expected to cost. The session
        chooses `ref`. Raises QuestionRefused, also where there is no connection, and SessionClosed.

        What comes of it is told by :meth:`question_news`.
        """
        message = self._questions.ask(wish)
        answer = await self._answer(message, message.ref)
        assert isinstance(answer, ws.Asked)
        return answer

    async def stop_question(self, question: int) -> ws.QuestionTold:
        """Have no further game of this question about the bot begin; how it stands then. Raises as :meth:`ask`."""
        message = self._questions.stop(question)
        answer = await self._answer(message, message.ref)
        assert isinstance(answer, ws.QuestionTold)
        return answer

    async def _answer(self, message: ws.Ask | ws.StopQuestion, ref: str) -> Answer:
        """Say it, and wait for what the server says to it."""
        try:
            if self._over:
                raise self._failure or SessionClosed()
            if not self.connected:
                raise QuestionRefused("connection-lost", "the bot is not signed in just now")
            self._keeper.say(message)
            while (answer := self._questions.answers[ref]) is None:
                await self._changes.wait()
        finally:
            self._questions.forget(ref)
        if isinstance(answer, QuestionRefused):
            raise answer
        return answer

    async def question_news(self) -> AsyncIterator[ws.QuestionTold]:
        """How the questions about the bot stand: those that are open after every sign-in, and one that was asked, has
        ended, is stopped or resumed. For one reader; ends as :meth:`games` does."""
        while True:
            while self._questions.news:
                yield self._questions.news.popleft()
            if self._over:
                if self._failure is not None:
                    raise self._failure
                return
            await self._changes.wait()

    # -- what watchers do

    async def watch(self, venue: str) -> AsyncIterator[VenueEvent]:
        """What happens in a venue, moves excepted: a picture first, then facts; a picture again after each
        reconnection and where too many facts waited. Raises WatchRefused where there is no such venue.

        One watcher a venue and session. Needs no sign-in.
        """
        self._check_venue(venue)
        if venue in self._watches.venues:
            raise WatchRefused("watched", f"{venue} is watched in this session already")
        watch = self._watches.venues[venue] = VenueWatch(venue=venue)
        self._keeper.say(ws.WatchVenue(venue))
        try:
            while True:
                while watch.events:
                    yield watch.events.popleft()
                if watch.skipping:
                    self._keeper.say(ws.WatchVenue(venue))
                await self._until_news(watch)
        finally:
            del self._watches.venues[venue]
            self._keeper.say(ws.Unwatch(venue))

    async def watch_game(self, venue: str, game: int) -> AsyncIterator[View]:
        """A game as it goes, running or archived: its latest state each time that it changed, the last one with its
        result. Who looks seldom misses states, not moves. Raises WatchRefused where there is no such game.
        """
        self._check_venue(venue)
        number = GameId(game)
        if number in self._watches.games:
            raise WatchRefused("watched", f"game {game} is watched in this session already")
        watch = self._watches.games[number] = GameWatch(venue=venue, game=number)
        self._keeper.say(ws.WatchGame(venue, number))
        try:
            while True:
                view = watch.view()
                if view is None or not watch.fresh:
                    await self._until_news(watch)
                    continue
                watch.fresh = False
                yield view
                if view.result is not None:
                    return
        finally:
            del self._watches.games[number]
            self._keeper.say(ws.Unwatch(venue, number))

    async def _until_news(self, watch: VenueWatch | GameWatch) -> None:
        if watch.refusal is not None:
            raise watch.refusal
        if self._over:
            raise self._failure or SessionClosed()
        await self._changes.wait()

    def _check_venue(self, venue: str) -> None:
        known = [] if self.welcome is None else [info.name for info in self.welcome.venues]
        if venue not in known:
            raise WatchRefused(Code.NO_VENUE, f"the server has no venue {venue!r}; it has {', '.join(known) or 'none'}")

    # -- what goes on below

    def hear(self, message: ws.ServerMessage) -> CgosClientError | None:
        """Take a message of the server; an error is why the connection must end. For the keeper of the connection."""
        if isinstance(message, ws.Latency) and self.latency_ms is None:
            log.info("the way to the server and back takes %.1f ms", message.round_trip_ms)
        error = self._do(self._core.receive(message))
        if isinstance(message, ws.Welcome) and error is None:
            for request in self._watches.requests():
                self._keeper.say(request)
        for request in self._watches.receive(message):
            self._keeper.say(request)
        self._events_do(self._events.receive(message))
        self._questions.receive(message)
        self._changes.notify()
        return error

    def _events_do(self, effects: list[EventEffect]) -> None:
        for effect in effects:
            match effect:
                case Heard(news):
                    log.info("event %s: %s", news.event, news.text)
                case Refusal(event, _, text, again):
                    more = f" Trying again every {ENTER_AGAIN_SECONDS:.0f} seconds." if again else ""
                    log.warning("event %s: %s%s", event, text, more)
                case _ if self.connected:
                    self._keeper.say(effect)
        if self._events.refused and self._entering is None:
            loop = asyncio.get_running_loop()
            self._entering = loop.call_later(ENTER_AGAIN_SECONDS, self._enter_again)

    def _enter_again(self) -> None:
        self._entering = None
        self._events_do(self._events.ask_again())

    def _do(self, effects: list[core.Effect]) -> CgosClientError | None:
        """Carry out effects. An error is why the connection must end."""
        for effect in effects:
            match effect:
                case core.Send(message):
                    self._keeper.say(message)
                case core.Admitted(signed_in):
                    self._admitted(signed_in)
                case core.Began(number):
                    game = self._games[number] = Game(self._core.seats[number], self._core, self._do)
                    self._fresh.append(game)
                case core.TurnGiven(number) | core.Changed(number):
                    self._games[number].wake()
                case core.Ended(number):
                    self._games.pop(number).wake()
                    self._core.retire(number)
                case core.Notice(text, venue, code):
                    where = f", {venue}" if venue and len(self.venues) > 1 else ""
                    log.log(logging.WARNING if code else logging.INFO, "server%s: %s", where, text)
                case core.Finished():
                    self._keeper.leave()
                case core.Fatal(error):
                    return error
        self._look_at_drain()
        return None

    def _admitted(self, signed_in: ws.SignedIn) -> None:
        self.name, self.venues = signed_in.name, tuple(signed_in.venues)
        count = len(self._games)
        running = f", {count} game{'s' if count > 1 else ''} to go on with" if count else ""
        log.info("signed in as %s in %s%s", self.name, ", ".join(self.venues), running)

    def _look_at_drain(self) -> None:
        """A bot that wants no game and has none goes: at once where there is no server to say so, else soon."""
        if self._core.wish is not core.Wish.DRAIN or self._core.playing:
            if self._drain_timer is not None:
                self._drain_timer.cancel()
                self._drain_timer = None
        elif not self._core.admitted:
            self._keeper.leave()
        elif self._drain_timer is None:
            self._drain_timer = asyncio.get_running_loop().call_later(DRAINED_SECONDS, self._keeper.leave)

    def lost(self) -> None:
        """The connection is gone. For its keeper."""
        self._core.lost()
        self._questions.lost()
        self._look_at_drain()
        self._changes.notify()

    async def stay(self) -> None:
        """Keep connected until the session is over; what ended it comes out of the iterators. For :func:`connect`."""
        try:
            self._failure = await self._keeper.run(self)
        finally:
            self._over = True
            for timer in (self._drain_timer, self._entering):
                if timer is not None:
                    timer.cancel()
            for game in self._games.values():
                game.close(self._failure)
            self._changes.notify()

    async def admitted(self) -> None:
        """Wait for the first sign-in, or for watchers the greeting. Raises CgosClientError where there is none."""
        while not self._core.admitted:
            if self._over:
                raise self._failure or SessionClosed()
            await self._changes.wait()

    def leave(self) -> None:
        """Send what waits, and close."""
        self._keeper.leave()


Connecting: TypeAlias = AbstractAsyncContextManager[Session]
"""What :func:`connect` returns: a session for the length of an ``async with`` block."""


@asynccontextmanager
async def _connected(session: Session) -> AsyncIterator[Session]:
    """`session`, admitted, for the length of the block. What the block raises comes out as it is, in no group."""
    staying = asyncio.create_task(session.stay())
    try:
        await session.admitted()
        yield session
    finally:
        session.leave()
        try:
            await asyncio.wait({staying}, timeout=LEAVING_SECONDS)
        finally:
            staying.cancel()
            await asyncio.wait({staying})
            if not staying.cancelled():
                staying.result()


def connect(
    url: str,
    *,
    bot: str | None = None,
    secret: str = "",
    venues: Iterable[str] = (),
    slots: int = 1,
    version: str = "",
    wire_name: str = "",
    predecessor: str | ws.Predecessor = "",
    engine: str = "",
    parameters: Mapping[str, ws.Scalar] | None = None,
    author: str = "",
    new_secret: str | None = None,
    games_a_day: int | None = None,
    avoid: Iterable[str] = (),
    accepts: Iterable[str] = (),
    hours: str = "",
    events: Iterable[str] = (),
    encoding: Encoding | str = Encoding.JSON,
    ca_file: Path | str | None = None,
    reconnect: bool = True,
    client: str = f"cgos-client {__version__}",
    pauses: Pauses | None = None,
) -> Connecting:
    """A session on the server at `url`: ``async with connect("ws://localhost:6868", bot=..., ...) as session``.

    Entering the block signs in; a server that is down is waited for, and so are refusals that pass. Connections that
    end are opened again, with growing pauses or after the time that the server named, and the games go on.

    :param url: ``ws://host:port`` or ``wss://host:port``
    :param bot: the bot's name; without it nothing but watching is possible
    :param secret: its password or a token; an unknown name is registered with the password that it brings
    :param venues: where it plays, by name
    :param slots: games at once over all venues, 1 to 256
    :param version: what is rated, as a version of its own; without it the bot is rated under its own name
    :param wire_name: what the version is called on the server; without it bot, ``-`` and version
    :param predecessor: the version that it comes from, by its wire name, or with what else is known of the step between
        the two; without it the newest one of the bot
    :param engine: what plays, for people
    :param parameters: its settings, for people
    :param author: who made it
    :param new_secret: the password that shall replace `secret`
    :param games_a_day: most games begun within 24 hours; None: no limit
    :param avoid: wire names that it must not meet
    :param accepts: accounts and bots of other owners in whose tests, gauntlets and challenges it plays, by name, or
        ``*`` for everybody's; without a name nobody's
    :param hours: when its games may begin, in UTC: ``22-6``, ``Mon-Fri 18-24, Sat``; empty: always
    :param events: those to enter, by name, as :meth:`Session.enter_event` does
    :param encoding: ``json`` or ``msgpack``
    :param ca_file: certificates (PEM) to trust in place of the system's
    :param reconnect: False: the first connection that cannot be made or ends is the end of the session
    :param pauses: the pauses between attempts
    :raises BadSetting: at once, where an argument cannot be used
    :raises SignInRefused: on entering, where the server does not let the bot in and waiting does not help
    :raises CannotConnect: on entering, where `reconnect` is False or no attempt could succeed
    """
    address = server_address(url, "the address")
    if address.over_tcp:
        raise BadSetting(f"the address {url!r} is not one of a WebSocket: write ws://HOST:PORT or wss://HOST:PORT")
    try:
        written = Encoding(encoding)
    except ValueError:
        raise BadSetting(f"the encoding {encoding!r} is not known: json or msgpack") from None
    sign_in = None
    if bot is not None:
        named = ws.Predecessor(version=predecessor) if isinstance(predecessor, str) else predecessor
        sign_in = ws.SignIn(
            bot=bot_name(bot, "the bot's name"),
            secret=secret,
            venues=list(venues),
            new_secret=new_secret,
            version=version,
            wire_name=wire_name,
            engine=engine[:200],
            parameters=dict(parameters or {}),
            author=author[:200],
            client=client[:200],
            slots=slots,
            limits=_limits(games_a_day, avoid, hours, accepts),
            predecessor=named if named.version else None,
        )
        fault = _fault(sign_in)
        if fault is not None:
            raise BadSetting(fault)
    endpoint = Endpoint(address, written.subprotocol, None if ca_file is None else Path(ca_file))
    retries = Retries(random.Random(), pauses)
    keeper = ConnectionKeeper(endpoint, Codec(written), retries, who=bot or "watcher", reconnect=reconnect)
    return _connected(Session(keeper, sign_in, map(event_name, events)))


def _limits(games_a_day: int | None, avoid: Iterable[str], hours: str, accepts: Iterable[str]) -> ws.OwnerLimits:
    """Raises BadSetting where the hours cannot be read."""
    return ws.OwnerLimits(games_a_day=games_a_day, avoid=list(avoid), accepts=list(accepts), hours=checked_hours(hours))


def _fault(sign_in: ws.SignIn) -> str | None:
    """What the server would refuse about it whatever it knows, as a sentence; None for nothing."""
    if not sign_in.secret:
        return "a bot needs its secret: its password or a token"
    for secret in (sign_in.secret, sign_in.new_secret):
        fault = None if secret is None else password_fault(secret)
        if fault is not None:
            return f"the secret cannot be used: {fault}"
    if not sign_in.venues or len(set(sign_in.venues)) < len(sign_in.venues):
        return "name at least one venue, each once"
    step = None if sign_in.predecessor is None else sign_in.predecessor.sd
    if step is not None and not NARROWEST_STEP <= step <= WIDEST_STEP:
        return f"the sd of the step from the predecessor is {NARROWEST_STEP:g} to {WIDEST_STEP:g} Elo, not {step:g}"
    if not 1 <= sign_in.slots <= 256:
        return f"slots are 1 to 256, not {sign_in.slots}"
    return None
