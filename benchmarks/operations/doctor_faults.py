"""Makes one thing wrong after the other on real servers, and shows whether `cgos-server doctor` names each.

Every fault has a data directory of its own, most of them a server of their own; a fault counts as identified where the
check that is meant for it says what is wrong, in words that name it. What needs root, PostgreSQL or openssl is left out
where there is none, and said. The last line is a server where nothing was made wrong: no check may call it wrong.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from benchmarks.ending import unwinding
from benchmarks.reporting import ROOT, program

sys.path.insert(0, str(ROOT / "tests"))

from rich.console import Console
from rich.table import Table
from support.e2e.processes import ServerProcess, free_port, server
from support.storage.postgres import postgres_server, why_not

FAILURES = (AssertionError, OSError, RuntimeError, sqlite3.Error, subprocess.SubprocessError)
"""Of what makes a fault, or of the doctor."""
LONG_LOG = 140 << 20
"""Bytes: more than the doctor takes for ordinary."""


class Asked(msgspec.Struct, kw_only=True):
    """How the doctor is asked once the fault is there."""

    config: Path
    words: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}


class Fault(msgspec.Struct, frozen=True):
    """Something to make wrong.

    :ivar make: makes it in an empty directory, for as long as the block runs
    :ivar check: which check has to see it
    :ivar words: what that check's sentence has to hold
    """

    name: str
    make: Callable[[Path], contextlib.AbstractContextManager[Asked]]
    check: str
    words: str


class Missing(Exception):
    """What a fault needs is not there."""


def faults() -> list[Fault]:
    """All of them, the quick ones first."""
    return [
        Fault("a key that is misspelled", configured("[web]\nprot = 1"), "configuration", "prot"),
        Fault("everybody is a trusted proxy", configured('[listen]\nproxies = "0.0.0.0/0"'), "exposure", "0.0.0.0/0"),
        Fault("metrics on a public address", configured('[health]\nhost = "0.0.0.0"'), "exposure", "metrics are open"),
        Fault("https without a named proxy", configured(_web("https://127.0.0.1:1")), "exposure", "web.proxies"),
        Fault("the proxy is not there", configured(_web("https://127.0.0.1:1")), "certificates", "cannot be reached"),
        Fault("a port taken by another program", taken_port, "ports", "is held by"),
        Fault("a limit of 64 open files", few_files, "limits", "may open 64 files"),
        Fault("an expired certificate", certificate(expired=True), "certificates", "expired"),
        Fault("a certificate of another name", certificate(expired=False), "certificates", "not trusted"),
        Fault("an expired certificate of the server's own", own_certificate(expired=True), "certificates", "ended"),
        Fault("a key that all may read", own_certificate(expired=False), "certificates", "may read or write"),
        Fault("a backup that is a week late", late_backup, "backups", "one was due at"),
        Fault("other terms than the database has", other_terms, "configuration", "komi"),
        Fault("a database of a newer program", statement("UPDATE alembic_version SET version_num='9999_later'"),
              "database", "which this program"),
        Fault("a clock behind the latest record", statement("UPDATE server SET created_at = created_at + 86400000"),
              "clock", "has a record of"),
        Fault("a damaged database", damaged, "durability", "malformed"),
        Fault("a data directory that all may enter", with_server(lambda one: one.data.chmod(0o755)),
              "permissions", "can look into"),
        Fault("a database that is somebody else's", other_owner, "permissions", "belong to somebody else"),
        Fault("a running server with 64 open files", with_server(lower_limit), "limits", "may open 64 files"),
        Fault("a server that hangs", hung, "server", "stopped by a signal"),
        Fault("a control socket that is gone", with_server(lambda one: (one.data / "control.sock").unlink()),
              "server", "listens on no control socket"),
        Fault("a log that a reader holds", long_log, "database", "a reader holds it"),
        Fault("a disk that is nearly full", small_disk, "disk", "free in"),
        Fault("a data directory in memory", small_disk, "disk", "tmpfs"),
        Fault("PostgreSQL with fsync = off", postgres(stopped=False), "durability", "fsync = off"),
        Fault("PostgreSQL is not there", postgres(stopped=True), "database", "PostgreSQL does not let us into"),
    ]  # fmt: skip


def _web(url: str) -> str:
    return f'[web]\npublic_url = "{url}"'


def _config(folder: Path, settings: str) -> Path:
    """A configuration on ports that nobody has."""
    lines = settings.splitlines()
    table, own = (lines[0], "\n".join(lines[1:])) if lines else ("", "")
    text = '[server]\ndata = "data"\n'
    for each, key in (("[listen]", ""), ("[websocket]", "port"), ("[web]", "port"), ("[health]", "port")):
        text += f"{each}\n" + (f"{key} = {free_port()}\n" if key else "") + (f"{own}\n" if each == table else "")
    text += f'[[venue]]\nname = "9x9"\nport = {free_port()}\nsize = 9\nkomi = 7.0\ntime = {{ main = "2m" }}\n'
    path = folder / "cgos.toml"
    path.write_text(text)
    return path


def configured(settings: str) -> Callable[[Path], contextlib.AbstractContextManager[Asked]]:
    """A configuration with this table, and no server."""

    @contextlib.contextmanager
    def make(folder: Path) -> Iterator[Asked]:
        yield Asked(config=_config(folder, settings))

    return make


def with_server(spoil: Callable[[ServerProcess], object]) -> Callable[[Path], contextlib.AbstractContextManager[Asked]]:
    """A running server, and what is done to it."""

    @contextlib.contextmanager
    def make(folder: Path) -> Iterator[Asked]:
        with server(folder) as running:
            spoil(running)
            yield Asked(config=running.config)

    return make


@contextlib.contextmanager
def stopped(folder: Path) -> Iterator[ServerProcess]:
    """A server that ran once."""
    with server(folder) as running:
        running.stop()
        yield running


@contextlib.contextmanager
def taken_port(folder: Path) -> Iterator[Asked]:
    config = _config(folder, "")
    port = int(config.read_text().partition("[web]\nport = ")[2].split()[0])
    listening = (
        f"import socket, time; s = socket.create_server(('127.0.0.1', {port})); print(flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", listening], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            yield Asked(config=config)
        finally:
            other.kill()


@contextlib.contextmanager
def few_files(folder: Path) -> Iterator[Asked]:
    yield Asked(config=_config(folder, ""), words=("--limit",))


def lower_limit(running: ServerProcess) -> None:
    assert running.process is not None
    if not hasattr(resource, "prlimit"):
        raise Missing("only Linux lets another process's limits be set")
    resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, (64, 64))


def certificate(expired: bool) -> Callable[[Path], contextlib.AbstractContextManager[Asked]]:
    """Something that speaks TLS where the pages are to be, with a certificate that is trusted but for one thing."""

    @contextlib.contextmanager
    def make(folder: Path) -> Iterator[Asked]:
        name = "IP:127.0.0.1" if expired else "DNS:elsewhere.example"
        _self_signed(folder, name, "20200101000000Z" if expired else "20990101000000Z")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def answer() -> None:
                with contextlib.suppress(OSError):
                    while True:
                        peer, _ = listener.accept()
                        with peer, contextlib.suppress(OSError), context.wrap_socket(peer, server_side=True):
                            pass

            threading.Thread(target=answer, daemon=True).start()
            config = _config(folder, f"{_web(f'https://127.0.0.1:{listener.getsockname()[1]}')}\nproxies = '127.0.0.1'")
            yield Asked(config=config, environment={"SSL_CERT_FILE": str(folder / "certificate.pem")})
            listener.shutdown(socket.SHUT_RDWR)

    return make


def own_certificate(expired: bool) -> Callable[[Path], contextlib.AbstractContextManager[Asked]]:
    """Files of `[tls]`, whose certificate is over or whose key is open to everybody."""

    @contextlib.contextmanager
    def make(folder: Path) -> Iterator[Asked]:
        _self_signed(folder, "IP:127.0.0.1", "20200101000000Z" if expired else "20990101000000Z")
        (folder / "key.pem").chmod(0o600 if expired else 0o644)
        config = _config(folder, "[web]\ntls = true")
        files = f'certificate = "{folder / "certificate.pem"}"\nkey = "{folder / "key.pem"}"'
        config.write_text(f"{config.read_text()}[tls]\n{files}\n")
        yield Asked(config=config)

    return make


@contextlib.contextmanager
def late_backup(folder: Path) -> Iterator[Asked]:
    config = _config(folder, "")
    at = time.strftime("%H:00", time.gmtime(time.time() - 21_600))
    config.write_text(f'{config.read_text()}[backup]\nat = "{at}"\n')
    backup = folder / "data" / "backups" / "cgos-20200101T000000Z.sqlite"
    backup.parent.mkdir(parents=True)
    backup.touch(0o600)
    yield Asked(config=config)


def _self_signed(folder: Path, name: str, end: str) -> None:
    """A certificate that signs itself, ending at `end`."""
    if shutil.which("openssl") is None:
        raise Missing("openssl is not installed")
    (folder / "index.txt").touch()
    (folder / "serial").write_text("01\n")
    (folder / "ca.cnf").write_text(
        "[ca]\ndefault_ca = own\n[own]\ndatabase = index.txt\nserial = serial\nnew_certs_dir = .\n"
        "default_md = sha256\npolicy = any\nx509_extensions = names\n[any]\ncommonName = supplied\n"
        f"[names]\nsubjectAltName = {name}\nbasicConstraints = critical, CA:true\n"
    )
    for words in (
        "req -new -newkey rsa:2048 -nodes -keyout key.pem -out request.pem -subj /CN=doctor",
        "ca -batch -config ca.cnf -selfsign -keyfile key.pem -in request.pem -out certificate.pem "
        f"-startdate 20190101000000Z -enddate {end} -notext",
    ):
        subprocess.run(["openssl", *words.split()], cwd=folder, check=True, capture_output=True, timeout=60)


@contextlib.contextmanager
def other_terms(folder: Path) -> Iterator[Asked]:
    with stopped(folder) as running:
        running.config.write_text(running.config.read_text().replace("komi = 7.0", "komi = 5.5"))
        yield Asked(config=running.config)


def statement(sql: str) -> Callable[[Path], contextlib.AbstractContextManager[Asked]]:
    """A stopped server's database with something changed in it."""

    @contextlib.contextmanager
    def make(folder: Path) -> Iterator[Asked]:
        with stopped(folder) as running:
            with contextlib.closing(sqlite3.connect(running.data / "cgos.sqlite")) as connection, connection:
                connection.execute(sql)
            yield Asked(config=running.config)

    return make


@contextlib.contextmanager
def damaged(folder: Path) -> Iterator[Asked]:
    with stopped(folder) as running:
        path = running.data / "cgos.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'games'").fetchone()
            (size,) = connection.execute("PRAGMA page_size").fetchone()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        with path.open("rb+") as file:
            file.seek((page - 1) * size)
            file.write(b"\xff" * size)
        yield Asked(config=running.config, words=("--deep",))


@contextlib.contextmanager
def other_owner(folder: Path) -> Iterator[Asked]:
    if os.geteuid() != 0:
        raise Missing("only root gives files away")
    with stopped(folder) as running:
        os.chown(running.data / "cgos.sqlite", 65_534, 65_534)
        yield Asked(config=running.config)


@contextlib.contextmanager
def hung(folder: Path) -> Iterator[Asked]:
    with server(folder) as running:
        assert running.process is not None
        running.process.send_signal(signal.SIGSTOP)
        try:
            yield Asked(config=running.config)
        finally:
            running.process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def long_log(folder: Path) -> Iterator[Asked]:
    with server(folder) as running, contextlib.ExitStack() as stack:
        reader, writer = (
            stack.enter_context(contextlib.closing(sqlite3.connect(running.data / "cgos.sqlite", isolation_level=None)))
            for _ in range(2)
        )
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM games").fetchall()
        writer.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        writer.execute("CREATE TABLE ballast (bytes BLOB)")
        for _ in range(LONG_LOG >> 20):
            writer.execute("INSERT INTO ballast VALUES (zeroblob(1048576))")
        yield Asked(config=running.config)


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Asked]:
    """A data directory on a file system of 16 MiB in memory."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        raise Missing("only root mounts file systems")
    config = _config(folder, "")
    data = folder / "data"
    data.mkdir(mode=0o700)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "doctor", str(data)], check=False)
    if done.returncode:
        raise Missing("nothing can be mounted here")
    try:
        yield Asked(config=config)
    finally:
        subprocess.run(["umount", str(data)], check=True)


def postgres(stopped: bool) -> Callable[[Path], contextlib.AbstractContextManager[Asked]]:
    @contextlib.contextmanager
    def make(folder: Path) -> Iterator[Asked]:
        if (reason := why_not()) is not None:
            raise Missing(reason)
        with postgres_server() as running:
            config = _config(folder, "")
            url = running.url()
            config.write_text(config.read_text().replace('data = "data"', f'data = "data"\ndatabase = "{url}"'))
            if stopped:
                running.stop()
            yield Asked(config=config)

    return make


def doctor(asked: Asked) -> list[dict[str, str]]:
    """The findings that are not ok."""
    limited = "--limit" in asked.words
    words = [word for word in asked.words if word != "--limit"]
    command = [sys.executable, "-m", "cgos_server", "doctor", "--json", "--config", str(asked.config), *words]
    if limited:
        command = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", *command]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=os.environ | dict(asked.environment)
    )
    assert done.returncode in (0, 1), done.stderr
    findings: list[dict[str, str]] = json.loads(done.stdout)
    assert done.returncode == any(finding["level"] == "wrong" for finding in findings)
    return [finding for finding in findings if finding["level"] != "ok"]


def _identified(fault: Fault, findings: list[dict[str, str]]) -> str | None:
    """The sentence that names the fault, None where none does."""
    for finding in findings:
        if finding["check"] == fault.check and fault.words in finding["sentence"] and finding["level"] != "unknown":
            return f"{finding['level']}: {finding['sentence']}"
    return None


def run(first: Annotated[int, "only so many of the faults, the quick ones"] = 0) -> dict[str, Any]:
    """Make each fault, ask, and show; ended by a signal it leaves nothing mounted."""
    with unwinding():
        return _run(faults()[: first or None])


def _run(wanted: Sequence[Fault]) -> dict[str, Any]:
    table = Table(title="doctor against faults that are there")
    for column in ("made wrong", "what doctor said", "identified", "s"):
        table.add_column(column, overflow="fold")
    figures: dict[str, Any] = {}
    for fault in wanted:
        with tempfile.TemporaryDirectory(prefix="cgos-doctor-") as folder:
            try:
                with fault.make(Path(folder)) as asked:
                    began = time.monotonic()
                    findings = doctor(asked)
                    took = time.monotonic() - began
            except Missing as reason:
                table.add_row(fault.name, f"not tried: {reason}", "-", "")
                figures[fault.name] = {"identified": None, "why": str(reason)}
                continue
            except FAILURES as failure:  # the others are tried all the same
                table.add_row(fault.name, f"failed: {failure}", "NO", "")
                figures[fault.name] = {"identified": False, "why": str(failure)}
                continue
        sentence = _identified(fault, findings)
        table.add_row(fault.name, sentence or str(findings), "yes" if sentence else "NO", f"{took:.1f}")
        figures[fault.name] = {"identified": sentence is not None, "said": sentence, "seconds": round(took, 2)}
    with tempfile.TemporaryDirectory(prefix="cgos-doctor-") as folder, server(Path(folder)) as running:
        wrong = [finding["sentence"] for finding in doctor(Asked(config=running.config)) if finding["level"] == "wrong"]
    table.add_row("nothing", "; ".join(wrong) or "nothing is wrong", "-" if not wrong else "NO", "")
    tried = [each["identified"] for each in figures.values() if each["identified"] is not None]
    Console(width=160).print(table)
    print(f"made wrong {len(tried)}, identified {sum(tried)}; false alarms without a fault: {len(wrong)}")
    return {"faults": figures, "tried": len(tried), "identified": sum(tried), "false_alarms": wrong}


main = program(run, first=7)

if __name__ == "__main__":
    main()
