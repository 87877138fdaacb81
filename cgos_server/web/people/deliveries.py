"""What became of webhooks' messages, in a small private file of the data directory that outlives the web process.

Holds no address and no secret. A file that is not ours, is damaged or is too large counts as none: the figures begin
anew, and say since when they count. Must not know: what is delivered, how, who may see it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
import structlog
from msgspec import Meta

FILE: Final = "webhooks.json"

HOOKS_MAX: Final = 2_000
"""Webhooks of which something is kept; beyond, the one of which nothing was noted for longest is forgotten."""

RECENT: Final = 50
"""Ids of a webhook's latest messages, delivered or given up, that are kept, so that a restart repeats none of them."""

FILE_MAX: Final = 16 << 20
"""Bytes; a larger file is not ours."""

SENTENCE_MAX: Final = 300

log = structlog.get_logger(__name__)

_Moment = Annotated[int, Meta(ge=0, le=253_402_300_799_000)]
_Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
_Word = Annotated[str, Meta(max_length=64)]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a message. `at` in Unix milliseconds; `tries`: the how-manieth it was."""

    at: _Moment
    event: _Word
    delivered: bool
    sentence: Annotated[str, Meta(max_length=SENTENCE_MAX)]
    tries: _Count


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one webhook.

    :ivar well: its latest message was delivered
    :ivar success: its latest message that was delivered
    :ivar failure: its latest try that failed
    :ivar in_a_row: tries that failed since
    :ivar dropped: messages that were given up and that it has not been told of
    :ivar owed_from: when the oldest happening was that it has not been told yet (Unix milliseconds); None: it owes none
    :ivar recent: ids of its latest messages that were delivered or given up
    """

    well: bool = True
    success: Outcome | None = None
    failure: Outcome | None = None
    in_a_row: _Count = 0
    dropped: _Count = 0
    owed_from: _Moment | None = None
    recent: Annotated[tuple[_Word, ...], Meta(max_length=RECENT)] = ()

    @property
    def latest(self) -> Outcome | None:
        """What became of its latest message."""
        return self.success if self.well else self.failure


class _File(msgspec.Struct, frozen=True, kw_only=True):
    """The file. `since`: when the figures began to count; `until`: of everything before note was taken."""

    format: Literal[1]
    since: _Moment
    until: _Moment
    hooks: Annotated[dict[int, Kept], Meta(max_length=HOOKS_MAX)]


NOTHING: Final = Kept()


class Deliveries:
    """One a site; written by one process only.

    :param data: the data directory; None keeps everything in memory
    :param now_ms: Unix time in milliseconds
    :cvar note_ms: milliseconds after which :meth:`save` is due though nothing has changed but the time
    :ivar since: when the figures began to count (Unix milliseconds)
    :ivar until: everything that happened before was taken note of; at the beginning: by the process before this one
    """

    note_ms: ClassVar[int] = 60_000

    def __init__(self, data: Path | None, now_ms: Callable[[], int]) -> None:
        self._path = None if data is None else data / FILE
        self._now_ms = now_ms
        self._hooks: OrderedDict[int, Kept] = OrderedDict()
        self._written = b""
        self._failed = False
        self._turn = threading.Lock()
        now = now_ms()
        self.since = self.until = now
        stored = None if self._path is None else _read(self._path)
        if stored is not None:
            self._hooks.update(stored.hooks)
            # A clock that was set back does not hide what happens from now on.
            self.since, self.until = min(stored.since, now), min(stored.until, now)

    def of(self, webhook: int) -> Kept:
        """What is known of it."""
        return self._hooks.get(webhook, NOTHING)

    def keep(self, webhook: int, kept: Kept) -> None:
        """This is known of it now."""
        self._hooks[webhook] = kept
        self._hooks.move_to_end(webhook)
        while len(self._hooks) > HOOKS_MAX:
            self._hooks.popitem(last=False)

    def note(self, webhook: int, outcome: Outcome) -> None:
        """What became of a message of it. A test counts as the latest one, and is not counted among those in a row."""
        outcome = msgspec.structs.replace(outcome, sentence=outcome.sentence[:SENTENCE_MAX])
        was = self.of(webhook)
        in_a_row = was.in_a_row
        if outcome.event != "test":
            in_a_row = 0 if outcome.delivered else in_a_row + 1
        which = "success" if outcome.delivered else "failure"
        more: dict[str, Any] = {which: outcome, "well": outcome.delivered, "in_a_row": in_a_row}
        self.keep(webhook, msgspec.structs.replace(was, **more))

    def figures(self) -> Mapping[int, Kept]:
        """All that is known but the time."""
        return dict(self._hooks)

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Inside the block this process is the one that sends."""
        return nullcontext()

    async def refresh(self) -> None:
        """Learn what another process has noted, where one may."""

    async def save(self) -> None:
        """Write the file, if there is something new. A disk that refuses is said once in the log.

        :raises StoreError: in no process that is alone: another one may send now
        """
        await asyncio.to_thread(self.write, self.encoded())

    def encoded(self) -> bytes:
        """The file as it is to be, empty where that is what was written last."""
        content = msgspec.json.encode(_File(format=1, since=self.since, until=self.until, hooks=dict(self._hooks)))
        return b"" if content == self._written else content

    def write(self, content: bytes) -> None:
        """Put it in the file's place, whole or not at all. May wait for the disk, and for another thread."""
        if self._path is None or not content:
            return
        with self._turn:
            try:
                _replace(self._path, content)
            except OSError as error:
                if not self._failed:
                    log.warning("what became of webhooks cannot be kept", path=str(self._path), error=str(error))
                self._failed = True
            else:
                if self._failed:
                    log.warning("what became of webhooks is kept again", path=str(self._path))
                self._written, self._failed = content, False


def _read(path: Path) -> _File | None:
    """What the process before wrote, None where nothing of ours is there."""
    try:
        # No link is followed, and nothing is waited for that another kind of file might bring.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        log.warning("what became of webhooks cannot be read; the figures begin anew", path=str(path), error=str(error))
        return None
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_size > FILE_MAX:
            raise ValueError("it is no file of ours")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return msgspec.json.decode(file.read(FILE_MAX + 1), type=_File)
    except (OSError, ValueError, msgspec.MsgspecError, RecursionError) as error:
        log.warning("what became of webhooks is damaged; the figures begin anew", path=str(path), error=str(error))
        return None
    finally:
        os.close(handle)


def _replace(path: Path, content: bytes) -> None:
    new = path.with_name(path.name + ".new")
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)
    os.replace(new, path)
