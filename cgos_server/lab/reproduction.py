"""A published table of simulations, simulated again and held against what was printed.

Must not know: how a tournament is simulated, command lines.

The table is table 4 of P. Sauer, A. Cseh & P. Lenzner, "Improving ranking quality and fairness in Swiss-system chess
tournaments" (EC 2022; J. Quant. Anal. Sports 20, 2024): the mean of Kendall's tau, from -1 to 1, between the final
ranking and the true one. Their rating noise is lost, and part of their weights; what stands for it here is said in
:func:`cgos_server.tournaments.simulation.milvang.rating_sd` and :class:`cgos_server.tournaments.systems.mwm.Mwm`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from cgos_server.lab.tournaments import Figure, Runs
from cgos_server.tournaments.simulation.one_event import Plan

PLAYERS: Final = 32
ROUNDS: Final = 7
BETA: Final = 2
TOURNAMENTS: Final = 2000

ALLOWED: Final = 3.0
"""Standard errors between a mean and the range of :data:`TOLERANCE` about the published one."""

TOLERANCE: Final = 0.003
"""How far from the true mean a published one may be. It is itself one draw: a mean of simulated tournaments, with an
error of its own that the source does not give, of 0.0013 or so where there were as many tournaments as
:data:`TOURNAMENTS`, rounded to 0.001; and weights and noise that are lost in the source stand here as reconstructed.
Held against the bare figure, one series in ten failed: Random2 at 1400-2200 is 0.001 to 0.002 above it in 16
independent series of ours."""

RANGES: Final = ((1000, 1800), (1400, 2200), (1800, 2600))
"""Of true strengths, in Elo."""

PUBLISHED: Final[Mapping[str, tuple[float, float, float]]] = MappingProxyType(
    {"burstein": (0.624, 0.671, 0.721), "random2": (0.607, 0.654, 0.706), "dutch": (0.588, 0.634, 0.686)}
)
"""By system, the best first: means in these ranges, to three decimals."""

UNPUBLISHED: Final = ("random", "monrad")
"""Of which the source gives no numbers."""


class Cell(Struct, frozen=True, kw_only=True):
    """One mean.

    :ivar tournaments: how many it is the mean of
    :ivar kendall: None: there are none
    :ivar error: standard error of the mean
    :ivar published: None: the source has no number
    :ivar deviation: from the published mean, in standard errors
    """

    low: int
    high: int
    system: str
    tournaments: int
    kendall: float | None
    error: float | None
    published: float | None
    deviation: float | None


class Reproduction(Struct, frozen=True, kw_only=True):
    """:ivar within: every mean is within :data:`ALLOWED` standard errors of :data:`TOLERANCE` about the published one
    :ivar ordered: in every range the systems with published means come in the published order
    """

    cells: tuple[Cell, ...]
    within: bool
    ordered: bool
    interrupted: bool = False


def plans() -> list[Plan]:
    """All cells, range by range."""
    return [
        Plan(system=system, players=PLAYERS, rounds=ROUNDS, low=float(low), high=float(high), options={"beta": BETA})
        for low, high in RANGES
        for system in (*PUBLISHED, *UNPUBLISHED)
    ]


def compared(runs: Runs) -> Reproduction:
    """What came of :func:`plans` beside what was published."""
    cells = tuple(
        _cell(series.plan, series.tournaments, next(each for each in series.measures if each.measure == "kendall"))
        for series in runs.series
    )
    within = all(_within(cell) for cell in cells if cell.published is not None)
    ordered = all(_ordered(cells, low) for low, _ in RANGES)
    return Reproduction(cells=cells, within=within, ordered=ordered, interrupted=runs.interrupted)


def _cell(plan: Plan, tournaments: int, figure: Figure) -> Cell:
    at = RANGES.index((int(plan.low), int(plan.high)))
    published = PUBLISHED[plan.system][at] if plan.system in PUBLISHED else None
    deviation = None
    if published is not None and figure.mean is not None and figure.error:
        deviation = (figure.mean - published) / figure.error
    low, high = RANGES[at]
    return Cell(
        low=low,
        high=high,
        system=plan.system,
        tournaments=tournaments,
        kendall=figure.mean,
        error=figure.error,
        published=published,
        deviation=deviation,
    )


def _within(cell: Cell) -> bool:
    if cell.kendall is None or cell.published is None or cell.error is None:
        return False
    return abs(cell.kendall - cell.published) <= TOLERANCE + ALLOWED * cell.error


def _ordered(cells: Sequence[Cell], low: int) -> bool:
    means = {cell.system: cell.kendall for cell in cells if cell.low == low}
    in_order = [means[system] for system in PUBLISHED]
    return all(one is not None and other is not None and one > other for one, other in itertools.pairwise(in_order))
