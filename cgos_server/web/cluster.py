"""The nodes of a cluster as the pages reach them, and what they tell. Must not know: pages, what commands do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from cgos_protocol.errors import Code, Conflict
from cgos_protocol.facts import AnyFact
from cgos_server.net import node_control
from cgos_server.service.commands.registry import Call
from cgos_server.service.fact_notices import facts_of
from cgos_server.service.nodes.nodes import Nodes, Place
from cgos_server.service.nodes.transcripts import NodeTranscripts
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.postgres.listening import messages
from cgos_server.storage.postgres.turns import WebhookTurn
from cgos_server.storage.reading.history import History
from cgos_server.storage.sharing import FACTS
from cgos_server.web.command_line import Cluster
from cgos_server.web.people.deliveries import Deliveries
from cgos_server.web.people.shared_deliveries import SharedDeliveries
from cgos_server.web.server import for_visitors

_NO_PROCESS: Final = (
    "No server plays beside these pages, and this is about one process: give the command on the machine of its node. "
    "`cgos-server cluster status` names the nodes."
)


class ClusterServer:
    """Whoever plays in a cluster; see :class:`cgos_server.web.server.Server`.

    :param days: how long transcripts are kept
    :param own: asks the node of this machine, and its data directory; None where there is none
    :raises Refused: where the cluster's key cannot be used
    """

    _here: Call | None

    def __init__(self, url: PostgresUrl, cluster: Cluster, *, days: float, own: tuple[Call, Path] | None) -> None:
        context = node_control.client_context(Path(cluster.key)) if cluster.key else None
        data: Path | None
        self._here, data = own or (None, None)
        self._nodes = nodes = Nodes(
            Place(url=url, ttl_s=cluster.ttl_s, context=context, node=cluster.node, here=self._here)
        )
        self.transcripts = NodeTranscripts(nodes, days, cluster.node, data)
        self._turn = WebhookTurn(url, cluster.name)
        self._url = url
        self._name = cluster.name

    async def call(self, line: bytes) -> bytes:
        return await for_visitors(self._nodes.call(line))

    async def here(self, line: bytes) -> bytes:
        if self._here is None:
            raise Conflict(Code.NO_CONTROL, _NO_PROCESS)
        return await for_visitors(self._here(line))

    async def everywhere(self, line: bytes) -> Sequence[bytes]:
        return await for_visitors(self._nodes.everywhere(line))

    def deliveries(self, history: History, now_ms: Callable[[], int], /) -> Deliveries:
        return SharedDeliveries(history.people, self._turn, now_ms)

    async def hear(self, heard: Callable[[AnyFact | None], None], /) -> None:
        async for text in messages(self._url, self._name, FACTS):
            facts: Sequence[AnyFact | None] = [None] if text is None else facts_of(text)
            for fact in facts:
                heard(fact)
