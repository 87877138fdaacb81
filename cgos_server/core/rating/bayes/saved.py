"""The fold's state as bytes, and back, bit for bit.

Mean and covariance are not among the bytes: they follow from the sites of the last refit, and what came after it is
applied again. Must not know: what an entry means, where bytes are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from zlib import crc32

import msgspec
import numpy as np

from .belief import head
from .pool import Floats, Hyper, Pool, Prior, Sites
from .state import Base, Cells, Counts, Known, Mark, State, Step, belief_of, pool_of, unseen

_FORMAT: Final = "cgos-bayes-1"


class _Array(msgspec.Struct, array_like=True, frozen=True):
    kind: str
    shape: tuple[int, ...]
    data: bytes


class _Saved(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    format: str
    prior: tuple[Any, ...]
    seq: int
    ids: _Array
    waiting: _Array
    games: _Array
    known: Known
    pairs: _Array
    counts: _Array
    steps: list[Step]
    included: int
    colds: int
    mark: Mark | None
    s: float
    w: tuple[float, ...]
    advantage: float
    draw: float
    known_then: Known
    sites: tuple[_Array, ...] | None
    established: _Array | None


def dump(state: State, prior: Prior) -> bytes:
    """The state as MessagePack, after four bytes of checksum (CRC-32, big-endian)."""
    base, sites = state.base, state.base.sites
    counts = state.cells.copy()
    saved = _Saved(
        format=_FORMAT,
        prior=_constants(prior),
        seq=state.seq,
        ids=_packed(np.array(state.ids, dtype=np.int64)),
        waiting=_packed(np.array(list(state.waiting), dtype=np.int64)),
        games=_packed(np.array(state.games, dtype=np.int64)),
        known=state.known(),
        pairs=_packed(counts.pairs.astype(np.int32)),
        counts=_packed(counts.results),
        steps=[step for step in state.steps if step.seq > base.included],
        included=base.included,
        colds=base.colds,
        mark=base.mark,
        s=base.hyper.s,
        w=base.hyper.w,
        advantage=base.hyper.advantage,
        draw=base.hyper.draw,
        known_then=base.known,
        sites=None if sites is None else tuple(_packed(getattr(sites, name)) for name in _SITES),
        established=None if base.established is None else _packed(base.established),
    )
    data = _ENCODER.encode(saved)
    return crc32(data).to_bytes(4, "big") + data


_SITES: Final = ("one", "two", "T", "V", "PS", "PH")
_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(_Saved)

Rebuild = Callable[[Pool, Hyper, Sites], tuple[Floats, Floats]]


def load(data: bytes, prior: Prior, rebuild: Rebuild) -> State:
    """What :func:`dump` wrote. Raises ValueError for anything else, and for a state of a pool with another prior."""
    try:
        if crc32(data[4:]).to_bytes(4, "big") != data[:4]:
            raise ValueError("its checksum is wrong")
        saved = _DECODER.decode(data[4:])
        if saved.format != _FORMAT:
            raise ValueError(f"its format is {saved.format!r}, not {_FORMAT!r}")
        if saved.prior != _constants(prior):
            raise ValueError("it was saved under other options")
        return _restored(saved, prior, rebuild)
    except (msgspec.DecodeError, ValueError, TypeError, IndexError, KeyError, OverflowError) as error:
        raise ValueError(f"This is no saved state of the bayes rating: {error}.") from error


def _restored(saved: _Saved, prior: Prior, rebuild: Rebuild) -> State:
    state = unseen(prior)
    state.seq = saved.seq
    state.ids, state.games = _unpacked(saved.ids).tolist(), _unpacked(saved.games).tolist()
    state.index = {version: at for at, version in enumerate(state.ids)}
    state.waiting = dict.fromkeys(_unpacked(saved.waiting).tolist())
    known = saved.known
    if not len(state.index) == len(state.ids) == len(state.games) == known.n:
        raise ValueError("versions and games do not fit together")
    state.anchors = {at: (value, sd) for at, value, sd in known.anchors}
    state.own = {at: (value, sd) for at, value, sd in known.own}
    state.links = {(new, old): sd for new, old, sd in known.links}
    state.cells = Cells.of(Counts(_unpacked(saved.pairs).astype(np.int64), _unpacked(saved.counts)))
    state.steps, state.floor = saved.steps, saved.included
    hyper = Hyper(saved.s, saved.w, saved.advantage, saved.draw)
    established = None if saved.established is None else _unpacked(saved.established)
    if saved.sites is None:
        state.replace(state.base, state.belief)
        return state
    sites = Sites(*(_unpacked(array) for array in saved.sites))
    # The sites say what the games said; of the games themselves only who met whom matters here.
    met = Counts(np.stack((sites.one, sites.two), axis=1), np.ones((len(sites.one), 3), dtype=np.int64))
    x, C = rebuild(pool_of(saved.known_then, prior, met), hyper, sites)
    base = Base(
        included=saved.included,
        colds=saved.colds,
        mark=saved.mark,
        hyper=hyper,
        known=saved.known_then,
        sites=sites,
        x=x,
        established=established,
    )
    n = saved.known_then.n
    state.replace(base, belief_of(hyper, sites, x=head(x, n), C=head(C, n), prior=prior, established=established))
    if state.belief.n != known.n:
        raise ValueError("refit and versions do not fit together")
    return state


def _constants(prior: Prior) -> tuple[Any, ...]:
    return (
        prior.initial,
        prior.learned,
        prior.sd,
        prior.components,
        prior.center_sd,
        prior.mean_sd,
        prior.width,
        prior.width_log_sd,
        prior.advantage_sd,
    )


def _packed(array: Any) -> _Array:
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return _Array(array.dtype.str[1:], array.shape, little.tobytes())


def _unpacked(array: _Array) -> Any:
    if array.kind not in ("i4", "i8", "f8"):
        raise ValueError(f"arrays of {array.kind!r} are not in it")
    return np.frombuffer(array.data, dtype="<" + array.kind).reshape(array.shape).astype("=" + array.kind)
