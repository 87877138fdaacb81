"""What one event's record shows of its quality: whether places follow the entered ratings, how even the games were,
who floated, and how colors were dealt.

Measures of single rankings and events are in :mod:`cgos_server.tournaments.standings.quality` and
:mod:`cgos_server.tournaments.standings.total_error`; here they are taken of an event that was played, whose true
strengths nobody knows. Must not know: systems, files.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum, inf
from typing import Final

import numpy as np
from msgspec import Struct

from cgos_server.core.pairing.base import LOGIT
from cgos_server.core.rating.incremental.graded import logistic
from cgos_server.tournaments.base import Event, Floats, Game, Result, Round, Standings
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.standings.quality import ColorStatistics, colors, longest_run
from cgos_server.tournaments.standings.total_error import TotalError, relative_strengths, total_error

BANDS: Final = (0, 50, 100, 200, 300, 400, 600)
"""Where bands of rating differences begin, in Elo."""

MOST_SOLVED: Final = 2000
"""Entrants of whom strengths are computed: the equations are a square of their number."""


class Band(Struct, frozen=True, kw_only=True):
    """Games whose players' ratings differ by `low` (included) to `high` (not), in Elo; `high` None: without end.

    :ivar score: share of the points that the higher rated made, 0..1; None: no game
    :ivar expected: the share that the ratings promise (Elo's logistic curve)
    """

    low: int
    high: int | None
    games: int
    score: float | None
    expected: float | None


class RoundQuality(Struct, frozen=True, kw_only=True):
    """A round.

    :ivar pairs: who were paired, whatever came of it
    :ivar floats: pairs of players with different scores before the round
    :ivar largest_float: the largest such difference, in points
    :ivar color_difference: after the round, the sum over all players of |games with White - with Black|
    """

    number: int
    pairs: int
    floats: int
    largest_float: float
    color_difference: int


class EventQuality(Struct, frozen=True, kw_only=True):
    """An event.

    :ivar players: everybody who ever entered
    :ivar rated: those who entered with a rating
    :ivar kendall: Kendall's tau of their places with the order of their ratings, -1 to 1; None: fewer than two
    :ivar total_error: equation 7.1 under the strengths that the results show; None: more than :data:`MOST_SOLVED`
    :ivar games: really played
    :ivar uneven: those of them with handicap, which are in no band
    :ivar unrated: those of the others in which somebody had no rating; in no band either
    :ivar mean_difference: of the ratings in the bands' games, in Elo; None: there is none
    :ivar bands: the smallest differences first
    :ivar balances: (games with White less games with Black, how many players), the smallest first
    :ivar streaks: (longest run of one color, how many players), the shortest first
    """

    players: int
    rated: int
    kendall: float | None
    total_error: TotalError | None
    games: int
    uneven: int
    unrated: int
    mean_difference: float | None
    bands: tuple[Band, ...]
    rounds: tuple[RoundQuality, ...]
    balances: tuple[tuple[int, int], ...]
    streaks: tuple[tuple[int, int], ...]


def event_quality(event: Event, standings: Standings, scores: Sequence[Mapping[int, int]]) -> EventQuality:
    """The quality of an event.

    :param standings: of that event
    :param scores: [r]: id -> half points by which round r + 1 was paired
    """
    ratings = {one.id: one.rating for one in event.entrants if one.rating is not None}
    played = list(event.played)
    even = [(game, result) for game, result in played if not game.handicap]
    rated = [(game, result) for game, result in even if game.white in ratings and game.black in ratings]
    differences = [abs(ratings[game.white] - ratings[game.black]) for game, _ in rated]
    places = [(row.place, ratings[row.entrant]) for row in standings.rows if row.entrant in ratings]
    statistics = colors(event)
    lines = ledger(event).lines.values()
    small = len(event.entrants) <= MOST_SOLVED
    return EventQuality(
        players=len(event.entrants),
        rated=len(ratings),
        kendall=kendall_of_places(places) if len(places) > 1 else None,
        total_error=total_error(event, relative_strengths(event)) if small else None,
        games=len(played),
        uneven=len(played) - len(even),
        unrated=len(even) - len(rated),
        mean_difference=fsum(differences) / len(differences) if differences else None,
        bands=tuple(_bands(rated, ratings)),
        rounds=tuple(_round(each, statistics, before) for each, before in zip(event.rounds, scores, strict=True)),
        balances=_counted(line.balance for line in lines),
        streaks=_counted(map(longest_run, lines)),
    )


def kendall_of_places(places: Sequence[tuple[int, float]]) -> float:
    """Kendall's tau (1945), from -1 to 1, of places with the order of ratings: 1 where the first has the highest
    rating and so on. A pair that shares its place or its rating counts nothing but stays in the denominator (tau-a).

    :param places: (place, rating) of at least two
    """
    place: Floats = np.array([one for one, _ in places], dtype=np.float64)
    rating: Floats = np.array([one for _, one in places], dtype=np.float64)
    agreeing = 0.0
    for at in range(len(places) - 1):  # row by row: the square of fifty thousand fits nowhere
        agreeing += float(np.sum(np.sign(place[at + 1 :] - place[at]) * np.sign(rating[at] - rating[at + 1 :])))
    return agreeing / (len(places) * (len(places) - 1) / 2)


def _bands(games: Sequence[tuple[Game, Result]], ratings: Mapping[int, float]) -> Iterable[Band]:
    for low, high in itertools.pairwise((*BANDS, inf)):
        made: list[float] = []
        promised: list[float] = []
        for game, result in games:
            ahead = ratings[game.white] - ratings[game.black]
            if low <= abs(ahead) < high:
                share = result.white_share
                made.append(share if ahead > 0 else 1.0 - share if ahead < 0 else 0.5)
                promised.append(logistic(LOGIT * abs(ahead)))
        yield Band(
            low=int(low),
            high=None if high == inf else int(high),
            games=len(made),
            score=fsum(made) / len(made) if made else None,
            expected=fsum(promised) / len(made) if made else None,
        )


def _round(each: Round, statistics: ColorStatistics, before: Mapping[int, int]) -> RoundQuality:
    pairs = {game.pair for game in each.games}
    gaps = [abs(before[one] - before[other]) for one, other in pairs]
    return RoundQuality(
        number=each.number,
        pairs=len(pairs),
        floats=sum(gap > 0 for gap in gaps),
        largest_float=max(gaps, default=0) / 2,
        color_difference=statistics.differences[each.number - 1],
    )


def _counted(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted(Counter(numbers).items()))
