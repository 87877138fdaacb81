"""A scripted server on the loopback, an engine in memory and the fake GTP program, as fixtures."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

import pytest

from cgos_client.bridge.engine import EngineFailure, EngineMove, NewGame
from cgos_client.bridge.gtp_engine import GtpEngine
from cgos_client.bridge.supervisor import SupervisedEngine
from cgos_client.playing.events import Event, GameResult
from cgos_client.playing.lines_runner import Runner
from cgos_client.playing.lines_session import Agenda, Identity
from cgos_client.playing.together import Together
from cgos_client.playing.transport import connect
from cgos_client.retry import Retries
from cgos_protocol.games.base import Color

FAKE_GTP = Path(__file__).parent / "engines" / "fake_gtp.py"
PASSWORD = "open-sesame"


class Peer:
    """The server's end of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def say(self, *lines: str) -> None:
        self.writer.write("".join(line + "\n" for line in lines).encode())
        await self.writer.drain()

    async def hear(self) -> str:
        """The next line; an empty string at the end of the connection."""
        async with asyncio.timeout(15):
            return (await self.reader.readline()).decode().rstrip("\n")

    async def sign_in(self) -> list[str]:
        answers = []
        for question in ("protocol genmove_analyze", "username", "password"):
            await self.say(question)
            answers.append(await self.hear())
        return answers


Script = Callable[[Peer], Awaitable[None]]


class FakeServer:
    """Runs one script for each connection, in order; further connections are closed at once."""

    def __init__(self, *scripts: Script) -> None:
        self.scripts = list(scripts)
        self.connections = 0
        self.failed: BaseException | None = None

    async def __aenter__(self) -> FakeServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 20)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()
        if self.failed is not None:
            raise self.failed
        assert self.connections >= len(self.scripts), "not every script was reached"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            if self.connections <= len(self.scripts) and self.failed is None:
                await self.scripts[self.connections - 1](Peer(reader, writer))
        except (AssertionError, TimeoutError, OSError) as error:
            self.failed = error
        finally:
            writer.close()


class MemoryEngine:
    """An engine in this process.

    `moves` may hold failures, which are raised, events, which are waited for, and functions, which give the move.
    """

    def __init__(
        self,
        moves: Iterable[object],
        heard: list[str],
        left_ms: list[int],
        move_requested: asyncio.Event,
        analyses: bool,
    ) -> None:
        self.moves = iter(moves)
        self.heard = heard
        self.left_ms = left_ms
        self.move_requested = move_requested
        self.label = "memory"
        self.analyses = analyses
        self.running = False

    async def start(self) -> None:
        self.running = True
        self.heard.append("start")

    async def new_game(self, game: NewGame) -> None:
        self.heard.append(f"new {game.size} {game.komi2} {game.level_ms} {game.opponent} {game.opponent_label}")

    async def play(self, color: Color, move: str) -> None:
        self.heard.append(f"play {color.letter} {move}")

    async def genmove(self, color: Color, left_ms: int, stones_left: int = 0) -> EngineMove:
        self.heard.append(f"genmove {color.letter}")
        self.move_requested.set()
        self.left_ms.append(left_ms)
        move = next(self.moves)
        while isinstance(move, asyncio.Event):
            await move.wait()
            move = next(self.moves)
        if callable(move):
            move = move()
        if isinstance(move, EngineFailure):
            raise move
        return move if isinstance(move, EngineMove) else EngineMove(str(move))

    async def settle(self, grace: float) -> None:
        self.heard.append("settle")

    async def game_over(self, result: str) -> None:
        self.heard.append(f"over {result}")

    async def close(self) -> None:
        if self.running:
            self.heard.append("close")
        self.running = False


class Bench:
    """Everything round a runner, so that a test only says what is special about it."""

    def __init__(self, record: Path) -> None:
        self.record = record
        self.events: list[Event] = []
        self.pauses: list[float] = []
        self.heard: list[str] = []
        self.left_ms: list[int] = []
        self.move_requested = asyncio.Event()
        self.agenda = Agenda()
        self.identity = Identity("Bot", PASSWORD, "cgos-client 0")
        self.runner: Runner | None = None

    @property
    def results(self) -> list[GameResult]:
        return [event for event in self.events if isinstance(event, GameResult)]

    def commands(self) -> list[str]:
        """What the fake GTP program was told."""
        return self.record.read_text().splitlines()

    def fake_gtp(self, *options: str) -> list[str]:
        return [sys.executable, str(FAKE_GTP), str(self.record), *options]

    def gtp(self, *options: str, timeout: float | None = 20.0) -> SupervisedEngine:
        return SupervisedEngine(make=lambda: GtpEngine(self.fake_gtp(*options), timeout))

    def memory(self, *moves: object, analyses: bool = False) -> SupervisedEngine:
        """One engine after another takes its moves from one line."""
        line = iter(moves)
        return SupervisedEngine(
            make=lambda: MemoryEngine(line, self.heard, self.left_ms, self.move_requested, analyses)
        )

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if len(self.pauses) > 30:
            raise AssertionError("the client tries for ever")
        await asyncio.sleep(0)

    async def run(self, engine: SupervisedEngine, scripts: Sequence[Script], *, once: bool = False) -> int:
        async with FakeServer(*scripts) as server:
            self.runner = Runner(
                connect=lambda: connect("127.0.0.1", server.port),
                engine=engine,
                identity=self.identity,
                agenda=self.agenda,
                tell=self.events.append,
                once=once,
                retries=Retries(random.Random(1)),
                sleep=self.pause,
            )
            async with asyncio.timeout(30):
                return await Together([("", self.runner)]).run()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "commands")


@pytest.fixture
def fake_server() -> type[FakeServer]:
    return FakeServer
