"""What must survive: `kill -9` in the middle of games, SIGTERM, a disk that refuses, a second server."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from support.e2e.processes import ServerProcess, server, until
from support.e2e.witnessing import (
    assert_every_result_is_rated_once,
    assert_nothing_told_is_lost,
    ended,
    plies,
    witnesses,
)

from cgos_server.storage.writing.causes import Cause

pytestmark = pytest.mark.e2e


def test_kill_9_again_and_again_loses_no_told_move(tmp_path: Path) -> None:
    with server(tmp_path) as serving, witnesses(serving) as threads:
        for _ in range(5):
            before = plies(serving)
            until(lambda before=before: plies(serving) > before + 150, 60, "no moves")  # type: ignore[misc]
            unfinished = {game for (game,) in serving.query("select id from games where ended_at is null")}
            serving.kill()
            assert_nothing_told_is_lost(serving, threads)
            serving.start()
            until(
                lambda games=unfinished: (
                    not serving.query(  # type: ignore[misc]
                        f"select id from games where ended_at is null and id in ({','.join(map(str, games)) or 0})"
                    )
                ),
                90,
                "the games that were cut did not go on to their end",
            )
        assert_nothing_told_is_lost(serving, threads)
        assert serving.stop() == 0
        assert_every_result_is_rated_once(serving)
        reasons = {
            reason for (reason,) in serving.query("select distinct reason from games where ended_at is not null")
        }
        assert reasons <= {"score"}


def test_sigterm_lets_running_games_end_and_a_second_one_does_not(tmp_path: Path) -> None:
    with server(tmp_path) as serving, witnesses(serving) as threads:
        until(lambda: plies(serving) > 100, 60, "no moves")
        assert serving.stop() == 0
        assert serving.query("select count(*) from games where ended_at is null") == [(0,)]
        assert_nothing_told_is_lost(serving, threads)
        serving.start()
        until(lambda: serving.query("select 1 from games where ended_at is null"), 60, "no game")
        assert serving.process is not None
        serving.process.send_signal(signal.SIGTERM)
        until(lambda: serving.get("/readyz")[0] in (503, 0), 10, "still ready")
        serving.process.send_signal(signal.SIGTERM)
        assert serving.process.wait(5) == 0
        assert_nothing_told_is_lost(serving, threads)


def test_a_second_server_on_the_same_data_is_refused(tmp_path: Path) -> None:
    with server(tmp_path) as serving:
        second = serving.command("serve")
        assert second.returncode != 0
        assert serving.process is not None
        assert f"process {serving.process.pid}" in second.stderr
        assert "Traceback" not in second.stderr


FIRST_BYTES = 65_536


def refuse_writes(serving: ServerProcess, refuse: bool) -> None:
    """Let the kernel refuse what the server writes to its files beyond their first bytes, or let it be again. Its log
    is shorter than that."""
    assert serving.process is not None
    if refuse:
        log_of_writes = serving.data / "cgos.sqlite-wal"
        until(lambda: log_of_writes.stat().st_size > FIRST_BYTES, 30, "too little is written")
    limit = FIRST_BYTES if refuse else resource.RLIM_INFINITY
    resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


def test_a_disk_that_refuses_for_a_moment_costs_nobody_anything(tmp_path: Path) -> None:
    """And the log says once that it refuses, with what to do, and once that it is over."""
    with server(tmp_path, settings='log_level = "warning"') as serving, witnesses(serving, 2) as threads:
        until(lambda: plies(serving) > 20, 60, "no moves")
        refuse_writes(serving, True)
        until(lambda: serving.get("/readyz")[0] == 503, 10, "readyz stays green")
        counts = [len(thread.moves) for thread in threads]
        assert "database" in serving.get("/readyz")[1]
        stuck = plies(serving)
        assert_nothing_told_is_lost(serving, threads)
        refuse_writes(serving, False)
        until(lambda: plies(serving) > stuck + 20, 30, "play does not go on")
        until(lambda: serving.get("/readyz")[0] == 200, 10, "readyz stays red")
        assert [len(thread.moves) for thread in threads] > counts
        until(lambda: ended(serving) >= 1, 60, "no game ends")
        assert {reason for (reason,) in serving.query("select reason from games where ended_at is not null")} == {
            "score"
        }
        assert_nothing_told_is_lost(serving, threads)
        begin, end = until(lambda: len(serving.log_events()) > 1 and serving.log_events(), 20, "it is not over")
        assert begin["event"] == "commits fail and are tried again; nobody is told of a move meanwhile"
        assert begin["remedy"] == Cause.DISK.value
        assert end["event"] == "commits return"


@pytest.mark.parametrize("room", [0, 4096])
def test_a_start_on_a_disk_that_refuses_says_so_and_exits_with_74(tmp_path: Path, room: int) -> None:
    serving = ServerProcess(tmp_path)
    ended = subprocess.run(
        [serving.python, "-m", "cgos_server", "serve", "--config", str(serving.config)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == 74
    assert ended.stderr.startswith("Error: ")
    assert "Traceback" not in ended.stderr


def test_a_disk_that_refuses_for_good_ends_the_server_with_every_told_move_safe(tmp_path: Path) -> None:
    settings = 'log_level = "error"\ncommit_timeout_s = 3'
    with server(tmp_path, settings=settings) as serving, witnesses(serving, 2) as threads:
        until(lambda: plies(serving) > 20, 60, "no moves")
        refuse_writes(serving, True)
        assert serving.process is not None
        assert serving.process.wait(20) == 74
        assert_nothing_told_is_lost(serving, threads)
        serving.start()
        until(lambda: ended(serving) >= 1, 60, "the game does not go on")
        assert_nothing_told_is_lost(serving, threads)
    assert_every_result_is_rated_once(serving)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not tell which files are open")
def test_without_file_descriptors_every_listener_pauses_and_answers_again(tmp_path: Path) -> None:
    with server(tmp_path) as serving, witnesses(serving, 2), contextlib.ExitStack() as idle:
        assert serving.page("/")[0] == 200
        until(lambda: plies(serving) > 20, 60, "no moves")
        assert serving.process is not None
        pages = next(event["pid"] for event in serving.log_events() if event["event"] == "the web process runs")
        for pid in (serving.process.pid, pages):
            _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{pid}/fd")) + 20, hard))
        ports = (serving.health_port, serving.web_port, serving.port, serving.ws_port)
        for port in ports * 60:
            idle.enter_context(socket.create_connection(("127.0.0.1", port)))
        failing = "cannot accept connections: they wait"
        until(lambda: sum(event["event"] == failing for event in serving.log_events()) == 2, 10, "it is not said")
        stuck = plies(serving)
        until(lambda: plies(serving) > stuck + 20, 30, "bots that are signed in do not play on")
        idle.close()
        freed = time.monotonic()
        assert serving.get("/readyz")[0] == serving.get("/", serving.web_port)[0] == 200
        for port in (serving.port, serving.ws_port):
            with socket.create_connection(("127.0.0.1", port), 5) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert connection.recv(100)
        assert time.monotonic() - freed < 5  # the pause is a quarter of a second; the machine may be busy
        assert sum(event["event"] == failing for event in serving.log_events()) == 2
        assert "Traceback" not in serving.log.read_text()


def test_a_start_with_too_few_open_files_is_refused_with_the_number(tmp_path: Path) -> None:
    serving = ServerProcess(tmp_path)
    ended = subprocess.run(
        [serving.python, "-m", "cgos_server", "serve", "--config", str(serving.config)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("Error: The system lets this process open 64 files, and it needs ")
    assert not serving.data.exists()
