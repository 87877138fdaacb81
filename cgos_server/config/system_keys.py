"""The keys of ``[venue.pairing]`` and ``[venue.rating]`` that are options of the server's own matchmakers and rating
systems: read off their declarations, so that an option is described once.

Decides which key an option has and what is said of it. Must not know: where values come from, the other keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, TypeVar, cast

import msgspec

from cgos_protocol.options import Choice, Flag, Number, Option, Seconds
from cgos_server.core.pairing.registry import METHODS, matchmakers
from cgos_server.core.pairing.shared_options import SHARED
from cgos_server.core.rating.registry import SYSTEMS, systems

T = TypeVar("T", bound=msgspec.Struct)

Key = tuple[Any, Any]
"""A key's type with its setting and its sentence, and its default."""

_PREFIXES: Final = {"gor": "gor_", "egf2021": "egf_", "glicko2": "glicko_"}
"""Rating systems whose own options carry a prefix; `provisional` is that of several systems and carries none."""


def pairing_keys() -> dict[str, Key]:
    """The options of all matchmakers by their words."""
    keys = {word: _key(option, ()) for word, option in SHARED.items()}
    for method in METHODS:
        keys |= {word: _key(option, (method,)) for word, option in matchmakers().find(method).options.items()}
    return keys


def rating_keys() -> dict[str, Key]:
    """The options of all rating systems by their words; an option of several systems is one key."""
    owners: dict[str, list[str]] = {}
    options: dict[str, Option] = {}
    for system in SYSTEMS:
        for word, option in rating_options(system).items():
            owners.setdefault(word, []).append(system)
            options.setdefault(word, systems().find(system).options[option])
    return {word: _key(option, owners[word]) for word, option in options.items()}


def rating_options(system: str) -> dict[str, str]:
    """Key of the configuration -> the option of the server's own system of that name."""
    prefix = _PREFIXES.get(system, "")
    return {key if key == "provisional" else prefix + key: key for key in systems().find(system).options}


def changed(table: msgspec.Struct, keys: Iterable[str]) -> dict[str, Any]:
    """Those of these keys that differ from their defaults, so that a system is not given the options of another."""
    default = type(table)()
    return {key: getattr(table, key) for key in keys if getattr(table, key) != getattr(default, key)}


def with_keys(keys: Mapping[str, Key]) -> Callable[[type[T]], type[T]]:
    """A table with these keys besides its own."""

    def extended(table: type[T]) -> type[T]:
        made: Any = msgspec.defstruct(
            table.__name__,
            [(word, kind, default) for word, (kind, default) in keys.items()],
            bases=(table,),
            module=table.__module__,
            namespace={"__doc__": table.__doc__},
            frozen=True,
            kw_only=True,
            forbid_unknown_fields=True,
        )
        return cast(type[T], made)

    return extended


def _key(option: Option, owners: Iterable[str]) -> Key:
    """The option as a key. A word that one system reads is left to it to refuse."""
    of = ", ".join(f"`{owner}`" for owner in owners)
    sentence = f"{of}: {option.meaning}." if of else f"{option.meaning[0].upper()}{option.meaning[1:]}."
    kind: Any = str
    if isinstance(option, Seconds):
        option = Number(option.least, option.most, default=option.default)
    if isinstance(option, Flag):
        kind = bool
    elif isinstance(option, Number):
        kind = Annotated[int if option.whole else float, option]
    elif isinstance(option, Choice) and not of:
        kind = Annotated[str, option]
    return Annotated[kind if option.default is not None else kind | None, sentence], option.default
