"""Whose time is it? A real server that is stopped, and bots that really think: only thinking is charged."""

from __future__ import annotations

import signal
import socket
import time
from pathlib import Path

import pytest
from support.e2e.processes import ServerProcess, server, until

pytestmark = pytest.mark.e2e

THINK_S = 0.4
STALL_S = 1.5
SETTLED_S = 0.02
"""The clock starts once `genmove` is on its way: a bot that is quick may hear it a moment before that."""


class Talker:
    """A bot under the test's control, on a blocking socket."""

    def __init__(self, port: int, name: str) -> None:
        self.lines = socket.create_connection(("127.0.0.1", port), 10)
        self.file = self.lines.makefile("rw", encoding="ascii", newline="\n")
        for prompt, answer in (("protocol", "e1 talker"), ("username", name), ("password", "secret")):
            assert self.hear().startswith(prompt)
            self.say(answer)

    def say(self, line: str) -> None:
        self.file.write(line + "\n")
        self.file.flush()

    def hear(self, word: str = "") -> str:
        while True:
            line = self.file.readline().rstrip("\n")
            assert line, "the server closed the connection"
            if line.startswith(word):
                return line

    def close(self) -> None:
        self.file.close()
        self.lines.close()


def used(serving: ServerProcess, ply: int) -> float:
    """Seconds charged and credited for a move."""
    rows = until(lambda: serving.query("select used_us from moves where ply = ?", ply), 10, f"no move {ply}")
    return int(rows[0][0]) / 1e6


def test_only_thinking_is_charged(tmp_path: Path) -> None:
    with server(tmp_path) as serving:
        talkers = [Talker(serving.port, "talker-a"), Talker(serving.port, "talker-b")]
        setups = [talker.hear("setup").split() for talker in talkers]
        black = next(i for i, name in enumerate(("talker-a", "talker-b")) if setups[i][6].startswith(name))
        first, second = talkers[black], talkers[1 - black]

        first.hear("genmove")
        time.sleep(SETTLED_S)
        begun = time.perf_counter()
        time.sleep(THINK_S)  # real thinking: the idle server must charge all of it
        thought = time.perf_counter() - begun
        first.say("E5")
        second.hear("genmove")
        assert thought * 0.9999 <= used(serving, 1) <= thought + 0.1

        assert serving.process is not None
        serving.process.send_signal(signal.SIGSTOP)
        second.say("D5")  # at once; it lies in the socket while the server cannot run
        time.sleep(STALL_S)
        serving.process.send_signal(signal.SIGCONT)
        first.hear("genmove")
        assert used(serving, 2) < STALL_S / 3

        for talker in talkers:
            talker.close()
