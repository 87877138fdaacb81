"""The headline rating for anybody with results in hand: names in, ratings with intervals out.

Decides nothing that the system does not, but when a fit is due: it turns names into versions and what is declared into
entries. Must not know: storage, venues, how a refit computes.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from math import isfinite
from typing import Any, Final

import numpy as np

from cgos_protocol import intervals
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Entry, Kind, Outcome, Rating
from cgos_server.core.rating.bayes.pool import Floats, Ints
from cgos_server.core.rating.bayes.state import Cells
from cgos_server.core.rating.bayes.system import Bayes

from . import findings
from .findings import Difference, Learned

_ROWS: Final = 20
"""How many names a printed pool shows."""
_SUSPICIOUS: Final = 10
"""Games that were won by whoever moved first, without one that was lost, from which on that is worth a word."""


class FirstMoverWarning(UserWarning):
    """Whoever is said to have moved first never lost, as where lists have the winner first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A rating and how sure it is.

    ``str()`` of it is ``1873 ± 42``, half of the 95 % interval, or ``2750, 2320 to 4600`` where the two ends are not as
    far from the rating, within a tenth.

    :ivar mean: Elo
    :ivar sd: standard deviation, Elo
    :ivar lower: where the 95 % interval begins, Elo
    :ivar upper: where it ends
    :ivar games: how many games of this name were counted
    :ivar anchor: True where the rating was given by :meth:`BradleyTerry.anchor`
    """

    mean: float
    sd: float
    lower: float
    upper: float
    games: int
    anchor: bool = False

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        return self.lower, self.upper

    def __str__(self) -> str:
        return intervals.written(self.mean, self.lower, self.upper)


class BradleyTerry:
    """Ratings from game results, with their uncertainty.

    A Bradley-Terry model (1952) with draws after Davidson (1970), an advantage of the first move and a prior whose
    shape is learned from the pool.

    >>> from cgos_server.core.rating import BradleyTerry
    >>> pool = BradleyTerry()
    >>> pool.anchor("GNU Go", 1800)
    >>> pool.add("GNU Go", "newcomer", 0, games=8)
    >>> pool.add("newcomer", "GNU Go", 1, games=9)
    >>> pool.add("newcomer", "GNU Go", 0, games=5)
    >>> pool.add("newcomer", "rival", 0, games=4)
    >>> pool.add("rival", "newcomer", 0, games=3)
    >>> print(pool.rating("newcomer"))
    2050 ± 182
    >>> round(pool.superiority("rival", "newcomer"), 2)
    0.61
    >>> round(pool.predict("newcomer", "GNU Go").win, 2)
    0.72

    A new version of a name stands about where its predecessor does, and results can come one by one:

    >>> pool.version("newcomer 2", "newcomer")
    >>> print(pool.rating("newcomer 2"))
    2050 ± 463
    >>> pool.play("newcomer 2", "rival", 1)
    >>> pool.play("rival", "newcomer 2", 0)
    >>> print(pool.rating("newcomer 2"))
    2194 ± 385
    >>> print(pool.refit())
    name        rating      interval  games
    newcomer 2    2161  1811 to 2773      2
    newcomer      2051         ± 183     29
    rival         2019         ± 323      9
    GNU Go        1800           ± 2     22  anchor

    What costs what, with n names. :meth:`play` and :meth:`version` with a new name change the ratings as they stand:
    microseconds. All else that says something (:meth:`add`, :meth:`anchor`, :meth:`known`, a predecessor for a name
    that was in the pool before, :meth:`unlink`) is noted, and the next question fits first: milliseconds for a few
    names, seconds for a thousand. A fit costs by n and by who met whom, and not by the number of games. After many
    results one by one call :meth:`refit`, say once in n of them: a step takes the result as it looks from where the
    ratings stand, a fit takes all results together.

    Where nobody knows who moved first, or nobody did, `neutral=True` says so, and :meth:`beat` says it of a winner and
    a loser. What all the results say together:

    >>> pool.beat("rival", "newcomer", games=2)
    >>> print(pool.difference("newcomer", "rival"))
    -52 ± 248
    >>> pool.superiority_matrix(["newcomer", "rival", "GNU Go"]).round(2)
    array([[0.5 , 0.34, 1.  ],
           [0.66, 0.5 , 0.97],
           [0.  , 0.03, 0.5 ]])
    >>> round(pool.learned().advantage)  # Elo
    -71

    A pool can be pickled, and has the same ratings afterwards to the last bit.

    :param initial: where the pool is expected, Elo. Without anchors the mean of all names is held there
    :param learned: False: a fixed normal prior with standard deviation `prior_sd`, in place of the learned one
    :param advantage_sd: standard deviation, in Elo, of what the first move may be worth; 0: nothing
    """

    def __init__(
        self, initial: float = 2000.0, *, learned: bool = True, prior_sd: float = 500.0, advantage_sd: float = 50.0
    ) -> None:
        if not (isfinite(initial) and isfinite(prior_sd) and prior_sd > 0 and 0 <= advantage_sd < float("inf")):
            raise ValueError(
                "The pool's initial rating and the standard deviations must be finite, and the prior wide."
            )
        # Whoever is not provisional would be the origin of a pool without anchors: here that is everybody, always.
        self._system = Bayes(
            float(initial),
            learned=learned,
            prior_sd=float(prior_sd),
            provisional=0.0,
            advantage_sd=float(advantage_sd),
        )
        self._state = self._system.start()
        # Every name joins as it is first said, so that its version is its index in the state as well.
        self._versions: dict[Hashable, VersionId] = {}
        self._fit_due, self._warned = False, False
        self._shown: Mapping[VersionId, Rating] | None = None

    # --- what is known ------------------------------------------------------------------------------------------

    def version(
        self, name: Hashable, predecessor: Hashable | None = None, *, sd: float | None = None, surely: bool = False
    ) -> None:
        """`name` is in the pool, as the successor of `predecessor` if one is given; said again, the latest counts.

        Raises KeyError for a predecessor that is not in the pool, ValueError for the name itself, for one of its own
        successors, for another predecessor than it has (:meth:`unlink` takes that one back), and for an `sd` that is
        not above 0. Costs a step for a new name; for any other the next question fits.

        :param sd: standard deviation of the step from the predecessor, Elo; None: as far as steps are in this pool,
            which is better than a guess
        :param surely: True where nobody doubts the predecessor: else results may show that the two have nothing in
            common
        """
        if predecessor is None:
            if sd is not None or surely:
                raise ValueError(f"{name!r} has no predecessor: name one, or leave out sd and surely.")
            self._entered(name)
            return
        if sd is not None and not (isfinite(sd) and sd > 0):
            raise ValueError(f"{name!r} cannot be {sd} Elo from its predecessor: give an sd above 0, or none.")
        old, new = self._at(predecessor), self._versions.get(name)
        if new is None:
            self._enter(name, other=old, sd=sd, surely=surely)
            return
        self._check_predecessor(new, old)
        self._fold(Kind.LINK, version=new, other=old, sd=sd, surely=surely)
        self._fit_due = True

    def unlink(self, name: Hashable) -> None:
        """`name` has no predecessor any more; its own successors stay. Raises KeyError for an unknown name and
        ValueError where it has none. The next question fits."""
        version = self._at(name)
        link = self._state.links.get(version)
        if link is None:
            raise ValueError(f"{name!r} has no predecessor that could be taken back.")
        self._fold(Kind.UNLINK, version=version, other=VersionId(link.old))
        self._fit_due = True

    def anchor(self, name: Hashable, value: float, sd: float = 1.0) -> None:
        """The rating of `name` is `value` Elo, known to `sd` Elo; the latest counts. The scale of the pool hangs on its
        anchors. Raises ValueError for any other numbers. The next question fits."""
        mean, sd = _measured(name, value, sd)
        self._fold(Kind.ANCHOR, version=self._entered(name), value=mean, sd=sd)
        self._fit_due = True

    def known(self, name: Hashable, value: float, sd: float) -> None:
        """Elsewhere `name` was measured at `value` Elo, to `sd` Elo: a start that its results may correct; the latest
        counts. Raises ValueError for any other numbers. The next question fits."""
        measured = _measured(name, value, sd)
        self._state.own[self._entered(name)] = measured
        self._fit_due = True

    # --- results ------------------------------------------------------------------------------------------------

    def add(self, first: Hashable, second: Hashable, score: float, games: int = 1, *, neutral: bool = False) -> None:
        """Count `games` games in which `first` had the first move and scored `score`: 1, 0.5 or 0. The next question
        fits. `neutral`: nobody had the first move, or nobody knows who.

        A negative number of games takes so many of the same kind back, whichever way they came. Raises ValueError for
        another score, for a name that plays itself, and where there are not as many games to take back.
        """
        score2 = _score2(first, second, score)
        if not isfinite(games) or games != int(games):
            raise ValueError(f"The number of games must be whole, not {games}.")
        if games < 0 and not (first in self and second in self):
            raise ValueError(f"{first!r} and {second!r} have no such games to take back.")
        state, a, b = self._state, self._entered(first), self._entered(second)
        if games and not _count(
            state.neutral if neutral else state.cells, (a, b), score2, by=int(games), neutral=neutral
        ):
            raise ValueError(f"{first!r} and {second!r} have fewer than {-games} such games to take back.")
        state.games[a] += int(games)
        state.games[b] += int(games)
        self._fit_due = True

    def beat(self, winner: Hashable, loser: Hashable, games: int = 1) -> None:
        """`winner` won `games` games against `loser`, and nobody is said to have moved first; as :meth:`add`."""
        self.add(winner, loser, 1, games, neutral=True)

    def play(self, first: Hashable, second: Hashable, score: float, *, neutral: bool = False) -> None:
        """One more result, arguments as of :meth:`add`; the ratings have moved at once, by one step of O(n), without a
        fit. Raises ValueError for another score, and for a name that plays itself."""
        score2 = _score2(first, second, score)
        black, white = self._entered(first), self._entered(second)
        if neutral:
            state = self._state
            _count(state.neutral, (black, white), score2, by=1, neutral=neutral)
            state.belief.result(black, white, score2, neutral)
            state.games[black] += 1
            state.games[white] += 1
            self._shown = None
            return
        self._fold(Kind.GAME, black=black, white=white, score2=score2)

    def fit(self) -> BradleyTerry:
        """Fit now, from the counts alone; the order of results does not matter. Returns the pool itself."""
        return self._refit(cold=True)

    def refit(self) -> BradleyTerry:
        """Fit now, on from the last fit and with the shape of the prior that it learned: several times faster than
        :meth:`fit`. From the counts alone where that is due as on a server: at first, with the first draw, and when the
        games of a name, the names or the predecessors have become many more since. Returns the pool itself."""
        return self._refit(cold=self._system.wanted(self._state).cold)

    # --- questions ----------------------------------------------------------------------------------------------

    def rating(self, name: Hashable) -> Estimate:
        """Where `name` stands. Raises KeyError for an unknown name."""
        return _estimate(self._ratings()[self._at(name)])

    def standings(self) -> dict[Hashable, Estimate]:
        """Every name's rating, the strongest first."""
        shown = self._ratings()
        ratings = {name: _estimate(shown[version]) for name, version in self._versions.items()}
        return dict(sorted(ratings.items(), key=lambda item: -item[1].mean))

    def superiority(self, one: Hashable, other: Hashable) -> float:
        """The probability (0..1) that `one` is stronger than `other`. Raises KeyError for an unknown name."""
        who = self._at(one), self._at(other)
        self._make_current()
        return self._system.superiority(self._state, *who)

    def superiority_matrix(self, names: Iterable[Hashable] | None = None) -> Floats:
        """(m, m) of what :meth:`superiority` says of the names of row and column; a half for a name and itself. Without
        `names` of all, as they came. Raises KeyError for an unknown name."""
        at = self._places(names)
        self._make_current()
        return findings.superiority(self._state, at)

    def difference(self, one: Hashable, other: Hashable) -> Difference:
        """How much stronger `one` is than `other`. Raises KeyError for an unknown name."""
        who = self._at(one), self._at(other)
        self._make_current()
        mean, sd = self._system.difference(self._state, *who)
        return Difference(mean=mean, sd=sd)

    def covariance(self, names: Iterable[Hashable] | None = None) -> Floats:
        """(m, m), Elo^2, of the strengths of these names, or of all, as they came. Without anchors strengths are seen
        from the mean of all names. C[i, i] + C[j, j] - 2 C[i, j] is the variance of :meth:`difference` after a fit; a
        rating alone is shown a little less sure where there are few games. Raises KeyError for an unknown name."""
        at = self._places(names)
        self._make_current()
        return findings.covariance(self._state, at)

    def learned(self) -> Learned:
        """What was learned of the first move, of draws and of how far strengths are apart."""
        self._make_current()
        return findings.learned(self._system, self._state)

    def groups(self) -> list[list[Hashable]]:
        """Return the names in groups that chains of games join, the largest group first.

        Predecessors and anchors join names, too. Ratings of different groups cannot be compared: only the prior says
        how far apart they are. A name without games that nothing joins is in no group.
        """
        state, names = self._state, list(self._versions)
        linked = [(new, link.old) for new, link in state.links.items()]
        played = [pair for cells in (state.cells, state.neutral) for pair in cells.copy().canonical().pairs.tolist()]
        groups = findings.components(len(self), [*pairwise(state.anchors), *linked, *played])
        return [[names[at] for at in group] for group in groups if len(group) > 1 or state.games[group[0]]]

    def predict(self, first: Hashable, second: Hashable, *, neutral: bool = False) -> Outcome:
        """Probabilities that `first`, moving first, wins, draws and loses; `neutral`: nobody moves first. Raises
        KeyError for an unknown name."""
        one, other = self._at(first), self._at(second)
        self._make_current()
        return self._state.belief.outcome(one, other, neutral)

    def __len__(self) -> int:
        """How many names."""
        return len(self._versions)

    def __contains__(self, name: object) -> bool:
        return name in self._versions

    def __iter__(self) -> Iterator[Hashable]:
        """The names, as they came."""
        return iter(self._versions)

    def __repr__(self) -> str:
        games = self._state.cells.results + self._state.neutral.results
        return f"<BradleyTerry: {len(self)} names, {games} games>"

    def __str__(self) -> str:
        """The standings as a table, the strongest first; of many the first rows. Fits like any question."""
        rows = [("name", "rating", "interval", "games", "")]
        for name, rating in islice(self.standings().items(), _ROWS):
            interval = intervals.beside(rating.mean, rating.lower, rating.upper)
            rows.append((str(name), str(round(rating.mean)), interval, str(rating.games), "anchor" * rating.anchor))
        wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            f"{name:<{wide[0]}}  {mean:>{wide[1]}}  {interval:>{wide[2]}}  {games:>{wide[3]}}  {anchor}".rstrip()
            for name, mean, interval, games, anchor in rows
        ]
        if len(self) > _ROWS:
            lines.append(f"and {len(self) - _ROWS} more")
        if remark := findings.remark_on_groups(self.groups()):
            lines.append(remark)
        return "\n".join(lines)

    # --- inside -------------------------------------------------------------------------------------------------

    def _refit(self, cold: bool) -> BradleyTerry:
        self._warn_of_first_movers()
        job = self._system.job(self._state, cold)
        self._state = self._system.install(self._state, self._system.refit(job))
        self._fit_due, self._shown = False, None
        return self

    def _warn_of_first_movers(self) -> None:
        """Once for a pool: a list whose winners stand first gives the first move what belongs to the players."""
        counts = self._state.cells.copy().canonical()
        wins, draws, losses = counts.results.sum(axis=0).tolist()
        pairs = set(map(tuple, counts.pairs.tolist()))
        telling = len(pairs) > 2 or any(pair[::-1] in pairs for pair in pairs)  # else the better one may move first
        if self._warned or losses or wins < _SUSPICIOUS or not telling:
            return
        self._warned = True
        drawn = f", {draws} were drawn" if draws else ""
        warnings.warn(
            f"Whoever moved first has won all {wins} games that were won{drawn}. Where the first name is just the "
            "winner's, say so: add(..., neutral=True), or beat(winner, loser).",
            FirstMoverWarning,
            stacklevel=2,
        )

    def _places(self, names: Iterable[Hashable] | None) -> Ints:
        return np.array([self._at(name) for name in (self if names is None else names)], dtype=np.int64)

    def _make_current(self) -> None:
        if self._fit_due:
            self.fit()

    def _ratings(self) -> Mapping[VersionId, Rating]:
        self._make_current()
        if self._shown is None:
            self._shown = self._system.standings(self._state)
        return self._shown

    def _fold(self, kind: Kind, **about: Any) -> None:
        # Steps serve a fit that began before them, and no fit here is overtaken.
        self._state.steps.clear()
        self._state, _ = self._system.fold(self._state, Entry(self._state.seq + 1, kind, **about))
        self._shown = None

    def _enter(self, name: Hashable, **about: Any) -> VersionId:
        version = VersionId(len(self._versions))
        self._fold(Kind.ENTER, version=version, **about)
        self._state.join(version, self._state.seq, at=0)
        self._versions[name] = version
        return version

    def _entered(self, name: Hashable) -> VersionId:
        version = self._versions.get(name)
        return self._enter(name) if version is None else version

    def _at(self, name: Hashable) -> VersionId:
        version = self._versions.get(name)
        if version is None:
            raise KeyError(f"{name!r} is not in this pool: no game, no anchor and no version has that name.")
        return version

    def _check_predecessor(self, new: VersionId, old: VersionId) -> None:
        """Raises ValueError where `old` cannot be the predecessor of `new`."""
        names, links = list(self._versions), self._state.links
        if new == old:
            raise ValueError(f"{names[new]!r} cannot be its own predecessor.")
        if new in links and links[new].old != old:
            raise ValueError(f"{names[new]!r} succeeds {names[links[new].old]!r}: unlink it first.")
        ancestor = links.get(old)
        while ancestor is not None:
            if ancestor.old == new:
                raise ValueError(f"{names[old]!r} descends from {names[new]!r} and cannot be its predecessor.")
            ancestor = links.get(ancestor.old)


def _count(cells: Cells, who: tuple[int, int], score2: int, by: int, neutral: bool) -> bool:
    """As :meth:`Cells.add`; where nobody moved first a pair has one order only."""
    first, second = who
    if neutral and first > second:
        first, second, score2 = second, first, 2 - score2
    return cells.add(first, second, score2, by)


def _estimate(rating: Rating) -> Estimate:
    assert rating.lower is not None
    assert rating.upper is not None
    return Estimate(
        mean=rating.mean,
        sd=rating.spread,
        lower=rating.lower,
        upper=rating.upper,
        games=rating.games,
        anchor=rating.anchor,
    )


def _score2(first: Hashable, second: Hashable, score: float) -> int:
    """The half points of the side with the first move; raises ValueError for anything but a game of two."""
    if score not in (0, 0.5, 1):
        raise ValueError(f"A game is scored 1, 0.5 or 0 for the side that moves first, not {score}.")
    if first == second:
        raise ValueError(f"{first!r} cannot play itself.")
    return int(2 * score)


def _measured(name: Hashable, value: float, sd: float) -> tuple[float, float]:
    """Both as they are; raises ValueError where they are no rating and standard deviation."""
    if not isfinite(value) or not (isfinite(sd) and sd > 0):
        raise ValueError(f"{name!r} cannot be known to stand at {value} ± {sd}: give a number and an sd above 0.")
    return float(value), float(sd)
