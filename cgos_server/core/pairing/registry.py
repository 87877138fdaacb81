"""Matchmakers by the word in configuration. Another one is a module with its declaration and a line in `_OWN`, or a
plug-in.

Must not know: files of configuration, storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from cgos_protocol.catalog import Catalog, Kind
from cgos_protocol.errors import CgosError, Code, Invalid
from cgos_protocol.options import Option, check_known, read
from cgos_protocol.plugins import Group, installed
from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import Matchmaker, MatchmakerDeclaration, Pairing, PairingPass
from cgos_server.core.pairing.constraints import Constraints
from cgos_server.core.pairing.shared_options import SHARED, shared

_HOME = "cgos_server.core.pairing.methods."

_OWN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "information": _HOME + "by_objective:INFORMATION",
        "birk": _HOME + "birk:METHOD",
        "entropy": _HOME + "by_objective:ENTROPY",
        "expected-change": _HOME + "by_objective:EXPECTED_CHANGE",
        "permuted": _HOME + "neighbors:PERMUTED",
        "adjacent": _HOME + "neighbors:ADJACENT",
        "random": _HOME + "neighbors:RANDOM",
    }
)

METHODS: Final = tuple(_OWN)
"""The project's own methods."""


def _taken(declared: MatchmakerDeclaration) -> str:
    """Which option of a plug-in's could not be given, because every matchmaker has one of that name."""
    taken = ", ".join(key for key in declared.options if key in SHARED)
    return f"has an option that every pairing method has already, with a meaning of its own: {taken}" if taken else ""


KIND: Final = Kind("pairing method", Code.PAIRING_METHOD, MatchmakerDeclaration, _taken)


@cache  # A function of what is installed, which a running process does not see change.
def matchmakers() -> Catalog[MatchmakerDeclaration]:
    """Every matchmaker, those of plug-ins included."""
    return Catalog(KIND, _OWN, installed(Group.MATCHMAKERS))


def options_of(name: str) -> dict[str, Option]:
    """All options that a method has, its own first. Raises Refused where there is no such method."""
    return {**matchmakers().find(name).options, **SHARED}


def matchmaker(name: str, options: Mapping[str, Any]) -> Matchmaker:
    """The method called `name`, with `options` over its defaults: its own, the constraints and the waiting rule in one
    mapping, by their words in configuration.

    :raises Refused: where name, option or value is unknown; the sentence lists the choices
    """
    check_known(name, options, options_of(name), Code.PAIRING_OPTION, hint=_users)
    declared = matchmakers().find(name)
    constraints, waiting = shared(name, options, replace(Constraints(), max_expected=declared.max_expected))
    own = {
        key: read(name, key, option=option, value=options[key], code=Code.PAIRING_OPTION)
        for key, option in declared.options.items()
        if key in options
    }
    made: Matchmaker = matchmakers().make(name, **own, constraints=constraints, waiting=waiting)
    return made


def _users(key: str) -> str:
    """A sentence that names the methods with this option; empty for none."""
    users = [method for method in matchmakers().usable if key in matchmakers().find(method).options]
    return f" That is an option of {', '.join(users)}." if users else ""


def decide(method: Matchmaker, pairing_pass: PairingPass, rng: Rng) -> Pairing:
    """The pairing of this pass by a method that may be a plug-in's.

    :raises Refused: where a plug-in's fails, or pairs somebody twice, somebody who is no candidate, or two that must
        not meet
    """
    origin = matchmakers().origin(method.name)
    if not origin:
        return method.pair(pairing_pass, rng)
    try:
        pairing = method.pair(pairing_pass, rng)
        objection = _objection(pairing, pairing_pass)
    except CgosError:
        raise
    except Exception as error:  # a plug-in's method may raise anything
        objection = f"{type(error).__name__}: {error}"
    if objection:
        raise Invalid(Code.PLUGIN, f"The pairing method {method.name!r} of {origin} failed: {objection}.")
    return pairing


def _objection(pairing: Pairing, pairing_pass: PairingPass) -> str:
    """What is wrong with a pairing; empty for nothing."""
    apart = {one.id: set(one.apart) for one in pairing_pass.candidates}
    paired = [version for pair in pairing.pairs for version in (pair.high, pair.low)]
    if not apart.keys() >= {*paired, *pairing.sits_out} or len(set(paired)) < len(paired):
        return "it pairs somebody who is no candidate, or twice"
    if any(pair.low in apart[pair.high] or pair.high in apart[pair.low] for pair in pairing.pairs):
        return "it pairs two that must not meet"
    return ""
