"""The database's schema: makes it, brings it up to date, refuses a database older or newer than the program.

The migrations lie beside the package in a checkout and inside it in an installed wheel. Everything here is
synchronous and meant for the time before the event loop runs. Must not know: what the tables hold.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, insert
from sqlalchemy.exc import DBAPIError

import cgos_server
from cgos_server.errors import SchemaMismatch, StoreError
from cgos_server.storage import tables
from cgos_server.storage.connections import connect_for_reading, migrating_engine


def migrations() -> Path:
    """The folder with the migrations. Raises FileNotFoundError where the installation is broken."""
    package = Path(cgos_server.__file__).parent
    for folder in (package / "migrations", package.parent / "migrations"):
        if (folder / "env.py").is_file():
            return folder
    raise FileNotFoundError(f"the migrations are missing from {package}; install cgos-server again")


@contextlib.contextmanager
def open_for_migration(path: Path) -> Iterator[Connection]:
    """A connection on which changes of the schema are transactions too: a killed upgrade leaves the old schema."""
    with migrating_engine(path).connect() as connection:
        yield connection


def alembic_config(connection: Connection | None = None) -> Config:
    """Alembic's settings for our migrations, on `connection` if one is given."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(migrations()).replace("%", "%%"))
    return config


def head() -> str:
    """The revision that this program works with."""
    revision = ScriptDirectory.from_config(alembic_config()).get_current_head()
    if revision is None:
        raise FileNotFoundError(f"{migrations()} holds no migration; install cgos-server again")
    return revision


def current(path: Path) -> str | None:
    """The revision of the database at `path`; None where there is no file, or no table in it.

    Raises SchemaMismatch where the file is something else than a database of cgos-server, StoreError where it cannot be
    read.
    """
    if not path.exists():
        return None
    try:
        # Read only: commands ask this of the database of a running server, whose writer must not have to wait for them.
        with contextlib.closing(connect_for_reading(path)) as connection:
            listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables_there = {name for (name,) in listed}
            if "alembic_version" in tables_there:
                revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()
                if revision is not None:
                    return str(revision[0])
    except sqlite3.OperationalError as error:
        raise StoreError(f"the database {path} cannot be read: {error}") from error
    except sqlite3.DatabaseError as error:
        raise _foreign(path) from error
    if tables_there - {"alembic_version"}:
        raise _foreign(path)
    return None


def check(path: Path) -> None:
    """Return where the program and the database at `path` fit together. Raises SchemaMismatch with the remedy."""
    found = current(path)
    if found is None:
        raise SchemaMismatch(
            "no-database",
            f"There is no database at {path}. `cgos-server serve` makes one; if it should be there, check the data "
            "directory in the configuration.",
        )
    if found == head():
        return
    if _knows(found):
        raise SchemaMismatch(
            "schema-older",
            f"The database {path} has the older schema {found}, this program needs {head()}. Stop the server, keep a "
            "copy of the database, and run `cgos-server db upgrade`.",
        )
    raise SchemaMismatch(
        "schema-newer",
        f"The database {path} has the schema {found}, which this program ({cgos_server.__version__}) does not know: a "
        "newer one has upgraded it. Install that newer cgos-server (`pip install --upgrade cgos-server`).",
    )


def prepare(path: Path) -> None:
    """Make the database at `path` where there is none yet, else :func:`check` it.

    :raises SchemaMismatch: where it is not of this program's schema
    :raises StoreError: where it cannot be made
    """
    if current(path) is not None:
        check(path)
        return
    with _store_errors(path, "made"):
        _make(path)


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    with open_for_migration(path) as connection:
        # Not inside the transaction below, where SQLite does not allow it; it is kept in the file from now on.
        raw: Any = connection.connection.driver_connection
        raw.execute("PRAGMA journal_mode = WAL").fetchall()
        with connection.begin():
            command.upgrade(alembic_config(connection), "head")
            row = {"id": 1, "created_at": int(time.time() * 1000), "created_by": cgos_server.__version__}
            connection.execute(insert(tables.server), row)


def upgrade(path: Path) -> tuple[str, str]:
    """Bring the database at `path` to this program's schema; (revision before, revision after).

    The caller holds the database's lock. Raises SchemaMismatch where there is no database or a newer one, StoreError
    where it cannot be written.
    """
    found = current(path)
    if found is None or not _knows(found):
        check(path)
    with _store_errors(path, "upgraded"), open_for_migration(path) as connection, connection.begin():
        command.upgrade(alembic_config(connection), "head")
    return str(found), head()


@contextlib.contextmanager
def _store_errors(path: Path, done: str) -> Iterator[None]:
    """What the file system or SQLite objects to, as our own error."""
    try:
        yield
    except (OSError, DBAPIError, sqlite3.Error) as error:
        raise StoreError(f"the database {path} could not be {done}: {error}") from error


def _knows(revision: str) -> bool:
    script = ScriptDirectory.from_config(alembic_config())
    return any(known.revision == revision for known in script.walk_revisions())


def _foreign(path: Path) -> SchemaMismatch:
    return SchemaMismatch(
        "not-a-database",
        f"{path} is not a database of cgos-server. Move the file away, or give another data directory in the "
        "configuration.",
    )
