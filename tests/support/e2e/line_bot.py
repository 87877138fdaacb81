"""A bot on the line protocol whose moves the test decides, over a real socket, in a thread of its own."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
from types import TracebackType

PATIENCE_S = 20.0


class LineBot:
    """Signs in and plays what it is told by :meth:`play`, when the server asks for it.

    Use it as a context manager; leaving it closes the connection.

    :ivar setups: what ``setup`` lines said, a list of words each
    """

    def __init__(self, port: int, name: str) -> None:
        self.name = name
        self.setups: list[list[str]] = []
        self._over = threading.Event()
        self._moves: queue.Queue[str] = queue.Queue()
        self._asked = threading.Semaphore(0)
        self._sent = threading.Semaphore(0)
        self._told = threading.Event()
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        self._socket.settimeout(None)
        self._thread = threading.Thread(target=self._talk, name=name, daemon=True)

    def __enter__(self) -> LineBot:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._moves.put("")
        self._thread.join(PATIENCE_S)
        self._socket.close()

    def play(self, move: str, analysis: str = "") -> None:
        """Wait until the server asks for a move, and make this one (``D4``, ``pass``, ``resign``): it is sent then."""
        if not self._asked.acquire(timeout=PATIENCE_S):
            raise AssertionError(f"{self.name} was not asked for a move")
        self._moves.put(f"{move} {analysis}".rstrip())
        if not self._sent.acquire(timeout=PATIENCE_S):
            raise AssertionError(f"{self.name} could not send {move}")

    def wait_for_end(self) -> None:
        """Wait until the server has said that its game is over."""
        if not self._over.wait(PATIENCE_S):
            raise AssertionError(f"{self.name} was not told that its game is over")

    @property
    def game(self) -> int:
        """The number of its game, once it has one."""
        if not self._told.wait(PATIENCE_S):
            raise AssertionError(f"{self.name} got no game")
        return int(self.setups[-1][1])

    @property
    def is_black(self) -> bool:
        """Whether it has Black in its game."""
        assert self.game
        return self.setups[-1][6].split("(")[0] == self.name

    def _talk(self) -> None:
        answers = {"protocol": "e1 test genmove_analyze", "username": self.name, "password": f"secret-{self.name}"}
        with contextlib.suppress(OSError), self._socket.makefile("rb") as lines:
            for line in lines:
                words = line.decode().split()
                if words[0] == "setup":
                    self.setups.append(words)
                    self._told.set()
                elif words[0] == "genmove":
                    self._asked.release()
                    self._say(self._moves.get())
                    self._sent.release()
                elif words[0] == "gameover":
                    self._over.set()
                    return  # the next game would need a ready, and there is none
                elif words[0] in answers:
                    self._say(answers[words[0]])

    def _say(self, line: str) -> None:
        self._socket.sendall(line.encode() + b"\n")
