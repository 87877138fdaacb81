"""Typed handlers: what a signature says is what is described, read and handed over; what it leaves out is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any, Literal

import httpx2
import msgspec
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from support.web.past import NOW

from cgos_protocol.api.route import CSV, LARGEST, NDJSON, Limit, Needs, Operation, Param
from cgos_protocol.options import Choice, Flag, Number, Several, Text
from cgos_server.presentation.settings import WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.web.api import openapi
from cgos_server.web.api.framework import api_routes
from cgos_server.web.api.typed import Group, Query, handlers_of, operations_of, param_of
from cgos_server.web.live.hub import Hub
from cgos_server.web.site import Site

Word = Annotated[str, Text(1, 9, pattern="^[a-z]*$"), "A word."]


class Thing(msgspec.Struct):
    """An answer."""

    said: dict[str, Any]


class Other(msgspec.Struct, tag=True):
    """Another one."""


class Wish(msgspec.Struct, forbid_unknown_fields=True):
    """A body."""

    word: str


class Both(Query, frozen=True, kw_only=True):
    """Parameters of several operations."""

    least: Annotated[int, "At least."] = 2
    most: Annotated[int | None, Number(0, 9, whole=True), "At most."] = None


_things = Group("Things")


class Things:
    """The handlers."""

    @_things.get("/things/{thing}", also=(Limit.RECOMPUTE,), empty="It is gone.")
    async def thing(
        self,
        request: Request,
        thing: Annotated[int, Number(1, 99, whole=True), "Its number."],
        both: Both,
        word: Annotated[Word | None, Text(1, 5), "Another word."] = None,
        words: Annotated[list[str] | None, Several(Text(1, 9), 2), "Words."] = None,
        size: Annotated[Literal["big", "small"], "How large."] = "big",
        loud: Annotated[bool, "Whether it is loud."] = False,
    ) -> Thing:
        """A thing.

        Or what is
        like it.
        """
        return Thing({"thing": thing, "least": both.least, "most": both.most, "word": word, "words": words,
                      "size": size, "loud": loud, "path": request.url.path})  # fmt: skip

    @_things.operation("PUT", "/things/{thing}", needs=Needs.BOTS, status=201)
    async def wish(self, thing: Annotated[int, "Its number."], body: Wish) -> Thing | Other:
        """Wish."""
        return Thing({"thing": thing, "word": body.word})

    @_things.get("/lines.ndjson", summary="Lines of JSON.", id="lines_ndjson", media=(NDJSON,), limit=Limit.BULK)
    @_things.get("/lines.csv", summary="A table.", id="lines_csv", media=(CSV,), limit=Limit.BULK)
    async def lines(self, operation: Operation) -> Annotated[Response, Thing]:
        """Things in two forms."""
        return PlainTextResponse(operation.id, media_type=operation.media[0])

    async def no_operation(self, of_any_kind: object) -> None:
        """Nobody is told of it."""


TABLE = operations_of([Things])
THING, WISH, NDJSON_LINES, CSV_LINES = TABLE


def test_a_signature_says_the_parameters() -> None:
    assert THING.in_path == (Param("thing", Number(1, 99, whole=True), "Its number."),)
    assert THING.query == (
        Param("least", Number(0, LARGEST, whole=True), "At least.", default=2),
        Param("most", Number(0, 9, whole=True), "At most."),
        Param("word", Text(1, 5), "Another word."),
        Param("words", Several(Text(1, 9), 2), "Words."),
        Param("size", Choice(("big", "small")), "How large.", default="big"),
        Param("loud", Flag(), "Whether it is loud.", default=False),
    )
    assert (THING.id, THING.group, THING.answer, THING.body) == ("thing", "Things", Thing, None)


def test_a_docstring_is_what_people_are_told_unless_the_declaration_says_otherwise() -> None:
    assert (THING.summary, THING.about) == ("A thing.", "Or what is like it.")
    assert [operation.summary for operation in (WISH, NDJSON_LINES, CSV_LINES)] == [
        "Wish.",
        "Lines of JSON.",
        "A table.",
    ]


def test_a_signature_says_body_and_answers() -> None:
    assert (WISH.method, WISH.body, WISH.answer, WISH.status) == ("PUT", Wish, (Thing, Other), 201)
    assert WISH.query == ()
    assert [(operation.id, operation.answer) for operation in (NDJSON_LINES, CSV_LINES)] == [
        ("lines_ndjson", Thing),
        ("lines_csv", None),
    ]


def test_what_no_signature_says_is_declared_and_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openapi, "GROUPS", {"Things": "All of them."})
    described = openapi.document(TABLE)["paths"]["/api/v1/things/{thing}"]["get"]
    assert described["x-limits"] == ["requests", "recompute"]
    assert described["responses"]["204"]["description"] == "It is gone."
    assert described["parameters"][0]["in"] == "path"


def test_bounds_are_those_of_numbers_everywhere_where_none_is_given() -> None:
    param = param_of("n", Annotated[int | None, "A number."])
    assert param == Param("n", Number(0, LARGEST, whole=True), "A number.")


@pytest.mark.parametrize("hint", [int, Annotated[int, Number(1, 9)], Annotated[float, "A real number."],
                                  Annotated[list[int], "Numbers."]])  # fmt: skip
def test_a_parameter_that_says_too_little_is_no_parameter(hint: Any) -> None:
    with pytest.raises(TypeError, match="parameter n "):
        param_of("n", hint)


def test_a_path_names_what_its_handler_takes_and_all_else_has_a_default() -> None:
    class Missing:
        @_things.get("/things/{thing}/{part}")
        async def part(self, thing: Annotated[int, "Its number."]) -> Thing:
            """A part."""
            return Thing({"thing": thing})

    class Required:
        @_things.get("/things")
        async def part(self, thing: Annotated[int, "Its number."]) -> Thing:
            """A part."""
            return Thing({"thing": thing})

    for kind in (Missing, Required):
        with pytest.raises(TypeError, match="handler of part"):
            operations_of([kind])


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with History(tmp_path / "none.sqlite") as history:
        site = Site(history, WebSettings(), "x", lambda: NOW, Hub(history, WebSettings(), lambda: NOW))
        app = Starlette(routes=api_routes(site, TABLE, handlers_of([Things()])))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://x/api/v1") as opened:
            yield opened


async def test_arguments_are_what_was_asked(web: httpx2.AsyncClient) -> None:
    response = await web.get("/things/7?least=3&most=4&word=ab&words=a,b&size=small&loud=true")
    assert response.json()["said"] == {"thing": 7, "least": 3, "most": 4, "word": "ab", "words": ["a", "b"],
                                       "size": "small", "loud": True, "path": "/api/v1/things/7"}  # fmt: skip
    response = await web.get("/things/7")
    assert response.json()["said"] == {"thing": 7, "least": 2, "most": None, "word": None, "words": None,
                                       "size": "big", "loud": False, "path": "/api/v1/things/7"}  # fmt: skip
    assert (await web.get("/things/7?most=10")).json()["parameter"] == "most"


async def test_a_body_is_an_argument(web: httpx2.AsyncClient) -> None:
    headers = {"Authorization": "Bearer x"}
    response = await web.put("/things/7", json={"word": "x"}, headers=headers)
    assert (response.status_code, response.json()["said"]) == (201, {"thing": 7, "word": "x"})
    assert (await web.put("/things/7", json={"word": 1}, headers=headers)).status_code == 422


async def test_one_method_answers_two_operations_each_as_what_it_is(web: httpx2.AsyncClient) -> None:
    for name in ("ndjson", "csv"):
        response = await web.get(f"/lines.{name}")
        assert response.text == f"lines_{name}"
