"""A GTP program's process: starts it, sends commands, reads answers to their end, ends it whatever state it is in.

Protocol: GTP version 2 (G. Farnebäck, 2002). Says in plain words what is wrong with an answer. Must not know: what the
commands mean.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import shutil
import signal
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from cgos_client.bridge.engine import EngineFailure, EngineUnfit
from cgos_client.bridge.gtp_moves import shown

log = logging.getLogger("cgos_client.gtp")

DEFAULT_SECONDS = 600.0
CLOSE_SECONDS = 3.0
QUIET_SECONDS = 5.0
"""Silence at the start after which the person in front of it hears what is waited for, or what is wrong."""
LINE_LIMIT = 1 << 20
ANSWER_LIMIT = 16 << 20
COMPLAINT_LIMIT = 1000
"""Characters of one line on the standard error that are read, and lines at once that reach the log."""
LAST_WORDS = 3

GAMES = "/usr/games"
"""Where Debian puts GNU Go; it is not on the path of root and of services."""

LIST = "list_commands"
"""The first command: engines load before they answer it, and other programs show here that they know no GTP."""

_STATUS = re.compile(r"[=?]\d*\s*")
_BEGIN = re.compile(r"(?P<prompt>(?:\w[\w .-]{0,19}[>:]\s*)*)[=?](?=\d|\s|$)")
"""The beginning of an answer, perhaps behind a prompt. Banners such as ``=====`` and ``=> ready`` are none."""
_LINE_END = re.compile(rb"[\r\n]+")


class Refused(EngineFailure):
    """The engine answered with a question mark."""


class GtpProcess:
    """One process that speaks GTP.

    :param command: program and arguments; never passed through a shell
    :param timeout: seconds that any answer may take
    :param loading: the same for the first answer, before which engines load
    """

    def __init__(self, command: Sequence[str], timeout: float, loading: float) -> None:
        self._command = tuple(command)
        self._timeout = timeout
        self._loading = loading
        self._process: asyncio.subprocess.Process | None = None
        self._errors: _Errors | None = None
        self._owed: str | None = None
        """The command whose answer has not been read to its end."""
        self._answer: list[str] = []
        self._answer_size = 0
        self._stray: str | None = None
        self._warned_of_silence = False
        """True once it was said that the engine is slow to start."""

    @property
    def pid(self) -> int | None:
        """The process's id while there is one."""
        return self._process.pid if self._process is not None else None

    async def start(self) -> frozenset[str]:
        """Start the program and return the commands that it lists. Raises EngineFailure, and EngineUnfit where another
        start cannot help."""
        reading, writing = os.pipe()
        try:
            transport, self._errors = await asyncio.get_running_loop().connect_read_pipe(
                _Errors, os.fdopen(reading, "rb", 0)
            )
            self._errors.transport = transport
            # A session of its own: Ctrl-C at the terminal reaches this client alone, which ends the game in order.
            self._process = await asyncio.create_subprocess_exec(
                _program(self._command[0]),
                *self._command[1:],
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=writing,
                limit=LINE_LIMIT,
                start_new_session=True,
            )
        except OSError as error:
            self._forget_errors()
            raise EngineUnfit(
                f"the engine {self._command[0]!r} cannot be started ({error.strerror or error}). "
                "Check the command after '--'."
            ) from None
        finally:
            os.close(writing)
        self._owed, self._answer, self._answer_size, self._stray, self._warned_of_silence = None, [], 0, None, False
        return frozenset(word for line in await self.ask(LIST, self._loading) for word in line.split())

    async def ask(self, command: str, seconds: float | None = None) -> list[str]:
        """The lines of a successful answer, stripped, without the equals sign and without blank ones.

        :param seconds: how long it may take, None for the usual time
        :raises Refused: the engine answered with a question mark
        :raises EngineFailure: it died, hung or answered otherwise
        """
        patience = self._timeout if seconds is None else seconds
        if self._process is None:
            raise EngineFailure("the engine is not running")
        await self.settle(patience)
        await self._clear()
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
            raise Refused(f"the engine refused {command!r}: {shown(lines)}")
        return lines

    async def settle(self, seconds: float) -> None:
        """Read an answer that was abandoned to its end. Raises EngineFailure after `seconds`."""
        if self._owed is not None and self._process is not None:
            await self._finish(seconds)

    async def close(self) -> None:
        """End the process, by force where it does not go. Never raises, may be called at any time."""
        process, self._process = self._process, None
        if process is None:
            self._forget_errors()
            return
        stdin, stdout = _pipes(process)
        ended = False
        try:
            with suppress(OSError):
                stdin.write(b"quit\n")
            stdin.close()
            if self._owed is None:  # else it does not answer now either, and a clock may be running
                with suppress(TimeoutError, OSError):
                    async with asyncio.timeout(CLOSE_SECONDS):
                        await _to_the_end(process, stdout)
                        ended = True
        finally:
            # Also after cancellation, and where a wrapper has died before its engine: no engine outlives its client.
            if not ended:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            self._forget_errors()
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await _to_the_end(process, stdout)

    def _forget_errors(self) -> None:
        errors, self._errors = self._errors, None
        if errors is not None and errors.transport is not None:
            errors.transport.close()

    async def _clear(self) -> None:
        """Throw away what was written since the last answer ended: it would be taken for the next one."""
        assert self._process is not None, "asked before"
        _, stdout = _pipes(self._process)
        unasked = []
        with suppress(TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            while True:
                async with asyncio.timeout(0):  # what has arrived is read without waiting, and only that
                    line = (await stdout.readuntil(b"\n")).decode("utf-8", "replace").strip()
                if line:
                    log.debug("from engine: %s", line)
                    unasked.append(line)
        if unasked:
            log.warning("the engine wrote %s without having been asked", shown(unasked))

    async def _finish(self, seconds: float) -> list[str]:
        """Read the owed answer to its end. May be cancelled and called again without losing anything."""
        assert self._process is not None, "nothing can be owed without a process"
        command, (_, stdout) = self._owed, _pipes(self._process)
        try:
            async with asyncio.timeout(seconds):
                read = self._read_first if command == LIST else _read_line
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
            raise EngineFailure(f"the engine answered {LIST!r} with {self._unfinished()}")
        if self._stray is not None and LIST in self._stray:
            raise EngineUnfit(
                f"the program answered {LIST!r} with {self._stray[:200]!r}, which is no GTP: an answer begins with "
                "'=' or '?' and a blank. Is it an engine, and started in its GTP mode?"
            )
        if not self._warned_of_silence:
            log.warning(
                "the engine has not answered %r yet; waiting for it. Some engines load for minutes; one that never "
                "answers may not be in its GTP mode",
                LIST,
            )
        self._warned_of_silence = True

    def _unfinished(self) -> str:
        return f"{shown(self._answer)}, but not the empty line that ends a GTP answer"

    def _took(self, line: str) -> bool:
        """Add one line to the owed answer; True when that ended it."""
        log.debug("from engine: %s", line)
        begin = _BEGIN.match(line)
        if begin is not None:  # a second one: the first was noise that looks like an answer
            self._note_stray(begin["prompt"] or "\n".join(self._answer))
            self._answer, self._answer_size = [line[begin.end("prompt") :]], 0
            return False
        if not self._answer:
            self._note_stray(line)
            return False
        if not line:
            return True
        self._answer.append(line)
        self._answer_size += len(line)
        if self._answer_size > ANSWER_LIMIT:
            self._shorten()
        return False

    def _note_stray(self, text: str) -> None:
        """Keep what is no answer, if there is any, and warn of the first of it."""
        if text and self._stray is None:
            log.warning("the engine wrote %r, where GTP has a line that begins with '=' or '?' and a blank", text[:200])
        self._stray = text or self._stray

    def _shorten(self) -> None:
        """Of an engine that thinks aloud only the latest counts."""
        first, *more = self._answer
        spoken = [index for index, line in enumerate(more) if line.startswith("info ")]
        dropped = frozenset(spoken[: -(-len(spoken) // 2)])
        self._answer = [first, *(line for index, line in enumerate(more) if index not in dropped)]
        self._answer_size = sum(map(len, self._answer))
        if self._answer_size > ANSWER_LIMIT:
            raise EngineFailure(f"the engine's answer to {self._owed!r} is longer than {ANSWER_LIMIT} characters")

    def _hung(self, seconds: float) -> str:
        text = f"the engine did not answer {self._owed!r} within {seconds:g} s"
        if self._answer:
            return f"{text}: it wrote {self._unfinished()}"
        if self._stray is not None:
            return f"{text}: it wrote {self._stray[:200]!r}, but nothing that begins with '=' or '?' and a blank"
        if self._errors is not None and self._errors.answer is not None:
            return (
                f"{text}: it wrote {self._errors.answer[:200]!r} to its standard error; answers belong on its standard "
                "output"
            )
        if self._owed == LIST:
            return f"{text}. Is it an engine, and started in its GTP mode?"
        return text

    async def _obituary(self, command: str | None) -> str:
        process, errors = self._process, self._errors
        status: int | None = None
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                if process is not None:
                    status = await process.wait()
        if errors is not None and status is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS / 10):  # a child of it may hold the pipe open
                    await errors.ended.wait()
        if status is None:
            how = "closed its output"
        elif status < 0:
            how = f"was ended by signal {-status} ({signal.strsignal(-status) or 'unknown'})"
        else:
            how = f"ended with exit status {status}"
        text = f"the engine {how} instead of answering {command!r}"
        return f"{text}; its last words: {shown(errors.last)}" if errors is not None and errors.last else text


class _Errors(asyncio.Protocol):
    """The engine's standard error: every line goes to the log, the last ones are kept for its obituary.

    :ivar answer: the last line that looks like a GTP answer, or None
    :ivar ended: set when nothing can follow
    """

    def __init__(self) -> None:
        self.transport: asyncio.ReadTransport | None = None
        self.last: deque[str] = deque(maxlen=LAST_WORDS)
        self.answer: str | None = None
        self.ended = asyncio.Event()
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = _LINE_END.split(self._rest + data)
        self._rest = self._rest[-COMPLAINT_LIMIT:]
        if len(lines) > COMPLAINT_LIMIT:
            log.info("engine: (%d lines)", len(lines) - COMPLAINT_LIMIT)
        for line in lines[-COMPLAINT_LIMIT:]:
            self._line(line)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._line(self._rest)
        self._rest = b""
        self.ended.set()

    def _line(self, raw: bytes) -> None:
        line = raw[:COMPLAINT_LIMIT].decode("utf-8", "replace").rstrip()
        if line:
            log.info("engine: %s", line)
            self.last.append(line.strip())
            if _BEGIN.match(line):
                self.answer = line


def _program(name: str) -> str:
    """Return where only the folder of games has a program, as Debian's GNU Go; else its name."""
    return name if shutil.which(name) else shutil.which(name, path=GAMES) or name


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
