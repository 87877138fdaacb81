"""How long events will take, for whoever looks at their pages: rehearsed in a process of its own, and kept for a while.

An event that has not moved is rehearsed once for everybody. Must not know: HTTP, how a rehearsal is made.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

import msgspec

from cgos_protocol.api.event_forecast import EventForecast
from cgos_protocol.errors import Code, OurFault, Refused, Unavailable
from cgos_server.presentation.events.reading import ReadEvents
from cgos_server.presentation.events.record import EventRecord
from cgos_server.presentation.events.rehearsing import Wishes, answer, prepared
from cgos_server.presentation.settings import WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.tournaments.running.forecast import Forecast, Rehearsal, require_playable

SECONDS: Final = 3.0
"""So long an event is rehearsed; one rehearsal is always played to its end."""
LIMIT_S: Final = 30.0
FRESH_MS: Final = 60_000
KEPT: Final = 64
MOST_WAITING: Final = 4
MOST_WANTED: Final = 16
"""Events whose pages wait for a forecast."""

Key = tuple[int, int, int, Wishes]
"""Which names are known, event, the last entry of its log, what is assumed."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What the child is to do, for so many seconds."""

    rehearsal: Rehearsal
    seconds: float


class Rehearsed(msgspec.Struct, frozen=True, kw_only=True):
    """What the child answers: a forecast, or why there can be none.

    :ivar code: name of a :class:`cgos_protocol.errors.Code`
    """

    ahead: Forecast | None = None
    code: str = ""
    sentence: str = ""


Computes = Callable[[Task], Awaitable[Rehearsed]]
"""Whoever does heavy work elsewhere. Raises TimeoutError, OurFault."""


class _Known(NamedTuple):
    """A forecast, and when it was made, Unix ms."""

    ahead: EventForecast
    at: int


class _Latest(NamedTuple):
    """The last forecast of an event, None where there could be none, and when that was."""

    ahead: EventForecast | None
    at: int


class Rehearsals:
    """One an application.

    :param now_ms: Unix ms
    """

    def __init__(
        self,
        history: History,
        events: ReadEvents,
        settings: WebSettings,
        now_ms: Callable[[], int],
        compute: Computes | None = None,
    ) -> None:
        self._history = history
        self._events = events
        self._settings = settings
        self._now_ms = now_ms
        self._compute = compute or in_child
        self._known: OrderedDict[Key, _Known] = OrderedDict()
        self._latest: OrderedDict[tuple[int, int], _Latest] = OrderedDict()
        self._wanted: asyncio.Queue[tuple[int, str]] = asyncio.Queue(MOST_WANTED)
        self._coming: set[str] = set()
        self._turn = asyncio.Lock()
        self._waiting = 0

    def latest(self, record: EventRecord) -> EventForecast | None:
        """The last forecast of an event as it is announced, at once; None where there is none yet. Where it is old,
        another one is made by and by."""
        last = self._latest.get((self._history.names_known, record.id))
        if (last is None or self._now_ms() - last.at >= FRESH_MS) and not self._wanted.full():
            name = record.state.settings.name
            if name not in self._coming:
                self._coming.add(name)
                self._wanted.put_nowait((record.id, name))
        return None if last is None else last.ahead

    async def run(self) -> None:
        """Make those forecasts that pages could not show, for ever."""
        while True:
            await self.make_next()

    async def make_next(self) -> None:
        """Make the next forecast that a page could not show, as soon as there is one to make."""
        event, name = await self._wanted.get()
        names_known = self._history.names_known
        try:
            ahead = await self.ahead(name)
        except Refused:
            ahead = None  # nobody can say; not asked again at once
        finally:
            self._coming.discard(name)
        self._latest[names_known, event] = _Latest(ahead, self._now_ms())
        while len(self._latest) > KEPT:
            self._latest.popitem(last=False)

    async def ahead(self, name: str, wishes: Wishes | None = None) -> EventForecast:
        """How long an event will take. Raises Refused where it cannot be rehearsed, takes too long, or too many ask."""
        wishes = wishes or Wishes()
        names_known = self._history.names_known
        record = await self._events.named(name)
        key = (names_known, record.id, record.state.seq, wishes)
        if (known := self._fresh(key)) is not None:
            return known
        if self._waiting >= MOST_WAITING:
            raise Unavailable(Code.BUSY, "Other events are being rehearsed just now. Try again in a moment.", 5.0)
        self._waiting += 1
        try:
            async with self._turn:
                if (known := self._fresh(key)) is not None:
                    return known  # somebody else had the same question
                now = self._now_ms()
                at = await prepared(self._history, self._settings, record, wishes=wishes, now=now)
                ahead = answer(record, at, await self._rehearsed(name, at.rehearsal))
        finally:
            self._waiting -= 1
        self._known[key] = _Known(ahead, now)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return ahead

    def _fresh(self, key: Key) -> EventForecast | None:
        known = self._known.get(key)
        return known.ahead if known is not None and self._now_ms() - known.at < FRESH_MS else None

    async def _rehearsed(self, name: str, rehearsal: Rehearsal) -> Forecast:
        require_playable(rehearsal)
        try:
            done = await self._compute(Task(rehearsal=rehearsal, seconds=SECONDS))
        except TimeoutError as error:
            raise Unavailable(
                Code.NOT_NOW,
                f"To rehearse {name} takes too long for now. Whoever runs the server has time for it: "
                f"`cgos-server event rehearse {name}`.",
            ) from error
        if done.ahead is None:
            raise Refused.of(Code[done.code], done.sentence)
        return done.ahead


async def in_child(task: Task) -> Rehearsed:
    """Have it done by a process of its own, which goes when nobody waits for it. Raises TimeoutError, OurFault."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cgos_server.web.rehearsal_child"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            output, _ = await child.communicate(msgspec.json.encode(task))
    finally:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    if child.returncode:
        raise OurFault(f"an event could not be rehearsed: the child ended with {child.returncode}")
    return msgspec.json.decode(output, type=Rehearsed)
