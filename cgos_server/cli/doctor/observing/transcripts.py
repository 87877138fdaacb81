"""How much the folder of transcripts holds.

Must not know: what is said in them, how much they may be.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from cgos_server.cli.doctor.checks.programs import Kept

_MOST_FILES: Final = 200_000


def look(folder: Path) -> Kept | None:
    """None where there is no such folder. Raises OSError where it cannot be read."""
    if not folder.is_dir():
        return None
    total = largest = bots = files = 0
    oldest: float | None = None
    for bot in os.scandir(folder):
        if not bot.is_dir(follow_symlinks=False):
            continue
        bots += 1
        here = 0
        for file in os.scandir(bot.path):
            about = file.stat(follow_symlinks=False)
            here += about.st_size
            oldest = about.st_mtime if oldest is None else min(oldest, about.st_mtime)
            files += 1
        total, largest = total + here, max(largest, here)
        if files > _MOST_FILES:
            break
    oldest_ms = None if oldest is None else round(oldest * 1000)
    return Kept(total=total, largest=largest, bots=bots, oldest_ms=oldest_ms, whole=files <= _MOST_FILES)
