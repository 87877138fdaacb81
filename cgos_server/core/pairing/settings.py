"""The options that every matchmaker has, by their words in configuration: constraints and waiting.

Here they are one flat mapping of JSON values with times in seconds, elsewhere dataclasses with whole microseconds.
Decides which values are possible. Must not know: methods, files of configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cgos_protocol.errors import Code
from cgos_protocol.options import MICROSECONDS, Choice, Flag, Number, Option, Seconds, read
from cgos_server.core.pairing.constraints import Constraints, Kin
from cgos_server.core.pairing.rolling import Waiting

_KIN = Choice(tuple(Kin))
_BITS = Number(0.0, 100.0)
_MANY = Number(1, 1_000_000, whole=True)

CONSTRAINTS: Mapping[str, Option] = MappingProxyType(
    {
        "same_owner": _KIN,
        "same_family": _KIN,
        "avoid_last": Flag(),
        "repeat_most": _MANY,
        "repeat_last": _MANY,
        "max_expected": Number(0.51, 1.0),
        "patience_s": Seconds(0.0, 86_400.0),
        "color_cost": _BITS,
        "anchor_cost": _BITS,
        "newcomer_cost": _BITS,
        "repeat_cost": _BITS,
    }
)
"""Word in configuration -> what it may be; see :class:`cgos_server.core.pairing.constraints.Constraints`."""

WAITING: Mapping[str, Option] = MappingProxyType(
    {
        "grace": _BITS,
        "ease": Number(0.001, 1000.0),
        "pass_over": _MANY,
        "fairness": _BITS,
        "overdue": Number(0.0, 1000.0),
    }
)
"""Word in configuration -> what it may be; see :class:`cgos_server.core.pairing.rolling.Waiting`."""

SHARED: Mapping[str, Option] = MappingProxyType({**CONSTRAINTS, **WAITING})


def shared(what: str, options: Mapping[str, Any], defaults: Constraints) -> tuple[Constraints, Waiting]:
    """The constraints and the waiting rule that `options` ask for; other keys in it are ignored.

    :param defaults: constraints where `options` say nothing
    :raises Refused: where a value is not possible
    """
    values = {
        key: read(what, key, option=SHARED[key], value=value, code=Code.PAIRING_OPTION)
        for key, value in options.items()
        if key in SHARED
    }
    of_constraints = {_field(key): value for key, value in values.items() if key in CONSTRAINTS}
    for key in ("same_owner", "same_family"):
        if key in of_constraints:
            of_constraints[key] = Kin(of_constraints[key])
    waiting = Waiting(**{_field(key): value for key, value in values.items() if key in WAITING})
    known = {name: getattr(defaults, name) for name in defaults.__slots__}
    return Constraints(**{**known, **of_constraints}), waiting


def flat(constraints: Constraints, waiting: Waiting) -> dict[str, Any]:
    """The inverse of :func:`shared`: every option by its word in configuration, JSON values."""
    told: dict[str, Any] = {}
    for keys, values in ((CONSTRAINTS, constraints), (WAITING, waiting)):
        for key, option in keys.items():
            value = getattr(values, _field(key))
            if isinstance(option, Seconds):
                value = value / MICROSECONDS
            told[key] = str(value) if isinstance(value, Kin) else value
    return told


def _field(key: str) -> str:
    """The dataclasses' name of an option."""
    return key.removesuffix("_s")
