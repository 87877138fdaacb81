"""Commands for the running server: one command through its control socket.

Must not know: the database, what a command does.
"""

from __future__ import annotations

import asyncio
import functools
from typing import TypeVar

from cgos_protocol.errors import Code, Unavailable
from cgos_server.cli.common import Setup
from cgos_server.net import control_socket
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.registry import ask

A = TypeVar("A")


def ask_server(setup: Setup, command: Command[A]) -> A:
    """Have the running server perform it. Raises Refused, and Unavailable (``no-server``) where there is none."""
    try:
        return asyncio.run(ask(functools.partial(control_socket.call, setup.config.server.data), command))
    except Unavailable as refusal:
        if refusal.code is not Code.NO_SERVER:
            raise
        raise Unavailable(
            Code.NO_SERVER, f"{refusal.sentence}, or name the directory of the one that runs: --config or --data."
        ) from refusal
