"""The database's schema: makes it, brings it up to date, refuses a database that does not fit the program.

The migrations lie beside the package in a checkout and inside it in an installed wheel; they are the same for SQLite
and PostgreSQL. Everything here is synchronous and meant for the time before the server's work begins. Must not know:
what the tables hold.
"""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from sqlalchemy import Connection, MetaData, NullPool, Table, create_engine, insert
from sqlalchemy.exc import DBAPIError, SAWarning

import cgos_server
from cgos_protocol.errors import CgosError, Code, Invalid, NotFound, SchemaMismatch, StoreError
from cgos_server.storage import revisions, tables
from cgos_server.storage.failures import store_errors
from cgos_server.storage.incarnation import new_incarnation
from cgos_server.storage.location import Location, PostgresUrl, elsewhere, make_directory, note_path
from cgos_server.storage.ownership import give_to_owner
from cgos_server.storage.sqlite.connections import connect_for_reading, migrating_engine, refuse_orphaned_log

if TYPE_CHECKING:  # Alembic is loaded where something is migrated: no usual start of a program waits for it.
    from alembic.config import Config
    from alembic.script import ScriptDirectory


UPGRADE: Final = "db upgrade"
DOWNGRADE: Final = "db downgrade"

_LATEST: Final = f"SELECT detail FROM audit WHERE action = '{UPGRADE}' ORDER BY id DESC LIMIT 1"
_MAKER: Final = "SELECT created_by FROM server"


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the upgrade to a schema.

    :ivar version: of the program that made it; None where that is not known
    :ivar before: the revision that it came from, None where that is not known
    :ivar backup: the file with the database as it was before; None where there is none
    """

    version: str | None = None
    before: str | None = None
    backup: str | None = None


class _Note(msgspec.Struct):
    """What the audit keeps of a change of the schema."""

    to: str
    version: str
    before: str
    backup: str = ""


def note_change(connection: Connection, action: str, change: tuple[str, str], *, by: str, backup: str | None) -> None:
    """Leave word of a change of the schema, within its transaction.

    :param action: :data:`UPGRADE` or :data:`DOWNGRADE`
    :param change: the revisions before and after
    :param by: who does it
    :param backup: the file with the database of before
    """
    kept = _Note(to=change[1], version=cgos_server.__version__, before=change[0], backup=backup or "")
    row = {"at": int(time.time() * 1000), "actor": by, "action": action, "subject": "database"}
    connection.execute(insert(tables.audit), {**row, "detail": msgspec.json.encode(kept).decode()})


def origin_of(location: Location, revision: str) -> Origin:
    """What is known of how the database came to `revision`, its schema. Raises nothing."""
    # The tables are those of a program that is not known: they may be called otherwise, or be read protected.
    with contextlib.suppress(CgosError, sqlite3.Error, OSError, msgspec.MsgspecError):
        kept = [msgspec.json.decode(detail, type=_Note) for detail in _ask(location, _LATEST)]
        if kept and kept[0].to == revision:
            return Origin(version=kept[0].version, before=kept[0].before, backup=kept[0].backup or None)
        makers = [maker for maker in _ask(location, _MAKER) if maker != cgos_server.__version__]
        return Origin(version=makers[0] if makers and not kept else None)
    return Origin()


def _ask(location: Location, question: str) -> list[Any]:
    """The first column of the answer."""
    if isinstance(location, Path):
        with contextlib.closing(connect_for_reading(location)) as connection:
            return [row[0] for row in connection.execute(question).fetchall()]
    from cgos_server.storage.postgres import schema as postgres

    return postgres.ask(location, question)


T = TypeVar("T")

_UNRELEASED: Final = frozenset({"0001", "0002", "0003", "0004", "0005", "0006"})
"""Revisions of development versions that were never released; those of releases have a word behind their number."""

_FAULTS: Final = (OSError, DBAPIError, sqlite3.Error)


def migrations() -> Path:
    """The folder with the migrations. Raises FileNotFoundError where the installation is broken."""
    package = Path(cgos_server.__file__).parent
    for folder in (package / "migrations", package.parent / "migrations"):
        if (folder / "env.py").is_file():
            return folder
    raise FileNotFoundError(f"the migrations are missing from {package}; install cgos-server again")


def on_connection(location: Location, work: Callable[[Connection], T]) -> T:
    """What `work` returns on a connection where changes of the schema are part of transactions, which `work` begins:
    a killed upgrade leaves the old schema. Raises StoreError where PostgreSQL cannot be reached."""
    if isinstance(location, PostgresUrl):
        from cgos_server.storage.postgres import schema as postgres

        return postgres.on_connection(location, work)
    with migrating_engine(location).connect() as connection:
        return work(connection)


def alembic_config(connection: Connection | None = None) -> Config:
    """Alembic's settings for our migrations, on `connection` if one is given."""
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(migrations()).replace("%", "%%"))
    return config


def head() -> str:
    """The revision that this program works with."""
    revisions = sorted(path.stem for path in (migrations() / "versions").glob("[0-9]*.py"))
    if not revisions:
        raise FileNotFoundError(f"{migrations()} holds no migration; install cgos-server again")
    return revisions[-1]


def current(location: Location) -> str | None:
    """The revision of a database; None where there is no file, or no table in it.

    Raises SchemaMismatch where it is something else than a database of cgos-server, StoreError where it cannot be
    read, Invalid where its log alone is there.
    """
    if isinstance(location, PostgresUrl):
        from cgos_server.storage.postgres import schema as postgres

        tables_there, revision = postgres.look(location)
    else:
        refuse_orphaned_log(location)
        if not location.exists():
            return None
        tables_there, revision = _look(location)
    if revision is None and tables_there - {"alembic_version"}:
        raise _foreign(location)
    return revision


def _look(path: Path) -> tuple[set[str], str | None]:
    """The tables of the file, and its revision."""
    revision = None
    try:
        # Read only: commands ask this of the database of a running server, whose writer must not have to wait for them.
        with contextlib.closing(connect_for_reading(path)) as connection:
            listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables_there = {name for (name,) in listed}
            if "alembic_version" in tables_there:
                revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.OperationalError as error:
        raise StoreError(f"the database {path} cannot be read: {error}") from error
    except sqlite3.DatabaseError as error:
        raise _foreign(path) from error
    return tables_there, None if revision is None else str(revision[0])


def check(location: Location) -> None:
    """Return where the program and the database fit together. Raises SchemaMismatch or NotFound with the remedy."""
    refuse_elsewhere(location)
    _check(location)


def _check(location: Location) -> None:
    revision = known(location)
    if revision != head():
        raise SchemaMismatch(
            Code.SCHEMA_OLDER,
            f"The database {location} has the older schema {revision}, this program needs {head()}. Stop the server "
            "and run `cgos-server db upgrade`, which takes a backup first; with --dry-run it says what it will do.",
        )


def known(location: Location, *, backup: bool = False) -> str:
    """The revision of a database, or of a backup, that this program works with or can upgrade.

    Raises SchemaMismatch or NotFound with the remedy, StoreError where it cannot be read.
    """
    revision = current(location)
    if revision is None:
        raise NotFound(
            Code.NO_DATABASE,
            f"There is no database at {location}. `cgos-server serve` makes one; if it should be there, check "
            f"{'the data directory' if isinstance(location, Path) else 'server.database'} in the configuration.",
        )
    if revision == head() or _knows(revision):
        return revision
    if revision in _UNRELEASED:
        raise SchemaMismatch(
            Code.SCHEMA_UNRELEASED,
            f"The database {location} has the schema {revision} of a development version of cgos-server that was never "
            "released. This program can neither read nor upgrade it; only the version that made it can read it. "
            + _other_place(location),
        )
    raise _newer(location, revision, backup)


def _newer(location: Location, revision: str, backup: bool) -> SchemaMismatch:
    """Who made it what it is, and both ways on."""
    upgraded = origin_of(location, revision)
    by = "a newer cgos-server" if upgraded.version is None else f"cgos-server {upgraded.version}"
    to = head() if upgraded.before is None or not _knows(upgraded.before) else upgraded.before
    below = f"`cgos-server db downgrade --to {to}`"
    empty = "" if isinstance(location, Path) else ", into an empty database"
    ways = (
        f"Restore it with that newer program and give {below} then; or restore one from before the upgrade "
        "(`cgos-server db backups` lists them)."
        if backup
        else f"Use that newer program again. To go back, either give {below} with the newer program, which says what "
        f"that loses; or with this one `cgos-server db restore {upgraded.backup or 'FILE'}`, the backup taken before "
        f"the upgrade{empty}: what was recorded since is lost then."
    )
    return SchemaMismatch(
        Code.SCHEMA_NEWER,
        f"The {'backup' if backup else 'database'} {location} has the schema {revision} of {by}, which this program "
        f"({cgos_server.__version__}, up to {head()}) does not know; nothing was changed. {ways}",
    )


def prepare(location: Location, even_elsewhere: bool = False, revision: str | None = None) -> None:
    """Make the database's tables where there are none yet, else :func:`check` it.

    :param even_elsewhere: also where the data directory's server keeps its database somewhere else
    :param revision: an older one that it is to have instead of this program's
    :raises SchemaMismatch: where it is not of this program's schema
    :raises Invalid: where it is not of that older schema
    :raises StoreError: where it cannot be made
    """
    if not even_elsewhere:
        refuse_elsewhere(location)
    there = current(location)
    if there is not None:
        if revision is None:
            _check(location)
        elif there != revision:
            raise Invalid(
                Code.NOT_EMPTY, f"{location} has tables of the schema {there}, not {revision}. Give an empty database."
            )
        return
    with store_errors(location, "could not be made", *_FAULTS):
        if isinstance(location, Path):
            make_directory(location.parent)
            location.touch(mode=0o600)
            give_to_owner(location)
        on_connection(location, functools.partial(_make, revision=revision or head()))


def _make(connection: Connection, revision: str) -> None:
    if connection.dialect.name == "sqlite":
        # Not inside the transaction below, where SQLite does not allow it; it is kept in the file from now on.
        raw: Any = connection.connection.driver_connection
        raw.execute("PRAGMA journal_mode = WAL").fetchall()
    with connection.begin():
        _migrate(connection, revision)
        row = {"id": 1, "created_at": int(time.time() * 1000), "created_by": cgos_server.__version__}
        named = {"incarnation": new_incarnation()} if revision == head() else {}  # older schemas have no such column
        connection.execute(insert(tables.server), row | named)


def tables_of(path: Path) -> Sequence[Table]:
    """The tables that there are in a SQLite database, of whatever schema, each behind those that it points at."""
    engine = create_engine("sqlite://", creator=functools.partial(connect_for_reading, path), poolclass=NullPool)
    there = MetaData()
    with warnings.catch_warnings(), engine.connect() as connection:
        warnings.simplefilter("ignore", SAWarning)  # of indexes, which nobody asks for here
        there.reflect(connection, only=lambda name, _metadata: name != "alembic_version")
    return there.sorted_tables


def upgrade(location: Location, by: str = "", backup: str | None = None) -> tuple[str, str]:
    """Bring the database to this program's schema; (revision before, revision after).

    The caller holds the database's lock. Raises NotFound where there is no database, SchemaMismatch where it is a newer
    one or one of a version that was never released, StoreError where it cannot be written.

    :param by: who does it, for the audit
    :param backup: the file with the database as it is, for the audit
    """
    revision = known(location)
    after = head()

    def work(connection: Connection) -> None:
        with connection.begin():
            _migrate(connection, "head")
            if revision != after:
                note_change(connection, UPGRADE, (revision, after), by=by, backup=backup)

    with store_errors(location, "could not be upgraded", *_FAULTS):
        on_connection(location, work)
    return revision, after


def downgrade(location: Location, to: str, by: str = "", backup: str | None = None) -> None:
    """Bring the database back to an earlier schema, in one transaction; parameters as for :func:`upgrade`.

    The caller holds the database's lock, and has seen by :func:`way_back` that there is a way. Raises StoreError where
    it cannot be written.
    """
    revision = known(location)

    def work(connection: Connection) -> None:
        from alembic import command

        with connection.begin():
            note_change(connection, DOWNGRADE, (revision, to), by=by, backup=backup)
            command.downgrade(alembic_config(connection), to)

    with store_errors(location, "could not be taken back", *_FAULTS):
        on_connection(location, work)


def way_up(location: Location) -> list[revisions.Step]:
    """The steps from the database's schema to this program's. Raises as :func:`known`."""
    refuse_elsewhere(location)
    return revisions.between(_scripts(), known(location), head())


def way_back(location: Location, to: str | None) -> list[revisions.Step]:
    """The steps that lead back to an earlier schema, the latest first.

    :param to: None: to what the database had before its last upgrade; one step where that is not known
    :raises Invalid: where there is no such revision, it is a newer one, or there is no way back
    :raises Refused: as :func:`known`
    """
    refuse_elsewhere(location)
    revision = known(location)
    return revisions.way_back(_scripts(), revision, to or origin_of(location, revision).before)


def _knows(revision: str) -> bool:
    return revisions.knows(_scripts(), revision)


def _migrate(connection: Connection, revision: str) -> None:
    from alembic import command

    command.upgrade(alembic_config(connection), revision)


def _scripts() -> ScriptDirectory:
    from alembic.script import ScriptDirectory

    return ScriptDirectory.from_config(alembic_config())


def refuse_elsewhere(location: Location) -> None:
    """Raises SchemaMismatch where the server of this data directory keeps its database somewhere else."""
    other = elsewhere(location) if isinstance(location, Path) else None
    if other is not None and isinstance(location, Path):
        raise SchemaMismatch(
            Code.ELSEWHERE,
            f"The server of {location.parent} keeps its database in {other}. Give its configuration with --config or "
            f"CGOS_CONFIG. To use {location} again, move the database there with `cgos-server db copy`, or remove "
            f"{note_path(location)}.",
        )


def _foreign(location: Location) -> SchemaMismatch:
    sentence = f"{location} is not a database of cgos-server. {_other_place(location)}"
    return SchemaMismatch(Code.NOT_A_DATABASE, sentence)


def _other_place(location: Location) -> str:
    """What to do about a database that cannot be used."""
    if isinstance(location, Path):
        return "Move the file away, or give another data directory in the configuration."
    return "Give an empty one in the configuration."
