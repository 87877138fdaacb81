"""A server that is killed while it writes: whatever it said was committed is there, and no group is half there."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

from support.storage.storage_sample import put, query, version

from cgos_server.storage.location import Location
from cgos_server.storage.writing.records import BotAdded, GameAdded, VenueAdded

ROUNDS = 6
GAMES = 8

WRITE_FOR_EVER = """
import asyncio, os, sys
from cgos_protocol.errors import DatabaseLocked
from cgos_server.storage.location import location_of
from cgos_server.storage.writing.records import MoveAdded
from cgos_server.storage.opening import open_store
from cgos_server.storage.writing.group_commit import CommitListener

location, first, games = location_of(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])

def fail(error):
    raise error

async def main():
    while True:  # PostgreSQL takes a moment to notice that the one before is gone
        try:
            store = await open_store(location, CommitListener(failed=fail, on_error=fail))
            break
        except DatabaseLocked:
            await asyncio.sleep(0.05)

    def play(game, ply):
        pair = [MoveAdded(g, ply, "E5", 1, 2, 3, 4, 5, 6) for g in (game, game + games)]
        store.submit(pair, lambda: report(game, ply))

    def report(game, ply):
        os.write(1, b"%d %d\\n" % (game, ply))
        play(game, ply + 1)

    for game in range(1, games + 1):
        play(game, first)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def test_nothing_that_was_told_is_lost_by_a_kill(database: Location) -> None:
    people = [BotAdded(1, "a", "a", "", "active", 0), version(1, 1, "a", 0)]
    games = [GameAdded(game, 1, None, 1, 1, "", "", "{}", "", 0) for game in range(1, 2 * GAMES + 1)]
    put(database, [VenueAdded(1, "9x9", "{}", 0), *people, *games])
    rng = random.Random(1)
    first = 1
    for _ in range(ROUNDS):
        acknowledged = _write_until_killed(database, first, lines=rng.randrange(40, 1_500))
        assert len(acknowledged) >= 40
        rows = set(query(database, "SELECT game_id, ply FROM moves"))
        if isinstance(database, Path):
            assert query(database, "PRAGMA integrity_check") == [("ok",)]
        assert acknowledged <= rows
        assert {(game + GAMES, ply) for game, ply in rows if game <= GAMES} == {row for row in rows if row[0] > GAMES}
        for game in range(1, 2 * GAMES + 1):
            plies = sorted(ply for other, ply in rows if other == game and ply >= first)
            assert plies == list(range(first, first + len(plies)))
        # PostgreSQL may still be committing what the killed one asked for last: one move a game.
        first = max(ply for _, ply in rows) + 10


def _write_until_killed(database: Location, first: int, lines: int) -> set[tuple[int, int]]:
    """Start a writer, let it tell of so many commits, kill it; everything it told of."""
    where = str(database) if isinstance(database, Path) else database.dsn
    child = subprocess.Popen(
        [sys.executable, "-c", WRITE_FOR_EVER, where, str(first), str(GAMES)], stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None
        heard = [child.stdout.readline() for _ in range(lines)]
        child.kill()
        heard += child.stdout.readlines()
    whole = [line.split() for line in heard if line.endswith(b"\n")]
    return {(int(game), int(ply)) for game, ply in whole}
