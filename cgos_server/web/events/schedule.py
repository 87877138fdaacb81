"""When rounds began and ended, and when those to come may be: for the event's page.

What is over is read off the log; what comes is estimated from rehearsals, where there are some. Must not know: SQL, how
long games last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from cgos_protocol.api.event_forecast import EventForecast
from cgos_server.presentation.events.record import EventRecord
from cgos_server.tournaments.running.state import AFTER
from cgos_server.web.site import Site

LIKELY: Final = 0.5
"""Rounds that fewer of the rehearsals have are not shown."""
MOST_AHEAD: Final = 12
MOST_PAST: Final = 12
"""Rounds that have begun and stand there one by one; those before are one line."""


class Stage(NamedTuple):
    """A round, or what is done besides. Times are Unix ms; None: not known, or not yet.

    :ivar done: it is over
    :ivar estimated: `ends` is an estimate, and `begins` where it lies ahead
    :ivar ahead: it has not begun
    """

    what: str
    begins: int | None
    ends: int | None
    done: bool = False
    estimated: bool = False
    ahead: bool = False


def of(site: Site, record: EventRecord) -> list[Stage]:
    """The stages of an event in their order."""
    ahead = None if record.state.phase in AFTER else site.rehearsals.latest(record)
    if record.state.started_at is None:
        return [*_before(record), *(_to_come(ahead, 0) if ahead is not None else ())]
    return _since(record, ahead)


def _before(record: EventRecord) -> list[Stage]:
    state, times = record.state, record.state.settings.times
    stages: list[Stage] = []
    start = times.starts_at
    if times.opens_at is not None:
        stages.append(Stage("Entry opens", times.opens_at, None, state.phase != "announced"))
    if times.closes_at is not None:
        stages.append(Stage("Entry closes", times.closes_at, None, state.phase == "closed"))
    if start is not None and times.check_in_s:
        stages.append(Stage("Check-in", start - 1000 * times.check_in_s, start))
    if start is not None:
        stages.append(Stage("Start", start, None))
    return stages


def _since(record: EventRecord, ahead: EventForecast | None) -> list[Stage]:
    state = record.state
    stages = [Stage("Start", state.started_at, None, True)]
    ends = {} if ahead is None else {each.number: each.ends.median for each in ahead.schedule}
    first = max(0, len(state.event.rounds) - MOST_PAST)
    if first:
        (begins, _), (_, ended) = record.round_times(1), record.round_times(first)
        stages.append(Stage(f"Rounds 1 to {first}", begins, ended, state.event.rounds[first - 1].is_complete))
    for each in state.event.rounds[first:]:
        begins, ended = record.round_times(each.number)
        if each.is_complete or each.number not in ends:
            stages.append(Stage(f"Round {each.number}", begins, ended, each.is_complete))
        else:
            stages.append(Stage(f"Round {each.number}", begins, ends[each.number], estimated=True))
    if ahead is not None:
        stages += _to_come(ahead, len(state.event.rounds))
    if state.phase in AFTER:
        stages.append(Stage("Cancelled" if state.phase == "cancelled" else "End", state.ended_at, None, True))
    return stages


def _to_come(ahead: EventForecast, begun: int) -> Iterator[Stage]:
    """Rounds that are likely to be, the next ones, and the end."""
    likely = [each for each in ahead.schedule if each.number > begun and each.begins and each.share >= LIKELY]
    for each in likely[:MOST_AHEAD]:
        assert each.begins is not None
        yield Stage(f"Round {each.number}", each.begins.median, each.ends.median, estimated=True, ahead=True)
    yield Stage("End", ahead.ends.median, None, estimated=True, ahead=True)
