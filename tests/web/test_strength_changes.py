"""Versions that seem to have changed: asked for once for everybody, and known on while nobody answers."""

from __future__ import annotations

import asyncio

from support.service.acting import changed
from web.people.conftest import Clock

from cgos_protocol.api.messages import StrengthChange
from cgos_protocol.errors import Code, Unavailable
from cgos_server.service.commands.server import StrengthChangesRequest
from cgos_server.web.strength_changes import FRESH_MS, StrengthChanges


class Server:
    """What is asked, and what it answers."""

    def __init__(self) -> None:
        self.times = 0
        self.away = False
        self.changes: list[StrengthChange] = []

    async def ask(self, _command: StrengthChangesRequest) -> list[list[StrengthChange]]:
        self.times += 1
        await asyncio.sleep(0)
        if self.away:
            raise Unavailable(Code.NO_SERVER, "It is away.")
        return [self.changes[:1], self.changes[1:]]  # of two nodes


async def test_everybody_shares_one_question() -> None:
    server, clock = Server(), Clock()
    known = StrengthChanges(server.ask, clock)
    server.changes = [changed("amigo"), changed("Sakura-5k")]
    answers = await asyncio.gather(*(known.all() for _ in range(5)))
    assert answers == [server.changes] * 5
    assert await known.of(["amigo", "Tengen"]) == server.changes[:1]
    assert server.times == 1
    server.changes = []
    clock.ms += FRESH_MS - 1
    assert len(await known.all()) == 2
    clock.ms += 1
    assert await known.all() == []
    assert server.times == 2


async def test_what_was_known_holds_while_nobody_answers() -> None:
    server, clock = Server(), Clock()
    known = StrengthChanges(server.ask, clock)
    server.away = True
    assert await known.all() == []
    server.away, server.changes = False, [changed("amigo")]
    assert await known.all() == [], "it is not asked for every page"
    clock.ms += FRESH_MS
    assert await known.all() == server.changes
    server.away = True
    clock.ms += FRESH_MS
    assert await known.all() == [changed("amigo")]
    assert server.times == 3
