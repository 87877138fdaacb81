"""The line at the bottom of a terminal: who plays whom, how far, with what time, and the score of the day.

Told values, draws with rich; the clock of the side to move runs on between them. Without a terminal nobody makes one.
Must not know: engines, lines, where events come from.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.live import Live
from rich.text import Text

from cgos_client.playing.events import Event, GameOver, GameResult, MoveAsked, MoveMade, Seated
from cgos_protocol.games.base import Color
from cgos_protocol.session import GameSetup

GAMES_SHOWN = 4
FRAMES_A_SECOND = 2.0


@dataclass(slots=True, kw_only=True)
class _Game:
    """One game on the screen. Clocks in milliseconds; `since` is when the side to move got its clock."""

    setup: GameSetup
    ply: int
    left: list[int]
    since: float
    to_play: Color = Color.BLACK


class LiveLine:
    """The line, in a ``with`` block.

    :param console: on the standard error
    :param now: seconds on any steady clock
    """

    def __init__(self, console: Console, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._games: dict[int, _Game] = {}
        self._score: Counter[bool | None] = Counter()
        """Games by who won: True for this client."""
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
                    setup=setup, ply=ply, left=left, since=self._now(), to_play=Color(ply % 2)
                )
            case MoveAsked() if event.game in self._games:
                game = self._games[event.game]
                game.to_play, game.since, game.left[event.color] = event.color, self._now(), event.left_ms
            case MoveMade() if event.game in self._games:
                self._moved(self._games[event.game], event)
            case GameOver() if event.game in self._games:
                del self._games[event.game]
            case GameResult():
                self._score[event.won] += 1

    def text(self) -> Text:
        """What is shown now."""
        games, other = list(self._games.values()), self._score[None]
        score = f"won {self._score[True]}, lost {self._score[False]}" + (f", other {other}" if other else "")
        lines = [self._line(game) for game in games[:GAMES_SHOWN]]
        if len(games) > GAMES_SHOWN:
            more = len(games) - GAMES_SHOWN
            lines.append(f"and {more} more game{'s' if more > 1 else ''}")
        if not lines:
            return Text(f"waiting for a game; {score}", style="dim", no_wrap=True, overflow="ellipsis")
        lines[-1] += f" | {score}"
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
