"""The schema: made by the migrations, the same as the tables say, refused when it does not fit."""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from alembic import command
from alembic.config import CommandLine, Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from support.storage.later_schema import REVISION, VERSION, Later
from support.storage.postgres import PostgresServer
from support.storage.storage_sample import execute, put, query, refits

import cgos_server
from cgos_protocol.errors import Invalid, NotFound, SchemaMismatch, StoreError
from cgos_server.storage import copy_ends, revisions, schema
from cgos_server.storage.location import Location, PostgresUrl, note_elsewhere, note_path
from cgos_server.storage.sqlite.connections import connect_for_reading
from cgos_server.storage.tables import metadata, postgres_metadata

# Everything that a PostgreSQL database knows of its schema: (kind, name, its table, what it is).
CATALOGS = """
WITH tables AS (
  SELECT * FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE 'alembic_version%'
)
SELECT relkind::text, relname, '', concat_ws(' ', relpersistence, reloptions::text) FROM tables
UNION ALL
SELECT 'column', attname, relname, concat_ws(
    ' ', row_number() OVER (PARTITION BY attrelid ORDER BY attnum), format_type(atttypid, atttypmod), attnotnull,
    attcollation::regcollation, 'default', pg_get_expr(adbin, adrelid), attidentity, attgenerated
  )
  FROM tables JOIN pg_attribute ON attrelid = tables.oid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE relkind = 'r' AND attnum > 0 AND NOT attisdropped
UNION ALL
SELECT 'constraint', conname, relname, pg_get_constraintdef(pg_constraint.oid)
  FROM tables JOIN pg_constraint ON conrelid = tables.oid
UNION ALL
SELECT 'index', indexrelid::regclass::text, relname, pg_get_indexdef(indexrelid)
  FROM tables JOIN pg_index ON indrelid = tables.oid
UNION ALL
SELECT 'sequence', seqrelid::regclass::text, relname, concat_ws(' ', refobjsubid, seqtypid::regtype, seqincrement)
  FROM tables JOIN pg_depend ON refobjid = tables.oid AND deptype IN ('a', 'i') JOIN pg_sequence ON seqrelid = objid
"""


def objects(location: Location) -> dict[tuple[str, ...], str]:
    """Everything in the schema as the database knows it; Alembic's own table left out."""
    if isinstance(location, Path):
        rows = query(location, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master")
        return {tuple(key): _evened(sql) for *key, sql in rows if "alembic_version" not in key}
    return {tuple(key): text for *key, text in query(location, CATALOGS)}


def _evened(sql: str) -> str:
    # A table that was copied has its name in quotes, its defaults in parentheses, and its constraints in any order.
    lines = sql.replace('"', "").replace("DEFAULT ('')", "DEFAULT ''").split("\n")
    clauses = [" ".join(line.split()).rstrip(", ") for line in lines]
    return ", ".join(sorted(clauses, key=lambda clause: clause if clause.startswith("CONSTRAINT") else ""))


def contents(location: Location) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables but the audit, which tells of each change, by the columns that the program knows."""
    every = [table for table in metadata.sorted_tables if table.name != "audit"]
    names = {table: ", ".join(f'"{column.name}"' for column in table.columns) for table in every}
    return {
        table.name: sorted(query(location, f"SELECT {columns} FROM {table.name}"), key=repr)
        for table, columns in names.items()
    }


def migrate(location: Location, how: Callable[[Config, str], None], revision: str) -> None:
    def work(connection: Connection) -> None:
        with connection.begin():
            how(schema.alembic_config(connection), revision)

    schema.on_connection(location, work)


@pytest.fixture
def direct(database: Location, tmp_path: Path, request: pytest.FixtureRequest) -> Location:
    """Another place of the same kind as `database`, with what the tables declare."""
    place: Location = tmp_path / "direct.sqlite"
    if not isinstance(database, Path):
        place = request.getfixturevalue("new_url")(empty=True)

    def make(connection: Connection) -> None:
        with connection.begin():
            metadata.create_all(connection)
            if not isinstance(place, Path):
                postgres_metadata.create_all(connection)

    schema.on_connection(place, make)
    return place


def test_a_missing_database_is_made_at_head_and_in_wal_mode(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "cgos.sqlite"
    schema.prepare(path)
    assert schema.current(path) == schema.head()
    schema.check(path)
    assert path.stat().st_mode & 0o777 == 0o600
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        [(created_at, created_by)] = connection.execute("SELECT created_at, created_by FROM server").fetchall()
    assert created_at > 1_600_000_000_000
    assert created_by == cgos_server.__version__


def test_a_database_without_tables_gets_them(place: Location) -> None:
    assert schema.current(place) is None
    schema.prepare(place)
    assert schema.current(place) == schema.head()
    schema.check(place)
    [(created_at, created_by)] = query(place, "SELECT created_at, created_by FROM server")
    assert created_at > 1_600_000_000_000
    assert created_by == cgos_server.__version__


def test_prepare_leaves_a_good_database_alone(database: Location) -> None:
    execute(database, "INSERT INTO venues VALUES (1, '9x9', '{}', 0)")
    schema.prepare(database)
    assert query(database, "SELECT count(*) FROM venues") == [(1,)]
    assert query(database, "SELECT count(*) FROM server") == [(1,)]


def test_looking_at_the_revision_does_not_wait_for_a_writer(sqlite_database: Path) -> None:
    with contextlib.closing(sqlite3.connect(sqlite_database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert schema.current(sqlite_database) == schema.head()
        writer.execute("ROLLBACK")


def test_a_database_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(StoreError, match="could not be made"):
        schema.prepare(tmp_path / "file" / "cgos.sqlite")


def test_an_empty_file_counts_as_no_database(tmp_path: Path) -> None:
    path = tmp_path / "cgos.sqlite"
    path.touch()
    schema.prepare(path)
    schema.check(path)


@pytest.mark.parametrize("there", [True, False])
def test_a_log_without_its_database_is_refused_and_kept(tmp_path: Path, there: bool) -> None:
    """SQLite throws such a log away as soon as it reads."""
    path, log = tmp_path / "cgos.sqlite", tmp_path / "cgos.sqlite-wal"
    if there:
        path.touch()
    log.write_bytes(b"games")
    for use in (schema.prepare, schema.check, connect_for_reading):
        with pytest.raises(Invalid, match=f"is empty or gone, but its log {log} is not"):
            use(path)
    assert log.read_bytes() == b"games"
    assert path.exists() is there


def test_there_is_one_head() -> None:
    assert ScriptDirectory.from_config(schema.alembic_config()).get_heads() == [schema.head()]


def test_migrations_and_tables_are_the_same_schema(database: Location, direct: Location) -> None:
    assert objects(database) == objects(direct)
    assert {kind for kind, *_ in objects(database)} == (
        {"table", "index"}
        if isinstance(database, Path)
        else {"r", "i", "S", "column", "constraint", "index", "sequence"}
    )


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE bots ADD COLUMN motto VARCHAR",
        "ALTER TABLE bots RENAME COLUMN paused TO waiting",
        "DROP INDEX ix_games_unfinished",
        "DROP INDEX ix_audit_actor_id; CREATE INDEX ix_audit_actor_id ON audit (actor, id DESC)",
        "DROP INDEX ix_audit_actor_id; CREATE INDEX ix_audit_actor_id ON audit (lower(actor), id)",
        "DROP INDEX ix_ledger_game; CREATE INDEX ix_ledger_game ON ledger (game_id) WHERE kind = 'game'",
        "DROP INDEX ix_ledger_game; CREATE UNIQUE INDEX ix_ledger_game ON ledger (game_id)",
    ],
)
def test_a_difference_is_seen(database: Location, direct: Location, change: str) -> None:
    for statement in change.split("; "):
        execute(database, statement)
    assert objects(database) != objects(direct)


@pytest.mark.parametrize(
    "change",
    [
        "moves ALTER at TYPE integer",
        "moves ALTER at DROP NOT NULL",
        "bots ALTER paused SET DEFAULT 1",
        "versions DROP CONSTRAINT uq_versions_bot_id_label",
        "versions ADD CONSTRAINT odd CHECK (label <> 'odd')",
        "bots ALTER CONSTRAINT fk_bots_family_id NOT DEFERRABLE",
        "games ALTER id DROP DEFAULT",
        "audit SET (fillfactor = 50)",
    ],
)
def test_a_difference_is_seen_on_postgresql(new_url: Callable[..., PostgresUrl], change: str) -> None:
    place = new_url()
    before = objects(place)
    execute(place, f"ALTER TABLE {change}")
    assert objects(place) != before


def test_a_new_postgresql_database_has_the_writer_s_row(new_url: Callable[..., PostgresUrl]) -> None:
    assert [tuple(row) for row in query(new_url(), "SELECT * FROM writer")] == [(1, 0, 0, "main", *[None] * 5)]


def test_the_writer_s_row_becomes_that_of_a_group_that_nobody_holds(new_url: Callable[..., PostgresUrl]) -> None:
    place = new_url()
    migrate(place, command.downgrade, "0004_events")
    execute(place, "UPDATE writer SET holder = 7, batch = 8")
    before = query(place, "SELECT * FROM writer")
    assert [tuple(row) for row in before] == [(1, 7, 8)]
    assert schema.upgrade(place) == ("0004_events", schema.head())
    assert [tuple(row) for row in query(place, "SELECT * FROM writer")] == [(1, 7, 8, "main", *[None] * 5)]


def test_alembic_s_own_check_works_on_a_database(database: Location) -> None:
    where = database if isinstance(database, Path) else database.dsn
    arguments = ["-c", str(Path(__file__).parents[2] / "pyproject.toml"), "-x", f"database={where}", "check"]
    CommandLine().main(argv=arguments)
    execute(database, "ALTER TABLE bots ADD COLUMN motto VARCHAR")
    with pytest.raises(SystemExit):
        CommandLine().main(argv=arguments)


def test_an_older_schema_is_refused_until_it_is_upgraded(history_database: Location, make_later: Later) -> None:
    place, head = history_database, schema.head()
    before = objects(place), contents(place)
    make_later()
    for call in (schema.check, schema.prepare):
        with pytest.raises(SchemaMismatch, match=f"has the older schema {head}.*cgos-server db upgrade") as refusal:
            call(place)
        assert refusal.value.code == "schema-older"
    assert (objects(place), contents(place)) == before
    assert schema.upgrade(place) == (head, REVISION)
    schema.check(place)
    assert schema.upgrade(place) == (REVISION, REVISION)


def test_an_upgrade_keeps_what_is_there_and_so_does_the_way_back(history_database: Location, make_later: Later) -> None:
    place, head = history_database, schema.head()
    shape, before = objects(place), contents(place)
    assert all(before[table] for table in ("bots", "versions", "games", "moves", "ledger", "ratings"))
    make_later()
    schema.upgrade(place)
    assert contents(place) == before
    assert query(place, "SELECT motto FROM bots ORDER BY id") == [("I am alpha",), ("I am Beta",), ("I am gamma",)]
    assert {name for _, name, *_ in objects(place)} >= {name for _, name, *_ in shape} | {"ix_bots_motto"}
    with pytest.raises(Exception, match=r"(?i)unique constraint"):  # no game is rated twice, still
        execute(place, "INSERT INTO ledger (venue_id, seq, at, kind, game_id) VALUES (1, 99, 0, 'game', 1)")
    if isinstance(place, Path):
        assert query(place, "PRAGMA foreign_key_check") == []
        assert query(place, "PRAGMA integrity_check") == [("ok",)]
    migrate(place, command.downgrade, head)
    assert objects(place) == shape
    assert contents(place) == before


def test_intervals_and_sure_links_come_without_touching_what_is_there(history_database: Location) -> None:
    place = history_database
    put(place, [*refits()])
    migrate(place, command.downgrade, "0001_initial")
    before = {table: query(place, f"SELECT * FROM {table} ORDER BY 1, 2, 3, 4") for table in _WITH_NEW_COLUMNS}
    assert schema.upgrade(place) == ("0001_initial", schema.head())
    for table, new in _WITH_NEW_COLUMNS.items():
        after = query(place, f"SELECT * FROM {table} ORDER BY 1, 2, 3, 4")
        assert before[table]
        assert [tuple(row) for row in after] == [(*row, *new) for row in before[table]]


_WITH_NEW_COLUMNS = {"rating_changes": (None,) * 4, "ratings": (None,) * 2, "refit_points": (None,) * 2, "ledger": (0,)}


def test_nothing_comes_before_the_initial_schema(database: Location) -> None:
    before = objects(database)
    with pytest.raises(NotImplementedError, match="Remove the database instead"):
        migrate(database, command.downgrade, "base")
    assert objects(database) == before


def back_by_one(location: Location) -> None:
    schema.way_back(location, None)


def test_a_newer_schema_is_refused(database: Location, make_later: Later) -> None:
    make_later()
    schema.upgrade(database, "root (command)", "/backups/before.sqlite")
    make_later.older_again()
    for call in (
        schema.check,
        schema.prepare,
        schema.upgrade,
        schema.way_up,
        lambda place: schema.way_back(place, None),
    ):
        with pytest.raises(SchemaMismatch) as refusal:
            call(database)
        assert refusal.value.code == "schema-newer"
        said = str(refusal.value)
        assert f"the schema {REVISION} of cgos-server {VERSION}, which this program" in said
        assert f"({cgos_server.__version__}, up to {make_later.before}) does not know; nothing was changed." in said
        assert f"`cgos-server db downgrade --to {make_later.before}` with the newer program" in said
        assert "`cgos-server db restore /backups/before.sqlite`" in said
        assert ("into an empty database" in said) == (not isinstance(database, Path))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ("UPDATE audit SET detail = '[]'", "of a newer cgos-server"),
        ("DELETE FROM audit", "of a newer cgos-server"),  # which says nothing of who upgraded it
        ("ALTER TABLE audit RENAME TO deeds", "of a newer cgos-server"),
        ("DELETE FROM audit; UPDATE server SET created_by = '98.0.0'", "of cgos-server 98.0.0"),
    ],
)
def test_a_newer_schema_about_which_little_is_known(
    database: Location, make_later: Later, spoil: str, said: str
) -> None:
    make_later()
    schema.upgrade(database)
    for statement in spoil.split("; "):
        execute(database, statement)
    make_later.older_again()
    with pytest.raises(SchemaMismatch, match=rf"{said}.*db downgrade --to {make_later.before}.*db restore FILE"):
        schema.check(database)


def test_the_way_back_is_in_the_audit_and_one_transaction(history_database: Location, make_later: Later) -> None:
    place, shape = history_database, objects(history_database)
    make_later()
    schema.upgrade(place, "root (command)", "/backups/before.sqlite")
    [step] = schema.way_back(place, None)
    assert (step.revision, step.before, step.loses) == (REVISION, make_later.before, "All mottoes and remarks.")
    before = contents(place)
    schema.downgrade(place, make_later.before, "root (command)")
    assert objects(place) == shape
    assert contents(place) == before
    rows = query(place, "SELECT actor, action, subject, detail FROM audit ORDER BY id DESC LIMIT 2")
    assert [row[:3] for row in rows] == [
        ("root (command)", "db downgrade", "database"),
        ("root (command)", "db upgrade", "database"),
    ]
    detail = {"to": make_later.before, "version": VERSION, "before": REVISION, "backup": ""}
    assert msgspec.json.decode(rows[0][3]) == detail


def test_ways_back_that_there_are_not(database: Location, make_later: Later) -> None:
    head = schema.head()
    with pytest.raises(
        Invalid, match=r"no schema 0000_none\. This program can go back to: 0008_questions, 0007_web_nodes, 0006_groups"
    ):
        schema.way_back(database, "0000_none")
    with pytest.raises(Invalid, match=r"no schema 0001_init\."):  # no part of a name
        schema.way_back(database, "0001_init")
    assert schema.way_back(database, head) == []
    assert [step.revision for step in schema.way_back(database, "0002_intervals")] == [
        "0009_incarnation",
        "0008_questions",
        "0007_web_nodes",
        "0006_groups",
        "0005_nodes",
        "0004_events",
        "0003_ranks",
    ]
    make_later(more="IRREVERSIBLE = 'Mottoes are for ever.'")
    with pytest.raises(Invalid, match=rf"{REVISION} is newer than that of the database, {head}\..*db upgrade"):
        schema.way_back(database, REVISION)
    schema.upgrade(database)
    with pytest.raises(Invalid, match=r"no way back over 9999_mottoes: Mottoes are for ever\. Restore") as refusal:
        schema.way_back(database, head)
    assert refusal.value.code == "irreversible"


def test_every_migration_says_what_going_back_loses(sqlite_database: Path) -> None:
    scripts = ScriptDirectory.from_config(schema.alembic_config())
    steps = revisions.between(scripts, "0001_initial", schema.head())
    assert [step.before for step in steps] == ["0001_initial", *(step.revision for step in steps[:-1])]
    for step in steps:
        assert step.does.endswith("."), step.revision
        assert step.loses is None or step.loses.endswith("."), step.revision
    migrate(sqlite_database, command.downgrade, "0001_initial")
    with pytest.raises(Invalid, match="Nothing comes before the initial schema"):
        schema.way_back(sqlite_database, None)


def test_the_tables_of_a_file_are_those_that_were_declared(sqlite_database: Path) -> None:
    """Their names and columns, in their order, with the keys."""
    there = schema.tables_of(sqlite_database)
    assert {table.name for table in there} == set(metadata.tables)
    for table in there:
        declared = metadata.tables[table.name]
        assert copy_ends.selection(table) == copy_ends.selection(declared)
        assert copy_ends.selection(table, "!") == copy_ends.selection(declared, "!")
        assert (table.autoincrement_column is None) == (declared.autoincrement_column is None), table.name
        for key in table.foreign_keys:
            assert there.index(key.column.table) <= there.index(table)


@pytest.mark.parametrize("revision", ["0001", "0002", "0003", "0004", "0005", "0006"])
def test_a_schema_of_before_the_first_release_is_refused_by_its_name(database: Location, revision: str) -> None:
    execute(database, f"UPDATE alembic_version SET version_num = '{revision}'")
    before = objects(database)
    for call in (schema.check, schema.prepare, schema.upgrade):
        with pytest.raises(SchemaMismatch, match=f"has the schema {revision} of a development version") as refusal:
            call(database)
        assert refusal.value.code == "schema-unreleased"
        assert ("data directory" in str(refusal.value)) == isinstance(database, Path)
    assert objects(database) == before
    assert schema.current(database) == revision


def test_an_upgrade_that_fails_half_way_leaves_the_old_schema(history_database: Location, make_later: Later) -> None:
    place, head = history_database, schema.head()
    before = objects(place), contents(place)
    make_later("raise RuntimeError('the light went out')")
    with pytest.raises(RuntimeError, match="light"):
        schema.upgrade(place)
    assert schema.current(place) == head
    assert (objects(place), contents(place)) == before


CHANGE = """
import sys
from pathlib import Path
from cgos_server.storage import copy_ends, revisions, schema
from cgos_server.storage.location import location_of
place, folder, which, to = sys.argv[1:]
schema.migrations = lambda: Path(folder)
schema.upgrade(location_of(place)) if which == "up" else schema.downgrade(location_of(place), to)
"""


def test_a_change_that_is_killed_half_way_leaves_the_schema_as_it_was(
    history_database: Location, make_later: Later
) -> None:
    place, head = history_database, schema.head()
    kill = "os.kill(os.getpid(), signal.SIGKILL)"
    folder = make_later(last=f"if 'up' in sys.argv: {kill}", back=kill)
    where = str(place) if isinstance(place, Path) else place.dsn

    def killed(which: str) -> None:
        before = objects(place), contents(place), query(place, "SELECT count(*) FROM audit")
        words = [sys.executable, "-c", CHANGE, where, str(folder), which, head]
        assert subprocess.run(words).returncode == -signal.SIGKILL
        assert (objects(place), contents(place), query(place, "SELECT count(*) FROM audit")) == before

    killed("up")
    assert schema.current(place) == head
    schema.upgrade(place)
    killed("down")
    assert schema.current(place) == REVISION


def test_no_database_is_no_reason_to_make_one(place: Location) -> None:
    for call in (schema.check, schema.upgrade):
        with pytest.raises(NotFound, match="There is no database at"):
            call(place)
    assert schema.current(place) is None
    assert not isinstance(place, Path) or not place.exists()


def test_a_data_directory_whose_database_is_elsewhere(sqlite_database: Path) -> None:
    url = PostgresUrl.parse("postgresql://cgos:secret@db.example/games")
    note_elsewhere(sqlite_database.parent, url)
    for call in (schema.check, schema.prepare):
        with pytest.raises(
            SchemaMismatch, match=re.escape("keeps its database in postgresql://cgos@db.example/games")
        ) as refusal:
            call(sqlite_database)
        assert refusal.value.code == "elsewhere"
    assert "secret" not in note_path(sqlite_database).read_text()
    note_elsewhere(sqlite_database.parent, None)
    note_elsewhere(sqlite_database.parent, None)
    schema.check(sqlite_database)


def test_tables_of_others_are_left_alone(new_url: Callable[..., PostgresUrl]) -> None:
    place = new_url(empty=True)
    execute(place, "CREATE TABLE shopping (item text)")
    for call in (schema.check, schema.prepare, schema.upgrade):
        with pytest.raises(SchemaMismatch, match=r"is not a database of cgos-server\. Give an empty one"):
            call(place)
    assert query(place, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == [("shopping",)]


def test_a_postgresql_that_is_not_there_is_a_sentence() -> None:
    url = PostgresUrl.parse("postgresql://cgos:secret@127.0.0.1:1/games")
    for call in (schema.check, schema.prepare, schema.upgrade):
        with pytest.raises(StoreError, match=re.escape("does not let us into postgresql://cgos@127.0.0.1:1/games: ")):
            call(url)


def test_a_wrong_password_or_database_is_a_sentence(postgres: PostgresServer) -> None:
    wrong = PostgresUrl.parse(f"postgresql://cgos:wrong@127.0.0.1:{postgres.port}/postgres")
    with pytest.raises(StoreError, match="password authentication failed"):
        schema.prepare(wrong)
    missing = PostgresUrl.parse(postgres.url("missing"))
    with pytest.raises(StoreError, match='database "missing" does not exist'):
        schema.prepare(missing)


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("These are not the tables you are looking for. " * 50)
    other = tmp_path / "other.sqlite"
    with contextlib.closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE shopping (item)")
    for path in (text, other):
        content = path.read_bytes()
        for call in (schema.check, schema.prepare, schema.upgrade):
            with pytest.raises(SchemaMismatch, match="is not a database of cgos-server"):
                call(path)
        assert path.read_bytes() == content


def test_migrations_are_found_inside_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site-packages" / "cgos_server"
    package.mkdir(parents=True)
    monkeypatch.setattr(cgos_server, "__file__", str(package / "__init__.py"))
    with pytest.raises(FileNotFoundError, match="install cgos-server again"):
        schema.migrations()
    shutil.copytree(Path(__file__).parents[2] / "migrations", package / "migrations")
    assert schema.migrations() == package / "migrations"
    path = tmp_path / "cgos.sqlite"
    schema.prepare(path)
    schema.check(path)
