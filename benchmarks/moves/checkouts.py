"""Servers of other checkouts of this project, for comparing commits.

Each is started by its own tree's `server_moves.py`, which prepares its database and its configuration, with
the interpreter and the packages of whoever asks.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from benchmarks.reporting import ROOT

sys.path.insert(0, str(ROOT / "tests"))

from support.storage.postgres import postgres_server
from support.storage.postgres_fixtures import ask

HOST = """
import json, subprocess, sys, types
from pathlib import Path
import cgos_server, server_moves
from cgos_server.storage.location import PostgresUrl

def started(command, **options):
    with open(command[-1], "a") as config:
        config.write(sys.argv[3])
    return subprocess.Popen([*json.loads(sys.argv[4]), *command], **options)

if sys.argv[5]:
    server_moves.prepare = lambda _, bots: server_moves.register(PostgresUrl.parse(sys.argv[5]), bots)
server_moves.subprocess = types.SimpleNamespace(Popen=started, PIPE=subprocess.PIPE)
with server_moves.server(Path(sys.argv[1]), int(sys.argv[2])) as running:
    ports = {"lines": running.lines, "websocket": running.websocket}
    print(json.dumps({"pid": running.pid, "package": cgos_server.__file__, **ports}), flush=True)
    sys.stdin.read()
"""
"""Runs a tree's own server until its standard input ends; adds lines to its venue, the configuration's last table."""


class Hosted(msgspec.Struct):
    """A server of some checkout, and its ports."""

    pid: int
    lines: int
    websocket: int
    package: str


@contextlib.contextmanager
def hosted(
    tree: Path, directory: Path, bots: int, *, venue: str = "", under: Sequence[str] = (), database: str = ""
) -> Iterator[Hosted]:
    """A server of the checkout `tree`, its bots registered.

    :param database: URL of an empty one in PostgreSQL; empty for a file in `directory`
    :param venue: lines of configuration to add to its venue
    :param under: a command that runs it, and its options
    """
    paths = map(str, (tree, tree / "benchmarks", _server_moves(tree).parent, tree / "clients", tree / "protocol"))
    process = subprocess.Popen(
        [sys.executable, "-c", HOST, str(directory), str(bots), venue, json.dumps(under), database],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=directory,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(paths)}
        | ({"CGOS_SERVER__DATABASE": database} if database else {}),
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server of {tree} did not start")
        running = msgspec.json.decode(line, type=Hosted)
        if not Path(running.package).is_relative_to(tree):
            raise RuntimeError(
                f"{running.package} was started in place of {tree}: an installed package stands before it"
            )
        yield running
    finally:
        process.communicate(timeout=60)


@contextlib.contextmanager
def databases(postgres: bool) -> Iterator[Callable[[], str]]:
    """Gives URLs of empty databases in PostgreSQL, or of none."""
    if not postgres:
        yield str
        return
    numbers = itertools.count()
    with postgres_server("fsync = on") as server:

        def new() -> str:
            name = f"pairs{next(numbers)}"
            ask(server.url(), f"CREATE DATABASE {name}")
            return server.url(name)

        yield new


def checkout(text: str) -> Path:
    """A directory that is a checkout of this project with these benchmarks."""
    tree = Path(text).resolve()
    try:
        _server_moves(tree)
    except StopIteration:
        raise argparse.ArgumentTypeError(f"{text} holds no server_moves.py: give a checkout of this project") from None
    return tree


def _server_moves(tree: Path) -> Path:
    """Its program of that name, in whatever folder it has it."""
    return next((tree / "benchmarks").rglob("server_moves.py"))


def commit(tree: Path) -> str:
    """The commit that is checked out, with a plus where files were changed since; "unknown" without git."""
    try:
        described = subprocess.run(
            ["git", "-C", str(tree), "describe", "--always", "--dirty=+", "--exclude=*"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return described.stdout.strip()
