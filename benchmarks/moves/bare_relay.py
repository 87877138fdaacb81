"""The floor to compare with: an asyncio Protocol that passes each line of one connection to its partner."""

from __future__ import annotations

import asyncio
import sys


class Relay(asyncio.Protocol):
    """One connection; the next one to come is its partner."""

    waiting: list[Relay]

    def __init__(self, waiting: list[Relay]) -> None:
        self.waiting = waiting
        self.partner: Relay | None = None
        self.transport: asyncio.Transport | None = None
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self.waiting:
            self.partner = self.waiting.pop()
            self.partner.partner = self
        else:
            self.waiting.append(self)

    def data_received(self, data: bytes) -> None:
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        partner = self.partner
        if partner is not None and partner.transport is not None:
            for line in lines:
                partner.transport.write(line + b"\n")


async def main() -> None:
    waiting: list[Relay] = []
    server = await asyncio.get_running_loop().create_server(lambda: Relay(waiting), "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(0)
