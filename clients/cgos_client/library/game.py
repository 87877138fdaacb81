"""One game as a bot's program sees it: what is known of it, whose turn it is, and a way to move.

Must not know: connections, other games.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, NamedTuple

from cgos_client.errors import CgosClientError, MoveRefused, SessionClosed
from cgos_client.library.codec import analysis_of
from cgos_client.library.games import Effect, Games, GameState, Outcome
from cgos_client.library.notifier import Notifier
from cgos_client.library.position import Position
from cgos_protocol.games.go_board import tables
from cgos_protocol.games.notation import PASS_WORD, normal
from cgos_protocol.ids import GameId
from cgos_protocol.v2.messages import Analysis, ColorWord, Player, RulesInfo, TimeInfo

log = logging.getLogger(__name__)


class Turn(NamedTuple):
    """It is the bot's move.

    :ivar ply: the number of the move to make, from 1
    :ivar position: the game before it
    :ivar left_ms: the bot's milliseconds left when the server asked
    :ivar opponent_ms: its opponent's
    """

    ply: int
    position: Position
    left_ms: int
    opponent_ms: int


class Game:
    """A game of this bot. Connections come and go; the game stays the same object."""

    def __init__(self, state: GameState, core: Games, do: Callable[[list[Effect]], object]) -> None:
        self._state = state
        self._core = core
        self._do = do
        self._changes = Notifier()
        self._ply = 0
        self._before: list[str] = []
        """The record when the bot was asked."""
        self._closed: CgosClientError | None = None

    def __repr__(self) -> str:
        return f"<game {self.number}: {self.black.name} - {self.white.name}, {len(self._state.moves)} moves>"

    @property
    def number(self) -> GameId:
        """The game's number on the server."""
        return self._state.start.game

    @property
    def venue(self) -> str:
        """Where it is played."""
        return self._state.start.venue

    @property
    def color(self) -> ColorWord:
        """The bot's color."""
        return self._state.color

    @property
    def black(self) -> Player:
        """Black's name and rating."""
        return self._state.start.black

    @property
    def white(self) -> Player:
        """White's name and rating."""
        return self._state.start.white

    @property
    def opponent(self) -> Player:
        """The other side."""
        return self.white if self.color == "black" else self.black

    @property
    def rules(self) -> RulesInfo:
        """What is played."""
        return self._state.start.rules

    @property
    def time(self) -> TimeInfo:
        """The time control."""
        return self._state.start.time

    @property
    def rated(self) -> bool:
        """False where the result changes no rating."""
        return self._state.start.rated

    @property
    def why(self) -> str:
        """Why these two meet, for people; may be empty."""
        return self._state.start.why

    @property
    def opening(self) -> str:
        """The name of the opening that the first moves are, which nobody made; empty where there is none."""
        return self._state.start.opening

    @property
    def event(self) -> str:
        """The name of the event that it is played in; empty where it is none of an event."""
        return self._state.start.event

    @property
    def round(self) -> int:
        """The event's round; 0 where it is none of an event."""
        return self._state.start.round

    @property
    def question(self) -> int:
        """The number of the question for which it is played; 0 where it is for none."""
        return self._state.start.question

    @property
    def position(self) -> Position:
        """The committed moves and the clocks, as they are now."""
        state = self._state
        return Position(
            rules=state.start.rules, plies=tuple(state.moves), black_ms=state.black_ms, white_ms=state.white_ms
        )

    @property
    def result(self) -> Outcome | None:
        """How it ended; None while it runs."""
        return self._state.outcome

    async def turns(self) -> AsyncIterator[Turn]:
        """The bot's turns, each once, until the game has ended. Answer each with :meth:`move`.

        A turn comes a second time only where the server took moves back, so that the position is another one. Raises
        CgosClientError where the session ends before the game does.
        """
        state, seen = self._state, 0
        while state.outcome is None:
            if state.open_turn is not None and state.turns_given > seen:
                seen, self._ply, self._before = state.turns_given, state.open_turn, _moves(state)
                own, other = state.black_ms, state.white_ms
                if self.color == "white":
                    own, other = other, own
                yield Turn(self._ply, self.position, own, other)
                if state.open_turn == self._ply and state.turns_given == seen:
                    log.warning("game %d: the turn at move %d has no answer yet", self.number, self._ply)
                continue
            await self._wait()

    async def move(self, move: str, analysis: Analysis | Mapping[str, Any] | str | None = None) -> bool:
        """Answer the turn: a vertex such as ``D4``, ``pass`` or ``resign``.

        It is sent now, or once the connection is back. The same answer given again changes nothing.

        :param analysis: what the bot thinks of the position before its move, with the fields of
            :class:`~cgos_protocol.v2.messages.Analysis`; what does not fit is left out with a warning
        :return: False where the game ended or went on meanwhile, so that the move is not wanted any more
        :raises MoveRefused: where it is no move, nobody asked, or another move was given for this turn already
        """
        state = self._state
        if state.outcome is not None:
            return False
        if state.open_turn == self._ply and _moves(state) != self._before:
            return False
        word = normal(move)
        if word is None or (word != "RESIGN" and word not in tables(state.start.rules.size).moves):
            raise MoveRefused("no-move", f"game {self.number}: {move!r} is no move on this board")
        if not self._ply:
            raise MoveRefused("not-your-turn", f"game {self.number}: nobody asked for a move yet")
        raw, fault = analysis_of(analysis)
        if fault:
            log.warning("game %d: the analysis of move %d is left out, as it %s", self.number, self._ply, fault)
        text = word if word not in (PASS_WORD, "RESIGN") else word.lower()
        taken, effects = self._core.choose(self.number, self._ply, text, raw)
        self._do(effects)
        return taken

    async def resign(self) -> bool:
        """Give the game up at this turn; as :meth:`move`."""
        return await self.move("resign")

    async def ended(self) -> Outcome:
        """Wait for the game's end. Raises CgosClientError where the session ends before."""
        while self._state.outcome is None:
            await self._wait()
        return self._state.outcome

    async def changed(self) -> None:
        """Wait until something of the game is another than now: a move, a clock, the result."""
        await self._wait()

    async def _wait(self) -> None:
        if self._closed is not None:
            raise self._closed
        await self._changes.wait()

    # -- what the session tells it

    def wake(self) -> None:
        """Something changed."""
        self._changes.notify()

    def close(self, error: CgosClientError | None) -> None:
        """The session is over; `error` is why, where it failed."""
        self._closed = error or SessionClosed()
        self._changes.notify()


def _moves(state: GameState) -> list[str]:
    return [ply.move for ply in state.moves]
