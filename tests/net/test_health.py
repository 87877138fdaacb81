"""The health listener: answers in the loop it watches, leaves signals alone and nothing open behind it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import re
import shutil
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send
from support.net.turns import accepted_in_the_turn_before
from support.promtool import findings

from cgos_protocol.errors import Code, Refused, Unavailable
from cgos_server.net.health import Probe, health_app
from cgos_server.net.http import HttpListener
from cgos_server.observability.exposition import Form, rendered
from cgos_server.observability.metrics import Metrics
from cgos_server.observability.web_metrics import WebMetrics


def bound() -> socket.socket:
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    sock.listen()
    return sock


@asynccontextmanager
async def listening(
    probes: dict[str, Probe], registry: CollectorRegistry | None = None
) -> AsyncIterator[httpx2.AsyncClient]:
    sock = bound()
    url = f"http://127.0.0.1:{sock.getsockname()[1]}"
    listener = HttpListener(health_app(probes, registry or CollectorRegistry()), sock)
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.run())
        async with httpx2.AsyncClient(base_url=url, trust_env=False) as client:
            yield client
        listener.stop()


@asynccontextmanager
async def served() -> AsyncIterator[int]:
    """A listener with a few more addresses; its port."""

    async def echo(request: Request) -> Response:
        try:
            return Response(await request.body())
        except ClientDisconnect:
            return Response(status_code=400)

    async def long(_: Request) -> Response:
        async def parts() -> AsyncIterator[bytes]:
            for _ in range(5):
                await asyncio.sleep(0)
                yield bytes(10_000)

        return StreamingResponse(parts())

    app = health_app({}, CollectorRegistry())
    app.add_route("/echo", echo, methods=["POST"])
    app.add_route("/long", long)
    sock = bound()
    listener = HttpListener(app, sock)
    running = asyncio.get_running_loop().create_task(listener.run())
    try:
        yield sock.getsockname()[1]
    finally:
        listener.stop()
        await running


async def test_alive_and_ready() -> None:
    async with listening({"database": lambda: (True, "commits return")}) as client:
        alive = await client.get("/livez")
        ready = await client.get("/readyz")
        verbose = await client.get("/readyz?verbose")
        head = await client.head("/livez")
    assert (alive.status_code, alive.text) == (200, "alive\n")
    assert (ready.status_code, ready.text) == (200, "ready\n")
    assert verbose.text == "ready\ndatabase: ok, commits return\n"
    assert (head.status_code, head.content) == (200, b"")
    assert alive.headers["cache-control"] == "no-store"
    assert "server" not in alive.headers


async def test_not_ready_says_why() -> None:
    state = {"well": False}

    def database() -> tuple[bool, str]:
        return state["well"], "commits have failed for 3 s" if not state["well"] else "commits return"

    async with listening({"database": database, "ports": lambda: (True, "all three listen")}) as client:
        short = await client.get("/readyz")
        verbose = await client.get("/readyz?verbose")
        alive = await client.get("/livez")
        state["well"] = True
        again = await client.get("/readyz")
    assert (short.status_code, short.text) == (503, "not ready\ndatabase: commits have failed for 3 s\n")
    assert verbose.text == "not ready\ndatabase: commits have failed for 3 s\nports: ok, all three listen\n"
    assert alive.status_code == 200
    assert again.status_code == 200


async def test_metrics_in_both_formats() -> None:
    registry = CollectorRegistry()
    Metrics(registry, "1.2.3").venue("9x9").moved(500)
    async with listening({}, registry) as client:
        plain = await client.get("/metrics")
        openmetrics = await client.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert plain.headers["content-type"].startswith("text/plain; version=")
    assert 'cgos_moves_total{venue="9x9"} 1.0\n' in plain.text
    assert openmetrics.headers["content-type"].startswith("application/openmetrics-text")
    assert openmetrics.text.endswith("# EOF\n")


async def test_metrics_of_the_pages_in_both_formats_or_a_sentence_why_not() -> None:
    registry, web = CollectorRegistry(), WebMetrics()
    Metrics(registry, "1.2.3")
    away: list[Refused] = []

    async def scrape(form: Form) -> bytes:
        if away:
            raise away[0]
        return rendered(web.registry, form)

    sock = bound()
    url = f"http://127.0.0.1:{sock.getsockname()[1]}"
    listener = HttpListener(health_app({}, registry, scrape), sock)
    async with asyncio.TaskGroup() as group, httpx2.AsyncClient(base_url=url, trust_env=False) as client:
        group.create_task(listener.run())
        plain = await client.get("/metrics/web")
        openmetrics = await client.get("/metrics/web", headers={"Accept": "application/openmetrics-text"})
        away.append(Unavailable(Code.NO_SERVER, "The web process does not run just now."))
        refused, other = await client.get("/metrics/web"), await client.get("/metrics")
        listener.stop()
    assert plain.headers["content-type"].startswith("text/plain; version=")
    assert "cgos_web_webhook_queue_length 0.0\n" in plain.text
    assert openmetrics.headers["content-type"].startswith("application/openmetrics-text")
    assert openmetrics.text.endswith("# EOF\n")
    assert (refused.status_code, refused.text) == (503, "The web process does not run just now.\n")
    assert other.status_code == 200


async def test_unknown_paths_and_methods_are_refused() -> None:
    async with listening({}) as client:
        missing = await client.get("/nothing")
        posted = await client.post("/livez")
    assert missing.status_code == 404
    assert posted.status_code == 405


async def test_signals_stay_with_the_server() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    async with listening({}) as client:
        await client.get("/livez")
        during = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert during == before


async def test_garbage_is_answered_and_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    sock = bound()
    port = sock.getsockname()[1]
    listener = HttpListener(health_app({}, CollectorRegistry()), sock)
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.run())
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"\x16\x03\x01 not http at all\r\n\r\n")
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        listener.stop()
    assert answer.startswith(b"HTTP/1.1 400")
    assert caplog.records == []


CHUNKED = b"Host: x\r\nTransfer-Encoding: chunked\r\n\r\n"
BOTH = b"Host: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
NEXT = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    ("segments", "statuses"),
    [
        ([b"POST /livez HTTP/1.1\r\n" + CHUNKED + b"zz\r\n\r\n"], [400]),
        ([b"POST /livez HTTP/1.1\r\n" + CHUNKED, b"zz\r\n\r\n"], [405]),
        ([b"GET /livez HTTP/1.1\r\n" + CHUNKED + NEXT], [400]),
        ([b"GET /livez HTTP/1.1\r\n" + CHUNKED, NEXT], [200]),
        ([b"GET /livez HTTP/1.1\r\n" + CHUNKED + b"0\r\n\r\n" + NEXT, b"\0\r\n\r\n"], [200, 200, 400]),
        ([b"POST /livez HTTP/1.1\r\n" + BOTH + b"0\r\n\r\n" + NEXT], [400]),
        ([NEXT + b"GET /livez HTTP/1.1\r\n" + BOTH + b"0\r\n\r\n" + NEXT], [200, 400]),
        ([b"HEAD /livez HTTP/1.1\r\n" + BOTH], [400]),
        ([b"POST /livez HTTP/1.1\r\nExpect: 100-continue\r\n" + CHUNKED, b"zz\r\n"], [405]),
    ],
)
async def test_what_is_no_http_is_answered_once_and_ends_the_connection(
    segments: list[bytes], statuses: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    """Each segment is sent when the one before has been answered."""
    async with served() as port, asyncio.timeout(5):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        heard = b""
        for segment in segments:
            writer.write(segment)
            heard += await reader.read(1 << 16)
        heard += await read_to_the_end(reader)
        writer.close()
    assert [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+)", heard)] == statuses
    assert caplog.records == []


LINES = [
    b"GET /livez HTTP/1.1\r\n", b"GET /long HTTP/1.1\r\n", b"POST /echo HTTP/1.1\r\n", b"HEAD /livez HTTP/1.1\r\n",
    b"HEAD /long HTTP/1.0\r\n", b"CONNECT x:1 HTTP/1.1\r\n", b"OPTIONS * HTTP/1.1\r\n", b"",
]  # fmt: skip
HEADERS = [
    b"Host: x\r\n", b"Content-Length: 5\r\n", b"Transfer-Encoding: gzip\r\n", b"Connection: close\r\n", CHUNKED, BOTH,
    b"Expect: 100-continue\r\n", b"Connection: upgrade\r\nUpgrade: h2c\r\n",
]  # fmt: skip
BODIES = [b"\r\n", b"zz\r\n", b"0\r\n\r\n", b"5;a=b\r\nhello\r\n", b"hello", bytes(70_000), NEXT]


def some(words: list[bytes]) -> st.SearchStrategy[bytes]:
    return st.lists(st.sampled_from(words) | st.binary(max_size=9), max_size=3).map(b"".join)


SEGMENTS = st.lists(
    st.tuples(st.tuples(st.sampled_from(LINES), some(HEADERS), some(BODIES)).map(b"".join), st.booleans()), max_size=4
)
"""With each segment, whether the server gets time to deal with it before the next one."""


def test_no_bytes_are_our_fault(caplog: pytest.LogCaptureFixture) -> None:
    unhandled: list[object] = []

    async def send(port: int, segments: list[tuple[bytes, bool]], half_closed: bool) -> None:
        before = asyncio.all_tasks()
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        for segment, waits in segments:
            writer.write(segment)
            for _ in range(10 * waits):
                await asyncio.sleep(0)
        if half_closed:
            with contextlib.suppress(OSError):
                writer.write_eof()
        for _ in range(10):
            await asyncio.sleep(0)
        writer.transport.abort()
        for _ in range(10):
            await asyncio.sleep(0)
        await asyncio.gather(*asyncio.all_tasks() - before)  # requests under way

    with asyncio.Runner() as runner:
        runner.get_loop().set_exception_handler(lambda _, context: unhandled.append(context))
        server = served()
        port = runner.run(server.__aenter__())

        @settings(max_examples=200, deadline=None)
        @given(SEGMENTS, st.booleans())
        def look(segments: list[tuple[bytes, bool]], half_closed: bool) -> None:
            runner.run(send(port, segments, half_closed))
            assert (unhandled, caplog.records) == ([], [])

        try:
            look()
        finally:
            runner.run(server.__aexit__(None, None, None))


async def test_cancelling_cuts_everything_and_leaves_nothing_open(caplog: pytest.LogCaptureFixture) -> None:
    gc.collect()
    descriptors = len(os.listdir("/proc/self/fd"))
    tasks = asyncio.all_tasks()
    sock = bound()
    port = sock.getsockname()[1]
    reached = asyncio.Event()

    async def stuck(scope: Scope, receive: Receive, send: Send) -> None:
        reached.set()
        await asyncio.Event().wait()

    async with asyncio.TaskGroup() as group:
        running = group.create_task(HttpListener(stuck, sock).run())
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await reached.wait()
        running.cancel()
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
    assert asyncio.all_tasks() == tasks
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert caplog.records == []


async def test_a_request_under_way_may_end_after_stop() -> None:
    sock = bound()
    port = sock.getsockname()[1]
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        reached.set()
        await go_on.wait()
        await PlainTextResponse("done")(scope, receive, send)

    listener = HttpListener(app, sock)
    async with asyncio.TaskGroup() as group, httpx2.AsyncClient(trust_env=False) as client:
        group.create_task(listener.run())
        asking = group.create_task(client.get(f"http://127.0.0.1:{port}/"))
        await reached.wait()
        listener.stop()
        go_on.set()
        response = await asking
    assert response.text == "done"


async def test_who_has_connected_just_before_the_stop_is_answered() -> None:
    """A server that is replaced in place resets nobody whose request is on its way."""
    sock = bound()
    port = sock.getsockname()[1]
    listener = HttpListener(health_app({}, CollectorRegistry()), sock)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(listener.run())
        asking, writer = await asyncio.open_connection("127.0.0.1", port)
        silent, other = await asyncio.open_connection("127.0.0.1", port)
        while len(connections := listener._server.server_state.connections) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0)
        listener.stop()
        while not all(each._ending for each in connections):  # noqa: ASYNC110
            await asyncio.sleep(0)
        assert not running.done()
        writer.write(b"GET /livez HTTP/1.1\r\nHost: here\r\n\r\n")
        answer = await asking.read()
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert await silent.read() == b""
    for each in (writer, other):
        each.close()
        await each.wait_closed()


async def test_who_is_accepted_in_the_turn_before_the_stop_is_answered() -> None:
    """asyncio drops a connection whose server closes between its acceptance and its making."""
    sock = bound()
    address = sock.getsockname()
    listener = HttpListener(health_app({}, CollectorRegistry()), sock)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(listener.run())
        while not listener._server.servers:  # noqa: ASYNC110
            await asyncio.sleep(0)
        with await accepted_in_the_turn_before(listener.stop, address) as peer:
            peer.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = await asyncio.to_thread(peer.recv, 4096)
    assert answer.startswith(b"HTTP/1.1 200 OK")


async def test_an_application_that_fails_answers_500_and_lives_on() -> None:
    async def broken(request: Request) -> Response:
        raise RuntimeError

    app = health_app({}, CollectorRegistry())
    app.add_route("/broken", broken)
    sock = bound()
    url = f"http://127.0.0.1:{sock.getsockname()[1]}"
    listener = HttpListener(app, sock)
    async with asyncio.TaskGroup() as group, httpx2.AsyncClient(base_url=url, trust_env=False) as client:
        group.create_task(listener.run())
        failed = await client.get("/broken")
        alive = await client.get("/livez")
        listener.stop()
    assert (failed.status_code, alive.status_code) == (500, 200)


async def test_whoever_sends_no_request_loses_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgos_server.net.http.HEAD_S", 0.05)
    sock = bound()
    port = sock.getsockname()[1]
    listener = HttpListener(health_app({}, CollectorRegistry()), sock)
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.run())
        whole = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
        for first, request in ((b"", b""), (b"", b"GET /livez HTTP/1.1\r\nHost"), (whole, b"GET /livez")):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            async with asyncio.timeout(5):
                if first:
                    writer.write(first)
                    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
                writer.write(request)
                heard = await read_to_the_end(reader)
            assert b"HTTP" not in heard
            writer.close()
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            assert (await client.get("/livez")).status_code == 200
        listener.stop()


async def test_whoever_takes_nothing_of_an_answer_loses_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgos_server.net.http.STALLED_S", 0.05)
    gone = asyncio.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while (await next_of(receive, send))["type"] != "http.disconnect":
            pass
        gone.set()

    async def next_of(receive: Receive, send: Send) -> Message:
        await send({"type": "http.response.body", "body": bytes(1 << 16), "more_body": True})
        asking = asyncio.ensure_future(receive())
        done, _ = await asyncio.wait([asking], timeout=0)
        if done:
            return asking.result()
        asking.cancel()
        return {"type": ""}

    sock = bound()
    listener = HttpListener(endless, sock)
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.run())
        _, writer = await asyncio.open_connection("127.0.0.1", sock.getsockname()[1], limit=1024)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        async with asyncio.timeout(10):
            await gone.wait()
        writer.transport.abort()
        listener.stop()


async def test_no_word_of_a_visitor_says_who_it_is() -> None:
    """Which proxies are believed is the application's to say."""
    clients: list[object] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        clients.append((scope["client"][0], scope["scheme"]))
        await PlainTextResponse("")(scope, receive, send)

    sock = bound()
    listener = HttpListener(app, sock)
    async with asyncio.TaskGroup() as group, httpx2.AsyncClient(trust_env=False) as client:
        group.create_task(listener.run())
        headers = {"X-Forwarded-For": "203.0.113.5", "X-Forwarded-Proto": "https"}
        await client.get(f"http://127.0.0.1:{sock.getsockname()[1]}/", headers=headers)
        listener.stop()
    assert clients == [("127.0.0.1", "http")]


async def read_to_the_end(reader: asyncio.StreamReader) -> bytes:
    heard = b""
    with contextlib.suppress(ConnectionError):
        while more := await reader.read(4096):
            heard += more
    return heard


async def test_a_real_prometheus_scrape_parses() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed")
    registry = CollectorRegistry()
    Metrics(registry, "1.2.3").venue("9x9").moved(500)
    async with listening({}, registry) as client:
        body = (await client.get("/metrics")).content
    assert findings(promtool, body) == []
