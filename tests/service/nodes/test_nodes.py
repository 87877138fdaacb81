"""Commands for the nodes of a cluster: who is asked, in which order, and what comes of their answers."""

from __future__ import annotations

import functools
import ssl
from collections.abc import Sequence

import msgspec
import pytest

from cgos_protocol.errors import Code, OurFault, Unavailable
from cgos_server.service.commands.registry import Refusal, answer_line
from cgos_server.service.nodes import nodes as module
from cgos_server.service.nodes.nodes import Nodes, Place
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.postgres.groups import GroupRow, KnownNode

URL = PostgresUrl("postgresql://db.example/cgos")
REFUSED = msgspec.json.encode(Refusal(Code.NO_BOT, "There is no such bot."))
ELSEWHERE = msgspec.json.encode(Refusal(Code.VENUE_ELSEWHERE, "Node b plays it."))
STANDS_BY = msgspec.json.encode(Refusal(Code.STANDING_BY, "It stands by."))


def row(node: str, *, seen_s: float | None = 1.0, control: str | None = None) -> GroupRow:
    address = f"{node}.example:1" if control is None else control
    return GroupRow(group=node, node=node, address=node, control=address, build="", batch=1, seen_s=seen_s, up_s=1000.0)


class Cluster:
    """What each node answers, and who was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, rows: Sequence[GroupRow]) -> None:
        self.answers: dict[str, bytes | Exception] = {}
        self.asked: list[str] = []
        self._rows = list(rows)
        monkeypatch.setattr(module.groups, "groups", self._groups)
        monkeypatch.setattr(module.node_control, "call", self._call)

    def nodes(self, here: str = "", *, key: bool = True) -> Nodes:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if key else None
        own = functools.partial(self._answer, here) if here else None
        return Nodes(Place(url=URL, ttl_s=5.0, context=context, node=here, here=own))

    async def _groups(self, _url: PostgresUrl) -> list[GroupRow]:
        return self._rows

    async def _call(self, address: str, _context: ssl.SSLContext, line: bytes) -> bytes:
        return await self._answer(address.partition(".")[0], line)

    async def _answer(self, node: str, _line: bytes) -> bytes:
        self.asked.append(node)
        answer = self.answers.get(node, answer_line(node))
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    return Cluster(monkeypatch, [row("a"), row("b"), row("dead", seen_s=9.0), row("mute", control="")])


async def test_the_node_of_this_machine_is_asked_first(cluster: Cluster) -> None:
    assert await cluster.nodes("b").call(b"do") == answer_line("b")
    assert cluster.asked == ["b"]


async def test_whoever_cannot_do_it_leads_to_the_next(cluster: Cluster) -> None:
    for cannot in (ELSEWHERE, STANDS_BY, Unavailable(Code.NO_SERVER, "Nobody is there.")):
        cluster.asked.clear()
        cluster.answers["a"] = cannot
        assert await cluster.nodes().call(b"do") == answer_line("b")
        assert cluster.asked == ["a", "b"]


async def test_a_refusal_is_the_answer(cluster: Cluster) -> None:
    cluster.answers["a"] = REFUSED
    assert await cluster.nodes().call(b"do") == REFUSED
    assert cluster.asked == ["a"]


async def test_where_nobody_can_do_it_the_last_one_says_why(cluster: Cluster) -> None:
    cluster.answers |= {"a": STANDS_BY, "b": ELSEWHERE}
    assert await cluster.nodes().call(b"do") == ELSEWHERE


async def test_a_node_that_broke_off_may_have_done_it(cluster: Cluster) -> None:
    cluster.answers["a"] = OurFault("It broke off.")
    with pytest.raises(OurFault):
        await cluster.nodes().call(b"do")
    assert cluster.asked == ["a"]


async def test_without_a_key_only_this_machine_is_asked(cluster: Cluster) -> None:
    assert await cluster.nodes("b", key=False).call(b"do") == answer_line("b")
    cluster.answers["b"] = own = Unavailable(Code.NO_SERVER, "No server runs here.")
    with pytest.raises(Unavailable) as refused:
        await cluster.nodes("b", key=False).call(b"do")
    assert refused.value is own
    with pytest.raises(Unavailable, match="cluster status"):
        await cluster.nodes(key=False).call(b"do")


async def test_everywhere_is_all_that_play_and_can_be_reached(cluster: Cluster) -> None:
    assert await cluster.nodes("b").everywhere(b"do") == [answer_line("b"), answer_line("a")]
    cluster.answers["a"] = OurFault("It broke off.")
    assert await cluster.nodes().everywhere(b"do") == [answer_line("b")]
    cluster.answers["b"] = STANDS_BY
    with pytest.raises(Unavailable):
        await cluster.nodes().everywhere(b"do")


async def test_one_node_is_asked_by_its_address(cluster: Cluster) -> None:
    assert await cluster.nodes().at(KnownNode("z", "z.example:1"), b"do") == answer_line("z")
    for nodes, node in ((cluster.nodes(key=False), "z.example:1"), (cluster.nodes(), "")):
        with pytest.raises(Unavailable, match="Node z takes no commands"):
            await nodes.at(KnownNode("z", node), b"do")
