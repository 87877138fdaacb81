"""A TCP proxy that breaks the connections going through it, in the ways in which networks break them.

Every bot comes through a port of its own, so that it is known who was cut and when. Loopback only.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import functools
import random
import socket
import struct
import threading
import time
from typing import NamedTuple

GHOST_S = 4.0
"""How long the server's side outlives the client's where a ghost is left behind."""

STALL_S = 2.0
"""How long nothing gets through before a stalled connection breaks."""


class Kind(enum.StrEnum):
    """How a connection ends."""

    BREAK = "break"
    """Both sides are reset at once."""
    CLOSE = "close"
    """Both sides are closed in order."""
    GHOST = "ghost"
    """The client is cut; the server does not learn of it for a while, and its system acknowledges what it sends."""
    STALL = "stall"
    """Nothing gets through in either direction, then both sides are reset."""


class Cut(NamedTuple):
    """`at`: Unix seconds."""

    name: str
    at: float
    kind: Kind


class _Link:
    """One connection through the proxy."""

    def __init__(self, near: asyncio.StreamWriter, far: asyncio.StreamWriter) -> None:
        self.near = near
        self.far = far
        self.flows = asyncio.Event()
        self.flows.set()


class CuttingProxy(threading.Thread):
    """Proxies for several bots in front of one port of one server, in a thread with a loop of its own."""

    def __init__(self, target: int, seed: int) -> None:
        super().__init__(name="proxy", daemon=True)
        self.cuts: list[Cut] = []
        self._target = target
        self._rng = random.Random(seed)
        self._links: dict[str, set[_Link]] = {}
        self._stopped: set[str] = set()
        self._loop = asyncio.new_event_loop()
        self._closing: asyncio.Event | None = None
        self._started = threading.Event()
        self._servers: list[asyncio.Server] = []

    def run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._closing = asyncio.Event()
        self._started.set()
        await self._closing.wait()
        for server in self._servers:
            server.close()
        for links in self._links.values():
            for link in links:
                _reset(link.near)
                _reset(link.far)
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.1)  # until what was reset is closed

    def __enter__(self) -> CuttingProxy:
        self.start()
        self._started.wait(5)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._closing is not None
        self._loop.call_soon_threadsafe(self._closing.set)
        self.join(10)

    def port_for(self, name: str, target: int = 0) -> int:
        """A port through which `name` reaches the server, or another port of this machine."""
        sock = socket.create_server(("127.0.0.1", 0))
        port = int(sock.getsockname()[1])
        self._links.setdefault(name, set())

        async def open_port() -> None:
            server = await asyncio.start_server(functools.partial(self._accept, name, target), sock=sock)
            self._servers.append(server)

        asyncio.run_coroutine_threadsafe(open_port(), self._loop).result(5)
        return port

    def connected(self) -> list[str]:
        """Who has a connection now."""
        return sorted(name for name, links in self._links.items() if links)

    def stop_flow(self, name: str) -> None:
        """Let nothing through for `name`, in either direction, and tell nobody, until :meth:`let_flow`."""
        self._loop.call_soon_threadsafe(self._stop_flow, name)

    def let_flow(self, name: str) -> None:
        """Deliver what was held back, and go on."""
        self._loop.call_soon_threadsafe(self._let_flow, name)

    def _stop_flow(self, name: str) -> None:
        self._stopped.add(name)
        for link in self._links[name]:
            link.flows.clear()

    def _let_flow(self, name: str) -> None:
        self._stopped.discard(name)
        for link in self._links[name]:
            link.flows.set()

    def cut_somebody(self, kinds: tuple[Kind, ...] = tuple(Kind)) -> Cut | None:
        """Cut one bot at random, in a way at random; None where nobody is connected."""
        names = self.connected()
        if not names:
            return None
        cut = Cut(self._rng.choice(names), time.time(), self._rng.choice(kinds))
        self.cuts.append(cut)
        asyncio.run_coroutine_threadsafe(self._cut(cut), self._loop)
        return cut

    async def _accept(self, name: str, target: int, reader: asyncio.StreamReader, near: asyncio.StreamWriter) -> None:
        try:
            far_reader, far = await asyncio.open_connection("127.0.0.1", target or self._target)
        except OSError:
            _reset(near)
            return
        link, links = _Link(near, far), self._links[name]
        links.add(link)
        if name in self._stopped:
            link.flows.clear()
        try:
            await asyncio.gather(self._carry(link, reader, far), self._carry(link, far_reader, near))
        except asyncio.CancelledError:
            pass  # the proxy ends; asyncio's streams would complain of a cancelled handler
        finally:
            links.discard(link)
            await asyncio.gather(_finish(near), _finish(far))

    async def _carry(self, link: _Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await link.flows.wait()
                writer.write(data)
                await writer.drain()
            await link.flows.wait()  # an end is held back as well
            writer.close()

    async def _cut(self, cut: Cut) -> None:
        for link in list(self._links[cut.name]):
            match cut.kind:
                case Kind.BREAK:
                    _reset(link.near)
                    _reset(link.far)
                case Kind.CLOSE:
                    link.near.close()
                    link.far.close()
                case Kind.GHOST:
                    link.flows.clear()
                    _reset(link.near)
                    await asyncio.sleep(GHOST_S)
                    link.flows.set()
                    _reset(link.far)
                case Kind.STALL:
                    link.flows.clear()
                    await asyncio.sleep(STALL_S)
                    _reset(link.near)
                    _reset(link.far)
                    link.flows.set()


async def _finish(writer: asyncio.StreamWriter) -> None:
    """Close in order, and for good."""
    try:
        writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(1):
                await writer.wait_closed()
    finally:
        writer.transport.abort()


def _reset(writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
