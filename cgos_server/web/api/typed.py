"""Typed handlers: a method's signature, read once, says what an operation of the API takes and what it answers.

A handler is an ordinary method with its place above it, and in its docstring what people are told::

    @venues.get("/venues/{venue}/ledger")
    async def ledger(self, venue: VenueName, after: Annotated[int, "Entries after this one."] = 0) -> LedgerPage:
        '''The numbered facts that ratings follow from.'''

An argument that the path names comes from the path. One that is a :class:`Query` is made of the parameters that its
fields are. `body` is the body, a `Request` is the request itself, an `Operation` the one that was asked for. Every
other argument is a parameter of the query. Its type says what it may be: text, a whole number, a flag or the words of a
`Literal`. As with a key of the configuration, an option of :mod:`cgos_protocol.options` in `Annotated` says it more
exactly, and a sentence says what it is for. A stream is an `Annotated[Response, Line]`: many values of the type `Line`.
A signature that says too little is a TypeError at the start. Must not know: which operations there are, how a request
is read.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Awaitable, Callable, Iterable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as hints_of

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.route import JSON, LARGEST, LONGEST, NDJSON, SSE, Operation, Param
from cgos_protocol.options import Flag, Number, Option, Text, carried, sentence
from cgos_server.web.api.framework import Answer, ApiRequest, Handler

HandlerT = TypeVar("HandlerT", bound=Callable[..., Any])
Method = Literal["GET", "POST", "PUT", "DELETE"]

_DECLARED: Final = "__operations__"
_BY_TYPE: Final[Mapping[Any, Option]] = MappingProxyType(
    {str: Text(0, LONGEST), int: Number(0, LARGEST, whole=True), bool: Flag()}
)


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """Base of parameters that several operations take together: every field is one, and has a default."""


class Group:
    """Declares operations that stand under one heading of the documentation."""

    def __init__(self, heading: str) -> None:
        self._heading = heading

    def get(self, path: str, **more: Any) -> Callable[[HandlerT], HandlerT]:
        """An operation that reads; see :meth:`operation`."""
        return self.operation("GET", path, **more)

    def operation(self, method: Method, path: str, **more: Any) -> Callable[[HandlerT], HandlerT]:
        """The method below answers this operation. A method may answer several.

        :param more: fields of :class:`Operation` that no signature says, and those that differ: `id` is the method's
            name, `summary` the first paragraph of its docstring, `about` what follows
        """

        def declare(handler: HandlerT) -> HandlerT:
            summary, *about = (" ".join(part.split()) for part in (inspect.getdoc(handler) or "").split("\n\n"))
            fields = {"id": handler.__name__, "summary": summary, "about": "\n\n".join(about), "answer": None}
            operation = Operation(**fields | {"method": method, "path": path, "group": self._heading} | more)
            setattr(handler, _DECLARED, (operation, *getattr(handler, _DECLARED, ())))
            return handler

        return declare


def operations_of(kinds: Iterable[type]) -> tuple[Operation, ...]:
    """What the methods of these classes declare, in their order. Raises TypeError."""
    return tuple(
        _completed(operation, _signature(function))
        for kind in kinds
        for function in vars(kind).values()
        for operation in getattr(function, _DECLARED, ())
    )


def handlers_of(answering: Iterable[object]) -> dict[str, Handler]:
    """Operation id -> the method of one of these objects that answers it. Raises TypeError."""
    return {
        operation.id: _handler(getattr(each, name), _signature(function))
        for each in answering
        for name, function in vars(type(each)).items()
        for operation in getattr(function, _DECLARED, ())
    }


def param_of(name: str, hint: Any, default: Any = None) -> Param:
    """A parameter as its annotation says it. Raises TypeError where that says too little."""
    about, option = sentence(hint), carried(hint, _BY_TYPE)
    if not about:
        raise TypeError(f"the parameter {name} has no sentence: give one in Annotated")
    if option is None:
        raise TypeError(f"the parameter {name} is of no kind that can be read: {hint}")
    return Param(name, option, about, default)


class _Signature(NamedTuple):
    """What a handler takes and answers.

    :ivar sources: argument -> how it is found
    :ivar params: every parameter of path and query
    :ivar required: those without a default
    """

    sources: dict[str, Callable[[ApiRequest], Any]]
    params: dict[str, Param]
    required: set[str]
    body: Any
    answer: Any


@functools.cache  # for the operation and for its handler; nobody writes into it
def _signature(function: Callable[..., Any]) -> _Signature:
    hints = hints_of(function, include_extras=True)
    signature = _Signature(sources={}, params={}, required=set(), body=hints.get("body"), answer=hints.pop("return"))
    arguments = inspect.signature(function).parameters
    for name, hint in hints.items():
        if hint is Request:
            signature.sources[name] = attrgetter("request")
        elif hint is Operation:
            signature.sources[name] = attrgetter("operation")
        elif name == "body":
            signature.sources[name] = attrgetter("body")
        elif isinstance(hint, type) and issubclass(hint, Query):
            signature.sources[name] = _gathered(hint)
            fields = hints_of(hint, include_extras=True)
            for field in msgspec.structs.fields(hint):
                signature.params[field.name] = param_of(field.name, fields[field.name], field.default)
        else:
            default: Any = arguments[name].default
            if default is inspect.Parameter.empty:
                default = None
                signature.required.add(name)
            signature.params[name] = param_of(name, hint, default)
            signature.sources[name] = _picked(name)
    return signature


def _completed(operation: Operation, signature: _Signature) -> Operation:
    in_path = [name for name in signature.params if f"{{{name}}}" in operation.path]
    if len(in_path) != operation.path.count("{") or not signature.required <= set(in_path):
        raise TypeError(f"the handler of {operation.id} must take what {operation.path} names; all else has a default")
    return operation._replace(
        in_path=tuple(signature.params[name] for name in in_path),
        query=tuple(param for name, param in signature.params.items() if name not in in_path),
        body=signature.body,
        answer=_answer(signature.answer, operation),
    )


def _answer(hint: Any, operation: Operation) -> Any:
    """The type of what is answered in JSON, or of each value of a stream in JSON; None where neither is."""
    if get_origin(hint) is Annotated:
        return hint.__metadata__[0] if {JSON, NDJSON, SSE} & set(operation.media) else None
    if isinstance(hint, type) and issubclass(hint, Response):
        return None
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else hint


def _handler(method: Callable[..., Awaitable[Answer]], signature: _Signature) -> Handler:
    def handler(request: ApiRequest) -> Awaitable[Answer]:
        return method(**{name: source(request) for name, source in signature.sources.items()})

    return handler


def _picked(name: str) -> Callable[[ApiRequest], Any]:
    return lambda request: request.values[name]


def _gathered(kind: type[Query]) -> Callable[[ApiRequest], Query]:
    names = kind.__struct_fields__
    return lambda request: kind(**{name: request.values[name] for name in names})
