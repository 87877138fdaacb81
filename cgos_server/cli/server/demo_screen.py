"""What the demo shows: standings of the ladder and of an event, running games and moves a second; redrawn on a
terminal, plain lines elsewhere.

Must not know: where the figures come from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from cgos_server.cli.server.demo_event import EventNow
from cgos_server.presentation import words
from cgos_server.service.control import ServerStatus
from cgos_server.storage.reading.answers import StandingRow

PLAIN_EVERY_S = 10.0
"""Between two lines where there is no terminal."""

RATE_OVER_S = 5.0
"""Moves a second are the mean of so long."""


class Snapshot(NamedTuple):
    """One moment.

    :ivar left: seconds until the end, None where nobody knows
    :ivar at: seconds on any steady clock
    :ivar event: None: there is none
    """

    status: ServerStatus
    standings: Sequence[StandingRow]
    left: float | None
    at: float
    event: EventNow | None = None


class Screen:
    """A live picture in a ``with`` block."""

    def __init__(self, stream: TextIO, directory: str, status: ServerStatus) -> None:
        self._console = Console(file=stream)
        self._directory = directory
        self._plain = not self._console.is_terminal
        self._live = Live(console=self._console, auto_refresh=False, transient=False)
        self._moves: deque[tuple[float, int]] = deque()
        self._next_plain = 0.0
        venue = status.venues[0]
        self._console.print(
            f"bots: port {venue.port} and {status.websocket}   pages: {status.web}   metrics: {status.health}/metrics",
            soft_wrap=True,
        )
        self._console.print(f"data and logs: {directory}", soft_wrap=True)

    def __enter__(self) -> Screen:
        if not self._plain:
            self._live.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        if not self._plain:
            self._live.stop()

    def say(self, text: str) -> None:
        """One sentence, above the picture."""
        self._console.print(text)

    def show(self, now: Snapshot) -> None:
        """Draw the moment."""
        rate = self._rate(now)
        if not self._plain:
            self._live.update(self._picture(now, rate), refresh=True)
        elif now.at >= self._next_plain:
            self._next_plain = now.at + PLAIN_EVERY_S
            top = "  ".join(
                f"{row.version} {row.mean:.0f}{'?' if row.provisional else ''}" for row in now.standings[:8]
            )
            self._console.print(
                f"{now.status.up_s:6.0f} s  games {_ended(now.status)} (+{len(now.status.games)} running)  "
                f"moves {now.status.moves} ({rate:.0f}/s)  {top}",
                soft_wrap=True,
            )
            if now.event is not None:
                self._console.print(f"          {now.event.line}", soft_wrap=True)

    def _rate(self, now: Snapshot) -> float:
        self._moves.append((now.at, now.status.moves))
        while now.at - self._moves[0][0] > RATE_OVER_S:
            self._moves.popleft()
        then, moves = self._moves[0]
        return (now.status.moves - moves) / (now.at - then) if now.at > then else 0.0

    def _picture(self, now: Snapshot, rate: float) -> Group:
        standings = Table(title="Standings, 9x9", title_justify="left", box=None, pad_edge=False)
        standings.add_column("", justify="right", style="dim")
        standings.add_column("bot", min_width=12)
        for heading in ("rating", "games"):
            standings.add_column(heading, justify="right")
        for place, row in enumerate(now.standings, 1):
            rating = Text(words.standing(row), style="dim" if row.provisional else "bold")
            standings.add_row(str(place), row.version, rating, str(row.games))
        games = Table(title="Running games", title_justify="left", box=None, pad_edge=False)
        games.add_column("game", justify="right", style="dim")
        games.add_column("Black", min_width=12)
        games.add_column("White", min_width=12)
        games.add_column("moves", justify="right")
        for game in now.status.games:
            games.add_row(str(game.game), game.black, game.white, str(game.ply))
        side_by_side = Table.grid(padding=(0, 6))
        side_by_side.add_row(standings, *([] if now.event is None else [_event(now.event)]), games)
        left = "Ctrl-C ends it" if now.left is None else f"{now.left:.0f} s left, Ctrl-C ends it"
        status = now.status
        footer = (
            f"{status.up_s:.0f} s   {words.count(_ended(status), 'game')} ended   "
            f"{words.count(status.moves, 'move')}   {rate:.0f} moves/s   "
            f"{words.count(status.warnings, 'warning')}   {words.count(status.errors, 'error')}   {left}"
        )
        return Group("", side_by_side, "", Text(footer, style="dim"))


def _event(event: EventNow) -> Table:
    table = Table(title=event.title, title_justify="left", box=None, pad_edge=False)
    table.add_column("", justify="right", style="dim")
    table.add_column("bot", min_width=12)
    table.add_column(event.compared, justify="right")
    for place, name, value in event.rows:
        table.add_row(str(place), name, value)
    return table


def _ended(status: ServerStatus) -> int:
    return sum(status.ended.values())
