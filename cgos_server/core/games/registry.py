"""Which games there are. Another game is another module and one more line here.

Must not know: anything about a game beyond its name.
"""

from __future__ import annotations

from cgos_server.core.games.base import GameKind
from cgos_server.core.games.go_rules import Go
from cgos_server.errors import Code, NotFound

_KINDS: tuple[GameKind, ...] = (Go(),)


def names() -> tuple[str, ...]:
    """The names of all games, in the order in which they are offered."""
    return tuple(kind.name for kind in _KINDS)


def game_kind(name: str) -> GameKind:
    """The game of that name. Raises :class:`~cgos_server.errors.Refused` (``unknown-game``) where there is none."""
    for kind in _KINDS:
        if kind.name == name:
            return kind
    raise NotFound(Code.UNKNOWN_GAME, f'There is no game "{name}": choose {" or ".join(names())}.')
