"""The state of whole-history rating as bytes, and back, bit for bit.

The covariance is not among the bytes: it follows from what the last refit recorded of its maximum, and what came after
it is applied again. Must not know: what an entry means, where bytes are kept.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from zlib import crc32

import numpy as np

from cgos_protocol.ids import VersionId
from cgos_server.core.rating.bayes.state import Step
from cgos_server.core.rating.curvature import Curvature, Ties, covariance, today
from cgos_server.core.rating.plain_arrays import Packed, floats, packed, whole
from cgos_server.core.rating.plain_state import dumped, loaded
from cgos_server.core.rating.timeline import Dumped, Timeline
from cgos_server.core.rating.whole_history.fit import HistoryFit, Model, Span
from cgos_server.core.rating.whole_history.state import State, belief_of

_LAYOUT: Final = 2


class _Ties(NamedTuple):
    one: Packed
    other: Packed
    weight: Packed


class _Curvature(NamedTuple):
    alone: Packed
    tied: _Ties
    met: _Ties
    advantage: float
    last: Packed


class _Fit(NamedTuple):
    included: int
    cold: bool
    notes: str
    curvature: _Curvature
    spans: list[Span]
    anchored: list[int]
    established: list[int]
    advantage: float
    draw: float


class _Saved(NamedTuple):
    timeline: Dumped
    fit: _Fit
    ids: list[VersionId]
    waiting: list[VersionId]
    games: list[int]
    anchors: list[tuple[int, float, float]]
    own: list[tuple[int, float, float]]
    links: list[tuple[int, int, float]]
    steps: list[Step]
    seq: int


def dump(state: State, system: str) -> bytes:
    """The state as MessagePack, after four bytes of checksum (CRC-32, big-endian).

    :param system: what the system calls itself with its options
    """
    saved = _Saved(
        timeline=state.timeline.dumped(),
        fit=_plain(state.fit),
        ids=state.ids,
        waiting=list(state.waiting),
        games=state.games,
        anchors=[(at, *known) for at, known in sorted(state.anchors.items())],
        own=[(at, *known) for at, known in sorted(state.own.items())],
        links=[(*pair, sd) for pair, sd in sorted(state.links.items())],
        steps=state.steps,
        seq=state.seq,
    )
    data = dumped(system, _LAYOUT, saved)
    return crc32(data).to_bytes(4, "big") + data


def load(data: bytes, system: str, model: Model) -> State:
    """What :func:`dump` wrote; costs one inverse of all that the last refit determined. Raises ValueError for anything
    else, and for a state of other options."""
    if crc32(data[4:]).to_bytes(4, "big") != data[:4]:
        raise ValueError(f"That is no state of {system}: its checksum is wrong.")
    saved = loaded(data[4:], system, _LAYOUT, _Saved)
    try:
        return _restored(saved, model)
    except (ValueError, IndexError, KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"That is no state of {system}: {error}.") from error


def _restored(saved: _Saved, model: Model) -> State:
    fit = _fit(saved.fit)
    state = State(fit, belief_of(fit, model), Timeline.restored(model.drift > 0, saved.timeline))
    state.index = {version: at for at, version in enumerate(saved.ids)}
    state.waiting = dict.fromkeys(saved.waiting)
    state.ids, state.games, state.seq = saved.ids, saved.games, saved.seq
    state.anchors = {at: (value, sd) for at, value, sd in saved.anchors}
    state.own = {at: (value, sd) for at, value, sd in saved.own}
    state.links = {(new, old): sd for new, old, sd in saved.links}
    state.steps = saved.steps
    state.replace(fit, state.belief)
    sizes = {state.belief.n, len(state.ids), len(state.index), len(state.games), state.timeline.versions}
    if len(sizes) > 1 or state.index.keys() & state.waiting.keys():
        raise ValueError("its parts do not fit together")
    return state


def _plain(fit: HistoryFit) -> _Fit:
    alone, tied, met, advantage, last = fit.curvature
    curvature = _Curvature(
        alone=packed(alone),
        tied=_Ties(*map(packed, tied)),
        met=_Ties(*map(packed, met)),
        advantage=advantage,
        last=packed(last),
    )
    return _Fit(
        included=fit.included,
        cold=fit.cold,
        notes=fit.notes,
        curvature=curvature,
        spans=list(fit.spans),
        anchored=sorted(fit.anchored),
        established=list(fit.established),
        advantage=fit.advantage,
        draw=fit.draw,
    )


def _fit(saved: _Fit) -> HistoryFit:
    given = saved.curvature
    curvature = Curvature(
        alone=floats(given.alone),
        tied=_ties(given.tied),
        met=_ties(given.met),
        advantage=given.advantage,
        last=whole(given.last),
    )
    means = np.array([span.mean for span in saved.spans], dtype=np.float64)
    if len(means) != len(curvature.alone):
        raise ValueError("spans and precisions do not fit together")
    x = means[curvature.last]
    C = today(curvature, covariance(curvature))
    return HistoryFit(
        included=saved.included,
        cold=saved.cold,
        notes=saved.notes,
        x=x,
        C=C,
        curvature=curvature,
        spans=tuple(saved.spans),
        anchored=frozenset(saved.anchored),
        established=tuple(saved.established),
        advantage=saved.advantage,
        draw=saved.draw,
    )


def _ties(saved: _Ties) -> Ties:
    return Ties(whole(saved.one), whole(saved.other), floats(saved.weight))
