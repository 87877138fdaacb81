"""Game sites: what the results of each pair say of its difference, as a Gaussian factor, all pairs at once.

Expectation propagation (Minka 2001) with Gauss-Hermite quadrature about the mode. Decides the sites, and what the
results say of the first-move advantage and of draws. Must not know: the prior, the joint precision matrix, when to
stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, log, pi
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .likelihood import curvature, log_normalizer
from .pool import Q_ELO, Floats, Ints, Pool

DAMPING: Final = 0.8
LEAST_VARIANCE: Final = 1e-3
LEAST_CAVITY: Final = 1e-9
LEAST_SITE: Final = 1e-12
NARROW: Final = 90.0
"""Elo: below this standard deviation 9 nodes are enough, above it 21 and a second pass."""

LEAST_SPREAD: Final = 1e-6
"""Of a rule's own variance: so much is left where all the weight falls on one node, far from where it was expected."""

NEWTON_STEPS, LONGEST_STEP, NEWTON_TOLERANCE = 12, 400.0, 1.0
CHUNK: Final = 2048
"""Pairs worked on at a time: their nodes stay in the cache."""


FARTHEST_HALF: Final = 300.0
"""Of z / 2, so that e^z does not overflow."""


class Rule(NamedTuple):
    """A Gauss-Hermite rule for a standard normal.

    :ivar nodes: (K, 1)
    :ivar powers: (K, 3) node, its square, ln weight + node^2 / 2
    :ivar moments: (3, K) ones, nodes, their squares
    """

    nodes: Floats
    powers: Floats
    moments: Floats


def _rule(count: int) -> Rule:
    nodes, weights = np.polynomial.hermite_e.hermegauss(count)
    square = nodes * nodes
    powers = np.stack([nodes, square, np.log(weights) + 0.5 * square], axis=1)
    return Rule(nodes[:, None], powers, np.stack([np.ones(count), nodes, square]))


FEW, MANY = _rule(9), _rule(21)


@dataclass(frozen=True, slots=True)
class Cells:
    """The results of each unordered pair, both orders of color together, in ascending order (one, two).

    :ivar one: (k,) lower index; `two`: (k,) the higher
    :ivar margin: (k,) half of (wins - losses) of `one`
    :ivar turn: (k,) half of (wins - losses) of the side with the first move
    :ivar ahead: (k,) games in which `one` had the first move; `behind`: (k,) those in which `two` had it
    :ivar drawn: (k,) drawn games
    :ivar neutral: (k,) games in which nobody had the first move; None: there is none of any pair
    """

    one: Ints
    two: Ints
    margin: Floats
    turn: Floats
    ahead: Floats
    behind: Floats
    drawn: Floats
    neutral: Floats | None = None

    def __len__(self) -> int:
        return len(self.one)

    @property
    def games(self) -> Floats:
        """(k,) all of them."""
        ordered = self.ahead + self.behind
        return ordered if self.neutral is None else ordered + self.neutral

    def part(self, which: slice | Ints) -> Cells:
        return Cells(
            one=self.one[which],
            two=self.two[which],
            margin=self.margin[which],
            turn=self.turn[which],
            ahead=self.ahead[which],
            behind=self.behind[which],
            drawn=self.drawn[which],
            neutral=None if self.neutral is None else self.neutral[which],
        )


def cells(pool: Pool) -> Cells:
    """The pool's ordered pairs merged, whatever order they are listed in; pairs without games are left out."""
    met = np.flatnonzero(pool.wins + pool.draws + pool.losses > 0)
    first, second = pool.first[met], pool.second[met]
    wins, draws, losses = pool.wins[met], pool.draws[met], pool.losses[met]
    games = wins + draws + losses
    swap = first > second
    key = np.where(swap, second, first) * pool.n + np.where(swap, first, second)
    order = np.lexsort((swap, key))
    keys, where = np.unique(key[order], return_inverse=True)

    def total(of: Floats) -> Floats:
        summed: Floats = np.bincount(where, of[order], minlength=len(keys)).astype(np.float64)
        return summed

    half = 0.5 * (wins - losses)
    ordered, turned, neutral = games, half, None
    if pool.neutral is not None:
        nobody = pool.neutral[met]
        ordered, turned = np.where(nobody, 0.0, games), np.where(nobody, 0.0, half)
        neutral = total(np.where(nobody, games, 0.0))
    return Cells(
        one=keys // max(pool.n, 1),
        two=keys % max(pool.n, 1),
        margin=total(np.where(swap, -half, half)),
        turn=total(turned),
        ahead=total(np.where(swap, 0.0, ordered)),
        behind=total(np.where(swap, ordered, 0.0)),
        drawn=total(draws),
        neutral=neutral,
    )


class Evidence(NamedTuple):
    """Sums over all results of the expected derivatives of the log likelihood, by advantage (1/Elo) and by ln nu."""

    advantage_slope: float
    advantage_bend: float
    draw_slope: float
    draw_bend: float


class Tilted(NamedTuple):
    """Moments of cavity times likelihood, each (k,): mean, variance, log of the integral."""

    mean: Floats
    variance: Floats
    log_z: Floats
    evidence: Evidence | None


def slopes(of: Cells, d: Floats, advantage: float, draw: float) -> tuple[Floats, Floats]:
    """First derivative of each pair's log likelihood at d = r_one - r_two (k,), and minus the second."""
    if advantage == 0.0:
        slope, bend = curvature(Q_ELO * d, draw)
        games = of.games
        return Q_ELO * (of.margin - games * slope), Q_ELO * Q_ELO * games * bend
    front, front_bend = curvature(Q_ELO * (d + advantage), draw)
    back, back_bend = curvature(Q_ELO * (d - advantage), draw)
    slope = Q_ELO * (of.margin - of.ahead * front - of.behind * back)
    bend = Q_ELO * Q_ELO * (of.ahead * front_bend + of.behind * back_bend)
    if of.neutral is not None:
        level, level_bend = curvature(Q_ELO * d, draw)
        slope -= Q_ELO * of.neutral * level
        bend += Q_ELO * Q_ELO * of.neutral * level_bend
    return slope, bend


def values(of: Cells, y: Floats, advantage: float, draw: float) -> Floats:
    """Log likelihood of each pair at differences y, (k,) or (K, k)."""
    z = Q_ELO * y
    out = of.margin * z
    if advantage == 0.0:
        out -= of.games * log_normalizer(z, draw)
    else:
        shift = Q_ELO * advantage
        out -= of.ahead * log_normalizer(z + shift, draw)
        out -= of.behind * log_normalizer(z - shift, draw)
        out += shift * of.turn
        if of.neutral is not None:
            out -= of.neutral * log_normalizer(z, draw)
    if draw > 0.0:
        out += of.drawn * log(draw)
    return out


def modes(of: Cells, d: Floats, precision: Floats, mean: Floats, advantage: float, draw: float) -> Floats:
    """(k,) where cavity times likelihood is largest, to about an Elo, by Newton from d, each pair on its own."""
    y = d.copy()
    left = np.arange(len(y))
    here, pc, mc = of, precision, mean
    for _ in range(NEWTON_STEPS):
        at = y[left]
        slope, bend = slopes(here, at, advantage, draw)
        move = (slope - pc * (at - mc)) / (bend + pc)
        np.clip(move, -LONGEST_STEP, LONGEST_STEP, out=move)
        y[left] = at + move
        going = np.flatnonzero(np.abs(move) >= NEWTON_TOLERANCE)
        if not going.size:
            break
        if going.size < left.size:
            left = left[going]
            here, pc, mc = of.part(left), precision[left], mean[left]
    return y


def tilted(
    of: Cells, d: Floats, precision: Floats, mean: Floats, advantage: float, draw: float, *, learn: bool = False
) -> Tilted:
    """Moments of N(y; mean, 1/precision) * L(y) for every pair.

    :param d: (k,) present differences, where the search for the modes begins
    :param precision: (k,) of the cavity, 1/Elo^2; `mean`: (k,) Elo
    :param learn: also the expected derivatives by advantage and draw parameter
    """
    mode = modes(of, d, precision=precision, mean=mean, advantage=advantage, draw=draw)
    scale = 1.0 / np.sqrt(precision + slopes(of, mode, advantage, draw)[1])
    a, b, log_z = (np.empty(len(of)) for _ in range(3))
    sums = np.zeros(4)
    shifts = _shifts(of, advantage)

    def integrate(which: Ints, center: Floats, width: Floats, rule: Rule, last: bool) -> None:
        for piece in _pieces(which):
            c, w, pc = center[piece], width[piece], precision[piece]
            here = of.part(piece)
            off = c - mean[piece]
            totals = _totals(c, w, rule=rule, shifts=shifts, draw=draw, keep=last and learn)
            score = here.margin + 0.5 * here.games
            # The exponent is a polynomial of the node, less what the totals say.
            linear = w * (Q_ELO * score - pc * off)
            weight = rule.powers @ np.stack([linear, -0.5 * pc * w * w, np.ones_like(w)])
            for games, total in zip(_games(here, totals), totals, strict=True):
                np.multiply(total.log, games, out=total.log)
                weight -= total.log
            top = weight.max(axis=0)
            weight -= top
            np.exp(weight, out=weight)
            z, first, second = rule.moments @ weight
            first /= z
            second /= z
            a[piece] = c + w * first
            b[piece] = w * w * np.maximum(second - first * first, LEAST_SPREAD)
            if last:
                constant = Q_ELO * score * c - 0.5 * pc * off * off + _constant(here, advantage, draw)
                log_z[piece] = np.log(z * w * np.sqrt(pc)) + top + constant - 0.5 * log(2.0 * pi)
                if learn:
                    weight /= z
                    np.add(sums, _derivatives(here, totals, weight), out=sums)

    narrow = scale < NARROW
    integrate(np.flatnonzero(narrow), mode, width=scale, rule=FEW, last=True)
    wide = np.flatnonzero(~narrow)
    if wide.size:
        integrate(wide, mode, width=scale, rule=MANY, last=False)
        center, width = a.copy(), np.sqrt(b, out=np.ones_like(b), where=~narrow)
        shrunk = width[wide] < NARROW
        integrate(wide[shrunk], center, width=width, rule=FEW, last=True)
        integrate(wide[~shrunk], center, width=width, rule=MANY, last=True)
    return Tilted(a, b, log_z, Evidence(*(float(each) for each in sums)) if learn else None)


def _pieces(which: Ints) -> Iterator[slice | Ints]:
    """In chunks; as a slice where the indices are consecutive, which numpy does not copy."""
    for begin in range(0, len(which), CHUNK):
        piece = which[begin : begin + CHUNK]
        whole = piece[-1] - piece[0] + 1 == len(piece)
        yield slice(int(piece[0]), int(piece[-1]) + 1) if whole else piece


class Total(NamedTuple):
    """1 + nu e^(z/2) + e^z at the nodes, (K, k), its logarithm, and the middle term; for one order of color."""

    all: Floats
    log: Floats
    drawn: Floats | None


def _shifts(of: Cells, advantage: float) -> tuple[float, ...]:
    """What is added to z where `one` has the first move and where `two` has it; one for both where it is worth nothing.
    A third for nobody, where there are such games."""
    if of.neutral is not None:
        return Q_ELO * advantage, -Q_ELO * advantage, 0.0
    return (0.0,) if advantage == 0.0 else (Q_ELO * advantage, -Q_ELO * advantage)


def _totals(
    center: Floats, width: Floats, rule: Rule, shifts: tuple[float, ...], draw: float, *, keep: bool
) -> list[Total]:
    """One for each shift.

    :param keep: the totals themselves will be needed, too; else their memory becomes that of the logarithm
    """
    farthest = float(np.abs(center).max()) + float(width.max()) * float(rule.nodes[-1, 0])
    if Q_ELO * farthest + abs(shifts[0]) > 2.0 * FARTHEST_HALF:
        half = 0.5 * Q_ELO * (center + width * rule.nodes)
        return [_far_total(half + 0.5 * shift, draw) for shift in shifts]
    z = (Q_ELO * width) * rule.nodes
    z += Q_ELO * center
    root = np.exp(0.5 * z) if draw > 0.0 else None
    square = np.exp(z, out=z) if root is None else root * root
    totals = []
    for shift in shifts:
        total = square * exp(shift)
        total += 1.0
        drawn = None if root is None else (draw * exp(0.5 * shift)) * root
        if drawn is not None:
            total += drawn
        totals.append(Total(total, np.log(total) if keep else np.log(total, out=total), drawn))
    return totals


def _far_total(half: Floats, draw: float) -> Total:
    """The same where exponentials would overflow: right in the logarithm, cut in the rest."""
    cut = np.clip(half, -FARTHEST_HALF, FARTHEST_HALF)
    root = np.exp(cut)
    total = 1.0 + draw * root + root * root
    return Total(total, log_normalizer(2.0 * half, draw) + half, draw * root if draw > 0.0 else None)


def _games(of: Cells, totals: list[Total]) -> tuple[Floats, ...]:
    if of.neutral is not None:
        return of.ahead, of.behind, of.neutral
    return (of.ahead, of.behind) if len(totals) == 2 else (of.games,)


def _constant(of: Cells, advantage: float, draw: float) -> Floats:
    """(k,) what the log likelihood has besides the terms in the difference."""
    constant = (Q_ELO * advantage) * (of.turn + 0.5 * (of.ahead - of.behind))
    return constant + of.drawn * log(draw) if draw > 0.0 else constant


def _derivatives(of: Cells, totals: list[Total], weight: Floats) -> Floats:
    """As in `Evidence`, from normalized weights (K, k) of the nodes."""
    slopes_, bend, expected, spread = [], 0.0, 0.0, 0.0
    for count, total in zip(_games(of, totals), totals, strict=True):
        lost = 1.0 / total.all
        drawn = None if total.drawn is None else total.drawn * lost
        slope = 0.5 - lost if drawn is None else 0.5 - lost - 0.5 * drawn
        weighted = weight * slope
        slopes_.append(weighted.sum(axis=0))
        square = (weighted * slope).sum(axis=0)
        mean_drawn = 0.0 if drawn is None else (weight * drawn).sum(axis=0)
        if len(slopes_) < 3:  # the first move's worth is no part of the third
            bend += float((count * (0.25 * (1.0 - mean_drawn) - square)).sum())
        if drawn is not None:
            expected += float((count * mean_drawn).sum())
            spread += float((count * (mean_drawn - (weight * drawn * drawn).sum(axis=0))).sum())
    ahead, behind = slopes_[0], slopes_[min(1, len(slopes_) - 1)]
    slope_sum = float((of.turn - of.ahead * ahead + of.behind * behind).sum())
    return np.array([Q_ELO * slope_sum, -Q_ELO * Q_ELO * bend, float(of.drawn.sum()) - expected, -spread])


class Cavities(NamedTuple):
    """Each pair's marginal without its own site, (k,); `met`: pairs whose difference is uncertain enough to work on."""

    precision: Floats
    mean: Floats
    met: NDArray[np.bool_]


def cavities(d: Floats, v: Floats, T: Floats, V: Floats) -> Cavities:
    """:param d: (k,) mean of the differences, `v`: (k,) their variances, `T`, `V`: (k,) the sites"""
    met = v >= LEAST_VARIANCE
    safe = np.where(met, v, 1.0)
    precision = np.maximum(1.0 / safe - T, LEAST_CAVITY)
    return Cavities(precision, (d / safe - V) / precision, met)


class Update(NamedTuple):
    """New sites (k,), how far the means move in standard deviations (k,), the tilted moments."""

    T: Floats
    V: Floats
    moved: Floats
    tilted: Tilted
    cavity: Cavities


def update(
    of: Cells, d: Floats, v: Floats, T: Floats, V: Floats, advantage: float, draw: float, *, learn: bool = False
) -> Update:
    """One damped step of every pair's site. Pairs whose difference is known (v below 0.001) keep theirs."""
    cavity = cavities(d, v, T, V)
    moments = tilted(of, d, precision=cavity.precision, mean=cavity.mean, advantage=advantage, draw=draw, learn=learn)
    raw_T = np.maximum(1.0 / moments.variance - cavity.precision, LEAST_SITE)
    raw_V = moments.mean * (cavity.precision + raw_T) - cavity.mean * cavity.precision
    raw_T, raw_V = np.where(cavity.met, raw_T, T), np.where(cavity.met, raw_V, V)
    moved = np.where(cavity.met, np.abs(moments.mean - d) / np.sqrt(np.where(cavity.met, v, 1.0)), 0.0)
    new_T, new_V = T + DAMPING * (raw_T - T), V + DAMPING * (raw_V - V)
    return Update(T=new_T, V=new_V, moved=moved, tilted=moments, cavity=cavity)
