"""`db upgrade` and `db downgrade`: said before, with a backup, up and down again, and what an older program says."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.storage.later_schema import REVISION, VERSION, Later
from support.storage.storage_sample import execute, query

from cgos_server.assembly.handover import CHECK
from cgos_server.storage import schema
from cgos_server.storage.location import Location, PostgresUrl
from cgos_server.storage.lock import DatabaseLock


@pytest.fixture(params=["sqlite", "postgres"])
def place(run: Any, rated_past: Path, request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    """The database of commands that `run` starts: a rated past."""
    data = tmp_path / "data"
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(rated_past, data)
    if request.param == "sqlite":
        return data / "cgos.sqlite"
    new_url: Callable[..., PostgresUrl] = request.getfixturevalue("new_url")
    url = new_url(empty=True)
    run("db", "copy", str(data), url.dsn, where=None)
    request.getfixturevalue("monkeypatch").setenv("CGOS_SERVER__DATABASE", url.dsn)
    return url


class Way(NamedTuple):
    """Where a command writes its backup."""

    folder: Path

    @property
    def only(self) -> Path:
        [file] = self.folder.iterdir()
        return file


@pytest.fixture
def way(tmp_path: Path) -> Way:
    return Way(tmp_path / "data" / "backups")


def verdicts(run: Any) -> list[str]:
    return [line for line in run("rate", "replay").stdout.splitlines() if "same bits" in line]


def test_up_and_down_again_loses_nothing_that_the_older_program_knew(
    run: Any, as_json: Any, place: Location, make_later: Later, way: Way
) -> None:
    said, head = verdicts(run), make_later.before
    assert said
    make_later()
    planned = as_json("db", "upgrade", "--dry-run")
    assert schema.current(place) == head
    assert not way.folder.exists()
    [step] = planned["steps"]
    assert step["does"] == "Bots have mottoes, entries of the ledger remarks."
    assert step["loses"] == "All mottoes and remarks."
    assert planned["room"]["needed_bytes"] > 0
    told = run("db", "upgrade").stderr
    before = way.only
    assert before.name.endswith(f"-before-upgrade-to-{REVISION}.sqlite")
    assert f"The way back: `cgos-server db downgrade --to {head}` with this program, or `cgos-server db restore" in told
    assert str(before) in told
    assert f"A downgrade loses with {REVISION}: All mottoes and remarks." in told
    execute(place, "UPDATE bots SET motto = 'onward' WHERE id = 1")
    run("account", "add", "Olive", stdin="long-secret\n")
    before.unlink()
    dry = run("db", "downgrade", "--dry-run").stdout
    assert f"schema    {REVISION} becomes {head}" in dry
    assert "All mottoes and remarks." in dry
    told = run("db", "downgrade").stderr
    assert f"Lost with {REVISION}: All mottoes and remarks." in told
    kept = way.only
    assert kept.name.endswith(f"-before-downgrade-to-{head}.sqlite")
    assert query(kept, "SELECT motto FROM bots WHERE id = 1") == [("onward",)]
    make_later.older_again()
    assert "Olive" in run("account", "list").stdout
    assert verdicts(run) == said
    row, first = as_json("audit", "--subject", "database")
    assert (row["action"], first["action"]) == ("db downgrade", "db upgrade")
    assert row["detail"]["version"] == VERSION


def test_an_older_program_says_both_ways_on_and_restores_the_backup(
    run: Any, place: Location, make_later: Later, way: Way, monkeypatch: pytest.MonkeyPatch, request: Any
) -> None:
    said = verdicts(run)
    make_later()
    run("db", "upgrade")
    before = way.only
    execute(place, "UPDATE bots SET motto = 'onward' WHERE id = 1")
    run("db", "backup", "newer.sqlite")
    make_later.older_again()
    for words in (
        ("standings",),
        ("check",),
        ("serve",),
        ("serve", CHECK),  # asked by the server that it is to take over from
        ("db", "backup"),
        ("db", "upgrade"),
        ("db", "downgrade"),
        ("bot", "disable", "Ant", "--reason", "x"),
    ):
        refused = run(*words, fails=1).output
        assert f"schema {REVISION} of cgos-server {VERSION}, which this program" in refused, words
        assert f"`cgos-server db downgrade --to {make_later.before}`" in refused, words
        assert f"`cgos-server db restore {before}`" in refused, words
    found = run("doctor", fails=1).stdout
    assert f"of cgos-server {VERSION}" in found
    assert str(before) in found.replace("\n", "")
    assert f"The backup newer.sqlite has the schema {REVISION} of cgos-server {VERSION}" in (
        run("db", "restore", "newer.sqlite", fails=1).output
    )
    if not isinstance(place, Path):
        monkeypatch.setenv("CGOS_SERVER__DATABASE", request.getfixturevalue("new_url")(empty=True).dsn)
    run("db", "restore", str(before))
    assert verdicts(run) == said


def test_without_a_backup_and_back_without_a_word_where_to(
    run: Any, place: Location, make_later: Later, way: Way
) -> None:
    make_later()
    assert "db restore" not in run("db", "upgrade", "--no-backup").stderr
    assert json.loads(run("db", "downgrade", "--no-backup", "--json").stdout)["after"] == make_later.before
    assert not way.folder.exists()
    assert run("db", "downgrade", "--to", make_later.before).stderr.endswith(f"{make_later.before} already.\n")


def test_nothing_is_changed_where_the_backup_cannot_be_taken(
    run: Any, place: Location, make_later: Later, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_later()
    usage = shutil.disk_usage(way.folder.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=1_000))
    assert "0.0 MB free, and the database takes" in run("db", "upgrade", fails=1).output
    assert schema.current(place) == make_later.before
    assert os.listdir(way.folder) == []


def test_nothing_is_changed_while_a_server_runs(run: Any, data: Path, make_later: Later, way: Way) -> None:
    make_later()
    with DatabaseLock(data / "cgos.sqlite", "cgos-server serve"):
        assert "in use by cgos-server serve" in run("db", "upgrade", fails=1).output
        run("db", "upgrade", "--dry-run")
    run("db", "upgrade", "--no-backup")
    with DatabaseLock(data / "cgos.sqlite", "cgos-server serve"):
        assert "in use by cgos-server serve" in run("db", "downgrade", fails=1).output
    assert "There is no schema 7." in run("db", "downgrade", "--to", "7", fails=1).output
    assert not way.folder.exists()


def test_what_cannot_be_taken_back_is_said_before(run: Any, data: Path, make_later: Later) -> None:
    make_later(more="IRREVERSIBLE = 'Mottoes are for ever.'")
    assert "Mottoes are for ever." in run("db", "upgrade", "--dry-run").stdout
    told = run("db", "upgrade").stderr
    assert f"No downgrade goes back over {REVISION}: Mottoes are for ever." in told
    assert "The way back: `cgos-server db restore" in told
    assert "Restore the backup" in run("db", "downgrade", fails=1).output
