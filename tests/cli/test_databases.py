"""Commands on PostgreSQL, and a database moved from one place to another."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.storage.later_schema import REVISION
from support.storage.postgres_fixtures import ask

from cgos_server.cli.commands import perform
from cgos_server.config.loader import load
from cgos_server.storage import schema
from cgos_server.storage.location import PostgresUrl, note_elsewhere
from cgos_server.storage.lock import DatabaseLock

SECRET = "secret"


@pytest.fixture
def url(new_url: Callable[..., PostgresUrl]) -> PostgresUrl:
    return new_url(empty=True)


@pytest.fixture
def moved(run: Any, data: Path, url: PostgresUrl, monkeypatch: pytest.MonkeyPatch) -> PostgresUrl:
    """The data directory's database, in PostgreSQL and in the configuration."""
    run("db", "copy", str(data), url.dsn, where=None)
    monkeypatch.setenv("CGOS_SERVER__DATABASE", url.dsn)
    return url


def test_copy_says_what_arrived_and_shows_no_password(run: Any, data: Path, url: PostgresUrl) -> None:
    result = run("db", "copy", str(data), url.dsn, where=None)
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["table", "rows", "sha256"]
    [moves] = [line.split() for line in lines if line.startswith("moves ")]
    assert ask(url.dsn, "SELECT count(*) FROM moves") == [(int(moves[1]),)]
    assert len(moves[2]) == 64
    assert f"{url} has all that {data}/cgos.sqlite has." in result.stderr
    assert SECRET not in result.output + result.stderr


def test_there_and_back_by_json(run: Any, data: Path, url: PostgresUrl, tmp_path: Path) -> None:
    there = json.loads(run("db", "copy", str(data), url.dsn, "--json", where=None).stdout)
    back = json.loads(run("db", "copy", url.dsn, str(tmp_path / "back.sqlite"), "--json", where=None).stdout)
    differing = [one["table"] for one, other in zip(there["tables"], back["tables"], strict=True) if one != other]
    assert differing == ["server"], "it names the copy"
    assert (there["to"], back["from"]) == (str(url), str(url))
    assert SECRET not in json.dumps([there, back])


def test_copy_refuses_in_sentences(run: Any, data: Path, moved: PostgresUrl, tmp_path: Path) -> None:
    again = run("db", "copy", str(data), moved.dsn, fails=1, where=None)
    assert "is not empty: its table" in again.output
    odd = run("db", "copy", str(data), "mysql://h/games", fails=1, where=None)
    assert "must be a URL of a PostgreSQL database" in odd.output
    missing = run("db", "copy", str(tmp_path / "nothing"), moved.dsn, fails=1, where=None)
    assert "There is no database at" in missing.output
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("standings",),
        ("games",),
        ("show", "1"),
        ("history", "Alpha", "--venue", "9x9"),
        ("bots",),
        ("account", "list"),
        ("anchor", "list"),
        ("token", "list", "Alpha"),
    ],
)
def test_reading_commands_say_the_same_on_both(
    as_json: Any, data: Path, url: PostgresUrl, run: Any, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = as_json(*words)
    run("db", "copy", str(data), url.dsn, where=None)
    monkeypatch.setenv("CGOS_SERVER__DATABASE", url.dsn)
    (data / "cgos.sqlite").unlink()
    assert as_json(*words) == before


def test_writing_commands_write_there(run: Any, moved: PostgresUrl) -> None:
    assert run("bot", "add", "Delta", stdin="secret\n").stderr == "The bot Delta may play.\n"
    run("token", "make", "Delta")
    run("anchor", "set", "Delta", "1500", "--venue", "9x9")
    assert ask(moved.dsn, "SELECT state FROM bots WHERE name = 'Delta'") == [("active",)]
    assert ask(moved.dsn, "SELECT count(*) FROM tokens") == [(1,)]
    taken = run("bot", "add", "delta", stdin="secret\n", fails=1)
    assert "is taken by Delta" in taken.output


def test_the_first_command_makes_the_tables(run: Any, url: PostgresUrl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CGOS_SERVER__DATABASE", url.dsn)
    assert "There is no database at" in run("standings", fails=1).output
    assert "There is no database at" in run("bot", "disable", "Delta", "--reason", "x", fails=1).output
    run("bot", "add", "Delta", stdin="secret\n")
    assert run("db", "upgrade").stderr == f"{url} has the schema {schema.head()} already.\n"
    assert ask(url.dsn, "SELECT name FROM bots") == [("Delta",)]


@pytest.mark.parametrize("place", ["data", "moved"])
def test_an_older_database_is_refused_until_db_upgrade(
    run: Any, make_later: Callable[[], Path], request: pytest.FixtureRequest, place: str
) -> None:
    request.getfixturevalue(place)
    standings, before = run("standings").stdout, schema.head()
    make_later()
    for words in (("standings",), ("check",), ("bot", "disable", "Alpha", "--reason", "x")):
        assert "run `cgos-server db upgrade`" in run(*words, fails=1).output
    assert f": schema {before} became {REVISION}.\n" in run("db", "upgrade").stderr
    assert run("db", "upgrade").stderr.endswith(f" has the schema {REVISION} already.\n")
    assert run("standings").stdout == standings
    run("bot", "disable", "Alpha", "--reason", "x")


def test_check_says_where_the_database_is_without_its_password(run: Any, moved: PostgresUrl) -> None:
    result = run("check")
    assert f"database       {moved} (there)" in result.stdout
    assert json.loads(run("check", "--json").stdout)["server"]["database"] == str(moved)
    assert SECRET not in result.output + run("check", "--json").output


def test_a_held_database_names_its_holder(run: Any, moved: PostgresUrl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perform, "PATIENCE_S", 0.0)
    with DatabaseLock(moved, "cgos-server serve"):
        held = run("bot", "add", "Delta", stdin="secret\n", fails=1)
        assert "in use by cgos-server serve (process" in held.output
        assert "in use by cgos-server serve (process" in run("db", "upgrade", fails=1).output
        assert run("standings").stdout  # reading is never in the way


def test_without_the_driver_there_is_a_sentence(run: Any, url: PostgresUrl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CGOS_SERVER__DATABASE", url.dsn)
    with monkeypatch.context() as without:  # until the database goes, for which the driver is needed
        without.setitem(sys.modules, "asyncpg", None)
        for words in (("standings",), ("check",), ("db", "upgrade")):
            assert "pip install 'cgos-server[postgres]'" in run(*words, fails=1).output


def test_a_server_that_is_not_there_is_a_sentence(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CGOS_SERVER__DATABASE", "postgresql://cgos:secret@127.0.0.1:1/games")
    for words in (("standings",), ("check",), ("db", "upgrade"), ("bot", "enable", "Alpha")):
        output = run(*words, fails=1).output
        assert "PostgreSQL does not let us into postgresql://cgos@127.0.0.1:1/games" in output
        assert "Check that PostgreSQL runs there" in output
        assert "data directory" not in output
        assert "secret" not in output


def test_a_directory_whose_database_is_elsewhere_is_not_taken_for_its_own(run: Any, data: Path) -> None:
    note_elsewhere(data, PostgresUrl.parse("postgresql://cgos:secret@db.example/games"))
    for words in (("standings",), ("bot", "add", "Delta"), ("bot", "enable", "Alpha")):
        output = run(*words, stdin="secret\n", fails=1).output
        assert "keeps its database in postgresql://cgos@db.example/games. Give its configuration" in output


def test_the_configuration_takes_a_url_or_nothing(tmp_path: Path) -> None:
    assert load(None, {"CGOS_SERVER__DATABASE": ""}).server.database is None
    file = tmp_path / "cgos.toml"
    file.write_text("[server]\ndatabase = 'postgresql://cgos:secret@h/games'\n")
    config = load(file)
    assert config.server.location == PostgresUrl("postgresql://cgos:secret@h/games")
    assert "secret" not in repr(config)
