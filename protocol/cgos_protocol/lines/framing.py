"""Cuts a stream of bytes into lines, and says when each line counts as received.

Lines end in LF; CR and white space at both ends are cut off. For the oldest CGOS clients, which never send a line end,
silence ends a line until the first LF is seen. Must not know: what the lines mean, sockets, timers.
"""

from __future__ import annotations

from typing import Final

import msgspec

LIMIT: Final = 262_144
"""The longest line in bytes, its end not counted."""

BURST: Final = 1_000
"""Most lines in one segment; more is a flood, and cutting it up would keep everybody else waiting."""

FIRST_SILENCE: Final = 2_000_000
"""Microseconds after which the first message of a client without line ends is complete: long, since a client of the
usual kind whose first line came in two segments must not be mistaken for one."""

LATER_SILENCE: Final = 200_000
"""The same for its later messages."""


class Line(msgspec.Struct, frozen=True, gc=False):
    """One line.

    :ivar text: without its end and without white space round it; may be empty
    :ivar received: the time given with the segment that completed it (without line ends: with its last byte)
    """

    text: bytes
    received: int


class LineFramer:
    """One connection's incoming side.

    :ivar fault: None, or the sentence that says why nothing more is read; the connection is to be told and closed
    """

    __slots__ = ("_buffer", "_last", "_limit", "_line_ends", "_spoken", "fault")

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._line_ends = False
        self._spoken = False
        self._last = 0
        self.fault: str | None = None

    def feed(self, data: bytes, received: int) -> list[Line]:
        """Take one segment that arrived at `received`; the lines that it completes, in order.

        After a line that is too long nothing more is returned: see :attr:`fault`.
        """
        end = data.find(b"\n") + 1
        if end and end == len(data) <= self._limit and not self._buffer and self.fault is None:
            self._line_ends = True
            return [Line(data.strip(), received)]
        return self._cut(data, received) if data and self.fault is None else []

    def silence_after(self) -> int | None:
        """Microseconds after the last segment until :meth:`silence` is due, or None where silence ends nothing.

        It may be called sooner where the time of the answer is about to run out.
        """
        if self._line_ends or not self._buffer:
            return None
        return LATER_SILENCE if self._spoken else FIRST_SILENCE

    def silence(self) -> Line | None:
        """The peer has paused: the bytes that wait are a line, where :meth:`silence_after` says that silence counts."""
        if self.silence_after() is None:
            return None
        self._spoken = True
        line = Line(bytes(self._buffer).strip(), self._last)
        self._buffer.clear()
        return line

    def _cut(self, data: bytes, received: int) -> list[Line]:
        if data.count(b"\n") > BURST:
            self._stop(f"More than {BURST} lines came at once.")
            return []
        *ended, rest = data.split(b"\n")
        lines: list[Line] = []
        if ended:
            self._line_ends = True
            ended[0] = bytes(self._buffer) + ended[0]
            self._buffer.clear()
        for text in ended:
            if len(text) > self._limit:
                self._stop(f"A line has at most {self._limit} bytes.")
                return lines
            lines.append(Line(text.strip(), received))
        self._last = received
        self._buffer += rest
        if len(self._buffer) > self._limit:
            self._stop(f"A line has at most {self._limit} bytes.")
        return lines

    def _stop(self, sentence: str) -> None:
        self.fault = sentence
        self._buffer.clear()
