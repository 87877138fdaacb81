"""A bot of one or several engines on a ``cgos.v2`` server: each game is played by an engine of its own.

Decides which engine plays what and when to leave. Must not know: sockets, GTP, how connections are kept.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from cgos_client.bridge.engine import EngineMove
from cgos_client.bridge.supervisor import RESIGN, EngineGone, SupervisedEngine
from cgos_client.errors import CgosClientError
from cgos_client.library.game import Game, Turn
from cgos_client.library.games import Outcome
from cgos_client.library.session import Connecting, Session
from cgos_client.playing import seating
from cgos_client.playing.events import GameOver, Listener, MoveAsked, MoveMade
from cgos_client.playing.together import FAILED, OK, SLOT, BotRunner
from cgos_protocol import intervals
from cgos_protocol.games.base import Color

log = logging.getLogger(__name__)


@dataclass(eq=False, kw_only=True)
class SlotsRunner(BotRunner):
    """Runs one bot from start to exit status.

    :ivar connect: a session to be entered, for an engine of that name
    :ivar engines: one a slot
    :ivar tell: called with everything that happens in games
    :ivar games: leave after so many games in which it was asked for a move; None: play on. Other slots' games that
        began meanwhile are played too
    """

    connect: Callable[[str], Connecting]
    engines: Sequence[SupervisedEngine]
    tell: Listener
    games: int | None = None
    _free: asyncio.Queue[SupervisedEngine] = field(default_factory=asyncio.Queue)
    _begun: int = 0
    _playing: set[int] = field(default_factory=set)
    _status: int = OK
    _drain: asyncio.Event = field(default_factory=asyncio.Event)
    _rated_at: dict[str, float] = field(default_factory=dict)
    """Venue -> this bot's rating after its last game there."""

    def __post_init__(self) -> None:
        several = len(self.engines) > 1
        self._numbers = {engine: number if several else 0 for number, engine in enumerate(self.engines, 1)}

    async def _close(self) -> None:
        async with asyncio.TaskGroup() as closing:
            for engine in self.engines:
                closing.create_task(engine.close())

    def _games_on(self) -> Collection[int]:
        return self._playing

    def _leave_after_games(self) -> None:
        numbers = ", ".join(str(number) for number in sorted(self._playing))
        log.info("leaving after game %s; ask again to leave at once (clocks would run on)", numbers)
        self._drain.set()

    async def _play(self) -> int:
        faults = await asyncio.gather(*(self._started(engine) for engine in self.engines))
        for fault in filter(None, faults):
            log.error("%s", fault)
            return FAILED
        for engine in self.engines:
            self._free.put_nowait(engine)
        try:
            async with self.connect(self.engines[0].label) as session:
                draining = asyncio.create_task(self._drain_when_asked(session))
                try:
                    await session.play(self._game)
                finally:
                    draining.cancel()
        except CgosClientError as error:
            log.error("%s", error)
            return FAILED
        log.info("left, since no game is wanted any more")
        return self._status

    async def _started(self, engine: SupervisedEngine) -> str | None:
        """What is wrong with the engine; None where it runs."""
        SLOT.set(self._numbers[engine])
        try:
            await engine.start()
        except EngineGone as error:
            return str(error)
        return None

    async def _drain_when_asked(self, session: Session) -> None:
        await self._drain.wait()
        await session.drain()

    async def _game(self, game: Game) -> None:
        self._playing.add(game.number)
        table = Table(game, self.tell)
        log.info("%s%s%s", table.seated, "" if game.rated else ", unrated", f": {game.why}" if game.why else "")
        if game.result is None:
            engine = await self._free.get()
            SLOT.set(self._numbers[engine])
            try:
                await table.play(engine, self._count, self._drain.set)
            except CgosClientError as error:
                log.debug("game %d is left: %s", game.number, error)
            await self._put_back(engine, "?" if game.result is None else game.result.result)
        if game.result is None:
            return
        self._playing.discard(game.number)
        if game.result.rating is not None:
            before, after = game.result.rating
            last = self._rated_at.get(game.venue, before)
            if abs(before - last) > 1.0:  # Elo; less is no news
                log.info("refit: %.0f → %.0f before the end of game %d", last, before, game.number)
            self._rated_at[game.venue] = after
        table.over(game.result)

    def _count(self) -> None:
        """A game has come to this bot's first move: it counts. One that ended while the bot was away does not."""
        self._begun += 1
        if self.games is not None and self._begun >= self.games:
            self._drain.set()

    async def _put_back(self, engine: SupervisedEngine, result: str) -> None:
        await engine.game_over(result)
        if not self._leaving:
            try:
                await engine.start()
            except EngineGone as error:
                log.error("%s", error)
                self._status, self._leaving = FAILED, True
                self._drain.set()
        self._free.put_nowait(engine)


class Table:
    """One game between the server and an engine, told to whoever keeps records."""

    def __init__(self, game: Game, tell: Listener) -> None:
        self.seated = seating.seated(game)
        """The game as the listeners were told of it last."""
        self._game = game
        self._color = self.seated.color
        self._tell = tell
        self._moves: list[str] = list(game.position.moves)
        """The moves that the engine and the listeners were told."""
        self._stale = True
        """True where the engine's board is not this game's."""
        tell(self.seated)

    async def play(self, engine: SupervisedEngine, begun: Callable[[], None], give_up: Callable[[], None]) -> None:
        """Let `engine` answer every turn until the game has ended. Raises CgosClientError where the session ends.

        :param begun: called at the first turn
        :param give_up: called, and given a moment, before an engine that will play no more resigns: the next game would
            begin at once
        """
        await self._sit(engine)
        first = True
        async for turn in self._game.turns():
            if first:
                begun()
            first = False
            moves = list(turn.position.moves)
            if moves[: len(self._moves)] != self._moves:
                self._moves, self._stale = moves, True
                self.seated = seating.seated(self._game)
                self._tell(self.seated)
            if self._stale:
                await self._sit(engine)
            for ply in range(len(self._moves), len(moves)):
                self._made(ply, moves[ply], turn.position.plies[ply].left_ms)
                await engine.played(Color(ply % 2), moves[ply])
            self._tell(MoveAsked(self._game.number, self._color, turn.left_ms))
            move = await self._thought(engine, turn)
            if engine.spent:
                give_up()
                await asyncio.sleep(0)
            if move is None or not await self._game.move(move.text, move.analysis):
                self._stale = True
            elif move.text != RESIGN.text:
                self._made(len(self._moves), move.text, None, move.analysis)

    def over(self, outcome: Outcome) -> None:
        """The game has ended: tell what is left to tell."""
        plies = self._game.position.plies
        for ply in range(len(self._moves), len(plies)):
            self._made(ply, plies[ply].move, plies[ply].left_ms)
        over = GameOver(self._game.number, outcome.date, outcome.result, outcome.detail)
        self._tell(over)
        if outcome.rating is not None:
            before, after = outcome.rating
            now = intervals.written(after, outcome.lower, outcome.upper)
            log.info("game %d: rating %s, before it %.0f", self._game.number, now, before)
        self._tell(self.seated.result(over, len(plies)))

    async def _thought(self, engine: SupervisedEngine, turn: Turn) -> EngineMove | None:
        """The engine's move, or None where the game ended before."""
        left_ms, stones = seating.clock_for_engine(self._game.time, turn.left_ms)
        async with asyncio.TaskGroup() as tasks:
            thinking = tasks.create_task(engine.genmove(self._color, left_ms, stones))
            ending = tasks.create_task(_ended(self._game))
            await asyncio.wait({thinking, ending}, return_when=asyncio.FIRST_COMPLETED)
            ending.cancel()
            if not thinking.done():
                thinking.cancel()
                return None
        return thinking.result()

    async def _sit(self, engine: SupervisedEngine) -> None:
        self._stale = False
        await engine.sit(self.seated.new_game(), self._moves)

    def _made(self, ply: int, move: str, left_ms: int | None, analysis: str | None = None) -> None:
        del self._moves[ply:]
        self._moves.append(move)
        self._tell(
            MoveMade(game=self._game.number, color=Color(ply % 2), move=move, left_ms=left_ms, analysis=analysis)
        )


async def _ended(game: Game) -> None:
    try:
        await game.ended()
    except CgosClientError:
        return  # the turns end with it
