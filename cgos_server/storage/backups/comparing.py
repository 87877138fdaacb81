"""Whether a restored backup has all that the running database has, up to the backup's instant.

Both go on with numbers that only grow: games, versions, entries of a ledger. What the running database has within the
backup's numbers must be in the backup, and of games that had ended there all moves. Must not know: how either was made.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from cgos_server.storage import copying
from cgos_server.storage.location import Location


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """So many of one kind in the backup, and in the running database up to the same number."""

    what: str
    backup: int
    running: int


def compare(backup: Path, running: Location) -> list[Compared]:
    """Count both. The running database may be written meanwhile. Raises StoreError.

    :param backup: a SQLite file of this program's schema
    """
    latest, unfinished, entries = copying.ask(
        backup,
        "SELECT coalesce(max(id), 0) FROM games UNION ALL SELECT coalesce(max(id), 0) FROM versions",
        "SELECT id FROM games WHERE result IS NULL",
        "SELECT venue_id, max(seq) FROM ledger GROUP BY venue_id",
    )
    (last_game,), (last_version,) = latest
    running_there = ", ".join(str(game) for (game,) in unfinished) or "0"
    within = " OR ".join(f"(venue_id = {venue} AND seq <= {seq})" for venue, seq in entries) or "1 = 0"
    conditions = {
        "games": f"games WHERE id <= {last_game}",
        "moves of ended games": f"moves WHERE game_id <= {last_game} AND game_id NOT IN ({running_there})",
        "versions": f"versions WHERE id <= {last_version}",
        "ledger entries": f"ledger WHERE {within}",
    }
    questions = [f"SELECT count(*) FROM {condition}" for condition in conditions.values()]
    counts = [[rows[0][0] for rows in copying.ask(place, *questions)] for place in (backup, running)]
    return [
        Compared(what=what, backup=here, running=there) for what, here, there in zip(conditions, *counts, strict=True)
    ]
