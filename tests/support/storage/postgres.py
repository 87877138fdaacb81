"""A private PostgreSQL server for tests: one a session, on a free port of loopback and a socket in its own directory.

`initdb` refuses root, so as root everything runs as another user. Nothing waits for the disk (``fsync = off``): what is
killed here is the server, never the machine. Ends with the session; only what was started here is ended.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.e2e.processes import free_port

USER = "cgos"
SECRET = "a secret of the tests"
_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
_USERS = ("postgres", "nobody")
_MEMORY = Path("/dev/shm")
_ROOM = 4 << 30
"""Bytes: two servers of tests at once, with their logs."""


def program(name: str) -> str | None:
    """The path of one of PostgreSQL's programs, on PATH or where Debian puts them; None where there is none."""
    return shutil.which(name) or next(
        (program_path for place in _PLACES if (program_path := shutil.which(name, path=place))), None
    )


def why_not() -> str | None:
    """Why no PostgreSQL can be started here; None where one can."""
    missing = [name for name in ("initdb", "pg_ctl", "postgres") if program(name) is None]
    if missing:
        return f"PostgreSQL is not installed here ({', '.join(missing)})"
    if os.geteuid() == 0 and _other_user() is None:
        return f"PostgreSQL refuses root, and there is none of the users {', '.join(_USERS)}"
    return None


def _other_user() -> pwd.struct_passwd | None:
    for name in _USERS:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    return None


def _as_other_user() -> dict[str, Any]:
    """What makes a child process somebody whom PostgreSQL accepts."""
    user = _other_user() if os.geteuid() == 0 else None
    return {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


_GUARD = 'read -r _; "$1" -D "$2" -m immediate stop; rm -rf "$3"'


class PostgresServer:
    """A server on `directory`, which is its own. Every start uses the same port."""

    def __init__(self, directory: Path, settings: str = "") -> None:
        self.directory = directory
        self.data = directory / "data"
        self.port = free_port()
        if os.geteuid() == 0:
            user = _other_user()
            assert user is not None
            os.chown(directory, user.pw_uid, user.pw_gid)
        secret = directory / "secret"
        secret.write_text(SECRET + "\n")
        secret.chmod(0o644)
        self._run(
            "initdb", "-D", str(self.data), "-U", USER, "--auth=scram-sha-256", f"--pwfile={secret}", "--no-sync",
            "--encoding=UTF8", "--locale=C",
        )  # fmt: skip
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(
                f"""
listen_addresses = '127.0.0.1'
port = {self.port}
unix_socket_directories = '{directory}'
fsync = off
full_page_writes = off
max_connections = 60
shared_buffers = 32MB
{settings}
"""
            )

    def url(self, name: str = "postgres", port: int | None = None) -> str:
        """The URL of the database `name`, over TCP; at another `port` where something stands between."""
        return f"postgresql://{USER}:{SECRET.replace(' ', '%20')}@127.0.0.1:{port or self.port}/{name}"

    def start(self) -> None:
        """Start, also right after `kill`: the children of the one before must be gone first, which takes a moment."""
        for _ in range(50):
            try:
                self._control("start", "-l", str(self.directory / "log"))
            except AssertionError:
                time.sleep(0.1)
            else:
                return
        raise AssertionError(f"PostgreSQL does not start:\n{self.tail()}")

    def stop(self, how: str = "fast") -> None:
        """`how`: ``fast`` ends sessions in order, ``immediate`` is a crash."""
        self._control("stop", "-m", how)

    def restart(self, how: str = "fast") -> None:
        self._control("restart", "-m", how, "-l", str(self.directory / "log"))

    def kill(self) -> None:
        """`kill -9` of the main process; its children notice and go."""
        os.kill(int((self.data / "postmaster.pid").read_text().splitlines()[0]), signal.SIGKILL)

    @contextlib.contextmanager
    def guard(self) -> Iterator[None]:
        """Ends the server and removes its directory also where this process is killed: a pipe of ours then closes."""
        control = program("pg_ctl")
        assert control is not None
        with subprocess.Popen(
            ["sh", "-c", _GUARD, "guard", control, str(self.data), str(self.directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            **_as_other_user(),
        ):
            yield

    def tail(self) -> str:
        return (self.directory / "log").read_text()[-2000:]

    def _control(self, what: str, *arguments: str) -> None:
        self._run("pg_ctl", what, "-D", str(self.data), "-w", "-t", "60", "-s", *arguments)

    def _run(self, name: str, *arguments: str) -> None:
        path = program(name)
        assert path is not None
        done = subprocess.run(
            [path, *arguments],
            # Not pipes: the server that pg_ctl starts would hold them open.
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            timeout=90,
            check=False,
            **_as_other_user(),
        )
        assert done.returncode == 0, f"{name} {' '.join(arguments)} ended with {done.returncode}"


@contextlib.contextmanager
def postgres_server(settings: str = "", *, in_memory: bool = False) -> Iterator[PostgresServer]:
    """A running server in a directory of its own, gone at the end of the block.

    :param in_memory: not on a disk, where this machine has room: a new database costs a sixth of the time
    """
    # Not pytest's directory: that is root's alone.
    place = _MEMORY if in_memory and _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= _ROOM else None
    directory = Path(tempfile.mkdtemp(prefix="cgos-postgres-", dir=place))
    try:
        server = PostgresServer(directory, settings)
        with server.guard():
            server.start()
            try:
                yield server
            finally:
                with contextlib.suppress(AssertionError):
                    server.stop("immediate")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
