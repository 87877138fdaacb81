"""Transcripts of a cluster: the lines of all nodes as one, and who is missing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from cgos_protocol.errors import Code, NotFound, Unavailable
from cgos_protocol.ids import BotId
from cgos_server.core.renaming import Renaming
from cgos_server.observability.transcript_files import FOLDER, TranscriptLine
from cgos_server.service.commands.registry import Refusal, answer_line, decode
from cgos_server.service.nodes.commands import FileRequest, FilesRequest, LinesRequest, OfTranscripts
from cgos_server.service.nodes.erasing import FilesOfNodes
from cgos_server.service.nodes.transcripts import MISSING, NodeTranscripts, OwnTranscripts
from cgos_server.service.personal.kept_files import KeptFiles
from cgos_server.storage.postgres.groups import KnownNode

PASSAGE = '#{{"name":"amigo","connection":{connection},"game":7}}\n{at}<D4\n{later}>play w C3 1\n'
ALL = LinesRequest(bot=BotId(1), since_us=0, until_us=2**62, limit=100)


def written(data: Path, connection: int, at: int, bot: int = 1) -> Path:
    folder = data / FOLDER / str(bot)
    folder.mkdir(parents=True, exist_ok=True)
    passage = PASSAGE.format(connection=connection, at=at, later=at + 5)
    (folder / f"{at}.transcript").write_text(passage)
    return data


class Machines:
    """Nodes with data directories; those without do not answer."""

    def __init__(self, **data: Path | None) -> None:
        self.data = data
        self.days: list[int] = []

    async def known(self, days: int) -> list[KnownNode]:
        self.days.append(days)
        return [KnownNode(name, f"{name}:1") for name in self.data]

    async def at(self, node: KnownNode, line: bytes) -> bytes:
        data = self.data[node.name]
        if data is None:
            raise Unavailable(Code.NO_SERVER, f"Node {node.name} is not there.")
        command = decode(line)
        assert isinstance(command, OfTranscripts)
        try:
            return answer_line(await asyncio.to_thread(command.work, data / FOLDER))
        except NotFound as refused:
            return msgspec.json.encode(Refusal(refused.code, refused.sentence))


def of(machines: Machines, own: str = "", data: Path | None = None) -> NodeTranscripts:
    return NodeTranscripts(machines, 7, own, data)  # type: ignore[arg-type]


def said(lines: list[TranscriptLine]) -> list[tuple[int, int]]:
    return [(line.at, line.connection) for line in lines]


async def test_lines_of_all_nodes_are_in_the_order_of_time(tmp_path: Path) -> None:
    machines = Machines(a=written(tmp_path / "a", 1, 100), b=written(tmp_path / "b", 2, 103), c=None)
    got = await of(machines).lines(ALL)
    assert said(got.lines) == [(100, 1), (103, 2), (105, 1), (108, 2)]
    assert got.missing == ("c",)
    assert machines.days == [7]
    last = await of(machines).lines(msgspec.structs.replace(ALL, limit=3))
    assert said(last.lines) == [(103, 2), (105, 1), (108, 2)]


async def test_files_of_this_machine_are_read_here(tmp_path: Path) -> None:
    own = written(tmp_path / "a", 1, 100)
    got = await of(Machines(a=None), "a", own).lines(ALL)
    assert (said(got.lines), got.missing) == ([(100, 1), (105, 1)], ())
    assert await OwnTranscripts(own).lines(ALL) == got


async def test_an_archive_names_who_is_missing(tmp_path: Path) -> None:
    a, b = written(tmp_path / "a", 1, 100), written(tmp_path / "b", 2, 200, bot=2)
    files = {name: content async for name, content in of(Machines(a=a, b=b)).files([BotId(1), BotId(2)])}
    assert set(files) == {f"{FOLDER}/a/1/100.transcript", f"{FOLDER}/b/2/200.transcript"}
    assert files[f"{FOLDER}/a/1/100.transcript"] == (a / FOLDER / "1/100.transcript").read_bytes()
    files = {name: content async for name, content in of(Machines(a=a, z=None)).files([BotId(1)])}
    assert set(files) == {f"{FOLDER}/a/1/100.transcript", MISSING}
    assert files[MISSING] == b"These nodes did not answer, and their transcripts are missing here: z.\n"


@pytest.mark.parametrize("name", ["../secret", "1/../../x.transcript", "/etc/passwd", "1/x.transcript", "", "1/2"])
def test_no_other_file_is_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotFound):
        FileRequest(name=name).work(tmp_path)


def test_a_file_that_is_gone_is_empty(tmp_path: Path) -> None:
    assert FileRequest(name="1/100.transcript").work(tmp_path) == b""
    assert FilesRequest(bots=[BotId(1)]).work(tmp_path) == []


async def test_whoever_is_erased_is_erased_on_all_machines(tmp_path: Path) -> None:
    data = {name: written(tmp_path / name, 1, 100) for name in "abz"}
    for each in data.values():
        written(each, 2, 200, bot=2)
    machines = Machines(a=data["a"], b=data["b"], z=None)
    files = KeptFiles(data["a"] / FOLDER, FilesOfNodes(machines, 7, "a"))  # type: ignore[arg-type]
    assert await files.erase([BotId(1)], Renaming({"amigo": "erased-1"})) == ["z"]
    for name in "ab":
        assert not (data[name] / FOLDER / "1").exists()
        assert '"name":"erased-1"' in (data[name] / FOLDER / "2/200.transcript").read_text()
    assert (data["z"] / FOLDER / "1").exists()
