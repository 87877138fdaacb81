"""What a refit is given and what it gives back, as plain arrays: the line between the fold and the heavy work.

Versions are dense indices 0..n-1 here. Everything is in Elo; precisions in 1/Elo^2. Must not know: the ledger, version
ids, when a refit is due, how it is computed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cgos_server.core.rating.base import Z95

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Q_ELO: Final = 0.005756462732485115
"""ln 10 / 400: logits a point of Elo."""

STEP: Final = 80.0
"""Elo: tau, the sd of a successor's step about the mean step, before links say so: its median."""
MEAN_STEP_SD: Final = 100.0
"""Elo: of the mean step mu, about 0."""
FRESH: Final = 0.1
"""f, the share of links whose successor is in truth a fresh bot, before links say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """The prior's constants; the defaults are the ones of the learned prior, the same in every pool.

    :ivar initial: where the pool is expected, Elo
    :ivar learned: False: one normal of standard deviation `sd` about `initial`, no learning
    :ivar components: number of normals in the mixture
    :ivar center_sd: S, of a center about their common mean
    :ivar mean_sd: tau, of that mean about `initial`
    :ivar width: the median of the common width s, whose logarithm has standard deviation `width_log_sd`; above the
        median `early_log_sd` while there are few games
    :ivar tail: v_T, the share of strengths whose component is `TAIL_SD` wider, so that nobody is too far away
    :ivar equals: True where a fifth start may find that most strengths are the same as others
    :ivar gathered: True where equals that were found are then looked for about a single center, too: a sixth start
    :ivar advantage_sd: of what the first move is worth, about 0; with 0 it is worth nothing and not learned
    :ivar color_sd: between versions, of a version's strength with the first move minus its strength without, beyond
        what the first move is worth to all
    """

    initial: float
    learned: bool = True
    sd: float = 500.0
    components: int = 3
    center_sd: float = 500.0
    mean_sd: float = 300.0
    width: float = 350.0
    width_log_sd: float = 0.4
    early_log_sd: float = 0.25
    tail: float = 0.005
    equals: bool = True
    gathered: bool = True
    advantage_sd: float = 50.0
    color_sd: float = 0.0

    @property
    def color_variance(self) -> float:
        """Elo^2: of what two versions' preferences for a color, half of either, add to a difference in one game."""
        return 0.5 * self.color_sd**2


class Links(NamedTuple):
    """Successors and their predecessors, in ascending order of the successors, each of which has one link.

    :ivar new: (k,) the successors
    :ivar old: (k,) their predecessors
    :ivar sd: (k,) of the step, Elo, where it is stated; else nan
    :ivar surely: (k,) 1 where the successor is certainly none of the fresh ones, else 0
    """

    new: Ints
    old: Ints
    sd: Floats
    surely: Ints

    def part(self, which: Ints) -> Links:
        return Links(self.new[which], self.old[which], sd=self.sd[which], surely=self.surely[which])


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """All that the results say, and all that is known besides. Shapes: n versions, p ordered pairs that met.

    :ivar anchors: (index, value, sd) arrays of equal length: versions of known strength; without a predecessor they
        have no prior factor
    :ivar own: (index, value, sd): outside knowledge besides the prior factor, such as an imported rating
    :ivar first: (p,) index of the side with the first move
    :ivar second: (p,) index of the other side; an ordered pair occurs once
    :ivar wins: (p,) games that `first` won
    :ivar draws: (p,) drawn games
    :ivar losses: (p,) games that `first` lost
    :ivar neutral: (p,) True where nobody had the first move: then `first` is just one of the two, and the ordered pair
        may occur besides; None: nowhere
    """

    n: int
    prior: Prior
    anchors: tuple[Ints, Floats, Floats]
    own: tuple[Ints, Floats, Floats]
    links: Links
    first: Ints
    second: Ints
    wins: Floats
    draws: Floats
    losses: Floats
    neutral: NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hyper:
    """What a cold refit learns and warm ones hold.

    :ivar s: the components' common width, Elo
    :ivar w: (Q,) their weights, sum 1
    :ivar advantage: h, what the first move is worth, Elo
    :ivar draw: Davidson's parameter nu: P(draw) = nu * sqrt(p q) in proportion; 0 while no game was drawn
    :ivar step: tau, the sd of a successor's step about the mean step, Elo
    :ivar fresh: f, the share of links whose successor is in truth a fresh bot
    :ivar tail: v_T, the share of the wide components
    :ivar equals: v_K, the share of the narrow ones; 0 where there are none
    """

    s: float
    w: tuple[float, ...]
    advantage: float = 0.0
    draw: float = 0.0
    step: float = STEP
    fresh: float = FRESH
    tail: float = 0.0
    equals: float = 0.0

    @property
    def single(self) -> bool:
        """True for one normal alone, with which every refit begins."""
        return len(self.w) == 1 and self.equals == 0.0


@dataclass(frozen=True, slots=True)
class Sites:
    """Where expectation propagation stands: all that is needed to go on from, since mean and covariance follow.

    :ivar one: (k,) lower index of each unordered pair that met, pairs in ascending order (one, two)
    :ivar two: (k,) higher index
    :ivar T: (k,) precision of the pair's site on r_one - r_two
    :ivar V: (k,) its shift (precision times mean)
    :ivar PS: (n, Q+1, Q+1) precision of each root's prior site on (r_i, m_1..m_Q); zero for anchors and successors;
        with a fixed prior (n, 0, 0)
    :ivar PH: (n, Q+1) its shift, all strengths relative to the prior's `initial`
    :ivar linked: (k, 2) successors and their predecessors
    :ivar LS: (k, Q+3, Q+3) precision of each successor's prior site on (r_i, m_1..m_Q, r_predecessor, mu)
    :ivar LH: (k, Q+3) its shift
    """

    one: Ints
    two: Ints
    T: Floats
    V: Floats
    PS: Floats
    PH: Floats
    linked: Ints
    LS: Floats
    LH: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """What a refit knows of each version's interval besides mean and covariance.

    :ivar own: (n,) precision of the prior's site on the version itself, 1/Elo^2; 0 for anchors
    :ivar fresh: (n,) how probable it is that a version is a root: 1 for those without a predecessor
    :ivar below: (n,) from the mean down to the interval's lower end, in shown standard deviations
    :ivar above: (n,) from the mean up to its upper end
    :ivar kappa: how much of the prior's share phi widens a shown variance: 1 + kappa phi times
    """

    own: Floats
    fresh: Floats
    below: Floats
    above: Floats
    kappa: float


def even_ends(n: int) -> Ends:
    """Of n versions whose prior has no share in their variance."""
    return Ends(own=np.zeros(n), fresh=np.ones(n), below=np.full(n, Z95), above=np.full(n, Z95), kappa=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """A converged (or stopped) refit.

    :ivar x: (n + Q + 2,) means: versions, centers m_1..m_Q, their mean M, the mean step mu; with a fixed prior (n,)
    :ivar C: joint covariance of x, C-contiguous
    :ivar iterations: of each stage, as recorded: followed again, they give the same numbers on another build (cold: the
        search for the mode, one component, each start that was tried, the last stage; warm: rounds on the sites that
        move after each search for them, 0 for one round of all)
    :ivar details: not recorded; cold: `one_component` (its s, its means), `log_evidence` of the starts
    :ivar start: which of the starts was chosen (cold), 0 for the first; None for warm
    """

    hyper: Hyper
    sites: Sites
    x: Floats
    C: Floats
    ends: Ends
    iterations: tuple[int, ...]
    start: int | None = None
    details: dict[str, Any] = field(default_factory=dict)
