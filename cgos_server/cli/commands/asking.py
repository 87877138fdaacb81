"""Commands for the running server: one command through its control socket, or through the nodes of its cluster.

Must not know: what a command does.
"""

from __future__ import annotations

import asyncio
import functools
import math
from typing import TypeVar

from cgos_protocol.errors import Code, Refused, Unavailable
from cgos_server.cli.common import Setup
from cgos_server.net import control_socket, node_control
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.registry import Call, ask
from cgos_server.service.nodes.nodes import Nodes, Place
from cgos_server.service.nodes.transcripts import NodeTranscripts, OwnTranscripts, Transcripts
from cgos_server.storage.location import PostgresUrl

A = TypeVar("A")


def ask_server(setup: Setup, command: Command[A]) -> A:
    """Have the running server perform it: that of this data directory, or where it cannot one of the other nodes.

    :raises Refused: as the server does, and Unavailable (``no-server``) where there is none
    """
    own = functools.partial(control_socket.call, setup.config.server.data)
    elsewhere = setup.config.cluster.key is not None and command.forwarded
    try:
        return asyncio.run(ask(nodes_of(setup, own).call if elsewhere else own, command))
    except Refused as refusal:
        if refusal.code is not Code.NO_SERVER or elsewhere:
            raise
        raise Unavailable(
            Code.NO_SERVER, f"{refusal.sentence}, or name the directory of the one that runs: --config or --data."
        ) from refusal


def transcripts_of(setup: Setup) -> Transcripts:
    """What bots and the server said to each other: in this data directory, or of all nodes of the cluster."""
    config = setup.config
    if not config.cluster.node:
        return OwnTranscripts(config.server.data)
    days = math.ceil(config.transcripts.days)
    return NodeTranscripts(nodes_of(setup), days, config.cluster.node, config.server.data)


def nodes_of(setup: Setup, own: Call | None = None) -> Nodes:
    """The way to the nodes of the cluster. `own`: asks the server of this data directory."""
    cluster = setup.config.cluster
    assert isinstance(setup.database, PostgresUrl)  # the configuration is refused otherwise
    context = None if cluster.key is None else node_control.client_context(cluster.key)
    return Nodes(Place(url=setup.database, ttl_s=cluster.ttl_s, context=context, node=cluster.node, here=own))
