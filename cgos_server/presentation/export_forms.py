"""Forms of bulk exports: chunks of rows become lines of JSON, lines of CSV or files of an archive.

Every chunk is turned into bytes by itself, so that an export of any length needs the memory of one chunk. Must not
know: the database, HTTP, what the rows mean.
"""

from __future__ import annotations

import asyncio
import csv
import io
import tarfile
import time
import zipfile
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

RowT = TypeVar("RowT")

_FIRST_OF_ZIP: Final = (1980, 1, 1, 0, 0, 0)
_UNIX: Final = 3
"""Whose permissions the files of a ZIP archive have."""


class Form(Generic[RowT]):
    """Writes one export; keeps what it must know from chunk to chunk."""

    def begin(self) -> bytes:
        """What comes before the first row."""
        return b""

    def chunk(self, rows: Sequence[RowT]) -> bytes:
        """The next rows."""
        raise NotImplementedError

    def end(self) -> bytes:
        """What comes after the last row."""
        return b""


class Ndjson(Form[Any]):
    """A JSON value a line."""

    def chunk(self, rows: Sequence[Any]) -> bytes:
        return bytes(msgspec.json.Encoder().encode_lines(rows))


class Csv(Form[msgspec.Struct]):
    """RFC 4180 with a line of names first: UTF-8, lines end with CR LF, nothing where there is no value.

    :param kind: of the rows; its fields are the columns
    """

    def __init__(self, kind: type[msgspec.Struct]) -> None:
        self._fields = kind.__struct_fields__

    def begin(self) -> bytes:
        return _lines([self._fields])

    def chunk(self, rows: Sequence[msgspec.Struct]) -> bytes:
        return _lines([_cell(getattr(row, name)) for name in self._fields] for row in rows)


class File(NamedTuple):
    """One file of an archive.

    :ivar folder: a name; whatever is in it, it stays one folder
    :ivar at: Unix seconds
    """

    folder: str
    name: str
    at: int
    content: bytes


class Tar(Form[File]):
    """A tar archive (POSIX.1-2001, pax): the same files always make the same bytes."""

    def __init__(self) -> None:
        self._length = 0

    def chunk(self, rows: Sequence[File]) -> bytes:
        written = b"".join(part for row in rows for part in _member(row))
        self._length += len(written)
        return written

    def end(self) -> bytes:
        """Two empty blocks, and what fills the last record."""
        blocks = 2 * tarfile.BLOCKSIZE
        return bytes(blocks + -(self._length + blocks) % tarfile.RECORDSIZE)


class Zip(Form[File]):
    """A ZIP archive, each file packed: the same files always make the same bytes."""

    def __init__(self) -> None:
        self._written = Written()
        self._archive = zipfile.ZipFile(self._written, "w", zipfile.ZIP_DEFLATED)

    def chunk(self, rows: Sequence[File]) -> bytes:
        for row in rows:
            at = max(time.gmtime(row.at)[:6], _FIRST_OF_ZIP)
            info = zipfile.ZipInfo(f"{folder(row.folder)}/{folder(row.name)}", at)
            info.compress_type, info.external_attr, info.create_system = zipfile.ZIP_DEFLATED, 0o644 << 16, _UNIX
            self._archive.writestr(info, row.content)
        return self._written.taken()

    def end(self) -> bytes:
        """The directory."""
        self._archive.close()
        return self._written.taken()


class Joined(Form[File]):
    """The files one after another, as one: of SGF a collection."""

    def chunk(self, rows: Sequence[File]) -> bytes:
        return b"".join(row.content for row in rows)


class Written:
    """What an archive wrote and nobody has taken yet; it cannot go back in it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, part: bytes) -> int:
        self._parts.append(bytes(part))
        return len(part)

    def flush(self) -> None:
        """Nothing is kept back."""

    def close(self) -> None:
        """What was written can still be taken."""

    def taken(self) -> bytes:
        """What was written since it was asked the last time."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


async def stream(
    chunks: AsyncIterable[Sequence[Any]], rows: Callable[[Any], Sequence[RowT]], form: Form[RowT]
) -> AsyncGenerator[bytes, None]:
    """The export's bytes, a portion a chunk. Work is done in a thread; the next chunk is read when this one is gone.

    :param chunks: an asynchronous generator, closed with this one
    :param rows: makes of a chunk what `form` takes
    """
    source = chunks.__aiter__()
    if not isinstance(source, AsyncGenerator):
        raise TypeError("a stream of chunks is a generator, which can be closed")
    async with aclosing(source):
        if first := form.begin():
            yield first
        async for chunk in source:
            if data := await asyncio.to_thread(lambda: form.chunk(rows(chunk))):  # noqa: B023
                yield data
        if last := form.end():
            yield last


def folder(name: str) -> str:
    """`name` as the name of one folder: no way out of the archive, nothing that a system takes for something else."""
    safe = "".join(letter if letter.isprintable() and letter not in '/\\:*?"<>|' else "_" for letter in name)
    return safe if safe.strip(". ") else "_" + safe.strip(". ")


def _member(row: File) -> Iterable[bytes]:
    info = tarfile.TarInfo(f"{folder(row.folder)}/{folder(row.name)}")
    info.size, info.mtime, info.mode = len(row.content), row.at, 0o644
    yield info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    yield row.content
    yield bytes(-len(row.content) % tarfile.BLOCKSIZE)


def _lines(rows: Iterable[Iterable[object]]) -> bytes:
    written = io.StringIO(newline="")
    csv.writer(written).writerows(rows)
    return written.getvalue().encode()


def _cell(value: object) -> object:
    return ("true" if value else "false") if isinstance(value, bool) else value
