"""What answers gain on their way out: validators, 304, compression; streams pass as they come."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message

from cgos_server.web.around.caching import LEAST, Caching, accepts_gzip, etag, matches, weak

LONG = {"text": "many words, " * 200}


async def long(_request: Request) -> Response:
    return JSONResponse(LONG)


async def huge(_request: Request) -> Response:
    return Response("x" * 200_000, media_type="text/plain")


async def short(_request: Request) -> Response:
    return JSONResponse({})


async def secret(_request: Request) -> Response:
    return JSONResponse(LONG, headers={"Cache-Control": "no-store"})


async def own(_request: Request) -> Response:
    return JSONResponse(LONG, headers={"ETag": '"mine"'})


async def gone(_request: Request) -> Response:
    return JSONResponse(LONG, 404)


async def picture(_request: Request) -> Response:
    return Response(b"\x89PNG" * 500, media_type="image/png")


async def live(_request: Request) -> Response:
    return StreamingResponse(_pieces(), media_type="text/event-stream")


async def download(_request: Request) -> Response:
    headers = {"Content-Disposition": "attachment"}
    return StreamingResponse(_pieces(), media_type="application/x-ndjson", headers=headers)


async def _pieces() -> AsyncIterator[str]:
    for number in range(100):
        yield f"data: {number} and some words more\n\n"


INNER = Starlette(
    routes=[Route(f"/{endpoint.__name__}", endpoint)
            for endpoint in (long, huge, short, secret, own, gone, picture, live, download)]
)  # fmt: skip


@pytest.fixture
async def web() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(Caching(INNER)), base_url="http://x") as opened:
        opened.headers["accept-encoding"] = "identity"
        yield opened


GZIP = {"accept-encoding": "gzip"}


async def raw(web: httpx2.AsyncClient, path: str, headers: dict[str, str]) -> tuple[httpx2.Response, bytes]:
    async with web.stream("GET", path, headers=headers) as response:
        return response, b"".join([chunk async for chunk in response.aiter_raw()])


async def test_who_has_it_already_is_told_so(web: httpx2.AsyncClient) -> None:
    first = await web.get("/long")
    tag = first.headers["etag"]
    assert tag == etag(first.content)
    assert first.headers["vary"] == "Accept-Encoding"
    again = await web.get("/long", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == tag
    assert "content-type" not in again.headers
    assert "content-length" not in again.headers
    other = await web.get("/long", headers={"If-None-Match": '"another"'})
    assert other.status_code == 200


async def test_the_validator_is_the_same_however_it_travels(web: httpx2.AsyncClient) -> None:
    plain = await web.get("/long")
    packed, data = await raw(web, "/long", GZIP)
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) == len(data) < len(plain.content) / 5
    assert gzip.decompress(data) == plain.content
    assert packed.headers["etag"] == plain.headers["etag"]
    assert (await web.get("/long", headers=GZIP | {"If-None-Match": plain.headers["etag"]})).status_code == 304
    _, again = await raw(web, "/long", GZIP)
    assert again == data, "nothing of the time of day goes into it"


async def test_what_is_large_is_compressed_all_the_same(web: httpx2.AsyncClient) -> None:
    response, data = await raw(web, "/huge", GZIP)
    assert response.headers["content-encoding"] == "gzip"
    assert gzip.decompress(data) == b"x" * 200_000


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/short", {}),
        ("/picture", {}),
        ("/long", {"cookie": "session=1"}),
        ("/long", {"authorization": "Bearer x"}),
        ("/long", {"range": "bytes=0-1"}),
        ("/long", {"accept-encoding": "br, gzip;q=0"}),
        ("/live", {}),
    ],
)
async def test_what_is_not_compressed(web: httpx2.AsyncClient, path: str, headers: dict[str, str]) -> None:
    response = await web.get(path, headers=GZIP | headers)
    assert response.status_code == 200
    assert "content-encoding" not in response.headers


async def test_answers_that_nobody_may_keep_have_no_validator(web: httpx2.AsyncClient) -> None:
    assert "etag" not in (await web.get("/secret")).headers
    assert "etag" not in (await web.get("/gone")).headers
    assert (await web.get("/gone", headers={"If-None-Match": "*"})).status_code == 404


async def test_an_answers_own_validator_counts_and_is_weakened_by_compression(web: httpx2.AsyncClient) -> None:
    assert (await web.get("/own")).headers["etag"] == '"mine"'
    packed, _ = await raw(web, "/own", GZIP)
    assert packed.headers["etag"] == 'W/"mine"'
    assert (await web.get("/own", headers=GZIP | {"If-None-Match": 'W/"mine"'})).status_code == 304


@pytest.mark.parametrize("path", ["/long", "/short", "/huge"])
async def test_a_head_says_what_the_answer_would(web: httpx2.AsyncClient, path: str) -> None:
    whole, head = await web.get(path), await web.head(path)
    assert head.content == b""
    assert head.headers == whole.headers


async def test_a_live_stream_passes_piece_by_piece_and_a_download_is_compressed() -> None:
    async def messages_of(path: str) -> list[Message]:
        messages: list[Message] = []

        async def send(message: Message) -> None:
            messages.append(message)

        async def receive() -> Message:
            await asyncio.Event().wait()  # the reader stays
            raise AssertionError

        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"",
                 "headers": [(b"accept-encoding", b"gzip")]}  # fmt: skip
        await Caching(INNER)(scope, receive, send)
        return messages

    start, *pieces = await messages_of("/live")
    assert b"content-encoding" not in dict(start["headers"])
    assert b"etag" not in dict(start["headers"])
    assert len([piece for piece in pieces if piece["body"]]) == 100, "every piece goes out as it came"
    start, *pieces = await messages_of("/download")
    assert dict(start["headers"])[b"content-encoding"] == b"gzip"
    data = b"".join(piece["body"] for piece in pieces)
    assert zlib.decompress(data, 16 + zlib.MAX_WBITS).count(b"data: ") == 100
    assert len(data) < 1500


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_contents_differ_as_their_validators_do(first: bytes, second: bytes) -> None:
    assert (etag(first) == etag(second)) is (first == second)
    assert matches(etag(first), etag(first))
    assert matches(f'"a", {weak(etag(first))}', etag(first))
    assert matches("*", etag(first))


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [
        ("gzip", True),
        ("GZIP", True),
        ("br, gzip;q=0.5", True),
        ("*", True),
        ("identity", False),
        ("", False),
        ("gzip;q=0", False),
        ("gzip; q=0.0, *", False),
        ("gzip;q=x", False),
        ("x-gzip", False),
    ],
)
def test_accepting_gzip(accepted: str, takes: bool) -> None:
    assert accepts_gzip(accepted) is takes
    assert LEAST > 0
