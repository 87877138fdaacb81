"""Glicko-2: Elo with a standard deviation and a volatility of its own for every player.

After Glickman (2012), "Example of the Glicko-2 system". Everything public is in Elo; the paper's own scale, of
400 / ln 10 Elo a point, stays inside. Must not know: storage, names, which games are to be rated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from cgos_protocol.ids import VersionId
from cgos_protocol.options import Number
from cgos_server.core.rating import checks
from cgos_server.core.rating.base import (
    INTERVAL_RULE,
    PROVISIONAL,
    Z95,
    Entry,
    Outcome,
    Rating,
    RatingDeclaration,
    normal_rating,
)
from cgos_server.core.rating.incremental.classical import Classical, games_after
from cgos_server.core.rating.incremental.graded import logistic

SCALE: Final = 400.0 / math.log(10.0)
"""Elo a point of the paper's scale (173.7178)."""
TOLERANCE: Final = 1e-6
"""Where the search for the volatility ends, in its logarithm."""

_LEAST_INFORMATION: Final = 1e-9
_LEAPS: Final = 4.0
"""The logarithm of the variance moves by at most this many `tau` a period (our choice): a game between players
thousands of Elo apart that ends against all odds has several solutions, and the near one is meant."""
_ANCHOR_SD: Final = 1.0


class Player(NamedTuple):
    """Mean and standard deviation in Elo, and the volatility a rating period on the paper's scale."""

    mean: float
    deviation: float
    volatility: float


class Met(NamedTuple):
    """An opponent's mean and standard deviation, Elo, and what the player scored against it, 0..1."""

    mean: float
    deviation: float
    score: float


def rated(player: Player, games: Sequence[Met], tau: float = 0.5) -> Player:
    """The player after a rating period with these `games`; without games only less surely known.

    :param tau: how fast the volatility may change, above 0; Glickman recommends 0.3 to 1.2
    """
    phi2 = (player.deviation / SCALE) ** 2
    if not games:
        deviation = SCALE * math.sqrt(phi2 + player.volatility**2)
        return player._replace(deviation=deviation)
    information, surprise = _summed(player.mean, games)
    v = 1.0 / information
    volatility = _volatility(player.volatility, phi2, v=v, delta2=(v * surprise) ** 2, tau=tau)
    phi2 = 1.0 / (1.0 / (phi2 + volatility**2) + information)
    return Player(player.mean + SCALE * phi2 * surprise, SCALE * math.sqrt(phi2), volatility)


def expected(mean: float, opponent: float, deviation: float) -> float:
    """The score (0..1) to expect against an opponent known to `deviation`, all in Elo."""
    return logistic(_g(deviation) * (mean - opponent) / SCALE)


def _g(deviation: float) -> float:
    """How much a result counts, 0..1, against an opponent known to `deviation` Elo."""
    return 1.0 / math.sqrt(1.0 + 3.0 * (deviation / SCALE / math.pi) ** 2)


def _summed(mean: float, games: Iterable[Met]) -> tuple[float, float]:
    """What the games tell: their information about the mean, and the score above expectation, weighted."""
    information = surprise = 0.0
    for game in games:
        g = _g(game.deviation)
        even = expected(mean, game.mean, game.deviation)
        information += g * g * even * (1.0 - even)
        surprise += g * (game.score - even)
    return max(information, _LEAST_INFORMATION), surprise


def _volatility(sigma: float, phi2: float, v: float, delta2: float, tau: float) -> float:
    """Glickman's step 5: the mode of the volatility, by the Illinois variant of regula falsi."""
    a = math.log(sigma * sigma)

    def f(x: float) -> float:
        ex = math.exp(x)
        return ex * (delta2 - phi2 - v - ex) / (2.0 * (phi2 + v + ex) ** 2) - (x - a) / (tau * tau)

    low = a
    if delta2 > phi2 + v:
        high = min(math.log(delta2 - phi2 - v), a + _LEAPS * tau)
        if f(high) > 0.0:
            return math.exp(high / 2.0)
    else:
        k = 1
        while f(a - k * tau) < 0.0:
            k += 1
        high = a - k * tau
    f_low, f_high = f(low), f(high)
    while abs(high - low) > TOLERANCE and f_high != f_low:
        middle = low + (low - high) * f_low / (f_high - f_low)
        f_middle = f(middle)
        if f_middle * f_high <= 0.0:
            low, f_low = high, f_high
        else:
            f_low /= 2.0
        high, f_high = middle, f_middle
    return math.exp(low / 2.0)


class State(NamedTuple):
    """The ratings, whose spread is the standard deviation in Elo, and every version's volatility a game."""

    ratings: dict[VersionId, Rating]
    volatility: dict[VersionId, float]


@dataclass(frozen=True, slots=True)
class Glicko2(Classical[State]):
    """Glicko-2 as a fold: every game is a rating period of its own for its two players, and nobody else's.

    Glickman means a period to have 10 to 15 games or more. So that `period_games` of them widen a rating as much as one
    of his periods, volatility and tau of a game are those of a period divided by sqrt(`period_games`) (our choice).
    Time without games widens nothing: engines do not forget. No rating is less sure than a newcomer's.

    An anchor does not move and is known to the entry's `sd`, or 1 Elo. A version that stops being an anchor stays where
    it stands, just no longer provisional. A newcomer whose ENTER carries `sd` is known to that, a successor as well as
    its predecessor and that together. A corrected result moves a player by what the difference of the scores is worth
    today, where a game that does not count stands for the expected score, and gives or takes that game's information.

    :ivar initial: Elo of a version whose ENTER carries no value
    :ivar tau: see :func:`rated`; a period's
    :ivar deviation: a newcomer's standard deviation, Elo
    :ivar volatility: a newcomer's; a period's
    :ivar provisional: a rating is provisional while half of its 95 % interval is above this, Elo
    """

    name: ClassVar[str] = "glicko2"
    sure: ClassVar[bool] = True
    form = State

    initial: float
    tau: float = 0.5
    deviation: float = 350.0
    volatility: float = 0.06
    period_games: float = 15.0
    provisional: float = 100.0

    def is_provisional(self, spread: float, games: int, half_width: float | None = None) -> bool:  # noqa: ARG002
        return (Z95 * spread if half_width is None else half_width) > self.provisional

    def start(self) -> State:
        return State({}, {})

    def predict(self, state: State, black: VersionId, white: VersionId) -> Outcome:
        """With both players' uncertainty. Color is worth nothing, a draw is half a win and half a loss."""
        b, w = state.ratings[black], state.ratings[white]
        score = expected(b.mean, w.mean, math.hypot(b.spread, w.spread))
        return Outcome(score, 0.0, 1.0 - score)

    def _ratings(self, state: State) -> dict[VersionId, Rating]:
        return state.ratings

    def _entered(self, state: State, entry: Entry) -> Rating:
        version = checks.version(entry)
        mean = self._start_of(state, entry, self.initial)
        deviation = self.deviation
        if entry.sd is not None:
            known = 0.0 if entry.other is None or entry.value is not None else state.ratings[entry.other].spread
            deviation = math.hypot(known, checks.deviation(entry, deviation))
        state.volatility[version] = self.volatility / math.sqrt(self.period_games)
        return self._rating(mean, deviation, 0)

    def _anchored(self, before: Rating, entry: Entry) -> Rating:
        sd = checks.deviation(entry, _ANCHOR_SD)
        return normal_rating(checks.value(entry), sd, games=before.games, provisional=False, anchor=True)

    def _freed(self, before: Rating) -> Rating:
        return self._rating(before.mean, self.provisional / Z95, before.games)

    def _met(self, state: State, black: VersionId, white: VersionId, score: float) -> tuple[Rating, Rating]:
        b, w = state.ratings[black], state.ratings[white]
        b_after, b_volatility = self._after(b, state.volatility[black], w, score)
        w_after, w_volatility = self._after(w, state.volatility[white], b, 1.0 - score)
        state.volatility[black], state.volatility[white] = b_volatility, w_volatility
        return b_after, w_after

    def _corrected(
        self, state: State, black: VersionId, white: VersionId, was: float | None, score: float | None
    ) -> tuple[Rating, Rating]:
        b, w = state.ratings[black], state.ratings[white]
        flipped = tuple(None if half is None else 1.0 - half for half in (was, score))
        return self._amended(b, w, was, score), self._amended(w, b, *flipped)

    def _after(self, me: Rating, volatility: float, other: Rating, score: float) -> tuple[Rating, float]:
        """Where `me` stands after scoring `score` against `other`, and its volatility."""
        if me.anchor:
            return me._replace(games=me.games + 1), volatility
        met = [Met(other.mean, other.spread, score)]
        after = rated(Player(me.mean, me.spread, volatility), met, self.tau / math.sqrt(self.period_games))
        return self._rating(after.mean, after.deviation, me.games + 1), after.volatility

    def _amended(self, me: Rating, other: Rating, was: float | None, score: float | None) -> Rating:
        games = games_after(me, was, score)
        if me.anchor:
            return me._replace(games=games)
        even = expected(me.mean, other.mean, other.spread)
        gain = (even if score is None else score) - (even if was is None else was)
        information, surprise = _summed(me.mean, [Met(other.mean, other.spread, even + gain)])
        before = (SCALE / me.spread) ** 2
        known = before + information * ((score is not None) - (was is not None))
        known = max(known, (SCALE / self.deviation) ** 2)
        return self._rating(me.mean + SCALE * surprise / max(before, known), SCALE / math.sqrt(known), games)

    def _rating(self, mean: float, deviation: float, games: int) -> Rating:
        deviation = min(float(deviation), self.deviation)
        return normal_rating(float(mean), deviation, games=games, provisional=self.is_provisional(deviation, games))


SYSTEM: Final = RatingDeclaration(
    name="glicko2",
    about="Glicko-2 (M. Glickman, 2012)",
    make=Glicko2,
    options={
        "tau": Number(0.1, 2.0, default=0.5, meaning="how fast volatility may change"),
        "deviation": Number(30.0, 1000.0, default=350.0, meaning="standard deviation of a newcomer's rating, Elo"),
        "volatility": Number(0.001, 1.0, default=0.06, meaning="a newcomer's volatility a rating period"),
        "period_games": Number(1.0, 1000.0, default=15.0, meaning="how many games of a version make a rating period"),
        "provisional": PROVISIONAL,
    },
    sure=True,
    provisional_rule=INTERVAL_RULE,
)
