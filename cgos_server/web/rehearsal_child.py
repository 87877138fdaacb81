"""The child that rehearses an event: a task as JSON on its input, the answer on its output, and it ends.

Run by :mod:`cgos_server.web.rehearsals`. Must not know: databases, HTTP.
"""

from __future__ import annotations

import os
import sys

import msgspec

from cgos_protocol.errors import Refused
from cgos_server.presentation.events.rehearsing import rehearse
from cgos_server.service.ratings.build import one_thread
from cgos_server.web.rehearsals import Rehearsed, Task

NICENESS = 15
"""Games come first, then pages."""


def rehearsed(task: Task) -> Rehearsed:
    """Do it."""
    try:
        return Rehearsed(ahead=rehearse(task.rehearsal, task.seconds))
    except Refused as refusal:
        return Rehearsed(code=refusal.code.name, sentence=refusal.sentence)


def main() -> None:
    """A task on standard input, its answer on standard output."""
    os.nice(NICENESS)
    one_thread()
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=Task)
    sys.stdout.buffer.write(msgspec.json.encode(rehearsed(task)))


if __name__ == "__main__":
    main()
