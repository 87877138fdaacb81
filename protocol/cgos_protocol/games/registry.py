"""Which games there are. Another one is a module and a line in `_OWN`, or a plug-in.

Must not know: anything about a game beyond its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Final

from cgos_protocol.catalog import Catalog, Kind
from cgos_protocol.errors import Code, NotFound, Refused
from cgos_protocol.games.base import Ruleset, Start
from cgos_protocol.games.go_rules import Go, GoPosition
from cgos_protocol.plugins import Group, installed

_OWN: Final[Mapping[str, str]] = MappingProxyType({"go": "cgos_protocol.games.go_rules:GO"})

KIND: Final = Kind("game", Code.UNKNOWN_GAME, Go)


@cache  # A function of what is installed, which a running process does not see change.
def games() -> Catalog[Go]:
    """Every game, those of plug-ins included."""
    return Catalog(KIND, _OWN, installed(Group.GAMES))


def names() -> tuple[str, ...]:
    """The names of all games, in the order in which they are offered."""
    return games().names


def game_kind(name: str) -> Go:
    """The game of that name. Raises :class:`~cgos_protocol.errors.Refused` (``unknown-game``) where there is none, and
    where a plug-in's cannot be used."""
    if name not in games():
        raise NotFound(Code.UNKNOWN_GAME, f'There is no game "{name}": choose {" or ".join(names())}.')
    return games().find(name)


def board(rules: Ruleset, start: Start | None = None) -> GoPosition:
    """A fresh position to look at. A game that is not installed here is looked at as Go, whose stones it has: only its
    end and its score are unknown then. Raises ValueError as :meth:`Go.new`."""
    try:
        kind = game_kind(rules.game)
    except Refused:
        kind, rules = game_kind("go"), replace(rules, game="go")
    return kind.new(rules, start)
