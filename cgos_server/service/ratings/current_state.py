"""A rating system's state as a venue's ledger and recorded refits have it now, found without the live server.

Must not know: what the state is wanted for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Final

from cgos_protocol.errors import OurFault
from cgos_server.core.rating.base import Entry, RatingSystem
from cgos_server.service.ratings.ledger_fold import Retrace, Run
from cgos_server.service.ratings.models import earlier_model
from cgos_server.storage.reading.answers import PublishedRefit
from cgos_server.storage.reading.history import History

WINDOW: Final = 1_000
"""Entries that are read at once."""

_REFITS: Final = 200
"""Refits that are read at once."""

Progress = Callable[[int, int], None]
"""Told how many entries are done, and of how many."""


def unheard(_done: int, _all: int) -> None:
    """A :data:`Progress` that tells nobody."""


async def windows(
    history: History, venue: str, after: int, last: int, progress: Progress = unheard
) -> AsyncIterator[list[Entry]]:
    """The entries of a venue's ledger after entry `after` up to entry `last`, some at once. Raises Refused where there
    is no such venue.

    :param progress: told when those that were given are done
    """
    while after < last and (entries := await history.ledger.entries(venue, after, min(WINDOW, last - after))):
        yield entries
        after = entries[-1].seq
        progress(after, last)


class RecordedRefits:
    """Recorded refits by the entry after which they began.

    Warm ones begin in the order of their numbers. Cold ones, which take long, may have been overtaken by any number of
    them; there are few, so all are read at once.

    :param after: the last refit that is not wanted any more
    :param last: the last one that is wanted
    """

    def __init__(self, history: History, venue: str, system: str, after: int, last: int) -> None:
        self._history = history
        self._venue, self._system, self._after, self._last = venue, system, after, last
        self._cold: list[PublishedRefit] | None = None
        self._warm: list[PublishedRefit] = []

    async def begun(self, entry: int) -> list[PublishedRefit]:
        """Those that began after this entry or an earlier one, and were not given yet."""
        if self._cold is None:
            self._cold = await self._some(cold=True, limit=None)
        while self._after < self._last and (not self._warm or self._warm[-1].refit.included <= entry):
            some = await self._some(cold=False, limit=_REFITS)
            self._warm += some
            self._after = some[-1].refit.number if len(some) == _REFITS else self._last
        cold, self._cold = _split(self._cold, entry)
        warm, self._warm = _split(self._warm, entry)
        return cold + warm

    async def _some(self, cold: bool, limit: int | None) -> list[PublishedRefit]:
        refits = await self._history.refits.published(
            self._venue, self._system, after=self._after, limit=limit, cold=cold
        )
        return [refit for refit in refits if refit.refit.number <= self._last]


def _split(refits: list[PublishedRefit], entry: int) -> tuple[list[PublishedRefit], list[PublishedRefit]]:
    begun = [refit for refit in refits if refit.refit.included <= entry]
    return begun, [refit for refit in refits if refit.refit.included > entry]


async def caught_up(history: History, venue: str, system: RatingSystem, progress: Progress = unheard) -> Run:
    """The system after the venue's last entry: from its saved state where it has one, with the recorded refits.

    A system that has none, or whose records are of another release or other options, is folded from the beginning with
    refits on the way; one that has a new model since, without the refits of the model before.

    :raises Refused: where there is no such venue
    """
    # In this order: whatever a live server adds meanwhile is left out wholly.
    run = Run(system)
    saved = await history.refits.state(venue, system.name)
    last = await history.ledger.last_entry(venue)
    recorded = await history.refits.recorded(venue, system.name, limit=1)
    number = recorded[-1].number if recorded else 0
    if saved is not None:
        try:
            run.resume(saved.seq, saved.refit, saved.state)
            refits = RecordedRefits(history=history, venue=venue, system=system.name, after=run.refits, last=number)
            if not await refits.begun(run.seq - 1):
                return await _followed(history, venue, run=run, refits=refits, last=last, progress=progress)
        except (ValueError, OurFault):
            pass
        run.restart()
    earlier = await earlier_model(history, venue, system)
    run.refits = 0 if earlier is None else earlier.refits
    try:
        if number > run.refits:
            refits = RecordedRefits(history=history, venue=venue, system=system.name, after=run.refits, last=number)
            return await _followed(history, venue, run=run, refits=refits, last=last, progress=progress)
    except (ValueError, OurFault):
        run.restart()
    async for entries in windows(history, venue, 0, last, progress=progress):
        for entry in entries:
            run.fold(entry)
            run.refit_where_due()
    run.refit_where_wanted()
    return run


async def _followed(
    history: History, venue: str, run: Run, refits: RecordedRefits, last: int, progress: Progress
) -> Run:
    trace = Retrace(run, [each.refit for each in await refits.begun(run.seq)])
    async for entries in windows(history, venue, run.seq, last, progress=progress):
        trace.expect([each.refit for each in await refits.begun(entries[-1].seq)])
        for entry in entries:
            trace.step(entry)
    return run
