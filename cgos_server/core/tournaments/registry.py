"""Tournament systems by their words. A new system is a line here and a module of its own.

A system's class has `OPTIONS`, its options with what each may be; its constructor takes those by name and has a default
for each. Must not know: files, command lines.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cgos_server.core.options import Option, read
from cgos_server.core.tournaments.base import OptionValue, System
from cgos_server.errors import Code, Invalid

_HOME = "cgos_server.core.tournaments."

_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "round-robin": "round_robin:RoundRobin",
        "cup": "cup:Cup",
        "double-elimination": "double_elimination:DoubleElimination",
        "accelrat": "accelrat:AccelRat",
        "swiss": "swiss:Swiss",
        "mcmahon": "mcmahon:McMahon",
        "godraw": "godraw:GoDraw",
        "epm": "epm:Epm",
        "weighted": "weighted:Weighted",
        "tcec": "tcec:Tcec",
        "mwm": "mwm:Mwm",
        "bubble": "bubble:Bubble",
    }
)

SYSTEMS = tuple(_CLASSES)

SHORT: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {
        **{order: ("mwm", {"order": order}) for order in ("dutch", "burstein", "monrad", "random", "random2")},
        "tcec-double": ("tcec", {"double": True}),
        "double-round-robin": ("round-robin", {"double": True}),
    }
)
"""Short words for a system with options."""


def known(name: str) -> tuple[str, dict[str, Any]]:
    """The registry's word for a system and the options that a short word stands for.

    :raises Refused: where there is no such system
    """
    if name in SHORT:
        word, options = SHORT[name]
        return word, dict(options)
    if name not in _CLASSES:
        raise Invalid(
            Code.TOURNAMENT_SYSTEM,
            f"There is no tournament system {name!r}. Choose one of: {', '.join((*SYSTEMS, *SHORT))}.",
        )
    return name, {}


def options_of(name: str) -> Mapping[str, Option]:
    """The options of a system, with what each may be."""
    options: Mapping[str, Option] = _class(known(name)[0]).OPTIONS
    return options


def defaults_of(name: str) -> dict[str, OptionValue | None]:
    """What the options of a system are unless something else is asked for; None: it depends on others."""
    parameters = inspect.signature(_class(known(name)[0])).parameters
    return {key: parameters[key].default for key in options_of(name)}


def system(name: str, options: Mapping[str, Any] = MappingProxyType({})) -> System:
    """The system called `name`, with `options` over its defaults.

    :raises Refused: where name, option or value is unknown; the sentence lists the choices
    """
    word, given = known(name)
    given.update(options)
    class_ = _class(word)
    possible: Mapping[str, Option] = class_.OPTIONS
    for key in given:
        if key not in possible:
            choices = ", ".join(possible) or "it has none"
            raise Invalid(Code.TOURNAMENT_OPTION, f"{word} has no option {key!r}. Choose from: {choices}.")
    values = {key: read(word, key, possible[key], value, Code.TOURNAMENT_OPTION) for key, value in given.items()}
    made: System = class_(**values)
    return made


def _class(word: str) -> Any:
    module, name = _CLASSES[word].split(":")
    return getattr(importlib.import_module(_HOME + module), name)
