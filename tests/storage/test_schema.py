"""The schema: made by the migrations, the same as the tables say, refused when it does not fit."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import CommandLine
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

import cgos_server
from cgos_server.errors import SchemaMismatch, StoreError
from cgos_server.storage import schema
from cgos_server.storage.tables import metadata

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


def objects(path: Path) -> dict[str, str]:
    """Everything in the schema as SQLite knows it, blanks evened out; Alembic's own table left out."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return {name: _evened(sql) for name, sql in rows if name != "alembic_version"}


def _evened(sql: str) -> str:
    # A table that was rebuilt has its name in quotes, its defaults in parentheses, and its constraints in any order.
    lines = sql.replace('"', "").replace("DEFAULT ('')", "DEFAULT ''").split("\n")
    clauses = [" ".join(line.split()).rstrip(", ") for line in lines]
    return ", ".join(sorted(clauses, key=lambda clause: clause if clause.startswith("CONSTRAINT") else ""))


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


def test_prepare_leaves_a_good_database_alone(database: Path) -> None:
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("INSERT INTO venues VALUES (1, '9x9', '{}', 0)")
    schema.prepare(database)
    with contextlib.closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT count(*) FROM venues").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM server").fetchone() == (1,)


def test_looking_at_the_revision_does_not_wait_for_a_writer(database: Path) -> None:
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert schema.current(database) == schema.head()
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


def test_migrations_and_tables_are_the_same_schema(database: Path, tmp_path: Path) -> None:
    with schema.open_for_migration(database) as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    direct = tmp_path / "direct.sqlite"
    engine = create_engine(f"sqlite:///{direct}")
    metadata.create_all(engine)
    engine.dispose()
    assert objects(database) == objects(direct)


def test_down_and_up_again(database: Path) -> None:
    before = objects(database)
    with schema.open_for_migration(database) as connection, connection.begin():
        command.downgrade(schema.alembic_config(connection), "base")
    assert objects(database) == {}
    assert schema.current(database) is None
    schema.prepare(database)
    assert objects(database) == before


def test_alembic_s_own_check_works_on_a_database(database: Path, tmp_path: Path) -> None:
    settings = tmp_path / "alembic.ini"
    settings.write_text(f"[alembic]\nscript_location = {schema.migrations()}\n")
    arguments = ["-c", str(settings), "-x", f"database={database}", "check"]
    CommandLine().main(argv=arguments)
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("ALTER TABLE bots ADD COLUMN motto VARCHAR")
    with pytest.raises(SystemExit):
        CommandLine().main(argv=arguments)


def test_an_older_schema_is_refused_until_it_is_upgraded(database: Path, later: Path) -> None:
    before = schema.current(database)
    with pytest.raises(SchemaMismatch, match="cgos-server db upgrade") as refusal:
        schema.prepare(database)
    assert refusal.value.code == "schema-older"
    assert schema.upgrade(database) == (before, "9999")
    schema.check(database)
    assert "motto" in objects(database)["bots"]
    assert schema.upgrade(database) == ("9999", "9999")


def test_the_first_schema_with_data_in_it_is_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "cgos.sqlite"
    with schema.open_for_migration(path) as connection, connection.begin():
        command.upgrade(schema.alembic_config(connection), "0001")
        for sql in (
            "INSERT INTO server VALUES (1, 5, '0.1')",
            "INSERT INTO venues VALUES (1, '9x9', '{}', 0)",
            "INSERT INTO bots VALUES (7, 'Alpha', 'alpha', 'h', 'active', '', 1), (8, 'b', 'b', 'h', 'active', '', 2)",
            "INSERT INTO versions VALUES (1, 7, 'Alpha', 1), (2, 8, 'b', 2), (3, 7, 'Alpha-Two', 3)",
            "INSERT INTO games (id, venue_id, black_id, white_id, black_label, white_label, terms, start, started_at) "
            "VALUES (1, 1, 1, 2, '', '', '{}', '', 9)",
            "INSERT INTO moves VALUES (1, 1, 'E5', 1, 2, 3, 4, 5, 6)",
            "INSERT INTO ledger VALUES (1, 1, 0, 'enter', NULL, 1, NULL, NULL, NULL, 1800.0)",
        ):
            connection.exec_driver_sql(sql)
    assert schema.upgrade(path) == ("0001", schema.head())
    schema.check(path)
    fresh = tmp_path / "fresh.sqlite"
    schema.prepare(fresh)
    assert objects(path) == objects(fresh)
    with contextlib.closing(sqlite3.connect(path)) as look:
        assert look.execute("SELECT * FROM versions ORDER BY id").fetchall() == [
            (1, 7, "Alpha", "alpha", "", "", "", "", 1),
            (2, 8, "b", "b", "", "", "", "", 2),
            (3, 7, "Alpha-Two", "alpha-two", "Alpha-Two", "", "", "", 3),
        ]
        assert look.execute("SELECT count(*) FROM moves").fetchone() == (1,)
        assert look.execute("PRAGMA foreign_key_check").fetchall() == []
        assert look.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_newer_schema_is_refused(database: Path, later: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema.upgrade(database)
    monkeypatch.undo()
    for call in (schema.check, schema.prepare, schema.upgrade):
        with pytest.raises(SchemaMismatch, match="Install that newer cgos-server") as refusal:
            call(database)
        assert refusal.value.code == "schema-newer"


def test_an_upgrade_that_fails_half_way_leaves_the_old_schema(database: Path, later: Path) -> None:
    head = schema.current(database)
    later.write_text(LATER.format(head=head, more="raise RuntimeError('the light went out')"))
    before = objects(database)
    with pytest.raises(RuntimeError, match="light"):
        schema.upgrade(database)
    assert schema.current(database) == head
    assert objects(database) == before


def test_no_database_is_no_reason_to_make_one(tmp_path: Path) -> None:
    path = tmp_path / "cgos.sqlite"
    for call in (schema.check, schema.upgrade):
        with pytest.raises(SchemaMismatch, match="There is no database at"):
            call(path)
    assert not path.exists()


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
