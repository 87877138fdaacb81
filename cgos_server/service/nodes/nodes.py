"""The way to the nodes of a cluster: a command goes to one that can perform it, or to all that have a group.

Must not know: what a command does, who may give it.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from cgos_protocol.errors import Code, OurFault, Refused, Unavailable
from cgos_server.net import node_control
from cgos_server.service.commands.registry import Call, refusal_in
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.postgres import groups
from cgos_server.storage.postgres.groups import GroupRow, KnownNode

NOT_HERE: Final = (Code.NO_SERVER, Code.STANDING_BY, Code.VENUE_ELSEWHERE, Code.NOT_HERE, Code.NO_GAME)
"""Refusals of a node in whose place another one may perform the command."""

_NOBODY: Final = "No node that plays can be reached just now. `cgos-server cluster status` says who has the venues."


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where commands for the nodes begin.

    :ivar url: of the database that the nodes share
    :ivar ttl_s: seconds after which a node that has written nothing counts as dead
    :ivar context: shows the cluster's key; None where there is none: other nodes cannot be asked
    :ivar node: the name of the node on this machine; empty where none is
    :ivar here: asks it; None where none is
    """

    url: PostgresUrl
    ttl_s: float
    context: ssl.SSLContext | None = None
    node: str = ""
    here: Call | None = None


class Nodes:
    """One a process that asks."""

    def __init__(self, place: Place) -> None:
        self._place = place

    async def call(self, line: bytes) -> bytes:
        """The answer of the first node that does not say that the command is another one's; that of this machine is
        asked first.

        :raises Unavailable: (``no-server``) where there is none
        :raises OurFault: where a node broke off: it may have performed the command
        :raises StoreError: where the database does not say which nodes there are
        """
        last: bytes | Unavailable = Unavailable(Code.NO_SERVER, _NOBODY)
        async for call in self._calls():
            try:
                answer = await call(line)
            except Unavailable as refusal:
                if refusal.code is not Code.NO_SERVER:
                    raise
                last = refusal if isinstance(last, Unavailable) else last
                continue
            refused = refusal_in(answer)
            if refused is None or refused.code not in NOT_HERE:
                return answer
            last = answer
        if isinstance(last, Unavailable):
            raise last
        return last

    async def everywhere(self, line: bytes) -> list[bytes]:
        """The answers of all nodes that have a group and can be reached. Raises as :meth:`call`."""
        calls = [call async for call in self._calls()]
        answers = [answer for answer in await asyncio.gather(*(_unless_away(call, line) for call in calls)) if answer]
        if not answers:
            raise Unavailable(Code.NO_SERVER, _NOBODY)
        return answers

    async def known(self, days: float) -> list[KnownNode]:
        """All nodes that had a group within so many days. Raises StoreError."""
        return await groups.known_nodes(self._place.url, days)

    async def at(self, node: KnownNode, line: bytes) -> bytes:
        """The answer of this node, whether it has a group or stands by. Raises as :meth:`call`."""
        if self._place.context is None or not node.control:
            raise Unavailable(Code.NO_SERVER, f"Node {node.name} takes no commands from here.")
        return await node_control.call(node.control, self._place.context, line)

    async def _calls(self) -> AsyncIterator[Call]:
        """Who is asked: the node of this machine, and then, as the database knows them, the others."""
        if self._place.here is not None:
            yield self._place.here
        if self._place.context is not None:
            for row in await groups.groups(self._place.url):
                if self._asked(row):
                    yield functools.partial(node_control.call, row.control, self._place.context)

    def _asked(self, row: GroupRow) -> bool:
        mine = self._place.here is not None and row.node == self._place.node
        return bool(row.control) and row.held(self._place.ttl_s) and not mine


async def _unless_away(call: Call, line: bytes) -> bytes | None:
    """The answer; None where nobody answers, or whoever does has no group."""
    try:
        answer = await call(line)
    except (Refused, OurFault):
        return None
    refused = refusal_in(answer)
    return None if refused is not None and refused.code is Code.STANDING_BY else answer
