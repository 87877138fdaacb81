"""A built-in bot as an engine: its calls run in order in one thread of its own, so that the event loop never waits.

Must not know: servers, how a bot chooses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from cgos_client.bots.engines import Bot
from cgos_client.bridge.engine import EngineFailure, EngineMove, NewGame
from cgos_protocol.games.base import Color

T = TypeVar("T")

QUICK_SECONDS = 60.0
"""How long anything but a move may take."""


class InProcessEngine:
    """An :class:`~cgos_client.bridge.engine.Engine` round a bot.

    :param make: a new bot
    """

    def __init__(self, make: Callable[[], Bot]) -> None:
        self._bot = make()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=self._bot.name)
        self._latest: Future[object] | None = None
        self.label = f"built-in {self._bot.name}"
        self.analyses = self._bot.analyses

    async def start(self) -> None:
        """Nothing to start."""

    async def new_game(self, game: NewGame) -> None:
        await self._call(lambda: self._bot.new_game(game.size, game.komi2), QUICK_SECONDS)

    async def play(self, color: Color, move: str) -> None:
        await self._call(lambda: self._bot.play(color, move), QUICK_SECONDS)

    async def genmove(self, color: Color, left_ms: int, stones_left: int = 0) -> EngineMove:  # noqa: ARG002
        def think() -> EngineMove:
            move = self._bot.genmove(color, left_ms)
            return EngineMove(move, self._bot.analysis())

        return await self._call(think, QUICK_SECONDS + left_ms / 1000)

    async def settle(self, grace: float) -> None:
        if self._latest is not None and not self._latest.done():
            self._bot.hurry()
            await self._call(lambda: None, grace)

    async def game_over(self, result: str) -> None:
        """Nothing to tell."""

    async def close(self) -> None:
        self._bot.hurry()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _call(self, work: Callable[[], T], seconds: float) -> T:
        future = self._thread.submit(work)
        self._latest = future  # type: ignore[assignment]
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise EngineFailure(f"the built-in bot did not answer within {seconds:g} s") from None
        except ValueError as error:
            raise EngineFailure(f"the built-in bot failed: {error}") from error
