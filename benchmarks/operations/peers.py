"""Who meets a server in the drills of its dashboards and alerts: bots, visitors, owners with a webhook.

Must not know: what is looked at meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import http.server
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.moves import load_bots
from benchmarks.moves.load_bots import token
from benchmarks.moves.server_moves import prepare, scripted_game
from cgos_protocol.ids import BotId
from cgos_server.storage.opening import open_store
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import BotOwner, OwnerAdded, WebhookAdded

OWNED = 20
"""So many of the bots have an owner."""
WEBHOOKS = 8
"""That the owner has, all to one address."""


def _unexpected(error: Exception) -> None:
    raise error


def past(data: Path, bots: int, webhook: str) -> None:
    """A data directory with registered bots, and an account that owns some and is told of their games again and again.

    :param webhook: its address
    """
    data.mkdir(mode=0o700, exist_ok=True)
    prepare(data, bots)

    async def add() -> None:
        store = await open_store(data / "cgos.sqlite", CommitListener(failed=_unexpected, on_error=_unexpected))
        store.submit(
            [
                OwnerAdded(id=1, name="owner", name_key="owner", password="none", admin=0, created_at=0),
                *(BotOwner(owner_id=1, id=BotId(number + 1)) for number in range(min(bots, OWNED))),
                *(
                    WebhookAdded(
                        id=number + 1,
                        owner_id=1,
                        bot_id=None,
                        url=webhook,
                        secret="secret",
                        events="game-started game-ended",
                        created_at=int(time.time() * 1000),
                    )
                    for number in range(WEBHOOKS)
                ),
            ]
        )
        await store.close()

    asyncio.run(add())


@contextlib.contextmanager
def players(folder: Path, port: int, bots: int, think_s: float, limit_s: float) -> Iterator[subprocess.Popen[bytes]]:
    """Bots that play one scripted game over and over, in a process of their own."""
    script = folder / "script.json"
    script.write_text(json.dumps(scripted_game()))
    command = [sys.executable, load_bots.__file__, "--port", str(port), "--bots", str(bots), "--script", str(script)]
    command += ["--think", str(think_s), "--seconds", str(limit_s)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait(timeout=30)


@contextlib.contextmanager
def repeated(action: Callable[[], object], every_s: float) -> Iterator[None]:
    """The action again and again beside the block, in a thread, also where the network refuses one."""
    stopped = threading.Event()

    def run() -> None:
        while not stopped.wait(every_s):
            with contextlib.suppress(OSError):
                action()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join(timeout=30)


def visit(port: int, path: str) -> int:
    """The status of an answer of the pages."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
            answer.read()
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def slow_form(port: int, seconds: float) -> None:
    """Somebody whose form arrives so long after the head of its request."""
    head = f"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 6\r\nConnection: close\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as visitor:
        visitor.sendall(f"{head}Content-Type: application/x-www-form-urlencoded\r\n\r\n".encode())
        time.sleep(seconds)
        visitor.sendall(b"name=a")
        while visitor.recv(4096):
            pass


@contextlib.contextmanager
def stream(port: int) -> Iterator[None]:
    """Somebody who follows what happens on the server, with every move."""
    answer = urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/live?format=ndjson&moves=true", timeout=60)

    def read() -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            while answer.read1(65_536):
                pass

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield
    finally:
        answer.fp.raw._sock.shutdown(socket.SHUT_RDWR)
        thread.join(timeout=10)
        answer.close()


@contextlib.contextmanager
def receiver(port: int = 0) -> Iterator[int]:
    """Where webhooks arrive; yields its port."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Answer) as listening:
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        try:
            yield int(listening.server_address[1])
        finally:
            listening.shutdown()
            thread.join(timeout=10)


def sign_in(port: int, name: str, password: str | None = None, then: str = "") -> None:
    """A bot of the CGOS lines that signs in, says one thing more and goes; by its token unless there is a password."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as bot, bot.makefile("rw") as lines:
        for line in ("e1 drill", name, password or token(name), *([then] if then else ())):
            lines.readline()
            lines.write(line + "\n")
            lines.flush()
        lines.readline()
