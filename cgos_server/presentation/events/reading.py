"""Reads events from the database, and keeps what it read: an event that moves is read from where it was left.

Bounded by events and by entries of their logs. Must not know: what is shown of an event, HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

import structlog

from cgos_protocol.api.events import EventSummary
from cgos_protocol.errors import CgosError, OurFault, StoreError
from cgos_protocol.ids import EventId
from cgos_server.presentation.events.answers import summary
from cgos_server.presentation.events.record import EventRecord
from cgos_server.storage.reading.events.questions import EventRow, LogRow
from cgos_server.storage.reading.history import History
from cgos_server.tournaments.running import log

T = TypeVar("T")

log_ = structlog.get_logger(__name__)

MOST_ENTRIES: Final = 60_000
"""Entries of logs that are kept, about 1 KB each with what they fold to; the event that was asked for last is kept
though it has more."""

MOST_SUMMARIES: Final = 5_000
AHEAD: Final = 200
"""Events that are read at the start: as many as a list can have."""

AT_ONCE: Final = 200
"""Entries that are read and folded before others get their turn: some milliseconds."""

Key = tuple[int, EventId]
"""Which names are known, and an event."""

MANY: Final = 100
"""Of events with more entrants than these, what takes long is made beside the loop."""


class ReadEvents:
    """The events of one database, read once each as far as they have come.

    One a process that reads; it is for one event loop.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._records: OrderedDict[Key, EventRecord] = OrderedDict()
        self._summaries: OrderedDict[Key, EventSummary] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()

    async def named(self, name: str) -> EventRecord:
        """The event of this name, as it is now. Raises Refused (``no-event``), StoreError, and OurFault where its log
        cannot be read."""
        return await self.at(await self._history.events.named(name))

    async def at(self, row: EventRow) -> EventRecord:
        """An event, as far as `row` says that it has come, or farther. Raises StoreError, OurFault."""
        key = (self._history.names_known, row.id)
        record = self._records.get(key)
        if record is None or record.state.seq < row.seq:
            async with self._one_at_a_time:  # two must not add the same entries
                record = await self._read(key, row)
                if len(record.state.event.entrants) > MANY:
                    await asyncio.to_thread(getattr, record.results, "standings")
        self._records.move_to_end(key)
        return record

    async def made_of(self, name: str, make: Callable[[EventRecord], T]) -> T:
        """What `make` makes of the event of this name, in a thread where the event is large. Raises as :meth:`named`,
        and what `make` raises."""
        record = await self.named(name)
        if len(record.state.event.entrants) <= MANY:
            return make(record)
        return await asyncio.to_thread(make, record.as_it_is())

    async def all_of(self, rows: Iterable[EventRow]) -> list[EventRecord]:
        """These events, in this order; one whose log cannot be read is left out. Raises StoreError."""
        records = []
        for row in rows:
            with contextlib.suppress(OurFault):
                records.append(await self.at(row))
        return records

    async def summaries(self, rows: Iterable[EventRow]) -> list[EventSummary]:
        """What a list says of these events, in this order; one whose log cannot be read is left out. Raises
        StoreError."""
        return [known for row in rows if (known := await self._summary(row)) is not None]

    async def read_ahead(self) -> None:
        """Read the latest events before anybody asks for a list of them: some milliseconds each, others in between."""
        try:
            names_known = -1
            while names_known != self._history.names_known:  # or what was read at first is of no use
                names_known = self._history.names_known
                await self.summaries(await self._history.events.page(AHEAD))
        except StoreError as error:
            log_.info("events are read when somebody asks for them", error=str(error))

    async def _summary(self, row: EventRow) -> EventSummary | None:
        key = (self._history.names_known, row.id)
        known = self._summaries.get(key)
        if known is None or known.seq != row.seq:
            try:
                known = summary(await self.at(row))
            except OurFault:
                return None
            self._summaries[key] = known
            while len(self._summaries) > MOST_SUMMARIES:
                self._summaries.popitem(last=False)
        self._summaries.move_to_end(key)
        return known

    async def _read(self, key: Key, row: EventRow) -> EventRecord:
        record = self._records.get(key)
        if record is not None and record.state.seq >= row.seq:
            return record
        while record is None or record.state.seq < row.seq:
            since = 0 if record is None else record.state.seq
            record = _folded(row.id, record, await self._history.events.log(row.id, since, AT_ONCE))
        record.bots = await self._history.events.bots(row.id)
        self._records[key] = record
        self._records.move_to_end(key)
        while len(self._records) > 1 and sum(len(each.entries) for each in self._records.values()) > MOST_ENTRIES:
            self._records.popitem(last=False)
        return record


def _folded(event: EventId, record: EventRecord | None, rows: Sequence[LogRow]) -> EventRecord:
    """The record with these entries. Raises OurFault where they cannot be, or there are none."""
    for row in rows:
        entry = log.LogEntry(row.seq, row.at, row.actor, log.decode(row.body))
        try:
            if record is None:
                record = EventRecord(event, entry)
            else:
                record.add(entry)
        except CgosError as error:
            raise OurFault(f"Entry {row.seq} of the log of event {event} cannot follow: {error}") from error
    if record is None or not rows:
        raise OurFault(f"The log of event {event} has no entries where there should be some.")
    return record
