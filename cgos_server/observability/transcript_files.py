"""The files of the transcripts: how they are written, within which bounds, and how they are read again.

A bot's folder holds files that are named by the time of their first line. A file is a sequence of passages, each what
one connection said and heard about one game: a line with what is true of the whole passage (:class:`Heading`, JSON
behind a ``#``), then its entries, ``<microseconds on the loop's clock><mark><text>``. The mark says who spoke and how
the text is encoded (:data:`LINE_MARKS` and its neighbors); a line without it belongs to the entry before. So the server
writes what went over the wire almost as it was, and whoever reads it does the work. Must not know: what the lines mean,
who may read them, when anything is written.
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import shutil
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

FOLDER: Final = "transcripts"
"""Below the data directory."""

LINE_MARKS: Final = (b"<", b">")
"""Lines of text: the bot's, the server's."""
MESSAGE_MARKS: Final = (b"{", b"}")
"""One message in JSON: the bot's, the server's."""
PACKED_MARKS: Final = (b"(", b")")
"""One message in MessagePack, in Base64 so that it is one line."""

MASK: Final = "(masked)"
"""Stands for what is secret."""

PARTS: Final = 8
"""Files of one bot when it uses all of its bytes."""

_SUFFIX: Final = ".transcript"
_HEADING: Final = b"#"
ENTRY: Final = re.compile(rb"([0-9]+)([<>{}()])(.*)", re.DOTALL)
_TOKEN: Final = re.compile(rb"cgos_[A-Za-z0-9_-]{16,}")
_FROM_BOT: Final = (LINE_MARKS[0], MESSAGE_MARKS[0], PACKED_MARKS[0])
_TAIL: Final = 65_536
"""Bytes at the end of a file in which its last whole line is looked for first."""


class TranscriptLine(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One line, or one message.

    :ivar at: when it counts as received, or was written: Unix microseconds
    :ivar name: the wire name of the version that plays
    :ivar venue: empty on a connection that plays in several
    :ivar connection: the connection's number
    :ivar way: ``<`` the bot said it, ``>`` the server
    :ivar game: the game that it is about, 0 where none is known
    """

    at: int
    name: str
    connection: int
    way: str
    text: str
    venue: str = ""
    game: int = 0

    @property
    def said_at(self) -> int:
        """`at` in milliseconds."""
        return self.at // 1000


class Heading(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is true of a whole passage.

    :ivar offset: what to add to the passage's times for Unix time (microseconds)
    """

    name: str
    connection: int
    venue: str = ""
    game: int = 0
    offset: int = 0


class _Game(msgspec.Struct):
    """As much of a message as tells its game."""

    game: int = 0


@dataclass(slots=True)
class _File:
    """One file and its size in bytes."""

    path: Path
    size: int


class Shelf:
    """One bot's files, oldest first, with their sizes.

    :param folder: made where there is none
    :param most: bytes for all files together; the oldest go
    :param part_us: the longest time that one file is about, microseconds
    """

    def __init__(self, folder: Path, most: int, part_us: int) -> None:
        self._folder = folder
        self._most = most
        self._part = max(1, most // PARTS)
        self._part_us = part_us
        self._files = [_File(path, path.stat().st_size) for path in _files(folder)]
        if self._files:
            # A crash or a full disk may have cut a line: what follows must not become part of it.
            self._files[-1].size = _whole_lines(self._files[-1].path)

    def write(self, passages: Iterable[tuple[Heading, bytes]]) -> None:
        """Append passages; the entries of each are whole lines, at least one. Raises OSError."""
        waiting, waiting_at = b"", 0
        for heading, entries in passages:
            at = int(entries[: _digits(entries)]) + heading.offset
            first = _HEADING + _ENCODER.encode(heading) + b"\n"
            while entries:
                end = _entry_end(entries, max(1, self._part - len(first)))
                piece, entries = first + entries[:end], entries[end:]
                if waiting and len(waiting) + len(piece) > self._part:
                    self._append(waiting_at, waiting)
                    waiting = b""
                waiting, waiting_at = waiting + piece, waiting_at if waiting else at
        if waiting:
            self._append(waiting_at, waiting)

    def _append(self, at: int, data: bytes) -> None:
        files = self._files
        last = files[-1] if files else None
        if last is None or last.size + len(data) > self._part or at - _began(last.path) > self._part_us:
            began = at if last is None else max(at, _began(last.path) + 1)
            last = _File(self._folder / f"{began:020d}{_SUFFIX}", 0)
            files.append(last)
        while len(files) > 1 and sum(file.size for file in files) + len(data) > self._most:
            files[0].path.unlink(missing_ok=True)
            files.pop(0)
        self._put(last.path, data)
        last.size += len(data)

    def _put(self, path: Path, data: bytes) -> None:
        # Not Path.open: so many bots have a line every second.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileNotFoundError:
            # One after the other: `parents=True` would ignore the mode of the directories between.
            for folder in (self._folder.parent, self._folder):
                folder.mkdir(exist_ok=True, mode=0o700)
            descriptor = os.open(path, flags, 0o600)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        finally:
            os.close(descriptor)


def masked(text: bytes, secrets: Iterable[bytes]) -> bytes:
    """`text` without these secrets, and without what looks like a token."""
    # The longest first: one may be part of another.
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK.encode())
    return _TOKEN.sub(MASK.encode(), text)


def entries_masked(entries: bytes, secrets: Collection[bytes]) -> bytes:
    """The same for the texts of entries, whose times stay as they are."""
    if b"cgos_" not in entries and not any(secret in entries for secret in secrets):
        return entries
    lines = []
    for line in entries.split(b"\n"):
        entry = ENTRY.fullmatch(line)
        start = 0 if entry is None else entry.start(3)
        lines.append(line[:start] + masked(line[start:], secrets))
    return b"\n".join(lines)


def unpacked(data: bytes) -> bytes:
    """A message in MessagePack as JSON."""
    try:
        return msgspec.json.encode(msgspec.msgpack.decode(data))
    except (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError):
        return b"(%d bytes that are no message)" % len(data)


def game_of(message: bytes, otherwise: int = 0) -> int:
    """The game that a message in JSON is about; `otherwise` where it cannot be read."""
    try:
        return _GAME.decode(message).game
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return otherwise


def read(
    folder: Path,
    bot: int,
    *,
    since_us: int,
    until_us: int,
    name: str | None = None,
    game: int | None = None,
    limit: int,
) -> list[TranscriptLine]:
    """The last `limit` lines of a bot between two instants (Unix microseconds, both included), in their order.

    Reads the files from the last one back, and no further than it must: at most the bytes that one bot may have.

    :param folder: where the transcripts are
    :param name: only of the version with this wire name
    :param game: only what is about this game
    """
    lines: deque[TranscriptLine] = deque()
    for path in reversed(_files(folder / str(bot))):
        if _began(path) > until_us:
            continue
        wanted = [
            line
            for line in _lines(path)
            if since_us <= line.at <= until_us
            and (name is None or line.name == name)
            and (game is None or line.game == game)
        ]
        lines.extendleft(reversed(wanted[-(limit - len(lines)) :] if wanted else ()))
        # Lines of two connections may lie a little out of order, across the edge of two files too.
        if len(lines) >= limit or _began(path) < since_us - 60_000_000:
            break
    return sorted(lines, key=lambda line: line.at)


def forget(folder: Path) -> None:
    """Remove all transcripts: none are kept any more. What cannot be removed stays."""
    shutil.rmtree(folder, ignore_errors=True)


def newest_bot(folder: Path) -> int:
    """The highest number of a bot that has a folder below `folder`; 0 where none has. Raises OSError."""
    return max((int(each.name) for each in folder.glob("[0-9]*") if each.name.isdecimal()), default=0)


def highest_number(folder: Path) -> int:
    """Return the highest number of a bot, or of a connection in each bot's latest file: numbers that the server gave.
    Numbers of games are not looked at, because bots can write any. Raises OSError."""
    latest = [files[-1] for bot in folder.glob("[0-9]*") if (files := _files(bot))]
    connections = (line.connection for path in latest for line in _lines(path))
    return max(newest_bot(folder), max(connections, default=0))


def sweep(folder: Path, oldest: float) -> None:
    """Remove a bot's files that were last written before `oldest` (Unix seconds), and its folder where none is left."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.stat().st_mtime < oldest:
                path.unlink()
        folder.rmdir()  # it stays where it is not empty


def _lines(path: Path) -> Iterator[TranscriptLine]:
    """What a file holds. What cannot be read, such as a line that was cut by a crash, is left out."""
    try:
        data = path.read_bytes()
    except OSError:
        return  # it has just been removed
    heading: Heading | None = None
    at, mark, game = 0, b"", 0
    for line in data.split(b"\n")[:-1]:
        if line.startswith(_HEADING):
            heading, mark = None, b""
            with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
                heading = _HEADING_DECODER.decode(line[1:])
            continue
        entry = ENTRY.fullmatch(line)
        if heading is None or (entry is None and not mark):
            continue
        text = line
        game = heading.game
        if entry is not None:
            at, mark, text = int(entry[1]) + heading.offset, entry[2], entry[3]
            if mark in PACKED_MARKS:
                text = unpacked(base64.b64decode(text))
            if mark not in LINE_MARKS:
                game = game_of(text, game)
        way = "<" if mark in _FROM_BOT else ">"
        shown = text.decode(errors="replace").rstrip("\r")
        yield TranscriptLine(
            at=at, name=heading.name, connection=heading.connection, way=way, text=shown, venue=heading.venue, game=game
        )


def _entry_end(entries: bytes, room: int) -> int:
    """Where the last entry ends that fits into `room` bytes; the end of the first where none does."""
    if len(entries) <= room:
        return len(entries)
    end = entries.rfind(b"\n", 0, room) + 1
    while end and not ENTRY.match(entries, end):
        end = entries.rfind(b"\n", 0, end - 1) + 1  # the lines of one entry stay together
    if end:
        return end
    end = entries.find(b"\n") + 1
    while end < len(entries) and not ENTRY.match(entries, end):
        end = entries.find(b"\n", end) + 1
    return end


def _digits(entries: bytes) -> int:
    entry = ENTRY.match(entries)
    if entry is None:
        raise ValueError("a passage begins with the time of its first entry")
    return entry.end(1)


def _files(folder: Path) -> list[Path]:
    """A bot's files, oldest first."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == _SUFFIX and path.stem.isdigit())
    except OSError:
        return []


def _began(path: Path) -> int:
    return int(path.stem)


def _whole_lines(path: Path) -> int:
    """Cut off a last line that has no end; returns the file's size after that. Raises OSError."""
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        for tail in (min(_TAIL, size), size):
            file.seek(size - tail)
            end = file.read(tail).rfind(b"\n") + 1
            if end or tail == size:
                break
        if end != tail:
            file.truncate(size - tail + end)
        return size - tail + end


_ENCODER: Final = msgspec.json.Encoder()
_HEADING_DECODER: Final = msgspec.json.Decoder(Heading)
_GAME: Final = msgspec.json.Decoder(_Game)
