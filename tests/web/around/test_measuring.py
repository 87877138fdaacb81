"""What is counted of requests: by groups of addresses, never by an address; streams while they are open."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import generate_latest
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Message, Receive, Scope, Send

from cgos_protocol.errors import Code, Refused, StoreError
from cgos_server.observability.web_metrics import Lack, RouteGroup, StreamKind, WebMetrics
from cgos_server.presentation.settings import WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.web.application import addresses, create_app
from cgos_server.web.around.measuring import Measuring, group_of
from cgos_server.web.around.problems import lack_of, problem_of


def paths(routes: list[BaseRoute]) -> Iterator[str]:
    for route in routes:
        assert isinstance(route, Route | Mount)
        yield route.path.removeprefix("/api/{rest:path}") or "/"


def test_every_address_of_ours_has_a_group(history: History) -> None:
    site = create_app(history, WebSettings())._site
    assert [path for path in paths(addresses(site)) if group_of("GET", path) is RouteGroup.OTHER] == []


@pytest.mark.parametrize(
    ("method", "path", "group"),
    [
        ("GET", "/", RouteGroup.OVERVIEW),
        ("GET", "/venue/9x9", RouteGroup.VENUE),
        ("GET", "/venue", RouteGroup.VENUE),
        ("GET", "/games", RouteGroup.GAME),
        ("POST", "/account/webhooks", RouteGroup.ACCOUNT),
        ("GET", "/api/v1", RouteGroup.API_READ),
        ("GET", "/api/v1/venues/9x9/standings", RouteGroup.API_READ),
        ("POST", "/api/v1/webhooks", RouteGroup.API_ACT),
        ("GET", "/api/v1/live", RouteGroup.STREAM),
        ("GET", "/api/v1/games/7/live", RouteGroup.STREAM),
        ("GET", "/api/v1/openapi.json", RouteGroup.DOCS),
        ("GET", "/static/style.css", RouteGroup.FILE),
        ("GET", "/wp-admin.php", RouteGroup.OTHER),
        ("GET", "//venue", RouteGroup.OVERVIEW),
        ("OPTIONS", "*", RouteGroup.OVERVIEW),
    ],
)
def test_groups(method: str, path: str, group: RouteGroup) -> None:
    assert group_of(method, path) is group


class Ticks:
    """Half a second passes between two looks."""

    def __init__(self) -> None:
        self.ns = 0

    def __call__(self) -> int:
        self.ns += 500_000_000
        return self.ns


async def answered(scope: Scope, receive: Receive, send: Send) -> None:
    """Its status is the path's last part; ``0``: no answer, ``1``: a fault."""
    status = int(scope["path"].rsplit("/", 1)[1])
    if status == 1:
        raise ValueError("as wanted")
    if status:
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        await send({"type": "http.response.body", "body": b"b"})


async def request(measuring: Measuring, method: str, path: str) -> None:
    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(_message: Message) -> None:
        pass

    await measuring({"type": "http", "method": method, "path": path}, receive, send)


async def test_answers_count_by_group_and_status_and_last_to_their_last_byte() -> None:
    metrics = WebMetrics()
    measuring = Measuring(answered, metrics, Ticks())
    for status in (200, 204, 302, 404, 429, 503, 0):
        await request(measuring, "GET", f"/bot/{status}")
    with pytest.raises(ValueError, match="as wanted"):
        await request(measuring, "GET", "/bot/1")
    assert metrics.routes[RouteGroup.BOT].answered == {"2xx": 2, "3xx": 1, "4xx": 3, "5xx": 2}
    value = metrics.registry.get_sample_value
    assert value("cgos_web_request_duration_seconds_count", {"route": "bot"}) == 6
    assert value("cgos_web_request_duration_seconds_sum", {"route": "bot"}) == 3.0
    assert value("cgos_web_request_duration_seconds_bucket", {"route": "bot", "le": "0.5"}) == 6
    assert value("cgos_web_requests_total", {"route": "bot", "status": "5xx"}) == 2


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/api/v1/games/7/live", StreamKind.GAME),
        ("/api/v1/live", StreamKind.VENUE),
        ("/api/v1/export/games", StreamKind.EXPORT),
    ],
)
async def test_a_stream_counts_while_it_is_open_and_has_no_duration(path: str, kind: StreamKind) -> None:
    metrics, begun = WebMetrics(), asyncio.Event()

    async def stream(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        begun.set()
        await asyncio.Event().wait()

    running = asyncio.ensure_future(request(Measuring(stream, metrics), "GET", path))
    await begun.wait()
    assert metrics.streams == dict.fromkeys(StreamKind, 0) | {kind: 1}
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert set(metrics.streams.values()) == {0}
    assert f'cgos_web_request_duration_seconds_count{{route="{group_of("GET", path)}"' not in str(
        generate_latest(metrics.registry)
    )


@given(st.sampled_from(["GET", "POST", "BREW"]), st.lists(st.text(max_size=8) | st.just("api"), max_size=5))
def test_whatever_strangers_ask_for_the_labels_stay_the_same(method: str, parts: list[str]) -> None:
    assert group_of(method, "/" + "/".join(parts)) in RouteGroup


def test_refusals_that_may_end_say_what_was_reached_or_is_lacking() -> None:
    for code in Code:
        problem = problem_of(Refused.of(code, "No."))
        assert (lack_of(problem) is not None) == (problem.status in (429, 503)), code
    assert lack_of(problem_of(StoreError("away"))) is Lack.DATABASE
    assert lack_of(problem_of(Refused.of(Code.NO_SERVER, "No."))) is Lack.SERVER
    assert lack_of(problem_of(Refused.of(Code.NOT_NOW, "No."))) is Lack.OTHER


async def test_pages_and_the_api_count_under_the_same_codes(history: History) -> None:
    app = create_app(history, WebSettings(requests_per_minute=60), lambda: 0)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://x") as web:
        assert (await web.get("/api/v1/bots/nobody")).status_code == 404
        assert (await web.get("/api/v1/nothing")).status_code == 404
        assert (await web.post("/api/v1/venues")).status_code == 405
        assert (await web.get("/venue/nowhere")).status_code == 404
        statuses = {(await web.get("/venue/9x9")).status_code for _ in range(100)}
    value = app.metrics.registry.get_sample_value
    assert statuses == {200, 429}
    assert value("cgos_web_refusals_total", {"code": "no-bot"}) == 1
    assert value("cgos_web_refusals_total", {"code": "no-place"}) == 1
    assert value("cgos_web_refusals_total", {"code": "method"}) == 1
    limited = value("cgos_web_limited_total", {"limit": "requests"})
    assert limited
    assert value("cgos_web_requests_total", {"route": "venue", "status": "4xx"}) == limited + 1
    app.heard(None)
    assert value("cgos_web_facts_missed_total") == 1
