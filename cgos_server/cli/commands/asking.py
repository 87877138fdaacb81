"""Commands for the running server: one command through its control socket, or through the nodes of its cluster.

Must not know: what a command does.
"""

from __future__ import annotations

import asyncio
import functools
from pathlib import Path
from typing import Final, TypeVar

from cgos_protocol.errors import Code, Refused, Unavailable
from cgos_server.cli.common import Setup
from cgos_server.net import control_socket, node_control
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.registry import ask
from cgos_server.storage.location import PostgresUrl

A = TypeVar("A")


_NOT_HERE: Final = (Code.NO_SERVER, Code.STANDING_BY, Code.VENUE_ELSEWHERE, Code.NOT_HERE, Code.NO_GAME)
"""Refusals of a node in whose place another one may perform the command."""


def ask_server(setup: Setup, command: Command[A]) -> A:
    """Have the running server perform it: that of this data directory, or where it cannot one of the other nodes.

    :raises Refused: as the server does, and Unavailable (``no-server``) where there is none
    """
    try:
        return asyncio.run(ask(functools.partial(control_socket.call, setup.config.server.data), command))
    except Refused as refusal:
        if refusal.code not in _NOT_HERE:
            raise
        if setup.config.cluster.key is not None and command.forwarded:
            return asyncio.run(_ask_nodes(setup, setup.config.cluster.key, command, refusal))
        if refusal.code is not Code.NO_SERVER:
            raise
        raise Unavailable(
            Code.NO_SERVER, f"{refusal.sentence}, or name the directory of the one that runs: --config or --data."
        ) from refusal


async def _ask_nodes(setup: Setup, key: Path, command: Command[A], refusal: Refused) -> A:
    """The first node that does not say that the command is another one's; raises the last refusal where none is."""
    from cgos_server.storage.postgres.groups import groups  # its driver is an extra that need not be installed

    context = node_control.client_context(key)
    assert isinstance(setup.database, PostgresUrl)  # the configuration is refused otherwise
    rows = await groups(setup.database)
    for row in rows:
        if row.control and row.held(setup.config.cluster.ttl_s) and row.node != setup.config.cluster.node:
            try:
                return await ask(functools.partial(node_control.call, row.control, context), command)
            except Refused as other:
                if other.code not in _NOT_HERE:
                    raise
                refusal = other
    raise refusal
