"""Transcripts of whoever was erased, on the machines of other nodes. Must not know: who is erased, why."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Collection, Sequence
from typing import Final

from cgos_protocol.errors import CgosError, StoreError
from cgos_protocol.ids import BotId
from cgos_server.core.renaming import Renaming
from cgos_server.service.commands.registry import ask
from cgos_server.service.nodes.commands import EraseRequest
from cgos_server.service.nodes.nodes import Nodes
from cgos_server.storage.postgres.groups import KnownNode

_ANSWER_S: Final = 15.0
"""Whoever gave the command waits no longer than twice that."""


class FilesOfNodes:
    """Those of all nodes that had a group within so many days, but for `node`, which is this one."""

    def __init__(self, nodes: Nodes, days: float, node: str) -> None:
        self._nodes = nodes
        self._days = days
        self._node = node

    async def erase(self, bots: Collection[BotId], renaming: Renaming) -> Sequence[str]:
        """See :class:`cgos_server.service.personal.kept_files.OtherFiles`."""
        try:
            others = [node for node in await self._nodes.known(self._days) if node.name != self._node]
        except StoreError:
            return ["all other nodes"]
        request = EraseRequest(bots=list(bots), names=renaming.names)
        done = await asyncio.gather(*(self._erased(node, request) for node in others))
        return [node.name for node, erased in zip(others, done, strict=True) if not erased]

    async def _erased(self, node: KnownNode, request: EraseRequest) -> bool:
        try:
            async with asyncio.timeout(_ANSWER_S):
                await ask(functools.partial(self._nodes.at, node), request)
        except (CgosError, TimeoutError):
            return False
        return True
