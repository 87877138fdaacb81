"""A node that stands by, in this process and on a real PostgreSQL: what it says, to whom, and when it goes on."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from structlog.testing import capture_logs
from support.e2e.processes import free_port
from support.net.certificates import cluster_key
from support.storage.storage_sample import execute, query

from cgos_protocol.errors import Code, DatabaseLocked, NotFound, Refused, StoreError, Unavailable
from cgos_protocol.ids import BotId
from cgos_server.assembly.launching import Launch
from cgos_server.assembly.standing_by import Standby, choose, nodes_of
from cgos_server.assembly.stopping import Stop, Stopped
from cgos_server.config.cluster import ClusterConfig
from cgos_server.config.schema import CLASSIC_VENUES, Config, HealthConfig, ServerConfig
from cgos_server.net import control_socket, node_control
from cgos_server.net.inheriting import Inheritance, Ports
from cgos_server.observability.logs import LogCounts
from cgos_server.observability.notifying import Supervisor
from cgos_server.observability.transcript_files import FOLDER
from cgos_server.service.commands.registry import ask
from cgos_server.service.commands.server import Drain, Reload, StatusRequest, StrengthChangesRequest
from cgos_server.service.nodes.commands import FileRequest, FilesRequest, LinesRequest
from cgos_server.service.ratings.build import this_build
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.node import Node
from cgos_server.storage.postgres.groups import GroupRow

HELD = (
    "UPDATE writer SET holder = 7, node = 'x', address = 'x.example', build = '{build}', batch = batch + 1, "
    "seen = clock_timestamp() + interval '{more} s'"
)


class Told(Supervisor):
    """Keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def ready(self, status: str) -> None:
        self.words.append(status)


class Room:
    """A node `y` that is to serve, and a row that says that `x` owns the group."""

    def __init__(
        self,
        url: PostgresUrl,
        data: Path,
        *,
        standby: bool = True,
        ports: Ports | None = None,
        groups: Sequence[str] = ("main",),
        key: Path | None = None,
    ) -> None:
        self.url = url
        self.data = data
        self.told = Told()
        self.stop = Stop()
        self.port = free_port()
        self.launch = Launch(supervisor=self.told, standby=standby, ports=ports or Ports())
        self.config = Config(
            server=ServerConfig(data=data, database=url, durability="power"),
            health=HealthConfig(port=self.port),
            cluster=ClusterConfig(
                node="y",
                address="y.example",
                ttl_s=1.0,
                key=key,
                control_port=None if key is None else free_port(),
            ),
            venue=tuple(msgspec.structs.replace(CLASSIC_VENUES[0], name=group, group=group) for group in groups),
        )
        nodes = nodes_of(self.config, self.launch)
        self.standby = Standby(self.config, nodes, launch=self.launch, stop=self.stop, logs=LogCounts())

    async def held(self, *, build: str | None = None, more: int = 60) -> None:
        """By `x`, for so many seconds more than it is."""
        text = HELD.format(build=this_build().id if build is None else build, more=more)
        await asyncio.to_thread(execute, self.url, text)

    async def freed(self) -> None:
        await asyncio.to_thread(execute, self.url, "UPDATE writer SET seen = NULL")

    async def says(self, words: str) -> None:
        """Wait until the supervisor was told that."""
        async with asyncio.timeout(10):
            while not any(words in told for told in self.told.words):  # noqa: ASYNC110 - it depends on PostgreSQL
                await asyncio.sleep(0.01)

    async def get(self, path: str) -> httpx.Response:
        async with httpx.AsyncClient() as client:
            return await client.get(f"http://127.0.0.1:{self.port}{path}")


@pytest.fixture
def url(new_url: Callable[..., PostgresUrl]) -> PostgresUrl:
    return new_url()


async def test_it_says_how_it_is_and_goes_on_when_the_owner_lets_go(url: PostgresUrl, tmp_path: Path) -> None:
    room = Room(url, tmp_path / "data")
    call = functools.partial(control_socket.call, room.data)
    await room.held()
    waiting = asyncio.create_task(room.standby.wait())
    await room.says("standing by (node x holds the venues)")
    assert (await room.get("/livez")).status_code == 200
    ready = await room.get("/readyz")
    assert (ready.status_code, ready.text) == (503, "not ready\ncluster: standing by (node x holds the venues)\n")
    metrics = (await room.get("/metrics")).text
    for line in ("cgos_ready 0.0", 'cgos_cluster_role{role="standby"} 1.0', 'cgos_cluster_role{role="owner"} 0.0'):
        assert f"\n{line}\n" in metrics
    assert "cgos_build_info{" in metrics
    status = await ask(call, StatusRequest())
    assert (status.node, status.standing_by, status.ready) == ("y", "node x holds the venues", False)
    with pytest.raises(Refused, match=r"Node y stands by \(node x holds the venues\)\. Give the command to") as refused:
        await ask(call, Reload())
    assert refused.value.code is Code.STANDING_BY
    assert b"bad-request" in await call(b"nonsense")
    with pytest.raises(DatabaseLocked, match="node y, standing by"):
        await asyncio.to_thread(DatabaseLock, url, "cgos-server db upgrade")
    await room.freed()
    async with asyncio.timeout(5):
        await waiting
    assert room.told.words == ["standing by (node x holds the venues)"]
    with pytest.raises(httpx.ConnectError):
        await room.get("/livez")
    await asyncio.to_thread(lambda: DatabaseLock(url, "cgos-server db upgrade").release())


async def test_other_nodes_ask_it_for_transcripts_and_for_nothing_else(url: PostgresUrl, tmp_path: Path) -> None:
    room = Room(url, tmp_path / "data", key=cluster_key(tmp_path / "cluster.pem"))
    folder = room.data / FOLDER / "7"
    folder.mkdir(parents=True)
    (folder / "100.transcript").write_text('#{"name":"amigo","connection":3}\n100<D4\n')
    await room.held()
    waiting = asyncio.create_task(room.standby.wait())
    await room.says("standing by (node x holds the venues)")
    address = f"localhost:{room.config.cluster.control_port}"
    call = functools.partial(node_control.call, address, node_control.client_context(tmp_path / "cluster.pem"))
    (line,) = await ask(call, LinesRequest(bot=BotId(7), since_us=0, until_us=2**62, limit=10))
    assert (line.name, line.text, line.connection) == ("amigo", "D4", 3)
    assert await ask(call, FilesRequest(bots=[BotId(7), BotId(8)])) == ["7/100.transcript"]
    with pytest.raises(NotFound, match=r"There is no transcript '\.\./secret'"):
        await ask(call, FileRequest(name="../secret"))
    with pytest.raises(Refused, match="Node y stands by"):
        await ask(call, StrengthChangesRequest())
    await room.freed()
    async with asyncio.timeout(5):
        await waiting
    with pytest.raises(Unavailable):
        await ask(call, FilesRequest(bots=[]))


@pytest.mark.parametrize("asked", [True, False], ids=["by drain", "by a signal"])
async def test_it_ends_at_once_when_it_is_told_to(url: PostgresUrl, tmp_path: Path, asked: bool) -> None:
    room = Room(url, tmp_path / "data")
    await room.held()
    waiting = asyncio.create_task(room.standby.wait())
    await room.says("node x")
    if asked:
        await ask(functools.partial(control_socket.call, room.data), Drain())
    else:
        room.stop.ask()
    with pytest.raises(BaseExceptionGroup) as ended:
        async with asyncio.timeout(2):
            await waiting
    assert ended.value.split(Stopped)[1] is None


async def test_another_build_stands_by_and_says_so_once(url: PostgresUrl, tmp_path: Path) -> None:
    room = Room(url, tmp_path / "data")
    await room.held(build="another")
    with capture_logs() as logged:
        waiting = asyncio.create_task(room.standby.wait())
        await room.says(f"of another build (another; this is {this_build().id}): this one will not take over")
        await room.freed()
        await room.says("nobody holds the venues, and node x held them last, of another build")
        await asyncio.sleep(0.6)  # it looks again and again
    assert [(entry["log_level"], entry["event"]) for entry in logged] == [("warning", "standing by")] * 2
    await asyncio.to_thread(execute, url, f"UPDATE writer SET build = '{this_build().id}'")
    async with asyncio.timeout(5):
        await waiting


async def test_whoever_does_not_stand_by_is_refused_while_the_owner_lives(url: PostgresUrl, tmp_path: Path) -> None:
    room = Room(url, tmp_path / "data", standby=False)
    await room.held()
    waiting = asyncio.create_task(room.standby.wait())
    await asyncio.sleep(0.1)
    await room.held()  # its next batch
    with pytest.raises(Refused, match=r"The group main is held by node x at x\.example.*--standby") as refused:
        async with asyncio.timeout(5):
            await waiting
    assert refused.value.code is Code.GROUP_HELD
    assert room.told.words == []


async def test_whoever_does_not_stand_by_waits_for_a_dead_owner_of_any_build(url: PostgresUrl, tmp_path: Path) -> None:
    room = Room(url, tmp_path / "data", standby=False)
    await room.held(build="another", more=0)
    async with asyncio.timeout(5):
        await room.standby.wait()
    [(ago,)] = query(url, "SELECT extract(epoch FROM clock_timestamp() - seen)::float8 FROM writer")
    assert ago > 1.0


async def test_the_next_program_of_the_same_process_does_not_wait(url: PostgresUrl, tmp_path: Path) -> None:
    left = Ports(Inheritance(sockets={}, version="0.1", since=0.0))
    room = Room(url, tmp_path / "data", ports=left)
    await room.held()
    await asyncio.to_thread(execute, url, "UPDATE writer SET node = 'y'")
    async with asyncio.timeout(2):
        await room.standby.wait()
    assert room.told.words == []


def node(group: str, **more: Any) -> Node:
    return Node(**{"name": "y", "address": "", "build": "one", "ttl_s": 5.0, "group": group} | more)


def row(group: str, **more: Any) -> GroupRow:
    free = {
        "group": group,
        "node": "x",
        "address": "",
        "control": "",
        "build": "one",
        "batch": 1,
        "seen_s": None,
        "up_s": 100.0,
    }
    return GroupRow(**free | more)


def test_the_first_group_that_may_be_taken_is_taken() -> None:
    large, main = node("large"), node("main")
    held, free = row("main", seen_s=1.0), row("main")
    assert choose([free, row("large")], [large, main]) is large
    assert choose([free], [large, main]) is large  # nobody ever had it
    assert choose([free, row("large", seen_s=1.0)], [large, main]) is main
    assert choose([held, row("large", seen_s=1.0)], [large, main]) is None
    assert choose([held, row("large", seen_s=6.0, build="two")], [large, main]) is None


def test_what_a_program_before_has_left_comes_before_all_others() -> None:
    large, main = node("large", inherits=True), node("main", inherits=True)
    left = row("main", node="y", seen_s=1.0)
    assert choose([left, row("large")], [large, main]) is main
    assert choose([row("main", node="y"), row("large")], [large, main]) is large  # it had let go of it


async def test_a_node_of_several_groups_says_who_has_each_and_takes_the_one_that_is_free(
    url: PostgresUrl, tmp_path: Path
) -> None:
    room = Room(url, tmp_path / "data", groups=("main", "large"))
    await room.held()
    await asyncio.to_thread(
        execute, url, "INSERT INTO writer SELECT 2, holder, batch, 'large', seen, 'z', address, build FROM writer"
    )
    waiting = asyncio.create_task(room.standby.wait())
    await room.says("standing by (node x holds the group main; node z holds the group large)")
    await asyncio.to_thread(execute, url, "UPDATE writer SET seen = NULL WHERE id = 2")
    async with asyncio.timeout(5):
        assert (await waiting).group == "large"


async def test_a_postgresql_that_is_away_is_waited_for(url: PostgresUrl, tmp_path: Path) -> None:
    away = PostgresUrl.parse(f"postgresql://cgos:x@127.0.0.1:{free_port()}/none")
    room = Room(away, tmp_path / "data")
    waiting = asyncio.create_task(room.standby.wait())
    await room.says("standing by (PostgreSQL does not let us into postgresql://cgos@127.0.0.1:")
    room.stop.ask()
    with pytest.raises(BaseExceptionGroup):
        await waiting
    with pytest.raises(StoreError, match="does not let us into"):
        await Room(away, tmp_path / "data", standby=False).standby.wait()
