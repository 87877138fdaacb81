"""The keys of ``[venue.pairing]``: who meets whom, when, and with which openings.

Field names are the keys. Must not know: where values come from, how pairs are made.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from cgos_server.config.values import Count, NotNegative, Options, Positive, Words, doc
from cgos_server.core.pairing.constraints import Kin
from cgos_server.core.venue import Policy

_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_Day = Annotated[float, msgspec.Meta(ge=0, le=86_400)]
_Bits = Annotated[float, msgspec.Meta(ge=0, le=100)]


class PairingConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who meets whom, and when. `cgos-server reload` puts changed values in force without a restart."""

    policy: Annotated[
        Policy, doc("`rolling`: whoever is idle, as soon as it is worth it; `barrier`: when the last game has ended.")
    ] = Policy.ROLLING
    method: Annotated[
        str,
        doc(
            "The matchmaker: `information`, `birk`, `entropy`, `expected-change`, `permuted`, `adjacent` or `random`; "
            "see [matchmaking](matchmaking.md)."
        ),
    ] = "information"
    interval_s: Annotated[Positive, doc("Seconds between two acts of pairing.")] = 1.0
    settle_s: Annotated[NotNegative, doc("Pause between `setup` and the first `genmove`, charged to nobody.")] = 1.0
    set_aside: Annotated[
        int,
        msgspec.Meta(ge=0, le=1000),
        doc(
            "After so many games in a row lost on time, by illegal moves or away, or aborted by its fault, a bot gets "
            "no further game until it comes back by its own wish; 0: never."
        ),
    ] = 5
    openings: Annotated[
        Words,
        doc(
            "Files of openings, each played in two games with colors swapped: SGF (`.sgf`), or text with one list of "
            "moves a line. `openings/*.txt, 3: book.sgf`: `*` and `?` stand for any text, a number and a colon weigh a "
            "file's openings. A relative path counts from the configuration's file."
        ),
    ] = Words()
    openings_share: Annotated[_Share, doc("Share of new pairs that get an opening where there are any.")] = 1.0
    same_owner: Annotated[
        Kin,
        doc(
            "Versions of one bot: `forbidden` never meet, `discouraged` only when a bot has waited for `patience_s`, "
            "`free`."
        ),
    ] = Kin.FORBIDDEN
    same_family: Annotated[Kin, doc("Bots of one family (`cgos-server family`), likewise.")] = Kin.DISCOURAGED
    avoid_last: Annotated[
        bool, doc("Whether a bot is kept from its last opponent until it has waited for `patience_s`.")
    ] = True
    repeat_most: Annotated[
        Count,
        doc(
            "Games against one opponent among the last `repeat_last`; more only after `patience_s`, or in a pool so "
            "small that twice an even share is more."
        ),
    ] = 10
    repeat_last: Annotated[int, msgspec.Meta(ge=1, le=1000), doc("How many last games are looked at.")] = 100
    max_expected: Annotated[
        Annotated[float, msgspec.Meta(ge=0.51, le=1)] | None,
        doc(
            "Largest expected score of a game until a bot has waited for `patience_s`; without the key 0.95 with "
            "`information`, else none."
        ),
    ] = None
    patience_s: Annotated[
        _Day,
        doc(
            "After so long a wait constraints give way, the largest expected score first; the others when so many "
            "other bots have become free as make waiting worth it, after 30 times as long at the latest."
        ),
    ] = 10.0
    color_cost: Annotated[_Bits, doc("What a pair costs in which both are owed the same color, bits.")] = 0.05
    anchor_cost: Annotated[_Bits, doc("What a pair of anchors costs, bits.")] = 0.2
    newcomer_cost: Annotated[
        _Bits, doc("What a pair of provisional bots costs while there are well-known ones, bits.")
    ] = 0.1
    repeat_cost: Annotated[_Bits, doc("What each recent game of the same two costs, bits.")] = 0.0
    grace: Annotated[
        _Bits,
        doc(
            "`rolling`: bits that a game may fall short of the best one without any waiting, divided by the number of "
            "other bots there are: the less, the choosier are bots."
        ),
    ] = 4.0
    ease: Annotated[
        Annotated[float, msgspec.Meta(ge=0.001, le=1000)],
        doc("`rolling`: after how many mean games of waiting it may be one bit more."),
    ] = 0.25
    pass_over: Annotated[
        Count, doc("`rolling`: acts in a row that may pass a bot over, pairing others; then it comes before all.")
    ] = 20
    fairness: Annotated[
        _Bits,
        doc("`rolling`: bits that a pair of fast bots costs who have met too many such; 0: nothing."),
    ] = 2.0
    overdue: Annotated[
        Annotated[float, msgspec.Meta(ge=0, le=1000)],
        doc(
            "Mean games of waiting (`barrier`: rounds without a game) after which a bot comes before all, the longest "
            "waiting first, if it has waited for `patience_s`, too, or been passed over a tenth of `pass_over` times; "
            "0: never."
        ),
    ] = 1.5
    formula: Annotated[
        str,
        doc(
            "`birk`: how many candidates are drawn: `half`, `fifth`, `sqrt`, `one`, or an expression of `avail`, the "
            "number of others, such as `1 + avail // 3`."
        ),
    ] = "fifth"
    bye: Annotated[
        str, doc("`birk`: who sits out of an odd number: `fair` takes turns, `natural` takes whoever is left over.")
    ] = "fair"
    model: Annotated[
        str, doc("`entropy`: where expected scores come from: `gor` or the `venue`'s headline rating.")
    ] = "gor"
    window: Annotated[
        Annotated[float, msgspec.Meta(ge=0, le=100_000)],
        doc("`permuted`: width of the window, Elo; 0: as CGOS chooses it."),
    ] = 0.0
    draw: Annotated[
        _Share, doc("`information`: share of the uncertainty by which ratings are varied before each act.")
    ] = 0.5

    options: Annotated[Options, doc("Options of a matchmaker that a [plug-in](plugins.md) brings: `reach = 3`.")] = (
        Options()
    )


NOT_THE_METHODS = (
    "policy",
    "method",
    "interval_s",
    "settle_s",
    "set_aside",
    "openings",
    "openings_share",
    "options",
)
"""Keys that are no options of the matchmaker themselves; all others are."""


def options(pairing: PairingConfig) -> dict[str, Any]:
    """What the matchmaker is told: the values that differ from the defaults."""
    default = PairingConfig()
    named = {
        key: getattr(pairing, key)
        for key in PairingConfig.__struct_fields__
        if key not in NOT_THE_METHODS and getattr(pairing, key) != getattr(default, key)
    }
    return named | dict(pairing.options.parts)
