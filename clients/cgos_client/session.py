"""A bot or a watcher on a server, for programs: ``async with connect(...) as session``.

Carries out what :mod:`cgos_client.games` and :mod:`cgos_client.watching` decide, over one connection after another.
Must not know: how a bot chooses its moves.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from cgos_client import games as core
from cgos_client.addresses import server_address
from cgos_client.bell import Bell
from cgos_client.codec import Codec, Encoding
from cgos_client.errors import (
    CannotConnect,
    CgosClientError,
    ConnectionLost,
    SessionClosed,
    SignInRefused,
    WatchRefused,
)
from cgos_client.game import Game
from cgos_client.link import Link, Place, opened
from cgos_client.retry import REFUSALS, SETTLED_SECONDS, Pauses, heals_by_waiting
from cgos_client.settings import BadSetting, bot_name
from cgos_client.watching import GameWatch, VenueEvent, VenueWatch, View, Watches
from cgos_server import __version__
from cgos_server.protocol import ws_messages as ws
from cgos_server.protocol.names import password_fault

log = logging.getLogger(__name__)

SIGN_IN_SECONDS = 120.0
"""How long the server may take from its greeting to the answer to a sign-in; it checks one password at a time."""
GREETING_SECONDS = 30.0
LEAVING_SECONDS = 3.0
"""How long leaving may take: what was said last is sent, and the connection closed in order."""

_HEALING = frozenset(("waits-approval", "already-here", "store"))
"""Refusals that pass by themselves, by their code."""


class Session:
    """A bot's or a watcher's stay on a server, over as many connections as it takes. Made by :func:`connect`.

    :ivar name: the bot's wire name, as the server shows it; empty for watchers
    :ivar venues: the venues in which the bot is seated
    """

    def __init__(
        self,
        place: Place,
        encoding: Encoding,
        sign_in: ws.SignIn | None,
        *,
        reconnect: bool = True,
        pauses: Pauses | None = None,
        refusal_pauses: Pauses | None = None,
    ) -> None:
        rng = random.Random()
        self.name = ""
        self.venues: tuple[str, ...] = ()
        self._place = place
        self._codec = Codec(encoding)
        self._core = core.Games(sign_in)
        self._watches = Watches()
        self._games: dict[int, Game] = {}
        self._fresh: deque[Game] = deque()
        self._outbox: deque[ws.ClientMessage] = deque()
        self._to_send = Bell()
        self._news = Bell()
        self._reconnect = reconnect
        self._pauses = pauses or Pauses(rng)
        self._refusal_pauses = refusal_pauses or Pauses(rng, first=20.0)
        self._refusals = 0
        self._admissions = 0
        self._leaving = False
        self._over = False
        self._failure: CgosClientError | None = None

    # -- what it knows

    @property
    def welcome(self) -> ws.Welcome | None:
        """What the server said of itself and its venues; None before it was reached."""
        return self._core.welcome

    @property
    def connected(self) -> bool:
        """True while there is a connection and, for a bot, it is signed in."""
        return self._core.admitted if self._core.sign_in is not None else self._core.welcome is not None

    @property
    def latency_ms(self) -> float | None:
        """The way to the server and back in milliseconds, as the server measures it; None while it has not said."""
        return self._core.latency_ms

    @property
    def playing(self) -> list[Game]:
        """The games that have not ended."""
        return [game for game in self._games.values() if game.result is None]

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
            await self._news.wait()

    async def play(self, play: Callable[[Game], Awaitable[object]]) -> None:
        """Run `play` for every game, as many at once as there are; returns and raises as :meth:`games` ends.

        What `play` raises ends the other games' calls too and comes out in an ExceptionGroup.
        """
        failure: CgosClientError | None = None
        async with asyncio.TaskGroup() as tasks:

            async def one(game: Game) -> None:
                await play(game)

            try:
                async for game in self.games():
                    tasks.create_task(one(game))
            except CgosClientError as error:
                failure = error
        if failure is not None:
            raise failure

    async def drain(self) -> None:
        """No new game any more. When the last one is over :meth:`games` ends."""
        self._do(self._core.want(core.Wanted.DRAIN))
        if not self._core.playing and not self._core.admitted:
            self._finish(None)

    async def pause(self) -> None:
        """No new game until :meth:`ready`; running games go on."""
        self._do(self._core.want(core.Wanted.PAUSE))

    async def ready(self) -> None:
        """New games again, after :meth:`pause`."""
        self._do(self._core.want(core.Wanted.GAMES))

    async def limits(self, games_a_day: int | None = None, avoid: Iterable[str] = ()) -> None:
        """What the bot's owner allows, in place of what held before.

        :param games_a_day: most games begun within 24 hours; None: no limit
        :param avoid: wire names that it must not meet
        """
        self._do(self._core.limit(ws.OwnerLimits(games_a_day, list(avoid))))

    # -- what watchers do

    async def watch(self, venue: str) -> AsyncIterator[VenueEvent]:
        """What happens in a venue, moves excepted: a picture first, then facts; a picture again after each
        reconnection and where too many facts waited. Raises WatchRefused where there is no such venue.

        One watcher a venue and session. Needs no sign-in.
        """
        self._check_venue(venue)
        if venue in self._watches.venues:
            raise WatchRefused("watched", f"{venue} is watched in this session already")
        watch = self._watches.venues[venue] = VenueWatch(venue)
        self._say(ws.WatchVenue(venue))
        try:
            while True:
                while watch.events:
                    yield watch.events.popleft()
                if watch.skipping:
                    self._say(ws.WatchVenue(venue))
                await self._until_news(watch)
        finally:
            del self._watches.venues[venue]
            self._say(ws.Unwatch(venue))

    async def watch_game(self, venue: str, game: int) -> AsyncIterator[View]:
        """A game as it goes, running or archived: its latest state each time that it changed, the last one with its
        result. Who looks seldom misses states, not moves. Raises WatchRefused where there is no such game.
        """
        self._check_venue(venue)
        if game in self._watches.games:
            raise WatchRefused("watched", f"game {game} is watched in this session already")
        watch = self._watches.games[game] = GameWatch(venue, game)
        self._say(ws.WatchGame(venue, game))
        try:
            while True:
                view = watch.view()
                if view is not None and watch.fresh:
                    watch.fresh = False
                    yield view
                    if view.result is not None:
                        return
                elif not watch.fresh:
                    await self._until_news(watch)
        finally:
            del self._watches.games[game]
            self._say(ws.Unwatch(venue, game))

    async def _until_news(self, watch: VenueWatch | GameWatch) -> None:
        if watch.refusal is not None:
            raise watch.refusal
        if self._over:
            raise self._failure or SessionClosed()
        await self._news.wait()

    def _check_venue(self, venue: str) -> None:
        welcome = self._core.welcome
        if welcome is not None and venue not in (known := [info.name for info in welcome.venues]):
            raise WatchRefused("no-venue", f"the server has no venue {venue!r}; it has {', '.join(known) or 'none'}")

    # -- its connections

    async def _stay(self) -> None:
        """Keep connected until there is nothing more to do. Never raises: what ends it is for those who ask."""
        loop = asyncio.get_running_loop()
        while True:
            began, admissions = loop.time(), self._admissions
            error = await self._connection()
            self._core.lost()
            self._outbox.clear()
            if error is None or self._leaving or (self._core.wish is core.Wanted.DRAIN and not self._core.playing):
                self._finish(None)
                return
            if self._admissions > admissions and (self.playing or loop.time() - began >= SETTLED_SECONDS):
                self._pauses.reset()
                self._refusal_pauses.reset()
                self._refusals = 0
            pause = self._pause_after(error)
            if pause is None or not self._reconnect:
                self._finish(error)
                return
            log.warning("%s: %s; trying again in %.0f s", self._who(), error.text, pause)
            await self._rest(pause)
            if self._leaving:
                self._finish(None)
                return

    def _pause_after(self, error: CgosClientError) -> float | None:
        """How long to wait before the next attempt; None where there shall be none."""
        wait = error.retry_after
        if not isinstance(error, SignInRefused):
            return self._pauses.next(wait or 0.0)
        if wait is not None or error.code in _HEALING or heals_by_waiting(error.text):
            return self._pauses.next(wait or 0.0)
        self._refusals += 1
        if self._admissions == 0 or self._refusals >= REFUSALS:
            return None
        return self._refusal_pauses.next()

    async def _rest(self, seconds: float) -> None:
        until = asyncio.get_running_loop().time() + seconds
        while not self._leaving and not self._over:
            left = until - asyncio.get_running_loop().time()
            if left <= 0 or not await self._to_send.wait(left):
                return

    async def _connection(self) -> CgosClientError | None:
        """One connection from its beginning to its end. None where the server or this side ended it in order."""
        try:
            async with opened(self._place) as link:
                return await self._talk(link)
        except CannotConnect as error:
            return error

    async def _talk(self, link: Link) -> CgosClientError | None:
        async with asyncio.TaskGroup() as tasks:
            writing = tasks.create_task(self._write(link))
            error = await self._hear(link)
            if error is None and not self._leaving:
                self._leaving_link = True
            writing.cancel()
        return error

    async def _write(self, link: Link) -> None:
        """Send what waits, as it comes; on leaving, close the connection after it."""
        try:
            while True:
                while self._outbox:
                    message = self._outbox.popleft()
                    shown = "(sign-in)" if isinstance(message, ws.SignIn) else None
                    await link.write(self._codec.encode(message), shown)
                if self._leaving:
                    await link.close()
                    return
                await self._to_send.wait()
        except ConnectionLost:
            await link.close()  # the reader finds out why
