"""Mean and covariance as they stand between two refits: what one result, one new version or one new fact changes.

A refit's posterior comes in; from then on a result moves the means in O(n) with the refit's covariance, a new version
extends it in O(n), and a normal fact about one version or a difference (an anchor, a link) is a rank-one update.
Must not know: the ledger, version ids, how a refit is computed, when one is due.
"""

from __future__ import annotations

from math import erfc, sqrt
from typing import Any, Final, NamedTuple

import numpy as np

from cgos_server.core.rating.base import Z95, Outcome, normal_ends

from .joint import LEAST_STATED_STEP, fixed_step
from .likelihood import drawn_between_equals, probabilities
from .likelihood import step as likelihood_step
from .pool import Ends, Floats, Hyper, Ints, Prior
from .prior_sites import shares, variances

_LEAST_VARIANCE: Final = 1e-9
"""Elo^2; keeps rounding from making a variance negative."""
_SPARE: Final = 64
"""Versions that may enter before the covariance has to be copied into a larger array."""
_NODES, _WEIGHTS = (np.array(each) for each in np.polynomial.hermite_e.hermegauss(21))
"""Of a normal expectation: nodes in standard deviations, weights of sum 1."""
_WEIGHTS /= _WEIGHTS.sum()
_NODES.setflags(write=False)
_WEIGHTS.setflags(write=False)


class Shown(NamedTuple):
    """A rating in the pool's gauge, Elo: mean, standard deviation, and where its 95 % interval begins and ends."""

    mean: float
    sd: float
    lower: float
    upper: float


class AllShown(NamedTuple):
    """The same of all versions, (n,) each."""

    mean: Floats
    sd: Floats
    lower: Floats
    upper: Floats


class BeliefSnapshot(NamedTuple):
    """A belief's arrays, for somebody who reads them later. In the order (K centers, n versions).

    :ivar covariance: (K + n, K + n), of the last refit; never written again
    :ivar gain: (n,) precision that results since then have added to each version's own, 1/Elo^2
    :ivar gain_centered: (n,) the same of the version minus the mean of those that the belief is centered on
    :ivar variance: of a version that has not joined
    :ivar common: covariance of two such
    :ivar row: (K + n,) covariances of such a version with all that is here
    """

    covariance: Floats
    gain: Floats
    gain_centered: Floats
    variance: float
    common: float
    row: Floats


def head(posterior: Floats, versions: int) -> Floats:
    """A mean or covariance of the order (versions, centers) in the order (centers, versions), so that versions can be
    added at the end. Any number of axes, all of that order."""
    for axis in range(posterior.ndim):
        posterior = np.roll(posterior, posterior.shape[axis] - versions, axis=axis)
    return np.ascontiguousarray(posterior)


class Belief:
    """A normal distribution of the strengths of n versions, and of what the prior has before them: centers, their mean,
    the mean step to a successor.

    `C` is the covariance of the last refit, extended and updated by facts, but not by results. A result moves the
    means along it, by one Newton step for one more factor: C (e_i - e_j) g / (1 + w v), g and w the first and minus
    the second derivative of its log likelihood, v = Var(r_i - r_j). What it says of the two players' own variances is
    kept apart until the next refit, as precision (1/Elo^2): for one result the same as the rank-one formula, and never
    too much for a variance. For the same reason w in the denominator grows by what either player's results since the
    refit weigh, whichever is more (our choice): without that, ratings swing where refits stay away for long.

    :param x: (K + n,) means: K = Q + 2 of the prior, then versions
    :param C: (K + n, K + n) their covariance; only read, copied before it is written
    :param ends: what the last refit knows of the intervals. Until the next one both ends move with the mean, and their
        distances from it shrink with the shown sd
    :param hyper: what the last refit learned
    :param established: indices of the versions whose mean is the origin where there are no anchors; None: all
    """

    def __init__(self, x: Floats, C: Floats, ends: Ends, hyper: Hyper, prior: Prior, established: Ints | None) -> None:
        self._prior, self._hyper = prior, hyper
        self._k = len(hyper.w) + 2 if prior.learned else 0
        self._size = len(x)
        room = self._size + _SPARE
        self._x = np.zeros(room)
        self._x[: self._size] = x
        self._C = C
        self._shared = True
        self._difference, self._move = np.zeros(room), np.zeros(room)
        self._site: list[float] = ends.own.tolist()
        self._fresh: list[float] = ends.fresh.tolist()
        self._below: list[float] = ends.below.tolist()
        self._above: list[float] = ends.above.tolist()
        self._kappa = ends.kappa
        n = self._size - self._k
        self._gain = [0.0] * n
        self._gain_centered = [0.0] * n
        self._weight_since = [0.0] * n
        self._everybody = established is None
        self._established = frozenset() if established is None else frozenset(established.tolist())
        self._mask = np.zeros(room, dtype=np.bool_)
        self._sums = np.zeros(room)
        self._count, self._members, self._total, self._origin = 0, 1.0, 0.0, prior.initial
        self._refresh_gauge()

    @property
    def n(self) -> int:
        """How many versions."""
        return self._size - self._k

    # --- what happens -------------------------------------------------------------------------------------------

    def result(self, first: int, second: int, score2: int, neutral: bool = False) -> None:
        """One more game between two versions; `score2` half points for the side with the first move, which nobody had
        where it is `neutral`. O(n)."""
        a, b, size = self._k + first, self._k + second, self._size
        x, C = self._x, self._C
        hyper = self._hyper
        advantage = 0.0 if neutral else hyper.advantage
        slope, weight = likelihood_step(x.item(a) - x.item(b), score2 / 2, advantage, hyper.draw)
        along = np.subtract(C[a, :size], C[b, :size], out=self._difference[:size])
        at_a, at_b = along.item(a), along.item(b)
        variance = at_a - at_b
        weights = self._weight_since
        scale = slope / (1.0 + (weight + max(weights[first], weights[second])) * variance)
        weights[first] += weight
        weights[second] += weight
        move = np.multiply(along, scale, out=self._move[:size])
        x = x[:size]
        np.add(x, move, out=x)
        sums = self._sums
        drift = (sums.item(a) - sums.item(b)) / self._members
        self._origin += drift * scale
        shrink = weight / (1.0 + weight * variance)
        for index, row, at in ((first, a, at_a), (second, b, at_b)):
            own = C.item(row, row)
            self._gain[index] += _precision_gained(own, shrink * at * at)
            self._gain_centered[index] += _precision_gained(self._centered(row, own), shrink * (at - drift) ** 2)

    def enter(self) -> None:
        """A version of which nothing is known joins: it has the moments of the mixture. O(n)."""
        mean, variance, row = self._newcomer()
        self._joined(mean, variance, row=row, own=1.0 / self._spread(), fresh=1.0)

    def succeed(self, old: int, sd: float | None, surely: bool) -> None:
        """A successor joins of which nothing else is known. O(n).

        :param old: its predecessor
        :param sd: of its step, Elo; None: as it was learned
        :param surely: True: it is none of the fresh ones
        """
        k, size, x, C = self._k, self._size, self._x, self._C
        at = k + old
        if not k:
            step = fixed_step(np.array([np.nan if sd is None else sd])).item()
            self._joined(x.item(at), C.item(at, at) + step**2, row=C[at, :size].copy(), own=0.0, fresh=0.0)
            return
        fresh = 0.0 if surely else self._hyper.fresh
        step = self._hyper.step if sd is None else max(sd, LEAST_STATED_STEP)
        # Only the centers, the mean step and the predecessor have a part in it.
        parts = np.array([*range(k - 2), k - 1, at])
        linked, anybody = np.zeros(k), np.zeros(k)
        linked[-2:], anybody[: k - 2] = 1.0, self._hyper.w
        apart, toward = linked - anybody, (1.0 - fresh) * linked + fresh * anybody
        among = C[np.ix_(parts, parts)]
        variance = float(toward @ among @ toward) + (1.0 - fresh) * step**2 + fresh * self._spread()
        variance += fresh * (1.0 - fresh) * (float(apart @ x[parts]) ** 2 + float(apart @ among @ apart))
        row = toward @ C[parts, :size]
        self._joined(float(toward @ x[parts]), variance, row=row, own=1.0 / variance, fresh=fresh)

    def _joined(self, mean: float, variance: float, row: Floats, own: float, fresh: float) -> None:
        self._make_room()
        k, size, x, C = self._k, self._size, self._x, self._C
        C[size, :size] = row
        C[:size, size] = row
        x[size] = mean
        C[size, size] = variance
        self._size = size + 1
        self._site.append(own)
        self._fresh.append(fresh)
        self._below.append(Z95)
        self._above.append(Z95)
        self._gain.append(0.0)
        self._gain_centered.append(0.0)
        self._weight_since.append(0.0)
        self._sums[size] = C[size, :size][self._mask[:size]].sum()
        if self._everybody or size - k in self._established:
            self._mask[size] = True
            self._sums[: size + 1] += C[: size + 1, size]
            self._origin = (self._origin * self._count + mean) / (self._count + 1)
            self._count += 1
            self._members = float(self._count)
            self._total = float(self._sums[: size + 1][self._mask[: size + 1]].sum())

    def fact(self, first: int, second: int | None, value: float, precision: float) -> None:
        """Multiply by a normal factor on r_first, or on r_first - r_second: `value` Elo, known to `precision` 1/Elo^2;
        a negative precision takes such a factor out again. O(n^2)."""
        a = np.zeros(self._size)
        a[self._k + first] = 1.0
        if second is not None:
            a[self._k + second] -= 1.0
        self._factor(a, value, precision)

    def free(self, index: int) -> None:
        """The prior's factor for a version that had none: an anchor becomes one of the others. O(n^2)."""
        a = np.zeros(self._size)
        a[self._k + index] = 1.0
        value = self._prior.initial
        if self._k:
            a[: self._k - 2] -= self._hyper.w
            value = 0.0
        self._site[index], self._fresh[index] = 1.0 / self._spread(), 1.0
        self._factor(a, value, self._site[index])

    # --- what is asked ------------------------------------------------------------------------------------------

    def shown(self, index: int, centered: bool) -> Shown:
        """Where a version stands. `centered`: relative to the mean of the established versions, held at the prior's
        `initial`. The sd contains the prior's share phi, which stands in for the uncertainty of the mixture."""
        row = self._k + index
        mean = self._x.item(row)
        if centered:
            mean += self._prior.initial - self._origin
        sd = sqrt(self._variance(index, centered) * (1.0 + self._kappa * self._phi(index)))
        return Shown(mean, sd, mean - self._below[index] * sd, mean + self._above[index] * sd)

    def shown_newcomer(self, centered: bool) -> Shown:
        """As :meth:`shown`, of a version that has not joined because nothing is known of it. O(n)."""
        mean, variance, row = self._newcomer()
        widened = 1.0 + self._kappa * self._newcomers_phi(variance)
        if centered:
            mean += self._prior.initial - self._origin
            variance = self._newcomer_centered(variance, row)
        sd = sqrt(variance * widened)
        return Shown(mean, sd, *normal_ends(mean, sd))

    def all_shown(self, centered: bool) -> AllShown:
        """All versions, as :meth:`shown` has them."""
        k, size = self._k, self._size
        variance = np.diagonal(self._C)[k:size]
        gain = np.asarray(self._gain)
        plain = variance / (1.0 + variance * gain)
        widened = np.ones(size - k)
        if k:
            widened += self._kappa * np.clip(np.asarray(self._site) * plain, 0.0, 1.0) * np.asarray(self._fresh)
        means = self._x[k:size].copy()
        if centered:
            means += self._prior.initial - self._origin
            sums = self._sums[k:size]
            moved = variance - 2.0 * sums / self._members + self._total / self._members**2
            moved = np.maximum(moved, _LEAST_VARIANCE)
            plain = moved / (1.0 + moved * np.asarray(self._gain_centered))
        sds = np.sqrt(plain * widened)
        return AllShown(means, sds, means - np.asarray(self._below) * sds, means + np.asarray(self._above) * sds)

    def marginal(self, index: int) -> tuple[float, float]:
        """Mean and variance of one version, neither centered nor widened."""
        row = self._k + index
        return self._x.item(row), _shrunk(self._C.item(row, row), self._gain[index])

    def difference(self, one: int | None, other: int | None, centered: bool) -> tuple[float, float]:
        """Mean and variance of r_one - r_other as shown: with the prior's share phi of either variance on top. None
        stands for a version that has not joined. `centered` as of :meth:`shown`: without anchors nobody knows where the
        pool as a whole stands, which is no part of what is not known of two that are in it.

        Our choice, measured in pools of two clusters (64 versions, 5, 10 and 20 games each): 95 % intervals of
        differences cover .91, .91 and .94 so, and .82, .85 and .91 by the joint distribution alone.
        """
        mean, variance = self.joint_difference(one, other)
        for index in (one, other):
            if index is None:
                _, plain, row = self._newcomer()
                phi = self._newcomers_phi(plain)
                variance += phi * (self._newcomer_centered(plain, row) if centered else plain)
            else:
                variance += self._phi(index) * self._variance(index, centered)
        return mean, variance

    def joint_difference(self, one: int | None, other: int | None) -> tuple[float, float]:
        """Mean and variance of r_one - r_other by the joint distribution as it is. None stands for a version that has
        not joined; two such are two."""
        C, k = self._C, self._k
        if one is None or other is None:
            mean, variance, row = self._newcomer()
            if one is None and other is None:
                return 0.0, 2.0 * self._spread()
            index = one if one is not None else other
            assert index is not None
            at, now = C.item(k + index, k + index), self.marginal(index)[1]
            between = float(row[k + index]) * sqrt(now / at)
            gap = mean - self._x.item(k + index)
            return gap if one is None else -gap, max(variance + now - 2.0 * between, _LEAST_VARIANCE)
        a, b = k + one, k + other
        at_a, at_b, between = C.item(a, a), C.item(b, b), C.item(a, b)
        now_a, now_b = _shrunk(at_a, self._gain[one]), _shrunk(at_b, self._gain[other])
        # The covariance keeps its correlation while the variances shrink, so that the variance stays positive.
        between *= sqrt(now_a * now_b / (at_a * at_b))
        return self._x.item(a) - self._x.item(b), max(now_a + now_b - 2.0 * between, _LEAST_VARIANCE)

    def covariance(self, versions: Ints, centered: bool) -> Floats:
        """Covariance of some versions in the gauge of :meth:`shown`, without the prior's share."""
        at = versions + self._k
        C: Floats = self._C[np.ix_(at, at)]
        if centered:
            toward_origin = self._sums[at] / self._members
            C += self._total / self._members**2 - toward_origin - toward_origin[:, None]
        gain = np.asarray(self._gain_centered if centered else self._gain)[versions]
        shrink = 1.0 / np.sqrt(1.0 + np.maximum(np.diagonal(C), 0.0) * gain)
        C *= shrink * shrink[:, None]
        return C

    def first_move(self, sd: float, games: float) -> tuple[float, float]:
        """What the first move is worth, Elo, and how well that is known: to `sd` before results, then by so many games,
        taken for games between equals."""
        hyper = self._hyper
        weight = likelihood_step(0.0, 0.5, hyper.advantage, hyper.draw).weight
        return hyper.advantage, (sd**-2.0 + weight * games) ** -0.5 if sd else 0.0

    def jointly(self, centered: bool) -> tuple[Floats, Floats, Floats]:
        """Means and covariance of all versions as they are, and what :meth:`difference` has on top of each variance.
        `centered` as of :meth:`shown`. O(n^2)."""
        k, size = self._k, self._size
        variances = np.diagonal(self._C)[k:size]
        shrink = 1.0 / np.sqrt(1.0 + variances * np.asarray(self._gain))
        C = self._C[k:size, k:size] * shrink
        C *= shrink[:, None]
        phi = np.zeros(size - k)
        if k:
            phi += np.clip(np.asarray(self._site) * np.diagonal(C), 0.0, 1.0) * np.asarray(self._fresh)
        plain = self.all_shown(centered).sd ** 2 / (1.0 + self._kappa * phi)
        return self._x[k:size].copy(), C, phi * plain

    def difference_by_color(self, first: int | None, second: int | None, centered: bool) -> tuple[float, float]:
        """Mean and variance of the strength of `first` with the first move minus that of `second` without. Arguments as
        of :meth:`difference`.

        A strength is that of both colors together; a version's own preference moves it up with one color and down with
        the other, by half. It is not estimated (our choice): two versions change colors, so that it hardly touches the
        strengths, and what it adds to one game is a normal variable of known variance.
        """
        mean, variance = self.difference(first, second, centered)
        return mean + self._hyper.advantage, variance + self._prior.color_variance

    @property
    def draws(self) -> float:
        """The share of their games, 0..1, that equals draw, as it was learned."""
        return drawn_between_equals(self._hyper.draw)

    def outcome(self, first: int | None, second: int | None, neutral: bool = False) -> Outcome:
        """The next game, averaged over the joint distribution of the difference as it is (Gauss-Hermite, 21 nodes);
        with the prior's share on top, predictions of games come out a little worse. None as above; `neutral`: nobody
        has the first move."""
        return self._averaged(*self.joint_difference(first, second), 0.0 if neutral else self._hyper.advantage)

    def outcome_at(self, difference: float) -> Outcome:
        """A game whose first mover is `difference` Elo the stronger for sure."""
        return self._averaged(difference, 0.0, self._hyper.advantage)

    def _averaged(self, mean: float, variance: float, advantage: float) -> Outcome:
        differences = mean + sqrt(variance + self._prior.color_variance) * _NODES
        at = probabilities(differences, advantage, self._hyper.draw)
        return Outcome(float(_WEIGHTS @ at.win), float(_WEIGHTS @ at.draw), float(_WEIGHTS @ at.loss))

    def superiority(self, one: int | None, other: int | None, centered: bool) -> float:
        """The probability (0..1) that r_one > r_other, of two versions. Arguments as of :meth:`difference`."""
        mean, variance = self.difference(one, other, centered)
        return 0.5 * erfc(-mean / sqrt(2.0 * variance))

    def snapshot(self) -> BeliefSnapshot:
        """What is known jointly, without a copy of it: before the covariance is written again it is copied, as after a
        refit. O(n)."""
        self._shared = True
        k, size = self._k, self._size
        _, variance, row = self._newcomer()
        common = float(row[: k - 2] @ np.asarray(self._hyper.w)) if k else 0.0
        return BeliefSnapshot(
            covariance=self._C[:size, :size],
            gain=np.array(self._gain),
            gain_centered=np.array(self._gain_centered),
            variance=variance,
            common=common,
            row=row,
        )

    # --- inside -------------------------------------------------------------------------------------------------

    def _newcomer(self) -> tuple[float, float, Floats]:
        """Mean and variance of a version of which nothing is known, and its covariances with all that is here."""
        k, size = self._k, self._size
        if not k:
            return self._prior.initial, self._prior.sd**2, np.zeros(size)
        w = np.asarray(self._hyper.w)
        row: Floats = w @ self._C[: k - 2, :size]
        return float(w @ self._x[: k - 2]), float(row[: k - 2] @ w) + self._spread(), row

    def _newcomer_centered(self, variance: float, row: Floats) -> float:
        """Variance of such a version minus the mean of the established."""
        members = self._members
        common = float(row[self._mask[: self._size]].sum())
        return max(variance - 2.0 * common / members + self._total / members**2, _LEAST_VARIANCE)

    def _spread(self) -> float:
        """Variance of a new version given the centers: that of a component, and the scatter between the centers."""
        if not self._k:
            return self._prior.sd**2
        q = self._k - 2
        w, m, C = np.asarray(self._hyper.w), self._x[:q], self._C[:q, :q]
        between = float(w @ (m - w @ m) ** 2)
        component = float(np.dot(shares(self._hyper), variances(self._hyper.s)))
        return component + between + float(w @ np.diagonal(C)) - float(w @ C @ w)

    def _variance(self, index: int, centered: bool) -> float:
        """Of a version as it is known now, not widened."""
        row = self._k + index
        variance = self._C.item(row, row)
        if centered:
            return _shrunk(self._centered(row, variance), self._gain_centered[index])
        return _shrunk(variance, self._gain[index])

    def _phi(self, index: int) -> float:
        """The part of what is known of a version that is the prior's own factor."""
        return self._share(self._site[index], self._variance(index, False)) * self._fresh[index]

    def _newcomers_phi(self, variance: float) -> float:
        return self._share(1.0 / self._spread(), variance)

    def _share(self, precision: float, variance: float) -> float:
        return min(max(precision * variance, 0.0), 1.0) if self._k else 0.0

    def _centered(self, row: int, variance: float) -> float:
        """Variance of r_i minus the mean of the established."""
        members = self._members
        return max(variance - 2.0 * self._sums.item(row) / members + self._total / members**2, _LEAST_VARIANCE)

    def _factor(self, a: Floats, value: float, precision: float) -> None:
        self._make_room()
        x, C = self._x[: self._size], self._C[: self._size, : self._size]
        along = C @ a
        # Taking out what is in the distribution leaves a positive denominator; the bound is for rounding.
        scale = precision / max(1.0 + precision * float(a @ along), 1e-12)
        x += along * (scale * (value - float(a @ x)))
        C -= np.outer(along * scale, along)
        diagonal = np.einsum("ii->i", C)
        np.maximum(diagonal, _LEAST_VARIANCE, out=diagonal)
        self._refresh_gauge()

    def _make_room(self) -> None:
        """Own the covariance, with room for one version more."""
        size, room = self._size, len(self._x)
        if not self._shared and size < room:
            return
        if size == room:
            room += max(_SPARE, size // 4)
            self._x = _longer(self._x, room)
            self._sums = _longer(self._sums, room)
            self._mask = _longer(self._mask, room)
            self._difference, self._move = np.zeros(room), np.zeros(room)
        grown = np.zeros((room, room))
        grown[:size, :size] = self._C[:size, :size]
        self._C, self._shared = grown, False

    def _refresh_gauge(self) -> None:
        """Mean of the established, and their sums in the covariance, anew."""
        k, size = self._k, self._size
        self._mask[k:size] = self._everybody
        for index in self._established:
            if index < size - k:
                self._mask[k + index] = True
        chosen = self._mask[:size]
        self._count = int(chosen.sum())
        self._members = float(max(self._count, 1))
        self._sums[:size] = self._C[:size, :size] @ chosen.astype(np.float64)
        self._total = float(self._sums[:size][chosen].sum())
        self._origin = float(self._x[:size][chosen].sum()) / self._members if self._count else self._prior.initial


def _longer(array: Any, length: int) -> Any:
    grown = np.zeros(length, dtype=array.dtype)
    grown[: len(array)] = array
    return grown


def _precision_gained(variance: float, drop: float) -> float:
    """1/Elo^2: what makes of this variance one that is `drop` smaller."""
    return drop / (variance * max(variance - drop, _LEAST_VARIANCE))


def _shrunk(variance: float, gain: float) -> float:
    return variance / (1.0 + variance * gain)
