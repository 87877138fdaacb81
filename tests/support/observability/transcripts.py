"""Transcripts for those who read them, without a server that wrote them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cgos_server.observability.transcript_files import FOLDER, Heading, Shelf, TranscriptLine


def keep_lines(data: Path, bot: int, lines: Sequence[TranscriptLine]) -> None:
    """Put `lines` of plain text into the bot's transcripts below the data directory, a passage each."""
    shelf = Shelf(data / FOLDER / str(bot), 1 << 20, 10**12)
    for line in lines:
        heading = Heading(name=line.name, connection=line.connection, venue=line.venue, game=line.game, offset=0)
        shelf.write([(heading, f"{line.at}{line.way}{line.text}\n".encode())])
