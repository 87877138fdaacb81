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
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from benchmarks.operations import peers
from benchmarks.operations.drill import ANCHORS, AWAY, FAMILY, STRANGER, Drill, Missing, called, stopped
from benchmarks.operations.engines import Engine
from benchmarks.reporting import ROOT

sys.path.insert(0, str(ROOT / "tests"))

from support.e2e.processes import until
from support.net.certificates import expired

from cgos_server.storage.backups.names import name_of

LOOK_S = 62.0
"""The server looks at sizes of files once a minute."""
SLOW_S = 2.8
"""That an answer takes."""
WAIT_S = 610.0
"""A wait for a game that is long."""
SEEN_S = 3.0
"""How long a server that was started stays, so that whoever looks each second sees it."""
Make = Callable[[Drill], contextlib.AbstractContextManager[object]]


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """What is done, the alerts that must fire meanwhile and clear afterwards, and for how long they are waited for.

    :ivar rounds: that it lasts: others are done beside it
    """

    what: str
    alerts: tuple[str, ...]
    make: Make
    limit_s: float = 60.0
    rounds: int = 1


# -- processes


@contextlib.contextmanager
def down(place: Drill) -> Iterator[None]:
    place.server.kill()
    yield
    place.server.start()


@contextlib.contextmanager
def restarts(place: Drill) -> Iterator[None]:
    """A minute after the last one the server doubts its ratings: a version was exchanged, anchors do not fit."""
    for number, rating in ANCHORS.items():
        place.command("anchor", "set", called(number), str(rating), "--sd", "20", "--venue", place.changed)
    for _ in range(4):
        place.restart()
        time.sleep(SEEN_S)
    yield
    for number in ANCHORS:
        place.command("anchor", "unset", called(number), "--venue", place.changed)
    place.restart()


@contextlib.contextmanager
def leak(place: Drill) -> Iterator[None]:
    place.leak.touch()
    yield
    place.leak.unlink()


# -- certificates


@contextlib.contextmanager
def expired_certificate(place: Drill) -> Iterator[None]:
    with place.other_certificate() as folder:
        expired(folder)
        for kind in ("pem", "key"):
            (folder / f"expired.{kind}").replace(place.server.directory / f"own.{kind}")
        place.command("reload")
        yield


@contextlib.contextmanager
def broken_certificate(place: Drill) -> Iterator[None]:
    """What is there for a moment cannot be used."""
    with place.other_certificate():
        (place.server.directory / "own.pem").write_text("half a file")
        place.server.command("reload")
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
    try:
        yield
    finally:
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
        for share, wait in ((0.75, LOOK_S), (0.97, 0.0)):
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
def growth(place: Drill) -> Iterator[None]:
    """Another program puts much into the database, twice, so that two looks at its size differ."""
    with contextlib.closing(sqlite3.connect(place.database, isolation_level=None, timeout=30)) as writer:
        writer.execute("CREATE TABLE growth (bytes BLOB)")
        for wait_s in (LOOK_S, 0.0):
            for _ in range(60):
                writer.execute("INSERT INTO growth VALUES (zeroblob(1048576))")
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            time.sleep(wait_s)
        yield
        writer.execute("DROP TABLE growth")


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
        with stopped(process.pid):
            yield


@contextlib.contextmanager
def waiting_family(place: Drill) -> Iterator[None]:
    """Bots that may not meet one another wait, until a stranger comes and plays with those that have waited longest."""
    for number in FAMILY[1:]:
        place.command("family", "link", called(number), called(FAMILY[0]))
    port = place.ports[place.kept]

    def decide(_: str) -> str:
        time.sleep(0.2)
        return "PASS"

    with contextlib.ExitStack() as stack:
        for number in FAMILY:
            stack.enter_context(Engine(port, called(number), decide).playing())
        stranger = Engine(port, called(STRANGER), decide)
        over = threading.Event()

        def come() -> None:
            if not over.wait(WAIT_S):
                with stranger.playing():
                    over.wait()

        thread = threading.Thread(target=come, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(timeout=30)


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
    place.command("event", "create", name, "round-robin", "--starts-with", "2", "--venue", "9x9")
    place.command("event", "open", name)
    for number in AWAY:
        place.command("event", "enter", name, called(number))
    yield
    place.command("event", "cancel", name, "--reason", "The drill is over.")


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
    with stopped(pid):
        yield


@contextlib.contextmanager
def failing_pages(place: Drill) -> Iterator[None]:
    """A table that only pages read is not there."""

    def rename(old: str, new: str) -> None:
        with contextlib.closing(sqlite3.connect(place.database, isolation_level=None, timeout=30)) as other:
            other.execute(f"ALTER TABLE {old} RENAME TO {new}")

    rename("owners", "aside")
    try:
        with peers.repeated(lambda: peers.visit(place.server.web_port, "/api/v1/bots/Load-00000"), 0.7):
            yield
    finally:
        rename("aside", "owners")


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
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(peers.repeated(lambda: peers.slow_form(place.server.web_port, SLOW_S), 0.1))
        yield


@contextlib.contextmanager
def flood(place: Drill) -> Iterator[None]:
    """Several at once: the rule counts a hundred refusals in ten minutes, and those are shortened."""
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(peers.repeated(lambda: peers.visit(place.server.web_port, "/api/v1/venues"), 0.02))
        yield


@contextlib.contextmanager
def late_pages(place: Drill) -> Iterator[None]:
    """The web process reads nothing while bots play fast."""
    pid = place.web_pid()
    assert pid is not None
    with place.bots(think_s=0.0), stopped(pid):
        yield


@contextlib.contextmanager
def lost_webhooks(place: Drill) -> Iterator[None]:
    """Nobody listens where they go."""
    with place.bots(think_s=0.02):
        yield


ROUNDS: tuple[tuple[Cause, ...], ...] = (
    (Cause(what="the server is killed, then started", alerts=("CgosServerDown",), make=down),),
    (Cause(what="a venue with idle bots is paused", alerts=("CgosNoGames",), make=paused_venue),),
    (
        Cause(
            what="bots of one family wait for ten minutes, then a stranger comes",
            alerts=("CgosWaitsLong",),
            make=waiting_family,
            limit_s=WAIT_S + 60,
            rounds=16,
        ),
        Cause(
            what="an event is paused whose entrants are away",
            alerts=("CgosEventPaused", "CgosEventStands"),
            make=paused_event,
            limit_s=120,
        ),
        Cause(what="the newest backup is a week old", alerts=("CgosBackupOld",), make=old_backup, limit_s=90),
        Cause(
            what="the certificate has expired", alerts=("CgosCertificateExpires",), make=expired_certificate, limit_s=90
        ),
    ),
    (
        Cause(
            what="half a file of a certificate is read again",
            alerts=("CgosCertificateReloadFails",),
            make=broken_certificate,
        ),
        Cause(what="visitors ask more often than permitted", alerts=("CgosVisitorsTurnedAway",), make=flood),
    ),
    (Cause(what="a configuration at fault is read again", alerts=("CgosLogErrors",), make=wrong_key),),
    (
        Cause(what="the connections of all bots are cut", alerts=("CgosDisconnects",), make=cut_bots),
        Cause(what="the web process is stopped", alerts=("CgosPagesDown",), make=hung_pages),
    ),
    (
        Cause(what="all bots hang until their time is over", alerts=("CgosGamesLost",), make=hung_bots),
        Cause(what="visitors take 2.8 s for a form", alerts=("CgosPagesSlow",), make=slow_pages),
    ),
    (
        Cause(
            what="another program holds the database",
            alerts=("CgosCommitsFail", "CgosNotReady"),
            make=locked,
            limit_s=90,
        ),
    ),
    (
        Cause(
            what="another program holds the database for 1.6 s at a time",
            alerts=("CgosCommitsSlow", "CgosMovesSlow"),
            make=slow_disk,
            limit_s=90,
        ),
    ),
    (
        Cause(what="the game process is stopped for 0.35 s at a time", alerts=("CgosLoopLag",), make=busy_processor),
        Cause(what="a limit of open files just above their number", alerts=("CgosOpenFiles",), make=few_files),
    ),
    (Cause(what="1500 newcomers at once", alerts=("CgosPasswordQueue",), make=newcomers),),
    (
        Cause(what="transcripts' folder cannot be written", alerts=("CgosTranscriptsDropped",), make=no_transcripts),
        Cause(
            what="the folder of backups cannot be made", alerts=("CgosBackupFails",), make=failing_backup, limit_s=90
        ),
        Cause(what="a table that pages read is away", alerts=("CgosPagesFail",), make=failing_pages),
    ),
    (Cause(what="processes of refits are killed", alerts=("CgosRefitsFail",), make=killed_refits, limit_s=150),),
    (Cause(what="the web process reads no facts", alerts=("CgosFactsDropped",), make=late_pages, limit_s=90),),
    (
        Cause(
            what="nobody takes the webhooks",
            alerts=("CgosWebhooksFail", "CgosWebhookQueue"),
            make=lost_webhooks,
            limit_s=120,
        ),
    ),
    (Cause(what="the web process is killed four times", alerts=("CgosPagesRestart",), make=dying_pages, limit_s=90),),
    (Cause(what="a reader holds the write-ahead log", alerts=("CgosWriteAheadLogLarge",), make=long_log, limit_s=120),),
    (Cause(what="another program fills the database", alerts=("CgosDatabaseGrows",), make=growth, limit_s=120),),
    (
        Cause(
            what="the server is killed and started four times; an engine was exchanged, anchors do not fit",
            alerts=("CgosServerRestarts", "CgosAnchorDoubtful", "CgosVersionsFlagged"),
            make=restarts,
            limit_s=240,
            rounds=3,
        ),
    ),
    (Cause(what="the game process takes 1.4 GB more", alerts=("CgosMemoryGrows",), make=leak),),
    (
        Cause(
            what="a disk of its own fills up", alerts=("CgosDiskFull", "CgosDiskFillsUp"), make=full_disk, limit_s=150
        ),
    ),
)
"""What is done one after the other, and what at the same time. While bots wait for long nothing restarts the server,
and `CgosNoGames` fires for their venue.
"""
