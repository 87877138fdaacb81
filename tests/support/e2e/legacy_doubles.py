"""Clients as strict as the ones that people really use, without being them: a bot that dies where those would.

- `TclDouble`: reads lines as Tcl lists, leaves its loop at a blank line, ends at an unknown word, sends CR LF, comes
  back after 30 s (1 s before its first finished game);
- `PythonDouble`: counts parameters, converts numbers as integers, finds itself by its name in `setup`, comes back at
  once with a new engine, sends lower-case moves with analysis where that is offered;
- `SilentEndDouble`: as the clients of 2007, which sent no line end at all.

Their engines play random legal moves on 9x9 and refuse what is illegal. Waits are scaled by `SCALE`.
"""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from typing import ClassVar

from cgos_protocol.games.base import Position, Ruleset
from cgos_protocol.games.registry import game_kind
from support.clients.tcl_list import NotAList, split

SCALE = 0.05
"""Real seconds for each second that the real clients wait."""

VERTICES = [f"{column}{row}" for column in "ABCDEFGHJ" for row in range(1, 10)]
PASS_FROM = 50
"""From this ply on the engines pass now and then."""


class Died(Exception):
    """The real program would have ended here. The text says why."""


class SessionEnds(Exception):
    """The program closes this connection and comes back later."""


class Engine:
    """What stands behind a client: a board that refuses what is illegal."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.clear(9)

    def clear(self, size: int) -> None:
        self.position: Position = game_kind("go").new(Ruleset(size=size))

    def play(self, vertex: str) -> None:
        move = self.position.read(vertex)
        fault = "unreadable" if move is None else self.position.play(move)
        if fault is not None:
            raise Died(f"the engine refuses {vertex!r} at ply {self.position.ply + 1}: {fault}")

    def choose(self) -> str:
        if self.position.ply < PASS_FROM or self.rng.random() > 0.2:
            for vertex in self.rng.sample(VERTICES, len(VERTICES)):
                move = self.position.read(vertex)
                trial = self.position.copy()  # type: ignore[attr-defined]
                if move is not None and trial.play(move) is None:
                    self.position = trial
                    return vertex
        self.play("PASS")
        return "PASS"


class Double(threading.Thread):
    """A client in a thread of its own.

    :ivar died: why the program ended by itself, None while it runs
    :ivar games: games that it was told the end of
    :ivar sessions: connections that it opened
    """

    LINE_END: ClassVar[bytes] = b"\n"
    REFUSED_S: ClassVar[float] = 30.0

    def __init__(self, port: int, name: str, seed: int) -> None:
        super().__init__(name=name, daemon=True)
        self.port = port
        self.password = f"secret-{name}"
        self.engine = Engine(random.Random(seed))
        self.died: str | None = None
        self.games = 0
        self.sessions = 0
        self.stopping = threading.Event()
        self._abandoned: list[socket.socket] = []

    def run(self) -> None:
        try:
            while not self.stopping.is_set():
                wait = self._session()
                self.stopping.wait(wait * SCALE)
        except Died as death:
            self.died = str(death)
        finally:
            for sock in self._abandoned:
                sock.close()

    def stop(self) -> None:
        self.stopping.set()
        self.join(10)

    def _session(self) -> float:
        """One connection; how many of the real program's seconds it waits before the next one."""
        try:
            sock = socket.create_connection(("127.0.0.1", self.port), 5)
        except OSError:
            return self.REFUSED_S
        self.sessions += 1
        buffer = b""
        sock.settimeout(0.2)
        with contextlib.suppress(OSError, SessionEnds):
            while not self.stopping.is_set():
                try:
                    data = sock.recv(65536)
                except TimeoutError:
                    continue
                if not data:
                    break
                *lines, buffer = (buffer + data).split(b"\n")
                for line in lines:
                    answer = self.hear(line.decode("utf-8"))
                    if answer is not None:
                        sock.sendall(answer.encode() + self.LINE_END)
        self.leave(sock)
        return self.away()

    def leave(self, sock: socket.socket) -> None:
        """What becomes of the connection when a session has ended."""
        sock.close()

    def away(self) -> float:
        """Seconds until the next session."""
        raise NotImplementedError

    def hear(self, line: str) -> str | None:
        """The answer to one line, None for none. Raises Died and SessionEnds."""
        raise NotImplementedError


class TclDouble(Double):
    """The client in Tcl."""

    LINE_END: ClassVar[bytes] = b"\r\n"

    def leave(self, sock: socket.socket) -> None:
        self._abandoned.append(sock)  # the old socket is left open

    def away(self) -> float:
        return 30.0 if self.games else 1.0

    def hear(self, line: str) -> str | None:
        line = line.removesuffix("\r")
        if not line:
            raise SessionEnds("a blank line")
        if line[0].isspace():
            raise SessionEnds("irregular")
        match line.split(None, 1)[0]:
            case "info":
                return None
            case "protocol":
                return "e1 a double in the manner of Tcl"
            case "username":
                return self.name
            case "password":
                return self.password
            case "Error:":
                raise SessionEnds(line)
            case "setup":
                return self._setup(self._words(line))
            case "genmove":
                _, color, left = self._take(self._words(line), 3)
                self._seconds(left)
                if color not in ("b", "w"):
                    raise Died(f"the engine does not know the color {color!r}")
                return self.engine.choose()
            case "play":
                _, _, move, *_ = self._take(self._words(line), 4)
                if move != "resign":
                    self.engine.play(move)
                return None
            case "gameover":
                self._take(self._words(line), 3)
                self.games += 1
                return "ready"
        raise Died(f"unknown word: {line[:80]!r}")

    def _setup(self, words: list[str]) -> None:
        _, _, size, komi, left, *_ = self._take(words, 7)
        self._seconds(left)
        try:
            self.engine.clear(int(size))
            float(komi)
        except ValueError:
            raise Died(f"the engine refuses boardsize {size!r} or komi {komi!r}") from None
        history = words[7:]
        if len(history) % 2:
            history.append("")
        for vertex in history[::2]:
            self.engine.play(vertex)

    def _words(self, line: str) -> list[str]:
        try:
            return split(line)
        except NotAList as error:
            raise Died(f"{error}: {line[:80]!r}") from None

    def _take(self, words: list[str], count: int) -> list[str]:
        return words + [""] * (count - len(words))

    def _seconds(self, text: str) -> int:
        if not text.isdecimal():
            raise Died(f"the engine refuses the time {text!r}")
        return int(text) // 1000


class PythonDouble(Double):
    """The client in Python."""

    REFUSED_S: ClassVar[float] = 32.0

    def __init__(self, port: int, name: str, seed: int) -> None:
        super().__init__(port, name, seed)
        self.color = ""
        self.analysis = False

    def away(self) -> float:
        return 1.0  # an engine takes that long to start

    def hear(self, line: str) -> str | None:
        line = line.strip()
        if not line:
            return None
        if line.startswith("Error:"):
            raise SessionEnds(line)
        word, *fields = line.split()
        match word:
            case "info":
                return None
            case "protocol":
                self.analysis = "genmove_analyze" in fields
                return "e1 a double in the manner of Python" + (" genmove_analyze" if self.analysis else "")
            case "username":
                return self.name
            case "password":
                return self.password
            case "setup":
                return self._setup(fields)
            case "play":
                if len(fields) != 3:
                    raise Died(f"'play' with {len(fields)} parameters")
                self._integer(fields[2])
                self.engine.play(fields[1].lower())
                return None
            case "genmove":
                if len(fields) != 2:
                    raise Died(f"'genmove' with {len(fields)} parameters")
                self._integer(fields[1])
                if fields[0] != self.color:
                    raise Died(f"asked to play {fields[0]}, but it is {self.color}")
                move = self.engine.choose().lower()
                return move + (' {"winrate":0.5,"comment":"{[\\"]}"}' if self.analysis else "")
            case "gameover":
                if len(fields) < 2:
                    raise Died(f"'gameover' with {len(fields)} parameters")
                self.games += 1
                return "ready"
        raise Died(f"unknown word: {line[:80]!r}")

    def _setup(self, fields: list[str]) -> None:
        if len(fields) < 6:
            raise Died(f"'setup' with {len(fields)} parameters")
        _, size, komi, level, white, black, *history = fields
        self._integer(level)
        names = [seat.partition("(")[0] for seat in (white, black)]
        if self.name not in names:
            raise Died(f"'setup' for {names}, but this is {self.name}")
        self.color = "w" if names[0] == self.name else "b"
        self.engine.clear(self._integer(size))
        float(komi)
        if len(history) % 2:
            raise Died("a move without its time in 'setup'")
        for move, left in zip(history[::2], history[1::2], strict=True):
            self._integer(left)
            self.engine.play(move.lower())

    def _integer(self, text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise Died(f"{text!r} is no integer") from None
        if value < 0:
            raise Died(f"{text} is negative")
        return value


class SilentEndDouble(PythonDouble):
    """A client that ends no line: each `send` is a message. It thinks before it answers, as engines do."""

    LINE_END: ClassVar[bytes] = b""

    def hear(self, line: str) -> str | None:
        answer = super().hear(line)
        if answer is not None and answer.startswith("e1"):
            self.analysis = False
            return "e1 a double of 2007"
        time.sleep(0.001)
        return answer
