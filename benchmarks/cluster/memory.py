"""Bots of both protocols that play one legal game over and over, by HAProxy, and remember all that they were told.

Must not know: what is done to the server meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Sequence

from benchmarks.moves.load_bots import token
from benchmarks.moves.server_moves import scripted_game
from benchmarks.reporting import ROOT
from cgos_client import connect
from cgos_client.library.game import Game

sys.path.insert(0, str(ROOT / "tests"))

from support.e2e.witness import Witness

SCRIPT = scripted_game()


class Memory:
    """What all bots were told. Nobody's memory is lost with a connection.

    :ivar moves: (game, ply) that somebody was told
    :ivar ends: game -> the results that anybody was told
    :ivar faults: what cannot be
    :ivar moved: bot -> when the server last went on after a move of it, by the monotonic clock
    :ivar pauses: bot -> the longest time between two of these, since somebody has emptied this
    :ivar thought: (game, ply) -> seconds from when a bot was asked, the last time, until it answered
    """

    def __init__(self) -> None:
        self.moves: set[tuple[int, int]] = set()
        self.ends: dict[int, set[str]] = defaultdict(set)
        self.faults: list[str] = []
        self.moved: dict[str, float] = {}
        self.pauses: dict[str, float] = {}
        self.thought: dict[tuple[int, int], float] = {}

    def told(self, game: int, ply: int, move: str) -> None:
        """A move, which has to be that of the script."""
        if ply and move.upper() != SCRIPT[ply - 1]:
            self.faults.append(f"game {game} ply {ply}: {move} instead of {SCRIPT[ply - 1]}")
        self.moves.add((game, ply))

    def answered(self, game: int, ply: int, asked: float) -> None:
        """A bot moves now, which was asked at `asked` on the monotonic clock."""
        self.thought[game, ply] = time.monotonic() - asked

    def confirmed(self, bot: str) -> None:
        """The server goes on after a move of the bot."""
        now = time.monotonic()
        self.pauses[bot] = max(self.pauses.get(bot, 0.0), now - self.moved.get(bot, now))
        self.moved[bot] = now

    def after(self, moment: float) -> int:
        """How many bots have played since then."""
        return sum(at > moment for at in list(self.moved.values()))

    def late(self, moment: float) -> list[str]:
        """The bots that have not played since then."""
        return sorted(bot for bot, at in list(self.moved.items()) if at <= moment)


class LineBot(Witness):
    """By the CGOS lines."""

    def __init__(self, port: int, number: int, memory: Memory, think_s: float) -> None:
        super().__init__(port, f"Load-{number:05d}", number)
        self._memory = memory
        self._think_s = think_s

    def _hear(self, line: str) -> str | None:
        if line == "password":
            return token(self.name)
        word, _, rest = line.partition(" ")
        if word == "genmove":
            asked = time.monotonic()
            self.stopping.wait(self._think_s * self.rng.uniform(0.5, 1.5))
            self._memory.answered(self.game, self.position.ply + 1, asked)
        elif word == "gameover":
            self._memory.ends[self.game].add(rest.split()[1])
        return super()._hear(line)

    def _confirm(self) -> None:
        if self._unanswered is not None:
            self._memory.confirmed(self.name)
        super()._confirm()

    def _choose(self) -> str:
        return SCRIPT[self.position.ply]

    def _remember(self, place: tuple[int, int], move: str) -> None:
        self._memory.told(*place, move)


class ClientBots(threading.Thread):
    """By our client and `cgos.v2`, in an event loop of their own."""

    def __init__(self, places: Sequence[tuple[str, str]], first: int, memory: Memory, think_s: float) -> None:
        super().__init__(name="clients", daemon=True)
        self._places = places
        self._first = first
        self._memory = memory
        self._think_s = think_s
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None

    def run(self) -> None:
        self._task = self._loop.create_task(self._all())
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._task)
        self._loop.close()

    def stop(self) -> None:
        """End them all."""
        if self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)
        self.join(20)

    async def _all(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number, (url, venue) in enumerate(self._places, self._first):
                group.create_task(self._bot(f"Load-{number:05d}", url, venue))

    async def _bot(self, name: str, url: str, venue: str) -> None:
        async def play(game: Game) -> None:
            async for turn in game.turns():
                asked = time.monotonic()
                for ply, played in enumerate(turn.position.plies, 1):
                    self._memory.told(game.number, ply, played.move)
                await asyncio.sleep(self._think_s * random.uniform(0.5, 1.5))
                self._memory.answered(game.number, turn.ply, asked)
                if await game.move(SCRIPT[turn.ply - 1]):
                    self._memory.confirmed(name)
            if game.result is not None:
                self._memory.ends[game.number].add(game.result.result)

        async with connect(url, bot=name, secret=token(name), venues=[venue]) as session:
            await session.play(play)
