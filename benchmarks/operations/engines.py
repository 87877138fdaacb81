"""Bots of the CGOS lines whose games end at once, as a drill wants them to end; each in a thread.

Must not know: why.
"""

from __future__ import annotations

import contextlib
import random
import socket
import threading
from collections.abc import Callable, Iterator

from benchmarks.moves.load_bots import token

Decide = Callable[[str], str]
"""The opponent's name -> the move."""
AGAIN_S = 0.5
"""Until a bot that was cut comes again."""
OPENINGS = {"b": "ABCDEFGH", "w": "JKLMNOPQRST"}
"""The columns of a 19x19 board in which a color has its first stone, anywhere: a game that repeats another one would
tell ratings nothing."""
ROWS = range(1, 20)
FLIP = 45
"""Games after which an engine is exchanged for another one under its name."""


class Engine:
    """One bot.

    :param opens: whether it begins its games by a stone that is not often where it was before, on a 19x19 board
    :ivar games: that it has ended
    """

    def __init__(self, port: int, name: str, decide: Decide, *, opens: bool = False) -> None:
        self.games = 0
        self._port = port
        self._name = name
        self._decide = decide
        self._opens = opens
        self._stopped = threading.Event()
        self._bot: socket.socket | None = None

    @contextlib.contextmanager
    def playing(self) -> Iterator[Engine]:
        """It plays as long as the block runs, and comes again where it is cut."""
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._stopped.set()
            if self._bot is not None:
                with contextlib.suppress(OSError):
                    self._bot.shutdown(socket.SHUT_RDWR)
            thread.join(timeout=10)

    def _run(self) -> None:
        while not self._stopped.is_set():
            with contextlib.suppress(OSError):
                self._play()
            self._stopped.wait(AGAIN_S)

    def _play(self) -> None:
        opponent, opened = "", True
        with socket.create_connection(("127.0.0.1", self._port), timeout=30) as bot, bot.makefile("rw") as lines:
            bot.settimeout(None)
            self._bot = bot
            answers = {"protocol": "e1 drill", "username": self._name, "password": token(self._name)}
            for line in lines:
                word, *rest = line.split() or [""]
                answer = answers.get(word)
                if word == "setup":
                    players = [player.partition("(")[0] for player in rest[4:6]]
                    opponent = next(player for player in players if player != self._name)
                    opened = not self._opens or len(rest) > 7  # it has moved
                elif word == "genmove":
                    answer = self._decide(opponent) if opened else opening(rest[0])
                    opened = True
                elif word == "gameover":
                    self.games += 1
                    answer = "ready"
                if answer is not None:
                    lines.write(answer + "\n")
                    lines.flush()


def opening(color: str) -> str:
    """A first move by ``b`` or ``w``, which is legal whatever the other one's is."""
    return f"{random.choice(OPENINGS[color])}{random.choice(ROWS)}"


@contextlib.contextmanager
def exchanged(port: int, changing: str, others: list[str]) -> Iterator[Engine]:
    """A bot that beats all others, and after `FLIP` games loses to all of them; the others play without skill."""
    engine = Engine(port, changing, lambda _: "PASS" if engine.games < FLIP else "resign", opens=True)

    def other(opponent: str) -> str:
        return "resign" if opponent == changing and engine.games < FLIP else "PASS"

    with contextlib.ExitStack() as stack:
        for name in others:
            stack.enter_context(Engine(port, name, other, opens=True).playing())
        yield stack.enter_context(engine.playing())
