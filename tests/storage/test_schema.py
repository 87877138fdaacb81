"""The schema: made by the migrations, the same as the tables say, refused when it does not fit."""

from __future__ import annotations

import contextlib
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import CommandLine, Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from support.storage.postgres import PostgresServer
from support.storage.storage_sample import execute, query

import cgos_server
from cgos_server.errors import SchemaMismatch, StoreError
from cgos_server.storage import schema
from cgos_server.storage.location import Location, PostgresUrl, note_elsewhere, note_path
from cgos_server.storage.tables import metadata, postgres_metadata

LATER = """
import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{head}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("bots", sa.Column("motto", sa.String()))
    {more}


def downgrade() -> None:
    with op.batch_alter_table("bots") as batch:
        batch.drop_column("motto")
"""


def objects(location: Location) -> dict[str, Any]:
    """Everything in the schema as the database knows it; Alembic's own table left out."""
    if isinstance(location, Path):
        rows = query(location, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return {name: _evened(sql) for name, sql in rows if name != "alembic_version"}
    found: dict[str, Any] = {}
    for name, text in query(
        location,
        "SELECT table_name, string_agg(concat_ws(' ', column_name, data_type, is_nullable, column_default), ', ' "
        "ORDER BY column_name) FROM information_schema.columns WHERE table_schema = 'public' GROUP BY 1 "
        "UNION ALL SELECT conname, pg_get_constraintdef(c.oid) FROM pg_constraint c JOIN pg_class t "
        "ON t.oid = c.conrelid AND t.relnamespace = 'public'::regnamespace "
        "UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    ):
        if "alembic_version" not in name:
            found.setdefault(name, []).append(text)
    return {name: sorted(texts) for name, texts in found.items()}


def _evened(sql: str) -> str:
    # A table that was rebuilt has its name in quotes, its defaults in parentheses, and its constraints in any order.
    lines = sql.replace('"', "").replace("DEFAULT ('')", "DEFAULT ''").split("\n")
    clauses = [" ".join(line.split()).rstrip(", ") for line in lines]
    return ", ".join(sorted(clauses, key=lambda clause: clause if clause.startswith("CONSTRAINT") else ""))


def migrate(location: Location, how: Callable[[Config, str], None], revision: str) -> None:
    def work(connection: Connection) -> None:
        with connection.begin():
            how(schema.alembic_config(connection), revision)

    schema.on_connection(location, work)


@pytest.fixture
def direct(database: Location, tmp_path: Path, request: pytest.FixtureRequest) -> Location:
    """Another place of the same kind as `database`, without a table."""
    if isinstance(database, Path):
        return tmp_path / "direct.sqlite"
    return request.getfixturevalue("new_url")(empty=True)  # type: ignore[no-any-return]


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A newer program: its migrations hold one more step. Yields the file of that step."""
    head = schema.head()
    folder = tmp_path / "later"
    shutil.copytree(schema.migrations(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    step = folder / "versions" / "9999_later.py"
    step.write_text(LATER.format(head=head, more=""))
    monkeypatch.setattr(schema, "migrations", lambda: folder)
    return step


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


def test_there_is_one_head() -> None:
    assert ScriptDirectory.from_config(schema.alembic_config()).get_heads() == [schema.head()]


def test_migrations_and_tables_are_the_same_schema(database: Location, direct: Location) -> None:
    everything: Any = metadata if isinstance(database, Path) else [metadata, postgres_metadata]
    difference = schema.on_connection(
        database, lambda connection: compare_metadata(MigrationContext.configure(connection), everything)
    )
    assert difference == []

    def make(connection: Connection) -> None:
        with connection.begin():
            for each in (metadata,) if isinstance(database, Path) else everything:
                each.create_all(connection)

    schema.on_connection(direct, make)
    assert objects(database) == objects(direct)


def test_down_and_up_again(database: Location) -> None:
    before = objects(database)
    migrate(database, command.downgrade, "base")
    assert objects(database) == {}
    assert schema.current(database) is None
    schema.prepare(database)
    assert objects(database) == before


def test_alembic_s_own_check_works_on_a_database(database: Location, tmp_path: Path) -> None:
    settings = tmp_path / "alembic.ini"
    settings.write_text(f"[alembic]\nscript_location = {schema.migrations()}\n")
    arguments = [
        "-c",
        str(settings),
        "-x",
        f"database={database if isinstance(database, Path) else database.dsn}",
        "check",
    ]
    CommandLine().main(argv=arguments)
    execute(database, "ALTER TABLE bots ADD COLUMN motto VARCHAR")
    with pytest.raises(SystemExit):
        CommandLine().main(argv=arguments)


def test_an_older_schema_is_refused_until_it_is_upgraded(database: Location, later: Path) -> None:
    before = schema.current(database)
    with pytest.raises(SchemaMismatch, match="cgos-server db upgrade") as refusal:
        schema.prepare(database)
    assert refusal.value.code == "schema-older"
    assert schema.upgrade(database) == (before, "9999")
    schema.check(database)
    assert "motto" in str(objects(database)["bots"])
    assert schema.upgrade(database) == ("9999", "9999")


FIRST_SCHEMA = (
    "INSERT INTO server VALUES (1, 5, '0.1')",
    "INSERT INTO venues VALUES (1, '9x9', '{}', 0)",
    "INSERT INTO bots VALUES (7, 'Alpha', 'alpha', 'h', 'active', '', 1), (8, 'b', 'b', 'h', 'active', '', 2)",
    "INSERT INTO versions VALUES (1, 7, 'Alpha', 1), (2, 8, 'b', 2), (3, 7, 'Alpha-Two', 3)",
    "INSERT INTO games (id, venue_id, black_id, white_id, black_label, white_label, terms, start, started_at) "
    "VALUES (1, 1, 1, 2, '', '', '{}', '', 9)",
    "INSERT INTO moves VALUES (1, 1, 'E5', 1, 2, 3, 4, 5, 6)",
    "INSERT INTO ledger VALUES (1, 1, 0, 'enter', NULL, 1, NULL, NULL, NULL, 1800.0)",
)


def test_the_first_schema_with_data_in_it_is_upgraded(database: Location, direct: Location) -> None:
    older = direct
    migrate(older, command.upgrade, "0001")
    for sql in FIRST_SCHEMA:
        execute(older, sql)
    assert schema.upgrade(older) == ("0001", schema.head())
    schema.check(older)
    assert objects(older) == objects(database)
    columns = "id, bot_id, wire_name, wire_key, label, engine, parameters, author, created_at"
    assert query(older, f"SELECT {columns} FROM versions ORDER BY id") == [
        (1, 7, "Alpha", "alpha", "", "", "", "", 1),
        (2, 8, "b", "b", "", "", "", "", 2),
        (3, 7, "Alpha-Two", "alpha-two", "Alpha-Two", "", "", "", 3),
    ]
    assert query(older, "SELECT count(*) FROM moves") == [(1,)]
    told = "kind, game_id, version_id, black_id, white_id, score2, value"
    assert query(older, f"SELECT venue_id, seq, at, {told}, sd, other_id, was2, repeat, digest FROM ledger") == [
        (1, 1, 0, "enter", None, 1, None, None, None, 1_800.0, None, None, None, 0, None)
    ]
    if isinstance(older, Path):
        assert query(older, "PRAGMA foreign_key_check") == []
        assert query(older, "PRAGMA integrity_check") == [("ok",)]
    else:
        assert query(older, "SELECT * FROM writer") == [(1, 0, 0)]


SECOND_SCHEMA = (
    *FIRST_SCHEMA[:3],
    "INSERT INTO versions (id, bot_id, wire_name, wire_key, engine, created_at) "
    "VALUES (1, 7, 'Alpha', 'alpha', 'e', 1), (2, 8, 'b', 'b', '', 2)",
    FIRST_SCHEMA[4],
    FIRST_SCHEMA[6],
    "INSERT INTO ledger VALUES (1, 2, 0, 'enter', NULL, 2, NULL, NULL, NULL, 1700.0), "
    "(1, 3, 9, 'game', 1, NULL, 1, 2, 2, NULL)",
    "INSERT INTO rating_changes VALUES (1, 'cgos-elo', 3, 1, 1800.0, 9.0, 1810.5, 8.0, 1)",
    "INSERT INTO ratings VALUES (1, 'cgos-elo', 1, 1810.5, 8.0, 1, 1, 0, 3)",
)


def test_the_second_schema_with_data_in_it_is_upgraded_and_brought_back(database: Location, direct: Location) -> None:
    older = direct
    migrate(older, command.upgrade, "0002")
    as_before = objects(older)
    for sql in SECOND_SCHEMA:
        execute(older, sql)
    everything = {
        table: f"SELECT * FROM {table} ORDER BY 1, 2"
        for table in ("server", "venues", "versions", "games", "rating_changes", "ratings", "bots", "ledger")
    }
    before = {table: query(older, sql) for table, sql in everything.items()}
    assert schema.upgrade(older) == ("0002", schema.head())
    schema.check(older)
    assert objects(older) == objects(database)
    new = {"bots": (None, None, None, 0, ""), "ledger": (None, None, None, 0, None), "games": ("",)}
    for table, rows in before.items():
        assert [tuple(row) for row in query(older, everything[table])] == [(*row, *new.get(table, ())) for row in rows]
    if isinstance(older, Path):
        assert query(older, "PRAGMA foreign_key_check") == []
        assert query(older, "PRAGMA integrity_check") == [("ok",)]
        with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):  # no game is rated twice, still
            execute(older, "INSERT INTO ledger (venue_id, seq, at, kind, game_id) VALUES (1, 4, 0, 'game', 1)")
    migrate(older, command.downgrade, "0002")
    assert objects(older) == as_before
    assert {table: query(older, sql) for table, sql in everything.items()} == before


THIRD_SCHEMA = (
    *FIRST_SCHEMA[:2],
    "INSERT INTO bots (id, name, name_key, password, state, reason, created_at) "
    "VALUES (7, 'Alpha', 'alpha', 'h', 'active', '', 1), (8, 'b', 'b', 'h', 'active', '', 2)",
    SECOND_SCHEMA[3],
    "INSERT INTO rounds VALUES (4, 1, 2, 9, 'rolling', 'birk', '{}', '5', '[]', '{}', '[]')",
    FIRST_SCHEMA[4],
    "UPDATE games SET round_id = 4",
    "INSERT INTO pairings VALUES (1, 4, 1, 2, 'Why.', 'Lot.', '{}')",
)


def test_the_third_schema_with_rounds_in_it_is_upgraded_and_brought_back(database: Location, direct: Location) -> None:
    older = direct
    migrate(older, command.upgrade, "0003")
    as_before = objects(older)
    for sql in THIRD_SCHEMA:
        execute(older, sql)
    new = {"rounds": (None,), "games": ("",), "pairings": ()}
    before = {table: query(older, f"SELECT * FROM {table}") for table in new}
    assert schema.upgrade(older) == ("0003", schema.head())
    schema.check(older)
    assert objects(older) == objects(database)
    for table, rows in before.items():
        assert [tuple(row) for row in query(older, f"SELECT * FROM {table}")] == [(*row, *new[table]) for row in rows]
    execute(older, "INSERT INTO setbacks VALUES (1, 2, 5, 1, 'lost on time', 9)")
    execute(older, "UPDATE games SET opening = 'Star'")
    if isinstance(older, Path):
        assert query(older, "PRAGMA foreign_key_check") == []
        assert query(older, "PRAGMA integrity_check") == [("ok",)]
    migrate(older, command.downgrade, "0003")
    assert objects(older) == as_before
    assert {table: query(older, f"SELECT * FROM {table}") for table in new} == before


def test_a_newer_schema_is_refused(database: Location, later: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema.upgrade(database)
    monkeypatch.undo()
    for call in (schema.check, schema.prepare, schema.upgrade):
        with pytest.raises(SchemaMismatch, match="Install that newer cgos-server") as refusal:
            call(database)
        assert refusal.value.code == "schema-newer"


def test_an_upgrade_that_fails_half_way_leaves_the_old_schema(database: Location, later: Path) -> None:
    head = schema.current(database)
    later.write_text(LATER.format(head=head, more="raise RuntimeError('the light went out')"))
    before = objects(database)
    with pytest.raises(RuntimeError, match="light"):
        schema.upgrade(database)
    assert schema.current(database) == head
    assert objects(database) == before


def test_no_database_is_no_reason_to_make_one(place: Location) -> None:
    for call in (schema.check, schema.upgrade):
        with pytest.raises(SchemaMismatch, match="There is no database at"):
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
