"""The floor to compare with: a server of the library `websockets` that passes each message to the partner.

Tuned as its documentation says for many small messages: no compression, no keepalive task of its own; and the garbage
collector as the server under test has it.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from cgos_server.net import collector


async def main() -> None:
    waiting: list[tuple[ServerConnection, asyncio.Future[ServerConnection]]] = []

    async def relay(connection: ServerConnection) -> None:
        if waiting:
            partner, partner_known = waiting.pop()
            partner_known.set_result(connection)
        else:
            partner_known = asyncio.get_running_loop().create_future()
            waiting.append((connection, partner_known))
            partner = await partner_known
        with contextlib.suppress(ConnectionClosed):
            async for message in connection:
                await partner.send(message)

    collector.calm()
    server = await serve(relay, "127.0.0.1", 0, compression=None, ping_interval=None, backlog=4096)
    print(next(iter(server.sockets)).getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(0)
