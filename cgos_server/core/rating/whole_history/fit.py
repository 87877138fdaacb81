"""The refit of whole-history rating: the most probable course of every strength, and how sure all of it is.

After Coulom (2008), "Whole-History Rating": Bradley-Terry over (version, span of time), strengths drifting as Wiener
processes, the joint log posterior maximized by Newton's method. Unlike there all versions move at once, so that the
covariance is the joint one, and draws are Davidson's (1970). Must not know: the ledger, version ids, when a refit is
due.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from cgos_protocol.errors import OurFault
from cgos_server.core.rating.bayes.likelihood import LogLikelihood, log_likelihood, normalizer
from cgos_server.core.rating.bayes.pool import Q_ELO, Floats, Ints
from cgos_server.core.rating.curvature import Curvature, Ties, covariance, prior_precision, today, untied, with_results
from cgos_server.core.rating.posterior_state import Link
from cgos_server.core.rating.timeline import Snapshot, first_and_last

MOST_ITERATIONS: Final = 60
TOLERANCE: Final = 1e-6
"""Elo, and the logarithm of the draw parameter: a Newton step below this is the last."""

_FARTHEST: Final = 300.0
"""Elo that any strength may move in one step."""
_HALVINGS: Final = 12
_LOG_DRAW_SD: Final = 1.0
_PLACES: Final = 1 << 40
"""More than there are spans of any version: (version, span) as one number."""


class Model(NamedTuple):
    """The constants, Elo.

    :ivar initial: mean of the prior of a version's first span
    :ivar prior_sd: its standard deviation
    :ivar drift: standard deviation of a strength's change in a day
    :ivar advantage_sd: of what the first move is worth, about 0; with 0 it is worth nothing
    """

    initial: float
    prior_sd: float
    drift: float
    advantage_sd: float


class Job(NamedTuple):
    """All that a refit is told. n versions are dense indices.

    :ivar included: the entry up to which results are counted
    :ivar anchors: version -> (value, sd): one strength, for all time
    :ivar own: version -> (value, sd): outside knowledge of its first span, besides the prior
    :ivar links: each with an sd: of the strength of `new` in its first span minus that of `old` at that time
    :ivar established: versions whose mean is held at `initial` where there are no anchors
    :ivar begin: where the search begins; each span's mean by (version, span), else by version
    :ivar iterations: how many to take, of a recorded refit; None: until nothing moves
    """

    included: int
    cold: bool
    model: Model
    results: Snapshot
    anchors: dict[int, tuple[float, float]]
    own: dict[int, tuple[float, float]]
    links: tuple[Link, ...]
    established: tuple[int, ...]
    begin: tuple[dict[tuple[int, int], float], tuple[float, ...]]
    advantage: float
    draw: float
    iterations: int | None


class Span(NamedTuple):
    """A version's strength over one span of time.

    :ivar version: dense index
    :ivar span: number of the span on the version's grid; 0 for an anchor
    :ivar mean: Elo, not centered
    """

    version: int
    span: int
    mean: float


class HistoryFit(NamedTuple):
    """What a refit found.

    :ivar x: (n,) every version's strength in its last span, Elo, not centered
    :ivar C: (n, n) their covariance
    :ivar curvature: what :func:`~cgos_server.core.rating.curvature.covariance` makes it of
    :ivar spans: all spans, by version and time
    """

    included: int
    cold: bool
    notes: str
    x: Floats
    C: Floats
    curvature: Curvature
    spans: tuple[Span, ...] = ()
    established: tuple[int, ...] = ()
    advantage: float = 0.0
    draw: float = 0.0


class _Nodes(NamedTuple):
    """The unknowns: one for each version and span, N in all."""

    version: Ints
    span: Ints
    days: Floats
    first: Ints
    last: Ints


class _Cells(NamedTuple):
    """Results between two unknowns, in the view of the side with the first move."""

    a: Ints
    b: Ints
    wins: Floats
    draws: Floats
    losses: Floats


class _Normal(NamedTuple):
    """The normal part of the log posterior: -x'Px/2 + h'x, x relative to `initial`; P also by what it is made of."""

    alone: Floats
    tied: Ties
    advantage: float
    precision: Floats
    shift: Floats


def nothing(included: int = 0, cold: bool = True, notes: str = "") -> HistoryFit:
    """The fit of no versions."""
    curvature = Curvature(
        alone=np.zeros(0), tied=untied(), met=untied(), advantage=0.0, last=np.zeros(0, dtype=np.int64)
    )
    return HistoryFit(included, cold, notes, x=np.zeros(0), C=np.zeros((0, 0)), curvature=curvature)


def refitted(job: Job) -> HistoryFit:
    """The maximum of the joint log posterior and the covariance there. Pure; numpy on one thread is repeatable."""
    model = job.model
    nodes = _nodes(job)
    if not nodes.version.size:
        return nothing(job.included, job.cold, _notes(0, 0.0, 0.0))
    cells = _cells(job, nodes)
    normal = _normal(job, nodes)
    x, draw, iterations = _search(job, nodes, cells, normal)
    size = len(nodes.version)
    advantage = float(x[size]) if model.advantage_sd else 0.0
    _, met = _slopes(x, draw, cells, normal)
    curvature = Curvature(alone=normal.alone, tied=normal.tied, met=met, advantage=normal.advantage, last=nodes.last)
    C = covariance(curvature)
    mean = x[:size] + model.initial
    columns = (column.tolist() for column in (nodes.version, nodes.span, mean))
    return HistoryFit(
        included=job.included,
        cold=job.cold,
        notes=_notes(iterations, advantage, draw),
        x=mean[nodes.last],
        C=today(curvature, C),
        curvature=curvature,
        spans=tuple(map(Span, *columns)),
        established=job.established,
        advantage=advantage,
        draw=draw,
    )


def iterations_in(notes: str) -> int:
    """How many Newton steps the refit took of which these are the notes; raises OurFault where they are others'."""
    try:
        return int(json.loads(notes)["iterations"])
    except (KeyError, TypeError, ValueError) as error:
        raise OurFault(f"The notes of a refit cannot be read: {notes[:200]!r}.") from error


def _notes(iterations: int, advantage: float, draw: float) -> str:
    what = {"advantage": advantage, "draw": draw, "iterations": iterations}
    return json.dumps(what, sort_keys=True, separators=(",", ":"))


def _nodes(job: Job) -> _Nodes:
    widths = job.results.widths
    spans = [(0,) if version in job.anchors else each for version, each in enumerate(job.results.spans)]
    if not spans:
        nothing = np.zeros(0, dtype=np.int64)
        return _Nodes(version=nothing, span=nothing, days=np.zeros(0), first=nothing, last=nothing)
    first, last = first_and_last(spans)
    version = np.repeat(np.arange(len(spans)), [len(each) for each in spans])
    span = np.array([span for each in spans for span in each], dtype=np.int64)
    days = np.asarray((span + 0.5) * widths[version], dtype=np.float64)
    return _Nodes(version=version, span=span, days=days, first=first, last=last)


def _cells(job: Job, nodes: _Nodes) -> _Cells:
    """The counts as indices of unknowns, in one order whatever their past."""
    results = job.results
    some = results.counts.any(axis=1)
    cells, counts = results.cells[some], results.counts[some]
    anchored = np.zeros(len(results.spans), dtype=np.bool_)
    anchored[list(job.anchors)] = True
    keys = nodes.version * _PLACES + nodes.span

    def places(version: Ints, span: Ints) -> Ints:
        places: Ints = np.searchsorted(keys, version * _PLACES + np.where(anchored[version], 0, span))
        return places

    a, b = places(cells[:, 0], cells[:, 1]), places(cells[:, 2], cells[:, 3])
    order = np.lexsort((cells[:, 3], cells[:, 1], b, a))
    wins, draws, losses = (np.ascontiguousarray(counts[order, result]) for result in range(3))
    return _Cells(a=a[order], b=b[order], wins=wins, draws=draws, losses=losses)


def _normal(job: Job, nodes: _Nodes) -> _Normal:
    """Priors, drift and lineage."""
    model = job.model
    size = len(nodes.version)
    alone, shift = np.zeros(size), np.zeros(size)

    def known(node: int, value: float, sd: float) -> None:
        alone[node] += 1.0 / sd**2
        shift[node] += (value - model.initial) / sd**2

    successors = {link.new for link in job.links}
    for version, node in enumerate(nodes.first.tolist()):
        if version in job.anchors:
            known(node, *job.anchors[version])
        else:
            if version not in successors:
                known(node, model.initial, model.prior_sd)
            if version in job.own:
                known(node, *job.own[version])
    later = np.flatnonzero(nodes.version[1:] == nodes.version[:-1]) + 1
    drifted = model.drift**2 * (nodes.days[later] - nodes.days[later - 1])
    related = [(int(nodes.first[new]), _then(nodes, new, old), (sd or 0.0) ** 2) for new, old, sd, _ in job.links]
    heir, elder, apart = zip(*related, strict=True) if related else ((), (), ())
    tied = Ties(
        np.append(later - 1, np.array(heir, dtype=np.int64)),
        np.append(later, np.array(elder, dtype=np.int64)),
        1.0 / np.append(drifted, np.array(apart, dtype=np.float64)),
    )
    advantage = model.advantage_sd**-2.0 if model.advantage_sd else 0.0
    precision = prior_precision(alone, tied, advantage)
    return _Normal(
        alone=alone,
        tied=tied,
        advantage=advantage,
        precision=precision,
        shift=np.append(shift, 0.0) if advantage else shift,
    )


def _then(nodes: _Nodes, new: int, old: int) -> int:
    """The span of a predecessor in which, or after which, its successor began."""
    begun = nodes.days[nodes.first[new]]
    back = range(int(nodes.last[old]), int(nodes.first[old]), -1)
    return next((each for each in back if nodes.days[each] <= begun), int(nodes.first[old]))


def _search(job: Job, nodes: _Nodes, cells: _Cells, normal: _Normal) -> tuple[Floats, float, int]:
    """The maximum, the draw parameter, and the number of steps."""
    size = len(nodes.version)
    by_span, by_version = job.begin
    pairs = zip(nodes.version.tolist(), nodes.span.tolist(), strict=True)
    x = np.zeros(len(normal.shift))
    x[:size] = [by_span.get(pair, by_version[pair[0]]) - job.model.initial for pair in pairs]
    if job.model.advantage_sd:
        x[size] = job.advantage
    games, drawn = float((cells.wins + cells.draws + cells.losses).sum()), float(cells.draws.sum())
    draw = 0.0
    if drawn:
        draw = job.draw or 2.0 * drawn / (games - drawn + 1.0)
    most = MOST_ITERATIONS if job.iterations is None else job.iterations
    done = 0
    while done < most:
        slope, met = _slopes(x, draw, cells, normal)
        precision = with_results(normal.precision, size, met)
        step = np.asarray(np.linalg.solve(precision, slope), dtype=np.float64)
        largest = float(np.abs(step).max())
        step *= min(1.0, _FARTHEST / max(largest, 1e-300))
        x = _uphill(x, step, partial(_value, draw=draw, cells=cells, normal=normal))
        moved = 0.0
        if drawn:
            draw, moved = _draw_step(x, draw, cells, normal)
        done += 1
        if job.iterations is None and max(largest, abs(moved)) < TOLERANCE:
            break
    return x, draw, done


def _uphill(x: Floats, step: Floats, value: Callable[[Floats], float]) -> Floats:
    """A step along `step`, halved until it does not lead downhill by more than rounding."""
    before = value(x)
    allowed = 1e-9 * (1.0 + abs(before))
    for _ in range(_HALVINGS):
        if value(x + step) >= before - allowed:
            break
        step = step / 2
    return x + step


def _differences(x: Floats, cells: _Cells, normal: _Normal) -> tuple[Floats, float]:
    """(cells,) of strengths, and what the first move is worth."""
    size = len(normal.alone)
    return x[cells.a] - x[cells.b], float(x[size]) if len(x) > size else 0.0


def _likelihood(x: Floats, draw: float, cells: _Cells, normal: _Normal) -> LogLikelihood:
    d, advantage = _differences(x, cells, normal)
    return log_likelihood(d, cells.wins, draws=cells.draws, losses=cells.losses, advantage=advantage, draw=draw)


def _value(x: Floats, draw: float, cells: _Cells, normal: _Normal) -> float:
    """The log posterior up to a constant."""
    likelihood = _likelihood(x, draw, cells, normal).value.sum()
    return float(likelihood + normal.shift @ x - 0.5 * x @ (normal.precision @ x))


def _slopes(x: Floats, draw: float, cells: _Cells, normal: _Normal) -> tuple[Floats, Ties]:
    """Gradient of the log posterior, and what the results add to minus its Hessian."""
    full, size = len(x), len(normal.alone)
    _, slope, bend = _likelihood(x, draw, cells, normal)
    gradient = normal.shift - normal.precision @ x
    gradient += np.bincount(cells.a, slope, full) - np.bincount(cells.b, slope, full)
    if full > size:
        gradient[size] += slope.sum()
    return gradient, Ties(cells.a, cells.b, -bend)


def _draw_step(x: Floats, draw: float, cells: _Cells, normal: _Normal) -> tuple[float, float]:
    """One Newton step for the logarithm of the draw parameter, which has a normal prior about 0, and its length."""
    d, advantage = _differences(x, cells, normal)
    games = cells.wins + cells.draws + cells.losses
    drawn = normalizer(Q_ELO * (d + advantage), draw).drawn
    log_draw = math.log(draw)
    slope = float(cells.draws.sum() - games @ drawn) - log_draw / _LOG_DRAW_SD**2
    weight = float(games @ (drawn * (1.0 - drawn))) + 1.0 / _LOG_DRAW_SD**2
    step = min(max(slope / weight, -1.0), 1.0)
    return math.exp(log_draw + step), step
