"""How long it takes until another node plays on when the one that serves is killed.

A private PostgreSQL that waits for its disk, two real nodes on loopback with directories of their own and the same
ports for bots, and bots of our client on them, each with a game. Whoever holds the venues is killed (`kill -9`), and
from that moment is counted: until the row in PostgreSQL names the other node (taken), until its WebSocket port accepts
(listening), and until every bot has made a move there (playing). The longest time for which the new owner was not seen
in between (silent) must stay below its time to live. Then the killed node is started again, and stands by.

    python -m benchmarks.cluster.takeover
    python -m benchmarks.cluster.takeover --games 20 --rounds 3
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Annotated

import asyncpg
import msgspec

from benchmarks.moves.load_bots import token
from benchmarks.moves.server_moves import register, scripted_game
from benchmarks.reporting import ROOT, program, table
from cgos_client import connect
from cgos_client.library.game import Game
from cgos_protocol.ids import GameId, VenueId, VersionId
from cgos_server.config.loader import load
from cgos_server.config.venues import enroll_venues
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.opening import open_store
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import GameAdded, GameEnded, LedgerAdded, Record

sys.path.insert(0, str(ROOT / "tests"))

from support.e2e.nodes import NodeProcess, nodes
from support.storage.postgres import postgres_server
from support.storage.postgres_fixtures import ask

LIMIT_S = 120.0
STEPS = ("taken", "listening", "playing", "silent")
RESULTS_A_VERSION = 3
AGE = "SELECT extract(epoch FROM clock_timestamp() - seen)::float8 FROM writer"


class Takeover(msgspec.Struct, kw_only=True):
    """Seconds from the kill; `silent`: the longest time for which the new owner was not seen, until all play."""

    taken: float
    listening: float
    playing: float
    silent: float


class Crowd:
    """Bots of our client that play one game over and over.

    :ivar moved: bot -> when it made its last move, by the monotonic clock
    """

    def __init__(self, url: str, bots: int, think_s: float) -> None:
        self.moved: dict[str, float] = {}
        self._url = url
        self._bots = bots
        self._think_s = think_s
        self._script = scripted_game()

    @contextlib.asynccontextmanager
    async def playing(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._bot(f"Load-{number:05d}")) for number in range(self._bots)]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()

    async def all_after(self, moment: float) -> None:
        """Wait until every bot has made a move since then."""
        async with asyncio.timeout(LIMIT_S):
            while sum(at > moment for at in self.moved.values()) < self._bots:  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.05)

    async def _bot(self, name: str) -> None:
        async def play(game: Game) -> None:
            async for turn in game.turns():
                await asyncio.sleep(self._think_s * (0.5 + random.random()))
                if await game.move(self._script[turn.ply - 1]):
                    self.moved[name] = time.monotonic()

        async with connect(self._url, bot=name, secret=token(name), venues=["9x9"]) as session:
            await session.play(play)


def run(
    games: Annotated[int, "that are being played"] = 200,
    versions: Annotated[int, "that are rated"] = 1000,
    rounds: Annotated[int, "takeovers"] = 10,
    ttl_s: Annotated[float, "time to live of a node, seconds"] = 5.0,
    think_s: Annotated[float, "for which a bot thinks, on average"] = 1.0,
) -> dict[str, object]:
    """Print each takeover, p50 and worst; the same as figures."""
    with tempfile.TemporaryDirectory(prefix="cgos-takeover-") as folder, postgres_server("fsync = on") as postgres:
        ask(postgres.url(), "CREATE DATABASE nodes")
        url = PostgresUrl.parse(postgres.url("nodes"))
        register(url, max(versions, 2 * games))
        with nodes(Path(folder), url.dsn, "a", "b", ttl_s=ttl_s) as (first, second):
            second.share_ports(first)
            asyncio.run(_rate(url, first.config, versions))
            first.serve()
            _until(first.serves)
            second.stand_by()
            found = asyncio.run(_rounds(url, [first, second], rounds, Crowd(first.url, 2 * games, think_s)))
    middle = {step: sorted(getattr(each, step) for each in found)[len(found) // 2] for step in STEPS}
    worst = {step: max(getattr(each, step) for each in found) for step in STEPS}
    rows = [(name, *(f"{each[step]:.2f}" for step in STEPS)) for name, each in (("p50", middle), ("worst", worst))]
    title = f"{len(found)} takeovers, {games} games, {versions} versions, time to live {ttl_s:g} s: seconds"
    print(table(title, ("", *STEPS), rows))
    return {"takeovers": found, "p50": middle, "worst": worst}


async def _rounds(url: PostgresUrl, both: list[NodeProcess], rounds: int, crowd: Crowd) -> list[Takeover]:
    found: list[Takeover] = []
    connection = await asyncpg.connect(url.dsn)
    async with crowd.playing():
        while len(found) < rounds:
            await crowd.all_after(time.monotonic())
            owner, heir = both
            found.append(await _takeover(connection, owner, heir, crowd))
            print("  ".join(f"{step} {getattr(found[-1], step):.2f}" for step in STEPS), flush=True)
            if len(found) < rounds:
                await asyncio.to_thread(owner.stand_by)
                both.reverse()
    await connection.close()
    return found


async def _takeover(connection: asyncpg.Connection, owner: NodeProcess, heir: NodeProcess, crowd: Crowd) -> Takeover:
    assert owner.process is not None
    owner.process.kill()
    killed = time.monotonic()
    async with asyncio.timeout(LIMIT_S):
        while await connection.fetchval("SELECT node FROM writer") != heir.name:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.02)
        taken = time.monotonic()
        ages = [0.0]
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(_watch(connection, ages))
            while not _accepts(heir.ws_port):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.02)
            listening = time.monotonic()
            await asyncio.to_thread(owner.process.wait)
            await crowd.all_after(listening)
            playing = time.monotonic()
            watching.cancel()
    return Takeover(taken=taken - killed, listening=listening - killed, playing=playing - killed, silent=max(ages))


async def _watch(connection: asyncpg.Connection, ages: list[float]) -> None:
    """Note again and again how long ago the owner was seen."""
    while True:
        ages.append(await connection.fetchval(AGE))
        await asyncio.sleep(0.05)


def _accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


async def _rate(url: PostgresUrl, config: Path, versions: int) -> None:
    """The configured venue, and results between neighbors, which the next start folds into ratings."""

    def unexpected(error: Exception) -> None:
        raise error

    store = await open_store(url, CommitListener(failed=unexpected, on_error=unexpected))
    await enroll_venues(load(config), store, 0, str(config))
    lots = random.Random(1)
    seq = 0
    for number in range(1, versions + 1):
        seq += 1
        store.submit([_entry(seq, "enter", version=number, value=1800.0)])
    for game in range(1, RESULTS_A_VERSION * versions + 1):
        seq += 1
        black = lots.randint(1, versions - 1)
        winner = lots.randint(0, 1)
        sides = VersionId(black), VersionId(black + 1)
        added = GameAdded(GameId(game), VenueId(1), None, *sides, "", "", "{}", "", game)
        result = "BW"[winner] + "+Resign"
        ended = GameEnded(game, winner, "resignation", None, "", result, 2, 2, GameId(game))
        store.submit([added, ended, _entry(seq, "game", game=game, black=black, score2=2 * winner)])
    await store.close()


def _entry(
    seq: int,
    kind: str,
    *,
    version: int | None = None,
    value: float | None = None,
    game: int | None = None,
    black: int | None = None,
    score2: int | None = None,
) -> Record:
    return LedgerAdded(
        venue_id=VenueId(1),
        seq=seq,
        at=seq,
        kind=kind,
        game_id=None if game is None else GameId(game),
        version_id=None if version is None else VersionId(version),
        black_id=None if black is None else VersionId(black),
        white_id=None if black is None else VersionId(black + 1),
        score2=score2,
        value=value,
    )


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"nobody serves after {LIMIT_S:g} s")
        time.sleep(0.05)


main = program(run, games=2, versions=6, rounds=1, ttl_s=1.0, think_s=0.05)

if __name__ == "__main__":
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    main()
