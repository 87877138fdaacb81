"""The keys of ``[venue.pairing]`` and ``[venue.rating]`` that are options of the server's own matchmakers and rating
systems: read off their declarations, so that an option is described once.

Decides which key an option has and what is said of it. Must not know: where values come from, the other keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, TypeVar, cast

import msgspec

from cgos_protocol.options import Choice, Flag, Number, Option, Seconds, Text
from cgos_server.core.pairing.registry import METHODS, matchmakers
from cgos_server.core.pairing.settings import SHARED
from cgos_server.core.rating.registry import SYSTEMS, systems

T = TypeVar("T", bound=msgspec.Struct)

_PREFIXES: Final = {"gor": "gor_", "egf2021": "egf_", "glicko2": "glicko_"}
"""Rating systems whose own options carry a prefix; `provisional` is that of several systems and carries none."""


def pairing_keys() -> dict[str, Option]:
    """The options of all matchmakers by their keys."""
    keys = {key: _key(option, ()) for key, option in SHARED.items()}
    for method in METHODS:
        keys |= {key: _key(option, (method,)) for key, option in matchmakers().find(method).options.items()}
    return keys


def rating_keys() -> dict[str, Option]:
    """The options of all rating systems by their keys; an option of several systems is one key."""
    owners: dict[str, list[str]] = {}
    options: dict[str, Option] = {}
    for system in SYSTEMS:
        for key, option in rating_options(system).items():
            owners.setdefault(key, []).append(system)
            options.setdefault(key, systems().find(system).options[option])
    return {key: _key(option, owners[key]) for key, option in options.items()}


def rating_options(system: str) -> dict[str, str]:
    """Key of the configuration -> the option of the server's own system of that name."""
    prefix = _PREFIXES.get(system, "")
    return {key if key == "provisional" else prefix + key: key for key in systems().find(system).options}


def changed(table: msgspec.Struct, keys: Iterable[str]) -> dict[str, Any]:
    """Those of these keys that differ from their defaults, so that a system is not given the options of another."""
    default = type(table)()
    return {key: getattr(table, key) for key in keys if getattr(table, key) != getattr(default, key)}


def with_keys(keys: Mapping[str, Option]) -> Callable[[type[T]], type[T]]:
    """A table with these keys besides its own."""

    def extended(table: type[T]) -> type[T]:
        fields = [(key, Annotated[_type(option), option], option.default) for key, option in keys.items()]
        made: Any = msgspec.defstruct(
            table.__name__,
            fields,
            bases=(table,),
            module=table.__module__,
            namespace={"__doc__": table.__doc__},
            frozen=True,
            kw_only=True,
            forbid_unknown_fields=True,
        )
        return cast(type[T], made)

    return extended


def _key(option: Option, owners: Iterable[str]) -> Option:
    """The option as a key: with a whole sentence. A word that one system reads is left to it to refuse."""
    of = ", ".join(f"`{owner}`" for owner in owners)
    sentence = f"{of}: {option.meaning}." if of else f"{option.meaning[0].upper()}{option.meaning[1:]}."
    if isinstance(option, Seconds):
        return Number(option.least, option.most, default=option.default, meaning=sentence)
    if isinstance(option, Number | Flag) or (isinstance(option, Choice) and not of):
        return option._replace(meaning=sentence)
    return Text(default=option.default, meaning=sentence)


def _type(option: Option) -> Any:
    """The type of a key's value."""
    if isinstance(option, Number):
        kind: Any = int if option.whole else float
    else:
        kind = bool if isinstance(option, Flag) else str
    return kind | None if option.default is None else kind
