"""Backups by command: taken, listed, verified, restored, rehearsed."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.storage.postgres_fixtures import ask
from support.storage.storage_sample import bot_row, execute

from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.lock import DatabaseLock


@pytest.fixture(autouse=True)
def niceness(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What commands gave way by; the process of the tests does not."""
    steps: list[int] = []
    monkeypatch.setattr(os, "nice", steps.append)
    return steps


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, run: Any, data: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A server's database with games, as the configuration names it; which kind it is."""
    if request.param == "postgres":
        url: PostgresUrl = request.getfixturevalue("new_url")(empty=True)
        run("db", "copy", str(data), url.dsn, where=None)
        (data / "cgos.sqlite").unlink()
        monkeypatch.setenv("CGOS_SERVER__DATABASE", url.dsn)
    return str(request.param)


def test_backed_up_listed_and_verified(run: Any, place: str, data: Path) -> None:
    assert "There is no backup in" in run("db", "backups").stderr
    taken = json.loads(run("db", "backup", "--json").stdout)
    [listed] = json.loads(run("db", "backups", "--json").stdout)
    assert (listed["file"], listed["size_bytes"]) == (taken["file"], taken["size_bytes"])
    assert Path(taken["file"]).parent == data / "backups"
    assert taken["file"] in run("db", "backups").stdout
    verified = json.loads(run("db", "verify", taken["file"], "--ratings", "--json").stdout)
    assert verified["rows"]["games"] > 0
    assert {each["verdict"] for each in verified["ratings"]} <= {"same bits", "same"}
    lines = run("db", "verify", taken["file"], "--ratings").stdout.splitlines()
    assert [line.split()[0] for line in lines[:7]] == [
        "file",
        "schema",
        "latest",
        "games",
        "moves",
        "versions",
        "ledger",
    ]


def test_a_backup_by_name_replaces_nothing(run: Any, place: str, tmp_path: Path, niceness: list[int]) -> None:
    done = run("db", "backup", "here.sqlite")
    assert niceness == [10]
    assert done.stdout == ""
    assert f"{tmp_path}/here.sqlite has all of" in done.stderr
    assert "is there already" in run("db", "backup", "here.sqlite", fails=1).output
    assert run("db", "verify", "nothing.sqlite", fails=1).output.startswith("Error: There is no file nothing.sqlite.")


def ended_games(run: Any) -> list[dict[str, Any]]:
    return [game for game in json.loads(run("games", "--json").stdout) if game["ended_at"] is not None]


def test_restored_and_taken_back(run: Any, data: Path) -> None:
    before = ended_games(run)
    run("db", "backup", "one.sqlite")
    run("bot", "add", "Delta", stdin="secret\n")
    done = run("db", "restore", "one.sqlite")
    assert f"{data}/cgos.sqlite is restored from one.sqlite: " in done.stderr
    assert ended_games(run) == before != []
    assert "Delta" not in run("bots").stdout
    [aside] = data.glob("cgos.sqlite.before-cgos-*Z.sqlite")
    assert f"The database of before is {aside}." in done.stderr
    run("db", "restore", str(aside))
    assert "Delta" in run("bots").stdout


def test_a_bot_that_an_older_backup_does_not_have_leaves_its_number_to_nobody(run: Any, data: Path) -> None:
    run("db", "backup", "one.sqlite")
    run("bot", "add", "Delta", stdin="secret\n")
    (data / "transcripts" / "3000000").mkdir(parents=True)
    run("db", "restore", "one.sqlite")
    run("bot", "add", "Epsilon", stdin="secret\n")
    assert bot_row(data, "Epsilon")["id"] == 4_000_001


def test_other_backups_tell_which_numbers_were_given_out(run: Any, data: Path) -> None:
    run("db", "backup", "one.sqlite")
    run("db", "restore", "one.sqlite")
    run("db", "backup")
    for path in data.glob("cgos.sqlite*"):
        path.unlink()
    run("db", "restore", "one.sqlite")
    run("bot", "add", "Epsilon", stdin="secret\n")
    assert bot_row(data, "Epsilon")["id"] > 2_000_000


def test_a_restore_waits_for_no_server(run: Any, data: Path) -> None:
    run("db", "backup", "one.sqlite")
    with DatabaseLock(data / "cgos.sqlite", "cgos-server serve"):
        run("db", "backup", "two.sqlite")
        assert "in use by cgos-server serve" in run("db", "restore", "one.sqlite", fails=1).output


def test_restored_into_an_empty_database_of_postgresql(
    run: Any, new_url: Callable[..., PostgresUrl], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ended_games(run)
    run("db", "backup", "one.sqlite")
    url = new_url(empty=True)
    monkeypatch.setenv("CGOS_SERVER__DATABASE", url.dsn)
    done = json.loads(run("db", "restore", "one.sqlite", "--json").stdout)
    assert (done["database"], done["aside"]) == (str(url), None)
    assert ended_games(run) == before != []
    assert ask(url.dsn, "SELECT count(*) FROM moves") == [(done["backup"]["rows"]["moves"],)]
    assert "is not empty" in run("db", "restore", "one.sqlite", fails=1).output


def test_a_drill_says_what_it_did_and_leaves_nothing(run: Any, place: str, data: Path) -> None:
    done = json.loads(run("db", "drill", "--json").stdout)
    assert done["agrees"]
    assert list(done["seconds"]) == ["backup", "verify and restore", "replay of ratings", "comparison"]
    assert done["counts"][0]["running"] > 0
    assert {line["verdict"] for line in done["ratings"]} <= {"same bits", "same"}
    assert list((data / "backups").iterdir()) == []
    assert "What was restored is what the database had." in run("db", "drill").stderr


def test_a_drill_removes_what_killed_ones_have_left_and_nothing_that_is_in_use(
    run: Any, data: Path, tmp_path: Path
) -> None:
    left, used = (data / "backups" / f".cgos-drill-{name}" for name in ("left", "used"))
    for folder in (left, used):
        (folder / "data").mkdir(parents=True)
    handle = os.open(used, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        run("db", "drill")
    finally:
        os.close(handle)
    assert list((data / "backups").iterdir()) == [used]


def test_a_drill_finds_what_differs(run: Any, data: Path, tmp_path: Path) -> None:
    run("db", "backup", "one.sqlite")
    assert json.loads(run("db", "drill", "--from", "one.sqlite", "--json").stdout)["agrees"]
    execute(tmp_path / "one.sqlite", "DELETE FROM moves WHERE game_id = (SELECT id FROM games WHERE plies > 0 LIMIT 1)")
    lost = run("db", "drill", "--from", "one.sqlite", fails=1)
    assert "DIFFERS" in lost.output + lost.stderr
    assert list((data / "backups").iterdir()) == []
