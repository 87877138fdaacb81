"""One program writes to a database at a time, and the next one is told who that is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cgos_server.errors import DatabaseLocked
from cgos_server.storage.lock import DatabaseLock, lock_path

HOLD = """
import sys
from pathlib import Path
from cgos_server.storage.lock import DatabaseLock
lock = DatabaseLock(Path(sys.argv[1]), "cgos-server serve")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_holder_is_refused_with_the_name_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "cgos.sqlite"
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(DatabaseLocked) as refusal:
            DatabaseLock(path, "cgos-server init")
        assert f"in use by cgos-server serve (process {child.pid} on {os.uname().nodename}, since 20" in str(
            refusal.value
        )
        assert refusal.value.code == "database-locked"
        # A holder that dies in any way lets go.
        child.kill()
        child.wait(10)
        with DatabaseLock(path, "cgos-server init"):
            pass


def test_one_process_cannot_hold_it_twice(tmp_path: Path) -> None:
    path = tmp_path / "cgos.sqlite"
    with DatabaseLock(path, "cgos-server serve"), pytest.raises(DatabaseLocked, match=f"process {os.getpid()} on"):
        DatabaseLock(path, "cgos-server db upgrade")


def test_released_and_taken_again(tmp_path: Path) -> None:
    path = tmp_path / "new directory" / "cgos.sqlite"
    lock = DatabaseLock(path, "one")
    lock.release()
    lock.release()
    with DatabaseLock(path, "two"):
        pass
    assert lock_path(path).read_bytes() == b""


def test_a_holder_that_has_not_signed_yet_is_another_process(tmp_path: Path) -> None:
    path = tmp_path / "cgos.sqlite"
    with DatabaseLock(path, "one"):
        os.truncate(lock_path(path), 0)
        with pytest.raises(DatabaseLocked, match="in use by another process"):
            DatabaseLock(path, "two")


def test_programs_started_by_the_holder_do_not_hold_it(tmp_path: Path) -> None:
    path = tmp_path / "cgos.sqlite"
    lock = DatabaseLock(path, "one")
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    with child:
        lock.release()
        with DatabaseLock(path, "two"):
            pass
        assert child.stdin is not None
        child.stdin.close()
        assert child.wait(10) == 0
