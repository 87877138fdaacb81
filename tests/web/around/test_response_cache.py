"""The same answer for everybody who asks for the same within a second; never somebody's own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from cgos_server.presentation.settings import WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.web.application import create_app
from cgos_server.web.around.caching import Caching
from cgos_server.web.around.response_cache import KEPT, ResponseCache


class Counting:
    """An application whose answers differ each time, and a clock that stands."""

    def __init__(self) -> None:
        self.now, self.count = 0.0, 0
        paths = (("/page", self.page), ("/own", self.own), ("/gone", self.gone), ("/stream", self.stream))
        routes = [Route(path, handler, methods=["GET", "POST"]) for path, handler in paths]
        self.app = Caching(ResponseCache(Starlette(routes=routes), 1.0, lambda: self.now))

    async def page(self, request: Request) -> Response:
        self.count += 1
        return JSONResponse([self.count, str(request.url), "x" * 1000])

    async def own(self, _request: Request) -> Response:
        self.count += 1
        return JSONResponse(self.count, headers={"Cache-Control": "no-store"})

    async def gone(self, _request: Request) -> Response:
        self.count += 1
        return JSONResponse(self.count, 404)

    async def stream(self, _request: Request) -> Response:
        async def pieces() -> AsyncIterator[str]:
            self.count += 1
            yield str(self.count)

        return StreamingResponse(pieces())


@pytest.fixture
def counting() -> Counting:
    return Counting()


@pytest.fixture
async def web(counting: Counting) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(counting.app), base_url="http://x") as opened:
        yield opened


async def test_the_same_is_answered_once_a_second(web: httpx2.AsyncClient, counting: Counting) -> None:
    first = await web.get("/page?a=1")
    counting.now = 0.9
    again = await web.get("/page?a=1")
    assert again.content == first.content
    assert again.headers == first.headers
    assert (await web.get("/page?a=1", headers={"If-None-Match": first.headers["etag"]})).status_code == 304
    assert counting.count == 1
    counting.now = 1.1
    assert (await web.get("/page?a=1")).content != first.content


async def test_another_question_is_another_answer(web: httpx2.AsyncClient, counting: Counting) -> None:
    await web.get("/page?a=1")
    await web.get("/page?a=2")
    await web.get("/page?a=1", headers={"Host": "y"})
    await web.post("/page?a=1")
    assert counting.count == 4


@pytest.mark.parametrize("headers", [{"Cookie": "session=1"}, {"Authorization": "Bearer x"}])
async def test_nobodys_own_answer_is_kept_or_given(
    web: httpx2.AsyncClient, counting: Counting, headers: dict[str, str]
) -> None:
    await web.get("/page", headers=headers)
    await web.get("/page")
    await web.get("/page", headers=headers)
    assert counting.count == 3


@pytest.mark.parametrize("path", ["/own", "/gone", "/stream"])
async def test_what_is_not_kept(web: httpx2.AsyncClient, counting: Counting, path: str) -> None:
    assert (await web.get(path)).content != (await web.get(path)).content


async def test_memory_is_bounded(web: httpx2.AsyncClient, counting: Counting) -> None:
    for number in range(KEPT + 1):
        await web.get(f"/page?{number}")
    await web.get(f"/page?{KEPT}")
    assert counting.count == KEPT + 1
    await web.get("/page?0")
    assert counting.count == KEPT + 2


async def test_forms_of_strangers_are_never_shared(empty_history: History) -> None:
    app = create_app(empty_history, WebSettings(), lambda: 0, remember_s=60.0)
    forms = []
    for _ in range(2):
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://x") as stranger:
            answer = await stranger.get("/sign-in")
            forms.append((answer.text, answer.headers["set-cookie"]))
    assert forms[0][0] != forms[1][0]
    assert forms[0][1] != forms[1][1]
