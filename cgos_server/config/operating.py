"""What concerns the running of a server over the years, as types.

Must not know: where values come from, what they start.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from cgos_protocol.options import Number
from cgos_server.service.pruning import Kind

Days = Annotated[float, Number(1, 36_500)]


class RetentionConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long the database keeps what nothing is computed from; without a key for ever."""

    connections_days: Annotated[
        Days | None,
        "Days that sign-ins and sign-outs are kept, with addresses, after they ended. The last one of each version "
        "stays, without its address.",
    ] = None
    rounds_days: Annotated[
        Days | None,
        "Days that it is kept what pairing passes were decided from. Passes, pairs and reasons stay, but an older pass "
        "cannot be decided again.",
    ] = None
    analyses_days: Annotated[Days | None, "Days that it is kept what bots said about their moves."] = None
    refits_days: Annotated[
        Days | None,
        "Days that every change of a rating or rank by a refit is kept; of older ones the last of each version and day "
        "(UTC) stays.",
    ] = None
    audit_days: Annotated[Days | None, "Days that it is kept who did what to the server."] = None

    def days(self) -> dict[Kind, float]:
        """Kind -> days, of what is not kept for ever."""
        kept = {kind: getattr(self, f"{kind.value}_days") for kind in Kind}
        return {kind: days for kind, days in kept.items() if days is not None}
