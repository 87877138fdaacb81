"""What a pairing pass would decide, by names.

Must not know: who asks, how it was decided.
"""

from __future__ import annotations

from collections.abc import Sequence

from cgos_protocol.api.people import Previewed, PreviewedPair
from cgos_server.core.pairing.base import Matchmaker, Pair, Pairing, PairingPass


def preview(
    venue: str,
    method: Matchmaker,
    pairing_pass: PairingPass,
    pairing: Pairing,
    listed: PairingPass,
    second: Sequence[Pair],
) -> Previewed:
    """`pairing`, as `method` decided it for `pairing_pass` in `venue`, for people.

    :param listed: those whose pairs are settled before
    :param second: these pairs
    """
    candidates = [*pairing_pass.candidates, *listed.candidates]
    names = {candidate.id: candidate.name for candidate in candidates}
    best_first = sorted(candidates, key=lambda candidate: (-candidate.rating, candidate.id))
    return Previewed(
        venue=venue,
        policy=pairing_pass.policy.value,
        method=method.name,
        options=dict(method.options),
        ready=[candidate.name for candidate in best_first],
        pairs=[
            PreviewedPair(high=names[pair.high], low=names[pair.low], reason=pair.reason, detail=dict(pair.detail))
            for pair in (*second, *pairing.pairs)
        ],
        sits_out={names[version]: why for version, why in pairing.sits_out.items()},
        notes=list(pairing.notes),
        total=pairing.total,
    )
