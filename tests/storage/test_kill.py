"""A server that is killed while it writes: whatever it said was committed is there, and no group is half there."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

from storage_sample import version

from cgos_server.storage.connections import connect_for_writing
from cgos_server.storage.group_commit import Group
from cgos_server.storage.records import BotAdded, GameAdded, VenueAdded
from cgos_server.storage.writer import write

ROUNDS = 6
GAMES = 8

WRITE_FOR_EVER = """
import asyncio, os, sys
from pathlib import Path
from cgos_server.storage.records import MoveAdded
from cgos_server.storage.sql_store import open_store

path, first, games = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])

def fail(error):
    raise error

async def main():
    store = await open_store(path, failed=fail, on_error=fail)

    def play(game, ply):
        pair = [MoveAdded(g, ply, "E5", 1, 2, 3, 4, 5, 6) for g in (game, game + games)]
        store.submit(pair, lambda: told(game, ply))

    def told(game, ply):
        os.write(1, b"%d %d\\n" % (game, ply))
        play(game, ply + 1)

    for game in range(1, games + 1):
        play(game, first)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def test_nothing_that_was_told_is_lost_by_a_kill(database: Path) -> None:
    connection = connect_for_writing(database)
    people = [BotAdded(1, "a", "a", "", "active", 0), version(1, 1, "a", 0)]
    games = [GameAdded(game, 1, None, 1, 1, "", "", "{}", "", 0) for game in range(1, 2 * GAMES + 1)]
    write(connection, [Group([VenueAdded(1, "9x9", "{}", 0), *people, *games], None)])
    connection.close()
    rng = random.Random(1)
    first = 1
    for _ in range(ROUNDS):
        told = _write_until_killed(database, first, lines=rng.randrange(40, 1_500))
        assert len(told) >= 40
        with contextlib.closing(sqlite3.connect(database)) as look:
            rows = set(look.execute("SELECT game_id, ply FROM moves"))
            assert look.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert told <= rows
        assert {(game + GAMES, ply) for game, ply in rows if game <= GAMES} == {row for row in rows if row[0] > GAMES}
        for game in range(1, 2 * GAMES + 1):
            plies = sorted(ply for other, ply in rows if other == game and ply >= first)
            assert plies == list(range(first, first + len(plies)))
        first = max(ply for _, ply in rows) + 1


def _write_until_killed(database: Path, first: int, lines: int) -> set[tuple[int, int]]:
    """Start a writer, let it tell of so many commits, kill it; everything it told of."""
    child = subprocess.Popen(
        [sys.executable, "-c", WRITE_FOR_EVER, str(database), str(first), str(GAMES)], stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None
        heard = [child.stdout.readline() for _ in range(lines)]
        child.kill()
        heard += child.stdout.readlines()
    whole = [line.split() for line in heard if line.endswith(b"\n")]
    return {(int(game), int(ply)) for game, ply in whole}
