"""One watched game: its messages in their order, which of them may be told by now, and who waits for more.

All viewers of a game share it: each has a place in it and nothing else, so that whoever reads slowly costs no memory,
and whoever comes again goes on where it was. Must not know: HTTP, the database, facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from cgos_protocol import clock
from cgos_protocol.api.live import LiveEnd, LiveMove, LiveRating
from cgos_protocol.intervals import written
from cgos_server.presentation import analysis, words
from cgos_server.presentation.stored_game import StoredGame, clock_of
from cgos_server.storage.reading.answers import GameDetail, MoveRow
from cgos_server.web.live.bell import Bell
from cgos_server.web.live.framing import END, Form, Message, framed, message, portion

CHUNKS: Final = 8
"""Portions that are kept for whoever is at the same place; nobody fills the memory by asking from everywhere."""


class Portion(NamedTuple):
    """What goes out next, and how many moves whoever has got it knows."""

    data: bytes
    known: int


class Board:
    """One game.

    :ivar viewers: how many watch it
    :ivar left_ms: when the last viewer left it, Unix milliseconds
    :ivar broken: True where it cannot be read on
    :ivar known: moves that have been read
    :ivar released: moves that may be told by now
    :ivar over: True once its end is told
    :ivar bell: rung when there is more to tell
    """

    def __init__(self, detail: GameDetail, delay_ms: int) -> None:
        """Raises OurFault where the stored terms mean nothing.

        :param delay_ms: how old a move must be before it is told, while the game runs
        """
        self._game = StoredGame(detail)
        self._delay = delay_ms
        self._messages: list[Message] = []
        self._due: list[int] = []
        self._chunks: dict[tuple[int, Form], Portion] = {}
        self._end: Message | None = None
        self.viewers = 0
        self.left_ms = 0
        self.broken = False
        self.released = 0
        self.bell = Bell()
        self._add(detail.moves)
        if detail.game.result is not None:
            self.finish(detail)

    @property
    def known(self) -> int:
        """How many moves there are, told or not yet."""
        return len(self._messages)

    @property
    def over(self) -> bool:
        """Whether the game has ended; its last moves may still wait to be told."""
        return self._end is not None

    @property
    def next_due(self) -> int | None:
        """When the next move may be told, Unix milliseconds; None where none waits."""
        return self._due[self.released] if self.released < len(self._due) else None

    def add(self, moves: Sequence[MoveRow], now_ms: int) -> None:
        """What was played; moves that are known already are passed over."""
        self._add(moves)
        self.release(now_ms)

    def release(self, now_ms: int) -> None:
        """Tell what is old enough."""
        shown = self.released
        while shown < len(self._due) and self._due[shown] <= now_ms:
            shown += 1
        self._tell(shown)

    def finish(self, detail: GameDetail) -> None:
        """The game has ended: everything may be told at once."""
        self._game = StoredGame(detail)
        self._add(detail.moves)
        self._end = message(_end(self._game), END)
        self.released = -1
        self._tell(self.known)

    def fail(self) -> None:
        """It cannot be read on: its viewers are to go."""
        self.broken = True
        self.bell.ring()

    def since(self, ply: int, form: Form) -> Portion:
        """What a viewer that knows so many moves has not been told, as much as goes out at once; the end, where it has
        come, stands behind the last move."""
        place = (ply, form)
        chunk = self._chunks.get(place)
        if chunk is None:
            messages = self._messages[ply : self.released]
            count = portion(messages)
            if count < len(messages):
                chunk = Portion(framed(messages[:count], form), ply + count)
            else:
                end = [] if self._end is None else [self._end]
                chunk = Portion(framed([*messages, *end], form), max(ply, self.released))
            if len(self._chunks) < CHUNKS:
                self._chunks[place] = chunk
        return chunk

    def _tell(self, shown: int) -> None:
        if shown != self.released:
            self.released = shown
            self._chunks.clear()
            self.bell.ring()

    def _add(self, moves: Sequence[MoveRow]) -> None:
        for row in moves:
            if row.ply == self.known + 1:
                self._messages.append(message(self._move(row), str(row.ply)))
                self._due.append(row.at + self._delay)

    def _move(self, row: MoveRow) -> LiveMove:
        terms, state = self._game.terms, clock_of(row)
        return LiveMove(
            game=self._game.detail.game.id,
            ply=row.ply,
            color=self._game.color(row.ply).letter,
            move=row.move,
            left=words.time_left(terms.time, state),
            left_ms=clock.remaining_ms(terms.time, state),
            used_ms=row.used_us // 1000,
            at=row.at,
            analysis=analysis.read(row.analysis, terms.rules.size),
        )


def _end(game: StoredGame) -> LiveEnd:
    detail = game.detail
    row = detail.game
    return LiveEnd(
        game=row.id,
        result=row.result or "",
        reason=row.reason or "",
        sentence=game.ending(),
        moves=len(detail.moves),
        ended_at=row.ended_at or 0,
        winner=detail.winner,
        ratings=tuple(
            LiveRating(
                version=change.version,
                system=change.system,
                before=written(change.before_mean, change.before_lower, change.before_upper),
                after=written(change.after_mean, change.after_lower, change.after_upper),
                change=round(change.after_mean - change.before_mean, 1),
            )
            for change in detail.ratings
        ),
    )
