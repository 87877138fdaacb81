"""Why a round was paired as it was: its inputs as JSON, and the round computed again from them.

What is known of the ratings together is recorded as single floats. So that a decision can be computed again it must be
made from what the record holds: :func:`rounded` comes before pairing. Must not know: where rounds are stored, how
randomness is made (the caller brings it).
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec
import numpy as np

from cgos_protocol.errors import OurFault
from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import Candidate, Floats, Knowledge, Matchmaker, Meeting, Pairing, PairingPass
from cgos_server.core.pairing.listed import SECOND_GAMES, AsListed
from cgos_server.core.pairing.registry import decide, matchmaker
from cgos_server.core.venue import Policy

_SINGLE = np.dtype("<f4")


class _Triangles(msgspec.Struct, omit_defaults=True):
    """Knowledge: the lower triangles, row by row, as single floats, zlib, base64."""

    covariance: str
    gram: str


class _Inputs(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A pairing pass as it is recorded."""

    candidates: list[Candidate]
    meetings: list[Meeting] = []
    knowledge: _Triangles | None = None
    policy: Policy = Policy.BARRIER
    connected: int = 0
    flow: float = 0.0
    plugin: str = ""


class _Origin(msgspec.Struct):
    """Of the record of a pairing pass, who decided it."""

    plugin: str = ""


def encode_inputs(pairing_pass: PairingPass, plugin: str = "") -> str:
    """`pairing_pass` as a JSON object; a candidate and a meeting are arrays in the order of their fields. Everything
    keeps every bit but Knowledge.

    :param plugin: distribution and version of the plug-in whose method decides it
    """
    knowledge = None
    if pairing_pass.knowledge is not None:
        knowledge = _Triangles(_packed(pairing_pass.knowledge.covariance), _packed(pairing_pass.knowledge.gram))
    inputs = _Inputs(
        candidates=list(pairing_pass.candidates),
        meetings=list(pairing_pass.meetings),
        knowledge=knowledge,
        policy=pairing_pass.policy,
        connected=pairing_pass.connected,
        flow=pairing_pass.flow,
        plugin=plugin,
    )
    return msgspec.json.encode(inputs).decode()


def recorded_plugin(text: str) -> str:
    """Distribution and version of the plug-in whose method decided recorded inputs; empty for a method of our own."""
    return msgspec.json.decode(text, type=_Origin).plugin


def decode_inputs(text: str) -> PairingPass:
    """The inverse of :func:`encode_inputs`. Raises OurFault where `text` is something else."""
    try:
        inputs = msgspec.json.decode(text, type=_Inputs)
        knowledge = None
        if (triangles := inputs.knowledge) is not None:
            n = len(inputs.candidates)
            knowledge = Knowledge(_unpacked(triangles.covariance, n), _unpacked(triangles.gram, n))
    except (msgspec.DecodeError, ValueError, zlib.error) as error:
        raise OurFault(f"The recorded inputs of a round cannot be read: {error}") from error
    return PairingPass(
        candidates=inputs.candidates,
        meetings=inputs.meetings,
        knowledge=knowledge,
        policy=inputs.policy,
        connected=inputs.connected,
        flow=inputs.flow,
    )


def rounded(pairing_pass: PairingPass) -> PairingPass:
    """`pairing_pass` as it will be read from its record: decide about this one."""
    if pairing_pass.knowledge is None:
        return pairing_pass
    return replace(
        pairing_pass,
        knowledge=Knowledge(_single(pairing_pass.knowledge.covariance), _single(pairing_pass.knowledge.gram)),
    )


def _single(matrix: Floats) -> Floats:
    """(n, n) `matrix` with its lower triangle rounded to single floats, and symmetric."""
    lower = np.tril(matrix.astype(_SINGLE).astype(np.float64))
    symmetric: Floats = lower + np.tril(lower, -1).T
    return symmetric


def _packed(matrix: Floats) -> str:
    triangle = matrix[np.tril_indices(len(matrix))].astype(_SINGLE)
    return base64.b64encode(zlib.compress(triangle.tobytes())).decode()


def _unpacked(text: str, n: int) -> Floats:
    triangle = np.frombuffer(zlib.decompress(base64.b64decode(text, validate=True)), _SINGLE)
    if len(triangle) != n * (n + 1) // 2:
        raise ValueError(f"a matrix has {len(triangle)} numbers, not those of {n} candidates")
    matrix = np.zeros((n, n))
    matrix[np.tril_indices(n)] = triangle
    return _single(matrix)


def recorded_method(method: str, options: Mapping[str, Any]) -> Matchmaker:
    """The matchmaker that a round was recorded with.

    Raises Refused where this program has no such method or option.
    """
    return AsListed() if method == SECOND_GAMES else matchmaker(method, options)


def replay(
    method: str,
    options: Mapping[str, Any],
    seed: int,
    inputs: str,
    make_rng: Callable[[int], Rng],
) -> Pairing:
    """Compute a recorded round again: the same pairs, sit-outs, notes and sentences; where optima tie, the same total.

    :param make_rng: makes the source of randomness from `seed`, as when the round was paired: ``random.Random``
    """
    return decide(recorded_method(method, options), decode_inputs(inputs), make_rng(seed))


class Verdict(NamedTuple):
    """Whether a round computed again agrees with its record, and the sentence for people."""

    agrees: bool
    sentence: str


def same(pairs: Iterable[tuple[int, int]], total: int | None, replayed: Pairing) -> Verdict:
    """Compare a recorded round with what its inputs give now.

    :param pairs: of the games that were begun, in any order
    :param total: what was recorded as `Pairing.total`
    """
    then = {(min(pair), max(pair)) for pair in pairs}
    now = {(min(pair[:2]), max(pair[:2])) for pair in replayed.pairs}
    if total != replayed.total:
        totals = [f"{value / 1e6:.6f} bit" if value is not None else "none" for value in (total, replayed.total)]
        return Verdict(False, f"Computed again it comes to another total: {totals[0]} then, {totals[1]} now.")
    if then == now:
        return Verdict(True, "Computed again from its record it gives the same pairs.")
    if then < now:
        gone = len(now - then)
        games = "one game was" if gone == 1 else f"{gone} games were"
        return Verdict(
            True, f"Computed again from its record it gives the same pairs; {games} not begun, as somebody had gone."
        )
    if total is not None:
        return Verdict(True, "Computed again from its record it gives other pairs of the same total: several are best.")
    return Verdict(False, "Computed again it gives other pairs.")
