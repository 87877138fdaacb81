"""A thousand line viewers on real sockets: how long telling them holds the loop, against bare writes of the same bytes.

Three occasions: all enter a venue with 200 running games; 200 games begin at once; each follows a game in which a move
is played. While the gallery tells, a coroutine takes every turn that it gets: the gaps between its turns are how long a
bot's line may have to wait. Nobody reads while the clock runs; all fits into the sockets.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import statistics
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from prometheus_client import CollectorRegistry

from benchmarks.reporting import program
from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.facts import GameStarted
from cgos_protocol.games.base import Color, Ruleset
from cgos_protocol.ids import ConnectionId, GameId, VenueId
from cgos_protocol.session import GameSetup, Turn
from cgos_server.core.venue import Venue
from cgos_server.live.bus import Bus
from cgos_server.live.games.live_game import VenueContext
from cgos_server.live.venue.gallery import Gallery
from cgos_server.live.venue.roster import Roster
from cgos_server.net.limits import ConnectionCount, SocketLimits
from cgos_server.net.loop import LoopTime, PollClock, new_loop
from cgos_server.net.tcp import BotConnection
from cgos_server.net.wire import BotSockets, ConnectionContext
from cgos_server.observability.metrics import Metrics

AT = 1_700_000_000.0


class Game:
    """As much of a live game as a gallery looks at."""

    over = None
    started_at = int(AT * 1000)

    def __init__(self, number: GameId) -> None:
        self.id = number
        self.moves: list[tuple[str, int]] = [("D4", 59_000)] * 60

    @property
    def ply(self) -> int:
        return len(self.moves)

    def setup(self) -> GameSetup:
        moves = tuple(self.moves)
        return GameSetup(
            game=self.id,
            size=9,
            komi2=14,
            level_ms=60_000,
            black="Alpha-bot_1.0",
            black_label="1800?",
            white="Beta-bot_2.0",
            white_label="1750",
            moves=moves,
            left_ms=(1, 2),
        )

    def turns(self, since: int) -> list[Turn]:
        return [
            Turn(
                ply=ply,
                color=Color((ply - 1) % 2),
                move=self.moves[ply - 1][0],
                left_ms=self.moves[ply - 1][1],
                other_left_ms=60_000,
                at=0,
                on=False,
            )
            for ply in range(since + 1, self.ply + 1)
        ]


class NoGames:
    """A past without games: a store, its history and the history's games."""

    @property
    def history(self) -> NoGames:
        """Asked for games."""
        return self

    games = history

    async def recent(self, _venue: int, _limit: int) -> list[Any]:
        """None."""
        return []


class Hall:
    """A gallery and its viewers, whose far ends lie in `peers`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: PollClock, games: int) -> None:
        self.loop = loop
        self.bus = Bus(_raise)
        self.games = {number: Game(number) for number in map(GameId, range(1, games + 1))}
        venue = Venue(
            id=VenueId(1),
            name="9x9",
            rules=Ruleset(),
            time=TimeControl(system=TimeSystem.ABSOLUTE, main=60_000_000),
            move_limit=243,
            first_move_limit=60_000_000,
        )
        keeper = LoopTime(loop, clock)
        store: Any = NoGames()
        nobody: Any = None
        place = VenueContext(
            venue=venue, store=store, time=keeper, bus=self.bus, rater=nobody, meter=nobody, spawn=self._spawn
        )
        self.roster = Roster({}, nobody)
        self.gallery = Gallery(place, self.roster)
        limits = SocketLimits(
            connections=10**6,
            connections_per_address=10**6,
            login_timeout_us=60_000_000,
            outbox=1 << 20,
            ignored_per_minute=10**6,
        )
        numbers = map(ConnectionId, range(1, 10**9))
        sockets = BotSockets(
            time=keeper,
            limits=limits,
            count=ConnectionCount(limits.connections, limits.connections_per_address),
            metrics=Metrics(CollectorRegistry(), "bench"),
            new_id=lambda: next(numbers),
        )
        self.context = ConnectionContext(sockets=sockets, reception=nobody, gallery=self.gallery)
        self.tasks: set[asyncio.Task[None]] = set()
        self.viewers: list[BotConnection] = []
        self.peers: list[socket.socket] = []

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.add(self.loop.create_task(work))

    def begin(self, number: GameId) -> None:
        """A game begins."""
        sides = {"black": "Alpha-bot_1.0", "white": "Beta-bot_2.0", "black_label": "1800?", "white_label": "1750"}
        self.bus.publish(GameStarted(venue="9x9", game=number, at=AT, **sides))

    async def enter(self, count: int) -> None:
        for _ in range(count):
            near, far = socket.socketpair()
            far.setblocking(False)
            _, protocol = await self.loop.connect_accepted_socket(lambda: BotConnection(self.context), near)
            assert isinstance(protocol, BotConnection)
            protocol.data_received(b"v1 bench\n")
            self.viewers.append(protocol)
            self.peers.append(far)

    def read(self) -> tuple[int, int]:
        """Empty all sockets: (bytes, lines) that waited in them."""
        data = lines = 0
        for far in self.peers:
            with contextlib.suppress(BlockingIOError):
                while piece := far.recv(1 << 20):
                    data += len(piece)
                    lines += piece.count(b"\n")
        return data, lines

    def close(self) -> None:
        for viewer, far in zip(self.viewers, self.peers, strict=True):
            viewer.cut()
            far.close()


def _raise(error: Exception) -> None:
    raise error


async def _telling_costs(hall: Hall, tell: Callable[[], Awaitable[None]]) -> dict[str, float]:
    """CPU of the telling, and the gaps between the turns that others get meanwhile, in microseconds."""
    gaps: list[float] = []
    done = False

    async def others() -> None:
        before = time.perf_counter()
        while not done:
            await asyncio.sleep(0)
            now = time.perf_counter()
            gaps.append((now - before) * 1e6)
            before = now

    task = asyncio.get_running_loop().create_task(others())
    began = time.process_time()
    await tell()
    cpu = time.process_time() - began
    done = True
    await task
    data, lines = hall.read()
    gaps = sorted(gaps) or [cpu * 1e6]  # nobody else had a turn: it was a single one
    return {
        "cpu_ms": cpu * 1e3,
        "us_per_viewer": cpu * 1e6 / len(hall.viewers),
        "lines": lines,
        "bytes": data,
        "gap_p50_us": statistics.median(gaps),
        "gap_p99_us": gaps[int(len(gaps) * 0.99)],
        "gap_max_us": gaps[-1],
    }


def _bare(hall: Hall, data: bytes) -> float:
    """CPU of writing `data` to every viewer with nothing round it, in microseconds a viewer."""
    began = time.process_time()
    for sock in hall.peers:
        sock.send(data)
    return (time.process_time() - began) * 1e6 / len(hall.peers)


async def _measure(loop: asyncio.AbstractEventLoop, clock: PollClock, viewers: int, games: int) -> dict[str, Any]:
    hall = Hall(loop, clock, games)
    await hall.gallery.open()
    games_now: Any = hall.games
    hall.roster.running = games_now
    for number in map(GameId, range(1, games + 1)):
        hall.begin(number)
    await hall.enter(viewers)
    figures: dict[str, Any] = {"enter": await _telling_costs(hall, hall.gallery.turn)}
    for number in map(GameId, range(games + 1, 2 * games + 1)):
        hall.begin(number)
    figures["burst"] = await _telling_costs(hall, hall.gallery.turn)
    for place, viewer in enumerate(hall.viewers):
        viewer.data_received(f"observe {place % games + 1}\n".encode())
    figures["observe"] = await _telling_costs(hall, hall.gallery.turn)
    for game in hall.games.values():
        game.moves.append(("E5", 58_000))
    figures["move"] = await _telling_costs(hall, hall.gallery.turn)
    figures["idle"] = await _telling_costs(hall, hall.gallery.turn)
    for name in ("enter", "burst", "observe", "move"):
        size = figures[name]["bytes"] // viewers
        figures[name]["bare_us_per_viewer"] = _bare(hall, b"x" * size)
    hall.close()
    await asyncio.sleep(0)
    return figures


def run(viewers: int = 1000, games: int = 200) -> dict[str, Any]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * viewers + 200
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    clock = PollClock()
    loop = new_loop(clock)
    try:
        figures = loop.run_until_complete(_measure(loop, clock, viewers, games))
    finally:
        loop.close()
    print(f"{viewers} viewers, {games} games; times of one occasion")
    print("occasion   lines  CPU ms  us a viewer (bare write)   loop held: p50 us   p99 us   max us")
    for name, row in figures.items():
        bare = row.get("bare_us_per_viewer", 0.0)
        print(
            f"{name:8} {row['lines']:7} {row['cpu_ms']:7.1f} {row['us_per_viewer']:12.1f} ({bare:6.1f})"
            f" {row['gap_p50_us']:22.0f} {row['gap_p99_us']:8.0f} {row['gap_max_us']:8.0f}"
        )
    return figures


main = program(run, viewers=4, games=2)


if __name__ == "__main__":
    main()
