"""The line at the bottom of a terminal: who plays whom, how far, with what time, and the score of the day.

Told values, draws with rich; the clock of the side to move runs on between them. Without a terminal nobody makes one.
Must not know: engines, lines, where events come from.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live
from rich.text import Text

from cgos_client.events import Event, GameOver, MoveAsked, MoveMade, Seated
from cgos_protocol.games.base import Color
from cgos_protocol.session import GameSetup

GAMES_SHOWN = 4
FRAMES_A_SECOND = 2.0


@dataclass(slots=True)
class _Game:
    """One game on the screen. Clocks in milliseconds; `since` is when the side to move got its clock."""

    setup: GameSetup
    color: Color
    ply: int
    left: list[int]
    since: float
    to_play: Color = Color.BLACK


@dataclass(slots=True)
class Tally:
    """How the games of this run ended."""

    won: int = 0
    lost: int = 0
    other: int = 0
    last: int | None = field(default=None)
    """The game counted last: an ending may be told twice."""

    def count(self, game: int, color: Color, result: str) -> None:
        """One ending from the side of `color`."""
        if game == self.last:
            return
        self.last = game
        winner = {"B+": Color.BLACK, "W+": Color.WHITE}.get(result[:2].upper())
        if winner is None:
            self.other += 1
        elif winner is color:
            self.won += 1
        else:
            self.lost += 1

    def __str__(self) -> str:
        return f"won {self.won}, lost {self.lost}" + (f", other {self.other}" if self.other else "")


class LiveLine:
    """The line, in a ``with`` block.

    :param console: on the standard error
    :param now: seconds on any steady clock
    """

    def __init__(self, console: Console, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._games: dict[int, _Game] = {}
        self._tally = Tally()
        self._live = Live(
            console=console,
            get_renderable=self.text,
            refresh_per_second=FRAMES_A_SECOND,
            transient=True,
            redirect_stdout=False,  # results belong on the standard output, whatever is on the screen
            redirect_stderr=False,
        )

    def __enter__(self) -> LiveLine:
        self._live.start(refresh=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """While something else is written to the terminal."""
        shown = self._live.is_started
        if shown:
            self._live.stop()
        try:
            yield
        finally:
            if shown:
                self._live.start(refresh=True)

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case Seated(setup=setup):
                left = [setup.level_ms, setup.level_ms]
                for ply, (_, left_ms) in enumerate(setup.moves):
                    left[ply % 2] = left_ms
                ply = len(setup.moves)
                self._games[setup.game] = _Game(
                    setup=setup, color=event.color, ply=ply, left=left, since=self._now(), to_play=Color(ply % 2)
                )
            case MoveAsked() if event.game in self._games:
                game = self._games[event.game]
                game.to_play, game.since, game.left[event.color] = event.color, self._now(), event.left_ms
            case MoveMade() if event.game in self._games:
                self._moved(self._games[event.game], event)
            case GameOver() if event.game in self._games:
                self._tally.count(event.game, self._games.pop(event.game).color, event.result)

    def text(self) -> Text:
        """What is shown now."""
        games = list(self._games.values())
        lines = [self._line(game) for game in games[:GAMES_SHOWN]]
        if len(games) > GAMES_SHOWN:
            more = len(games) - GAMES_SHOWN
            lines.append(f"and {more} more game{'s' if more > 1 else ''}")
        if not lines:
            return Text(f"waiting for a game; {self._tally}", style="dim", no_wrap=True, overflow="ellipsis")
        lines[-1] += f" | {self._tally}"
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")

    def _moved(self, game: _Game, move: MoveMade) -> None:
        now = self._now()
        if move.left_ms is not None:
            game.left[move.color] = move.left_ms
        else:
            game.left[move.color] -= int(1000 * (now - game.since))
        game.ply += 1
        game.to_play, game.since = move.color.other, now

    def _line(self, game: _Game) -> str:
        setup = game.setup
        sides = (
            (Color.BLACK, setup.black, setup.black_label),
            (Color.WHITE, setup.white, setup.white_label),
        )
        shown = [
            f"{'>' if color is game.to_play else ' '}{name}{f' ({label})' if label else ''} {self._clock(game, color)}"
            for color, name, label in sides
        ]
        return f"game {setup.game} {setup.size}x{setup.size}: {shown[0]} -{shown[1]} | move {game.ply}"

    def _clock(self, game: _Game, color: Color) -> str:
        left = game.left[color]
        if color is game.to_play:
            left -= int(1000 * (self._now() - game.since))
        seconds = max(0, left) // 1000
        return f"{seconds // 60}:{seconds % 60:02}"
