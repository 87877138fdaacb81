"""Real web nodes of a cluster, somebody who watches all games through them, and somebody who is told by webhooks."""

from __future__ import annotations

import contextlib
import http.client
import json
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from support.e2e.nodes import NodeProcess
from support.e2e.processes import until


class WebNode(NodeProcess):
    """`cgos-server web` with a configuration of its own."""

    def __init__(self, directory: Path, name: str, url: str, **options: Any) -> None:
        super().__init__(directory, name, url, **options)
        self.configure(web='webhooks_to = "127.0.0.0/8"\nstreams_per_address = 50')

    def start(self) -> None:
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [self.python, "-m", "cgos_server", "web", "--config", str(self.config)],
                stdout=output,
                stderr=output,
                cwd=self.directory,
            )
        until(lambda: self.get("/api/v1/venues", self.web_port)[0] == 200, 30, f"no pages:\n{self.tail()}")

    def api(self, method: str, path: str, body: object = None, token: str = "") -> tuple[Any, Message]:
        """The answer and its headers; raises urllib's HTTPError where it is refused."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.web_port}/api/v1{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {}),
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            text = answer.read().decode()
            lines = answer.headers.get("Content-Type", "").startswith("application/x-ndjson")
            return [json.loads(line) for line in text.splitlines()] if lines else json.loads(text), answer.headers

    def count(self, metric: str) -> float:
        """The value of a metric of the pages that has no label."""
        lines = self.get("/metrics/web")[1].splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith(f"{metric} ")))


class Viewer(threading.Thread):
    """Watches all games with their moves, and goes on with where it was when its port changes.

    :ivar moves: (game, ply) -> the move, as it was told
    :ivar gaps: what it was told after something that it was not told
    :ivar pictures: how often it was told everything anew
    """

    def __init__(self, port: int) -> None:
        super().__init__(name="viewer", daemon=True)
        self.port = port
        self.moves: dict[tuple[int, int], str] = {}
        self.gaps: list[tuple[int, int, int]] = []
        self.pictures = 0
        self.ended: dict[int, str] = {}
        self._known: dict[int, int] = {}
        self._stopping = threading.Event()

    def run(self) -> None:
        last = kind = ""
        while not self._stopping.is_set():
            port = self.port
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}/api/v1/live?moves=true", headers={"Last-Event-ID": last}
            )
            with (
                contextlib.suppress(OSError, http.client.HTTPException),
                urllib.request.urlopen(request, timeout=5) as answer,
            ):
                while not self._stopping.is_set() and port == self.port and (line := answer.readline()):
                    if line.startswith(b"id: "):
                        last = line[4:].strip().decode()
                    elif line.startswith(b"event: "):
                        kind = line[7:].strip().decode()
                    elif line.startswith(b"data: "):
                        self._told(kind, json.loads(line[6:]))
            self._stopping.wait(0.1)

    def stop(self) -> None:
        self._stopping.set()
        self.join(10)

    def _told(self, kind: str, message: dict[str, Any]) -> None:
        match kind:
            case "games":
                self.pictures += 1
                self._known = {}
                for game in message["games"]:
                    self._board(game)
            case "started" if "board" in message:
                self._board(message["board"])
            case "move" if (game := message["game"]) in self._known:
                if message["ply"] > self._known[game] + 1:
                    self.gaps.append((game, self._known[game], message["ply"]))
                self._known[game] = max(self._known[game], message["ply"])
                self.moves[game, message["ply"]] = message["move"]
            case "ended":
                self.ended[message["game"]] = message["result"]

    def _board(self, game: dict[str, Any]) -> None:
        moves = game.get("moves", [])
        self._known[game["game"]] = len(moves)
        for ply, move in enumerate(moves, 1):
            self.moves[game["game"], ply] = move


class Hook:
    """Where webhooks are sent to.

    :ivar told: (id, event, game) of each message, in the order in which they came
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/hook"
        self.told: list[tuple[str, str, int]] = []

    def ends(self) -> list[int]:
        """The games of whose end it was told, as often as it was."""
        return [game for _, event, game in self.told if event == "game-ended"]


@contextlib.contextmanager
def hook() -> Iterator[Hook]:
    """Open while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made.told.append((message["id"], message["event"], message.get("game", {}).get("id", 0)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            """Nothing is said."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made = Hook(server.server_port)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
