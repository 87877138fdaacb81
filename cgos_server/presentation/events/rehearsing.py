"""Rehearses events: gathers what the database has of one, has it played through in simulated time, and says what came
of it.

Must not know: HTTP, processes, who asks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from cgos_protocol.api import event_forecast as api
from cgos_protocol.clock import TimeControl
from cgos_protocol.errors import Code, Invalid
from cgos_protocol.games.base import Ruleset
from cgos_server.presentation import words
from cgos_server.presentation.events.record import EventRecord
from cgos_server.presentation.settings import WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.tournaments.base import Event
from cgos_server.tournaments.running.forecast import (
    Forecast,
    Lengths,
    Rehearsal,
    Replicate,
    Span,
    assumed_ratings,
    by_other_clock,
    forecast,
    lengths_by_clock,
    lengths_seen,
    rehearsed,
    replicates_for,
    with_field,
)
from cgos_server.tournaments.running.own_clock import own_clock
from cgos_server.tournaments.running.settings import EventSettings, Play
from cgos_server.tournaments.running.state import AFTER, BEFORE, EventState
from cgos_server.tournaments.words import counted

ENOUGH_OF_ITS_OWN: Final = 6
"""Games of an event itself from which on they say best how long its next ones last."""

MOST_FAVORITES: Final = 5


class Wishes(Struct, frozen=True, kw_only=True):
    """What is assumed otherwise than it is.

    :ivar entrants: so many in all; None: those who are in, or as many as it starts with
    :ivar rounds: None: as announced
    :ivar game_s: mean length of a game; None: as games lasted so far
    :ivar slots: games at a time of one entrant
    :ivar at_once: games at a time in all; None: any number
    """

    entrants: int | None = None
    rounds: int | None = None
    game_s: float | None = None
    slots: int = 1
    at_once: int | None = None
    seed: int = 0


class Prepared(NamedTuple):
    """What can be rehearsed.

    :ivar starts_at: from when its times are counted, Unix ms
    :ivar assumed: how many of its entrants are assumed
    """

    rehearsal: Rehearsal
    starts_at: int
    assumed: int


async def prepared(history: History, settings: WebSettings, record: EventRecord, wishes: Wishes, now: int) -> Prepared:
    """The rehearsal of an event as it stands.

    :param now: Unix ms
    :raises Refused: where it is over, or nobody can say who plays
    """
    state = record.state
    name = state.settings.name
    if state.phase in AFTER:
        raise Invalid(Code.EVENT_OVER, f"{name} is {state.phase}: there is nothing to rehearse.")
    plan = partial(
        Rehearsal,
        lengths=await _lengths(history, record, wishes),
        others=await _other_lengths(history, state.settings, wishes),
        slots=wishes.slots,
        at_once=wishes.at_once,
        seed=wishes.seed,
    )
    if state.phase in BEFORE:
        ratings = await _ratings(history, settings, state.settings.venue)
        event, assumed = _before(state, wishes, ratings)
        starts_at = max(now, state.settings.times.starts_at or now)
        return Prepared(plan(event=event), starts_at, assumed)
    if wishes.entrants is not None:
        raise Invalid(Code.FIELD_FIXED, f"{name} has started: its entrants are known.")
    event = state.event if wishes.rounds is None else replace(state.event, planned=wishes.rounds)
    ages = {
        game.id: max(0.001, (now - began) / 1000)
        for _, game in state.open_games
        if (began := record.times[game.id].began_at) is not None
    }
    return Prepared(plan(event=event, ages=ages), now, 0)


def rehearse(
    rehearsal: Rehearsal, seconds: float, progress: Callable[[int, int], None] = lambda _done, _all: None
) -> Forecast:
    """What as many rehearsals say as are worth their while, or fit into so many seconds; one at least. With the same
    seed the first ones are always the same. Raises Refused."""
    until = time.monotonic() + seconds
    wanted = replicates_for(rehearsal)
    replicates: list[Replicate] = []
    for each in rehearsed(rehearsal, wanted):
        replicates.append(each)
        progress(len(replicates), wanted)
        if time.monotonic() > until:
            break
    return forecast(rehearsal, replicates)


def answer(record: EventRecord, at: Prepared, ahead: Forecast) -> api.EventForecast:
    """What a rehearsal says, as the API says it."""
    event = at.rehearsal.event
    names = event.names

    def moments(span: Span) -> api.ForecastMoment:
        return api.ForecastMoment(
            median=at.starts_at + round(1000 * span.median), likely=at.starts_at + round(1000 * span.likely)
        )

    return api.EventForecast(
        event=record.state.settings.name,
        sentence=sentence(record.state, ahead),
        starts_at=at.starts_at,
        entrants=ahead.entrants,
        assumed=at.assumed,
        game_s=ahead.lengths.mean,
        game_sd_s=ahead.lengths.sd,
        seen_games=ahead.lengths.games,
        replicates=ahead.replicates,
        rounds=_span(ahead.rounds),
        games=_span(ahead.games),
        duration_s=_span(ahead.duration),
        ends=moments(ahead.duration),
        schedule=[
            api.RoundForecast(
                number=each.number,
                begins=None if each.begins is None else moments(each.begins),
                ends=moments(each.ends),
                share=each.share,
            )
            for each in ahead.schedule
        ],
        favorites=[
            api.Chance(name=names[entrant], share=share)
            for entrant, share in islice(ahead.first.items(), MOST_FAVORITES)
        ],
    )


def sentence(state: EventState, ahead: Forecast) -> str:
    """``8 entrants, 5 rounds, 20 games. This will take about 1 h 35 min, and in nine of ten cases at most 2 h.``"""
    rounds, games = round(ahead.rounds.median), round(ahead.games.median)
    median, likely = about(ahead.duration.median), about(ahead.duration.likely)
    how_long = f"about {median}" if median == likely else f"about {median}, and in nine of ten cases at most {likely}"
    what = "This will take" if state.phase in BEFORE else "From now on it will take"
    field = counted(ahead.entrants, "entrant")
    return f"{field}, {counted(rounds, 'round')}, {counted(games, 'game')}. {what} {how_long}."


def about(seconds: float) -> str:
    """A length of time as a guess has it: ``40 s``, ``12 min``, ``3 h 20 min``."""
    step = 1 if seconds < 60 else 60 if seconds < 3600 else 300
    return words.duration(max(step, step * round(seconds / step)))


def _before(state: EventState, wishes: Wishes, known: Sequence[float]) -> tuple[Event, int]:
    """An event before its start with its field, and how many of it are assumed."""
    settings, there = state.settings, {seat.name: seat.rating for seat in state.there}
    wanted = wishes.entrants or max(len(there), settings.times.starts_with or 0)
    assumed = max(0, wanted - len(there))
    if len(there) + assumed < 2:
        raise Invalid(
            Code.TOO_FEW_ENTRANTS, f"{settings.name} has {counted(len(there), 'entrant')}. Say how many to assume."
        )
    ratings = assumed_ratings([rating for rating in there.values() if rating is not None] or known, assumed)
    field = there | {f"assumed-{at}": rating for at, rating in enumerate(ratings, 1)}
    event = state.event if wishes.rounds is None else replace(state.event, planned=wishes.rounds)
    return with_field(event, field), assumed


async def _lengths(history: History, record: EventRecord, wishes: Wishes) -> Lengths:
    settings = record.state.settings
    own = [
        (times.ended_at - times.began_at) / 1000
        for times in record.times.values()
        if times.began_at is not None and times.ended_at is not None and not times.why
    ]
    seen = lengths_seen(own) if len(own) >= ENOUGH_OF_ITS_OWN else None
    if seen is None:
        seen = await _lengths_in_venue(history, settings)
    return _as_wished(seen, wishes)


async def _other_lengths(history: History, settings: EventSettings, wishes: Wishes) -> Lengths | None:
    """Of the games that entrants play between theirs; None: they play none."""
    if not settings.ladder:
        return None
    return _as_wished(await _lengths_in_venue(history, replace(settings, play=Play())), wishes)


def _as_wished(seen: Lengths, wishes: Wishes) -> Lengths:
    return seen if wishes.game_s is None else Lengths(wishes.game_s, seen.sd * wishes.game_s / seen.mean, seen.games)


async def _lengths_in_venue(history: History, settings: EventSettings) -> Lengths:
    fixed = next(row.fixed for row in await history.server.venues() if row.name == settings.venue)
    rules, clock = msgspec.convert(fixed, Ruleset), msgspec.convert(fixed["time"], TimeControl)
    guess = lengths_by_clock(clock, rules.size)
    seen = lengths_seen(await history.lengths.of_venue(settings.venue)) or guess
    own = own_clock(clock, settings.play)
    return seen if own == clock else by_other_clock(seen, guess, lengths_by_clock(own, rules.size))


async def _ratings(history: History, settings: WebSettings, venue: str) -> list[float]:
    """Of who has played in the venue."""
    systems = settings.rated(venue).order(await history.ratings.rated_counts(venue))
    if not systems:
        return []
    return [row.mean for row in await history.ratings.standings(venue, systems[0], played=True)]


def _span(span: Span) -> api.ForecastSpan:
    return api.ForecastSpan(median=span.median, likely=span.likely)
