"""A GTP program as an engine: starts it, asks it, reads its answers, and says in plain words what is wrong with them.

Protocol: GTP version 2 (G. Farnebäck, 2002), with the extensions that CGOS clients know. Must not know: servers and
what is done about a failure.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from cgos_client.engine import EngineFailure, EngineMove, EngineUnfit, NewGame, normal_move
from cgos_server.core.games.base import Color

log = logging.getLogger(__name__)

DEFAULT_SECONDS = 600.0
CLOSE_SECONDS = 3.0
QUIET_SECONDS = 5.0
"""Silence at the start after which the person in front of it hears what is waited for, or what is wrong."""
LINE_LIMIT = 1 << 20
ANSWER_LIMIT = 16 << 20
ANALYSIS_LIMIT = 60_000
"""Characters of analysis that are passed on: there are servers that close the connection on a line of 64 KiB."""

_STATUS = re.compile(r"[=?]\d*\s*")


class Choice(NamedTuple):
    """What a way of asking for a move found: the move as the engine spelled it, and the analysis line or None."""

    move: str
    analysis: str | None


class Asking(NamedTuple):
    """One way of asking for a move.

    :ivar command: the command's name in ``list_commands``
    :ivar arguments: what follows it; ``{color}`` is replaced
    :ivar read: makes a :class:`Choice` of the answer's lines, or None where the answer is not in the command's form
    :ivar analyses: True where the answer may hold analysis
    """

    command: str
    arguments: str
    read: Callable[[Sequence[str]], Choice | None]
    analyses: bool


def _read_plain(lines: Sequence[str]) -> Choice | None:
    return Choice(lines[0], None) if len(lines) == 1 else None


def _read_cgos(lines: Sequence[str]) -> Choice | None:
    """One line of JSON, then ``play <move>``."""
    moves = [line[5:].strip() for line in lines if line.startswith("play ")]
    analyses = [line for line in lines if line.startswith("{")]
    return Choice(moves[-1], analyses[-1] if analyses else None) if moves else None


ASKINGS = (
    Asking("cgos-genmove_analyze", "{color}", _read_cgos, True),
    Asking("genmove", "{color}", _read_plain, False),
)
"""The ways of asking for a move, best first; the first that the engine lists is used."""

_LIST = "list_commands"
"""The first command: engines load before they answer it, and other programs show here that they know no GTP."""
_REQUIRED = ("boardsize", "clear_board", "play")


class GtpEngine:
    """One engine process.

    :param command: program and arguments; never passed through a shell
    :param timeout: seconds that any answer may take; None: ten minutes, and for a move the time left if that is longer
    """

    def __init__(self, command: Sequence[str], timeout: float | None = None) -> None:
        self._command = tuple(command)
        self._timeout = timeout
        self._process: asyncio.subprocess.Process | None = None
        self._listed: frozenset[str] = frozenset()
        self._asking = ASKINGS[-1]
        self._size = 0
        self._label = self._command[0]
        self._owed: str | None = None
        """The command whose answer has not been read to its end."""
        self._answer: list[str] = []
        self._answer_size = 0
        self._stray: str | None = None
        self._told = False
        """True once it was said that the engine is slow to start."""

    @property
    def label(self) -> str:
        return self._label

    @property
    def analyses(self) -> bool:
        return self._asking.analyses

    async def start(self) -> None:
        try:
            # A session of its own: Ctrl-C at the terminal reaches this client alone, which ends the game in order.
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LINE_LIMIT,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineUnfit(
                f"the engine {self._command[0]!r} cannot be started ({error.strerror or error}). "
                "Check the command after '--'."
            ) from None
        self._owed, self._answer, self._stray, self._told = None, [], None, False
        self._listed = frozenset(word for line in await self._ask(_LIST) for word in line.split())
        missing = [name for name in _REQUIRED if name not in self._listed]
        askings = [asking for asking in ASKINGS if asking.command in self._listed]
        if missing or not askings:
            missing += [] if askings else ["genmove"]
            raise EngineUnfit(
                f"the engine's list_commands does not list {', '.join(missing)}, without which no game can be played. "
                "Is it started in its GTP mode?"
            )
        self._asking = askings[0]
        words = [" ".join(await self._ask(name)) for name in ("name", "version") if name in self._listed]
        self._label = " ".join(words).strip() or self._command[0]

    async def new_game(self, game: NewGame) -> None:
        self._size = game.size
        try:
            await self._ask(f"boardsize {game.size}")
        except _Refused as refused:
            raise EngineUnfit(f"the engine does not play on {game.size}x{game.size}: {refused}") from None
        await self._tell("cgos-opponent_name", game.opponent)
        await self._tell("cgos-opponent_rating", game.opponent_label)
        await self._ask("clear_board")
        await self._tell("komi", str(game.komi2 / 2))
        main = max(1, game.level_ms // 1000)
        if "time_settings" in self._listed:
            await self._tell("time_settings", f"{main} 0 0")
        else:
            await self._tell("kgs-time_settings", f"absolute {main}")

    async def play(self, color: Color, move: str) -> None:
        await self._ask(f"play {color.letter} {move}")

    async def genmove(self, color: Color, left_ms: int) -> EngineMove:
        await self._tell("time_left", f"{color.letter} {left_ms // 1000} 0")
        command = f"{self._asking.command} {self._asking.arguments.format(color=color.letter)}"
        patience = self._timeout if self._timeout is not None else max(DEFAULT_SECONDS, left_ms / 1000)
        lines = await self._ask(command, patience)
        choice = self._asking.read(lines)
        if choice is None:
            raise EngineFailure(f"the engine's answer to {command!r} holds no move: {_shown(lines)}")
        move = normal_move(choice.move, self._size)
        if move is None:
            raise EngineFailure(
                f"the engine answered {command!r} with {choice.move[:80]!r}, "
                f"which is no move on {self._size}x{self._size}"
            )
        return EngineMove(move, _checked(choice.analysis))

    async def settle(self, grace: float) -> None:
        if self._owed is not None and self._process is not None:
            await self._finish(grace)

    async def game_over(self, result: str) -> None:
        await self._tell("cgos-gameover", result)

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        stdin, stdout = _pipes(process)
        try:
            with suppress(OSError):
                stdin.write(b"quit\n")
            stdin.close()
            if self._owed is None:  # else it does not answer now either, and a clock may be running
                with suppress(TimeoutError, OSError):
                    async with asyncio.timeout(CLOSE_SECONDS):
                        await _to_the_end(process, stdout)
        finally:
            # Also after cancellation: no engine outlives its client.
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await _to_the_end(process, stdout)

    async def _tell(self, command: str, arguments: str) -> None:
        """A command that the engine may lack or refuse without harm to the game."""
        if command not in self._listed:
            return
        try:
            await self._ask(f"{command} {arguments}".rstrip())
        except _Refused as refused:
            log.warning("%s; the game goes on without it", refused)

    async def _ask(self, command: str, seconds: float | None = None) -> list[str]:
        """The lines of a successful answer, without the equals sign and without blank ones."""
        patience = seconds if seconds is not None else self._timeout if self._timeout is not None else DEFAULT_SECONDS
        if self._process is None:
            raise EngineFailure("the engine is not running")
        await self.settle(patience)
        log.debug("to engine: %s", command)
        self._owed = command
        stdin, _ = _pipes(self._process)
        try:
            stdin.write(command.encode() + b"\n")
            async with asyncio.timeout(patience):
                await stdin.drain()
        except TimeoutError:
            raise EngineFailure(f"the engine did not read {command!r} within {patience:g} s") from None
        except OSError:
            raise EngineFailure(await self._obituary(command)) from None
        first, *more = await self._finish(patience)
        lines = [line for line in (_STATUS.sub("", first, count=1), *more) if line]
        if first.startswith("?"):
            raise _Refused(f"the engine refused {command!r}: {_shown(lines)}")
        return lines

    async def _finish(self, seconds: float) -> list[str]:
        """Read the owed answer to its end. May be cancelled and called again without losing anything."""
        assert self._process is not None, "nothing can be owed without a process"
        command, (_, stdout) = self._owed, _pipes(self._process)
        try:
            async with asyncio.timeout(seconds):
                read = self._read_first if command == _LIST else _read_line
                while not self._took((await read(stdout)).decode("utf-8", "replace").strip()):
                    pass
        except TimeoutError:
            raise EngineFailure(self._hung(seconds)) from None
        except asyncio.IncompleteReadError:
            raise EngineFailure(await self._obituary(command)) from None
        except asyncio.LimitOverrunError:
            raise EngineFailure(f"the engine answered {command!r} with a line of over {LINE_LIMIT} bytes") from None
        answer, self._answer, self._answer_size, self._owed, self._stray = self._answer, [], 0, None, None
        return answer

    async def _read_first(self, stdout: asyncio.StreamReader) -> bytes:
        """A line of the first answer: patient with silence, not with what cannot become an answer any more."""
        while True:
            try:
                async with asyncio.timeout(QUIET_SECONDS):
                    return await _read_line(stdout)
            except TimeoutError:
                self._quiet()

    def _quiet(self) -> None:
        """The first answer is not complete, and nothing more came for a while."""
        if self._answer:
            raise EngineFailure(f"the engine answered {_LIST!r} with {self._unfinished()}")
        if self._stray is not None and _LIST in self._stray:
            raise EngineUnfit(
                f"the program answered {_LIST!r} with {self._stray[:200]!r}, which is no GTP: an answer begins with "
                "'=' or '?'. Is it an engine, and started in its GTP mode?"
            )
        if not self._told:
            log.warning(
                "the engine has not answered %r yet; waiting for it. Some engines load for minutes; one that never "
                "answers may not be in its GTP mode",
                _LIST,
            )
        self._told = True

    def _unfinished(self) -> str:
        return f"{_shown(self._answer)}, but not the empty line that ends a GTP answer"

    def _took(self, line: str) -> bool:
        """Add one line to the owed answer; True when that ended it."""
        log.debug("from engine: %s", line)
        if not self._answer:
            if line[:1] in ("=", "?") and line:
                self._answer.append(line)
            elif line:
                if self._stray is None:
                    log.warning("the engine wrote %r, where GTP has a line that begins with '=' or '?'", line[:200])
                self._stray = line
            return False
        if not line:
            return True
        self._answer.append(line)
        self._answer_size += len(line)
        if self._answer_size > ANSWER_LIMIT:
            raise EngineFailure(f"the engine's answer to {self._owed!r} is longer than {ANSWER_LIMIT} characters")
        return False

    def _hung(self, seconds: float) -> str:
        text = f"the engine did not answer {self._owed!r} within {seconds:g} s"
        if self._answer:
            return f"{text}: it wrote {self._unfinished()}"
        if self._stray is not None:
            return f"{text}: it wrote {self._stray[:200]!r}, but nothing that begins with '=' or '?'"
        return text

    async def _obituary(self, command: str | None) -> str:
        process = self._process
        status: int | None = None
        if process is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    status = await process.wait()
        if status is None:
            how = "closed its output"
        elif status < 0:
            how = f"was ended by signal {-status} ({signal.strsignal(-status) or 'unknown'})"
        else:
            how = f"ended with exit status {status}"
        return f"the engine {how} instead of answering {command!r}"


class _Refused(EngineFailure):
    """The engine answered with a question mark."""


def _pipes(process: asyncio.subprocess.Process) -> tuple[asyncio.StreamWriter, asyncio.StreamReader]:
    assert process.stdin is not None, "started with both pipes"
    assert process.stdout is not None, "started with both pipes"
    return process.stdin, process.stdout


async def _read_line(stdout: asyncio.StreamReader) -> bytes:
    """May be cancelled without losing anything."""
    return await stdout.readuntil(b"\n")


async def _to_the_end(process: asyncio.subprocess.Process, stdout: asyncio.StreamReader) -> None:
    """Read what is left, so that the engine can write it and end, then wait for the end."""
    while await stdout.read(1 << 16):
        pass
    await process.wait()


def _shown(lines: Sequence[str]) -> str:
    return repr(" / ".join(lines)[:200])


def _checked(analysis: str | None) -> str | None:
    """The analysis where it can be sent, else None and a word in the log: a bad remark must not cost a game."""
    if analysis is None:
        return None
    if len(analysis) > ANALYSIS_LIMIT:
        log.warning("the engine's analysis of %d characters is too long and is left out", len(analysis))
        return None
    try:
        json.loads(analysis)
    except ValueError as error:
        log.warning("the engine's analysis is not JSON (%s) and is left out", error)
        return None
    return analysis
