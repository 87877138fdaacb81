"""A restored server, and bots that stayed connected: they remember games that the server does not."""

from __future__ import annotations

import asyncio
import random
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
        await asyncio.sleep(0.01)
        await game.move("pass" if not legal or turn.ply > 60 else board.write(rng.choice(legal)))


async def run_bot(server: ServerProcess, name: str) -> None:
    """Play until the test ends, whatever happens to the server."""
    pauses = Pauses(random.Random(1), first=0.05, longest=0.2)
    while True:
        try:
            async with connect(server.url, bot=name, secret=f"secret-{name}", venues=["9x9"], pauses=pauses) as session:
                await session.play(play_random_moves)
        except CgosClientError:
            await asyncio.sleep(0.1)  # another process's start cannot be simulated


async def test_bots_that_stay_connected_play_on_after_a_restore(server: ServerProcess, tmp_path: Path) -> None:
    def ended() -> list[tuple[int, str]]:
        return server.query("SELECT id, reason FROM games WHERE ended_at IS NOT NULL ORDER BY id")

    def play_and_restore() -> tuple[int, int, list[int]]:
        until(lambda: len(ended()) >= 3, 60, "no games end")
        assert server.command("db", "backup", str(tmp_path / "backup.sqlite")).returncode == 0
        ((in_backup,),) = server.query("SELECT max(id) FROM games")
        until(lambda: len(ended()) >= in_backup + 6, 60, "no games end after the backup")
        assert server.stop() == 0
        ((highest,),) = server.query("SELECT max(id) FROM games")
        restored = server.command("db", "restore", str(tmp_path / "backup.sqlite"))
        assert restored.returncode == 0, restored.stderr
        known = [game for game, _ in ended()]
        assert len(known) < in_backup, "a game ran when the backup was taken"
        server.start()
        return highest, in_backup, known

    async with asyncio.timeout(180), asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(run_bot(server, name)) for name in BOTS]
        highest, in_backup, known = await asyncio.to_thread(play_and_restore)
        until_later = lambda: [row for row in ended() if row[0] not in known]  # noqa: E731
        later = await asyncio.to_thread(until, lambda: len(until_later()) >= 9 and until_later(), 60, "no games end")
        for task in running:
            task.cancel()
    assert {reason for _, reason in later} == {"score"}
    assert min(game for game, _ in later) > highest >= in_backup
