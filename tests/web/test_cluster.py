"""The nodes of a cluster as the pages reach them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cgos_protocol.errors import Code, Conflict, Unavailable
from cgos_server.service.commands.registry import answer_line
from cgos_server.storage.location import PostgresUrl
from cgos_server.web.cluster import ClusterServer
from cgos_server.web.command_line import Cluster
from cgos_server.web.server import AWAY

URL = PostgresUrl("postgresql://db.example/cgos")


async def away(_line: bytes) -> bytes:
    raise Unavailable(Code.NO_SERVER, "No server runs on /secret/place. Start one with: cgos-server serve")


async def there(_line: bytes) -> bytes:
    return answer_line("done")


async def test_visitors_are_not_told_where_a_server_is_that_does_not_answer(tmp_path: Path) -> None:
    server = ClusterServer(URL, Cluster(name="pages", node="a"), days=7, own=(away, tmp_path))
    for asking in (server.call, server.here, server.everywhere):
        with pytest.raises(Unavailable) as refused:
            await asking(b"do")
        assert (refused.value.code, refused.value.sentence) == (Code.NO_SERVER, AWAY)


async def test_what_is_about_one_process_is_for_the_pages_of_a_node(tmp_path: Path) -> None:
    own = ClusterServer(URL, Cluster(name="pages", node="a"), days=7, own=(there, tmp_path))
    assert await own.here(b"drain") == answer_line("done")
    alone = ClusterServer(URL, Cluster(name="web"), days=7, own=None)
    with pytest.raises(Conflict, match="give the command on the machine of its node") as refused:
        await alone.here(b"drain")
    assert refused.value.code is Code.NO_CONTROL
    with pytest.raises(Unavailable):
        await alone.call(b"do")
