"""The rating systems that keep a posterior over all strengths, as they are declared.

Apart from the systems themselves, so that reading about one does not import numpy. Must not know: how either computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from cgos_protocol.options import Flag, Number
from cgos_server.core.rating.base import INTERVAL_RULE, PROVISIONAL, RatingDeclaration, RatingSystem


def _elo(default: float, meaning: str, least: float = 0.01) -> Number:
    return Number(least, 10_000.0, default=default, meaning=meaning)


_SHARED: Final[Mapping[str, Number]] = MappingProxyType(
    {
        "prior_sd": _elo(
            500.0, "standard deviation of strengths about `initial` (`bayes`: with `learned = false`), Elo"
        ),
        "anchor_sd": _elo(1.0, "how exactly an anchor is known unless it says so itself, standard deviation, Elo"),
        "provisional": PROVISIONAL,
        "advantage_sd": _elo(
            50.0,
            "how much the first move may be worth before results say so, standard deviation, Elo; 0: nothing",
            least=0.0,
        ),
    }
)


def _bayes(initial: float, **options: Any) -> RatingSystem:
    from cgos_server.core.rating.bayes.system import Bayes

    return Bayes(initial, **options)


def _whole_history(initial: float, **options: Any) -> RatingSystem:
    from cgos_server.core.rating.whole_history.system import WholeHistory

    return WholeHistory(initial, **options)


BAYES: Final = RatingDeclaration(
    name="bayes",
    about="strengths are inferred from all results together, each with an interval in which it lies with 95 %",
    make=_bayes,
    options={
        "learned": Flag(
            default=True,
            meaning="the distribution of strengths is learned from the pool; `false`: it is normal with `prior_sd`",
        ),
        **_SHARED,
        "color_sd": _elo(
            0.0,
            "how far versions differ in what playing Black rather than White is worth to them, standard deviation, "
            "Elo; 0: not at all",
            least=0.0,
        ),
    },
    sure=True,
    provisional_rule=INTERVAL_RULE,
)

WHOLE_HISTORY: Final = RatingDeclaration(
    name="whole-history",
    about="strengths that drift with time are inferred from all results together (R. Coulom, 2008)",
    make=_whole_history,
    options={
        "drift": _elo(3.0, "how far strength drifts, Elo per square root of a day; 0: not at all", least=0.0),
        "lineage_sd": _elo(
            150.0, "how far a new version's strength is from its predecessor's, standard deviation, Elo"
        ),
        **_SHARED,
    },
    sure=True,
    provisional_rule=INTERVAL_RULE,
)
