"""What a supervisor hears, and that nothing is said where there is none."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from cgos_server.observability.notifying import Supervisor, supervisor


@pytest.fixture(params=["path", "abstract"])
def listener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    name = str(tmp_path / "notify") if request.param == "path" else f"@cgos-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(name.replace("@", "\0"))
        sock.settimeout(1)
        yield sock, name


def test_each_word_is_a_datagram_of_lines(listener: tuple[socket.socket, str]) -> None:
    sock, name = listener
    watcher = Supervisor(name)

    def heard() -> dict[str, str]:
        return dict(line.split("=", 1) for line in sock.recv(4096).decode().split("\n"))

    watcher.ready("serving")
    assert heard() == {"READY": "1", "STATUS": "serving"}
    watcher.reloading("reading")
    reloading = heard()
    assert int(reloading.pop("MONOTONIC_USEC")) > 0
    assert reloading == {"RELOADING": "1", "STATUS": "reading"}
    watcher.busy("folding", 60)
    assert heard() == {"STATUS": "folding", "EXTEND_TIMEOUT_USEC": "60000000", "WATCHDOG": "1"}
    watcher.stopping("draining", 1.5)
    assert heard() == {"STOPPING": "1", "STATUS": "draining", "EXTEND_TIMEOUT_USEC": "1500000"}
    watcher.alive()
    assert heard() == {"WATCHDOG": "1"}


def test_nobody_is_told_where_nobody_listens(tmp_path: Path) -> None:
    Supervisor().alive()
    Supervisor(str(tmp_path / "nobody")).alive()
    Supervisor("/" + "x" * 300).alive()


def test_the_environment_names_it_and_how_often_it_wants_to_hear() -> None:
    own, other = str(os.getpid()), "1"
    assert supervisor({}).watchdog_s is None
    assert supervisor({"WATCHDOG_USEC": "30000000"}).watchdog_s == 30
    assert supervisor({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": own}).watchdog_s == 30
    assert supervisor({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": other}).watchdog_s is None
    assert supervisor({"WATCHDOG_USEC": "soon"}).watchdog_s is None
