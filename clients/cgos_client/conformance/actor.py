"""One connection of a case: what was sent, what came, and whether an answer is owed.

Reading goes on in a task of its own into a bounded list; everything that waits has a deadline. Must not know: what a
case expects.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from cgos_client.playing.transport import open_tcp

CONNECT_SECONDS: Final = 10.0
WRITE_SECONDS: Final = 10.0
LINES_MAX: Final = 20_000
"""Lines that one connection may say in one case."""

_DIALOGUE_MAX: Final = 400

_PACE_SECONDS: Final = 0.1
"""Between two sends without an answer: there are servers to which a segment is a line."""


class Actor:
    """A bot, a viewer or a stranger.

    :param changed: called whenever something came
    :param dialogue: takes the last lines of both sides, for people
    :ivar lines: what came and was not taken yet, each without its line end; the last one may be cut short
    :ivar closed: nothing more will come
    :ivar owes_move: `genmove` came and nothing was sent since
    :ivar in_game: `setup` came, on whatever connection, and no `gameover` since
    :ivar uncalled: the last `setup` came to a bot that owed its `ready`, or whose game was not over
    """

    def __init__(self, role: str, name: str, password: str, changed: Callable[[], None], dialogue: list[str]) -> None:
        self.role = role
        self.name = name
        self.password = password
        self.viewer = False
        self.lines: list[str] = []
        self.closed = True
        self.owes_move = False
        self.in_game = False
        self.uncalled = False
        self._owes_ready = False
        self._dialogue = dialogue
        self._changed = changed
        self._writer: asyncio.StreamWriter | None = None
        self._line_count = 0
        self._sent = 0.0
        self._answered = True

    async def connect(self, host: str, port: int, tasks: asyncio.TaskGroup) -> None:
        """Open a connection; one that was open is forgotten. Raises CannotConnect."""
        await self.close()
        reader, writer = await open_tcp(host, port, CONNECT_SECONDS)
        self._writer, self.closed, self.owes_move, self.lines = writer, False, False, []
        self._owes_ready = False
        tasks.create_task(self._read(reader, writer))

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take what comes until the connection ends."""
        with suppress(OSError, ValueError, asyncio.IncompleteReadError):
            while data := await reader.readline():
                if self._writer is not writer:
                    return
                self._take(data.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r"))
        if self._writer is writer:
            self.closed = True
            self._note("<", "(closed)")
        self._changed()

    def _take(self, line: str) -> None:
        self._line_count += 1
        self._answered = True
        if self._line_count > LINES_MAX:
            raise ValueError(f"more than {LINES_MAX} lines")
        self.lines.append(line)
        if not self.viewer:
            self._follow(line.split(" ", 1)[0])
        self._note("<", line)
        self._changed()

    def _follow(self, word: str) -> None:
        match word:
            case "genmove":
                self.owes_move = True
            case "setup":
                self.in_game, self.uncalled = True, self._owes_ready or self.in_game
            case "gameover":
                self.owes_move, self.in_game, self._owes_ready = False, False, True

    async def send(self, data: bytes) -> None:
        """Send `data`; whether it arrived shows in what comes."""
        if not self._answered:
            await asyncio.sleep(max(0.0, self._sent + _PACE_SECONDS - time.monotonic()))
        self._sent, self._answered = time.monotonic(), False
        self._note(">", data.decode("latin-1").encode("unicode_escape").decode())
        self.owes_move = False
        self._owes_ready = self._owes_ready and data.strip() != b"ready"
        if self._writer is None or self.closed:
            return
        with suppress(OSError):
            self._writer.write(data)
            with suppress(TimeoutError):
                async with asyncio.timeout(WRITE_SECONDS):
                    await self._writer.drain()

    async def close(self, hard: bool = False) -> None:
        """End the connection in order, or as if it broke (`hard`)."""
        writer, self._writer, self.closed = self._writer, None, True
        if writer is None:
            return
        self._note(">", "(closes)")
        with suppress(OSError):
            if hard:
                sock = writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
            writer.close()
            with suppress(TimeoutError):
                async with asyncio.timeout(WRITE_SECONDS):
                    await writer.wait_closed()

    def _note(self, side: str, text: str) -> None:
        self._dialogue.append(f"{self.role}{side} {text[:200]}")
        del self._dialogue[:-_DIALOGUE_MAX]
