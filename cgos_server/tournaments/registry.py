"""Tournament systems by their words. Another one is a module with its declaration and its word here, or a plug-in.

Must not know: files, command lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from cgos_protocol.catalog import Catalog, Kind
from cgos_protocol.errors import Code, Invalid
from cgos_protocol.options import Option, check_known, read
from cgos_protocol.plugins import Group, installed
from cgos_server.tournaments.base import OptionValue, System, TournamentDeclaration

SYSTEMS: Final = (
    *("round-robin", "cup", "double-elimination", "accelrat", "swiss", "mcmahon"),
    *("godraw", "epm", "weighted", "tcec", "mwm", "bubble"),
)
"""The project's own systems; each is declared as `SYSTEM` in a module of its name."""

_OWN: Final[Mapping[str, str]] = MappingProxyType(
    {word: f"cgos_server.tournaments.systems.{word.replace('-', '_')}:SYSTEM" for word in SYSTEMS}
)

SHORT: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = MappingProxyType(
    {
        **{order: ("mwm", {"order": order}) for order in ("dutch", "burstein", "monrad", "random", "random2")},
        "tcec-double": ("tcec", {"games_per_match": 2}),
        "double-round-robin": ("round-robin", {"double": True}),
    }
)
"""Short words for a system with options."""


def _taken(declared: TournamentDeclaration) -> str:
    """Why a plug-in's system could never be chosen by its name."""
    return f"has a name that is short for {SHORT[declared.name][0]} here" if declared.name in SHORT else ""


KIND: Final = Kind("tournament system", Code.TOURNAMENT_SYSTEM, TournamentDeclaration, _taken)


@cache  # A function of what is installed, which a running process does not see change.
def systems() -> Catalog[TournamentDeclaration]:
    """Every tournament system, those of plug-ins included."""
    return Catalog(KIND, _OWN, installed(Group.TOURNAMENT_SYSTEMS))


def words() -> tuple[str, ...]:
    """Every word for a system, the short ones last."""
    return (*(name for name in systems().names if name not in SHORT), *SHORT)


def known(name: str) -> tuple[str, dict[str, Any]]:
    """The registry's word for a system and the options that a short word stands for.

    :raises Refused: where there is no such system
    """
    if name in SHORT:
        word, options = SHORT[name]
        return word, dict(options)
    if name not in systems():
        raise Invalid(
            Code.TOURNAMENT_SYSTEM, f"There is no tournament system {name!r}. Choose one of: {', '.join(words())}."
        )
    return name, {}


def shown_name(name: str, options: Mapping[str, Any] = MappingProxyType({})) -> str:
    """A system for people. Orders of MWM that share a name with systems of FIDE say whose they are: ``MWM dutch``."""
    word, given = SHORT.get(name, (name, {}))
    order = {**given, **options}.get("order")
    return f"MWM {order}" if word == "mwm" and order else name


def options_of(name: str) -> Mapping[str, Option]:
    """The options of a system, with what each may be. Raises Refused where there is no such system."""
    return systems().find(known(name)[0]).options


def new_options(name: str) -> dict[str, OptionValue]:
    """Return the options that a new event of a system is recorded with. Raises Refused if there is no such system."""
    return dict(systems().find(known(name)[0]).for_new_events or {})


def system(name: str, options: Mapping[str, Any] = MappingProxyType({})) -> System:
    """The system called `name`, with `options` over its defaults.

    :raises Refused: where name, option or value is unknown; the sentence lists the choices
    """
    word, given = known(name)
    given.update(options)
    possible = options_of(word)
    check_known(word, given, possible, Code.TOURNAMENT_OPTION)
    values = {
        key: read(word, key, option=possible[key], value=value, code=Code.TOURNAMENT_OPTION)
        for key, value in given.items()
    }
    made: System = systems().make(word, **values)
    return made
