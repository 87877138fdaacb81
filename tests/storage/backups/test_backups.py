"""Backups taken, verified, put back and compared, from both databases, and everything that may be wrong with a file."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from support.storage.storage_sample import events, execute, games, move, people, put, query, refits

from cgos_protocol.errors import DatabaseLocked, Refused, StoreError
from cgos_server.storage import schema
from cgos_server.storage.backups import files, folder, restoring, taking, verifying
from cgos_server.storage.backups.comparing import compare
from cgos_server.storage.backups.names import Keep, name_of
from cgos_server.storage.copy_ends import SqliteEnd
from cgos_server.storage.location import Location, PostgresUrl
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.sqlite.connections import connect_for_writing

NOW = 1_800_000_000_000
KEEP = Keep(days=7, weeks=4, months=6)


def silent(_what: str, _done: int, _total: int) -> None:
    """Nobody looks."""


def take(source: Location, target: Path) -> Path:
    return Path(taking.take(source, target, NOW, silent).file)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def full(database: Location) -> Location:
    put(database, [*people(), *games(), *refits(), *events()])
    return database


@pytest.fixture
def backup(sqlite_database: Path, tmp_path: Path) -> Path:
    put(sqlite_database, [*people(), *games()])
    return take(sqlite_database, tmp_path / "backups" / "one.sqlite")


def test_a_backup_has_all_and_is_its_owners_alone(full: Location, tmp_path: Path) -> None:
    target = tmp_path / "new" / "one.sqlite"
    before = os.umask(0)
    try:
        with DatabaseLock(full, "cgos-server serve"):
            taken = taking.take(full, target, NOW, silent)
    finally:
        os.umask(before)
    assert (taken.file, taken.at, taken.size_bytes) == (str(target), NOW, target.stat().st_size)
    assert (mode(target.parent), mode(target)) == (0o700, 0o600)
    assert os.listdir(target.parent) == ["one.sqlite"]
    verified = verifying.verify(target, silent)
    assert verified.schema == schema.head()
    assert not verified.upgrade
    assert {"games": 6, "moves": 6}.items() <= verified.rows.items()
    assert os.listdir(target.parent) == ["one.sqlite"]  # looking leaves nothing beside it
    for table in ("games", "moves", "audit", "event_log", "refit_points"):
        assert sorted(query(target, f"SELECT * FROM {table}")) == sorted(query(full, f"SELECT * FROM {table}"))


def test_a_restrictive_umask_does_not_matter(sqlite_database: Path, tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        target = take(sqlite_database, tmp_path / "one.sqlite")
    finally:
        os.umask(before)
    assert mode(target) == 0o600


def test_a_backup_ends_while_commits_go_on_and_is_one_moment(sqlite_database: Path, tmp_path: Path) -> None:
    with closing(connect_for_writing(sqlite_database)) as setting:
        setting.execute("CREATE TABLE load (id INTEGER PRIMARY KEY, other INTEGER, text TEXT)")
        setting.execute("BEGIN")
        rows = ((number, "x" * 4_096) for number in range(1, 9_001))
        setting.executemany("INSERT INTO load (other, text) VALUES (?, ?)", rows)
        setting.execute("COMMIT")
    began, over, commits = threading.Event(), threading.Event(), [0]

    def load() -> None:
        with closing(connect_for_writing(sqlite_database)) as connection:
            while not over.is_set():  # each commit keeps `other` equal to `id` in the first row and the last
                connection.execute("BEGIN")
                connection.execute("UPDATE load SET other = other + 1 WHERE id = 1")
                connection.execute("UPDATE load SET other = other + 1 WHERE id = 9000")
                connection.execute("COMMIT")
                commits[0] += 1
                began.set()

    writing = threading.Thread(target=load)
    writing.start()
    try:
        assert began.wait(10)
        before = commits[0]
        target = take(sqlite_database, tmp_path / "one.sqlite")
        during = commits[0] - before
    finally:
        over.set()
        writing.join()
    assert during > 0
    ((first,), (last,)) = query(target, "SELECT other - id FROM load WHERE id IN (1, 9000) ORDER BY id")
    assert first == last
    assert before <= first < commits[0]


def test_nothing_is_replaced_and_nothing_half_written_remains(
    full: Location, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "backups" / "one.sqlite"
    target.parent.mkdir()
    target.write_text("mine")
    with pytest.raises(Refused, match="is there already, and a backup replaces nothing"):
        take(full, target)
    assert target.read_text() == "mine"
    looks = iter([lambda _target: None, files.absent])
    monkeypatch.setattr(files, "absent", lambda path: next(looks)(path))  # the file came meanwhile
    with pytest.raises(Refused, match="is there already, and a backup replaces nothing"):
        take(full, target)
    assert target.read_text() == "mine"
    assert os.listdir(target.parent) == ["one.sqlite"]


def test_what_a_killed_process_left_is_removed(sqlite_database: Path, tmp_path: Path) -> None:
    folder_path = tmp_path / "backups"
    folder_path.mkdir()
    for name in (".cgos-backup-abc_1.part", ".cgos-backup-abc_1.part-wal", ".cgos-backup-mine", "notes.part"):
        (folder_path / name).touch()
    take(sqlite_database, folder_path / "one.sqlite")
    assert sorted(os.listdir(folder_path)) == [".cgos-backup-mine", "notes.part", "one.sqlite"]


def test_one_is_written_into_a_folder_at_a_time(sqlite_database: Path, tmp_path: Path) -> None:
    with (
        files.temporary(tmp_path / "backups" / "one.sqlite", 0),
        pytest.raises(Refused, match="Another backup or restore is writing into"),
    ):
        take(sqlite_database, tmp_path / "backups" / "two.sqlite")


def test_a_disk_without_room_is_not_tried(full: Location, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: shutil._ntuple_diskusage(10**9, 10**9, 1_000))  # type: ignore[attr-defined]
    with pytest.raises(Refused, match=r"has 0\.0 MB free, and the database takes \d.* Free some space there"):
        take(full, tmp_path / "backups" / "one.sqlite")
    assert os.listdir(tmp_path / "backups") == []


def test_a_damaged_database_gives_no_backup(sqlite_database: Path, tmp_path: Path) -> None:
    put(sqlite_database, [*people(), *games()])
    with closing(connect_for_writing(sqlite_database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        ((page,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'games'").fetchall()
    with sqlite_database.open("r+b") as file:
        file.seek((page - 1) * 4_096)
        file.write(b"\xff" * 4_096)
    with pytest.raises((Refused, StoreError), match=r"damaged|could not be checked"):
        take(sqlite_database, tmp_path / "backups" / "one.sqlite")
    assert os.listdir(tmp_path / "backups") == []


def test_rows_that_did_not_arrive_give_no_backup(
    new_url: Callable[..., PostgresUrl], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = new_url()
    put(url, [*people(), *games()])
    write = SqliteEnd.write
    monkeypatch.setattr(SqliteEnd, "write", lambda end, table, rows: write(end, table, rows[1:]))
    with pytest.raises(StoreError, match="did not arrive whole; no backup was written"):
        take(url, tmp_path / "one.sqlite")
    assert not (tmp_path / "one.sqlite").exists()


def test_what_is_no_backup_is_refused(backup: Path, tmp_path: Path, make_later: Callable[[], Path]) -> None:
    def refused(path: Path) -> str:
        with pytest.raises(Refused) as refusal:
            verifying.verify(path, silent)
        return refusal.value.sentence

    assert "There is no file" in refused(tmp_path / "nothing.sqlite")
    cut = tmp_path / "cut.sqlite"
    cut.write_bytes(backup.read_bytes()[:-4_096])
    assert "is damaged: it has" in refused(cut)
    (tmp_path / "text").write_text("x" * 200)
    assert "is not a database of cgos-server. Give a file that" in refused(tmp_path / "text")
    (tmp_path / "empty").touch()
    assert "is not a database of cgos-server" in refused(tmp_path / "empty")
    with sqlite3.connect(tmp_path / "foreign") as foreign:
        foreign.execute("CREATE TABLE games (id INTEGER)")
    foreign.close()
    assert "is not a database of cgos-server" in refused(tmp_path / "foreign")
    hurt = tmp_path / "hurt.sqlite"
    hurt.write_bytes(backup.read_bytes())
    with hurt.open("r+b") as file:
        file.seek(hurt.stat().st_size // 2 // 4_096 * 4_096)
        file.write(b"\xff" * 4_096)
    assert "is damaged" in refused(hurt)
    newer = Path(shutil.copy(backup, tmp_path / "newer.sqlite"))
    execute(newer, "UPDATE alembic_version SET version_num = '9999_later'")
    said = refused(newer)
    assert f"The backup {newer} has the schema 9999_later of a newer cgos-server, which this program" in said
    assert f"give `cgos-server db downgrade --to {schema.head()}` then; or restore one from before" in said
    loose = Path(shutil.copy(backup, tmp_path / "loose.sqlite"))
    execute(loose, "INSERT INTO tokens VALUES (99, 99, 'd', '', 0, NULL)")
    assert "is damaged: a row of tokens points at one of bots" in refused(loose)
    make_later()
    assert verifying.verify(backup, silent).upgrade


def test_restored_as_it_was_and_back_again(backup: Path, sqlite_database: Path) -> None:
    put(sqlite_database, [move(3, 3)])
    restored = restoring.restore(backup, sqlite_database, NOW, silent, renumber=False)
    assert query(sqlite_database, "SELECT count(*) FROM moves") == [(6,)]
    assert mode(sqlite_database) == 0o600
    aside = Path(restored.aside or "")
    assert aside == sqlite_database.with_name(f"cgos.sqlite.before-{name_of(NOW)}")
    assert query(aside, "SELECT count(*) FROM moves") == [(7,)]
    restoring.restore(aside, sqlite_database, NOW + 1_000, silent, renumber=False)
    assert query(sqlite_database, "SELECT count(*) FROM moves") == [(7,)]
    put(sqlite_database, [move(3, 4)])  # it goes on


def killed_server(database: Path, folder: Path) -> Path:
    """A copy of the database as a killed server leaves it: that game 3 has no moves lies in the log alone."""
    copy = folder / "killed" / "cgos.sqlite"
    copy.parent.mkdir()
    with closing(connect_for_writing(database)) as held:
        held.execute("DELETE FROM moves WHERE game_id = 3")
        for end in ("", "-wal"):
            shutil.copy(f"{database}{end}", f"{copy}{end}")
    return copy


def test_what_lies_in_the_log_alone_is_moved_aside_too(backup: Path, sqlite_database: Path, tmp_path: Path) -> None:
    copy = killed_server(sqlite_database, tmp_path)
    restored = restoring.restore(backup, copy, NOW, silent, renumber=False)
    before = Path(restored.aside or "")
    assert query(before, "SELECT count(*) FROM moves WHERE game_id = 3") == [(0,)]
    assert query(copy, "SELECT count(*) FROM moves WHERE game_id = 3") != [(0,)]


def test_a_damaged_database_is_moved_aside_as_it_is(backup: Path, tmp_path: Path) -> None:
    place = tmp_path / "bad" / "cgos.sqlite"
    place.parent.mkdir()
    place.write_bytes(b"nonsense" * 1_000)
    place.with_name("cgos.sqlite-wal").write_bytes(b"more")
    restored = restoring.restore(backup, place, NOW, silent)
    aside = Path(restored.aside or "")
    assert aside.read_bytes() == b"nonsense" * 1_000
    assert aside.with_name(aside.name + "-wal").read_bytes() == b"more"
    assert verifying.verify(place, silent).rows["moves"] == 6


def test_a_restore_that_is_killed_leaves_what_lay_in_the_log(
    backup: Path, sqlite_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = killed_server(sqlite_database, tmp_path)

    def killed(*_names: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        restoring.restore(backup, copy, NOW, silent)
    assert query(copy, "SELECT count(*) FROM moves WHERE game_id = 3") == [(0,)]


def test_what_a_killed_upgrade_left_does_not_get_into_what_is_restored(
    backup: Path, sqlite_database: Path, tmp_path: Path
) -> None:
    killed = tmp_path / "killed" / "cgos.sqlite"
    restoring.restore(backup, killed, NOW, silent)
    copy = tmp_path / "copy"
    with closing(sqlite3.connect(killed, isolation_level=None)) as upgrading:
        upgrading.execute("PRAGMA cache_size = 2").fetchall()
        upgrading.execute("BEGIN IMMEDIATE")
        upgrading.execute("CREATE TABLE new (x)")
        upgrading.executemany("INSERT INTO new VALUES (?)", [("x" * 3_000,)] * 500)
        upgrading.execute("DELETE FROM moves")
        shutil.copytree(killed.parent, copy)
    there = copy / killed.name
    assert there.with_name("cgos.sqlite-journal").exists()
    put(sqlite_database, [move(3, number) for number in range(3, 2_000)])
    larger = take(sqlite_database, tmp_path / "backups" / "two.sqlite")
    restored = restoring.restore(larger, there, NOW + 1_000, silent)
    assert query(there, "PRAGMA integrity_check") == [("ok",)]
    assert query(there, "SELECT count(*) FROM moves") == query(larger, "SELECT count(*) FROM moves")
    assert query(Path(restored.aside or ""), "SELECT count(*) FROM moves") == [(6,)]


def test_a_log_whose_database_is_gone_does_not_get_into_what_is_restored(backup: Path, sqlite_database: Path) -> None:
    log = sqlite_database.with_name("cgos.sqlite-wal")
    with closing(connect_for_writing(sqlite_database)) as held:
        held.execute("DELETE FROM moves")
        left = log.read_bytes()
    sqlite_database.unlink()
    log.write_bytes(left)
    assert restoring.restore(backup, sqlite_database, NOW, silent).aside is None
    assert query(sqlite_database, "SELECT count(*) FROM moves") == [(6,)]
    [aside] = sqlite_database.parent.glob("*.before-*-wal")
    assert aside.read_bytes() == left


def test_a_restore_is_refused_where_it_would_hurt(backup: Path, sqlite_database: Path, tmp_path: Path) -> None:
    before = sqlite_database.read_bytes()
    with (
        DatabaseLock(sqlite_database, "cgos-server serve"),
        pytest.raises(DatabaseLocked, match="in use by cgos-server serve"),
    ):
        restoring.restore(backup, sqlite_database, NOW, silent)
    cut = tmp_path / "cut.sqlite"
    cut.write_bytes(backup.read_bytes()[:-1])
    with pytest.raises(Refused, match="is damaged"):
        restoring.restore(cut, sqlite_database, NOW, silent)
    with pytest.raises(Refused, match="is the database itself"):
        restoring.restore(sqlite_database, sqlite_database, NOW, silent)
    assert sqlite_database.read_bytes() == before


def test_from_either_database_to_the_other(full: Location, new_url: Callable[..., PostgresUrl], tmp_path: Path) -> None:
    backup = take(full, tmp_path / "backups" / "one.sqlite")
    target: Location = new_url(empty=True) if isinstance(full, Path) else tmp_path / "new" / "cgos.sqlite"
    restored = restoring.restore(backup, target, NOW, silent, renumber=False)
    assert restored.aside is None
    for table in ("games", "moves", "rating_states"):
        order = f"SELECT * FROM {table}"
        assert sorted(query(target, order)) == sorted(query(full, order))
    put(target, [move(3, 3)])
    assert all(each.backup == each.running for each in compare(backup, target))
    if not isinstance(target, Path):
        with pytest.raises(Refused, match="is not empty: its table"):
            restoring.restore(backup, target, NOW, silent)


def test_a_comparison_finds_what_is_missing_and_not_what_came_later(full: Location, tmp_path: Path) -> None:
    backup = take(full, tmp_path / "one.sqlite")
    put(full, [move(3, 3)])  # in a game that was running then
    compared = compare(backup, full)
    assert {each.what for each in compared} == {"games", "moves of ended games", "versions", "ledger entries"}
    assert all(each.backup == each.running for each in compared)
    ((ended,),) = query(
        full, "SELECT min(game_id) FROM moves WHERE game_id IN (SELECT id FROM games WHERE result <> '')"
    )
    execute(backup, f"DELETE FROM moves WHERE game_id = {ended}")
    assert [each.what for each in compare(backup, full) if each.backup < each.running] == ["moves of ended games"]


def test_a_folder_keeps_what_is_no_backup(sqlite_database: Path, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    assert folder.listed(place) == []
    keep = Keep(days=2, weeks=0, months=0)
    day = 86_400_000
    for number in range(4):
        folder.take_into(place, sqlite_database, keep, at_ms=NOW + number * day, progress=silent)
        (place / f"note {number}").touch()
    assert [Path(each.file).name for each in folder.listed(place)] == [name_of(NOW + 3 * day), name_of(NOW + 2 * day)]
    assert len(os.listdir(place)) == 6


def test_one_of_a_wrong_clock_and_a_folder_of_such_a_name_stay_and_cost_no_other_one_its_place(
    sqlite_database: Path, tmp_path: Path
) -> None:
    place = tmp_path / "backups"
    day = 86_400_000
    future, named = name_of(NOW + 400 * day), name_of(NOW - 400 * day)
    (place / named).mkdir(parents=True)
    (place / future).touch()
    keep = Keep(days=1, weeks=0, months=0)
    for number in range(2):
        folder.take_into(place, sqlite_database, keep, at_ms=NOW + number * day, progress=silent)
    assert set(os.listdir(place)) == {future, named, name_of(NOW + day)}


def test_a_failed_backup_removes_nothing_and_says_why(tmp_path: Path, sqlite_database: Path) -> None:
    place = tmp_path / "backups"
    place.mkdir()
    old = [name_of(NOW - number * 86_400_000) for number in range(1, 20)]
    for name in old:
        (place / name).touch()
    missing = folder.attempt(place, tmp_path / "no" / "cgos.sqlite", KEEP, at_ms=NOW)
    assert isinstance(missing, folder.Failed)
    assert "There is no database at" in missing.why
    blocked = folder.attempt(sqlite_database / "x", sqlite_database, KEEP, at_ms=NOW)
    assert isinstance(blocked, folder.Failed)
    assert sorted(os.listdir(place)) == sorted(old)
