"""A restored server, and bots that stayed connected: they remember games that the server does not."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.e2e.processes import ServerProcess, until
from support.e2e.processes import server as serve

from cgos_client import CgosClientError, Game, connect
from cgos_client.retry import Pauses

pytestmark = pytest.mark.e2e

VENUE = 'time = { system = "absolute", main = "5s" }'
BOTS = ("Ann", "Ben", "Cid", "Dot", "Eve", "Fay")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with serve(tmp_path, settings="drain_limit_s = 5", venue=VENUE) as serving:
        yield serving


async def play_random_moves(game: Game) -> None:
    rng = random.Random(game.number)
    async for turn in game.turns():
        board = turn.position.board()
        points = [point for point in board.empties() if not board.is_eye(board.to_play, point)]
        legal = [point for point in points if board.copy().play(point) is None]
        await asyncio.sleep(0.03)
        await game.move("pass" if not legal or turn.ply > 30 else board.write(rng.choice(legal)))


async def run_bot(server: ServerProcess, name: str) -> None:
    """Play until the test ends, whatever happens to the server."""
    pauses = Pauses(random.Random(1), first=0.05, longest=0.2)
    while True:
        try:
            async with connect(server.url, bot=name, secret=f"secret-{name}", venues=["9x9"], pauses=pauses) as session:
                await session.play(play_random_moves)
        except CgosClientError:
            await asyncio.sleep(0.1)  # another process's start cannot be simulated


def back_up_during_a_game(server: ServerProcess, folder: Path) -> tuple[Path, int]:
    """A backup in which a game is unfinished, and its highest number of a game."""
    for number in range(20):
        path = folder / f"backup{number}.sqlite"
        assert server.command("db", "backup", str(path)).returncode == 0
        with contextlib.closing(sqlite3.connect(path)) as backup:
            ((unfinished,),) = backup.execute("SELECT count(*) FROM games WHERE result IS NULL")
            ((highest,),) = backup.execute("SELECT max(id) FROM games")
        if unfinished:
            return path, highest
    raise AssertionError("no game ran when a backup was taken")


async def test_bots_that_stay_connected_play_on_after_a_restore(server: ServerProcess, tmp_path: Path) -> None:
    def ended() -> dict[int, str]:
        return dict(server.query("SELECT id, reason FROM games WHERE ended_at IS NOT NULL ORDER BY id"))

    def play_and_restore() -> tuple[int, dict[int, str]]:
        until(lambda: len(ended()) >= 2, 60, "no games end")
        backup, in_backup = back_up_during_a_game(server, tmp_path)
        until(lambda: max(ended()) > in_backup + 3, 60, "no games end after the backup")
        assert server.stop() == 0
        ((highest,),) = server.query("SELECT max(id) FROM games")
        restored = server.command("db", "restore", str(backup))
        assert restored.returncode == 0, restored.stderr
        before = ended()
        server.start()
        return highest, before

    def later(before: dict[int, str]) -> dict[int, str]:
        return {game: reason for game, reason in ended().items() if game not in before}

    async with asyncio.timeout(180), asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(run_bot(server, name)) for name in BOTS]
        highest, before = await asyncio.to_thread(play_and_restore)
        await asyncio.to_thread(until, lambda: len(later(before)) >= 6, 60, "no games end after the restore")
        for task in running:
            task.cancel()
    assert set(later(before).values()) == {"score"}
    assert min(later(before)) > highest
