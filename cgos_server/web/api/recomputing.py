"""Standings computed again for readers: in a process of its own, one at a time, with a deadline, and kept.

The same question that is being computed is computed once for everybody who asks; another one meanwhile is refused.
Must not know: HTTP, the formulas.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from cgos_server.core.rating.registry import half_width
from cgos_server.errors import OurFault, Refused
from cgos_server.protocol import api_messages as api
from cgos_server.protocol.api_route import Limit
from cgos_server.storage.location import PostgresUrl
from cgos_server.web.limiting import TooMuch
from cgos_server.web.settings import DATABASE_VARIABLE, Rated
from cgos_server.web.site import Site

DEADLINE_S: Final = 120.0
KEPT: Final = 16
_BUSY_RETRY_S: Final = 15.0

Key = tuple[str, str, int, int]
"""Venue, system, the last entry that counts, the last entry that there is (which may correct an earlier one)."""


class Task(msgspec.Struct, frozen=True):
    """What the child is to do. `path`: of the SQLite file; empty where the environment names another database."""

    path: str
    venue: str
    system: str
    rated: Rated
    last: int


class Row(msgspec.Struct, frozen=True):
    """Where a version stands."""

    version: str
    mean: float
    spread: float
    games: int
    provisional: bool
    anchor: bool


class Found(msgspec.Struct, frozen=True):
    """What the child answers."""

    corrected: int
    rows: list[Row]


class Recomputed(msgspec.Struct, frozen=True):
    """Standings that were never published; `corrected` games count otherwise than they did at first."""

    corrected: int
    rows: list[api.Standing]


class Recomputing:
    """One an application."""

    def __init__(self, site: Site, deadline_s: float = DEADLINE_S) -> None:
        self._site = site
        self._deadline_s = deadline_s
        self._known: OrderedDict[Key, Recomputed] = OrderedDict()
        self._under_way: tuple[Key, asyncio.Event] | None = None

    async def standings(self, venue: str, system: str, last: int) -> Recomputed:
        """Standings after entry `last`, games as they count today. Raises TooMuch, Refused, OurFault."""
        key = (venue, system, last, await self._site.history.last_entry(venue))
        while key not in self._known:
            if self._under_way is None:
                await self._compute(key)
            elif self._under_way[0] == key:
                await self._under_way[1].wait()  # bounded by the other one's deadline
            else:
                sentence = "Other standings are being computed just now, one at a time. Please try again in a while."
                raise TooMuch(Limit.RECOMPUTE, sentence, _BUSY_RETRY_S)
        self._known.move_to_end(key)
        return self._known[key]

    async def _compute(self, key: Key) -> None:
        venue, system, last, _ = key
        done = asyncio.Event()
        self._under_way = (key, done)
        location = self._site.history.location
        path = str(location) if isinstance(location, Path) else ""
        try:
            found = await self._asked(
                Task(path, venue, system, self._site.settings.rated(venue), last),
                {DATABASE_VARIABLE: location.dsn if isinstance(location, PostgresUrl) else ""},
            )
        finally:
            self._under_way = None
            done.set()
        rows = [
            api.Standing(
                rank=rank,
                version=row.version,
                mean=row.mean,
                half_width=half_width(system, row.spread),
                spread=row.spread,
                games=row.games,
                provisional=row.provisional,
                anchor=row.anchor,
                last_game=None,
                last_game_at=None,
                seq=None,
            )
            for rank, row in enumerate(found.rows, 1)
        ]
        self._known[key] = Recomputed(found.corrected, rows)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)

    async def _asked(self, task: Task, environment: Mapping[str, str]) -> Found:
        """What a child of our own finds. Raises Refused where it takes too long, OurFault where it fails."""
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "cgos_server.web.api.recompute_child"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | environment,
        )
        try:
            async with asyncio.timeout(self._deadline_s):
                answer, _ = await child.communicate(msgspec.json.encode(task))
        except TimeoutError as error:
            sentence = (
                f"This takes longer than {self._deadline_s:g} s. `cgos-server standings --answer recomputed` has time."
            )
            raise Refused("not-now", sentence) from error
        finally:
            if child.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    child.kill()
                await child.wait()
        if child.returncode:
            raise OurFault(f"standings could not be computed again: the child ended with {child.returncode}")
        return msgspec.json.decode(answer, type=Found)
