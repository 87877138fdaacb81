"""Why a round was paired as it was: its inputs as JSON, the round computed again from them, and sentences.

Must not know: where rounds are stored, how randomness is made (the caller brings it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from cgos_server.core.pairing.base import Candidate, Pairing, Rng
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.errors import OurFault


def encode_inputs(candidates: Sequence[Candidate]) -> str:
    """`candidates` as JSON: an array for each, in the order of Candidate's fields. Ratings keep every bit."""
    return msgspec.json.encode(candidates).decode()


def decode_inputs(text: str) -> list[Candidate]:
    """The inverse of :func:`encode_inputs`. Raises OurFault where `text` is not such JSON."""
    try:
        return msgspec.json.decode(text, type=list[Candidate])
    except msgspec.DecodeError as error:
        raise OurFault(f"The recorded inputs of a round cannot be read: {error}") from error


def replay(
    method: str,
    options: Mapping[str, Any],
    seed: int,
    inputs: str,
    make_rng: Callable[[int], Rng],
) -> Pairing:
    """Compute a recorded round again: the same pairs, sit-outs, notes and sentences.

    :param make_rng: makes the source of randomness from `seed`, as when the round was paired: ``random.Random``
    """
    return matchmaker(method, options).pair(decode_inputs(inputs), make_rng(seed))


def sentences(
    method: str, options: Mapping[str, Any], seed: int, candidates: Iterable[Candidate], pairing: Pairing
) -> list[str]:
    """The round for people: how it was paired, each pair in the order made, who sat out, what gave way."""
    chosen = ", ".join(f"{key} {str(value).lower()}" for key, value in sorted(options.items()))
    ranked = sorted(candidates, key=lambda c: (-c.rating, c.id))
    field = ", ".join(f"{c.name} {round(c.rating)}" for c in ranked)
    return [
        f"Paired by {method}{f' ({chosen})' if chosen else ''}, random seed {seed}.",
        f"Ready, best first: {field}." if ranked else "Nobody was ready.",
        *(pair.reason for pair in pairing.pairs),
        *pairing.sits_out.values(),
        *pairing.notes,
    ]
