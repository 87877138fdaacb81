"""Pairing passes explained for the pages and the API: one at a time, bounded by size, and kept.

Deciding a pass once more holds the interpreter for a part of its time (matchings are made by a library that does not
let go of it), so that larger ones are shown as they are recorded; the command `pairing explain` has time for them. Must
not know: HTTP, how pairs are made.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Final

from cgos_protocol.api.games import RoundDetail
from cgos_protocol.errors import OurFault
from cgos_protocol.ids import GameId
from cgos_server.service.pairing.explained import as_recorded, explain
from cgos_server.storage.reading.answers import GameDetail
from cgos_server.storage.reading.history import History

LARGEST_PASS: Final = 150
"""Candidates of a round that is decided again here: some tens of milliseconds."""

KEPT: Final = 32
"""Explanations that are kept: what was decided once never changes."""

_TOO_LARGE: Final = (
    "It had too many candidates to be decided again here: `cgos-server pairing explain --round {number}` does it."
)
_UNREADABLE: Final = "The record of what it was decided from cannot be read by this program."


async def explain_unpaired(history: History, game: GameDetail) -> str:
    """Say who paired a game that no pairing pass decided."""
    question = await history.questions.of_game(game.game.id)
    pairer = "an operator"
    if game.event is not None:
        pairer = f"round {game.event.round} of event {game.event.event}"
    elif question is not None:
        pairer = f"question {question.question_id} (pair {question.pair})"
    return f"No matchmaker paired game {game.game.id}: {pairer} did."


class Explaining:
    """One an application."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._known: OrderedDict[tuple[int, int, GameId | None], RoundDetail] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()

    async def round(self, number: int, game: GameId | None = None) -> RoundDetail:
        """All about a round, by its id, and about one of its games. Raises Refused."""
        async with self._one_at_a_time:
            key = (self._history.names_known, number, game)
            known = self._known.get(key)
            if known is None:
                known = self._known[key] = await self._explained(number, game)
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
            return known

    async def _explained(self, number: int, game: GameId | None) -> RoundDetail:
        detail = await self._history.pairings.round(number)
        names = await self._history.bots.version_names()
        try:
            return await asyncio.to_thread(
                explain, detail, names, game, most=LARGEST_PASS, too_many=_TOO_LARGE.format(number=number)
            )
        except OurFault:
            return as_recorded(detail, names, game, _UNREADABLE)
