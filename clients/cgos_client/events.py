"""What happens in a client's games, as values: for whoever keeps records of games or shows them.

Every transport tells the same. Listeners are called in order and must be quick.
Must not know: lines, engines, listeners.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

from cgos_protocol.clock import TimeControl
from cgos_protocol.games.base import Color
from cgos_protocol.session import GameSetup


class Seated(NamedTuple):
    """A game began, or goes on after a reconnection: then the set-up holds its moves, and tells them all again.

    :ivar color: the side that this client plays
    :ivar time: the time control, None where the server tells its figure only
    """

    setup: GameSetup
    color: Color
    time: TimeControl | None = None


class MoveAsked(NamedTuple):
    """It is this client's move, with `left_ms` milliseconds on its clock."""

    game: int
    color: Color
    left_ms: int


class MoveMade(NamedTuple):
    """A move was made, or sent where it is the client's own.

    :ivar move: upper-case vertex or ``PASS``
    :ivar left_ms: the mover's clock after it, milliseconds; None where it is not known yet
    :ivar analysis: what the engine said of the position before it, one line of JSON, or None
    """

    game: int
    color: Color
    move: str
    left_ms: int | None
    analysis: str | None = None


class GameOver(NamedTuple):
    """A game ended. After a reconnection an ending may be told a second time.

    :ivar date: YYYY-MM-DD, as the server wrote it
    :ivar result: ``B+3.5``, ``W+Resign`` ...
    :ivar detail: what the server said besides; may be empty
    """

    game: int
    date: str
    result: str
    detail: str


log = logging.getLogger(__name__)

Event = Seated | MoveAsked | MoveMade | GameOver
Listener = Callable[[Event], None]


def to_all(*listeners: Listener) -> Listener:
    """One listener that passes everything on. What goes wrong in one of them ends no game."""

    def tell(event: Event) -> None:
        for listener in listeners:
            try:
                listener(event)
            except Exception:
                log.exception("an error of this client's own, which does not concern the game: %s", event)

    return tell
