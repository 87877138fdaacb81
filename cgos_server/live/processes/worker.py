"""A child that computes: reads a task, does it, writes what it found, until its input ends.

Run as ``python -m cgos_server.live.processes.worker NAME`` by :mod:`cgos_server.live.processes.children`. It computes
on one thread, and goes when the server does. Must not know: venues, what it computes.
"""

from __future__ import annotations

import os
import pickle
import struct
import traceback
from typing import Any, BinaryIO, Final

from cgos_server.service.ratings.build import one_thread

NICENESS: Final = 10
"""Whatever is computed stands back for the games, which share its cores."""

_COUNT = struct.Struct("<Q")


def send(pipe: BinaryIO, value: Any) -> None:
    """Write one value; arrays go as they lie in memory."""
    buffers: list[pickle.PickleBuffer] = []
    parts = [memoryview(pickle.dumps(value, protocol=5, buffer_callback=buffers.append))]
    parts += [buffer.raw() for buffer in buffers]
    pipe.write(_COUNT.pack(len(parts)) + b"".join(_COUNT.pack(part.nbytes) for part in parts))
    for part in parts:
        pipe.write(part)
    pipe.flush()


def receive(pipe: BinaryIO) -> Any:
    """Read one value from the other end, which is of this program. Raises EOFError where the input has ended."""
    (count,) = _COUNT.unpack(_exactly(pipe, _COUNT.size))
    sizes = struct.unpack(f"<{count}Q", _exactly(pipe, _COUNT.size * count))
    data, *buffers = (_exactly(pipe, size) for size in sizes)
    return pickle.loads(data, buffers=buffers)


def _exactly(pipe: BinaryIO, size: int) -> bytearray:
    data = bytearray(size)
    view, at = memoryview(data), 0
    while at < size:
        count = pipe.readinto(view[at:])  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        at += count
    return data


def main() -> None:
    """Serve until the input ends."""
    jobs, answers = os.fdopen(0, "rb", buffering=0), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not get between the answers
    os.nice(NICENESS)
    one_thread()
    while True:
        try:
            task = receive(jobs)
        except EOFError:
            return
        try:
            answer = (task(), "")
        except Exception:
            answer = (None, traceback.format_exc())
        try:
            send(answers, answer)
        except BrokenPipeError:
            return


if __name__ == "__main__":
    main()
