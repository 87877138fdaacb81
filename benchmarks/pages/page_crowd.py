"""Viewers of live streams and visitors of pages, for ``page_viewers.py``, which runs them in a process of their own.

They come and go by words on standard input, and say on standard output what they got. Loopback only; the process ends
with its input.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator

import msgspec

PAGES = ("/", "/venue/9x9", "/game/{game}", "/bot/Load-{bot:05d}")
VISITORS = 50
"""Page requests under way at once; those beyond are counted as failures."""
PAGE_LIMIT_S = 20.0
REACHED = 0.95
"""Share of the viewers and of the pages a second that must really have been there."""


class Viewer(asyncio.Protocol):
    """One stream, until it ends; then the next one."""

    def __init__(self, crowd: Crowd, path: str) -> None:
        self._crowd = crowd
        self._path = path
        self._open = False
        self._transport: asyncio.Transport | None = None
        self._head = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(_request(self._path))
        self._crowd.transports.add(transport)

    def data_received(self, data: bytes) -> None:
        crowd = self._crowd
        crowd.bytes += len(data)
        crowd.events += data.count(b"\ndata: ")
        if not self._open:
            self._head += data
            if b"\r\n\r\n" in self._head:
                self._begun(self._head.split(b" ", 2)[1])

    def _begun(self, status: bytes) -> None:
        if status == b"200":
            self._open = True
            self._head = b""
            self._crowd.streams += 1
            self._crowd.opened += 1
        else:
            self._crowd.failed(self._path, status.decode())
            assert self._transport is not None
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        crowd = self._crowd
        assert self._transport is not None
        crowd.transports.discard(self._transport)
        crowd.streams -= self._open
        crowd.lost(self._open)


class CrowdReport(msgspec.Struct, kw_only=True):
    """What the crowd's process has done since its beginning; `at` on the monotonic clock."""

    at: float
    streams: int
    opened: int
    events: int
    bytes: int
    requested: int
    pages: int
    page_bytes: int
    page_ms: list[float]
    """Of the pages since the report before."""
    failures: dict[str, int]


CROWD_REPORT = msgspec.json.Decoder(CrowdReport)


class Crowd:
    """All viewers and visitors of this process, and what they saw. `running`: games to choose from, newest first."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.running: list[int] = []
        self.events = self.bytes = self.pages = self.page_bytes = self.streams = self.opened = self.requested = 0
        self.failures: Counter[str] = Counter()
        self.page_s: list[float] = []
        self.transports: set[asyncio.Transport] = set()
        self._visiting = 0
        self._here = False
        self._missing: Counter[str] = Counter()
        self._next = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None

    def failed(self, path: str, what: object) -> None:
        self.failures[f"{re.sub('[0-9]+', 'N', path)}: {what}"] += 1

    def lost(self, was_open: bool) -> None:
        """A stream has ended, and its viewer looks for another one: at once, or after a second where it was refused."""
        if self._here and self._group is not None:
            self._group.create_task(self._view(0.0 if was_open else 1.0))

    async def _view(self, after: float) -> None:
        await asyncio.sleep(after)
        if not self._here:
            return
        kind = next((kind for kind, count in self._missing.items() if count), "game")
        self._missing[kind] -= self._missing[kind] > 0
        path = "/api/v1/live?venue=9x9"
        if kind == "wall":
            path += "&moves=true"
        elif kind == "game" and self.running:
            among = self.running[:30] if self.options.fleeting else self.running
            path = f"/api/v1/games/{random.choice(among)}/live?since=0"
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(lambda: Viewer(self, path), "127.0.0.1", self.options.port)
        except OSError as error:
            self.failed(path, type(error).__name__)
            self._missing[kind] += kind != "game"
            self.lost(False)

    async def come(self) -> None:
        """All viewers, some after the other."""
        options = self.options
        self._here = True
        games, walls = options.games, options.walls
        self._missing = Counter({"wall": walls, "venue": options.viewers - games - walls, "game": games})
        for number in range(options.viewers):
            await self._view(0.0)
            if number % 20 == 19:
                await asyncio.sleep(0.01)

    def go(self) -> None:
        """All leave."""
        self._here = False
        for transport in list(self.transports):
            transport.abort()

    async def _get(self, path: str) -> tuple[int, bytes]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.options.port)
        try:
            writer.write(_request(path))
            answer = await reader.read()
        finally:
            writer.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        if b"transfer-encoding: chunked" in head.lower():
            body = b"".join(_unchunked(body))
        return int(head.split(b" ", 2)[1]), body

    async def scout(self) -> None:
        """Knows which games run."""
        while True:
            if self._here or not self.running:
                with contextlib.suppress(OSError, IndexError, ValueError):
                    status, body = await self._get("/api/v1/games?running=true&limit=100")
                    if status == 200:
                        self.running = [game["id"] for game in json.loads(body)["items"]] or self.running
                    else:
                        self.failed("games", status)
            await asyncio.sleep(1.0)

    async def visit(self, group: asyncio.TaskGroup) -> None:
        """Page requests at a steady rate while the viewers are there, each on a connection of its own."""
        kinds = itertools.cycle(PAGES)
        due = time.monotonic()
        while True:
            due = max(due + 1 / self.options.pages, time.monotonic() - 1.0)
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            if not self._here or self.streams < REACHED * self.options.viewers:
                continue
            self.requested += 1
            if self._visiting >= VISITORS:
                self.failed("pages", "not asked for, as too many wait")
                continue
            game = random.choice(self.running or [1])
            group.create_task(self._page(next(kinds).format(game=game, bot=random.randrange(self.options.bots))))

    async def _page(self, path: str) -> None:
        began = time.perf_counter()
        self._visiting += 1
        try:
            async with asyncio.timeout(PAGE_LIMIT_S):
                status, body = await self._get(path)
        except (OSError, TimeoutError, IndexError, ValueError) as error:
            return self.failed(path, type(error).__name__)
        finally:
            self._visiting -= 1
        if status != 200:
            return self.failed(path, status)
        self.pages += 1
        self.page_bytes += len(body)
        self.page_s.append(time.perf_counter() - began)
        return None

    async def report(self) -> None:
        while True:
            await asyncio.sleep(0.25)
            page_ms, self.page_s = [round(1e3 * took, 1) for took in self.page_s], []
            report = CrowdReport(
                at=time.monotonic(),
                streams=self.streams,
                opened=self.opened,
                events=self.events,
                bytes=self.bytes,
                requested=self.requested,
                pages=self.pages,
                page_bytes=self.page_bytes,
                page_ms=page_ms,
                failures=dict(self.failures),
            )
            print(msgspec.json.encode(report).decode(), flush=True)

    async def run(self) -> None:
        loop = asyncio.get_running_loop()

        def obey() -> None:
            word = sys.stdin.readline().strip()
            if word == "come":
                group.create_task(self.come())
            elif word == "go":
                self.go()
            else:
                loop.remove_reader(sys.stdin)

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.options.seconds), asyncio.TaskGroup() as group:
                self._group = group
                loop.add_reader(sys.stdin, obey)
                group.create_task(self.report())
                group.create_task(self.scout())
                group.create_task(self.visit(group))


def _request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()


def _unchunked(data: bytes) -> Iterator[bytes]:
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        yield data[:length]
        data = data[length + 2 :]
