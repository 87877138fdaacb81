"""Keeps the record of each game that is told and writes it as an SGF file when the game ends.

Takes values and knows no transport. A record that cannot be written is a warning and never disturbs a game.
Must not know: engines, lines.
"""

from __future__ import annotations

import contextlib
import datetime
import logging
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cgos_client.playing.events import Event, GameOver, MoveAsked, MoveMade, Seated
from cgos_client.version import __version__
from cgos_protocol.clock import ClockState, TimeControl, TimeSystem
from cgos_protocol.games.base import Color, Ruleset
from cgos_protocol.session import GameSetup
from cgos_protocol.sgf import writing as sgf
from cgos_protocol.sgf.writing import GameRecord, RecordedMove

log = logging.getLogger(__name__)

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")
NAME_LIMIT = 40
"""Characters of a player's name in a file's name."""


@dataclass(slots=True)
class _Game:
    setup: GameSetup
    time: TimeControl
    moves: list[RecordedMove] = field(default_factory=list)


class Records:
    """The games that are on, and a directory into which each is written as it ends.

    :param directory: is made if it does not exist
    :param place: what the file names as the place: the server's address
    :param today: the date, for servers that tell none
    :raises OSError: the directory can neither be found nor made
    """

    def __init__(self, directory: Path, place: str, today: Callable[[], datetime.date] = datetime.date.today) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._place = place
        self._today = today
        self._games: dict[int, _Game] = {}
        self._last: tuple[int, _Game] | None = None
        """The game that ended last: its ending may be told again."""

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case Seated():
                self._seated(event)
            case MoveAsked() if event.game in self._games:
                _date_clock(self._games[event.game], event.color, event.left_ms)
            case MoveMade() if event.game in self._games:
                game = self._games[event.game]
                clock = None if event.left_ms is None else _clock(event.left_ms)
                game.moves.append(RecordedMove(event.color, event.move, clock, event.analysis))
            case GameOver() if event.game in self._games:
                game = self._games.pop(event.game)
                self._last = event.game, game
                self._write(game, event)

    def _seated(self, seated: Seated) -> None:
        setup = seated.setup
        time = seated.time or TimeControl(system=TimeSystem.ABSOLUTE, main=setup.level_ms * 1000)
        moves = [RecordedMove(Color(ply % 2), move, _clock(left_ms)) for ply, (move, left_ms) in enumerate(setup.moves)]
        known = self._games.get(setup.game)
        if known is None and self._last is not None and self._last[0] == setup.game:
            known = self._last[1]
        if known is not None and _same(known.setup, setup):  # what the engine said is not told again
            for ply, (move, before) in enumerate(zip(moves, known.moves, strict=False)):
                if move[:2] != before[:2]:
                    break
                moves[ply] = move._replace(analysis=before.analysis)
        self._games[setup.game] = _Game(setup, time, moves)

    def _write(self, game: _Game, over: GameOver) -> None:
        date = over.date if _DATE.fullmatch(over.date) else self._today().isoformat()
        path = self._directory / file_name(date, game.setup)
        try:
            _write_whole(path, sgf.write(_record(game, over, date, self._place)))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            log.warning("the record of game %d cannot be written to %s (%s)", game.setup.game, path, reason)
        else:
            log.info("the record of game %d is in %s", game.setup.game, path)


def file_name(date: str, setup: GameSetup) -> str:
    """``2026-01-02-17-Alice-Bob.sgf``: date, game, Black, White; nothing but letters, digits and ``_.-``."""
    black, white = (_UNSAFE.sub("_", name[:NAME_LIMIT]) for name in (setup.black, setup.white))
    return f"{date}-{setup.game}-{black}-{white}.sgf"


def _same(one: GameSetup, other: GameSetup) -> bool:
    return (one.black, one.white, one.size) == (other.black, other.white, other.size)


def _clock(left_ms: int) -> ClockState:
    return ClockState(left_ms * 1000)


def _date_clock(game: _Game, color: Color, left_ms: int) -> None:
    """A clock that is told before a move is the one after that side's last move, where that was not known."""
    for index in range(len(game.moves) - 1, -1, -1):
        move = game.moves[index]
        if move.color is color:
            if move.clock is None:
                game.moves[index] = move._replace(clock=_clock(left_ms))
            return


def _record(game: _Game, over: GameOver, date: str, place: str) -> GameRecord:
    setup, moves = game.setup, game.moves
    if moves and _loser_of_last_move(over.result) is moves[-1].color:
        moves = moves[:-1]  # the side that has moved cannot lose so any more: its last move was not accepted
    ending = " ".join(part for part in (over.result, f"({over.detail})" if over.detail else "") if part)
    return GameRecord(
        game=setup.game,
        black=setup.black,
        black_label=setup.black_label,
        white=setup.white,
        white_label=setup.white_label,
        rules=Ruleset(size=setup.size, komi2=setup.komi2),
        time=game.time,
        date=date,
        result=over.result,
        ending=ending,
        place=place,
        program=f"cgos-client:{__version__}",
        event="",
        moves=tuple(moves),
        opening=setup.opening,
    )


def _loser_of_last_move(result: str) -> Color | None:
    """Who lost by a move that was not legal or not in time; None for every other result."""
    winner, _, reason = result.partition("+")
    return {"B": Color.WHITE, "W": Color.BLACK}.get(winner.upper()) if reason in ("Illegal", "Time") else None


def _write_whole(path: Path, text: str) -> None:
    """All of it or nothing: a program that watches the directory never reads half a game."""
    handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            os.fchmod(file.fileno(), 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
