"""An engine that cannot be lost: keeps the game's record, restarts an engine that fails and replays the game to it.

When to give up is for :class:`~cgos_client.bridge.restarts.Restarts` to say. Must not know: servers, lines, GTP.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from cgos_client.bridge.engine import Engine, EngineFailure, EngineMove, EngineUnfit, NewGame
from cgos_client.bridge.restarts import Restarts
from cgos_protocol.games.base import Color

log = logging.getLogger(__name__)

GAME_OVER_GRACE = 10.0
"""Seconds for which an engine may go on thinking about a game that has ended, before it is restarted."""
RESIGN = EngineMove("RESIGN")


class EngineGone(Exception):
    """The engine cannot be kept running; going on would only lose games. The text says why."""


@dataclass(slots=True, eq=False, kw_only=True)
class SupervisedEngine:
    """One engine, restarted as often as it takes, within bounds.

    :ivar make: a new engine, not started
    :ivar restarts: says how often
    :ivar now: seconds of a clock that does not go back
    :ivar analyses: True where the engine's moves may carry analysis
    :ivar label: the engine's name and version as it gave them last; empty before it was started
    """

    make: Callable[[], Engine]
    restarts: Restarts = field(default_factory=Restarts)
    now: Callable[[], float] = time.monotonic
    analyses: bool = False
    label: str = ""
    _engine: Engine | None = None
    _game: NewGame | None = None
    _moves: list[tuple[Color, str]] = field(default_factory=list)
    _known: int | None = None
    """How many of the moves the engine has on its board; None: its board is not this game's."""
    _last: EngineFailure | None = None

    @property
    def spent(self) -> bool:
        """True where the engine failed so often that :meth:`start` will raise."""
        return self.restarts.gone is not None

    @property
    def ply(self) -> int:
        """Moves on the record of the current game."""
        return len(self._moves)

    async def start(self) -> None:
        """Have the engine running, without a game. Raises EngineGone."""
        if self.restarts.gone is None:
            self.restarts.new_game()
            if await self._attempt(starting=True) is not None:
                return
        why = self.restarts.gone
        raise EngineGone(str(self._last) if why is None else f"{why}: {self._last}")

    async def sit(self, game: NewGame, moves: Iterable[str]) -> None:
        """A game begins, or goes on after a reconnection, with `moves` made already, alternating from Black."""
        self._game, self._known = game, None
        self._moves = [(Color(ply % 2), move) for ply, move in enumerate(moves)]
        self.restarts.new_game()
        await self._attempt()

    async def played(self, color: Color, move: str) -> None:
        """The opponent moved."""
        self._moves.append((color, move))
        await self._attempt()

    async def genmove(self, color: Color, left_ms: int, stones_left: int = 0) -> EngineMove:
        """The engine's move; a resignation where the engine cannot be brought to make one.

        The figures are those of :meth:`Engine.genmove`. May be cancelled: then the next call has to be :meth:`sit` or
        :meth:`game_over`.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            engine = await self._attempt()
            if engine is None:
                log.error("resigning, since the engine makes no move")
                self.restarts.game_given_up()
                return RESIGN
            self._known = None  # true until the answer is here: an abandoned answer may have changed the board
            spent_ms = int((loop.time() - began) * 1000)
            try:
                move = await engine.genmove(color, max(0, left_ms - spent_ms), stones_left)
            except EngineFailure as failure:
                await self._failed(failure)
                continue
            self.restarts.moved()
            if move.text != RESIGN.text:
                self._moves.append((color, move.text))
                self._known = len(self._moves)
            return move

    async def game_over(self, result: str) -> None:
        """The game has ended. :meth:`start` has to follow if another shall come."""
        self.restarts.game_over()
        self._game, self._known = None, None
        if self._engine is not None:
            try:
                await self._engine.settle(GAME_OVER_GRACE)
                await self._engine.game_over(result)
            except EngineFailure as failure:
                await self._failed(failure)

    async def close(self) -> None:
        """End the engine."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close()

    async def _attempt(self, *, starting: bool = False) -> Engine | None:
        """The engine, running and with the whole game on its board; None when that has failed too often.

        :param starting: the caller raises the last failure, so that it is not logged here as well
        """
        while self.restarts.allowed:
            try:
                return await self._brought_up()
            except EngineFailure as failure:
                await self._failed(failure, starting=starting)
        return None

    async def _brought_up(self) -> Engine:
        if self._engine is None:
            engine = self.make()
            try:
                await engine.start()
            except BaseException:
                await engine.close()
                raise
            self._engine, self._known, self.analyses, self.label = engine, None, engine.analyses, engine.label
            log.info("engine: %s", engine.label)
        if self._game is not None:
            if self._known is None:
                await self._engine.new_game(self._game)
                self._known = 0
            for color, move in self._moves[self._known :]:
                await self._engine.play(color, move)
                self._known += 1
        return self._engine

    async def _failed(self, failure: EngineFailure, *, starting: bool = False) -> None:
        self.restarts.failed(self.now(), isinstance(failure, EngineUnfit))
        self._last = failure
        if self.restarts.allowed:
            log.warning("%s; restarting it (%s)", failure, self.restarts.count)
        elif not starting:
            log.error("%s", failure)
        await self.close()
