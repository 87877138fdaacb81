"""What bots and the server said to each other: read where it was written, on this machine or on those of other nodes.

Must not know: who may see it, how it is shown.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncGenerator, Collection, Mapping
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeVar

from cgos_protocol.errors import CgosError
from cgos_protocol.ids import BotId
from cgos_server.observability.transcript_files import FOLDER, TranscriptLine
from cgos_server.service.commands.registry import ask
from cgos_server.service.nodes.commands import FileRequest, FilesRequest, LinesRequest, OfTranscripts
from cgos_server.service.nodes.nodes import Nodes
from cgos_server.storage.postgres.groups import KnownNode

A = TypeVar("A")

MISSING: Final = f"{FOLDER}/missing.txt"
"""The file of an archive that names the nodes whose transcripts are not in it."""


class Lines(NamedTuple):
    """Some lines of a bot, in their order.

    :ivar missing: the nodes that may have more of them and did not answer
    """

    lines: list[TranscriptLine]
    missing: tuple[str, ...] = ()


class Transcripts(Protocol):
    """Where they are."""

    async def lines(self, wanted: LinesRequest) -> Lines:
        """The last `wanted.limit` of the wanted lines."""

    def files(self, bots: Collection[BotId]) -> AsyncGenerator[tuple[str, bytes], None]:
        """All files of these bots, but those that were removed meanwhile: names as in an archive, and contents."""


class NoTranscripts:
    """There are none."""

    async def lines(self, _wanted: LinesRequest) -> Lines:
        return Lines([])

    async def files(self, _bots: Collection[BotId]) -> AsyncGenerator[tuple[str, bytes], None]:
        return
        yield


class OwnTranscripts:
    """Those of this machine.

    :param data: the data directory
    """

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER

    async def lines(self, wanted: LinesRequest) -> Lines:
        return Lines(await asyncio.to_thread(wanted.work, self._folder))

    async def files(self, bots: Collection[BotId]) -> AsyncGenerator[tuple[str, bytes], None]:
        for name in await asyncio.to_thread(FilesRequest(bots=list(bots)).work, self._folder):
            if content := await asyncio.to_thread(FileRequest(name=name).work, self._folder):
                yield f"{FOLDER}/{name}", content


class NodeTranscripts:
    """Those of all nodes that had a group within so many days. In archives they lie in a folder of their node.

    :param node: the node of this machine, whose files lie below `data`; None where there is none
    """

    def __init__(self, nodes: Nodes, days: float, node: str = "", data: Path | None = None) -> None:
        self._nodes = nodes
        self._days = days
        self._node = node
        self._folder = None if data is None else data / FOLDER

    async def lines(self, wanted: LinesRequest) -> Lines:
        answers = await self._all(wanted)
        lines = [line for answer in answers.values() for some in answer for line in some]
        lines.sort(key=lambda line: line.at)
        return Lines(lines[-wanted.limit :], _missing(answers))

    async def files(self, bots: Collection[BotId]) -> AsyncGenerator[tuple[str, bytes], None]:
        answers = await self._all(FilesRequest(bots=list(bots)))
        missing = set(_missing(answers))
        for node, answer in answers.items():
            for name in (name for names in answer for name in names):
                contents = await self._asked(node, FileRequest(name=name))
                if not contents:
                    missing.add(node.name)
                    break
                if contents[0]:
                    yield f"{FOLDER}/{node.name}/{name}", contents[0]
        if missing:
            sentence = "These nodes did not answer, and their transcripts are missing here: "
            yield MISSING, f"{sentence}{', '.join(sorted(missing))}.\n".encode()

    async def _all(self, request: OfTranscripts[A]) -> dict[KnownNode, list[A]]:
        """What each node answers, as :meth:`_asked` has it."""
        known = await self._nodes.known(self._days)
        async with asyncio.TaskGroup() as group:
            tasks = {node: group.create_task(self._asked(node, request)) for node in known}
        return {node: task.result() for node, task in tasks.items()}

    async def _asked(self, node: KnownNode, request: OfTranscripts[A]) -> list[A]:
        """The answer of one node; none where it cannot be reached, or does not know the question."""
        if node.name == self._node and self._folder is not None:
            return [await asyncio.to_thread(request.work, self._folder)]
        try:
            return [await ask(functools.partial(self._nodes.at, node), request)]
        except CgosError:
            return []


def _missing(answers: Mapping[KnownNode, Collection[object]]) -> tuple[str, ...]:
    """The nodes that did not answer."""
    return tuple(node.name for node, answer in answers.items() if not answer)
