"""Matchmakers by the word in configuration. A new method is a line in `OWN`, a branch here and a module of its own.

Must not know: files of configuration, storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from cgos_server.core.options import Choice, Number, Option, read
from cgos_server.core.pairing.base import Matchmaker
from cgos_server.core.pairing.birk import BYES, Birk
from cgos_server.core.pairing.constraints import Constraints
from cgos_server.core.pairing.formula import Formula
from cgos_server.core.pairing.neighbours import ORDERS, Neighbours
from cgos_server.core.pairing.objective import Objective
from cgos_server.core.pairing.settings import SHARED, shared
from cgos_server.errors import Code, Invalid

OWN: Mapping[str, Mapping[str, Option]] = MappingProxyType(
    {
        "information": {"draw": Number(0.0, 1.0)},
        "birk": {"formula": Formula(), "bye": Choice(BYES)},
        "entropy": {"model": Choice(("gor", "venue"))},
        "expected-change": {},
        "permuted": {"window": Number(0.0, 100_000.0)},
        "adjacent": {},
        "random": {},
    }
)
"""Method -> its own options; it has those of :data:`cgos_server.core.pairing.settings.SHARED` besides."""

METHODS = tuple(OWN)

MAX_EXPECTED: Mapping[str, float] = MappingProxyType({"information": 0.95})
"""Default of `max_expected` for the methods where it is not 1."""


def keys(name: str) -> tuple[str, ...]:
    """The words of all options that a method has. Raises Refused where there is no such method."""
    if name not in OWN:
        raise Invalid(Code.PAIRING_METHOD, f"There is no pairing method {name!r}. Choose one of: {', '.join(METHODS)}.")
    return (*OWN[name], *SHARED)


def matchmaker(name: str, options: Mapping[str, Any]) -> Matchmaker:
    """The method called `name`, with `options` over its defaults: its own, the constraints and the waiting rule in one
    mapping, by their words in configuration.

    :raises Refused: where name, option or value is unknown; the sentence lists the choices
    """
    known = keys(name)
    for key in options:
        if key not in known:
            users = [method for method in METHODS if key in OWN[method]]
            hint = f" That is an option of {', '.join(users)}." if users else ""
            raise Invalid(Code.PAIRING_OPTION, f"{name} has no option {key!r}.{hint} Choose from: {', '.join(known)}.")
    constraints, waiting = shared(name, options, replace(Constraints(), max_expected=MAX_EXPECTED.get(name, 1.0)))
    own = {
        key: read(name, key, option, options[key], Code.PAIRING_OPTION)
        for key, option in OWN[name].items()
        if key in options
    }
    if name == "birk":
        return Birk(**own, constraints=constraints, waiting=waiting)
    if name in ORDERS:
        return Neighbours(name, **own, constraints=constraints, waiting=waiting)
    # Imported here because rustworkx, which they need, takes longer to load than everything else together.
    from cgos_server.core.pairing.optimal import Optimal

    return Optimal(_objective(name, own), constraints, waiting)


def _objective(name: str, own: Mapping[str, Any]) -> Objective:
    if name == "entropy":
        from cgos_server.core.pairing.entropy import Entropy

        return Entropy(**own)
    if name == "expected-change":
        from cgos_server.core.pairing.change import ExpectedChange

        return ExpectedChange(**own)
    from cgos_server.core.pairing.information import Information

    return Information(**own)
