"""All that is kept about a person or a bot as one file: JSON, or an archive of that with the transcripts.

Written portion by portion, in constant memory. Must not know: HTTP, SQL, who may have it.
"""

from __future__ import annotations

import asyncio
import zipfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

import msgspec

from cgos_server.presentation.export_forms import Written
from cgos_server.service.nodes.transcripts import Transcripts
from cgos_server.storage.reading.keeping.personal import About, Personal, Portion

FORMAT: Final = "cgos-personal-data/1"
"""Says what the sections mean; another number where one of them means something else."""


async def personal_json(personal: Personal, about: About, at: int) -> AsyncGenerator[bytes, None]:
    """One object: `format`, `at` (Unix milliseconds), and a list for each section."""
    yield msgspec.json.encode({"format": FORMAT, "at": at})[:-1]
    sections = _Sections()
    async with aclosing(personal.everything(about)) as portions:
        async for portion in portions:
            yield await asyncio.to_thread(sections.written, portion)
    yield b"]}"


async def personal_zip(
    personal: Personal, about: About, at: int, transcripts: Transcripts
) -> AsyncGenerator[bytes, None]:
    """The same as ``data.json`` in an archive, with a folder of each bot's transcripts."""
    written = Written()
    archive = zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED)
    with archive.open("data.json", "w") as entry:
        async with aclosing(personal_json(personal, about, at)) as portions:
            async for portion in portions:
                await asyncio.to_thread(entry.write, portion)
                yield written.taken()
    async with aclosing(transcripts.files(list(about.bots))) as files:
        async for name, content in files:
            await asyncio.to_thread(archive.writestr, name, content)
            yield written.taken()
    archive.close()
    yield written.taken()


class _Sections:
    """The lists of an object, one after another."""

    def __init__(self) -> None:
        self._section = ""
        self._has_rows = False

    def written(self, portion: Portion) -> bytes:
        """The next rows, and where they are the first ones of their section its beginning."""
        section, rows = portion
        parts = []
        if section != self._section:
            parts.append(b"%b,%b:[" % (b"]" if self._section else b"", msgspec.json.encode(section)))
            self._section, self._has_rows = section, False
        if rows:
            parts += [b","] if self._has_rows else []
            parts.append(msgspec.json.encode(rows)[1:-1])
            self._has_rows = True
        return b"".join(parts)
