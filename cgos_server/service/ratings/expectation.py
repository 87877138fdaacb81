"""What a game between two versions promises, and who is stronger: the one rule of pages, API and commands.

Where a rating system of the venue knows strengths jointly (the headline first, then its other systems), and both have
played by its saved state, that state says so: it knows how sure it is, what the first move is worth and how often
games are drawn. Else the two published means of the headline system say it: where that state is the headline's, with
what it learned of draws and the first move (Davidson 1970), else by Elo's curve (A. Elo, 1978), for both colors alike.
Who is stronger follows then from their spreads as if they were independent of each other. Pure functions. Must not
know: the database, how a figure is shown.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

from cgos_protocol.api.messages import Expected
from cgos_server.core.rating.base import Z95
from cgos_server.core.rating.incremental.cgos_elo import expected
from cgos_server.core.rating.registry import sure
from cgos_server.service.ratings.odds import Odds
from cgos_server.storage.reading.answers import RankedRow


class Jointly(Protocol):
    """A saved state of strengths that are known jointly (`presentation.strengths.Strengths`)."""

    @property
    def system(self) -> str: ...
    @property
    def seq(self) -> int: ...

    def odds(self, one: str, other: str) -> Odds | None: ...

    def chances(self, one: str, other: str) -> Chances | None: ...

    def chances_at(self, difference: float) -> Chances | None:
        """Of somebody who is `difference` Elo ahead in the published ratings; None where they are another system's."""


class Chances(NamedTuple):
    """The expected score of the first of two, 0..1, with Black and with White."""

    black: float
    white: float

    def a_game(self, as_black: int, as_white: int) -> float:
        """Of a game, colors as they were had; half and half where there was none."""
        games = as_black + as_white
        return (as_black * self.black + as_white * self.white) / games if games else (self.black + self.white) / 2


class Compared(NamedTuple):
    """Two versions.

    :ivar system: the rating system that says so, from all entries up to `seq`
    :ivar superiority: the probability that the first is stronger; None where the system does not say
    :ivar difference: Elo, the first minus the second
    :ivar half_width: half of its 95 % interval; None where the system does not say
    :ivar jointly: both were judged from what is known of them together
    :ivar as_black: probabilities of a game in which the first has Black; None unless jointly, as is `as_white`
    """

    system: str
    seq: int
    chances: Chances
    difference: float
    superiority: float | None = None
    half_width: float | None = None
    jointly: bool = False
    as_black: Expected | None = None
    as_white: Expected | None = None


def chances(one: str, other: str, mean: float | None, its_mean: float | None, known: Jointly | None) -> Chances | None:
    """What a game of `one` against `other` promises; None where nothing is known of one of them.

    :param mean: the published mean of `one`, `its_mean` of `other`; None where there is none
    """
    jointly = None if known is None else known.chances(one, other)
    if jointly is not None:
        return jointly
    if mean is None or its_mean is None:
        return None
    return _chances_at(mean - its_mean, known)


def _chances_at(difference: float, known: Jointly | None) -> Chances:
    learned = None if known is None else known.chances_at(difference)
    if learned is not None:
        return learned
    score = expected(difference)
    return Chances(score, score)


def compare(
    one: str, other: str, rated: RankedRow | None, its: RankedRow | None, known: Jointly | None
) -> Compared | None:
    """All that is known of two versions; None where nothing is known of one of them.

    :param rated: the published rating of `one`, `its` of `other`; None where there is none
    """
    odds = None if known is None else known.odds(one, other)
    if known is not None and odds is not None:
        both = Chances(odds.as_black.score, odds.as_white.score)
        return Compared(
            system=known.system,
            seq=known.seq,
            chances=both,
            superiority=odds.superiority,
            difference=odds.difference,
            half_width=odds.half_width,
            jointly=True,
            as_black=odds.as_black,
            as_white=odds.as_white,
        )
    if rated is None or its is None:
        return None
    difference, spread = rated.mean - its.mean, math.hypot(rated.spread, its.spread)
    superiority = half = None
    if sure(rated.system) and spread:
        superiority, half = 0.5 * math.erfc(-difference / spread / math.sqrt(2)), Z95 * spread
    seq, both = max(rated.seq, its.seq), _chances_at(difference, known)
    return Compared(rated.system, seq, both, difference, superiority=superiority, half_width=half)
