"""The API's framework: what it reads, what it refuses and how, what it says to other sites' pages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from support.web.past import NOW

from cgos_protocol.api.messages import Problem
from cgos_protocol.api.route import LARGEST, LONGEST, PROBLEM, Limit, Needs, Operation, Param
from cgos_protocol.errors import Code, Invalid, NotFound, OurFault, RateLimited, StoreError, Unavailable
from cgos_protocol.options import LATEST_MS, Choice, Flag, Number, Several, Text, UnixTime
from cgos_server.presentation.settings import WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.web.api.framework import CORS, ApiRequest, Handler, api_routes, bearer
from cgos_server.web.api.operations import ROUTES
from cgos_server.web.api.strictly import MOST_BODY, Value, body_of, query_of, read
from cgos_server.web.around.problems import HttpRefused, Wrong
from cgos_server.web.live.hub import Hub
from cgos_server.web.site import Site


class Sent(msgspec.Struct, forbid_unknown_fields=True):
    """A body."""

    word: str
    count: int = 0


class Told(msgspec.Struct):
    """An answer."""

    values: dict[str, Any]


QUERY = (
    Param("text", Text(1, 5), "A text."),
    Param("count", Number(2, 9, whole=True), "A number.", default=3),
    Param("flag", Flag(), "A flag."),
    Param("list", Several(Text(1, 4), 3), "Names."),
    Param("kind", Choice(("big", "small")), "A choice."),
)
GAME = Param("game", Number(1, LARGEST, whole=True), "Number of a game.")
BOT = Param("bot", Text(1, 64), "Name of a bot.")
OPERATIONS = (
    Operation("tell", "GET", "/things/{game}", "Tell.", Told, "Things", query=QUERY, in_path=(GAME,)),
    Operation(
        "send",
        "POST",
        "/things/{game}",
        "Send.",
        Told,
        "Things",
        body=Sent,
        needs=Needs.BOTS,
        status=201,
        in_path=(GAME,),
    ),
    Operation("break", "GET", "/broken/{bot}", "Break.", Told, "Things", in_path=(BOT,)),
    Operation("flow", "GET", "/flow", "Flow.", None, "Things", limit=Limit.STREAMS, media=("text/event-stream",)),
)
FAULTS: dict[str, Exception] = {
    "store": StoreError("the disk is full of secrets"),
    "ours": OurFault("a secret place"),
    "bug": ZeroDivisionError("a secret number"),
    "gone": NotFound(Code.NO_BOT, "There is no such thing."),
    "rule": Invalid(Code.RESULT, "It is against the rules."),
    "wait": RateLimited(Code.TOO_MANY_FAILURES, "Wait.", 12.2),
    "away": Unavailable(Code.NO_SERVER, "Nobody is there."),
}


async def tell(request: ApiRequest) -> Told:
    texts = {name: request.values[name] for name in ("text", "kind")}
    return Told(
        {
            **texts,
            "count": request.values["count"],
            "flag": request.values["flag"],
            "list": request.values["list"],
            "game": request.values["game"],
        }
    )


async def send(request: ApiRequest) -> Told:
    return Told({"word": request.body.word, "credential": request.credential})


async def broken(request: ApiRequest) -> Told:
    raise FAULTS[request.values["bot"]]


class Flowing:
    """A handler of streams that notes how many slots are held meanwhile."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.held: list[int] = []

    async def flow(self, _asked: ApiRequest) -> StreamingResponse:
        async def chunks() -> AsyncIterator[str]:
            for _ in range(3):
                self.held.append(self.site.limits.taken(Limit.STREAMS))
                yield "data: x\n\n"

        return StreamingResponse(chunks(), media_type="text/event-stream")


@pytest.fixture
async def flowing(tmp_path: Path) -> AsyncIterator[Flowing]:
    async with History(tmp_path / "none.sqlite") as history:
        settings = WebSettings(streams_per_address=1)
        yield Flowing(Site(history, settings, "x", lambda: NOW, Hub(history, settings, lambda: NOW)))


@pytest.fixture
async def web(flowing: Flowing) -> AsyncIterator[httpx2.AsyncClient]:
    handlers: dict[str, Handler] = {"tell": tell, "send": send, "break": broken, "flow": flowing.flow}
    app = Starlette(routes=api_routes(flowing.site, OPERATIONS, handlers))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://x/api/v1") as opened:
        yield opened


def problem(response: httpx2.Response, status: int) -> Problem:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == PROBLEM
    decoded = msgspec.json.decode(response.content, type=Problem)
    assert decoded.status == status
    assert decoded.title
    assert decoded.detail.endswith(".")
    return decoded


async def test_parameters_arrive_as_what_they_are(web: httpx2.AsyncClient) -> None:
    response = await web.get("/things/17?text=ab&count=4&flag=true&list=a,b&kind=big")
    assert response.json()["values"] == {"text": "ab", "count": 4, "flag": True, "list": ["a", "b"], "kind": "big",
                                         "game": 17}  # fmt: skip
    bare = (await web.get("/things/17")).json()["values"]
    assert bare == {"text": None, "count": 3, "flag": None, "list": None, "kind": None, "game": 17}


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("text=", "text"),
        ("text=abcdef", "text"),
        ("text=a%00", "text"),
        ("text=a%0Ab", "text"),
        ("count=1", "count"),
        ("count=10", "count"),
        ("count=-3", "count"),
        ("count=%2B3", "count"),
        ("count=3.0", "count"),
        ("count=", "count"),
        ("count=٣", "count"),
        (f"count={'9' * 5000}", "count"),
        ("flag=1", "flag"),
        ("flag=True", "flag"),
        ("list=a,,b", "list"),
        ("list=a,b,c,d", "list"),
        ("list=abcde", "list"),
        ("kind=Big", "kind"),
        ("kind=big&kind=big", "kind"),
        ("unheard=1", "unheard"),
    ],
)
async def test_what_is_wrong_is_named(web: httpx2.AsyncClient, query: str, parameter: str) -> None:
    refused = problem(await web.get(f"/things/17?{query}"), 400)
    assert (refused.code, refused.parameter) == ("invalid", parameter)
    assert parameter in refused.detail


@pytest.mark.parametrize("number", ["0", "x", "1e3", "-1", str(LARGEST + 1), "%00", "１"])
async def test_numbers_of_paths_are_read_as_strictly(web: httpx2.AsyncClient, number: str) -> None:
    assert problem(await web.get(f"/things/{number}"), 400).parameter == "game"


@given(st.sampled_from([param for route in ROUTES for param in (*route.in_path, *route.query)]), st.text(max_size=30))
def test_a_parameter_is_read_into_its_range_or_refused_by_name(param: Param, text: str) -> None:
    try:
        value = read(param, text)
    except Wrong as refused:
        refused_for = (refused.parameter, refused.sentence[-1])
    else:
        refused_for = None
    if refused_for is not None:
        assert refused_for == (param.name, ".")
        return
    option = param.option
    if isinstance(option, Choice):
        assert value in option.words
    elif isinstance(option, Number):
        assert isinstance(value, int)
        assert option.least <= value <= option.most
        assert text.isascii()
        assert int(text) == value
    elif isinstance(option, UnixTime):
        assert value == int(text) <= LATEST_MS
    elif isinstance(option, Flag):
        assert value is (text == "true")
    else:
        names = value if isinstance(value, list) else [value]
        assert ",".join(str(name) for name in names) == text
        each = option.each if isinstance(option, Several) else option
        assert isinstance(each, Text)
        assert all(each.least <= len(str(name)) <= (each.most or LONGEST) for name in names)


@given(st.sampled_from(ROUTES), st.data())
def test_what_is_in_range_is_read(route: Operation, data: st.DataObject) -> None:
    wanted: dict[str, Value] = {}
    given_: list[tuple[str, str]] = []
    for param in data.draw(st.lists(st.sampled_from(route.query), unique=True) if route.query else st.just([])):
        option = param.option
        if isinstance(option, Choice):
            wanted[param.name] = data.draw(st.sampled_from(option.words))
        elif isinstance(option, Flag):
            wanted[param.name] = data.draw(st.booleans())
        elif isinstance(option, Number):
            wanted[param.name] = data.draw(st.integers(int(option.least), int(option.most)))
        elif isinstance(option, UnixTime):
            wanted[param.name] = data.draw(st.just(0) | st.integers(100_000_000_000, LATEST_MS))
        elif isinstance(option, Several):
            wanted[param.name] = data.draw(st.lists(st.sampled_from(["a", "b.c"]), min_size=1, max_size=option.most))
        else:
            wanted[param.name] = "x"
        value = wanted[param.name]
        given_.append((param.name, ",".join(value) if isinstance(value, list) else str(value).lower()
                       if isinstance(value, bool) else str(value)))  # fmt: skip
    values = query_of(route, given_)
    assert {name: values[name] for name in wanted} == wanted
    assert set(values) == {param.name for param in route.query}
    assert all(values[param.name] == param.default for param in route.query if param.name not in wanted)


@pytest.mark.parametrize("name", ["<script>", "a'b\"c", "ü" * 64, "x y", "%2e%2e", "../../etc"])
async def test_hostile_names_do_no_harm(web: httpx2.AsyncClient, name: str) -> None:
    response = await web.get(f"/things/{quote(name, safe='')}")
    assert response.headers["content-type"] == PROBLEM
    assert response.status_code in (400, 404)
    json.loads(response.text)


# -- bodies and tokens

TOKEN = {"Authorization": "Bearer abc"}


async def test_a_body_arrives_as_its_type(web: httpx2.AsyncClient) -> None:
    response = await web.post("/things/1", json={"word": "x"}, headers=TOKEN)
    assert response.status_code == 201
    assert response.json()["values"] == {"word": "x", "credential": "abc"}
    assert response.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b'{"word": "x"}', "text/plain", 415),
        (b'{"word": "x"}', "", 415),
        (b'{"word": 1}', "application/json", 422),
        (b"{}", "application/json", 422),
        (b'{"word": "x", "more": 1}', "application/json", 422),
        (b'{"word":', "application/json", 400),
        (b"", "application/json", 400),
        (b'{"word": "\xff"}', "application/json", 400),
        (b"[" * 30_000, "application/json", 422),
        (b'{"word": "' + b"x" * MOST_BODY + b'"}', "application/json", 413),
    ],
)
async def test_a_body_that_is_wrong(web: httpx2.AsyncClient, content: bytes, kind: str, status: int) -> None:
    headers = TOKEN | ({"Content-Type": kind} if kind else {})
    problem(await web.post("/things/1", content=content, headers=headers), status)


@pytest.mark.parametrize(("coding", "status"), [("gzip", 415), ("Br", 415), ("identity", 201), ("", 201)])
async def test_a_body_comes_as_it_is(web: httpx2.AsyncClient, coding: str, status: int) -> None:
    headers = TOKEN | {"Content-Type": "application/json", "Content-Encoding": coding}
    response = await web.post("/things/1", content=b'{"word": "x"}', headers=headers)
    assert response.status_code == status
    if status == 415:
        assert problem(response, 415).code == "media-type"
        assert response.headers["accept-encoding"] == "identity"  # RFC 9110, 12.5.3


async def test_a_body_that_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgos_server.web.api.strictly.BODY_LIMIT_S", 0.02)
    parts = [{"type": "http.request", "body": b"{", "more_body": True}]

    async def receive() -> Any:
        if not parts:
            await asyncio.Event().wait()
        return parts.pop()

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"content-type", b"application/json")]}
    with pytest.raises(HttpRefused) as raised:
        await body_of(OPERATIONS[1], Request(scope, receive))
    assert raised.value.status == 408


@pytest.mark.parametrize("value", ["", "Basic abc", "Bearer", "Bearer ", "abc"])
async def test_without_a_token_nothing_is_read(web: httpx2.AsyncClient, value: str) -> None:
    response = await web.post("/things/0", content=b"{", headers={"Authorization": value} if value else {})
    assert problem(response, 401).code == "no-token"
    assert response.headers["www-authenticate"] == "Bearer"


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=60))
def test_a_token_is_read_as_it_was_sent(token: str) -> None:
    scope = {"type": "http", "headers": [(b"authorization", f"bearer {token}".encode())]}
    assert bearer(Request(scope)) == token


# -- failures


@pytest.mark.parametrize(
    ("which", "status", "code"),
    [
        ("store", 503, "store"),
        ("ours", 500, "our-fault"),
        ("bug", 500, "our-fault"),
        ("gone", 404, "no-bot"),
        ("rule", 422, "result"),
        ("wait", 429, "too-many-failures"),
        ("away", 503, "no-server"),
    ],
)
async def test_failures_have_one_shape(web: httpx2.AsyncClient, which: str, status: int, code: str) -> None:
    response = await web.get(f"/broken/{which}")
    refused = problem(response, status)
    assert refused.code == code
    assert "secret" not in response.text
    if which == "wait":
        assert response.headers["retry-after"] == "13"
        assert refused.retry_after_s == 13.0


# -- methods and other sites' pages


async def test_other_methods_are_told_which_there_are(web: httpx2.AsyncClient) -> None:
    response = await web.delete("/things/1")
    problem(response, 405)
    assert response.headers["allow"] == "GET, HEAD, OPTIONS, POST"


@pytest.mark.parametrize("path", ["/nothing", "/things", "/things/1/2", "/../", "/<b>"])
async def test_other_addresses_have_nothing(web: httpx2.AsyncClient, path: str) -> None:
    assert problem(await web.get(path), 404).code == "no-place"


async def test_any_page_may_read_and_none_may_write(web: httpx2.AsyncClient) -> None:
    origin = {"Origin": "https://elsewhere.example.org"}
    for path in ("/things/1", "/things/0", "/nothing", "/broken/bug"):
        response = await web.get(path, headers=origin)
        assert {name: response.headers[name] for name in CORS} == CORS
        assert "access-control-allow-credentials" not in response.headers
    preflight_headers = origin | {
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "if-none-match",
    }
    preflight = await web.options("/things/1", headers=preflight_headers)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-methods"] == "GET, HEAD"
    assert "if-none-match" in preflight.headers["access-control-allow-headers"].lower()
    assert "authorization" not in preflight.headers["access-control-allow-headers"].lower()
    written = await web.post("/things/1", json={"word": "x"}, headers=TOKEN | origin)
    assert written.status_code == 201
    assert "access-control-allow-origin" not in written.headers


async def test_a_stream_holds_its_slot_to_its_last_byte(web: httpx2.AsyncClient, flowing: Flowing) -> None:
    assert (await web.get("/flow")).text == 3 * "data: x\n\n"
    assert flowing.held == [1, 1, 1]
    assert flowing.site.limits.taken(Limit.STREAMS) == 0
    with flowing.site.limits.slot(Limit.STREAMS, "127.0.0.1"):
        response = await web.get("/flow")
    assert problem(response, 429).limit == "streams"
    assert int(response.headers["retry-after"]) >= 1


async def test_the_head_of_a_stream_comes_without_the_stream(web: httpx2.AsyncClient, flowing: Flowing) -> None:
    response = await web.head("/flow")
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-type"].startswith("text/event-stream")
    assert flowing.held == []
    assert flowing.site.limits.taken(Limit.STREAMS) == 0
