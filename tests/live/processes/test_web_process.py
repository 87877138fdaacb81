"""The supervisor of the web process: real children, no waiting, nothing left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog

from cgos_server.live.processes.web_process import PAUSES_S, WebProcess

CHILD = """
import os, signal, socket, sys
arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))
sock = socket.socket(fileno=int(arguments["--listen-fd"]))
{special}
while True:
    peer, _ = sock.accept()
    with peer:
        word = peer.recv(10)
        if word == b"die":
            os._exit(3)
        peer.sendall(b"%d" % os.getpid())
"""
"""Answers each connection with its process id."""

STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"


@pytest.fixture
def sock() -> Iterator[socket.socket]:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound


class Restarts:
    """Counts restarts and notes pauses, which take no time; at the pause of number `last` it calls `stop`. `dead`: set
    once a child is gone."""

    def __init__(self, last: int = 0) -> None:
        self.count = 0
        self.pauses: list[float] = []
        self.last = last
        self.stop: Callable[[], None] | None = None
        self.dead = asyncio.Event()

    def restarted(self) -> None:
        self.count += 1

    async def pause(self, seconds: float) -> None:
        self.dead.set()
        self.pauses.append(seconds)
        if len(self.pauses) == self.last and self.stop is not None:
            self.stop()
            await asyncio.Event().wait()


def supervised(
    sock: socket.socket, restarts: Restarts, special: str = "", stop_limit: float = 20.0, program: str = sys.executable
) -> WebProcess:
    web = WebProcess(
        [program, "-I", "-S", "-c", CHILD.format(special=special)],
        {"--listen-fd": sock},
        restarted=restarts.restarted,
        pause=restarts.pause,
        stop_limit=stop_limit,
    )
    restarts.stop = web.stop
    return web


async def ask(sock: socket.socket, word: bytes = b"who") -> bytes:
    reader, writer = await asyncio.open_connection(*sock.getsockname())
    try:
        writer.write(word)
        return await reader.read()
    finally:
        writer.close()


def gone(pid: int) -> bool:
    """True when the process has ended and was reaped."""
    return not Path(f"/proc/{pid}").exists()


def children() -> str:
    """The process ids of our own children."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")


def descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


async def test_a_child_serves_on_the_inherited_socket_and_ends_with_stop(sock: socket.socket) -> None:
    restarts = Restarts()
    before = descriptors()
    web = supervised(sock, restarts)
    assert web.pid is None
    async with asyncio.TaskGroup() as group:
        group.create_task(web.run())
        await asyncio.sleep(0)
        pid = int(await ask(sock))
        assert pid == web.pid
        web.stop()
    assert gone(pid)
    assert web.pid is None
    assert restarts.count == 0
    assert descriptors() == before


async def test_the_child_inherits_the_socket_the_pipe_and_nothing_else(sock: socket.socket, tmp_path: Path) -> None:
    listing = tmp_path / "descriptors"
    special = (
        f"open({str(listing)!r}, 'w').write(repr(sorted(os.listdir('/proc/self/fd'), key=int)) + repr(sys.argv[1:]))"
    )
    ours = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(ours, True)
    try:
        web = supervised(sock, Restarts(), special)
        async with asyncio.TaskGroup() as group:
            group.create_task(web.run())
            await asyncio.sleep(0)
            await ask(sock)
            web.stop()
    finally:
        os.close(ours)
    names, arguments = listing.read_text().split("]", 1)
    child_arguments = arguments.strip("[]").replace("'", "").split(", ")
    assert child_arguments[0::2] == ["--listen-fd", "--pipe-fd", "--scrape-fd"]
    inherited = set(names.strip("[").replace("'", "").split(", "))
    # The listing itself and the file it goes to take one descriptor each.
    extra = inherited - {"0", "1", "2", *child_arguments[1::2]}
    assert len(extra) <= 2
    assert str(ours) not in inherited


async def test_a_dead_child_is_replaced_and_counted(sock: socket.socket) -> None:
    restarts = Restarts()
    web = supervised(sock, restarts)
    async with asyncio.TaskGroup() as group:
        group.create_task(web.run())
        await asyncio.sleep(0)
        first = int(await ask(sock))
        assert await ask(sock, b"die") == b""
        second = int(await ask(sock))
        restarts.dead.clear()
        os.kill(second, signal.SIGKILL)
        await restarts.dead.wait()  # as long as it dies it might still take a connection
        third = int(await ask(sock))
        web.stop()
    assert len({first, second, third}) == 3
    assert all(gone(pid) for pid in (first, second, third))
    assert restarts.count == 2
    assert restarts.pauses == [*PAUSES_S[:2]]


async def test_pauses_grow_to_a_bound(sock: socket.socket) -> None:
    wanted = len(PAUSES_S) + 2
    restarts = Restarts(last=wanted)
    before = descriptors()
    await supervised(sock, restarts, special="sys.exit(1)").run()
    assert restarts.pauses == [*PAUSES_S, PAUSES_S[-1], PAUSES_S[-1]]
    assert restarts.count == wanted - 1  # stopped during the last pause: nothing more was started
    assert descriptors() == before


async def test_a_command_that_cannot_run_is_tried_again_and_harms_nobody(sock: socket.socket) -> None:
    restarts = Restarts(last=3)
    before = descriptors()
    with structlog.testing.capture_logs() as logs:
        await supervised(sock, restarts, program="/nonexistent/python").run()
    assert [entry["log_level"] for entry in logs] == ["warning"] * 3
    assert "could not be started" in logs[0]["ending"]
    assert descriptors() == before


async def test_cancellation_ends_the_child(sock: socket.socket) -> None:
    before = descriptors()
    web = supervised(sock, Restarts())
    async with asyncio.TaskGroup() as group:
        running = group.create_task(web.run())
        await asyncio.sleep(0)
        pid = int(await ask(sock))
        running.cancel()
    assert gone(pid)
    assert descriptors() == before


async def test_cancellation_while_starting_leaves_nothing(sock: socket.socket) -> None:
    before, others = descriptors(), children()
    web = supervised(sock, Restarts())
    async with asyncio.TaskGroup() as group:
        running = group.create_task(web.run())
        await asyncio.sleep(0)
        running.cancel()
    assert web.pid is None
    assert descriptors() == before
    assert children() == others


async def test_a_stubborn_child_is_killed(sock: socket.socket) -> None:
    web = supervised(sock, Restarts(), special=STUBBORN, stop_limit=0.05)
    with structlog.testing.capture_logs() as logs:
        async with asyncio.TaskGroup() as group:
            group.create_task(web.run())
            await asyncio.sleep(0)
            pid = int(await ask(sock))
            web.stop()
    assert gone(pid)
    assert [entry["event"] for entry in logs if entry["log_level"] == "warning"] == [
        "the web process did not stop and is killed"
    ]


async def test_the_child_is_out_of_reach_of_ctrl_c(sock: socket.socket) -> None:
    web = supervised(sock, Restarts())
    async with asyncio.TaskGroup() as group:
        group.create_task(web.run())
        await asyncio.sleep(0)
        pid = int(await ask(sock))
        assert os.getpgid(pid) != os.getpgrp()
        web.stop()


UNTIL_THE_PIPE_CLOSES = """
import threading
pipe = int(arguments["--pipe-fd"])
threading.Thread(target=lambda: (os.read(pipe, 1), os._exit(0))).start()
"""

PARENT = """
import asyncio, os, socket, sys
import structlog
from cgos_server.live.processes.web_process import WebProcess

async def main():
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    command = [sys.executable, "-I", "-S", "-c", {child!r}]
    web = WebProcess(command, {{"--listen-fd": sock}}, restarted=lambda: None)
    async with asyncio.TaskGroup() as group:
        group.create_task(web.run())
        await asyncio.sleep(0)
        print(sock.getsockname()[1], flush=True)

asyncio.run(main())
"""


async def test_the_pipe_closes_when_the_parent_is_killed() -> None:
    child = CHILD.format(special=UNTIL_THE_PIPE_CLOSES)
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT.format(child=child), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert parent.stdout is not None
    port = int(await parent.stdout.readline())
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"who")
    pid = int(await reader.read())
    writer.close()
    holder = os.pidfd_open(pid)
    try:
        parent.kill()
        await parent.wait()
        ended = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_reader(holder, ended.set_result, None)
        async with asyncio.timeout(20):
            await ended
    finally:
        asyncio.get_running_loop().remove_reader(holder)
        os.close(holder)
