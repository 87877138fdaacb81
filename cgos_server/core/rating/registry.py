"""Rating systems by the word in configuration, and ratings as people and wires write them.

A new system is a branch here, a table of its options and a module beside this one. The systems that need numpy are
imported when they are first asked for. Must not know: files of configuration, storage.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from cgos_server.core.rating.base import Z95, Rating, RatingSystem
from cgos_server.core.rating.cgos_elo import CgosElo
from cgos_server.core.rating.egf2021 import Egf2021
from cgos_server.core.rating.glicko2 import Glicko2
from cgos_server.core.rating.gor import VARIANTS, Gor
from cgos_server.core.rating.graded import PROVISIONAL_GAMES, Graded
from cgos_server.errors import Code, Invalid, NotFound

SYSTEMS: Final = ("bayes", "whole-history", "cgos-elo", "gor", "egf2021", "glicko2")

_SURE: Final = frozenset(("bayes", "whole-history", "glicko2"))
"""Whose spread is a standard deviation in Elo; each class's `sure` says the same."""


class Option(NamedTuple):
    """One option of a system.

    :ivar kind: `float` (whole numbers are taken too), `bool` or `str`
    :ivar default: what it is unless given
    :ivar meaning: half a sentence for people
    :ivar least: the smallest value of a number
    :ivar most: the greatest value of a number
    :ivar choices: the words to choose from
    """

    kind: type
    default: float | bool | str
    meaning: str
    least: float = -math.inf
    most: float = math.inf
    choices: tuple[str, ...] = ()


def _elo(default: float, meaning: str, least: float = 0.01, most: float = 10_000.0) -> Option:
    return Option(float, default, meaning, least, most)


_POSTERIOR: Final = {
    "prior_sd": _elo(500.0, "standard deviation of the strengths before any game, Elo"),
    "anchor_sd": _elo(1.0, "how exactly an anchor is known unless it says so itself: standard deviation, Elo"),
    "lineage_sd": _elo(150.0, "how far a successor's strength is from its predecessor's: standard deviation, Elo"),
    "provisional": _elo(100.0, "a rating is provisional while half of its 95 % interval is above this, Elo"),
    "advantage_sd": _elo(50.0, "how much the first move may be worth: standard deviation, Elo; 0: nothing", least=0.0),
}

OPTIONS: Final[Mapping[str, Mapping[str, Option]]] = MappingProxyType(
    {
        "bayes": {
            "learned": Option(bool, True, "the distribution of strengths is learned from the pool"),
            **_POSTERIOR,
        },
        "whole-history": {
            "drift": _elo(3.0, "how far strength drifts: Elo per square root of a day; 0: not at all", least=0.0),
            **_POSTERIOR,
        },
        "cgos-elo": {
            "min_k": Option(float, 3.0, "the K of a settled version and of an anchor, Elo"),
            "max_k": Option(float, 200.0, "the K of a newcomer, Elo"),
            "provisional_k": Option(float, 16.0, "a rating is provisional while its K is above this"),
            "compat": Option(bool, False, "games among newcomers count nothing, as on CGOS"),
        },
        "gor": {
            "variant": Option(
                str,
                "egf_half_eps",
                "which reading of the rules: handicap, and whose expectancy epsilon is taken from",
                choices=VARIANTS,
            ),
            "eps": Option(float, 0.0, "how much the two expectancies fall short of 1; it inflates a pool", 0.0, 0.1),
        },
        "egf2021": {
            "bonus": Option(bool, False, "every game gives both players a bonus; it inflates a pool"),
        },
        "glicko2": {
            "tau": Option(float, 0.5, "how fast volatility may change", 0.1, 2.0),
            "deviation": _elo(350.0, "standard deviation of a newcomer's rating, Elo", least=30.0, most=1000.0),
            "volatility": Option(float, 0.06, "a newcomer's volatility a rating period", 0.001, 1.0),
            "period_games": Option(float, 15.0, "how many games of a version make a rating period", 1.0, 1000.0),
            "provisional": _POSTERIOR["provisional"],
        },
    }
)
"""System -> option -> what may be said; what the configuration reads."""


def rating_system(name: str, initial: float, options: Mapping[str, Any]) -> RatingSystem:
    """The system called `name`; a new version starts at `initial` (Elo, or the system's points).

    Raises Refused where name, option or value is impossible; the sentence lists the choices. :data:`OPTIONS` says what
    each system understands.
    """
    if name not in SYSTEMS:
        raise NotFound(Code.RATING_SYSTEM, f"There is no rating system {name!r}. Choose one of: {', '.join(SYSTEMS)}.")
    if isinstance(initial, bool) or not isinstance(initial, int | float) or not math.isfinite(initial):
        raise Invalid(Code.RATING_INITIAL, f"A new version cannot start at {initial}. Give a number, such as 1800.")
    for key, value in options.items():
        _check(name, key, value)
    return _system(name, float(initial), options)


def sure(name: str) -> bool:
    """True where the system of that name says standard deviations. A name that is not known here says none."""
    return name in _SURE


def provisional(system: RatingSystem, spread: float, games: int) -> bool:
    """Whether a rating that a system published with this spread was provisional; one of an anchor never is."""
    match system:
        case CgosElo():
            return spread > system.provisional_k
        case Graded():
            return games < PROVISIONAL_GAMES
        case Glicko2():
            return Z95 * spread > system.provisional
    from cgos_server.core.rating.bayes.answers import Answers

    assert isinstance(system, Answers)
    return games == 0 or Z95 * spread > system.provisional


def half_width(name: str, spread: float) -> float | None:
    """Half of the 95 % interval, Elo, of a rating that the system of that name gave; None where it does not say."""
    return Z95 * spread if sure(name) else None


def label(rating: Rating) -> str:
    """A rating as the CGOS lines show it: an integer, never negative, with ``?`` while provisional."""
    return f"{max(0, round(rating.mean))}{'?' if rating.provisional else ''}"


def shown(mean: float, half_width: float | None, provisional: bool) -> str:
    """A rating as people read it: ``1873 ± 42``, ``1873? ± 142`` while provisional, ``1873`` without an interval."""
    text = f"{round(mean)}{'?' if provisional else ''}"
    return text if half_width is None else f"{text} ± {round(half_width)}"


def _check(name: str, key: str, value: object) -> None:
    """Raises Refused unless the system `name` understands `value` for its option `key`."""
    known = OPTIONS[name]
    if key not in known:
        raise Invalid(Code.RATING_OPTION, f"{name} has no option {key!r}. Choose from: {', '.join(known)}.")
    option = known[key]
    if option.kind is bool:
        if not isinstance(value, bool):
            raise Invalid(Code.RATING_OPTION, f"{name}: {key} must be true or false, not {value!r}.")
    elif option.kind is str:
        if value not in option.choices:
            raise Invalid(
                Code.RATING_OPTION, f"{name}: {key} must be one of {', '.join(option.choices)}, not {value!r}."
            )
    elif isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Invalid(Code.RATING_OPTION, f"{name}: {key} must be a number, not {value!r}.")
    elif not option.least <= value <= option.most:
        limits = f"from {option.least:g} to {option.most:g}"
        raise Invalid(Code.RATING_OPTION, f"{name}: {key} must be a number {limits}, not {value!r}.")


def _system(name: str, initial: float, options: Mapping[str, Any]) -> RatingSystem:
    if name == "bayes":
        from cgos_server.core.rating.bayes.system import Bayes

        return Bayes(initial, **options)
    if name == "whole-history":
        from cgos_server.core.rating.whole_history import WholeHistory

        return WholeHistory(initial, **options)
    if name == "gor":
        return Gor(initial, **options)
    if name == "egf2021":
        return Egf2021(initial, **options)
    if name == "glicko2":
        return Glicko2(initial, **options)
    system = CgosElo(initial, **options)
    if not 0 < system.min_k < system.max_k:
        raise Invalid(Code.RATING_OPTION, f"{name}: min_k must be above 0 and below max_k ({system.max_k:g}).")
    if not system.min_k <= system.provisional_k <= system.max_k:
        raise Invalid(Code.RATING_OPTION, f"{name}: provisional_k must lie between min_k and max_k.")
    return system
