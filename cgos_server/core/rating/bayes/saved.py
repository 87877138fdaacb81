"""The fold's state as bytes, and back, bit for bit.

Mean and covariance are not among the bytes: they follow from the sites of the last refit, and what came after it is
applied again. Must not know: what an entry means, where bytes are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from cgos_server.core.rating.plain_state import dumped, rebuilt
from cgos_server.core.rating.posterior_state import Kept

from .belief import Belief, head
from .pool import Floats, Hyper, Pool, Prior, Sites
from .state import Base, Cells, Counts, State, pool_of, unseen

_LAYOUT: Final = 3


class _Saved(NamedTuple):
    """:ivar base: the last refit without its means"""

    kept: Kept
    counts: Counts
    base: Base


Rebuild = Callable[[Pool, Hyper, Sites], tuple[Floats, Floats]]


def dump(state: State, prior: Prior) -> bytes:
    """The state as bytes, but for what a cold refit on its way would need. Raises ValueError where there are games that
    no ledger has."""
    if state.neutral.results:
        raise ValueError("games in which nobody had the first move are kept by no ledger")
    base = state.base
    saved = _Saved(state.kept(base.included), state.cells.copy(), replace(base, x=np.zeros(0)))
    return dumped(_system(prior), _LAYOUT, saved)


def load(data: bytes, prior: Prior, rebuild: Rebuild) -> State:
    """What :func:`dump` wrote. Raises ValueError for anything else, and for a state of a pool with another prior."""
    build = partial(_restored, prior=prior, rebuild=rebuild)
    return rebuilt(data, _system(prior), layout=_LAYOUT, form=_Saved, build=build)


def _restored(saved: _Saved, prior: Prior, rebuild: Rebuild) -> State:
    state = unseen(prior)
    base, belief, sites = saved.base, state.belief, saved.base.sites
    if sites is None:
        base = replace(base, x=state.base.x)
    else:
        # The sites say what the games said; of the games themselves only who met whom matters here.
        met = np.stack((sites.one, sites.two), axis=1)
        pool = pool_of(base.known, prior, Counts(met, np.ones((len(met), 3), dtype=np.int64)))
        x, C = rebuild(pool, base.hyper, sites)
        base = replace(base, x=x)
        x, C = head(x, pool.n), head(C, pool.n)
        belief = Belief(x=x, C=C, ends=base.ends, hyper=base.hyper, prior=prior, established=base.established)
    state.base, state.floor = base, base.included
    state.cells = Cells.of(saved.counts)
    state.restore(saved.kept, base.included, belief)
    return state


def _system(prior: Prior) -> str:
    return f"bayes with {prior}"
