"""What went over the wire in a game, as people read it: each line with the time since the one before.

Must not know: who may see it, templates.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from cgos_protocol.ids import BotId
from cgos_server.observability.transcript_files import TranscriptLine
from cgos_server.service.nodes.commands import LinesRequest

LINES_MAX: Final = 5000
"""Lines of one game that are shown; the latest."""

_BEFORE_US = 120_000_000
_AFTER_US = 600_000_000
"""What is about a game may be said some minutes before it begins, and after its end."""


class Timed(NamedTuple):
    """One line. `since`: seconds since the one before; `clock`: True where the bot's own clock ran meanwhile."""

    at: str
    since: str
    from_bot: bool
    text: str
    clock: bool


def lines_of(bot: BotId, game: int, began_ms: int, ended_ms: int) -> LinesRequest:
    """What to ask for the latest lines of one bot's game (Unix ms)."""
    since, until = 1000 * began_ms - _BEFORE_US, 1000 * ended_ms + _AFTER_US
    return LinesRequest(bot=bot, since_us=since, until_us=until, game=game, limit=LINES_MAX)


def timed(lines: Sequence[TranscriptLine]) -> list[Timed]:
    """All lines with the times between them."""
    timed_lines: list[Timed] = []
    latest: int | None = None
    clock_runs = False
    for line in lines:
        from_bot = line.way == "<"
        since = "" if latest is None else f"{(line.at - latest) / 1e6:.3f}"
        timed_lines.append(
            Timed(
                at=_time_of_day(line.at), since=since, from_bot=from_bot, text=line.text, clock=clock_runs and from_bot
            )
        )
        latest = line.at
        # The bot may say something else before it moves: its clock runs until the server speaks again.
        clock_runs = clock_runs if from_bot else _asks(line.text)
    return timed_lines


def as_text(lines: Sequence[TranscriptLine]) -> str:
    """A file of it: time of day (UTC), seconds since the line before, ``<`` from the bot or ``>`` to it, the line."""
    return "".join(
        f"{line.at} {line.since or '0.000':>9} {'<' if line.from_bot else '>'} {line.text}\n" for line in timed(lines)
    )


def as_note(missing: Sequence[str]) -> str:
    """A line that names the nodes whose transcripts are missing in a file; empty where none is."""
    return f"(missing, as these nodes do not answer: {', '.join(missing)})\n" if missing else ""


def _asks(text: str) -> bool:
    """Whether the server asks for a move with it: in lines by a command, in messages by their kind."""
    return text.startswith("genmove") or '"type":"turn"' in text or '"your_turn":true' in text


def _time_of_day(at_us: int) -> str:
    return datetime.fromtimestamp(at_us / 1e6, UTC).strftime("%H:%M:%S.%f")[:-3]
