"""What an act of pairing would decide, by names.

Must not know: who asks, how it was decided.
"""

from __future__ import annotations

from cgos_server.core.pairing.base import Act, Matchmaker, Pairing
from cgos_server.service.control import PairingPreview, PreviewedPair


def preview(venue: str, method: Matchmaker, act: Act, pairing: Pairing) -> PairingPreview:
    """`pairing`, as `method` decided it for `act` in `venue`, for people."""
    names = {candidate.id: candidate.name for candidate in act.candidates}
    best_first = sorted(act.candidates, key=lambda candidate: (-candidate.rating, candidate.id))
    return PairingPreview(
        venue=venue,
        policy=act.policy.value,
        method=method.name,
        options=dict(method.options),
        ready=[candidate.name for candidate in best_first],
        pairs=[
            PreviewedPair(names[pair.high], names[pair.low], pair.reason, dict(pair.detail)) for pair in pairing.pairs
        ],
        sits_out={names[version]: why for version, why in pairing.sits_out.items()},
        notes=list(pairing.notes),
        total=pairing.total,
    )
