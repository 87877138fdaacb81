"""Reads parameters and bodies of the API strictly; whatever is wrong is said in a sentence that names it.

Must not know: handlers, the database.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from starlette.requests import Request

from cgos_protocol.api.route import Operation, Param
from cgos_protocol.errors import Code
from cgos_protocol.options import Choice, Flag, Number, Option, Several, Text, UnixTime
from cgos_server.web.around.problems import HttpRefused, Wrong

MOST_BODY: Final = 65_536
"""Bytes of a body."""

BODY_LIMIT_S: Final = 10.0
"""Time that a body has to arrive."""

_LONGEST_NUMBER: Final = 19
Value = str | int | bool | list[str] | None


def path_of(operation: Operation, given: Mapping[str, Any]) -> dict[str, Value]:
    """The parameters of the path. Raises Wrong."""
    return {param.name: read(param, str(given[param.name])) for param in operation.in_path}


def query_of(operation: Operation, given: Iterable[tuple[str, str]]) -> dict[str, Value]:
    """The parameters of the query, defaults filled in. Raises Wrong for any that is not known, twice there or bad."""
    known = {param.name: param for param in operation.query}
    values: dict[str, Value] = {}
    for name, text in given:
        if name not in known:
            can = ", ".join(known) or "none"
            raise Wrong(name[:64], f"There is no parameter {name[:64]!r} here. There are: {can}.")
        if name in values:
            raise Wrong(name, f"The parameter {name!r} was given twice.")
        values[name] = read(known[name], text)
    return {name: param.default for name, param in known.items()} | values


def read(param: Param, text: str, status: int = 400) -> Value:
    """The value that a parameter's text means. Raises Wrong with this status."""
    meant, possible = _meant(param.option, text)
    try:
        value: Value = param.option.read(meant)
    except ValueError as error:
        raise _wrong(param, possible, status) from error
    if not text.isprintable():
        raise _wrong(param, "a text of printable characters", status)
    return value


def _meant(option: Option, text: str) -> tuple[Any, str]:
    """What a text says, None where it is not of the option's type; and what it must be."""
    match option:
        case Choice(words):
            return text, "one of: " + ", ".join(words)
        case Flag():
            return {"true": True, "false": False}.get(text), "`true` or `false`"
        case Number(least, most):
            if not text.isascii() or not text.isdecimal() or len(text) > _LONGEST_NUMBER:
                return None, "a whole number, written with digits alone"
            return int(text), f"a number from {least} to {most}"
        case UnixTime():
            return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else None, option.possible
        case Several(each, most):
            names = text.split(",")
            return names, f"{most} names at most" if len(names) > most else _length(each)
        case Text():
            return text, _length(option)
    raise TypeError(f"{option} cannot be read from text")


def _length(option: Text) -> str:
    return f"a text of {option.least} to {option.most} characters"


def _wrong(param: Param, possible: str, status: int) -> Wrong:
    return Wrong(param.name, f"The parameter {param.name!r} must be {possible}.", status)


async def body_of(operation: Operation, request: Request) -> Any:
    """The body as the operation's type of it, None where it takes none. Raises Wrong, HttpRefused."""
    if operation.body is None:
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HttpRefused(415, Code.MEDIA_TYPE, "The body must be JSON: send `Content-Type: application/json`.")
    if request.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
        sentence = "The body must come as it is: leave `Content-Encoding` out."
        raise HttpRefused(415, Code.MEDIA_TYPE, sentence, {"Accept-Encoding": "identity"})
    data = bytearray()
    try:
        async with asyncio.timeout(BODY_LIMIT_S):
            async for chunk in request.stream():
                data += chunk
                if len(data) > MOST_BODY:
                    raise HttpRefused(413, Code.TOO_LARGE, f"The body must not be longer than {MOST_BODY} bytes.")
    except TimeoutError as error:
        raise HttpRefused(408, Code.TOO_SLOW, f"The body did not come within {BODY_LIMIT_S:g} seconds.") from error
    try:
        return msgspec.json.decode(data, type=operation.body)
    except msgspec.ValidationError as error:
        raise Wrong("body", f"The body is not as it must be: {error}.", 422) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Wrong("body", f"The body is no JSON: {error}.") from error
