"""The documentation of the API for people, from the operations that the API itself is made of.

Must not know: handlers, the database.
"""

from __future__ import annotations

import functools
import re
import types
from typing import Annotated, Any, Final, Literal, NamedTuple, NewType, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote

import msgspec
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.messages import Problem
from cgos_protocol.api.route import JSON, NDJSON, PREFIX, Limit, Needs, Operation, Param
from cgos_protocol.options import Choice, Flag, Number, Several
from cgos_server.service.people.sessions import MOST_REGISTRATIONS
from cgos_server.web.api import openapi
from cgos_server.web.api.operations import ROUTES
from cgos_server.web.around.limiting import RECOMPUTES_PER_MINUTE, SIGN_INS_PER_MINUTE, STREAMS_OF_ALL
from cgos_server.web.site import Pages, Site

_CODE: Final = re.compile(r"`([^`]+)`")
_EXAMPLES: Final = {
    "game": "1",
    "round": "1",
    "number": "1",
    "event": "EVENT",
    "question": "1",
    "token": "1",
    "webhook": "1",
    "right": "admin",
    "bot": "BOT",
    "version": "VERSION",
    "one": "ONE",
    "other": "OTHER",
    "account": "ACCOUNT",
}


class Shown(NamedTuple):
    """One operation on the page. `example` is a command for a shell."""

    id: str
    method: str
    path: str
    summary: str
    about: str
    needs: str
    params: list[ShownParam]
    body: ShownType | None
    answers: list[ShownType]
    media: list[str]
    limits: list[str]
    failures: list[tuple[str, str]]
    example: str


class ShownParam(NamedTuple):
    """A parameter."""

    name: str
    place: str
    kind: str
    about: str
    default: str


class ShownType(NamedTuple):
    """A type of JSON: `name` leads to its own place on the page where it has one."""

    name: str
    anchored: bool


class ShownField(NamedTuple):
    """A field of a type; `types` are those of the page that it is made of."""

    name: str
    words: str
    types: list[str]
    about: str
    optional: bool


class ShownStruct(NamedTuple):
    """A type with its fields."""

    name: str
    about: str
    fields: list[ShownField]


class Catalog:
    """Everything on the page that is the same for every visitor."""

    def __init__(self) -> None:
        self._structs: dict[str, type[msgspec.Struct]] = {}
        for operation in ROUTES:
            for kind in (*openapi.answers(operation), operation.body):
                self._collect(kind)
        self._collect(Problem)
        self.structs = [self._struct(kind) for _, kind in sorted(self._structs.items())]

    def shown(self, kind: Any) -> ShownType:
        """How a type is called."""
        names = self._collect(kind)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return ShownType(kind.__name__, True)
        return ShownType(" or ".join(names) or "object", False)

    def _struct(self, kind: type[msgspec.Struct]) -> ShownStruct:
        hints, sentences = get_type_hints(kind, include_extras=True), openapi.field_words(kind)
        fields = []
        config = kind.__struct_config__
        if config.tag is not None:
            fields.append(
                ShownField(name=str(config.tag_field), words=f'"{config.tag}"', types=[], about="", optional=False)
            )
        for field in msgspec.structs.fields(kind):
            hint = hints[field.name]
            about = _meta(hint) or sentences.get(field.name, "")
            types = self._collect(hint)
            fields.append(
                ShownField(
                    name=field.encode_name, words=_words(hint), types=types, about=about, optional=not field.required
                )
            )
        return ShownStruct(kind.__name__, openapi.prose(kind.__doc__ or ""), fields)

    def _collect(self, hint: Any) -> list[str]:
        """The types of the page that a hint is made of, and all that they are made of."""
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            if self._structs.get(hint.__name__) is not hint:
                self._structs[hint.__name__] = hint
                for inner in get_type_hints(hint, include_extras=True).values():
                    self._collect(inner)
            return [hint.__name__]
        names = [name for arg in get_args(hint) for name in self._collect(arg)]
        return list(dict.fromkeys(names))


@functools.cache
def _catalog() -> Catalog:
    """Made when it is first needed."""
    return Catalog()


async def show(site: Site, request: Request) -> Response:
    """The documentation, with examples for this very server."""
    address = site.address(request)
    settings = site.settings
    venue = next(iter(settings.venues), "9x9")
    streams = settings.streams_per_address
    groups: dict[str, list[Shown]] = {}
    for operation in ROUTES:
        groups.setdefault(operation.group, []).append(_shown(operation, address, venue))
    amounts = {
        Limit.REQUESTS: f"{settings.requests_per_minute} a minute",
        Limit.BULK: f"{settings.exports_at_once} at once for all",
        Limit.STREAMS: f"{streams} at once, {STREAMS_OF_ALL * streams} for all",
        Limit.SIGN_IN: f"{SIGN_INS_PER_MINUTE} a minute",
        Limit.PASSWORDS: "10, unless the operators chose another number; then a pause",
        Limit.ACCOUNTS: f"{MOST_REGISTRATIONS} an hour",
        Limit.RECOMPUTE: f"{RECOMPUTES_PER_MINUTE} a minute, one at a time",
    }
    return site.render(
        "api_docs.html",
        here="/docs/api",
        address=address,
        prefix=PREFIX,
        groups=groups,
        structs=_catalog().structs,
        limits=[(limit.value, openapi.LIMITS[limit], amounts[limit]) for limit in Limit],
        coded=coded,
    )


def _shown(operation: Operation, address: str, venue: str) -> Shown:
    return Shown(
        id=operation.id,
        method=operation.method,
        path=PREFIX + operation.path,
        summary=operation.summary,
        about=operation.about,
        needs=operation.needs.value if operation.needs is not Needs.NOTHING else "",
        params=[
            *(_param(param, "path") for param in operation.in_path),
            *(_param(param, "query") for param in operation.query),
        ],
        body=None if operation.body is None else _catalog().shown(operation.body),
        answers=[_catalog().shown(kind) for kind in openapi.answers(operation)],
        media=[media for media in operation.media if media != JSON],
        limits=[limit.value for limit in openapi.limits(operation)],
        failures=[(status, openapi.FAILURES[status]) for status in openapi.statuses(operation)],
        example=_example(operation, address, venue),
    )


def _example(operation: Operation, address: str, venue: str) -> str:
    values = {**_EXAMPLES, "venue": venue}
    path = re.sub(r"{(\w+)}", lambda match: quote(values[match[1]], safe=""), operation.path)
    words = ["curl"]
    if operation.method != "GET":
        words.append(f"-X {operation.method}")
    if operation.needs is not Needs.NOTHING:
        words.append("-H 'Authorization: Bearer TOKEN'")
    if operation.body is not None:
        words.append(f"-H 'Content-Type: application/json' -d '{example_body(operation.body)}'")
    if operation.limit is Limit.STREAMS:
        words.append(f"-N -H 'Accept: {NDJSON}'")
    return " ".join([*words, f"'{address}{PREFIX}{path}'"])


def coded(text: str) -> Markup:
    """Words between backquotes as code; everything escaped."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def example_body(kind: type[msgspec.Struct]) -> str:
    """A body with what must be there."""
    made: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        if not field.required:
            continue
        text = _words(field.type)
        choice = re.search(r'"([^"]+)"', text)
        value: Any = choice[1] if choice else 1800 if "number" in text else field.name.upper()
        if field.name == "url":
            value = "https://example.org/hook"
        made[field.encode_name] = [value] if text.startswith("list") else value
    return msgspec.json.encode(made).decode()


def _param(param: Param, place: str) -> ShownParam:
    option = param.option
    kind = _KINDS.get(type(option), "text")
    if isinstance(option, Choice):
        kind = f"one of {', '.join(f'`{word}`' for word in option.words)}"
    default = "" if param.default is None else str(param.default).lower()
    return ShownParam(name=param.name, place=place, kind=kind, about=param.about, default=default)


_KINDS: Final[dict[type, str]] = {Number: "number", Flag: "`true` or `false`", Several: "names, with commas"}


def _meta(hint: Any) -> str:
    """What a field's own annotation says of it."""
    if get_origin(hint) is Annotated:
        for meta in get_args(hint)[1:]:
            if isinstance(meta, msgspec.Meta) and meta.description:
                return meta.description
    return next((words for arg in get_args(hint) if not isinstance(arg, str) and (words := _meta(arg))), "")


def _words(hint: Any) -> str:
    """A type for people."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _words(args[0])
    if origin in (Union, types.UnionType):
        words = " or ".join(dict.fromkeys(_words(arg) for arg in args if arg is not type(None)))
        return f"{words} or null" if type(None) in args else words
    if origin is Literal:
        return " or ".join(f'"{arg}"' for arg in args)
    if origin is list or (origin is tuple and len(args) == 2 and args[1] is ...):
        return f"list of {_words(args[0])}"
    if origin is tuple:
        return f"list of {len(args)}: {', '.join(_words(arg) for arg in args)}"
    if origin is dict:
        return f"object of {_words(args[1])}"
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint.__name__
    if isinstance(hint, NewType):
        return _words(hint.__supertype__)
    return {str: "text", int: "integer", float: "number", bool: "true or false"}.get(hint, "anything")


PAGES: Final[Pages] = {"/docs/api": show}
