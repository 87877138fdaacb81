"""The real web process: starts on an inherited socket, reads only, and goes when the pipe closes."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cgos_protocol.errors import Unavailable
from cgos_protocol.facts import BotArrived, BotLeft
from cgos_server.live.bus import Bus
from cgos_server.live.processes.fact_pipe import FactPipe
from cgos_server.live.processes.scrape_channel import ScrapeChannel
from cgos_server.live.processes.web_process import WebProcess
from cgos_server.net.loop import LoopTime, PollClock
from cgos_server.observability.exposition import Form
from cgos_server.presentation.settings import VenueSettings, WebSettings
from cgos_server.storage.copying import copy
from cgos_server.storage.location import PostgresUrl
from cgos_server.web.command_line import Cluster, command, database_of, environment, parse

SETTINGS = WebSettings(server_name="Riverside", venues={"9x9": VenueSettings(port=6809)})


@pytest.fixture
def data(database: Path, tmp_path: Path) -> Path:
    """A data directory with a copy of the past."""
    shutil.copyfile(database, tmp_path / "cgos.sqlite")
    return tmp_path


@pytest.fixture
def sock() -> socket.socket:
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    bound.listen()
    return bound


@asynccontextmanager
async def running(data: Path, sock: socket.socket, pipe: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """A child with the pipe's reading end; killed at the latest at the end of the block."""
    scraper, scraped = socket.socketpair()
    line = command(data, SETTINGS, log_format="json", log_level="info")
    with scraper, scraped:
        inherited = {"--listen-fd": sock.fileno(), "--pipe-fd": pipe, "--scrape-fd": scraped.fileno()}
        line += [word for option, descriptor in inherited.items() for word in (option, str(descriptor))]
        child = await asyncio.create_subprocess_exec(
            *line, pass_fds=tuple(inherited.values()), stderr=asyncio.subprocess.PIPE
        )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.communicate()


async def get(sock: socket.socket, path: str) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False, timeout=30) as client:
        return await client.get(f"http://127.0.0.1:{sock.getsockname()[1]}{path}")


async def test_it_serves_writes_nothing_and_goes_when_the_pipe_closes(data: Path, sock: socket.socket) -> None:
    theirs, ours = os.pipe()
    before = (data / "cgos.sqlite").read_bytes()
    with sock:
        async with running(data, sock, theirs) as child:
            os.close(theirs)
            page = await get(sock, "/venue/9x9")
            assert page.status_code == 200
            assert "server" not in page.headers
            os.close(ours)
            async with asyncio.timeout(20):
                _, errors = await child.communicate()
        assert child.returncode == 0
        assert b'"level": "warning"' not in errors
        assert b'"level": "error"' not in errors
        assert b"the web process ends" in errors
    assert (data / "cgos.sqlite").read_bytes() == before


async def test_it_goes_on_sigterm_and_ignores_what_comes_through_the_pipe(data: Path, sock: socket.socket) -> None:
    theirs, ours = os.pipe()
    with sock:
        async with running(data, sock, theirs) as child:
            os.close(theirs)
            os.write(ours, b"anything")
            assert (await get(sock, "/")).status_code == 200
            child.send_signal(signal.SIGTERM)
            async with asyncio.timeout(20):
                await child.communicate()
        os.close(ours)
    assert child.returncode == 0


class Death:
    """As `pause` of a supervisor: takes no time. It is called when a child is gone."""

    def __init__(self) -> None:
        self._came = asyncio.Event()

    async def __call__(self, _seconds: float) -> None:
        self._came.set()

    async def of(self, web: WebProcess) -> int:
        """Kill the child that runs; its number. As long as it dies it might still take a connection."""
        gone = web.pid
        assert gone is not None
        os.kill(gone, signal.SIGKILL)
        await self._came.wait()
        return gone


async def test_under_its_supervisor_it_is_replaced_and_ends(data: Path, sock: socket.socket) -> None:
    """The two halves fit: what WebProcess executes is what the module understands."""
    restarts: list[None] = []
    death = Death()
    line = command(data, SETTINGS, log_format="json", log_level="warning")
    assert line[0] == sys.executable
    web = WebProcess(line, {"--listen-fd": sock}, restarted=lambda: restarts.append(None), pause=death)
    with sock:
        async with asyncio.TaskGroup() as group:
            group.create_task(web.run())
            assert (await get(sock, "/")).status_code == 200
            first = await death.of(web)
            assert (await get(sock, "/")).status_code == 200
            assert web.pid not in (None, first)
            web.stop()
    assert len(restarts) == 1


@asynccontextmanager
async def stream(sock: socket.socket) -> AsyncIterator[Callable[[str], Awaitable[dict[str, Any]]]]:
    """The venue's live stream; gives a function that waits for the next event of a kind."""
    reader, writer = await asyncio.open_connection(*sock.getsockname())
    writer.write(b"GET /api/v1/live?venue=9x9&format=ndjson HTTP/1.1\r\nHost: x\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head

    async def event(kind: str) -> dict[str, Any]:
        async with asyncio.timeout(20):
            while True:
                line = await reader.readline()
                assert line, "the stream ended"
                if line.startswith(b"{") and json.loads(line)["event"] == kind:
                    return dict(json.loads(line))

    try:
        yield event
    finally:
        writer.close()


async def test_it_answers_scrapes_and_so_does_the_one_after_it(data: Path, sock: socket.socket) -> None:
    death, scrapes = Death(), ScrapeChannel(limit_s=20)
    line = command(data, SETTINGS, log_format="json", log_level="warning")
    web = WebProcess(line, {"--listen-fd": sock}, restarted=lambda: None, pause=death, scraper=scrapes)
    with sock:
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            group.create_task(web.run())
            for _ in range(2):
                assert (await get(sock, "/nothing")).status_code == 404
                plain, openmetrics = await asyncio.gather(scrapes.ask(Form.PROMETHEUS), scrapes.ask(Form.OPENMETRICS))
                assert b'cgos_web_requests_total{route="other",status="4xx"} 1.0\n' in plain
                assert b"process_resident_memory_bytes" in plain
                assert openmetrics.endswith(b"# EOF\n")
                await death.of(web)
                with pytest.raises(Unavailable, match="does not run just now"):
                    await scrapes.ask(Form.PROMETHEUS)
            web.stop()


async def test_facts_reach_the_child_and_the_one_after_it(data: Path, sock: socket.socket) -> None:
    """From the bus through the pipe to a viewer; a child that died is followed by one that hears what comes then."""

    death = Death()
    bus = Bus(lambda error: pytest.fail(repr(error)))
    pipe = FactPipe(bus, LoopTime(asyncio.get_running_loop(), PollClock()))
    line = command(data, SETTINGS, log_format="json", log_level="warning")
    web = WebProcess(
        line, {"--listen-fd": sock}, restarted=lambda: None, pause=death, pipe_user=pipe
    )  # fmt: skip
    with sock:
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            group.create_task(web.run())
            async with stream(sock) as event:
                await event("games")
                bus.publish(BotArrived("9x9", "anna"))
                assert (await event("arrived"))["version"] == "anna"
                first = await death.of(web)
            async with stream(sock) as event:
                await event("games")
                assert web.pid not in (None, first)
                bus.publish(BotLeft("9x9", "anna"))
                assert (await event("left"))["version"] == "anna"
                web.stop()
    assert not bus.wanted(BotArrived)


async def test_it_reads_postgresql_where_the_environment_says_so(
    data: Path, sock: socket.socket, new_url: Callable[..., PostgresUrl]
) -> None:
    url = new_url(empty=True)
    await asyncio.to_thread(copy, data / "cgos.sqlite", url, lambda *_: None)
    (data / "cgos.sqlite").unlink()
    line = command(data, SETTINGS, log_format="json", log_level="warning")
    assert url.dsn not in " ".join(line)
    web = WebProcess(line, {"--listen-fd": sock}, environment(url), restarted=lambda: None)
    with sock:
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            group.create_task(web.run())
            page = await get(sock, "/venue/9x9")
            assert page.status_code == 200
            assert "Sakura-5k" in page.text
            web.stop()


def test_where_the_pages_are_those_of_a_cluster_is_on_the_command_line(tmp_path: Path) -> None:
    cluster = Cluster(name="cgos-server web, w", node="a", key="/etc/cgos/key.pem", ttl_s=2.5)
    line = command(tmp_path, SETTINGS, log_format="json", log_level="info", cluster=cluster)
    given = parse([*line[3:], "--listen-fd=3", "--pipe-fd=4", "--scrape-fd=5"])
    assert (given.cluster, given.settings) == (cluster, SETTINGS)
    alone = command(tmp_path, SETTINGS, log_format="json", log_level="info")
    assert parse([*alone[3:], "--listen-fd=3", "--pipe-fd=4", "--scrape-fd=5"]).cluster is None


def test_an_empty_variable_is_the_file_in_the_data_directory(tmp_path: Path) -> None:
    assert database_of(tmp_path, environment(None)) == database_of(tmp_path, {}) == tmp_path / "cgos.sqlite"
    url = PostgresUrl.parse("postgresql://cgos:secret@h/games")
    assert database_of(tmp_path, environment(url)) == url
