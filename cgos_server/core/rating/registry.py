"""Rating systems by the word in configuration, and ratings as people and wires write them.

Another system is a module with its declaration and a line in `_OWN`, or a plug-in. What needs numpy is imported when it
is first made. Must not know: files of configuration, storage.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from cgos_protocol.catalog import Catalog, Kind
from cgos_protocol.errors import Code, Invalid, Refused
from cgos_protocol.options import check_known
from cgos_protocol.plugins import Group, installed
from cgos_server.core.rating.base import Rating, RatingDeclaration, RatingSystem, normal_ends

_HOME = "cgos_server.core.rating."

_OWN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bayes": _HOME + "posterior:BAYES",
        "whole-history": _HOME + "posterior:WHOLE_HISTORY",
        "cgos-elo": _HOME + "incremental.cgos_elo:SYSTEM",
        "gor": _HOME + "incremental.gor:SYSTEM",
        "egf2021": _HOME + "incremental.egf2021:SYSTEM",
        "glicko2": _HOME + "incremental.glicko2:SYSTEM",
    }
)

SYSTEMS: Final = tuple(_OWN)
"""The project's own systems."""

KIND: Final = Kind("rating system", Code.RATING_SYSTEM, RatingDeclaration)


@cache  # A function of what is installed, which a running process does not see change.
def systems() -> Catalog[RatingDeclaration]:
    """Every rating system, those of plug-ins included."""
    return Catalog(KIND, _OWN, installed(Group.RATING_SYSTEMS))


def rating_system(name: str, initial: float, options: Mapping[str, Any]) -> RatingSystem:
    """The system called `name`; a new version starts at `initial` (Elo, or the system's points).

    Raises Refused where name, option or value is impossible; the sentence lists the choices. The system's declaration
    says what it understands.
    """
    declared = systems().find(name)
    if isinstance(initial, bool) or not isinstance(initial, int | float) or not math.isfinite(initial):
        raise Invalid(Code.RATING_INITIAL, f"A new version cannot start at {initial}. Give a number, such as 1800.")
    check_known(name, options, declared.options, Code.RATING_OPTION)
    values = {key: _read(declared, key, value) for key, value in options.items()}
    system: RatingSystem = systems().make(name, float(initial), **values)
    if getattr(system, "sure", None) is not declared.sure:  # a plug-in's need not have it at all
        raise Invalid(
            Code.PLUGIN, f"The rating system {name!r} contradicts its declaration: sure must be the same in both."
        )
    return system


def options_in_force(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Every option of a system, by default or as `options` say. Raises Refused where there is no such system."""
    return {key: option.default for key, option in systems().find(name).options.items()} | dict(options)


def sure(name: str) -> bool:
    """True where the system of that name says standard deviations. A name that is not known here says none."""
    try:
        return systems().find(name).sure
    except Refused:
        return False


def stored_ends(
    name: str, *, mean: float, spread: float, lower: float | None, upper: float | None
) -> tuple[float | None, float | None]:
    """Both ends of the 95 % interval, Elo, of a rating that the system of that name gave; None where it has none.

    :param lower: as stored; of a rating of before both ends were stored None: its distribution was normal
    """
    if lower is None or upper is None:
        return normal_ends(mean, spread) if sure(name) else (None, None)
    return lower, upper


def ends(name: str, rating: Rating) -> tuple[float | None, float | None]:
    """The same of a rating that the system of that name gives now."""
    return stored_ends(name, mean=rating.mean, spread=rating.spread, lower=rating.lower, upper=rating.upper)


def label(rating: Rating) -> str:
    """A rating as the CGOS lines show it: an integer, never negative, with ``?`` while provisional."""
    return f"{max(0, round(rating.mean))}{'?' if rating.provisional else ''}"


def _read(declared: RatingDeclaration, key: str, value: object) -> Any:
    """The option's value as the system wants it; raises Refused unless it understands it."""
    option = declared.options[key]
    try:
        return option.read(value)
    except ValueError as problem:
        sentence = f"{declared.name}: {key} must be {option.possible}, not {value!r}."
        raise Invalid(Code.RATING_OPTION, sentence) from problem
