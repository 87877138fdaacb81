"""What pages and commands of other machines ask of the transcripts that lie on this one.

Must not know: who may see them, how they are shown.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any, Final, TypeVar

from cgos_protocol.errors import Code, NotFound
from cgos_protocol.ids import BotId
from cgos_server.core.renaming import Renaming
from cgos_server.observability import transcript_files
from cgos_server.observability.transcript_erasing import erase
from cgos_server.observability.transcript_files import TranscriptLine
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right

A = TypeVar("A")

_NAME: Final = re.compile(r"[0-9]+/[0-9]+\.[a-z]+")


class OfTranscripts(Command[A], frozen=True, kw_only=True):
    """Something about the files of one machine, whatever its node does."""

    audited = None
    forwarded = False

    def work(self, folder: Path) -> A:
        """Do it in the folder with the transcripts. Works with files: not for the event loop.

        Raises Refused. Where files are changed nobody may write there meanwhile.
        """
        raise NotImplementedError


class LinesRequest(OfTranscripts[list[TranscriptLine]], frozen=True, kw_only=True, tag="transcript lines"):
    """The last lines of a bot, of any time where none is said; fields as of
    :func:`cgos_server.observability.transcript_files.read`."""

    allowed = Right.NOBODY

    bot: BotId
    since_us: int = 0
    until_us: int = 2**62
    game: int | None = None
    limit: int

    def work(self, folder: Path) -> list[TranscriptLine]:
        return transcript_files.read(
            folder, self.bot, since_us=self.since_us, until_us=self.until_us, game=self.game, limit=self.limit
        )

    async def perform(self, context: CommandContext) -> list[TranscriptLine]:
        return await _worked(self, context)


class FilesRequest(OfTranscripts[list[str]], frozen=True, kw_only=True, tag="transcript files"):
    """The files of some bots, as ``<bot>/<file>``."""

    allowed = Right.NOBODY

    bots: list[BotId]

    def work(self, folder: Path) -> list[str]:
        return sorted(f"{bot}/{path.name}" for bot in self.bots for path in (folder / str(bot)).glob("*"))

    async def perform(self, context: CommandContext) -> list[str]:
        return await _worked(self, context)


class FileRequest(OfTranscripts[bytes], frozen=True, kw_only=True, tag="transcript file"):
    """One file, by the name that :class:`FilesRequest` gives it; empty where it is not there any more."""

    allowed = Right.NOBODY

    name: str

    def work(self, folder: Path) -> bytes:
        if _NAME.fullmatch(self.name) is None:
            raise NotFound(Code.NO_TRANSCRIPT, f"There is no transcript {self.name!r}.")
        try:
            return (folder / self.name).read_bytes()
        except FileNotFoundError:
            return b""

    async def perform(self, context: CommandContext) -> bytes:
        return await _worked(self, context)


class EraseRequest(OfTranscripts[int], frozen=True, kw_only=True, tag="transcript erase"):
    """Somebody was erased by another node: remove the files of these bots, and have those of others say the new names.

    :ivar names: old name -> new name
    """

    allowed = Right.NOBODY

    bots: list[BotId]
    names: dict[str, str]

    def work(self, folder: Path) -> int:
        erase(folder, self.bots, Renaming(self.names).text)
        return len(self.bots)

    async def perform(self, context: CommandContext) -> int:
        if context.files is not None:
            await context.files.erase_here(self.bots, Renaming(self.names))
        return len(self.bots)


async def _worked(request: OfTranscripts[A], context: CommandContext) -> A:
    if context.files is None:
        raise NotFound(Code.NO_TRANSCRIPT, "There are no transcripts here.")
    return await asyncio.to_thread(request.work, context.files.folder)


COMMANDS: Final[tuple[type[Command[Any]], ...]] = (LinesRequest, FilesRequest, FileRequest, EraseRequest)
