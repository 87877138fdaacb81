"""The streams as answers: who has left, who does not read, and what is said when there is nothing to say."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.requests import Request
from support.web.worlds import World

from cgos_server.web.live import streams
from cgos_server.web.live.framing import Form
from cgos_server.web.live.hub import LINGER_MS
from cgos_server.web.live.streams import Streaming, Streams

SCOPE: dict[str, Any] = {"type": "http", "method": "GET"}


class Visit:
    """One visitor at the ASGI seam: leaves when told; does not take what comes while `stuck`."""

    def __init__(self) -> None:
        self.leaves = asyncio.Event()
        self.stuck = False
        self.sent: list[dict[str, Any]] = []
        self.came = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if self.stuck:
            await asyncio.Event().wait()
        self.sent.append(message)
        self.came.set()

    @property
    def text(self) -> str:
        return b"".join(message.get("body", b"") for message in self.sent).decode()


def answer(world: World, game: int = 1) -> Streaming:
    return Streaming(Streams(world.hub).game_chunks(game, 0, Form.SSE), Form.SSE)


async def test_a_visitor_that_leaves_is_forgotten() -> None:
    world, visit = World(), Visit()
    world.begin(1)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(answer(world)(SCOPE, visit.receive, visit.send))
        await visit.came.wait()
        for _ in range(20):
            await asyncio.sleep(0)  # until it waits for a move
        assert world.hub._boards[1] is not None
        visit.leaves.set()
        await serving
    world.now += LINGER_MS
    await world.hub.look()
    assert world.hub._boards == {}
    assert visit.sent[0]["status"] == 200
    assert "end" not in visit.text


async def test_a_visitor_that_does_not_read_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "SEND_S", 0.01)
    world, visit = World(), Visit()
    world.begin(1)
    visit.stuck = True
    await answer(world)(SCOPE, visit.receive, visit.send)
    world.now += LINGER_MS
    await world.hub.look()
    assert world.hub._boards == {}
    assert visit.sent == []


async def test_a_quiet_stream_says_that_it_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT_S", 0.001)
    world = World()
    world.begin(1)
    chunks = Streams(world.hub).game_chunks(1, 0, Form.SSE)
    assert await anext(chunks) == b"retry: 2000\n\n"
    assert await anext(chunks) == b": here\n\n"
    await chunks.aclose()


async def test_a_browser_that_had_the_end_comes_back_no_more() -> None:
    """One that lost its connection before the end gets it."""
    world = World()
    world.begin(1)
    world.play(1)
    world.play(1)
    world.end(1)
    handlers = Streams(world.hub)

    def coming(last: str) -> Request:
        return Request(SCOPE | {"query_string": b"", "headers": [(b"last-event-id", last.encode())]})

    statuses = {}
    for last in ("", "2", "end"):
        visit = Visit()
        response = await handlers.game(coming(last), 1, 0)
        statuses[last] = response.status_code
        await response(SCOPE, visit.receive, visit.send)
        assert visit.text.count("id: end\nevent: end\n") == (last != "end")
        assert visit.text.count("event: move") == (2 if last == "" else 0)
    assert statuses == {"": 200, "2": 200, "end": 204}


async def test_head_has_no_body_and_no_length() -> None:
    world, visit = World(), Visit()
    world.begin(1)
    await answer(world)(SCOPE | {"method": "HEAD"}, visit.receive, visit.send)
    assert visit.text == ""
    heads = dict(visit.sent[0]["headers"])
    assert b"content-length" not in heads
    assert heads[b"cache-control"] == b"no-store, no-transform"


async def test_a_database_that_is_away_ends_the_stream_with_a_word() -> None:
    world = World()
    world.begin(1)
    world.history.down = True
    text = [chunk async for chunk in Streams(world.hub).game_chunks(1, 0, Form.SSE)]
    assert b"come again" in text[-1]
    world.history.down = False
    async with world.hub.watching(1) as board:
        assert board.known == 0


@pytest.mark.parametrize(
    ("query", "accept", "form"),
    [
        ("", "", Form.SSE),
        ("", "*/*", Form.SSE),
        ("", "image/png", Form.SSE),
        ("", "application/x-ndjson", Form.NDJSON),
        ("", "Application/X-NDJSON; q=0.5", Form.NDJSON),
        ("", "text/event-stream, application/x-ndjson", Form.NDJSON),
        ("", "text/event-stream, application/x-ndjson;q=0.5", Form.SSE),
        ("", "application/x-ndjson;q=0, text/event-stream", Form.SSE),
        ("", "application/x-ndjsonish", Form.SSE),
        ("format=sse", "application/x-ndjson", Form.SSE),
        ("format=ndjson", "text/event-stream", Form.NDJSON),
    ],
)
def test_the_wire_that_is_liked_best(query: str, accept: str, form: Form) -> None:
    headers = [(b"accept", accept.encode())] if accept else []
    scope = SCOPE | {"path": "/", "query_string": query.encode(), "headers": headers}
    assert streams.form_of(Request(scope)) is form
