"""Standings computed again for readers: in a process of its own, one at a time, with a deadline, and kept.

The same question is computed once for everybody who waits for its answer, and given up when nobody does any more;
another one meanwhile is refused. What took too long once is refused at once for a while. Must not know: HTTP, the
formulas.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import sys
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple

import msgspec

from cgos_protocol.api import messages as api
from cgos_protocol.api.route import Limit
from cgos_protocol.errors import Code, OurFault, Refused, Unavailable
from cgos_server.presentation.settings import Rated
from cgos_server.storage.location import PostgresUrl
from cgos_server.web.around.limiting import TooMuch
from cgos_server.web.command_line import DATABASE_VARIABLE
from cgos_server.web.site import Site

DEADLINE_S: Final = 30.0
"""So long anybody may have it computed. More than that is for the command, which has no deadline."""

KEPT: Final = 16
TOO_LONG_MS: Final = 3_600_000
"""For so long it is remembered that a venue's standings take too long."""

_BUSY_RETRY_S: Final = 15.0
_CHUNK: Final = 65_536

Key = tuple[int, str, str, int, frozenset[tuple[int, int | None]]]
"""Which names are known, venue, system, the last entry that counts, and what corrected games count as now."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What the child is to do. `path`: of the SQLite file; empty where the environment names another database."""

    path: str
    venue: str
    system: str
    rated: Rated
    last: int


class Recomputed(msgspec.Struct, frozen=True):
    """What the child answers: standings that were never published, best first; `corrected` games count otherwise than
    they did at first."""

    corrected: int
    rows: list[api.Standing]
    ranks: api.RankSummary | None = None


class _TooLong(NamedTuple):
    """A venue's standings took too long up to entry `last`: from then on they do. `until`: Unix milliseconds."""

    last: int
    until: int


class Recomputing:
    """One an application."""

    def __init__(self, site: Site, deadline_s: float = DEADLINE_S) -> None:
        self._site = site
        self._deadline_s = deadline_s
        self._known: OrderedDict[Key, Recomputed] = OrderedDict()
        self._under_way: dict[Key, _Computation] = {}
        self._too_long: dict[tuple[str, str], _TooLong] = {}

    async def standings(self, venue: str, system: str, last: int) -> Recomputed:
        """Standings after entry `last`, games as they count today. Raises TooMuch, Refused, OurFault."""
        history = self._site.history
        amended = frozenset((await history.ledger.amended(venue)).items())
        key = (history.names_known, venue, system, last, amended)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        hopeless = self._too_long.get((venue, system))
        if hopeless is not None and last >= hopeless.last and self._site.now_ms() < hopeless.until:
            raise self._refusal(venue, system, last)
        computation = self._under_way.get(key)
        if computation is None or computation.left:
            if not all(computation.left for computation in self._under_way.values()):
                sentence = "Other standings are being computed just now, one at a time. Please try again in a while."
                raise TooMuch(Limit.RECOMPUTE, sentence, _BUSY_RETRY_S)
            computation = self._under_way[key] = self._begun(venue, system, last)
        try:
            async with computation:
                computed = await computation.answer()
        except TimeoutError as error:
            self._too_long[venue, system] = _TooLong(last, self._site.now_ms() + TOO_LONG_MS)
            raise self._refusal(venue, system, last) from error
        finally:
            if not computation.waiting and self._under_way.get(key) is computation:
                del self._under_way[key]
        if key not in self._known:
            self._known[key] = computed
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return self._known[key]

    def _begun(self, venue: str, system: str, last: int) -> _Computation:
        location = self._site.history.source.location
        path = str(location) if isinstance(location, Path) else ""
        return _Computation(
            Task(path=path, venue=venue, system=system, rated=self._site.settings.rated(venue), last=last),
            {DATABASE_VARIABLE: location.dsn if isinstance(location, PostgresUrl) else ""},
            self._deadline_s,
        )

    def _refusal(self, venue: str, system: str, last: int) -> Refused:
        command = ["cgos-server", "standings", "--venue", venue, "--system", system, "--as-of", str(last)]
        sentence = (
            f"To compute these standings again takes longer than the {self._deadline_s:g} s that everybody has. "
            f"Whoever runs the server has time for it: `{shlex.join([*command, '--as', 'recomputed'])}`."
        )
        return Unavailable(Code.NOT_NOW, sentence)


class _Computation:
    """One child, for everybody who waits for its answer: as a context, for as long as somebody waits.

    Whoever waits holds the lock in turn and reads what the child says, so that any of them may leave at any time.

    :ivar waiting: so many wait
    :ivar left: the last one who waited has left, and nobody may come any more
    """

    def __init__(self, task: Task, environment: Mapping[str, str], deadline_s: float) -> None:
        self.waiting = 0
        self.left = False
        self._task = task
        self._environment = environment
        self._until = asyncio.get_running_loop().time() + deadline_s
        self._reading = asyncio.Lock()
        self._child: asyncio.subprocess.Process | None = None
        self._output = bytearray()

    async def __aenter__(self) -> None:
        self.waiting += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.waiting -= 1
        self.left = not self.waiting
        if self.left and self._child is not None and self._child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._child.kill()
            await self._child.wait()

    async def answer(self) -> Recomputed:
        """What the child finds. Raises TimeoutError where it takes too long, OurFault where it fails."""
        async with asyncio.timeout_at(self._until), self._reading:
            child = self._child = self._child or await self._started()
            assert child.stdout is not None
            while chunk := await child.stdout.read(_CHUNK):
                self._output += chunk
            failed = await child.wait()
        if failed:
            raise OurFault(f"standings could not be computed again: the child ended with {failed}")
        return msgspec.json.decode(self._output, type=Recomputed)

    async def _started(self) -> asyncio.subprocess.Process:
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "cgos_server.web.api.reading.recompute_child"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | self._environment,
        )
        assert child.stdin is not None
        child.stdin.write(msgspec.json.encode(self._task))
        child.stdin.write_eof()
        return child
