"""A real server is replaced in place while bots play: games go on, nobody is refused, and what does not fit changes
nothing."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from support.e2e.processes import ServerProcess, end, server, until
from support.e2e.witnessing import assert_nothing_told_is_lost, plies, witnesses

from cgos_protocol.errors import Refused
from cgos_server.net import control_socket
from cgos_server.service.commands.registry import ask
from cgos_server.service.commands.server import Upgrade

pytestmark = pytest.mark.e2e


@contextlib.contextmanager
def knocking(port: int) -> Iterator[list[str]]:
    """Connects again and again, each time until it is greeted; what went wrong."""
    faults: list[str] = []
    done = threading.Event()

    def knock() -> None:
        while not done.is_set():
            try:
                with socket.create_connection(("127.0.0.1", port), 20) as sock:
                    if not sock.recv(64).startswith(b"protocol"):
                        faults.append("no greeting")
            except OSError as error:
                faults.append(repr(error))
            time.sleep(0.02)  # another process's progress cannot be simulated

    thread = threading.Thread(target=knock)
    thread.start()
    try:
        yield faults
    finally:
        done.set()
        thread.join(30)


@contextlib.contextmanager
def supervising(path: Path) -> Iterator[list[str]]:
    """Takes the place of systemd: the first line of each word that it hears."""
    words: list[str] = []

    def listen() -> None:
        while (word := supervisor.recv(4096)) != b"end":
            words.append(word.decode().partition("\n")[0])

    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(str(path))
        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield words
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ending:
                ending.sendto(b"end", str(path))
            thread.join(5)


def test_games_go_on_under_the_new_program_and_nobody_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A supervisor hears of it, too: here a socket of the test's."""
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    monkeypatch.setenv("WATCHDOG_USEC", "10000000")
    with (
        supervising(tmp_path / "notify") as words,
        server(tmp_path, settings="drain_limit_s = 0") as serving,
        witnesses(serving, 2) as bots,
    ):
        assert serving.process is not None
        until(lambda: plies(serving) > 10, 30, "no moves")
        fault = tmp_path / "broken"
        fault.write_text("#!/bin/sh\necho 'Error: it is broken.' >&2; exit 1\n")
        fault.chmod(0o755)
        with pytest.raises(Refused, match="goes on as it was: it is broken"):
            asyncio.run(ask(partial(control_socket.call, serving.data), Upgrade(program=str(fault))))
        with knocking(serving.port) as faults:
            upgraded = serving.command("upgrade", "--json")
            assert upgraded.returncode == 0, upgraded.stderr
            (before,) = serving.query("select count(*) from games where ended_at is null")[0]
            told = plies(serving)
            until(lambda: plies(serving) > told + 10, 30, f"no moves after it:\n{serving.tail()}")
        assert faults == []
        assert '"pause_s": ' in upgraded.stdout
        assert before <= 1
        assert serving.process.poll() is None
        assert_nothing_told_is_lost(serving, bots)
        assert serving.query("select count(*) from games where reason in ('time', 'forfeit', 'void', 'abort')") == [
            (0,)
        ]
        assert serving.query("select count(*) from audit where action = 'upgrade'") == [(1,)]
        assert serving.stop() == 0
    took_over = ["RELOADING=1", "STATUS=starting", "READY=1"]
    plain = [word for word in words if word != "WATCHDOG=1"]
    assert plain == ["STATUS=starting", "READY=1", *took_over, "STOPPING=1"]
    assert len(plain) < len(words)
    assert [event for event in serving.log_events() if event["level"] in ("warning", "error")] == []


def test_pages_in_the_game_process_go_on_at_their_port(tmp_path: Path) -> None:
    serving = ServerProcess(tmp_path, settings="drain_limit_s = 0")
    serving.configure(web='mode = "inline"')
    try:
        serving.start()
        assert serving.process is not None
        upgraded = serving.command("upgrade", "--json")
        assert upgraded.returncode == 0, upgraded.stderr + serving.tail()
        assert serving.page("/")[0] == 200
        assert serving.process.poll() is None
    finally:
        if serving.process is not None:
            end(serving.process)
