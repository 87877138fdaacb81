"""Which of the games that are due begin now, and which slots wait for the others.

The game that has been due longest comes first, whatever event it is of: no later one of an event takes a slot that it
waits for. A game of no event does, where the opponent's own game has hardly begun and the wait would be a whole game's:
so bots play for more of their time. Must not know: how a game begins, logs, systems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from cgos_server.live.venue.player import Capacity, Player
from cgos_server.service.holds import Hold

HARDLY_BEGUN: Final = 0.3
"""Of the mean length of a venue's games: whose game has run for less keeps nobody's slot waiting."""

_ONLY_KEPT: Final = frozenset({Hold.EVENT, Hold.QUESTION})
"""What keeps a version from other games than those of events: they go before games of questions."""

G = TypeVar("G")


class Due(NamedTuple, Generic[G]):
    """A game that is due, of two of whom each is there or about to be.

    :ivar game: whatever tells which one it is
    :ivar black: None: the venue does not know it just now
    :ivar white: likewise
    :ivar meanwhile: who of them may play a game of no event in the slot, as the other's games have hardly begun
    """

    game: G
    black: Player | None
    white: Player | None
    meanwhile: Sequence[Player] = ()


class Chosen(NamedTuple, Generic[G]):
    """Which games begin now, which could and begin right after them, and how many slots of each connection wait for
    games of events; those of `soon` too."""

    begin: list[Due[G]]
    soon: list[Due[G]]
    kept: dict[Capacity, int]


def choose(due: Sequence[Due[G]], most: int) -> Chosen[G]:
    """Go through the games that are due, the longest due first.

    :param most: how many begin now
    """
    begin: list[Due[G]] = []
    soon: list[Due[G]] = []
    taken: Counter[Capacity] = Counter()
    kept: Counter[Capacity] = Counter()
    beginning: set[Player] = set()
    for one in due:
        here = [player for player in (one.black, one.white) if player is not None]
        free = [player for player in here if player not in beginning and is_free(player, taken[player.capacity])]
        taken.update(player.capacity for player in here)
        can_begin = len(free) == 2
        if can_begin:
            beginning.update(here)
        if can_begin and len(begin) < most:
            begin.append(one)
            continue
        if can_begin:
            soon.append(one)
        kept.update(player.capacity for player in here if player not in one.meanwhile)
    return Chosen(begin, soon, dict(kept))


def meanwhile(black: Player, white: Player, since: int) -> Sequence[Player]:
    """Who of two may play something else until their game can begin: whose opponent has no slot free, and games that
    all began after `since` (Unix ms), so that it would wait for a whole game."""
    pairs = (black, white), (white, black)
    return [player for player, other in pairs if other.capacity.used >= other.capacity.slots and _began(other, since)]


def _began(player: Player, since: int) -> bool:
    return bool(player.games) and all(game.started_at > since for game in player.games.values())


def is_free(player: Player, taken: int = 0) -> bool:
    """True where it could begin a game besides those that took its slots in front of it."""
    return player.holds <= _ONLY_KEPT and player.capacity.used + taken < player.capacity.slots
