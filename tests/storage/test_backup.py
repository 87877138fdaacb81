"""The documented backup, by its very command, while a database is written as fast as it goes; whose the files are."""

from __future__ import annotations

import re
import shutil
import sqlite3
import stat
import subprocess
import threading
from pathlib import Path
from typing import Final

import pytest

from cgos_server.storage import DATABASE, schema
from cgos_server.storage.location import make_directory, others_may_look
from cgos_server.storage.sqlite.connections import connect_for_writing

ROOT: Final = Path(__file__).parents[2]
ROWS: Final = 4_000
"""With 4 KiB each: more than a step of an incremental backup."""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def documented() -> str:
    section = (ROOT / "docs/operator.md").read_text("utf-8").split("## Backup\n")[1]
    match = re.search(r"```\n(.+)\n```", section)
    assert match is not None
    return match[1]


def test_both_guides_name_one_command() -> None:
    assert documented() in (ROOT / "deploy/README.md").read_text("utf-8")


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="sqlite3's shell is not installed")
def test_the_documented_backup_ends_under_load_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / DATABASE
    schema.prepare(path)
    setting = connect_for_writing(path)
    setting.execute("CREATE TABLE load (id INTEGER PRIMARY KEY, text TEXT)")
    setting.execute("BEGIN")
    setting.executemany("INSERT INTO load (text) VALUES (?)", (("x" * 4_096,) for _ in range(ROWS)))
    setting.execute("COMMIT")
    setting.close()
    began, over, commits = threading.Event(), threading.Event(), [0]

    def load() -> None:
        connection = connect_for_writing(path)
        while not over.is_set():
            connection.execute("INSERT INTO load (text) VALUES ('y')")  # a commit by itself
            commits[0] += 1
            began.set()
        connection.close()

    writing = threading.Thread(target=load)
    writing.start()
    try:
        assert began.wait(10)
        before = commits[0]
        done = subprocess.run(["sh", "-c", documented()], cwd=tmp_path, capture_output=True, timeout=30, check=False)
        during = commits[0] - before
    finally:
        over.set()
        writing.join()
    assert (done.returncode, done.stderr) == (0, b"")
    assert during > 0
    backup = tmp_path / "backup.sqlite"
    assert mode(backup) == 0o600
    with sqlite3.connect(backup) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert copy.execute("SELECT count(*) FROM load").fetchone()[0] >= ROWS + before
    copy.close()
    schema.prepare(backup)


def test_a_new_data_directory_is_its_owners_alone(tmp_path: Path) -> None:
    new = tmp_path / "some" / "where"
    schema.prepare(new / DATABASE)
    assert (mode(new), mode(new / DATABASE)) == (0o700, 0o600)
    assert not others_may_look(new)


def test_a_directory_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    there = tmp_path / "shared"
    there.mkdir()
    there.chmod(0o755)
    make_directory(there)
    assert mode(there) == 0o755
    assert others_may_look(there)
