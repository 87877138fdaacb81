"""The description of the API ``/api/v1`` in OpenAPI 3.1, made from its operations and from the message types.

Must not know: handlers, a server's configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from cgos_protocol.api.messages import Problem
from cgos_protocol.api.route import (
    JSON,
    LARGEST,
    LONGEST,
    NDJSON,
    PREFIX,
    PROBLEM,
    SSE,
    Limit,
    Needs,
    Operation,
    Param,
)
from cgos_protocol.options import LATEST_MS, Choice, Flag, Number, Option, Several, Text, UnixTime

VERSION: Final = "1.0.0"

LIMITS: Final = {
    Limit.REQUESTS: "Requests of one address in a minute, pages and API together.",
    Limit.BULK: "Exports at once.",
    Limit.STREAMS: "Live streams at once.",
    Limit.SIGN_IN: "Attempts to sign in, or to claim a bot, of one address in a minute.",
    Limit.PASSWORDS: "Wrong passwords for one name from one address in a minute, sign-ins of bots included.",
    Limit.ACCOUNTS: "Accounts made from one address in an hour.",
    Limit.RECOMPUTE: "Standings to be computed again, events to be rehearsed: a few in a minute for one address.",
}
"""Name of a limit -> what it counts."""

_ABOUT: Final = (
    "What this server's pages show, for programs. Times are Unix milliseconds; names are wire names; numbers of games, "
    "rounds and ledger entries never change. Fields may be added to answers: ignore what you do not know. "
    "A page of a list ends with `next`: give it back as `before` or `after`; null is the end. Everything that is read "
    "has an `ETag`: send it back as `If-None-Match` and get 304 where nothing has changed; answers are compressed with "
    "gzip on request. Errors have one shape, `application/problem+json` (RFC 9457), with a stable `code`. 429 names "
    "the "
    "`limit` that was reached and says in `Retry-After` when to come back. Whoever reads may do so from any web page "
    "(CORS); what needs a token is for programs alone."
)

GROUPS: Final = {
    "The server": "What this server is, and how it fares.",
    "Venues": "Pools in which ratings are comparable: rules, standings, ledgers.",
    "Bots and versions": "Who plays, and how strong they are.",
    "Games and pairings": "What was played, and why these two met.",
    "Events": "Tournaments that the server holds by itself: standings, crosstables, rounds, logs.",
    "Questions": "Tests, gauntlets and challenges: what owners ask by games, and what these say.",
    "Live": "What happens now, as streams.",
    "Exports": "Everything, in bulk.",
    "Your own": "An account: sign-in, sessions, tokens, webhooks. Most of it needs a token.",
    "Your own bots": "What an owner does. Needs a token with the scope `bots`.",
    "Operators": "What an operator does. Needs a token with the scope `admin`.",
}
"""Heading of the documentation -> what is below it."""

_REF: Final = "#/components/schemas/{name}"
_ROLE: Final = re.compile(r":\w+:`~?(?:[\w.]+\.)?(\w+)`")
_IVAR: Final = re.compile(r"^:ivar (\w+): ", re.MULTILINE)
FAILURES: Final = {
    "400": "A parameter or the body cannot be read; `parameter` says which.",
    "401": "No token, or one that is not valid.",
    "403": "The token may not do that, or what is asked about is somebody else's.",
    "404": "There is no such thing.",
    "409": "It does not go together with how things are.",
    "413": "The body is too long.",
    "415": "The body is no JSON by its `Content-Type`.",
    "422": "What was asked for is against the rules.",
    "429": "Too much: a limit was reached; `limit` says which.",
    "500": "Our fault.",
    "503": "Not now: the database, or the server that plays, does not answer.",
}
"""Status of a failure -> what it means."""

_LINES: Final = {NDJSON: "a line (NDJSON)", SSE: "the `data` of an event (SSE)"}
"""Media type of many values -> where each of them is."""


def document(operations: Sequence[Operation]) -> dict[str, Any]:
    """The whole description, operations in this order."""
    kinds = list(dict.fromkeys(kind for operation in operations for kind in _types(operation)))
    kinds.append(Problem)
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    known = dict(zip(map(repr, kinds), (_alone(schema) for schema in schemas), strict=True))
    for component in components.values():
        _describe(component)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(PREFIX + operation.path, {})[operation.method.lower()] = _operation(operation, known)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "cgos-server",
            "version": VERSION,
            "description": _ABOUT,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/", "description": "The server that gives this description."}],
        # Whoever needs more says so itself.
        "security": [],
        "tags": [
            {"name": group, "description": GROUPS[group]}
            for group in dict.fromkeys(operation.group for operation in operations)
        ],
        "paths": paths,
        "components": {
            "schemas": {name: _alone(component) for name, component in sorted(components.items())},
            "responses": {f"Problem{status}": _failure(status, known) for status in sorted(FAILURES)},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of the API, made on one's own page or by `POST /api/v1/me/tokens`.",
                }
            },
        },
    }


def encoded(operations: Sequence[Operation]) -> str:
    """The description as it is checked in: JSON for people, with a line end."""
    return msgspec.json.format(msgspec.json.encode(document(operations)), indent=2).decode() + "\n"


def prose(docstring: str) -> str:
    """A docstring as one paragraph of Markdown, without its `:ivar` lines."""
    return _flat(_IVAR.split(_dedented(docstring))[0])


def field_words(kind: type[msgspec.Struct]) -> dict[str, str]:
    """Field -> what a type's docstring says of it in `:ivar` lines."""
    parts = _IVAR.split(_dedented(kind.__doc__ or ""))[1:]
    return {name: _flat(words) for name, words in zip(parts[::2], parts[1::2], strict=True)}


def statuses(operation: Operation) -> list[str]:
    """The failures that an operation may answer, keys of :data:`FAILURES`."""
    codes = {"429", "500", "503"}
    if operation.query or operation.in_path or operation.body is not None:
        codes.add("400")
    if operation.in_path or operation.query or operation.needs is not Needs.NOTHING:
        codes.add("404")
    if operation.needs is not Needs.NOTHING or operation.limit is Limit.SIGN_IN:
        codes |= {"401", "403"}
    if not operation.reads:
        codes |= {"400", "409", "422"}
    if operation.body is not None:
        codes |= {"413", "415"}
    return sorted(codes)


def limits(operation: Operation) -> list[Limit]:
    """Which limits an operation counts for."""
    counted = list(dict.fromkeys((Limit.REQUESTS, operation.limit)))
    if operation.limit is Limit.SIGN_IN:
        counted.append(Limit.ACCOUNTS if operation.id == "register" else Limit.PASSWORDS)
    return [*counted, *operation.also]


def _types(operation: Operation) -> Iterator[Any]:
    yield from answers(operation)
    if operation.body is not None:
        yield operation.body


def answers(operation: Operation) -> tuple[Any, ...]:
    """The types that an operation may answer."""
    if operation.answer is None:
        return ()
    return operation.answer if isinstance(operation.answer, tuple) else (operation.answer,)


def _operation(operation: Operation, known: dict[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.id,
        "tags": [operation.group],
        "summary": operation.summary,
    }
    if operation.about:
        described["description"] = operation.about
    params = [_param(param, "path") for param in operation.in_path]
    params += [_param(param, "query") for param in operation.query]
    if params:
        described["parameters"] = params
    if operation.body is not None:
        described["requestBody"] = {"required": True, "content": {JSON: {"schema": known[repr(operation.body)]}}}
    described["responses"] = {
        str(operation.status): {
            "description": _description(operation),
            "content": {media: _content(operation, media, known) for media in operation.media},
        }
    } | {status: {"$ref": f"#/components/responses/Problem{status}"} for status in statuses(operation)}
    if operation.reads and not operation.streams and operation.needs is Needs.NOTHING:
        described["responses"]["304"] = {"description": "Nothing has changed since the `ETag` that was sent."}
    if operation.empty:
        described["responses"]["204"] = {"description": operation.empty}
    if operation.needs is not Needs.NOTHING:
        described["security"] = [{"token": []}]
        described["x-scope"] = operation.needs.value
    described["x-limits"] = [limit.value for limit in limits(operation)]
    return described


def _description(operation: Operation) -> str:
    """What an answer is. OpenAPI 3.1 has no word for media types of many values one after the other: their schema is
    that of each."""
    if not operation.streams:
        return "The answer."
    each = [sentence for media, sentence in _LINES.items() if media in operation.media]
    if operation.answer is None or not each:
        return "A stream."
    return f"A stream; the schema is that of each value in it: {' or '.join(each)}."


def _failure(status: str, known: dict[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "description": FAILURES[status],
        "content": {PROBLEM: {"schema": known[repr(Problem)]}},
    }
    if status in ("429", "503"):
        seconds = {"schema": {"type": "integer", "minimum": 1}, "description": "Seconds."}
        described["headers"] = {"Retry-After": seconds}
    return described


def _content(operation: Operation, media: str, known: dict[str, Any]) -> dict[str, Any]:
    either = [known[repr(kind)] for kind in answers(operation)]
    schema = {"anyOf": either} if len(either) > 1 else next(iter(either), None)
    if media == JSON or (media in _LINES and schema is not None):
        return {"schema": schema}
    return {"schema": {"type": "string"}}


def _param(param: Param, place: str) -> dict[str, Any]:
    described: dict[str, Any] = {"name": param.name, "in": place, "description": param.about}
    if place == "path":
        described["required"] = True
    if isinstance(param.option, Several):
        described |= {"explode": False, "style": "form"}
    return described | {"schema": schema_of(param)}


def schema_of(param: Param) -> dict[str, Any]:
    """What a parameter may be, as a JSON schema."""
    schema = _schema(param.option)
    return schema if param.default is None else schema | {"default": param.default}


def _schema(option: Option) -> dict[str, Any]:
    match option:
        case Choice(words):
            return {"type": "string", "enum": list(words)}
        case Flag():
            return {"type": "boolean"}
        case Number(least, most):
            large = {"format": "int64"} if most == LARGEST else {}
            return {"type": "integer", "minimum": least, "maximum": most} | large
        case UnixTime():
            return {"type": "integer", "minimum": 0, "maximum": LATEST_MS, "format": "int64"}
        case Several(each, most):
            return {"type": "array", "items": _schema(each), "minItems": 1, "maxItems": most}
        case Text(least, most, pattern=pattern):
            text = {"type": "string", "minLength": least, "maxLength": LONGEST if most is None else most}
            return text | ({"pattern": pattern} if pattern else {})
    raise TypeError(f"no schema says what {option} may be")


def _describe(component: dict[str, Any]) -> None:
    """Docstrings as Markdown; what they say of fields goes to the fields, and so does what is said of the only kind of
    value, besides null, that a field may be."""
    for field in component.get("properties", {}).values():
        described = [kind for kind in field.get("anyOf", ()) if "description" in kind]
        if len(described) == 1:
            field["description"] = " ".join(filter(None, (field.get("description"), described[0].pop("description"))))
    text = component.get("description")
    if text is None:
        return
    parts = _IVAR.split(_dedented(text))
    component["description"] = _flat(parts[0])
    for name, words in zip(parts[1::2], parts[2::2], strict=True):
        field = component.get("properties", {}).get(name)
        if field is not None and "description" not in field:
            field["description"] = _flat(words)


def _dedented(docstring: str) -> str:
    return "\n".join(line.strip() for line in docstring.splitlines())


def _flat(text: str) -> str:
    return " ".join(_ROLE.sub(r"`\1`", text).replace("``", "`").split())


def _alone(node: Any) -> Any:
    """A schema as all generators read it: a reference has nothing beside it, and no schema is a plain `false`, which is
    said of the items after those of a tuple, whose number `maxItems` limits already."""
    if isinstance(node, dict):
        if "$ref" in node:
            return {"$ref": node["$ref"]}
        return {key: _alone(inner) for key, inner in node.items() if (key, inner) != ("items", False)}
    return [_alone(inner) for inner in node] if isinstance(node, list) else node
