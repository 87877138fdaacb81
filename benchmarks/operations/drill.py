"""The one server to which causes of alerts are done: where it lies, and what can be told and done to it.

Must not know: Prometheus, the rules, which causes there are.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.operations import peers
from benchmarks.operations.engines import exchanged
from benchmarks.operations.servers import prepared, started
from benchmarks.reporting import ROOT

sys.path.insert(0, str(ROOT / "tests"))

from support.e2e.processes import ServerProcess, free_port

BOTS = 40
AWAY = (BOTS, BOTS + 1)
"""Numbers of bots that never come."""
FAMILY = range(BOTS + 2, BOTS + 8)
"""Of bots that may not meet one another."""
STRANGER = BOTS + 8
CHANGING = range(BOTS + 9, BOTS + 13)
"""The first of them is exchanged for another engine under its name."""
ANCHORS = {CHANGING[1]: 2_500, CHANGING[2]: 500}
"""Number -> a rating that it does not play like."""
REGISTERED = BOTS + 13
DISK = 2000 << 20
LIMIT_S = 300.0
"""How long bots play at most."""
REQUESTS_A_MINUTE = 100
LEAK = """
import os, sys, threading, time

def leak(file):
    held = None
    while True:
        time.sleep(0.2)
        held = (held or b"x" * (1400 << 20)) if os.path.exists(file) else None

if "serve" in sys.orig_argv:
    threading.Thread(target=leak, args=({file!r},), daemon=True).start()
"""
"""Python runs it at its start; the game process holds memory as long as the file is there."""


class Missing(Exception):
    """What a cause needs is not there."""


def called(number: int) -> str:
    """The name of a registered bot."""
    return f"Load-{number:05d}"


class Drill:
    """One server, whose bots are registered.

    :ivar own_disk: its directory is a file system of its own
    :ivar kept: a venue in which bots of one family wait
    :ivar changed: a venue in which an engine is exchanged under its name
    """

    def __init__(self, server: ServerProcess, own_disk: bool) -> None:
        self.server = server
        self.own_disk = own_disk
        self.kept = "13x13"
        self.changed = "19x19"
        self.ports = {self.kept: free_port(), self.changed: free_port()}

    @property
    def database(self) -> Path:
        """The file."""
        return self.server.data / "cgos.sqlite"

    @property
    def leak(self) -> Path:
        """As long as this file is there the game process takes 1.4 GB more."""
        return self.server.directory / "leak"

    @property
    def pid(self) -> int:
        """Of the game process."""
        assert self.server.process is not None
        return self.server.process.pid

    def children(self) -> list[tuple[int, str]]:
        """Its child processes, by whichever thread, and their command lines."""
        found = []
        for listed in Path(f"/proc/{self.pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                pids = map(int, listed.read_text().split())
                found += [(pid, Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")) for pid in pids]
        return found

    def web_pid(self) -> int | None:
        """Of the process that serves the pages."""
        return next((pid for pid, line in self.children() if "--listen-fd" in line), None)

    def command(self, *words: str) -> None:
        """A command to the server, which has to succeed."""
        done = self.server.command(*words)
        if done.returncode:
            raise RuntimeError(f"{words}: {done.stderr}")

    def bots(
        self, count: int = BOTS, think_s: float = 0.05
    ) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
        """Bots that play."""
        return peers.players(self.server.directory, self.server.port, count, think_s, LIMIT_S)

    def configured(self, old: str, new: str) -> None:
        """Another configuration, read again."""
        text = self.server.config.read_text()
        assert old in text
        self.server.config.write_text(text.replace(old, new, 1))
        self.command("reload")

    @contextlib.contextmanager
    def other_certificate(self) -> Iterator[Path]:
        """An empty folder to make one in; certificate and key are those of before again after the block, and read."""
        files = [self.server.directory / f"own.{kind}" for kind in ("pem", "key")]
        before = [file.read_bytes() for file in files]
        with tempfile.TemporaryDirectory(dir=self.server.directory) as folder:
            yield Path(folder)
        for file, content in zip(files, before, strict=True):
            file.write_bytes(content)
        self.command("reload")

    def restart(self) -> None:
        """It is killed and started."""
        self.server.kill()
        self.server.start()


@contextlib.contextmanager
def stopped(pid: int) -> Iterator[None]:
    """A process that stands still."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[bool]:
    """A file system of its own for the directory, where that can be had; whether it can."""
    mounted = False
    if os.geteuid() == 0 and shutil.which("mount") is not None:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "drill", str(place)]
        mounted = subprocess.run(mount, check=False, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        # Lazily, should something still have a file open there: the system takes it away with the last of them.
        if mounted and subprocess.run(["umount", str(place)], check=False, capture_output=True).returncode != 0:
            subprocess.run(["umount", "--lazy", str(place)], check=True)


def _with_venues(place: Drill) -> None:
    """The venues beside the first one."""
    settings = {
        place.kept: 'pairing = { interval_s = 0.2, patience_s = 0.5, settle_s = 0.05, same_family = "forbidden" }',
        place.changed: "pairing = { interval_s = 0.1, patience_s = 0.2, settle_s = 0.0 }",
    }
    with place.server.config.open("a") as config:
        for venue, pairing in settings.items():
            config.write(
                f'\n[[venue]]\nname = "{venue}"\nport = {place.ports[venue]}\nsize = {venue.partition("x")[0]}\n'
            )
            config.write(f'komi = 7.5\ntime = {{ system = "absolute", main = "1m" }}\n{pairing}\n')


@contextlib.contextmanager
def drill(folder: Path) -> Iterator[Drill]:
    """The server, where that can be had on a small disk of its own; meanwhile an engine is exchanged under its name."""
    with contextlib.ExitStack() as stack:
        directory = folder / "server"
        directory.mkdir()
        own_disk = stack.enter_context(small_disk(directory))
        with socket.create_server(("127.0.0.1", 0)) as held:
            webhook_port = int(held.getsockname()[1])  # nobody listens there
        settings = (
            "commit_timeout_s = 120\n[limits]\nconnections = 2000\nconnections_per_address = 2000\n"
            '[backup]\nat = ""\nfolder = "backups"'
        )
        serving = prepared(
            directory,
            REGISTERED,
            webhook_port,
            settings,
            venue='time = { system = "absolute", main = "15s" }',
            requests=REQUESTS_A_MINUTE,
        )
        place = Drill(serving, own_disk)
        _with_venues(place)
        (folder / "sitecustomize.py").write_text(LEAK.replace("{file!r}", repr(str(place.leak))))
        serving.environment = {"PYTHONPATH": str(folder)}
        stack.enter_context(started(serving))
        changing, *others = map(called, CHANGING)
        stack.enter_context(exchanged(place.ports[place.changed], changing, others))
        yield place
