"""The child that computes standings again: a task as JSON on its input, the answer on its output, and it ends.

Run by :mod:`cgos_server.web.api.reading.recomputing`. It goes when whoever started it kills it, or has gone: reading
the database is all it does. Must not know: HTTP.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import msgspec

from cgos_protocol.api.messages import Standing
from cgos_protocol.errors import Refused
from cgos_server.presentation.answers import published
from cgos_server.service.ratings.build import one_thread
from cgos_server.service.ratings.recomputing import recompute
from cgos_server.storage.reading.history import History
from cgos_server.web.api.reading.recomputing import Recomputed, Task
from cgos_server.web.command_line import database_of

NICENESS = 15
"""Games come first, then pages."""


async def recomputed(task: Task) -> Recomputed:
    """Do it. Raises Refused, StoreError."""
    location = Path(task.path) if task.path else database_of(Path(), os.environ)
    async with History(location) as history:
        computed = await recompute(history, task.venue, task.rated.system(task.system), task.last)
        names = await history.bots.version_names()
    rows = published(computed.standings(names), list[Standing])
    # No entry published them.
    return Recomputed(computed.games, [msgspec.structs.replace(row, seq=None) for row in rows], computed.summary(names))


def main() -> None:
    """A task on standard input, its answer on standard output."""
    os.nice(NICENESS)
    one_thread()
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=Task)
    try:
        answer = asyncio.run(recomputed(task))
    except Refused as refusal:
        sys.exit(str(refusal))
    sys.stdout.buffer.write(msgspec.json.encode(answer))


if __name__ == "__main__":
    main()
