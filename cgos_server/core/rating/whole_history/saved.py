"""The state of whole-history rating as bytes, and back, bit for bit.

The covariance is not among the bytes: it follows from what the last refit recorded of its maximum, and what came after
it is applied again. Must not know: what an entry means, where bytes are kept.
"""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

import numpy as np

from cgos_server.core.rating.curvature import covariance, today
from cgos_server.core.rating.plain_state import dumped, rebuilt
from cgos_server.core.rating.posterior_state import Kept
from cgos_server.core.rating.timeline import Dumped, Timeline
from cgos_server.core.rating.whole_history.fit import HistoryFit, Model
from cgos_server.core.rating.whole_history.state import State, belief_of

_LAYOUT: Final = 4


class _Saved(NamedTuple):
    """:ivar fit: the last refit without means and covariance of today"""

    kept: Kept
    timeline: Dumped
    fit: HistoryFit


def dump(state: State, system: str) -> bytes:
    """The state as bytes.

    :param system: what the system calls itself with its options
    """
    fit = state.fit._replace(x=np.zeros(0), C=np.zeros(0))
    return dumped(system, _LAYOUT, _Saved(state.kept(fit.included), state.timeline.dumped(), fit))


def load(data: bytes, system: str, model: Model) -> State:
    """What :func:`dump` wrote; costs one inverse of all that the last refit determined. Raises ValueError for anything
    else, and for a state of other options."""
    return rebuilt(data, system, layout=_LAYOUT, form=_Saved, build=partial(_restored, model=model))


def _restored(saved: _Saved, model: Model) -> State:
    curvature = saved.fit.curvature
    means = np.array([span.mean for span in saved.fit.spans], dtype=np.float64)
    if len(means) != len(curvature.alone):
        raise ValueError("spans and precisions do not fit together")
    fit = saved.fit._replace(x=means[curvature.last], C=today(curvature, covariance(curvature)))
    timeline = Timeline.restored(model.drift > 0, saved.timeline)
    state = State(fit=fit, belief=belief_of(fit, model), timeline=timeline)
    state.restore(saved.kept, fit.included, state.belief)
    if timeline.versions != len(state.ids):
        raise ValueError("its versions and their time do not fit together")
    return state
