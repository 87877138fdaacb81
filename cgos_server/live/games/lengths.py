"""How long the games of a venue take, as they end.

Must not know: who plans by it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cgos_protocol.verdict import Reason
from cgos_server.live.games.live_game import LiveGame

_REMEMBERED: Final = 16
"""About so many games make the mean."""


class Lengths:
    """The mean length of a venue's games, those of events and questions too.

    :param now_ms: Unix ms
    :ivar mean_ms: milliseconds; 0 where no game has ended yet
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self.mean_ms = 0.0

    def learn(self, game: LiveGame) -> None:
        """A game has ended."""
        if game.over is not None and game.over.reason not in (Reason.ABORT, Reason.VOID):
            length = self._now_ms() - game.started_at
            mean = self.mean_ms or length
            self.mean_ms = mean + (length - mean) / _REMEMBERED
