"""Bots that come back: those of our client on both protocols, and some that wait long before they connect again.

One process of many bots, for drills that end and begin servers. All play one scripted game over and over; what they are
told is written to a file in the end. Loopback only, stops by itself. Must not know: what becomes of the server.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from benchmarks.moves.load_bots import GameBot, Tally, token
from cgos_client.addresses import Address
from cgos_client.bridge.engine import Engine, EngineMove, NewGame
from cgos_client.bridge.supervisor import SupervisedEngine
from cgos_client.library.link import Endpoint
from cgos_client.library.session import connect
from cgos_client.playing.events import Event, MoveMade, Seated
from cgos_client.playing.lines_runner import Runner
from cgos_client.playing.lines_session import Agenda, Identity
from cgos_client.playing.slots import SlotsRunner
from cgos_client.playing.together import BotRunner
from cgos_client.playing.transport import connect as connect_tcp
from cgos_protocol.games.base import Color

OTHERS = 10
"""Each so-many-th bot is none of our client's."""


class Told(msgspec.Struct, array_like=True, frozen=True):
    """A bot was told of a move. `at`: seconds of the monotonic clock."""

    at: float
    game: int
    ply: int


class Witnessed(msgspec.Struct, kw_only=True):
    """What the bots of a process were told.

    :ivar moves: of the opponent, as they were played
    :ivar shown: the longest record of each game that anybody was shown on coming back, in plies
    :ivar others: games in which one of the other bots played
    :ivar errors: what the other bots were told in the form of an error
    """

    moves: list[Told] = []
    shown: dict[int, int] = {}
    others: set[int] = set()
    errors: list[str] = []

    def told(self, game: int, ply: int) -> None:
        self.moves.append(Told(time.monotonic(), game, ply))

    def seated(self, game: int, plies: int) -> None:
        self.shown[game] = max(plies, self.shown.get(game, 0))


class ScriptedEngine(Engine):
    """An engine that plays the script, each move after its thinking time."""

    label = "scripted"
    analyses = False

    def __init__(self, script: list[str], think: Callable[[], float]) -> None:
        self._script = script
        self._think = think
        self._ply = 0

    async def start(self) -> None:
        """Nothing to start."""

    async def new_game(self, game: NewGame) -> None:
        self._ply = 0

    async def play(self, color: Color, move: str) -> None:
        self._ply += 1

    async def genmove(self, color: Color, left_ms: int, stones_left: int = 0) -> EngineMove:
        await asyncio.sleep(self._think())
        self._ply += 1
        return EngineMove(self._script[self._ply - 1])

    async def settle(self, grace: float) -> None:
        """A cancelled call does not go on."""

    async def game_over(self, result: str) -> None:
        """The script begins anew."""

    async def close(self) -> None:
        """Nothing to end."""


class Listening:
    """Takes down what one bot of our client is told."""

    def __init__(self, witnessed: Witnessed) -> None:
        self._witnessed = witnessed
        self._color: dict[int, Color] = {}
        self._ply: dict[int, int] = {}

    def __call__(self, event: Event) -> None:
        match event:
            case Seated(setup, color):
                self._color[setup.game] = color
                self._ply[setup.game] = len(setup.moves)
                self._witnessed.seated(setup.game, len(setup.moves))
            case MoveMade(game, color):
                self._ply[game] += 1
                if color is not self._color[game]:
                    self._witnessed.told(game, self._ply[game])
            case _:
                pass


class OtherTally(Tally):
    """What the bots are told that are none of our client's."""

    def __init__(self, witnessed: Witnessed) -> None:
        super().__init__(keep_latency=False)
        self._witnessed = witnessed
        self.errors = witnessed.errors

    def arrived(self, game: object, ply: int) -> None:
        number = int(str(game))
        self._witnessed.others.add(number)
        self._witnessed.told(number, ply + 1)


class OtherBot(GameBot):
    """A bot of the CGOS lines that waits so long before it connects again."""

    def __init__(self, name: str, script: list[str], think: Callable[[], float], tally: OtherTally) -> None:
        super().__init__(name, script, think, tally)
        self.gone = asyncio.Event()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.gone.set()

    def move(self) -> None:
        if self.transport is not None:  # else the move was thought of for nothing
            super().move()


async def other(number: int, options: argparse.Namespace, script: list[str], witnessed: Witnessed) -> int:
    """One such bot, until it is cancelled."""
    loop = asyncio.get_running_loop()
    think, tally = functools.partial(thinking, options.think, random.Random(number)), OtherTally(witnessed)
    while True:
        bot = OtherBot(name_of(number), script, think, tally)
        try:
            await loop.create_connection(lambda bot=bot: bot, "127.0.0.1", options.lines)  # type: ignore[misc]
        except OSError as error:
            witnessed.errors.append(str(error))
        else:
            await bot.gone.wait()
        await asyncio.sleep(options.wait)


def thinking(mean_s: float, rng: random.Random) -> float:
    """Seconds that a move takes."""
    return mean_s * (0.5 + rng.random())


def name_of(number: int) -> str:
    """As :func:`benchmarks.moves.server_moves.register` registers it."""
    return f"Load-{number:05d}"


def ours(number: int, options: argparse.Namespace, script: list[str], witnessed: Witnessed) -> BotRunner:
    """A bot of our client as `cgos-client run` makes it, every second one by `cgos.v2`."""
    name = name_of(number)
    think = functools.partial(thinking, options.think, random.Random(number))
    engine = SupervisedEngine(make=lambda: ScriptedEngine(script, think))
    tell = Listening(witnessed)
    if number % 2:
        url = f"ws://127.0.0.1:{options.websocket}"
        return SlotsRunner(
            connect=lambda engine: connect(url, bot=name, secret=token(name), venues=("9x9",), engine=engine),
            engines=[engine],
            tell=tell,
        )
    address = Address("tcp", "127.0.0.1", options.lines)
    return Runner(
        connect=functools.partial(connect_tcp, address.host, address.port, Endpoint(address, "", None)),
        engine=engine,
        identity=Identity(name, token(name), "drill"),
        agenda=Agenda(),
        tell=tell,
    )


async def play(options: argparse.Namespace) -> Witnessed:
    """All bots, until standard input ends."""
    script = json.loads(options.script.read_text())
    witnessed = Witnessed()
    async with asyncio.TaskGroup() as group:
        tasks = []
        for number in range(options.bots):
            if number % OTHERS == OTHERS - 1:
                tasks.append(group.create_task(other(number, options, script, witnessed)))
            else:
                tasks.append(group.create_task(ours(number, options, script, witnessed).run()))
            await asyncio.sleep(0.01)  # they do not all come at one moment
        await _input_ended()
        for task in tasks:
            task.cancel()
    return witnessed


async def _input_ended() -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, required=True, help="port of the CGOS lines")
    parser.add_argument("--websocket", type=int, required=True)
    parser.add_argument("--bots", type=int, required=True)
    parser.add_argument("--think", type=float, required=True, help="mean thinking time of a move in seconds")
    parser.add_argument("--wait", type=float, required=True, help="seconds before the others connect again")
    parser.add_argument("--script", type=Path, required=True, help="JSON list of moves")
    parser.add_argument("--output", type=Path, required=True, help="what they were told, JSON")
    options = parser.parse_args()
    options.output.write_bytes(msgspec.json.encode(asyncio.run(play(options))))


if __name__ == "__main__":
    main()
