"""Transcripts: what bots and the server said to each other, kept for the bots' owners.

A connection appends what was said to a buffer of its own (:class:`TranscriptRecorder`), which costs a move next to
nothing. The loop hands the buffers over to a thread, within a second after a game's end and within ten seconds at any
time; the thread masks what is secret and writes files (:mod:`cgos_server.observability.transcript_files`). Nothing is
kept of a connection that did not sign in as a bot. What cannot be written is dropped and counted; games never notice.
Must not know: what the lines mean, who may read them.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final, NamedTuple, Self

import msgspec
import structlog

from cgos_server.observability.transcript_erasing import erase
from cgos_server.observability.transcript_files import (
    LINE_MARKS,
    MESSAGE_MARKS,
    PACKED_MARKS,
    Heading,
    Shelf,
    entries_masked,
    game_of,
    masked,
    sweep,
    unpacked,
)

log = structlog.get_logger(__name__)

BYTES: Final = 32 << 20
"""Bytes that may wait for the thread."""

TEXT_MAX: Final = 16_384
"""Bytes of one line that are kept."""

EARLY: Final = 32
"""Lines before the sign-in that are kept until it succeeds."""

EARLY_BYTES: Final = 1 << 17
"""Their bytes: a long sign-in and what is said round it. Whoever only watches keeps them as long as it stays."""

PERIOD_S: Final = 1.0
"""Between two looks at what is to be written."""

AGE_US: Final = 9_000_000
"""What began so long ago is written at the next look. Opening and closing a file costs more than many moves."""

_PAUSE_S: Final = 0.0002
_PAUSE_BYTES: Final = 65_536
"""The thread pauses after so many bytes, or so many files of `_FILE_BYTES` each."""
_FILE_BYTES: Final = 8_192

_DAY_US: Final = 86_400_000_000
_HOUR_US: Final = 3_600_000_000


class Passage(NamedTuple):
    """What one connection said and heard about one game, for the thread. `secrets` must not be written down.
    The thread knows the heading's offset.

    A list: a growing bytearray is copied again and again, which with a thousand bots no cache holds.
    """

    bot: int
    heading: Heading
    secrets: tuple[bytes, ...]
    entries: list[bytes]


class Erasure(NamedTuple):
    """Bots and names that are to go from the files, for the thread. `done` is called in the loop."""

    bots: Collection[int]
    renamed: Callable[[str], str]
    done: Callable[[], None]


class Buffers:
    """All that was said and is not handed over yet, with a bound. In the event loop, except `written`."""

    __slots__ = ("_added", "_most", "_passages", "_written", "dropped", "open")

    def __init__(self, most_bytes: int = BYTES) -> None:
        self._most = most_bytes
        # Each side has a counter of its own, so that neither waits for the other.
        self._added = self._written = 0
        self.dropped = 0
        self.open: list[TranscriptRecorder] = []
        self._passages: list[Passage] = []

    def take(self, since: int | None = None) -> list[Passage]:
        """Passages that are complete, that are to be written soon, or that began before `since`. All: where it is None,
        and where half of the bytes that may wait do wait."""
        everything = since is None or self._added - self._written > self._most // 2
        unfinished = []
        for recorder in self.open:
            if everything or recorder.soon or recorder.began < (since or 0):
                recorder.finish()
            else:
                unfinished.append(recorder)
        self.open = unfinished
        passages, self._passages = self._passages, []
        return passages

    def complete(self, passage: Passage) -> None:
        """Nothing more is added to it."""
        self._passages.append(passage)

    def has_room(self, size: int) -> bool:
        """True, and the bytes count as waiting; or False, and one entry more is dropped."""
        if self._added - self._written + size > self._most:
            self.dropped += 1
            return False
        self._added += size
        return True

    def written(self, size: int) -> None:
        """By the thread: so many bytes do not wait any more."""
        self._written += size


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class TranscriptRecorder:
    """Listens to one connection, inside the event loop. Nothing of it is kept until :meth:`named`.

    :ivar bot: the bot's number, 0 until it is known
    :ivar soon: to be written within a second: a game has ended, or the connection is refused
    :ivar began: when the first entry was said that is not handed over yet (microseconds, loop's clock)
    """

    _buffers: Buffers
    _connection: int
    _venue: str
    bot: int = field(default=0, init=False)
    soon: bool = field(default=False, init=False)
    began: int = field(default=0, init=False)
    _early: list[tuple[bytes, int, bytes]] | None = field(default_factory=list, init=False)
    _entries: list[bytes] | None = field(default=None, init=False)
    _secrets: tuple[bytes, ...] = field(default=(), init=False)
    _game: int = field(default=0, init=False)
    _name: str = field(default="", init=False)

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
        self.bot, self._name = bot, name
        for mark, at, text in early:
            self._add(mark, at, text)

    def about(self, game: int) -> None:
        """The lines are about this game from now on. Messages say it themselves."""
        if game != self._game:
            self.finish()
            self._game = game

    def heard(self, line: bytes, at: int) -> None:
        """The bot said `line`, without its end, which was received at `at` (microseconds, loop's clock)."""
        entries = self._entries
        if entries is None or not line or len(line) > TEXT_MAX:
            self._add(LINE_MARKS[0], at, line)
            return
        entry = b"%d<%b\n" % (at, line)
        if self._buffers.has_room(len(entry)):
            entries.append(entry)

    def said(self, lines: bytes, at: int) -> None:
        """The server said whole `lines` at `at`."""
        entries = self._entries
        if entries is None or len(lines) > TEXT_MAX:
            self._add(LINE_MARKS[1], at, lines)
            return
        entry = b"%d>%b" % (at, lines)
        if self._buffers.has_room(len(entry)):
            entries.append(entry)

    def heard_message(self, message: bytes, at: int, packed: bool) -> None:
        """The bot said `message`, in JSON or MessagePack (`packed`)."""
        entries = self._entries
        if packed or entries is None or len(message) > TEXT_MAX or b"\n" in message:
            self._message(message, at, packed, 0)
            return
        entry = b"%d{%b\n" % (at, message)
        if self._buffers.has_room(len(entry)):
            entries.append(entry)

    def said_message(self, message: bytes, at: int, packed: bool) -> None:
        """The server said `message`, which has no line ends where it is JSON."""
        entries = self._entries
        if packed or entries is None or len(message) > TEXT_MAX:
            self._message(message, at, packed, 1)
            return
        entry = b"%d}%b\n" % (at, message)
        if self._buffers.has_room(len(entry)):
            entries.append(entry)

    def finish(self) -> None:
        """What was said so far is a passage."""
        entries, self._entries = self._entries, None
        self.soon = False
        if entries:
            heading = Heading(name=self._name, connection=self._connection, venue=self._venue, game=self._game)
            self._buffers.complete(Passage(self.bot, heading, self._secrets, entries))

    def _message(self, message: bytes, at: int, packed: bool, way: int) -> None:
        marks = PACKED_MARKS if packed else MESSAGE_MARKS
        if len(message) > TEXT_MAX and self._early is None:
            # What is left of it would not tell its game any more.
            message, marks = masked(unpacked(message) if packed else message, self._secrets), MESSAGE_MARKS
            self.about(game_of(message))
        self._add(marks[way], at, message)

    def _add(self, mark: bytes, at: int, text: bytes) -> None:
        if self._early is not None:
            if len(self._early) < EARLY and sum(len(early[2]) for early in self._early) + len(text) <= EARLY_BYTES:
                self._early.append((mark, at, text))
            return
        if mark in PACKED_MARKS:
            text = base64.b64encode(masked(text, self._secrets))  # it would hide a secret from the thread
        elif mark != LINE_MARKS[1]:
            text = text.replace(b"\n", b" ")
        text = text.rstrip(b"\n")
        if not text:
            return
        if len(text) > TEXT_MAX and mark not in PACKED_MARKS:
            text = masked(text, self._secrets)
            text = b"%b (and %d bytes more)" % (text[:TEXT_MAX], len(text) - TEXT_MAX)
        entry = b"%d%b%b\n" % (at, mark, text)
        if self._buffers.has_room(len(entry)):
            if self._entries is None:
                self._entries = []
                self.began = at
                self._buffers.open.append(self)
            self._entries.append(entry)


class Transcripts:
    """Keeps what all recorders hear. A context manager, inside an event loop: its thread runs inside the block, and
    writes what is left at its end.

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
        self._buffers = Buffers()
        self._shelves: dict[int, Shelf] = {}
        self._lost = 0
        self._failing = False
        self._swept = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._handed_over: SimpleQueue[list[Passage] | Erasure] = SimpleQueue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="transcripts", daemon=True)

    def __enter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._handed_over.put(self._buffers.take())
        self._stop.set()
        self._thread.join(10.0)

    def recorder(self, connection: int, venue: str = "") -> TranscriptRecorder:
        """Listens to a new connection."""
        return TranscriptRecorder(_buffers=self._buffers, _connection=connection, _venue=venue)

    @property
    def dropped(self) -> int:
        """Entries that were not written down so far."""
        return self._buffers.dropped + self._lost

    def write(self) -> None:
        """Write what was said until now, at once. Not while the thread runs."""
        self._write(self._buffers.take())

    async def erase(self, bots: Collection[int], renamed: Callable[[str], str]) -> None:
        """Remove the files of these bots, and have the other ones say the new names."""
        erased = asyncio.Event()
        self._handed_over.put(self._buffers.take())
        self._handed_over.put(Erasure(bots, renamed, erased.set))
        await erased.wait()

    def _hand_over(self) -> None:
        """In the loop: what is to be written is the thread's from now on."""
        self._handed_over.put(self._buffers.take(time.monotonic_ns() // 1000 - AGE_US))

    # -- in the thread

    def _run(self) -> None:
        assert self._loop is not None
        while not self._stop.wait(PERIOD_S):
            with contextlib.suppress(RuntimeError):  # a loop that has ended hands nothing over
                self._loop.call_soon_threadsafe(self._hand_over)
            with contextlib.suppress(Empty):
                self._work(self._handed_over.get(timeout=PERIOD_S))
        while not self._handed_over.empty():
            self._work(self._handed_over.get())

    def _work(self, work: list[Passage] | Erasure) -> None:
        try:
            if isinstance(work, Erasure):
                self._erase(work)
            else:
                self._write(work)
                self.sweep()
        except Exception as error:
            log.error("our fault in the transcripts", exc_info=error)

    def _erase(self, erasure: Erasure) -> None:
        self._shelves.clear()
        try:
            erase(self._folder, erasure.bots, erasure.renamed)
        finally:
            with contextlib.suppress(RuntimeError):  # a loop that has ended waits for nothing
                assert self._loop is not None
                self._loop.call_soon_threadsafe(erasure.done)

    def _write(self, passages: list[Passage]) -> None:
        offset = self._offset()
        by_bot: dict[int, list[tuple[Heading, bytes]]] = {}
        for passage in passages:
            entries = b"".join(passage.entries)
            self._buffers.written(len(entries))
            heading = msgspec.structs.replace(passage.heading, offset=offset)
            written = heading, entries_masked(entries, passage.secrets)
            by_bot.setdefault(passage.bot, []).append(written)
        bytes_since_pause = 0
        failure: OSError | None = None
        for bot, written_passages in by_bot.items():
            try:
                self._shelf(bot).write(written_passages)
            except OSError as error:
                failure = error
                self._lost += sum(entries.count(b"\n") for _, entries in written_passages)
                self._shelves.pop(bot, None)
            bytes_since_pause += _FILE_BYTES + sum(len(entries) for _, entries in written_passages)
            if bytes_since_pause > _PAUSE_BYTES:
                bytes_since_pause = 0
                self._pause()
        if by_bot:
            self._log_outage(failure)

    def _log_outage(self, failure: OSError | None) -> None:
        """Say once that it begins, and once that it is over: everything that was to be written was."""
        if failure is not None and not self._failing:
            log.warning(
                "transcripts cannot be written; what is said meanwhile is lost to owners",
                folder=str(self._folder),
                why=failure.strerror,
            )
        elif failure is None and self._failing:
            log.warning("transcripts are written again", folder=str(self._folder), lost=self._lost)
        self._failing = failure is not None

    def _shelf(self, bot: int) -> Shelf:
        shelf = self._shelves.get(bot)
        if shelf is None:
            folder = self._folder / str(bot)
            shelf = self._shelves[bot] = Shelf(folder, self._most, min(_DAY_US, self._keep_us // 4))
        return shelf

    def _pause(self) -> None:
        """Let the loop's thread have the interpreter, which it would get only after milliseconds otherwise."""
        if not self._stop.is_set():
            time.sleep(_PAUSE_S)

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
                sweep(folder, oldest)
                if number % 4 == 3:
                    self._pause()
