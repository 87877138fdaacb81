"""What commands have written into the audit."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def audits(data: Path) -> list[tuple[str, str, str]]:
    """Actor, action and subject of each entry of this data directory's database, the oldest first."""
    with closing(sqlite3.connect(data / "cgos.sqlite")) as connection:
        return connection.execute("SELECT actor, action, subject FROM audit ORDER BY id").fetchall()
