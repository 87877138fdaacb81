"""CGOS's own rating: Elo in which K shrinks with play, and a game counts only as far as the opponent is settled.

After Don Dailey's CGOS server (2006 on), as its successors run it. Decides what one result changes.
Must not know: storage, names, which games are to be rated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from cgos_protocol.errors import Code, Invalid
from cgos_protocol.ids import VersionId
from cgos_protocol.options import Flag, Number
from cgos_server.core.rating import checks
from cgos_server.core.rating.base import Entry, Outcome, Rating, RatingDeclaration
from cgos_server.core.rating.incremental.classical import Plain, State, games_after

_FAST_ABOVE = 32.0
_FAST = 0.04
_SLOW = 0.02
_LEAST_SETTLED = 0.1
_WIDEST = 40_000.0
"""Differences beyond this many Elo are sure wins either way; it keeps the power of ten inside a float."""


def expected(difference: float) -> float:
    """The score (0..1) to expect of a player who is `difference` Elo above the opponent (Elo 1978, logistic form)."""
    bounded = max(-_WIDEST, min(_WIDEST, difference))
    return float(1.0 / (1.0 + 10.0 ** (-bounded / 400.0)))


@dataclass(frozen=True, slots=True)
class CgosElo(Plain):
    """The K scheme. K is the spread of every :class:`Rating`.

    A version enters with K = `max_k`, a successor where its predecessor stands. With
    ``s(x) = 1 - (K(x) - min_k) / (max_k - min_k)``, how settled x is, a game of a against b moves a by
    ``K(a) * s(b) * (score - expected)`` and K(a) to ``K(a) * (1 - f * s(b))``, never below `min_k`; f is 0.04 while
    K(a) > 32 and 0.02 below. Both sides are computed from where they stood before the game.
    Anchors do not move and have K = `min_k`. A version that stops being an anchor stays where it stands with
    K = `provisional_k`: trusted, but free to move. A corrected result moves a by ``K(a) * s(b)`` of today times the
    difference of the scores, where a game that does not count stands for the expected score of today; K stays.

    Two newcomers have s = 0, so among newcomers alone nobody would ever be rated. Unless `compat` is True s is
    therefore at least 0.1.

    :ivar initial: rating of a version whose ENTER carries no value (CGOS itself enters it at the mean of the
        versions that wait; whoever wants that puts the value into the entry)
    :ivar provisional_k: a rating is provisional while its K is above this
    """

    name: ClassVar[str] = "cgos-elo"

    initial: float
    min_k: float = 3.0
    max_k: float = 200.0
    provisional_k: float = 16.0
    compat: bool = False

    def is_provisional(self, spread: float, games: int, half_width: float | None = None) -> bool:  # noqa: ARG002
        # K has shrunk with the games.
        return spread > self.provisional_k

    def predict(self, state: State, black: VersionId, white: VersionId) -> Outcome:
        """Color is taken to be worth nothing, and a draw to be half a win and half a loss."""
        score = expected(state[black].mean - state[white].mean)
        return Outcome(score, 0.0, 1.0 - score)

    def _entered(self, state: State, entry: Entry) -> Rating:
        return self._rating(self._start_of(state, entry, self.initial), self.max_k, 0)

    def _anchored(self, before: Rating, entry: Entry) -> Rating:
        checks.deviation(entry, 1.0)
        return self._rating(checks.value(entry), self.min_k, before.games, anchor=True)

    def _freed(self, before: Rating) -> Rating:
        return self._rating(before.mean, self.provisional_k, before.games)

    def _met(self, state: State, black: VersionId, white: VersionId, score: float) -> tuple[Rating, Rating]:
        b, w = state[black], state[white]
        return self._after(b, w, score), self._after(w, b, 1.0 - score)

    def _corrected(
        self, state: State, black: VersionId, white: VersionId, was: float | None, score: float | None
    ) -> tuple[Rating, Rating]:
        b, w = state[black], state[white]
        even = expected(b.mean - w.mean)
        gain = (even if score is None else score) - (even if was is None else was)

        def moved(me: Rating, other: Rating, by: float) -> Rating:
            mean = me.mean if me.anchor else me.mean + me.spread * self._settled(other) * by
            return me._replace(mean=mean, games=games_after(me, was, score))

        return moved(b, w, gain), moved(w, b, -gain)

    def _after(self, me: Rating, other: Rating, score: float) -> Rating:
        """Where `me` stands after scoring `score` (0..1) against `other`."""
        if me.anchor:
            return me._replace(games=me.games + 1)
        settled = self._settled(other)
        k = me.spread
        mean = me.mean + k * settled * (score - expected(me.mean - other.mean))
        shrink = _FAST if k > _FAST_ABOVE else _SLOW
        return self._rating(mean, max(self.min_k, k * (1.0 - shrink * settled)), me.games + 1)

    def _settled(self, other: Rating) -> float:
        """How much of a game against `other` counts, 0..1."""
        settled = 1.0 - (other.spread - self.min_k) / (self.max_k - self.min_k)
        return settled if self.compat else max(settled, _LEAST_SETTLED)

    def _rating(self, mean: float, k: float, games: int, anchor: bool = False) -> Rating:
        return Rating(mean=float(mean), spread=float(k), games=games, provisional=k > self.provisional_k, anchor=anchor)


def _made(initial: float, **options: Any) -> CgosElo:
    """Raises Refused where the options do not go together."""
    system = CgosElo(initial, **options)
    if not 0 < system.min_k < system.max_k:
        raise Invalid(Code.RATING_OPTION, f"{system.name}: min_k must be above 0 and below max_k ({system.max_k:g}).")
    if not system.min_k <= system.provisional_k <= system.max_k:
        raise Invalid(Code.RATING_OPTION, f"{system.name}: provisional_k must lie between min_k and max_k.")
    return system


SYSTEM: Final = RatingDeclaration(
    name="cgos-elo",
    about="Elo with a K factor that falls with the number of games, as on CGOS",
    make=_made,
    options={
        "min_k": Number(default=3.0, meaning="the K of a settled version and of an anchor, Elo"),
        "max_k": Number(default=200.0, meaning="the K of a newcomer, Elo"),
        "provisional_k": Number(default=16.0, meaning="a rating is provisional while its K is above this"),
        "compat": Flag(default=False, meaning="exactly as CGOS, where games among newcomers alone change nothing"),
    },
    provisional_rule="A rating is provisional (?) while its K factor is above {provisional_k:g}.",
)
