"""Bots without thought, for measuring: many connections in one process that answer every prompt from a script.

As CGOS bots they play one legal game over and over; as relay clients they answer each line with a line. Talks to
loopback only, and stops by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from benchmarks.moves.ws_frames import Frames


def token(name: str) -> str:
    """What the bot `name` signs in with: of a token's form, so that no slow hash is measured."""
    return "cgos_" + hashlib.sha256(name.encode()).hexdigest()[:43]


class Tally:
    """What all bots of this process did."""

    def __init__(self, keep_latency: bool) -> None:
        self.moves = 0
        self.begun = 0
        self.games = 0
        self.closed = 0
        self.signed_in = 0
        self.errors: list[str] = []
        self.latency: list[float] | None = [] if keep_latency else None
        self.sent_at: dict[tuple[str, str], float] = {}
        """(game, ply) -> when its line was written."""

    def made(self, game: object, ply: int) -> None:
        """A move is being written."""
        self.moves += 1
        if self.latency is not None:
            self.sent_at[str(game), str(ply)] = time.perf_counter()

    def arrived(self, game: object, ply: int) -> None:
        """The opponent has it."""
        if self.latency is not None and (at := self.sent_at.pop((str(game), str(ply)), None)) is not None:
            self.latency.append(time.perf_counter() - at)


class GameBot(asyncio.Protocol):
    """One CGOS engine that plays a scripted game."""

    def __init__(
        self, name: str, script: list[str], think: Callable[[], float], tally: Tally, hold: float = 0.0
    ) -> None:
        self.name = name
        self.script = script
        self.think = think
        self.hold = hold
        self.tally = tally
        self.ply = 0
        self.game = ""
        self.buffer = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self.tally.closed += 1

    def say(self, line: str) -> None:
        if self.transport is not None:
            self.transport.write(line.encode() + b"\n")

    def move(self) -> None:
        self.tally.made(self.game, self.ply)
        self.say(self.script[self.ply])
        self.ply += 1

    def data_received(self, data: bytes) -> None:
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        for line in lines:
            word = line[:7]
            if word == b"genmove":
                _after(self.think() if self.ply else self.hold, self.move)
            elif word[:4] == b"play":
                self.tally.arrived(self.game, self.ply)
                self.ply += 1
            elif word[:5] == b"setup":
                self.tally.begun += 1
                words = line.split()
                self.game = words[1].decode()
                self.ply = (len(words) - 7) // 2
            elif word == b"gameove":
                self.tally.games += 1
                _after(self.hold, functools.partial(self.say, "ready"))
            elif word == b"protoco":
                self.say("e1 load bot")
            elif line == b"username":
                self.say(self.name)
            elif line == b"password":
                self.say(token(self.name))
            elif word == b"Error: ":
                self.tally.errors.append(line.decode())


class RelayBot(asyncio.Protocol):
    """One end of a pair: answers every line with a line of a move's length, after its thinking time."""

    def __init__(self, starts: bool, think: Callable[[], float], tally: Tally) -> None:
        self.starts = starts
        self.think = think
        self.tally = tally
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def begin(self) -> None:
        if self.starts:
            self.say()

    def say(self) -> None:
        if self.transport is not None:
            self.transport.write(b"D4\n")

    def data_received(self, data: bytes) -> None:
        self.tally.moves += 1
        _after(self.think(), self.say)


def _after(seconds: float, action: Callable[[], None]) -> None:
    """At once where there is nothing to wait for."""
    if seconds:
        asyncio.get_running_loop().call_later(seconds, action)
    else:
        action()


class Message(msgspec.Struct):
    """As much of the server's messages as a bot without thought needs."""

    type: str
    game: int = 0
    ply: int = 0
    your_turn: bool = False
    text: str = ""


MESSAGE = msgspec.json.Decoder(Message)


class WsGameBot(Frames):
    """One bot of `cgos.v2` that plays a scripted game."""

    def __init__(self, port: int, name: str, script: list[str], think: Callable[[], float], tally: Tally) -> None:
        super().__init__(port, "cgos.v2")
        self.name = name
        self.script = script
        self.think = think
        self.tally = tally

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.tally.closed += 1

    def move(self, game: int, ply: int) -> None:
        self.tally.made(game, ply)
        self.say(b'{"type":"move","game":%d,"ply":%d,"move":"%s"}' % (game, ply, self.script[ply - 1].encode()))

    def message(self, payload: bytes) -> None:
        message = MESSAGE.decode(payload)
        kind, game, ply = message.type, message.game, message.ply
        if kind == "moved":
            self.tally.arrived(game, ply)
            if message.your_turn:
                _after(self.think(), functools.partial(self.move, game, ply + 1))
        elif kind == "turn":
            _after(self.think(), functools.partial(self.move, game, ply))
        elif kind == "over":
            self.tally.games += 1
            self.say(b'{"type":"seen","game":%d}' % game)
        elif kind == "welcome":
            sign_in = {"type": "sign_in", "bot": self.name, "secret": token(self.name), "venues": ["9x9"]}
            self.say(json.dumps(sign_in).encode())
        elif kind == "signed_in":
            self.tally.signed_in += 1
        elif kind == "error":
            self.tally.errors.append(message.text)


class WsRelayBot(Frames):
    """One end of a pair: answers every message with one of a move's length, after its thinking time."""

    def __init__(self, port: int, starts: bool, think: Callable[[], float], tally: Tally) -> None:
        super().__init__(port, "")
        self.starts = starts
        self.think = think
        self.tally = tally

    def begin(self) -> None:
        if self.starts:
            self.move()

    def move(self) -> None:
        self.say(MOVE)

    def message(self, payload: bytes) -> None:
        self.tally.moves += 1
        _after(self.think(), self.move)


MOVE = b'{"type":"move","game":1234,"ply":56,"move":"D4"}'


def source(number: int) -> tuple[str, int]:
    """A loopback address to connect from: 15 000 connections each, so that local ports never run out."""
    return (f"127.0.0.{2 + number // 15_000}", 0)


async def run(options: argparse.Namespace) -> None:
    """Connect, play for the time given, printing progress."""
    loop = asyncio.get_running_loop()
    tally = Tally(options.latency)
    relays: list[RelayBot | WsRelayBot] = []
    script = json.loads(Path(options.script).read_text()) if options.script else []
    pause, port = options.think, options.port

    def think() -> float:
        return pause * (0.5 + (time.perf_counter_ns() // 1000 % 1024) / 1024) if pause else 0.0

    def client(number: int) -> asyncio.Protocol:
        if options.relay:
            starts = number % 2 == 0
            relay = WsRelayBot(port, starts, think, tally) if options.websocket else RelayBot(starts, think, tally)
            relays.append(relay)
            return relay
        name = f"Load-{options.prefix}{number:05d}"
        if options.websocket:
            return WsGameBot(port=port, name=name, script=script, think=think, tally=tally)
        return GameBot(name=name, script=script, think=think, tally=tally, hold=options.hold)

    for number in range(options.bots):
        await loop.create_connection(functools.partial(client, number), "127.0.0.1", port, local_addr=source(number))
        if number % 16 == 15:
            await asyncio.sleep(0)
    await asyncio.sleep(0.2 if options.relay else 0)
    for relay in relays:
        relay.begin()
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        await asyncio.sleep(options.progress)
        latency = sorted(tally.latency or [])
        if tally.latency is not None:
            tally.latency.clear()
        report = {
            "moves": tally.moves,
            "begun": tally.begun,
            "games": tally.games,
            "closed": tally.closed,
            "errors": len(tally.errors),
            "first_error": tally.errors[:1],
            "signed_in": tally.signed_in,
            "latency": latency,
        }
        print(json.dumps(report), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--bots", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--think", type=float, default=0.0, help="mean thinking time a move in seconds")
    parser.add_argument(
        "--progress",
        type=float,
        default=0.5,
        help="seconds between two lines of progress (JSON) on stdout",
    )
    parser.add_argument(
        "--hold", type=float, default=0.0, help="seconds before a game's first move and after its end (lines)"
    )
    parser.add_argument("--script", help="JSON list of moves")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--websocket", action="store_true", help="speak cgos.v2")
    parser.add_argument("--relay", action="store_true", help="be clients of the bare relay")
    parser.add_argument("--latency", action="store_true", help="report each move's way to the opponent")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
