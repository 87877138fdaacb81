"""Keeps a connection to a server: opens it, carries messages both ways, and opens it again when it ends.

Decides when to try again and when to give up. Must not know: what messages mean beyond the greeting, games.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from contextlib import suppress
from typing import Protocol

from cgos_client.errors import CannotConnect, CgosClientError, ConnectionLost, Dismissed, SignInRefused
from cgos_client.library.codec import Codec
from cgos_client.library.link import Endpoint, Link, open_link
from cgos_client.retry import WRONG_SETTINGS, Retries, heals_by_waiting
from cgos_protocol.errors import Code
from cgos_protocol.v2 import messages as ws

log = logging.getLogger(__name__)

GREETING_SECONDS = 30.0
SIGN_IN_SECONDS = 120.0
"""How long the server may take from its greeting to the answer to a sign-in: many may come at once."""
DRAINED_SECONDS = 5.0
"""How long the server may take to close a connection of which it said that it is over."""

_HEALING = frozenset(
    (
        Code.ALREADY_ARRIVING,
        Code.ALREADY_HERE,
        Code.DRAINING,
        Code.ENDING,
        Code.STORE,
        Code.TOO_MANY_FAILURES,
        Code.WAITS_APPROVAL,
    )
)
"""Refusals that pass by themselves, by their code."""


class Peer(Protocol):
    """What the keeper of a connection asks of what is above it."""

    @property
    def connected(self) -> bool:
        """True while signed in, or greeted where there is nobody to sign in."""

    @property
    def playing(self) -> Collection[object]:
        """The games that are on."""

    def hear(self, message: ws.ServerMessage) -> CgosClientError | None:
        """Take a message; an error ends the connection."""

    def lost(self) -> None:
        """The connection is gone."""


class ConnectionKeeper:
    """One peer's connections, one after another.

    :param who: a word for the log
    :param reconnect: False: the first end is the last
    """

    def __init__(self, endpoint: Endpoint, codec: Codec, retries: Retries, *, who: str, reconnect: bool) -> None:
        self._endpoint = endpoint
        self._codec = codec
        self._retries = retries
        self._who = who
        self._reconnect = reconnect
        self._outbox: asyncio.Queue[ws.ClientMessage | None] = asyncio.Queue()
        """What waits to be sent; None: nothing follows, and the connection is closed."""
        self._was_in = False
        self._leaving = asyncio.Event()

    def say(self, message: ws.ClientMessage) -> None:
        """Send `message` on the connection that is open; what is not sent by its end is dropped."""
        self._outbox.put_nowait(message)

    def leave(self) -> None:
        """Send what waits, close and be done."""
        self._leaving.set()
        self._outbox.put_nowait(None)

    async def run(self, peer: Peer) -> CgosClientError | None:
        """Stay connected until :meth:`leave`, then None; or until there is no use in going on, then why."""
        loop = asyncio.get_running_loop()
        while not self._leaving.is_set():
            began = loop.time()
            self._outbox = asyncio.Queue()
            error, was_in = await self._connection(peer)
            busy = bool(peer.playing)
            peer.lost()
            if self._leaving.is_set():
                break
            self._was_in = self._was_in or was_in
            if was_in:
                self._retries.signed_in(loop.time() - began, busy)
            pause = self._pause_after(error) if self._reconnect else None
            if pause is None:
                return error
            log.warning("%s: %s; trying again in %.2g s", self._who, error.text, pause)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._leaving.wait()
        return None

    def _pause_after(self, error: CgosClientError) -> float | None:
        """How long to wait before the next attempt; None where there shall be none."""
        wait = error.retry_after
        if error.code in WRONG_SETTINGS:
            return None
        if isinstance(error, CannotConnect) and error.is_misdirected and not self._was_in:
            return self._retries.pause_after_refusal()
        refused = isinstance(error, SignInRefused | Dismissed)
        if not refused or wait is not None or error.code in _HEALING or heals_by_waiting(error.text):
            return self._retries.pause(wait or 0.0)
        return self._retries.pause_after_refusal() if self._was_in else None

    async def _connection(self, peer: Peer) -> tuple[CgosClientError, bool]:
        """One connection: how it ended, and whether the peer was ever admitted on it."""
        try:
            link = await open_link(self._endpoint)
        except CannotConnect as error:
            return error, False
        try:
            async with asyncio.TaskGroup() as tasks:
                writing = tasks.create_task(self._write(link))
                ended = await self._hear(link, peer)
                writing.cancel()
        finally:
            await link.close()
        return ended

    async def _hear(self, link: Link, peer: Peer) -> tuple[CgosClientError, bool]:
        loop = asyncio.get_running_loop()
        was_in = False
        seconds, what = GREETING_SECONDS, "did not greet"
        try:
            async with asyncio.timeout(seconds) as deadline:
                while True:
                    message = self._codec.decode(await link.read())
                    if message is None:
                        continue
                    error = peer.hear(message)
                    if error is not None:
                        return error, was_in
                    if self._leaving.is_set():
                        deadline.reschedule(loop.time() + DRAINED_SECONDS)
                    elif peer.connected:
                        was_in = True
                        deadline.reschedule(None)
                    elif isinstance(message, ws.Welcome):
                        seconds, what = SIGN_IN_SECONDS, "did not answer the sign-in"
                        deadline.reschedule(loop.time() + seconds)
        except TimeoutError:
            return ConnectionLost(f"the server {what} within {seconds:g} s"), was_in
        except CgosClientError as error:
            return error, was_in

    async def _write(self, link: Link) -> None:
        """Send what waits, as it comes; on leaving, close the connection after it."""
        try:
            while (message := await self._outbox.get()) is not None:
                shown = f"(sign-in as {message.bot})" if isinstance(message, ws.SignIn) else None
                await link.write(self._codec.encode(message), shown)
        except ConnectionLost as lost:
            log.debug("%s", lost.text)  # the reader meets the same end
        await link.close()
