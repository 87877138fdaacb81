"""Commands for the running server: one request through its control socket.

Must not know: the database, what a request does.
"""

from __future__ import annotations

import asyncio
import functools

from cgos_protocol.errors import Code, Unavailable
from cgos_server.cli.common import Setup
from cgos_server.net import control_socket
from cgos_server.service.requests import Request, Response, ask


def ask_server(setup: Setup, request: Request) -> Response:
    """Have the running server do it. Raises Refused, and Unavailable (``no-server``) where there is none."""
    try:
        return asyncio.run(ask(functools.partial(control_socket.call, setup.config.server.data), request))
    except Unavailable as refusal:
        if refusal.code is not Code.NO_SERVER:
            raise
        raise Unavailable(
            Code.NO_SERVER, f"{refusal.sentence}, or name the directory of the one that runs: --config or --data."
        ) from refusal
