"""The store on SQLite: writes go to the one writer, reads to connections of their own that cannot write.

Must not know: what the records mean, which schema version it is (see schema), the read side of pages and commands
(see history).
"""

from __future__ import annotations

import functools
import itertools
import sqlite3
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from sqlalchemy import URL, Row, Select, and_, func, literal_column, or_, select
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from cgos_server.core.clock import ClockState
from cgos_server.core.rating.base import Entry, Kind
from cgos_server.core.verdict import Reason
from cgos_server.errors import CommitFailed
from cgos_server.storage.records import Record
from cgos_server.storage.store import BotLogin, Meeting, NextIds, StoredGame, StoredMove, StoredVenue
from cgos_server.storage.tables import bots, connections, games, ledger, moves, owners, rounds, tokens, venues, versions
from cgos_server.storage.writer import Connect, Observe, Writer

Durability = Literal["process", "power"]
"""What a commit survives: the death of the process, or a power cut too."""

_SYNCHRONOUS: dict[Durability, str] = {"process": "NORMAL", "power": "FULL"}

_CACHE_KIB = 32_768
"""The last page of every running game should stay in the writer's cache: 8,000 games."""


def connect_for_writing(path: Path, durability: Durability = "process") -> sqlite3.Connection:
    """The writer's connection to the database at `path`, in autocommit mode. Raises sqlite3.Error."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=512, timeout=1.0)
    try:
        for pragma in (
            "journal_mode = WAL",
            f"synchronous = {_SYNCHRONOUS[durability]}",
            "foreign_keys = ON",  # costs 0.3 us a move
            f"cache_size = -{_CACHE_KIB}",
            "wal_autocheckpoint = 0",  # the writer does it, after it has told of the commit
            "journal_size_limit = 67108864",
        ):
            connection.execute(f"PRAGMA {pragma}").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def read_only_engine(path: Path, **options: Any) -> AsyncEngine:
    """An engine whose connections cannot write to the database at `path`."""
    url = URL.create("sqlite+aiosqlite", database=f"file:{quote(str(path))}", query={"mode": "ro", "uri": "true"})
    return create_async_engine(url, **options)
