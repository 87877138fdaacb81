"""The referee of one game: is the move legal, was it in time, is the game over and who won.

Pure and without a time source: how long a move took comes in as an argument. Once there is a verdict nothing changes
it. Must not know: who plays, sessions, storage, ratings.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from cgos_protocol import clock
from cgos_protocol.clock import ClockState
from cgos_protocol.errors import OurFault
from cgos_protocol.games.base import Color, Illegality, Position, Start
from cgos_protocol.games.registry import game_kind
from cgos_protocol.terms import Terms
from cgos_protocol.verdict import Reason, Verdict, by_score

DETAIL_LIMIT = 100
"""Longest detail of a verdict, in characters: it travels on one line of every wire."""


class Played(msgspec.Struct, frozen=True, gc=False):
    """A move that counts.

    :ivar move_text: its normal spelling
    :ivar clock: the mover's clock after it
    :ivar used: microseconds from the start of the clock to the answer, lag credit included
    """

    move_text: str
    clock: ClockState
    used: int


class Referee:
    """One game from its start to its verdict.

    :ivar terms: what the game is played by
    :ivar position: the board; only the referee plays on it
    :ivar clocks: [Black's, White's]
    :ivar ply: moves made since the start, passes included, set-up stones not
    :ivar to_play: the side to move
    :ivar moved: [Black, White]: True once that side has made its own first move
    :ivar verdict: None while the game goes on
    :ivar expired: the side whose time ran out, which ended the game; else None
    """

    __slots__ = ("_time", "clocks", "expired", "moved", "ply", "position", "terms", "to_play", "verdict")

    def __init__(self, terms: Terms, start: Start | None = None, position: Position | None = None) -> None:
        """`position` is where to play instead of a fresh board of the game that the terms name.

        Raises Refused where the game is unknown, ValueError where the rules or `start` are impossible.
        """
        if position is None:
            position = game_kind(terms.rules.game).new(terms.rules, start)
        self.terms = terms
        self.position = position
        self.clocks = [terms.starting_clock(color) for color in Color]
        self.ply = 0
        self.to_play = position.to_play
        self.moved = [False, False]
        self.verdict: Verdict | None = None
        self.expired: Color | None = None
        self._time = terms.time

    def submit(self, text: str, elapsed: int) -> Played | None:
        """The side to move answers `text`, `elapsed` microseconds after its clock started (negative counts as 0).

        Played: the move counts, and `verdict` is set where it ended the game. None: no move was made and `verdict` is
        set: the flag had fallen before (that comes first, whatever the answer), resignation, or a move that is
        unreadable or illegal, which loses at once.
        """
        if self.verdict is not None:
            return None
        color = self.to_play
        if elapsed < 0:
            elapsed = 0
        after = clock.spend(self._time, self.clocks[color], elapsed)
        if after is None or (not self.moved[color] and elapsed > self.deadline()):
            self.expire()
            return None
        position = self.position
        move = position.read(text)
        if move is None:
            self._unread(text)
            return None
        illegality = position.play(move)
        if illegality is not None:
            self._lose(Reason.ILLEGAL, plain(f"{illegality}: {position.write(move)}"))
            return None
        self.clocks[color] = after
        self.moved[color] = True
        self.to_play = position.to_play
        self.ply = ply = self.ply + 1
        if ply >= self.terms.move_limit or position.is_over():
            self._settle()
        return Played(position.write(move), after, elapsed)

    def deadline(self) -> int:
        """Microseconds after its clock started at which the side to move is out of time (it is still in time then)."""
        color = self.to_play
        state = self.clocks[color]
        limit = clock.deadline(self._time, state)
        if self.moved[color]:
            return limit
        return min(limit, self.terms.first_move_limit + clock.credit(self._time, state))

    def remaining_ms(self, color: Color, elapsed: int = 0) -> int:
        """What the legacy lines show for `color`; `elapsed` as in :func:`cgos_protocol.clock.remaining_ms`."""
        return clock.remaining_ms(self._time, self.clocks[color], elapsed)

    def expire(self) -> Verdict:
        """The side to move is out of time: it loses, or, before its own first move, the game is aborted."""
        if self.verdict is None:
            self.expired = self.to_play
        if self.moved[self.to_play]:
            return self._lose(Reason.TIME, "")
        return self.abort(no_first_move(self.to_play))

    def abort(self, detail: str) -> Verdict:
        """End the game without a result, unrated."""
        return self._end(Verdict(None, Reason.ABORT, None, plain(detail)))

    def void(self, detail: str) -> Verdict:
        """End the game unrated: the server is at fault."""
        return self._end(Verdict(None, Reason.VOID, None, plain(detail)))

    def forfeit(self, loser: Color, detail: str) -> Verdict:
        """`loser` loses by ruling or because it did not show up; rated."""
        return self._end(Verdict(loser.other, Reason.FORFEIT, None, plain(detail)))

    def replay(self, moves: Iterable[tuple[str, ClockState]], given: bool = False) -> None:
        """Put a stored game back on a fresh referee; no time is spent.

        :param moves: (normal spelling, mover's clock after it) from the first move on
        :param given: True where nobody made these moves, as those of an opening: each side's first own one is to come

        Sets the verdict where the moves end the game. Raises OurFault where a move cannot be played.
        """
        position = self.position
        for text, state in moves:
            color = position.to_play
            move = position.read(text)
            problem = "unreadable" if move is None else position.play(move)
            if problem is not None:
                raise OurFault(f"Move {self.ply + 1} of a stored game, {plain(text)}, cannot be played: {problem}.")
            self.clocks[color] = state
            self.moved[color] = not given
            self.ply += 1
        self.to_play = position.to_play
        self._settle()

    def _settle(self) -> None:
        """Score the game where the rules or the move limit end it."""
        if self.position.is_over():
            self._end(by_score(self.position.score()))
        elif self.ply >= self.terms.move_limit:
            limit = f"scored at the limit of {self.terms.move_limit} moves"
            self._end(by_score(self.position.score())._replace(detail=limit))

    def _unread(self, text: str) -> None:
        if text.strip().lower() == "resign":
            self._lose(Reason.RESIGNATION, "")
        else:
            self._lose(Reason.ILLEGAL, plain(f"{Illegality.SYNTAX}: {text.strip()}"))

    def _lose(self, reason: Reason, detail: str) -> Verdict:
        return self._end(Verdict(self.to_play.other, reason, None, detail))

    def _end(self, verdict: Verdict) -> Verdict:
        if self.verdict is None:
            self.verdict = verdict
        return self.verdict


def no_first_move(color: Color) -> str:
    """The detail of a game that is aborted as that side's time ran out before its first move."""
    return f"{color.name.capitalize()} made no first move in time"


_TCL = frozenset('{}[]"\\$;')


def plain(text: str) -> str:
    """`text` fit for a detail: printable ASCII without what breaks a Tcl list, at most DETAIL_LIMIT characters."""
    kept = "".join(c if " " <= c <= "~" and c not in _TCL else "?" for c in text[: DETAIL_LIMIT + 1].strip())
    return kept if len(kept) <= DETAIL_LIMIT else kept[: DETAIL_LIMIT - 3] + "..."
