"""A GTP program as an engine: what it is told of a game, how it is asked for a move, what its answers mean.

A way of asking or telling that turns out not to work is left for the next one, with one clear warning and no game lost
over it. Must not know: servers, and what is done about a failure.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from cgos_client.bridge import gtp_time
from cgos_client.bridge.engine import EngineFailure, EngineMove, EngineUnfit, NewGame
from cgos_client.bridge.gtp_moves import MOVE_COMMANDS, Choice, MoveCommand, shown
from cgos_client.bridge.gtp_process import DEFAULT_SECONDS, GtpProcess, Refused
from cgos_protocol.games.base import Color

log = logging.getLogger("cgos_client.gtp")

_REQUIRED = ("boardsize", "clear_board", "play")


class GtpEngine:
    """One engine process.

    :param command: program and arguments; never passed through a shell
    :param timeout: seconds that any answer may take; None: ten minutes, and for a move the time left if that is longer
    :param broken: commands that are not to be asked for moves, and those found broken from now on; shared by the
        engines that replace each other, so that each has not to find out anew
    :param loading: seconds that the first answer may take, where it is not `timeout`
    :ivar commands: what the engine lists; known after :meth:`start`
    :ivar label: its name and version as it gives them; known after :meth:`start`
    """

    def __init__(
        self,
        command: Sequence[str],
        timeout: float | None = None,
        broken: set[str] | None = None,
        loading: float | None = None,
    ) -> None:
        usual = DEFAULT_SECONDS if timeout is None else timeout
        self._process = GtpProcess(command, usual, usual if loading is None else loading)
        self._timeout = timeout
        self._broken = set() if broken is None else broken
        self.commands: frozenset[str] = frozenset()
        self._time_kinds: frozenset[str] = frozenset()
        self._move_command = MOVE_COMMANDS[-1]
        self._size = 0
        self.label = self._command = command[0]
        self._stones = gtp_time.Stones.NONE
        self._moves: list[tuple[Color, str]] = []
        """What is on the engine's board; to put it there again after an answer that left the board in doubt."""
        self._proven: set[str] = set()
        """The ways of asking that have brought a move."""
        self._warned: set[str] = set()
        """What has been warned of once."""

    @property
    def analyses(self) -> bool:
        return self._move_command.analyses

    @property
    def pid(self) -> int | None:
        """The process's id while there is one."""
        return self._process.pid

    async def start(self) -> None:
        self.commands = await self._process.start()
        missing = [name for name in _REQUIRED if name not in self.commands]
        way = self._next_move_command()
        if missing or way is None:
            missing += [] if way is not None else ["genmove"]
            raise EngineUnfit(
                f"the engine's list_commands does not list {', '.join(missing)}, without which no game can be played. "
                "Is it started in its GTP mode?"
            )
        self._move_command = way
        words = [" ".join(await self.ask(name)) for name in ("name", "version") if name in self.commands]
        self.label = " ".join(words).strip() or self._command
        if gtp_time.KATA in self.commands:
            kinds = await self._tell("kata-list_time_settings") or []
            self._time_kinds = frozenset(word for line in kinds for word in line.split())

    async def new_game(self, game: NewGame) -> None:
        self._size = game.size
        self._moves.clear()
        try:
            await self.ask(f"boardsize {game.size}")
        except Refused as refused:
            raise EngineUnfit(f"the engine does not play on {game.size}x{game.size}: {refused}") from None
        await self._tell("cgos-opponent_name", game.opponent)
        await self._tell("cgos-opponent_rating", game.opponent_label)
        await self.ask("clear_board")
        await self._tell("komi", str(game.komi2 / 2))
        await self._tell_time(game)

    async def play(self, color: Color, move: str) -> None:
        await self.ask(f"play {color.letter} {move}")
        self._moves.append((color, move))

    async def genmove(self, color: Color, left_ms: int, stones_left: int = 0) -> EngineMove:
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            left = max(0, left_ms - int((loop.time() - began) * 1000))
            await self._tell("time_left", f"{color.letter} {gtp_time.time_left(left, stones_left, self._stones)}")
            try:
                choice = await self._choose(color, left)
                break
            except (Refused, _NoMove) as failure:
                if not self._give_up(str(failure)):
                    raise
            # Whether the engine made a move on its board nobody knows now.
            await self.ask("clear_board")
            for mover, move in self._moves:
                await self.ask(f"play {mover.letter} {move}")
        if choice.move != "RESIGN":
            self._moves.append((color, choice.move))
        return EngineMove(choice.move, choice.analysis)

    async def settle(self, grace: float) -> None:
        await self._process.settle(grace)

    async def game_over(self, result: str) -> None:
        await self._tell("cgos-gameover", result)

    async def close(self) -> None:
        await self._process.close()

    async def ask(self, command: str, seconds: float | None = None) -> list[str]:
        """The answer to any command, as :meth:`GtpProcess.ask` gives it. What it does to a board is not kept."""
        return await self._process.ask(command, seconds)

    async def _choose(self, color: Color, left_ms: int) -> Choice:
        way = self._move_command
        command = way.line(color.letter)
        patience = self._timeout if self._timeout is not None else max(DEFAULT_SECONDS, left_ms / 1000)
        try:
            lines = await self.ask(command, patience)
        except Refused:
            raise
        except EngineFailure:
            if way.command not in self._proven:
                self._give_up(f"the engine failed when it was first asked with {way.command!r}")
            raise
        choice = way.read(lines, self._size)
        if choice is None:
            raise _NoMove(_no_move(command, lines, self._size))
        self._proven.add(way.command)
        if choice.remark:
            self._warn_once(way.command, f"the engine's answer to {command!r} {choice.remark}")
        return choice

    def _next_move_command(self) -> MoveCommand | None:
        usable = self.commands - self._broken
        return next((way for way in MOVE_COMMANDS if way.command in usable), None)

    def _give_up(self, why: str) -> bool:
        """Ask in the next way from now on; False where there is none, and everything stays as it was."""
        failed = self._move_command.command
        self._broken.add(failed)
        following = self._next_move_command()
        if following is None:
            self._broken.discard(failed)
            return False
        self._move_command = following
        log.warning("%s; from now on it is asked with %r", why, following.command)
        return True

    async def _tell_time(self, game: NewGame) -> None:
        self._stones = gtp_time.Stones.GIVEN if game.time is not None else gtp_time.Stones.NONE
        fault = gtp_time.fault(game.time, game.level_ms)
        if fault is not None:
            log.warning("the engine is told nothing of the time control, which makes no sense: %s", fault)
            return
        for way in gtp_time.time_commands(game.time, game.level_ms, self.commands, self._time_kinds):
            if await self._tell(way.command, way.arguments) is not None:
                self._stones = way.stones
                return

    async def _tell(self, command: str, arguments: str = "") -> list[str] | None:
        """A command that the engine may lack or refuse without harm to the game: the answer, None where there is none.

        A refusal is a warning the first time.
        """
        if command not in self.commands:
            return None
        try:
            return await self.ask(f"{command} {arguments}".rstrip())
        except Refused as refused:
            self._warn_once(command, f"{refused}; the game goes on without it")
            return None

    def _warn_once(self, about: str, sentence: str) -> None:
        log.log(logging.DEBUG if about in self._warned else logging.WARNING, "%s", sentence)
        self._warned.add(about)


class _NoMove(EngineFailure):
    """The answer has not the form in which a move comes."""


def _no_move(command: str, lines: Sequence[str], size: int) -> str:
    if not lines:
        return f"the engine's answer to {command!r} is empty"
    word = lines[-1].split()[-1]
    if len(lines) == 1 and len(lines[0].split()) == 1:
        return f"the engine answered {command!r} with {word[:80]!r}, which is no move on {size}x{size}"
    return f"the engine's answer to {command!r} holds no move: {shown(lines)}"
