"""One program writes to a database at a time, and the next one is told who that is."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.storage.postgres import PostgresServer
from support.storage.storage_sample import execute, people, put, query

from cgos_protocol.errors import DatabaseLocked
from cgos_server.storage.location import Location, PostgresUrl
from cgos_server.storage.lock import DatabaseLock, lock_path

HOLD = """
import sys
from cgos_server.storage.location import location_of
from cgos_server.storage.lock import DatabaseLock
lock = DatabaseLock(location_of(sys.argv[1]), "cgos-server serve")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_holder_is_refused_with_the_name_of_the_first(place: Location) -> None:
    shown = str(place) if isinstance(place, Path) else place.dsn
    child = subprocess.Popen([sys.executable, "-c", HOLD, shown], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(DatabaseLocked) as refusal:
            DatabaseLock(place, "cgos-server init")
        assert f"in use by cgos-server serve (process {child.pid} on {os.uname().nodename}, since 20" in str(
            refusal.value
        )
        assert refusal.value.code == "database-locked"
        # A holder that dies in any way lets go; PostgreSQL takes a moment to notice.
        child.kill()
        child.wait(10)
        _eventually(place).release()


def _eventually(place: Location) -> DatabaseLock:
    deadline = time.monotonic() + 10
    while True:
        try:
            return DatabaseLock(place, "cgos-server init")
        except DatabaseLocked:
            if isinstance(place, Path) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)  # another process's end cannot be simulated


def test_one_process_cannot_hold_it_twice(place: Location) -> None:
    with DatabaseLock(place, "cgos-server serve"), pytest.raises(DatabaseLocked, match=f"process {os.getpid()} on"):
        DatabaseLock(place, "cgos-server db upgrade")


def test_let_go_it_can_be_taken_at_once(place: Location) -> None:
    for purpose in ("one", "two", "three"):
        lock = DatabaseLock(place, purpose)
        lock.release()
        lock.release()


def test_two_databases_of_one_postgresql_do_not_touch_each_other(new_url: Callable[..., PostgresUrl]) -> None:
    with DatabaseLock(new_url(empty=True), "one"), DatabaseLock(new_url(empty=True), "two"):
        pass


def test_with_patience_it_waits_for_a_holder_that_goes(new_url: Callable[..., PostgresUrl]) -> None:
    url = new_url(empty=True)
    first = DatabaseLock(url, "one")
    with ThreadPoolExecutor(1) as thread:
        second = thread.submit(DatabaseLock, url, "two", 30.0)
        time.sleep(0.2)  # it is refused a few times before
        assert not second.done()
        first.release()
        second.result(30).release()


def test_a_very_long_name_is_cut(new_url: Callable[..., PostgresUrl]) -> None:
    url = new_url(empty=True)
    with DatabaseLock(url, "x" * 100), pytest.raises(DatabaseLocked, match=r"in use by x{59}\.\.\., since 20"):
        DatabaseLock(url, "two")


def test_a_lock_whose_session_is_gone_can_be_released(new_url: Callable[..., PostgresUrl]) -> None:
    url = new_url(empty=True)
    lock = DatabaseLock(url, "one")
    execute(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'one %'")
    lock.release()
    _eventually(url).release()


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


def test_a_database_is_reached_through_its_unix_socket(
    postgres: PostgresServer, new_url: Callable[..., PostgresUrl]
) -> None:
    by_tcp = new_url()
    name = by_tcp.dsn.rpartition("/")[2]
    user = by_tcp.dsn.partition("://")[2].partition("@")[0]
    by_socket = PostgresUrl.parse(f"postgresql://{user}@/{name}?host={postgres.directory}&port={postgres.port}")
    with DatabaseLock(by_socket, "one"), pytest.raises(DatabaseLocked, match="in use by one"):
        DatabaseLock(by_tcp, "two")
    put(by_socket, people())
    assert query(by_tcp, "SELECT count(*) FROM bots") == [(3,)]
