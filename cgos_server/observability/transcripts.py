"""Transcripts: what bots and the server said to each other, in files for the bots' owners.

A connection only puts what was said on a bounded queue (:class:`Tap`); a thread writes it about once a second to
``<folder>/<bot's number>/``, JSON lines in files that rotate within bounds of bytes and days. What is secret is masked
before it is queued, and nothing is kept of a connection that did not sign in as a bot. What cannot be written is
dropped and counted; games never notice. :func:`read` reads the files again, from any process. Must not know: what the
lines mean, who may read them.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec
import structlog

log = structlog.get_logger(__name__)

FOLDER: Final = "transcripts"
"""Below the data directory."""

MASK: Final = "(masked)"

LINES: Final = 65_536
"""Lines that may wait for the thread."""

BYTES: Final = 32 << 20
"""Their bytes."""

TEXT_MAX: Final = 16_384
"""Bytes of one line that are kept."""

EARLY: Final = 32
"""Lines before the sign-in that are kept until it succeeds."""

EARLY_BYTES: Final = 1 << 17
"""Their bytes: a long sign-in and what is said round it. Whoever only watches keeps them as long as it stays."""

PERIOD_S: Final = 1.0

SLICE: Final = 64
"""Lines that the thread makes ready in one go."""
_BREATH_S: Final = 0.0002

PARTS: Final = 8
"""Files of one bot when it uses all of its bytes."""

_DAY_US: Final = 86_400_000_000
_HOUR_US: Final = 3_600_000_000
_SUFFIX: Final = ".jsonl"
_TOKEN: Final = re.compile(rb"cgos_[A-Za-z0-9_-]{16,}")


class TranscriptLine(msgspec.Struct, frozen=True, omit_defaults=True):
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


class _Game(msgspec.Struct):
    """As much of a message as tells its game."""

    game: int = 0


_Said = tuple["Tap", str, int, int, bytes, bool, bool]
"""What waits for the thread: whose, which way, when (loop's clock), about which game, the text, whether it is one
message and not lines, whether it is in MessagePack. A bare tuple: it is made on the way of a move."""


class Tap:
    """Listens to one connection, inside the event loop. Nothing of it is kept until :meth:`named`.

    :ivar game: the game that the connection's lines are about from now on, 0 for none; unused by messages
    """

    __slots__ = ("_early", "_queue", "_secrets", "bot", "connection", "game", "name", "venue")

    def __init__(self, queue: Queue, connection: int, venue: str) -> None:
        self._queue = queue
        self.connection = connection
        self.venue = venue
        self._early: list[tuple[str, int, bytes, bool, bool]] | None = []
        self._secrets: tuple[bytes, ...] = ()
        self.bot = self.game = 0
        self.name = ""

    @property
    def unnamed(self) -> bool:
        """True while it is not known whose connection this is."""
        return self._early is not None

    def secrets(self, *words: str | None) -> None:
        """Never write these down, wherever they turn up from now on or have turned up before."""
        for word in words:
            if word:
                # In a message a quotation mark stands behind a backslash.
                self._secrets += tuple({word.encode(), msgspec.json.encode(word)[1:-1]})

    def named(self, bot: int, name: str) -> None:
        """The bot with this number has signed in, and plays under this wire name."""
        early, self._early = self._early or (), None
        self.bot, self.name = bot, name
        for way, at, text, typed, packed in early:
            self._queue.add((self, way, at, 0, self._masked(text), typed, packed))

    def heard(self, text: bytes, at: int, typed: bool = False, packed: bool = False) -> None:
        """The bot said `text`, which was received at `at` (microseconds, loop's clock)."""
        self._note("<", at, text, typed, packed)

    def said(self, text: bytes, at: int, typed: bool = False, packed: bool = False) -> None:
        """The server said `text`: whole lines, or one message (`typed`), perhaps in MessagePack (`packed`)."""
        self._note(">", at, text, typed, packed)

    def _note(self, way: str, at: int, text: bytes, typed: bool, packed: bool) -> None:
        for secret in self._secrets:
            if secret in text:
                text = self._masked(text)
                break
        if b"cgos_" in text:
            text = _TOKEN.sub(MASK.encode(), text)
        if self._early is None:
            self._queue.add((self, way, at, self.game, text, typed, packed))
        elif len(self._early) < EARLY and sum(len(said[2]) for said in self._early) + len(text) <= EARLY_BYTES:
            self._early.append((way, at, text, typed, packed))

    def _masked(self, text: bytes) -> bytes:
        # The longest first: one may be part of another.
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, MASK.encode())
        return text


class Queue:
    """From the loop's thread to the writing one. Each side has its own counters, so that neither waits."""

    def __init__(self, lines: int = LINES, most_bytes: int = BYTES) -> None:
        self._waiting: deque[_Said] = deque()
        self._lines = lines
        self._bytes = most_bytes
        self._added = self._taken = 0
        self.dropped = 0

    def add(self, said: _Said) -> None:
        """By the loop. Dropped where too much waits."""
        size = len(said[4])
        if len(self._waiting) >= self._lines or self._added - self._taken + size > self._bytes:
            self.dropped += 1
            return
        self._added += size
        self._waiting.append(said)

    def take(self) -> Iterator[_Said]:
        """By the thread: what waits."""
        for _ in range(len(self._waiting)):
            said = self._waiting.popleft()
            self._taken += len(said[4])
            yield said


class _File:
    """One file and its size in bytes."""

    __slots__ = ("path", "size")

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self.size = size


class _Shelf:
    """One bot's files, oldest first, with their sizes. File names are the time of their first line."""

    def __init__(self, folder: Path, most: int, part_us: int) -> None:
        self._folder = folder
        self._most = most
        self._part = max(1, most // PARTS)
        self._part_us = part_us
        self._files = [_File(path, path.stat().st_size) for path in _files(folder)]
        # A crash or a full disk may have cut a line: what follows must not become part of it.
        self._torn = bool(self._files) and _is_torn(self._files[-1].path)

    def write(self, at: int, lines: bytes) -> None:
        """Append whole lines, the first of which is of `at`. Raises OSError."""
        while len(lines) > self._part:
            end = lines.rfind(b"\n", 0, self._part) + 1 or lines.find(b"\n") + 1
            self._append(at, lines[:end])
            lines = lines[end:]
        if lines:
            self._append(at, lines)

    def _append(self, at: int, data: bytes) -> None:
        files = self._files
        last = files[-1] if files else None
        if last is None or last.size + len(data) > self._part or at - _began(last.path) > self._part_us:
            began = at if last is None else max(at, _began(last.path) + 1)
            last = _File(self._folder / f"{began:020d}{_SUFFIX}", 0)
            files.append(last)
        elif self._torn:
            data = b"\n" + data
        while len(files) > 1 and sum(file.size for file in files) + len(data) > self._most:
            files[0].path.unlink(missing_ok=True)
            files.pop(0)
        self._put(last.path, data)
        last.size += len(data)
        self._torn = False

    def _put(self, path: Path, data: bytes) -> None:
        # Not Path.open: so many bots have a line every second.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileNotFoundError:
            # One after the other: the mode of those that are made on the way is nobody's choice.
            for folder in (self._folder.parent, self._folder):
                folder.mkdir(exist_ok=True, mode=0o700)
            descriptor = os.open(path, flags, 0o600)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        finally:
            os.close(descriptor)


class Transcripts:
    """Writes what all taps hear. A context manager: its thread runs inside the block, and writes what is left at its
    end.

    :param folder: made where there is none
    :param days: how long lines are kept
    :param most: bytes for one bot
    :param wall_us: Unix time in microseconds
    :param offset_us: what to add to the loop's clock for Unix time, now
    """

    def __init__(
        self,
        folder: Path,
        days: float,
        most: int,
        *,
        wall_us: Callable[[], int] = lambda: time.time_ns() // 1000,
        offset_us: Callable[[], int] = lambda: (time.time_ns() - time.monotonic_ns()) // 1000,
    ) -> None:
        self._folder = folder
        self._keep_us = int(days * _DAY_US)
        self._most = most
        self._wall = wall_us
        self._offset = offset_us
        self._queue = Queue()
        self._shelves: dict[int, _Shelf] = {}
        self._lost = 0
        self._failing = False
        self._swept = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="transcripts", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(10.0)

    def tap(self, connection: int, venue: str = "") -> Tap:
        """Listens to a new connection."""
        return Tap(self._queue, connection, venue)

    @property
    def dropped(self) -> int:
        """Lines that were not written down so far."""
        return self._queue.dropped + self._lost

    def _run(self) -> None:
        stopping = False
        while not stopping:
            stopping = self._stop.wait(PERIOD_S)
            try:
                self.write()
                self.sweep()
            except Exception as error:
                log.error("our fault in the transcripts", exc_info=error)

    def write(self) -> None:
        """Write what waits."""
        offset = self._offset()
        by_bot: dict[int, list[TranscriptLine]] = {}
        for number, said in enumerate(self._queue.take()):
            if lines := _lines(said, offset):  # none of a blank one
                by_bot.setdefault(said[0].bot, []).extend(lines)
            if number % SLICE == SLICE - 1:
                self._breathe()
        for number, (bot, lines) in enumerate(by_bot.items()):
            try:
                shelf = self._shelves.get(bot)
                if shelf is None:
                    folder = self._folder / str(bot)
                    shelf = self._shelves[bot] = _Shelf(folder, self._most, min(_DAY_US, self._keep_us // 4))
                shelf.write(lines[0].at, _ENCODER.encode_lines(lines))
                self._failing = False
            except OSError as error:
                self._lost += len(lines)
                self._shelves.pop(bot, None)
                if not self._failing:
                    self._failing = True
                    log.warning("transcripts cannot be written; what is said meanwhile is lost to owners",
                                folder=str(self._folder), why=error.strerror)  # fmt: skip
            if number % 4 == 3:
                self._breathe()

    def _breathe(self) -> None:
        """Let the loop's thread have the interpreter, which it would get only after milliseconds otherwise."""
        if not self._stop.is_set():
            time.sleep(_BREATH_S)

    def sweep(self) -> None:
        """Once an hour: remove what is too old, also that of bots that are away."""
        now = self._wall()
        if self._swept and now - self._swept < _HOUR_US:
            return
        self._swept = now
        self._shelves.clear()
        oldest = (now - self._keep_us) / 1e6
        with contextlib.suppress(OSError):
            for number, folder in enumerate(self._folder.iterdir()):
                _sweep(folder, oldest)
                if number % 4 == 3:
                    self._breathe()


def forget(folder: Path) -> None:
    """Remove all transcripts: none are kept any more. What cannot be removed stays."""
    shutil.rmtree(folder, ignore_errors=True)


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
    files = _files(folder / str(bot))
    found: deque[TranscriptLine] = deque()
    for path in reversed(files):
        if _began(path) > until_us:
            continue
        lines = [
            line
            for line in _readable(path)
            if since_us <= line.at <= until_us
            and (name is None or line.name == name)
            and (game is None or line.game == game)
        ]
        found.extendleft(reversed(lines[-(limit - len(found)) :] if lines else ()))
        # Lines of two connections may lie a little out of order, across the edge of two files too.
        if len(found) >= limit or _began(path) < since_us - 60_000_000:
            break
    return sorted(found, key=lambda line: line.at)


def _readable(path: Path) -> Iterator[TranscriptLine]:
    try:
        data = path.read_bytes()
    except OSError:
        return  # it has just been removed
    for text in data.splitlines():
        with contextlib.suppress(msgspec.DecodeError):  # one that was cut by a crash or a full disk
            yield _DECODER.decode(text)


def _lines(said: _Said, offset: int) -> list[TranscriptLine]:
    """As they stand in the file."""
    tap, way, at, game, text, typed, packed = said
    at += offset
    if not typed:
        return [
            TranscriptLine(at, tap.name, tap.connection, way, _shown(line), tap.venue, game)
            for line in text.split(b"\n")
            if line
        ]
    if packed:
        try:
            text = msgspec.json.encode(msgspec.msgpack.decode(text))
        except (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError):
            text = b"(%d bytes that are no message)" % len(text)
    with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        game = _GAME.decode(text).game
    return [TranscriptLine(at, tap.name, tap.connection, way, _shown(text), tap.venue, game)]


def _shown(text: bytes) -> str:
    if len(text) <= TEXT_MAX:
        return text.decode(errors="replace").rstrip("\r")
    return f"{text[:TEXT_MAX].decode(errors='replace')} (and {len(text) - TEXT_MAX} bytes more)"


def _files(folder: Path) -> list[Path]:
    """A bot's files, oldest first."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == _SUFFIX and path.stem.isdigit())
    except OSError:
        return []


def _began(path: Path) -> int:
    return int(path.stem)


def _is_torn(path: Path) -> bool:
    """Whether its last line has no end."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 1))
        return file.read(1) not in (b"", b"\n")


def _sweep(folder: Path, oldest: float) -> None:
    for path in _files(folder):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
    with contextlib.suppress(OSError):  # it is not empty
        folder.rmdir()


_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(TranscriptLine)
_GAME: Final = msgspec.json.Decoder(_Game)
