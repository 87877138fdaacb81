"""A game made usable: a stored one with its terms, positions, clocks and its file, and a running one as it stands.

Must not know: the database, HTTP, how anything is drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from cgos_protocol.api.live import LiveGame
from cgos_protocol.clock import ClockState
from cgos_protocol.errors import OurFault
from cgos_protocol.games.base import Color, Ko, Ruleset, Start
from cgos_protocol.games.go_rules import Go, GoPosition
from cgos_protocol.games.registry import board
from cgos_protocol.ids import GameId
from cgos_protocol.sgf.writing import GameRecord, RecordedMove
from cgos_protocol.terms import Terms
from cgos_server import __version__
from cgos_server.presentation import words
from cgos_server.storage.reading.answers import GameDetail, MoveRow


class Seen(NamedTuple):
    """A position.

    :ivar stones: color by vertex
    :ivar last: vertex of the last move, None where there is none or it was a pass
    :ivar captures: stones taken so far by Black and by White
    """

    stones: dict[str, Color]
    last: str | None
    captures: tuple[int, int]


def clock_of(row: MoveRow) -> ClockState:
    """The mover's clock after a move."""
    return ClockState(row.main_us, row.period_us, row.quota, row.bank_us)


def terms_and_start(game: GameId, terms: object, start: object) -> tuple[Terms, Start | None]:
    """What a game was started with, from what is stored; no start stands for an empty board. Raises OurFault where it
    means nothing."""
    try:
        return msgspec.convert(terms, Terms), msgspec.convert(start, Start) if start else None
    except msgspec.ValidationError as error:
        raise OurFault(f"The terms of game {game} cannot be read: {error}") from error


class StoredGame:
    """One game as the database has it.

    :ivar terms: what it was started with
    :ivar start: set-up stones, None for an empty board
    """

    def __init__(self, detail: GameDetail) -> None:
        """Raises OurFault where the stored terms or start mean nothing."""
        self.detail = detail
        self.terms, self.start = terms_and_start(detail.game.id, detail.terms, detail.start)

    def color(self, ply: int) -> Color:
        """Who made, or will make, move number `ply` (from 1)."""
        first = self.start.to_play if self.start else Color.BLACK
        return first if ply % 2 else first.other

    def sides(self) -> tuple[tuple[Color, str, str], ...]:
        """Color, name and shown rating of Black and of White."""
        game = self.detail.game
        return (Color.BLACK, game.black, game.black_label), (Color.WHITE, game.white, game.white_label)

    def position(self, ply: int) -> Seen:
        """After `ply` moves. Raises OurFault where a stored move cannot be played."""
        game = board(self.terms.rules, self.start)
        for row in self.detail.moves[:ply]:
            move = game.read(row.move)
            refusal = "it means nothing" if move is None else game.play(move)
            if refusal is not None:
                raise OurFault(
                    f"Move {row.ply} ({row.move}) of game {self.detail.game.id} cannot be played: {refusal}."
                )
        stones = game.stones()
        last = self.detail.moves[ply - 1].move if ply else None
        return Seen(stones, last if last in stones else None, game.captures)

    def clock_after(self, color: Color, ply: int) -> ClockState:
        """That player's clock when `ply` moves had been made."""
        own = ply if self.color(ply) is color else ply - 1
        return clock_of(self.detail.moves[own - 1]) if own > 0 else self.terms.starting_clock(color)

    @property
    def winner(self) -> str | None:
        """``black`` or ``white`` as the game counts now, corrections included; None for neither."""
        detail = self.detail
        return detail.winner if detail.game.corrected is None else detail.corrections[-1].winner

    def ending(self) -> str:
        """How it ended, as a sentence, and what it counts as since it was corrected; empty while it runs."""
        detail = self.detail
        game = detail.game
        if game.reason is None:
            return ""
        ended = words.ending(
            black=game.black,
            white=game.white,
            winner=detail.winner,
            reason=game.reason,
            margin2=detail.margin2,
            detail=detail.detail,
        )
        return ended if game.corrected is None else f"{ended} It counts as {game.corrected} now."

    def record(self, place: str) -> GameRecord:
        """For :func:`cgos_protocol.sgf.writing.write`; `place` is the server's name."""
        game, held = self.detail.game, self.detail.event
        return GameRecord(
            game=game.id,
            black=game.black,
            black_label=game.black_label,
            white=game.white,
            white_label=game.white_label,
            rules=self.terms.rules,
            time=self.terms.time,
            date=words.day(game.started_at),
            result=game.result or "",
            ending=self.ending(),
            place=place,
            program=f"cgos-server:{__version__}",
            event=game.venue if held is None else held.event,
            round="" if held is None else str(held.round),
            moves=tuple(
                RecordedMove(self.color(row.ply), row.move, clock_of(row), row.analysis) for row in self.detail.moves
            ),
            start=self.start,
            opening=game.opening,
        )


def as_it_stands(game: LiveGame) -> tuple[GoPosition, str | None]:
    """A running game as it stands, and its last move. Raises OurFault where a stored move cannot be played."""
    # What was legal when it was played is legal by the least strict rules.
    rules = Ruleset(size=game.size, ko=Ko.SIMPLE, suicide=True)
    first = Color.BLACK if game.to_play == "b" else Color.WHITE
    set_up = bool(game.black_stones or game.white_stones or first is Color.WHITE)
    position = Go().new(rules, Start(game.black_stones, game.white_stones, first) if set_up else None)
    for move in game.moves:
        read = position.read(move)
        if read is None or position.play(read) is not None:
            raise OurFault(f"{move} of game {game.game} cannot be played.")
    return position, game.moves[-1] if game.moves else None
