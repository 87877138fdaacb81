"""Does a side know that its game has ended? Kept in the store, so that nobody is left guessing after a restart.

Told = a `gameover` was written to a connection that then sent something or closed in order; in any case after one
repetition. Must not know: how `gameover` is written.
"""

from __future__ import annotations

from cgos_server.core.games.base import Color
from cgos_server.storage.records import BlackTold, WhiteTold
from cgos_server.storage.store import Store

NEVER, UNACKNOWLEDGED, SETTLED = 0, 1, 2


class Telling:
    """One side of one ended game.

    :param told: what the store holds
    :param written: True where the store's row already counts the first `gameover` that is about to be written
    :ivar told: NEVER, UNACKNOWLEDGED or SETTLED
    """

    __slots__ = ("_color", "_counted", "_game", "_store", "told")

    def __init__(self, store: Store, game: int, color: Color, told: int = NEVER, *, written: bool = False) -> None:
        self._store = store
        self._game = game
        self._color = color
        self._counted = written
        self.told = UNACKNOWLEDGED if written else told

    def written(self) -> None:
        """A `gameover` went out. The second one settles the matter."""
        if self._counted:
            self._counted = False
            return
        self._move(UNACKNOWLEDGED if self.told == NEVER else SETTLED)

    def acknowledged(self) -> None:
        """The bot sent something after it, or closed in order."""
        self._move(SETTLED)

    def _move(self, told: int) -> None:
        if self.told != told:
            self.told = told
            record = BlackTold if self._color is Color.BLACK else WhiteTold
            self._store.submit([record(told, self._game)])
