"""Matchmakers by the word in configuration. A new method is a branch here and a module beside this one.

Must not know: files of configuration, storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cgos_server.core.pairing.base import Matchmaker
from cgos_server.core.pairing.birk import BYES, FORMULAS, Birk
from cgos_server.errors import Refused

METHODS = ("birk",)
_BIRK: Mapping[str, tuple[Any, ...]] = {
    "formula": tuple(FORMULAS),
    "bye": BYES,
    "avoid_last": (True, False),
}


def matchmaker(name: str, options: Mapping[str, Any]) -> Matchmaker:
    """The method called `name`, with `options` over its defaults.

    Options of ``birk``: ``formula``, ``bye``, ``avoid_last``; see :class:`cgos_server.core.pairing.birk.Birk`.
    Raises Refused where name, option or value is unknown; the sentence lists the choices.
    """
    if name not in METHODS:
        raise Refused("pairing-method", f"There is no pairing method {name!r}. Choose one of: {', '.join(METHODS)}.")
    for key, value in options.items():
        choices = _BIRK.get(key)
        if choices is None:
            raise Refused("pairing-option", f"{name} has no option {key!r}. Choose from: {', '.join(_BIRK)}.")
        if not any(value is choice or (value == choice and isinstance(value, str)) for choice in choices):
            listed = ", ".join(str(c).lower() for c in choices)
            raise Refused("pairing-option", f"{name}: {key} cannot be {value!r}. Choose one of: {listed}.")
    return Birk(**options)
