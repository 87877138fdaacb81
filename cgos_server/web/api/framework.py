"""Serves the table of routes: reads what is asked strictly, has the operation's handler answer, says what went wrong.

One place of Starlette's a path, so that what is not allowed there can be said. What holds a slot (`streams`, `bulk`)
holds it until its last byte is sent. Must not know: what handlers do, who may
do what (a token is handed on, the game process judges it).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import ExitStack
from http import HTTPStatus
from typing import Any, Final

import msgspec
import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from cgos_protocol.api.route import JSON, PREFIX, Limit, Needs, Operation
from cgos_protocol.errors import CgosError, Code, NotFound, OurFault, Unauthenticated
from cgos_server.web.api.strictly import Value, body_of, path_of, query_of
from cgos_server.web.around.problems import HttpRefused, answered, failed, our_fault
from cgos_server.web.site import Site

CORS: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Incarnation, Next-After, Retry-After",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
"""Pages of anybody may read what anybody may read. Cookies and tokens never come with it."""

_PREFLIGHT: Final = CORS | {
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "Accept, If-None-Match, Last-Event-ID",
    "Access-Control-Max-Age": "86400",
}


class ApiRequest:
    """What a handler is asked, read and checked.

    :ivar body: of the operation's type of body; None where it has none
    :ivar credential: the token's text; empty where the operation needs none
    :ivar values: every parameter of path and query, defaults filled in
    """

    def __init__(self, operation: Operation, request: Request, values: Mapping[str, Value], body: Any) -> None:
        self.operation = operation
        self.request = request
        self.body = body
        self.credential = bearer(request)
        self.values = values


Answer = msgspec.Struct | Response | Mapping[str, Any]
"""A value of an operation's type of answer, or a finished answer of HTTP."""

Handler = Callable[[ApiRequest], Awaitable[Answer]]
"""Answers one operation. Raises CgosError."""


def api_routes(site: Site, operations: Iterable[Operation], handlers: Mapping[str, Handler]) -> list[BaseRoute]:
    """All places of the API, and one for every other address under ``/api``. Operations without a handler are left
    out."""
    places: dict[str, dict[str, tuple[Operation, Handler]]] = defaultdict(dict)
    for operation in operations:
        if operation.id in handlers:
            places[operation.path][operation.method] = (operation, handlers[operation.id])
    # Starlette takes the first that fits: a longer suffix of one segment comes first.
    order = sorted(places, key=lambda path: ("{" in path.rsplit("/", 1)[-1], not path.endswith(".sgf"), path))
    routes: list[BaseRoute] = [Route(PREFIX + path, _Place(site, places[path])) for path in order]
    if "" in places:  # people write the beginning with a slash behind it
        routes.append(Route(f"{PREFIX}/", _Place(site, places[""])))
    return [*routes, Route("/api", _Nothing(site)), Route("/api/{rest:path}", _Nothing(site))]


class _Nothing:
    """An address of the API where there is nothing."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = NotFound(Code.NO_PLACE, f"There is nothing at this address. {PREFIX} says where the API begins.")
        self._site.refused(refusal)
        response = failed(refusal)
        response.headers.update(CORS)
        await response(scope, receive, send)


class _Place:
    """One path with its methods."""

    def __init__(self, site: Site, methods: Mapping[str, tuple[Operation, Handler]]) -> None:
        self._site = site
        self._methods = methods
        reading = methods.get("GET")
        self._open = reading is not None and reading[0].needs is Needs.NOTHING
        allowed = [*methods, *(["HEAD"] if reading else []), "OPTIONS"]
        self._allow = ", ".join(sorted(allowed))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if request.method == "OPTIONS":
            response = Response(status_code=204, headers={"Allow": self._allow} | (_PREFLIGHT if self._open else {}))
        else:
            with ExitStack() as held:
                response = await self._answer(request, held)
                if self._open and request.method in ("GET", "HEAD"):
                    response.headers.update(CORS)
                if request.method == "HEAD" and isinstance(response, StreamingResponse):
                    response = _head_of(response)
                await response(scope, receive, send)
            return
        await response(scope, receive, send)

    async def _answer(self, request: Request, held: ExitStack) -> Response:
        answered_by = self._methods.get("GET" if request.method == "HEAD" else request.method)
        if answered_by is None:
            sentence = f"This address cannot be asked by {request.method[:20]}: only by {self._allow}."
            refusal = HttpRefused(405, Code.METHOD, sentence, {"Allow": self._allow})
            self._site.refused(refusal)
            return failed(refusal)
        operation, handler = answered_by
        try:
            if operation.streams:
                held.enter_context(self._site.limits.slot(operation.limit, self._site.visitor(request)))
            return await self._handled(operation, handler, request)
        except CgosError as failure:
            self._site.refused(failure)
            wrong_password = isinstance(failure, Unauthenticated) and failure.code is Code.WRONG_PASSWORD
            if wrong_password and operation.needs is not Needs.NOTHING:
                # Of something else than who asks: 401 says that the token is not valid, and this one is.
                return failed(failure, HTTPStatus.FORBIDDEN)
            response = failed(failure)
            if isinstance(failure, OurFault):
                structlog.get_logger().error("the API failed", operation=operation.id, error=str(failure))
            return response
        except ClientDisconnect:
            return Response(status_code=400)  # which nobody reads
        except Exception:
            structlog.get_logger().exception("the API failed", operation=operation.id)
            return answered(our_fault())

    async def _handled(self, operation: Operation, handler: Handler, request: Request) -> Response:
        if operation.needs is not Needs.NOTHING and not bearer(request):
            sentence = "This needs a token: send `Authorization: Bearer ...`. One's own page makes tokens."
            raise Unauthenticated(Code.NO_TOKEN, sentence)
        if operation.limit is Limit.SIGN_IN:
            self._site.limits.spend(Limit.SIGN_IN, self._site.visitor(request))
        values = path_of(operation, request.path_params) | query_of(operation, request.query_params.multi_items())
        api_request = ApiRequest(operation, request, values, await body_of(operation, request))
        answer = await handler(api_request)
        if isinstance(answer, Response):
            return answer
        # What signs somebody in needs no token, but holds one.
        private = {} if operation.needs is Needs.NOTHING and operation.reads else {"Cache-Control": "no-store"}
        return Response(msgspec.json.encode(answer), operation.status, private, JSON)


def bearer(request: Request) -> str:
    """The token that comes with a request; empty for none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip()[:512] if scheme.lower() == "bearer" else ""


def _head_of(response: Response) -> Response:
    """A stream's status and headers alone."""
    head = Response(status_code=response.status_code)
    head.raw_headers = [pair for pair in response.raw_headers if pair[0] != b"content-length"]
    return head
