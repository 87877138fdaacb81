"""How long an event will take, and when which round begins: it is played through many times in simulated time, with
its own system, from where it stands.

Everything follows from the rehearsal and its seed. Must not know: clocks of computers, processes, tables, who asks.

A game's length is lognormal (our choice: lengths are positive, and a few are very long); of a game that runs already
what is left is drawn from those that are longer than it is by now. Who wins follows from ratings by Elo's curve.
Between two games of the event an entrant plays others of the venue, one after the other, where the event lets it: its
next game begins when the one that it plays then is over.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import NormalDist, fmean, median, pstdev
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, WHITE_WINS, Entrant, Event, Floats, Game, Result, System
from cgos_server.tournaments.chance import Lots
from cgos_server.tournaments.event import begin, open_games
from cgos_server.tournaments.simulation.one_event import final_order, game_chances, seed_of
from cgos_server.tournaments.systems.by_rounds import ByRounds
from cgos_server.tournaments.tournament import lots, system_of

MOST_GAMES: Final = 20_000
"""An event that goes on longer in simulated time will not end."""

LIKELY: Final = 0.9
"""The share of the rehearsals that are over by the time called likely."""

MOST_REPLICATES: Final = 200
_LEAST_REPLICATES: Final = 10
_WORK: Final = 30_000

_COALESCED: Final = 0.05
_LARGE: Final = 10_000
"""Of a field of n, games that end within min(0.05, n / 10 000) of a mean length count as ended together: systems are
asked as often less."""

_NORMAL: Final = NormalDist()
_SD_OF_RATINGS: Final = 200.0
"""Of a field of which nothing is known, Elo."""

_FORGOTTEN: Final = 20.0
"""After so many mean lengths of other games nothing of when they began is left."""

_MAIN_USED: Final = 0.6
_MOVES_A_POINT: Final = 0.75
"""Of clocks whose games nobody has seen yet: so much of the main time is used, and so many moves are played a point of
the board. Our guess."""


class Lengths(NamedTuple):
    """How long games last, in seconds, from the pairing of one to the end.

    :ivar games: how many of them this was seen in; 0: it is guessed from the clocks
    """

    mean: float
    sd: float
    games: int = 0


class Rehearsal(Struct, frozen=True, kw_only=True):
    """What is rehearsed.

    :ivar event: as it stands, with its entrants
    :ivar ages: ids of its games that run -> for how many seconds they have run
    :ivar others: lengths of the other games that entrants play between theirs; None: they play none
    :ivar slots: games at a time of one entrant
    :ivar at_once: games at a time in all; None: any number
    :ivar pause_s: from when a game can begin until its first move: to pair, and for both to be ready
    :ivar seed: of lengths and results; all else is drawn as in the event itself
    """

    event: Event
    lengths: Lengths
    ages: dict[int, float] = field(default_factory=dict)
    others: Lengths | None = None
    slots: int = 1
    at_once: int | None = None
    pause_s: float = 2.0
    seed: int = 0


class Replicate(Struct, frozen=True, kw_only=True):
    """The event, played through once.

    :ivar begins: number of the round -> when its first game begins, seconds from now; only of those still to come
    :ivar ends: number of the round -> when its last game ends; only of those that are not over now
    :ivar games: how many have begun in all
    :ivar first: the entrant in the first place; of several the best rated
    """

    begins: dict[int, float]
    ends: dict[int, float]
    rounds: int
    games: int
    duration: float
    first: int


class Span(Struct, frozen=True, kw_only=True):
    """When, or how much: half of the rehearsals have no more than `median`, nine in ten no more than `likely`."""

    median: float
    likely: float


class RoundForecast(Struct, frozen=True, kw_only=True):
    """A round that is not over. Seconds from now.

    :ivar begins: None: it has begun
    :ivar share: of the rehearsals that have such a round
    """

    number: int
    begins: Span | None
    ends: Span
    share: float


class Forecast(Struct, frozen=True, kw_only=True):
    """What the rehearsals say.

    :ivar duration: seconds from now to the end
    :ivar first: entrant -> share of the rehearsals that it wins, the likeliest first
    """

    replicates: int
    entrants: int
    lengths: Lengths
    rounds: Span
    games: Span
    duration: Span
    schedule: tuple[RoundForecast, ...]
    first: dict[int, float]


# -- what goes in


def lengths_seen(seconds: Sequence[float]) -> Lengths | None:
    """From games that were played; None where they are too few to say."""
    if len(seconds) < 2:
        return None
    return Lengths(max(0.001, fmean(seconds)), pstdev(seconds), len(seconds))


def lengths_by_clock(time: TimeControl, size: int) -> Lengths:
    """A guess where no game has been played yet.

    :param size: of the board
    """
    moves = _MOVES_A_POINT * size * size
    main = 2 * _MAIN_USED * time.main
    match time.system:
        case TimeSystem.FISCHER:
            main += moves * time.increment
        case TimeSystem.BYOYOMI:
            main += moves * time.period / 2
        case TimeSystem.CANADIAN:
            main += moves * time.period / max(1, time.stones)
        case TimeSystem.FIXED:
            main += moves * time.period * _MAIN_USED
    mean = max(0.001, main / 1_000_000)
    return Lengths(mean, mean / 3)


def by_other_clock(seen: Lengths, before: Lengths, after: Lengths) -> Lengths:
    """What was seen by one clock, for another one.

    :param before: the guess by the clock that it was seen with
    :param after: the guess by the other one
    """
    ratio = after.mean / before.mean
    return Lengths(seen.mean * ratio, seen.sd * ratio, seen.games)


def assumed_ratings(known: Sequence[float], number: int) -> list[float]:
    """Ratings of so many entrants of whom nobody knows yet who they are: spread as the known ones, best first."""
    mean = median(known) if known else 0.0
    sd = pstdev(known) if len(known) > 1 else _SD_OF_RATINGS
    return [mean + sd * _NORMAL.inv_cdf(1 - (at + 0.5) / number) for at in range(number)]


def with_field(event: Event, ratings: Mapping[str, float | None]) -> Event:
    """An event before its start, with these entrants: name -> rating. The best rated are registered first, as the start
    of an event does it."""
    order = sorted(ratings, key=lambda name: (ratings[name] is None, -(ratings[name] or 0.0)))
    entrants = tuple(Entrant(id=at, name=name, rating=ratings[name]) for at, name in enumerate(order, 1))
    return replace(event, entrants=entrants)


def replicates_for(rehearsal: Rehearsal) -> int:
    """How many are worth their while: fewer, the larger the field."""
    entrants = max(1, len(rehearsal.event.entrants))
    return min(MOST_REPLICATES, max(_LEAST_REPLICATES, int(_WORK / entrants**1.5)))


# -- the rehearsal


def rehearsed(rehearsal: Rehearsal, replicates: int) -> Iterator[Replicate]:
    """The event, played through so many times; whoever asks stops when he likes.

    :raises Refused: where it cannot be played, or does not end
    """
    require_playable(rehearsal)
    method = system_of(rehearsal.event)
    for index in range(replicates):
        yield _Run(rehearsal, method, seed_of(rehearsal.seed, index)).replicate()


def require_playable(rehearsal: Rehearsal) -> None:
    """Raises Refused where that cannot be played through."""
    if len(rehearsal.event.entrants) < 2:
        raise Invalid(
            Code.TOO_FEW_ENTRANTS, f"{rehearsal.event.name} has fewer than two entrants. Say how many to assume."
        )
    method = system_of(rehearsal.event)
    if isinstance(method, ByRounds) and rehearsal.event.planned is None and method.length(rehearsal.event) is None:
        raise Invalid(
            Code.SIMULATION, f"{rehearsal.event.system} takes any number of rounds. Say how many are to be played."
        )


def forecast(rehearsal: Rehearsal, replicates: Sequence[Replicate]) -> Forecast:
    """What one or more of them say together."""
    number = len(replicates)
    wins: dict[int, int] = {}
    for each in replicates:
        wins[each.first] = wins.get(each.first, 0) + 1
    return Forecast(
        replicates=number,
        entrants=len(rehearsal.event.entrants) - len(rehearsal.event.withdrawn),
        lengths=rehearsal.lengths,
        rounds=_span([float(each.rounds) for each in replicates]),
        games=_span([float(each.games) for each in replicates]),
        duration=_span([each.duration for each in replicates]),
        schedule=_schedule(replicates),
        first={entrant: wins[entrant] / number for entrant in sorted(wins, key=lambda one: (-wins[one], one))},
    )


def _schedule(replicates: Sequence[Replicate]) -> tuple[RoundForecast, ...]:
    rounds = sorted({number for each in replicates for number in each.ends})
    schedule = []
    for number in rounds:
        begins = [each.begins[number] for each in replicates if number in each.begins]
        ends = [each.ends[number] for each in replicates if number in each.ends]
        schedule.append(
            RoundForecast(
                number=number,
                begins=_span(begins) if begins else None,
                ends=_span(ends),
                share=len(ends) / len(replicates),
            )
        )
    return tuple(schedule)


def _span(values: Sequence[float]) -> Span:
    """By the nearest rank."""
    ordered = sorted(values)
    return Span(
        median=ordered[math.ceil(0.5 * len(ordered)) - 1],
        likely=ordered[math.ceil(LIKELY * len(ordered)) - 1],
    )


class _Run:
    """One rehearsal: the event, and which of its games run until when."""

    def __init__(self, rehearsal: Rehearsal, method: System, seed: int) -> None:
        self._plan, self._method, self._seed = rehearsal, method, seed
        self._lots = Lots(seed, 0)
        self._event = rehearsal.event
        self._now = 0.0
        self._together = rehearsal.lengths.mean * min(_COALESCED, len(self._event.entrants) / _LARGE)
        self._running: list[tuple[float, int]] = []
        self._busy: dict[int, int] = {}
        self._idle: dict[int, list[float]] = {one.id: self._others_before(one.id) for one in self._event.entrants}
        self._results: dict[int, Result] = {}
        self._begins: dict[int, float] = {}
        self._ends: dict[int, float] = {}
        self._seats = {one.id: at for at, one in enumerate(self._event.entrants)}
        strengths = _strengths(self._event)
        self._table = game_chances("elo", strengths[:, None], strengths)
        self._begun = {
            number for number, game in self._event.games if game.result is not None or game.id in rehearsal.ages
        }
        self._due: list[tuple[int, Game]] = []
        self._games: dict[int, tuple[int, Game]] = {}
        for number, game in open_games(self._event):
            self._games[game.id] = number, game
            if game.id in rehearsal.ages:
                self._begin(number, game, rehearsal.ages[game.id])
            else:
                self._due.append((number, game))

    def replicate(self) -> Replicate:
        """Play it to its end."""
        while True:
            self._pair()
            self._begin_what_can()
            if not self._running:
                break
            until = self._running[0][0] + self._together
            while self._running and self._running[0][0] <= until:
                self._end_next()
        event = self._event
        games = sum(1 for _ in event.games)
        first = final_order(self._method, event)[0]
        return Replicate(
            begins=self._begins,
            ends=self._ends,
            rounds=len(event.rounds),
            games=games,
            duration=self._now,
            first=first,
        )

    def _pair(self) -> None:
        by_rounds = isinstance(self._method, ByRounds)
        if by_rounds and (self._running or self._due):
            return  # it waits for all results
        self._event, self._results = _with_results(self._event, self._results), {}
        if self._method.is_over(self._event):
            return
        before = {game.id for _, game in self._event.games}
        for part in self._method.ready_games(self._event, lots(self._event)):
            self._event = begin(self._event, part)
        for number, game in self._event.games:
            if game.id not in before:
                self._games[game.id] = number, game
                self._due.append((number, game))
        if len(self._games) > MOST_GAMES:
            raise Invalid(
                Code.SIMULATION,
                f"{self._event.name} was not over after {MOST_GAMES} games. Say how many rounds are to be played.",
            )

    def _begin_what_can(self) -> None:
        still_due = []
        for number, game in self._due:
            room = self._plan.at_once is None or len(self._running) < self._plan.at_once
            if room and all(self._busy.get(one, 0) < self._plan.slots for one in game.pair):
                self._begin(number, game)
            else:
                still_due.append((number, game))
        self._due = still_due

    def _begin(self, number: int, game: Game, age: float = 0.0) -> None:
        free = [self._take_slot(one) for one in game.pair]
        at = self._now if age else max(self._now, *free)
        if number not in self._begun:
            self._begins[number] = min(at, self._begins.get(number, at))
        for one in game.pair:
            self._busy[one] = self._busy.get(one, 0) + 1
        length = _length(self._plan.lengths, Lots(self._seed, number).unit("length", game.id), age)
        pause = 0.0 if age else self._plan.pause_s
        heapq.heappush(self._running, (at + pause + length - age, game.id))

    def _others_before(self, one: int) -> list[float]:
        """Since when each slot of an entrant has had no game of the event: other games are in their middle now."""
        others = self._plan.others
        if others is None:
            return []
        return [-others.mean * (1.0 + self._lots.unit("idle", one, slot)) for slot in range(self._plan.slots)]

    def _take_slot(self, one: int) -> float:
        """When the first slot of an entrant is free for a game of the event; that is gone from its idle ones."""
        idle = self._idle[one]
        if not idle:
            return self._now
        ends = [self._others_until(one, since) for since in idle]
        first = min(range(len(idle)), key=ends.__getitem__)
        del idle[first]
        return ends[first]

    def _others_until(self, one: int, since: float) -> float:
        """When the other game is over that a slot idle since then plays now; now, where it plays none."""
        others, pause = self._plan.others, self._plan.pause_s
        assert others is not None
        since = max(since, self._now - _FORGOTTEN * others.mean)
        while since + pause <= self._now:
            share = self._lots.unit("other", one, round(1000 * since))
            since += pause + _length(others, share, 0.0)
        return max(since, self._now)

    def _end_next(self) -> None:
        at, id_ = heapq.heappop(self._running)
        number, game = self._games[id_]
        self._now = self._ends[number] = at
        self._results[id_] = self._outcome(number, game)
        for one in game.pair:
            self._busy[one] -= 1
            if self._plan.others is not None:
                self._idle[one].append(at)

    def _outcome(self, number: int, game: Game) -> Result:
        wins, holds = (float(each[self._seats[game.white], self._seats[game.black]]) for each in self._table)
        drawn = Lots(self._seed, number).unit("outcome", game.id)
        return WHITE_WINS if drawn < wins else DRAWN if drawn < holds else BLACK_WINS


def _length(lengths: Lengths, share: float, age: float) -> float:
    """Seconds: the quantile `share` of those that are longer than `age`."""
    spread = math.log1p((lengths.sd / lengths.mean) ** 2)
    if spread <= 0.0:
        return max(lengths.mean, age)
    sd = math.sqrt(spread)
    center = math.log(lengths.mean) - spread / 2
    shorter = _NORMAL.cdf((math.log(age) - center) / sd) if age > 0.0 else 0.0
    quantile = min(max(shorter + (1.0 - shorter) * share, 1e-9), 1.0 - 1e-9)
    return max(age, math.exp(center + sd * _NORMAL.inv_cdf(quantile)))


def _with_results(event: Event, results: Mapping[int, Result]) -> Event:
    if not results:
        return event
    rounds = tuple(
        each
        if each.is_complete
        else replace(
            each,
            games=tuple(replace(game, result=results[game.id]) if game.id in results else game for game in each.games),
        )
        for each in event.rounds
    )
    return replace(event, rounds=rounds)


def _strengths(event: Event) -> Floats:
    """Of the entrants in their order, Elo; of those without a rating the middle of the others."""
    known = [one.rating for one in event.entrants if one.rating is not None]
    middle = median(known) if known else 0.0
    return np.array([middle if one.rating is None else one.rating for one in event.entrants])
