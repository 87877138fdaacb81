"""Hands the server over to another program in the same process: checks that one first, then says what is executed.

The sockets stay open throughout; everything else ends as at any stop, and begins as at any start. Must not know: how a
server stops, what the other program looks at before it says yes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, NoReturn

import msgspec
import structlog

from cgos_protocol.api.people import Upgraded
from cgos_protocol.errors import Code, Conflict
from cgos_server import __version__
from cgos_server.assembly.stopping import Stop
from cgos_server.config.schema import ServerConfig
from cgos_server.net.inheriting import Inheritance, Ports, variable

log = structlog.get_logger(__name__)

CHECK: Final = "--check-handover"
"""The option of `serve` by which another program is asked whether it could take over."""

FORM: Final = 1
"""Of what one program leaves to the next; raised where an older program could not read it."""

CHECK_S: Final = 25.0
"""Time for that; whoever waits at the control socket waits for 30 s."""

_LINES: Final = 3
"""Of what the other program says in refusing, at most."""


class Fitness(msgspec.Struct, frozen=True, kw_only=True):
    """What a program that could take over says of itself.

    :ivar form: its :data:`FORM`
    :ivar data: its data directory
    :ivar database: where it would keep its database
    :ivar notes: sentences about what it would leave out, such as plug-ins
    """

    version: str
    form: int
    data: str
    database: str
    notes: list[str]


class Program(NamedTuple):
    """How a server was started.

    :ivar command: what executes the program, as it is installed at that moment
    :ivar arguments: what follows: ``serve`` with its options
    """

    command: tuple[str, ...]
    arguments: tuple[str, ...]


class Successor(NamedTuple):
    """What is executed in this process. `environment` is all of it."""

    command: tuple[str, ...]
    environment: Mapping[str, str]

    def execute(self) -> NoReturn:
        """Become it. Raises OSError where that cannot be."""
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until it listens for it itself
        sys.stdout.flush()
        sys.stderr.flush()
        os.execve(self.command[0], self.command, self.environment)


def started_by(whole: Sequence[str], arguments: Sequence[str], interpreter: str) -> Program:
    """The program of a process: its path is kept as it was named, so that a link is followed to where it leads then.

    :param whole: the process's command line (``sys.orig_argv``)
    :param arguments: those of the program (``sys.argv[1:]``)
    :param interpreter: Python's path (``sys.executable``)
    """
    first = whole[: len(whole) - len(arguments)]
    script = first[-1]
    if "-m" not in first and os.access(script, os.X_OK):
        return Program((os.path.abspath(script),), tuple(arguments))  # its first line names its own interpreter
    return Program((interpreter, *first[1:]), tuple(arguments))


class Handover:
    """One a server.

    :param program: by which it was started; None where it cannot be started again in the same way
    """

    def __init__(self, program: Program | None, ports: Ports, stop: Stop, config: ServerConfig) -> None:
        self._program = program
        self._ports = ports
        self._stop = stop
        self._config = config
        self._checking = False
        self._command: tuple[str, ...] = ()
        self._left: Inheritance | None = None

    @property
    def successor(self) -> Successor | None:
        """Who takes over, once everything has ended; None where nobody does."""
        if self._left is None or not self._stop.replaced:
            return None
        return Successor(self._command, os.environ | variable(self._left))

    async def check(self, path: str | None) -> Upgraded:
        """Whether the program at `path` (None: that by which this one was started) can take over; nothing changes.

        :raises Refused: (``no-handover``) where it cannot, or not now
        """
        if self._program is None:
            raise Conflict(Code.NO_HANDOVER, "This server was not started by `cgos-server serve`: stop and start it.")
        if self._stop.wanted.is_set():
            raise Conflict(Code.NO_HANDOVER, "The server is ending already.")
        if self._checking:
            raise Conflict(Code.NO_HANDOVER, "Another upgrade is being checked already. Wait for its answer.")
        if path is not None and not os.path.isabs(path):
            raise Conflict(Code.NO_HANDOVER, f"{path} is no whole path: name the program from / on.")
        self._checking = True
        try:
            command = (*(self._program.command if path is None else (path,)), *self._program.arguments)
            fitness = await self._fitness(command)
        finally:
            self._checking = False
        if self._stop.wanted.is_set():
            raise Conflict(Code.NO_HANDOVER, "The server is ending: it was told to while the program was checked.")
        self._command = command
        return Upgraded(before=__version__, after=fitness.version, notes=fitness.notes)

    def begin(self) -> None:
        """Let the program take over that was checked."""
        log.info("handing over to another program", command=self._command)
        self._stop.replace()

    def keep(self) -> None:
        """Keep the sockets open, whoever closes them."""
        self._ports.keep()

    def leave(self) -> None:
        """Nobody accepts on them from now on, until the other program does."""
        self._left = self._ports.leave(__version__)

    async def _fitness(self, command: Sequence[str]) -> Fitness:
        answer = await _ask((*command, CHECK))
        try:
            fitness = msgspec.json.decode(answer, type=Fitness)
        except msgspec.DecodeError as error:
            raise _refusal(command[0], "its answer cannot be understood") from error
        if fitness.form != FORM:
            raise _refusal(command[0], "it takes over in another way than this version hands over; stop and start")
        here, there = (str(self._config.data), str(self._config.location)), (fitness.data, fitness.database)
        if here != there:
            raise _refusal(
                command[0], f"the configuration now names other data ({', '.join(there)}); stop and start for that"
            )
        return fitness


async def _ask(command: Sequence[str]) -> bytes:
    """What the command prints. Raises Refused where it fails, or takes too long."""
    try:
        child = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            process_group=0,
        )
    except OSError as error:
        raise _refusal(command[0], f"it cannot be executed ({error.strerror})") from error
    try:
        async with asyncio.timeout(CHECK_S):
            answer, complaint = await child.communicate()
    except TimeoutError as error:
        raise _refusal(command[0], f"it did not answer within {CHECK_S:g} s") from error
    finally:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            await child.wait()
    if child.returncode:
        lines = complaint.decode(errors="replace").strip().splitlines()[-_LINES:]
        raise _refusal(command[0], " ".join(lines).removeprefix("Error: ") or f"it ends with {child.returncode}")
    return answer


def _refusal(program: str, why: str) -> Conflict:
    return Conflict(
        Code.NO_HANDOVER, f"{program} cannot take over, and the server goes on as it was: {why.removesuffix('.')}."
    )
