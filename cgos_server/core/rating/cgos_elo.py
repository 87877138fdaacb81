"""CGOS's own rating: Elo in which K shrinks with play, and a game counts only as far as the opponent is settled.

After Don Dailey's CGOS server (2006 on), as its successors run it. Decides what one result changes.
Must not know: storage, names, which games are to be rated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from cgos_server.core.rating.base import Change, Entry, Kind, Rating
from cgos_server.errors import OurFault

State = dict[int, Rating]

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
class CgosElo:
    """The K scheme. K is the spread of every :class:`Rating`.

    A version enters with K = `max_k`. With ``s(x) = 1 - (K(x) - min_k) / (max_k - min_k)``, how settled x is, a game
    of a against b moves a by ``K(a) * s(b) * (score - expected)`` and K(a) to ``K(a) * (1 - f * s(b))``, never below
    `min_k`; f is 0.04 while K(a) > 32 and 0.02 below. Both sides are computed from where they stood before the game.
    Anchors do not move and have K = `min_k`. A version that stops being an anchor stays where it stands with
    K = `provisional_k`: trusted, but free to move.

    Two newcomers have s = 0, so among newcomers alone nobody would ever be rated. Unless `compat` is True s is
    therefore at least 0.1.

    :ivar initial: rating of a version whose ENTER carries no value (CGOS itself enters it at the mean of the
        versions that wait; whoever wants that puts the value into the entry)
    :ivar provisional_k: a rating is provisional while its K is above this
    """

    initial: float
    min_k: float = 3.0
    max_k: float = 200.0
    provisional_k: float = 16.0
    compat: bool = False

    @property
    def name(self) -> str:
        return "cgos-elo"

    def start(self) -> State:
        """The empty pool."""
        return {}

    def fold(self, state: State, entry: Entry) -> tuple[State, tuple[Change, ...]]:
        """Apply one entry; `state` is updated in place.

        A game changes both sides, if only in their number of games; the change of an ENTER has before = after; an
        UNANCHOR of a version that is no anchor changes nothing. Raises KeyError where the entry names a version that
        never entered, OurFault where the entry makes no sense.
        """
        if entry.kind is Kind.GAME:
            return state, self._game(state, entry)
        version = entry.version
        if version is None:
            raise OurFault(f"Ledger entry {entry.seq} ({entry.kind}) names no version.")
        if entry.kind is Kind.ENTER:
            if version in state:
                raise OurFault(f"Ledger entry {entry.seq} enters version {version}, which has entered already.")
            mean = self.initial if entry.value is None else _finite(entry)
            state[version] = entered = self._rating(mean, self.max_k, 0)
            return state, (Change(version, entered, entered),)
        before = state[version]
        if entry.kind is Kind.ANCHOR:
            after = self._rating(_finite(entry), self.min_k, before.games, anchor=True)
        elif before.anchor:
            after = self._rating(before.mean, self.provisional_k, before.games)
        else:
            return state, ()
        state[version] = after
        return state, (Change(version, before, after),)

    def standings(self, state: State) -> Mapping[int, Rating]:
        """Every version's rating: a read-only view of `state`."""
        return MappingProxyType(state)

    def predict(self, state: State, black: int, white: int) -> float:
        """Black's expected score, 0..1. Colour is taken to be worth nothing."""
        return expected(state[black].mean - state[white].mean)

    def _game(self, state: State, entry: Entry) -> tuple[Change, ...]:
        black, white, score2 = entry.black, entry.white, entry.score2
        if black is None or white is None or black == white or score2 not in (0, 1, 2):
            raise OurFault(f"Ledger entry {entry.seq} is no game between two versions with a result.")
        b, w = state[black], state[white]
        score = score2 / 2
        state[black] = b_after = self._after(b, w, score)
        state[white] = w_after = self._after(w, b, 1.0 - score)
        return (Change(black, b, b_after), Change(white, w, w_after))

    def _after(self, me: Rating, other: Rating, score: float) -> Rating:
        """Where `me` stands after scoring `score` (0..1) against `other`."""
        if me.anchor:
            return me._replace(games=me.games + 1)
        settled = 1.0 - (other.spread - self.min_k) / (self.max_k - self.min_k)
        if not self.compat:
            settled = max(settled, _LEAST_SETTLED)
        k = me.spread
        mean = me.mean + k * settled * (score - expected(me.mean - other.mean))
        shrink = _FAST if k > _FAST_ABOVE else _SLOW
        return self._rating(mean, max(self.min_k, k * (1.0 - shrink * settled)), me.games + 1)

    def _rating(self, mean: float, k: float, games: int, anchor: bool = False) -> Rating:
        return Rating(mean, k, games, k > self.provisional_k, anchor)


def _finite(entry: Entry) -> float:
    if entry.value is None or not math.isfinite(entry.value):
        raise OurFault(f"Ledger entry {entry.seq} ({entry.kind}) carries no usable rating: {entry.value}.")
    return entry.value
