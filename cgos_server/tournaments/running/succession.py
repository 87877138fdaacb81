"""Which events follow one: the next of a series, a clone, the playoff for a shared first place.

States and settings in, settings and entries of the log out. Must not know: who announces them, tables, clocks.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from msgspec.structs import replace

from cgos_server.tournaments.base import Standings
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import LONGEST_NAME, EventSettings, Times
from cgos_server.tournaments.running.state import BEFORE, EventState, Phase, Seat
from cgos_server.tournaments.tournament import standings
from cgos_server.tournaments.words import listed

_DAY_MS: Final = 86_400_000
_NUMBERED: Final = re.compile(r"(.+)-([1-9][0-9]{0,8})")
_PLAYOFF: Final = "-playoff"


def next_name(name: str, taken: Collection[str]) -> str:
    """``Weekly`` -> ``Weekly-2``, ``Weekly-2`` -> ``Weekly-3``: the next name that no event has.

    :param taken: names of all events that there ever were
    """
    numbered = _NUMBERED.fullmatch(name)
    stem, number = (numbered[1], int(numbered[2])) if numbered else (name, 1)
    while True:
        number += 1
        candidate = _ended(stem, f"-{number}")
        if candidate not in taken:
            return candidate


def cloned(settings: EventSettings, name: str, later_ms: int = 0) -> EventSettings:
    """The same event once more, with a fresh field.

    :param later_ms: by so much all its times are later; those that have passed by then come about at once
    """
    times = settings.times
    moved = {
        word: None if at is None else at + later_ms
        for word, at in (("opens_at", times.opens_at), ("closes_at", times.closes_at), ("starts_at", times.starts_at))
    }
    return replace(settings, name=name, playoff_of="", series="", times=replace(times, **moved))


def next_edition(settings: EventSettings, taken: Collection[str], now: int) -> EventSettings:
    """The next event of a series: entry to it closes, and it starts, in time to come. Where the operator opened this
    one by hand, the next one opens at once. Its lots are others.

    :param settings: with `every_days` and the time of the start
    :param now: Unix ms
    """
    times = settings.times
    assert times.every_days is not None
    assert times.starts_at is not None
    every_ms = times.every_days * _DAY_MS
    decisive = times.starts_at if times.closes_at is None else times.closes_at
    later_ms = max(1, (now - decisive) // every_ms + 1) * every_ms
    following = cloned(settings, next_name(settings.name, taken), later_ms)
    if following.times.opens_at is None:
        following = replace(following, times=replace(following.times, opens_at=now))
    return replace(following, seed=settings.seed + 1, series=settings.series_name)


def wants_next(state: EventState) -> bool:
    """True where the event is one of a series, does not wait for its start any more, and the next one has not been
    announced."""
    return state.settings.times.every_days is not None and state.phase not in BEFORE and "again" not in state.followed


def wants_playoff(state: EventState) -> bool:
    """True where a playoff is to be held and has not been announced."""
    return (
        state.settings.playoff
        and state.phase is Phase.OVER
        and "playoff" not in state.followed
        and len(shared_first(state)) > 1
    )


def shared_first(state: EventState) -> list[Seat]:
    """Those in the first place who have not withdrawn, in the order of entering."""
    return [seat for seat in _first(state) if not seat.out]


def playoff_of(state: EventState, taken: Collection[str]) -> list[log.Said]:
    """The log of the playoff of an event that is over, up to its start: two games a pair, each color once, by points
    alone."""
    settings = state.settings
    name = _ended(settings.name, _PLAYOFF)
    playoff = EventSettings(
        name=next_name(name, taken) if name in taken else name,
        about=f"The playoff for the first place of {settings.name}.",
        venue=settings.venue,
        system="round-robin",
        options={"double": True},
        seed=settings.seed,
        tie_breakers=("points",),
        entering="operator",
        rated=settings.rated,
        ladder=settings.ladder,
        play=settings.play,
        times=Times(grace_s=state.grace_s),
        playoff_of=settings.name,
    )
    leaders = shared_first(state)
    entered = [
        log.Entered(
            entrant=number,
            version=seat.version,
            bot=seat.bot,
            name=seat.name,
            owner=seat.owner,
            family=seat.family,
            rating=seat.rating,
        )
        for number, seat in enumerate(leaders, 1)
    ]
    ratings = {number: seat.rating for number, seat in enumerate(leaders, 1) if seat.rating is not None}
    return [log.Announced(settings=playoff), *entered, log.Closed(ratings=ratings), log.Started()]


def decided(state: EventState, playoff: EventState) -> log.Decided:
    """What an event's log says of its playoff: who won; several where they share the first place there too; nobody
    while it is not over, or where it was called off.

    :param state: of the event
    """
    first = _first(playoff) if playoff.phase is Phase.OVER else []
    winners = [state.seat_of(seat.version) for seat in first]
    return log.Decided(entrants=tuple(seat.entrant for seat in winners if seat is not None), by=playoff.settings.name)


def final_standings(state: EventState) -> Standings:
    """Who stands where: of those who share the first place, whoever won the playoff for it stands before the others."""
    table = standings(state.event)
    first = [row for row in table.rows if row.place == 1]
    winners = [row for row in first if row.entrant in state.won_playoff]
    if not winners or len(winners) == len(first) or len(winners) != len(state.won_playoff):
        return table  # nothing was decided, or a correction has changed since who is first
    others = [replace(row, place=1 + len(winners)) for row in first if row not in winners]
    won = listed([row.name for row in winners])
    remark = f"{won} won the playoff {state.followed.get('playoff', '')}.".replace(" .", ".")
    return replace(
        table,
        rows=(*winners, *others, *table.rows[len(first) :]),
        remark=f"{table.remark} {remark}".strip(),
    )


def _first(state: EventState) -> list[Seat]:
    """Those in the first place, in the order of entering."""
    first = {row.entrant for row in standings(state.event).rows if row.place == 1}
    return [seat for seat in state.seats.values() if seat.entrant in first]


def _ended(stem: str, ending: str) -> str:
    """`stem` with this ending, shortened to what a name may have."""
    return stem[: LONGEST_NAME - len(ending)] + ending
