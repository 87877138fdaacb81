"""A bot that remembers every move it was ever told, to hold against the database after the server was killed."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time

from cgos_protocol.games.base import Position, Ruleset
from cgos_protocol.games.registry import game_kind

VERTICES = [f"{column}{row}" for column in "ABCDEFGHJ" for row in range(1, 10)]


class Witness(threading.Thread):
    """Plays random legal moves on 9x9, signing in again whenever the connection is gone.

    :ivar told: (game, ply) -> move, from `setup` and `play` lines, and own moves that were answered; two different
        moves at one place are a conflict
    :ivar ends: game -> results it was told
    :ivar conflicts: what was told twice with two meanings
    """

    def __init__(self, port: int, name: str, seed: int, ready: bool = True) -> None:
        super().__init__(name=name, daemon=True)
        self.port = port
        self.rng = random.Random(seed)
        self.moves: dict[tuple[int, int], str] = {}
        self.ends: dict[int, list[str]] = {}
        self.conflicts: list[str] = []
        self.errors: list[str] = []
        self.stopping = threading.Event()
        self.position: Position = game_kind("go").new(Ruleset())
        self.game = 0
        self._ready = ready
        self._unanswered: tuple[tuple[int, int], str] | None = None

    def run(self) -> None:
        while not self.stopping.is_set():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 5) as sock:
                sock.settimeout(0.2)
                self._play(sock)
            self.stopping.wait(0.1)

    def _play(self, sock: socket.socket) -> None:
        buffer = b""
        while not self.stopping.is_set():
            try:
                data = sock.recv(65536)
            except TimeoutError:
                continue
            if not data:
                return
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                answer = self._hear(line.decode("ascii"))
                if answer is not None:
                    sock.sendall(answer.encode() + b"\n")

    def _hear(self, line: str) -> str | None:
        word, _, rest = line.partition(" ")
        words = rest.split()
        match word:
            case "protocol":
                return "e1 witness"
            case "username":
                return self.name
            case "password":
                return "secret"
            case "Error:":
                self.errors.append(rest)
                time.sleep(0.1)  # a real bot would wait as well
            case "setup":
                self.game = int(words[0])
                self.position = game_kind("go").new(Ruleset())
                self._unanswered = None
                for move in words[6::2]:
                    self._note(move)
            case "play":
                self._confirm()
                self._note(words[1])
            case "genmove":
                move = self._choose()
                number = self.position.read(move)
                assert number is not None
                self.position.play(number)
                self._unanswered = ((self.game, self.position.ply), move)
                return move
            case "gameover":
                self._confirm()
                self.ends.setdefault(self.game, []).append(words[1])
                return "ready" if self._ready else None
        return None

    def _confirm(self) -> None:
        """The server went on after our own move, so it has it; before that it may have died without."""
        if self._unanswered is not None:
            place, move = self._unanswered
            self._unanswered = None
            self._remember(place, move)

    def _note(self, move: str) -> None:
        number = self.position.read(move)
        assert number is not None
        refusal = self.position.play(number)
        if refusal is not None:
            self.conflicts.append(f"game {self.game} ply {self.position.ply + 1}: {move} is no legal move ({refusal})")
        self._remember((self.game, self.position.ply), move)

    def _remember(self, place: tuple[int, int], move: str) -> None:
        if self.moves.setdefault(place, move) != move:
            self.conflicts.append(f"game {place[0]} ply {place[1]}: {self.moves[place]}, later {move}")

    def _choose(self) -> str:
        """A legal move; a pass now and then late in the game, so that games end."""
        if self.position.ply > 60 and self.rng.random() < 0.2:
            return "PASS"
        for vertex in self.rng.sample(VERTICES, len(VERTICES)):
            move = self.position.read(vertex)
            trial = self.position.copy()  # type: ignore[attr-defined]
            if move is not None and trial.play(move) is None:
                return vertex
        return "PASS"

    def stop(self) -> None:
        self.stopping.set()
        self.join(10)
