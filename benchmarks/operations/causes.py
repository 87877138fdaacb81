"""What makes alerts fire, done to one server on loopback, and undone.

Must not know: Prometheus, the rules, how long anything takes.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from benchmarks.operations import peers
from benchmarks.reporting import ROOT

sys.path.insert(0, str(ROOT / "tests"))

from support.e2e.processes import ServerProcess, end, until

from cgos_server.storage.backups.names import name_of

BOTS = 40
DISK = 800 << 20
LIMIT_S = 300.0
"""How long bots play at most."""


class Missing(Exception):
    """What a cause needs is not there."""


class Drill:
    """One server, whose bots are registered."""

    def __init__(self, server: ServerProcess, own_disk: bool, webhook_port: int) -> None:
        self.server = server
        self.own_disk = own_disk
        self.webhook_port = webhook_port

    @property
    def database(self) -> Path:
        """The file."""
        return self.server.data / "cgos.sqlite"

    @property
    def pid(self) -> int:
        """Of the game process."""
        assert self.server.process is not None
        return self.server.process.pid

    def children(self) -> list[tuple[int, str]]:
        """Its child processes and their command lines."""
        listed = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        with contextlib.suppress(OSError):
            return [(int(pid), Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")) for pid in listed]
        return []

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


Make = Callable[[Drill], contextlib.AbstractContextManager[object]]


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """What is done, the alerts that must fire meanwhile and clear afterwards, and for how long they are waited for."""

    what: str
    alerts: tuple[str, ...]
    make: Make
    limit_s: float = 60.0


@contextlib.contextmanager
def drill(folder: Path) -> Iterator[Drill]:
    """The server, where that can be had on a small disk of its own."""
    with contextlib.ExitStack() as stack:
        place = folder / "server"
        place.mkdir()
        own_disk = os.geteuid() == 0 and shutil.which("mount") is not None
        if own_disk:
            mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "drill", str(place)]
            own_disk = subprocess.run(mount, check=False, capture_output=True).returncode == 0
        if own_disk:
            stack.callback(subprocess.run, ["umount", str(place)], check=True)
        with socket.create_server(("127.0.0.1", 0)) as held:
            webhook_port = int(held.getsockname()[1])  # nobody listens there until somebody does
        peers.past(place / "data", BOTS + 10, f"http://127.0.0.1:{webhook_port}/")
        settings = (
            "commit_timeout_s = 120\ndrain_limit_s = 0\n[limits]\nconnections = 2000\nconnections_per_address = 2000\n"
            '[backup]\nat = ""\nfolder = "backups"'
        )
        server = ServerProcess(place, settings, venue='time = { system = "absolute", main = "15s" }')
        text = server.config.read_text()
        server.config.write_text(
            text.replace("[web]\n", '[web]\nwebhooks_to = "127.0.0.1"\nrequests_per_minute = 100\n')
        )
        stack.callback(lambda: end(server.process) if server.process is not None else None)
        server.start()
        until(lambda: server.get("/metrics/web")[0] == 200, 30, "the pages do not answer")
        yield Drill(server, own_disk, webhook_port)


# -- processes


@contextlib.contextmanager
def down(place: Drill) -> Iterator[None]:
    place.server.kill()
    yield
    place.server.start()


@contextlib.contextmanager
def restarts(place: Drill) -> Iterator[None]:
    for _ in range(4):
        place.server.kill()
        place.server.start()
    yield


@contextlib.contextmanager
def interrupted(pid: Callable[[], int | None], stopped_s: float, running_s: float) -> Iterator[None]:
    """A process that is stopped for some time, again and again."""

    def once() -> None:
        number = pid()
        if number is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGSTOP)
            try:
                time.sleep(stopped_s)
            finally:
                os.kill(number, signal.SIGCONT)

    with peers.repeated(once, running_s):
        yield


@contextlib.contextmanager
def busy_processor(place: Drill) -> Iterator[None]:
    with interrupted(lambda: place.pid, 0.35, 0.4):
        yield


@contextlib.contextmanager
def few_files(place: Drill) -> Iterator[None]:
    before = resource.prlimit(place.pid, resource.RLIMIT_NOFILE)
    used = len(os.listdir(f"/proc/{place.pid}/fd"))
    resource.prlimit(place.pid, resource.RLIMIT_NOFILE, (used + 8, before[1]))
    yield
    resource.prlimit(place.pid, resource.RLIMIT_NOFILE, before)


@contextlib.contextmanager
def newcomers(place: Drill) -> Iterator[None]:
    """Bots with names of their own come faster than their passwords can be made unreadable."""
    waiting: list[socket.socket] = []
    try:
        for number in range(1500):
            bot = socket.create_connection(("127.0.0.1", place.server.port), timeout=30)
            waiting.append(bot)
            bot.sendall(f"e1 drill\nNewcomer-{number}\nsecret-{number}\n".encode())
        yield
    finally:
        for bot in waiting:
            bot.close()


# -- storage


@contextlib.contextmanager
def locked(place: Drill) -> Iterator[None]:
    """Another program that holds the database."""
    with place.bots(), contextlib.closing(sqlite3.connect(place.database, isolation_level=None, timeout=30)) as other:
        time.sleep(3)
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextlib.contextmanager
def slow_disk(place: Drill) -> Iterator[None]:
    """Another program that holds the database for more than a second at a time."""

    def hold() -> None:
        with contextlib.closing(sqlite3.connect(place.database, isolation_level=None, timeout=30)) as other:
            other.execute("BEGIN IMMEDIATE")
            time.sleep(1.6)
            other.execute("ROLLBACK")

    with place.bots(), peers.repeated(hold, 0.3):
        yield


@contextlib.contextmanager
def full_disk(place: Drill) -> Iterator[None]:
    if not place.own_disk:
        raise Missing("only root mounts a small disk")
    ballast = place.server.directory / "ballast"
    with ballast.open("wb") as file:
        for share, wait in ((0.6, 62.0), (0.97, 0.0)):
            usage = shutil.disk_usage(place.server.directory)
            os.posix_fallocate(
                file.fileno(), 0, int(share * usage.total) - usage.used + os.fstat(file.fileno()).st_size
            )
            time.sleep(wait)
    yield
    ballast.unlink()


@contextlib.contextmanager
def long_log(place: Drill) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        reader, writer = (
            stack.enter_context(contextlib.closing(sqlite3.connect(place.database, isolation_level=None, timeout=30)))
            for _ in range(2)
        )
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM games").fetchall()
        writer.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        writer.execute("CREATE TABLE ballast (bytes BLOB)")
        for _ in range(262):
            writer.execute("INSERT INTO ballast VALUES (zeroblob(1048576))")
        yield
        reader.execute("ROLLBACK")
        writer.execute("DROP TABLE ballast")
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@contextlib.contextmanager
def no_transcripts(place: Drill) -> Iterator[None]:
    folder, aside = place.server.data / "transcripts", place.server.data / "aside"
    folder.rename(aside)
    folder.write_text("not a folder")
    try:
        with place.bots():
            yield
    finally:
        folder.unlink()
        aside.rename(folder)


@contextlib.contextmanager
def old_backup(place: Drill) -> Iterator[None]:
    place.command("db", "backup")
    folder = place.server.data / "backups"
    (newest,) = folder.iterdir()
    newest.rename(folder / name_of(int((time.time() - 7 * 86_400) * 1000)))
    yield
    place.command("db", "backup")


@contextlib.contextmanager
def failing_backup(place: Drill) -> Iterator[None]:
    blocked = place.server.directory / "blocked"
    blocked.write_text("not a folder")
    due = time.strftime("%H:%M", time.gmtime(time.time() - 120))
    ordinary, wrong = 'at = ""\nfolder = "backups"', f'at = "{due}"\nfolder = "{blocked}/backups"'
    place.configured(ordinary, wrong)
    yield
    place.configured(wrong, ordinary)


@contextlib.contextmanager
def wrong_key(place: Drill) -> Iterator[None]:
    """A configuration that is at fault is to be read again."""
    right = place.server.config.read_text()
    place.server.config.write_text(right + "mistake = 1\n")
    os.kill(place.pid, signal.SIGHUP)
    yield
    place.server.config.write_text(right)


# -- play


@contextlib.contextmanager
def paused_venue(place: Drill) -> Iterator[None]:
    with place.bots():
        place.command("pause", "--venue", "9x9")
        yield
        place.command("resume", "--venue", "9x9")
        time.sleep(5)


@contextlib.contextmanager
def hung_bots(place: Drill) -> Iterator[None]:
    with place.bots() as process:
        time.sleep(2)
        process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def cut_bots(place: Drill) -> Iterator[None]:
    with place.bots() as process:
        time.sleep(4)
        process.kill()
        yield


@contextlib.contextmanager
def killed_refits(place: Drill) -> Iterator[None]:
    def kill() -> None:
        for pid, line in place.children():
            if "--listen-fd" not in line:
                os.kill(pid, signal.SIGKILL)

    with place.bots(think_s=0.0), peers.repeated(kill, 0.5):
        yield


@contextlib.contextmanager
def event(place: Drill, name: str) -> Iterator[None]:
    """An event of two bots that are not there."""
    place.command("event", "create", name, "round-robin", "--starts-with", "2")
    place.command("event", "open", name)
    for number in (BOTS, BOTS + 1):
        place.command("event", "enter", name, f"Load-{number:05d}")
    yield
    place.command("event", "cancel", name, "--reason", "The drill is over.")


@contextlib.contextmanager
def standing_event(place: Drill) -> Iterator[None]:
    with event(place, "standing"):
        yield


@contextlib.contextmanager
def paused_event(place: Drill) -> Iterator[None]:
    with event(place, "paused"):
        place.command("event", "pause", "paused", "--reason", "A drill.")
        yield


# -- pages


@contextlib.contextmanager
def hung_pages(place: Drill) -> Iterator[None]:
    pid = place.web_pid()
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    yield
    os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def dying_pages(place: Drill) -> Iterator[None]:
    for _ in range(4):
        pid = until(place.web_pid, 30, "the web process is not there")
        os.kill(pid, signal.SIGKILL)
        until(partial(_another, place, pid), 60, "the web process does not come back")
    yield


def _another(place: Drill, gone: int) -> bool:
    return place.web_pid() not in (None, gone)


@contextlib.contextmanager
def slow_pages(place: Drill) -> Iterator[None]:
    with interrupted(place.web_pid, 2.6, 0.5), peers.repeated(lambda: peers.visit(place.server.web_port, "/"), 0.05):
        yield


@contextlib.contextmanager
def flood(place: Drill) -> Iterator[None]:
    with peers.repeated(lambda: peers.visit(place.server.web_port, "/api/v1/venues"), 0.02):
        yield


@contextlib.contextmanager
def late_pages(place: Drill) -> Iterator[None]:
    """The web process reads nothing while bots play fast."""
    pid = place.web_pid()
    assert pid is not None
    with place.bots(think_s=0.0):
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def lost_webhooks(place: Drill) -> Iterator[None]:
    """Nobody listens where they go."""
    with place.bots(think_s=0.02):
        yield


CAUSES = (
    Cause(what="the server is killed, then started", alerts=("CgosServerDown",), make=down),
    Cause(what="the web process is stopped", alerts=("CgosPagesDown",), make=hung_pages),
    Cause(what="an event is paused", alerts=("CgosEventPaused",), make=paused_event, limit_s=90),
    Cause(what="an event's entrants are away", alerts=("CgosEventStands",), make=standing_event, limit_s=120),
    Cause(what="a venue with idle bots is paused", alerts=("CgosNoGames",), make=paused_venue),
    Cause(what="the connections of all bots are cut", alerts=("CgosDisconnects",), make=cut_bots),
    Cause(what="all bots hang until their time is over", alerts=("CgosGamesLost",), make=hung_bots),
    Cause(
        what="another program holds the database",
        alerts=("CgosCommitsFail", "CgosNotReady"),
        make=locked,
        limit_s=90,
    ),
    Cause(
        what="another program holds the database for 1.6 s at a time",
        alerts=("CgosCommitsSlow", "CgosMovesSlow"),
        make=slow_disk,
        limit_s=90,
    ),
    Cause(what="the game process is stopped for 0.35 s at a time", alerts=("CgosLoopLag",), make=busy_processor),
    Cause(what="a limit of open files just above their number", alerts=("CgosOpenFiles",), make=few_files),
    Cause(what="1500 newcomers at once", alerts=("CgosPasswordQueue",), make=newcomers),
    Cause(what="transcripts' folder cannot be written", alerts=("CgosTranscriptsDropped",), make=no_transcripts),
    Cause(what="a configuration at fault is read again", alerts=("CgosLogErrors",), make=wrong_key),
    Cause(what="the newest backup is a week old", alerts=("CgosBackupOld",), make=old_backup, limit_s=90),
    Cause(what="the folder of backups cannot be made", alerts=("CgosBackupFails",), make=failing_backup, limit_s=120),
    Cause(what="processes of refits are killed", alerts=("CgosRefitsFail",), make=killed_refits, limit_s=90),
    Cause(what="visitors ask more often than permitted", alerts=("CgosVisitorsTurnedAway",), make=flood),
    Cause(
        what="the web process is stopped for 2.6 s at a time", alerts=("CgosPagesSlow",), make=slow_pages, limit_s=90
    ),
    Cause(what="the web process reads no facts", alerts=("CgosFactsDropped",), make=late_pages, limit_s=90),
    Cause(what="nobody takes the webhooks", alerts=("CgosWebhooksFail",), make=lost_webhooks, limit_s=150),
    Cause(what="the web process is killed four times", alerts=("CgosPagesRestart",), make=dying_pages, limit_s=90),
    Cause(what="a reader holds the write-ahead log", alerts=("CgosWriteAheadLogLarge",), make=long_log, limit_s=150),
    Cause(what="a disk of its own fills up", alerts=("CgosDiskFull", "CgosDiskFillsUp"), make=full_disk, limit_s=240),
    Cause(
        what="the server is killed and started four times", alerts=("CgosServerRestarts",), make=restarts, limit_s=90
    ),
)

NOT_CAUSED = {
    "CgosMemoryGrows": "needs a gigabyte more than a day ago",
    "CgosDatabaseGrows": "its window of a day is long even when it is shortened, and it clears as slowly",
    "CgosWaitsLong": "needs waits of ten minutes while others are ready",
    "CgosAnchorDoubtful": "needs hundreds of games of an anchor that plays unlike its number, and an hourly check",
    "CgosVersionsFlagged": "needs hundreds of games of a version that changes, and an hourly check",
    "CgosPagesFail": "needs a fault of the program, or a database that cannot be read",
    "CgosCertificateExpires": "needs a certificate of the server's own",
    "CgosCertificateReloadFails": "needs a certificate of the server's own",
    "CgosWebhookQueue": "needs hundreds of owners' messages to a host that does not answer",
}
