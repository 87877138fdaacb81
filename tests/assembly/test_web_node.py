"""The pages of a cluster by themselves: when there are none, and why."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from support.e2e.processes import free_port
from support.storage.storage_sample import execute, people, put

from cgos_protocol.errors import Code, Refused, SchemaMismatch
from cgos_server.assembly import web_node
from cgos_server.assembly.launching import Launch
from cgos_server.assembly.web_node import WebNode
from cgos_server.config.cluster import ClusterConfig
from cgos_server.config.schema import Config, HealthConfig, ServerConfig, WebConfig
from cgos_server.observability.logs import LogCounts
from cgos_server.storage.location import PostgresUrl


def config(url: PostgresUrl | None, data: Path) -> Config:
    return Config(
        server=ServerConfig(data=data, database=url, durability="power"),
        health=HealthConfig(port=free_port()),
        web=WebConfig(port=free_port()),
        cluster=ClusterConfig(node="w"),
    )


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_node, "LOOK_EVERY_S", 0.1)


class Room:
    """A web node in this process; its pages are in one of their own."""

    def __init__(self, url: PostgresUrl | None, data: Path) -> None:
        self.config = config(url, data)
        self.started: list[tuple[str, str]] = []
        self.node = WebNode(self.config, Launch(), LogCounts(), lambda *addresses: self.started.append(addresses))

    async def get(self, port: int, path: str, status: int, words: str = "") -> str:
        """What is there, as soon as it has this status and these words."""
        async with httpx.AsyncClient(trust_env=False) as client:
            for _ in range(300):
                try:
                    answer = await client.get(f"http://127.0.0.1:{port}{path}", timeout=20)
                except httpx.TransportError:
                    await asyncio.sleep(0.1)  # a real process begins
                    continue
                if answer.status_code == status and words in answer.text:
                    return answer.text
                await asyncio.sleep(0.1)
        raise AssertionError(f"{path} has never been {status}")

    async def health(self, path: str, status: int = 200, words: str = "") -> str:
        return await self.get(self.config.health.port, path, status, words)


def test_without_postgresql_there_is_no_cluster(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="serves its own pages: `cgos-server serve`") as refused:
        WebNode(config(None, tmp_path), Launch(), LogCounts(), lambda *_: None)
    assert refused.value.code is Code.NO_CLUSTER


async def test_it_waits_for_the_database_and_says_so(tmp_path: Path) -> None:
    room = Room(PostgresUrl("postgresql://127.0.0.1:1/nowhere"), tmp_path / "data")
    running = asyncio.ensure_future(room.node.run())
    await room.health("/readyz", 503, "database: PostgreSQL does not let us into")
    assert 'cgos_cluster_role{role="web"} 1.0' in await room.health("/metrics")
    assert room.started == []
    os.kill(os.getpid(), signal.SIGTERM)
    await running


async def test_pages_come_and_go_with_it(tmp_path: Path, new_url: Callable[..., PostgresUrl]) -> None:
    url = new_url()
    put(url, people())
    room = Room(url, tmp_path / "data")
    running = asyncio.ensure_future(room.node.run())
    assert "ready" in await room.health("/readyz")
    assert '"items":' in await room.get(room.config.web.port, "/api/v1/bots", 200)
    assert "cgos_web_requests_total" in await room.health("/metrics/web")
    assert len(room.started) == 1
    await asyncio.to_thread(execute, url, "UPDATE alembic_version SET version_num = '9999_later'")
    with pytest.raises(SchemaMismatch):
        await running
    with pytest.raises(httpx.TransportError):
        async with httpx.AsyncClient(trust_env=False) as client:
            await client.get(f"http://127.0.0.1:{room.config.web.port}/")
