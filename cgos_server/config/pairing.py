"""The keys of ``[venue.pairing]``: who meets whom, when, and with which openings.

Field names are the keys. Must not know: where values come from, how pairs are made.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from cgos_protocol.options import Number
from cgos_server.config.system_keys import changed, pairing_keys, with_keys
from cgos_server.config.values import NotNegative, Options, Positive, Share, Words
from cgos_server.core.venue import Policy

_KEYS: Final = pairing_keys()


@with_keys(_KEYS)
class PairingConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who meets whom, and when. `cgos-server reload` puts changed values in force without a restart."""

    policy: Annotated[
        Policy, "`rolling`: whoever is idle, as soon as it is worth it; `barrier`: when the last game has ended."
    ] = Policy.ROLLING
    method: Annotated[
        str,
        "The matchmaker: `information`, `birk`, `entropy`, `expected-change`, `permuted`, `adjacent` or `random`; "
        "see [matchmaking](matchmaking.md).",
    ] = "information"
    interval_s: Annotated[Positive, "Seconds between two pairing passes."] = 1.0
    settle_s: Annotated[NotNegative, "Pause between `setup` and the first `genmove`, charged to nobody."] = 1.0
    suspend_after: Annotated[
        int,
        Number(0, 1000, whole=True),
        "After so many games in a row lost on time, by illegal moves or away, or aborted by its fault, a bot gets "
        "no further game until it comes back by its own wish; 0: never.",
    ] = 5
    openings: Annotated[
        Words,
        "Files of openings, each played in two games with colors swapped: SGF (`.sgf`), or text with one list of "
        "moves a line. `openings/*.txt, 3: book.sgf`: `*` and `?` stand for any text, a number and a colon weigh a "
        "file's openings. A relative path counts from the configuration's file.",
    ] = Words()
    openings_share: Annotated[Share, "Share of new pairs that get an opening where there are any."] = 1.0
    options: Annotated[Options, "Options of a matchmaker that a [plug-in](plugins.md) brings: `reach = 3`."] = Options()


def options(pairing: PairingConfig) -> dict[str, Any]:
    """What the matchmaker is given: the values that differ from the defaults."""
    return changed(pairing, _KEYS) | dict(pairing.options.parts)
