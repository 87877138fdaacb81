"""Commands for the running server: one command through its control socket, or through the nodes of its cluster.

Must not know: what a command does.
"""

from __future__ import annotations

import asyncio
import functools
from typing import TypeVar

from cgos_protocol.errors import Code, Refused, Unavailable
from cgos_server.assembly.reaching import nodes_reached
from cgos_server.cli.common import Setup
from cgos_server.net import control_socket
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.registry import ask

A = TypeVar("A")


def ask_server(setup: Setup, command: Command[A]) -> A:
    """Have the running server perform it: that of this data directory, or where it cannot one of the other nodes.

    :raises Refused: as the server does, and Unavailable (``no-server``) where there is none
    """
    own = functools.partial(control_socket.call, setup.config.server.data)
    elsewhere = setup.config.cluster.key is not None and command.forwarded
    try:
        return asyncio.run(ask(nodes_reached(setup.config, own).call if elsewhere else own, command))
    except Refused as refusal:
        if refusal.code is not Code.NO_SERVER or elsewhere:
            raise
        raise Unavailable(
            Code.NO_SERVER, f"{refusal.sentence}, or name the directory of the one that runs: --config or --data."
        ) from refusal
