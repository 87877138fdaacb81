"""Counts what is asked and how long answers take, around all answers. Decides to which group an address belongs.

An answer counts when it begins, under its status; its duration counts when its last byte is handed on. Whoever leaves
before an answer begins counts as 4xx; what fails without an answer as 5xx. Must not know: pages, the API's handlers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cgos_server.observability.web_metrics import STATUSES, RouteGroup, StreamKind, WebMetrics

_GROUPS: Final = {
    "": RouteGroup.OVERVIEW,
    "venue": RouteGroup.VENUE,
    "round": RouteGroup.VENUE,
    "rules": RouteGroup.VENUE,
    "bot": RouteGroup.BOT,
    "game": RouteGroup.GAME,
    "games": RouteGroup.GAME,
    "events": RouteGroup.EVENT,
    "events.atom": RouteGroup.EVENT,
    "questions": RouteGroup.QUESTION,
    "questions.atom": RouteGroup.QUESTION,
    "wall": RouteGroup.WALL,
    "connect": RouteGroup.CONNECT,
    "account": RouteGroup.ACCOUNT,
    "sign-in": RouteGroup.ACCOUNT,
    "sign-out": RouteGroup.ACCOUNT,
    "register": RouteGroup.ACCOUNT,
    "admin": RouteGroup.ADMIN,
    "badge": RouteGroup.EMBED,
    "embed": RouteGroup.EMBED,
    "og": RouteGroup.EMBED,
    "static": RouteGroup.FILE,
    "robots.txt": RouteGroup.FILE,
    "sitemap.xml": RouteGroup.FILE,
    "favicon.ico": RouteGroup.FILE,
    "docs": RouteGroup.DOCS,
}
"""First part of a path -> its group; addresses under ``/api`` are told apart by what follows."""

_READING: Final = ("GET", "HEAD", "OPTIONS")


def group_of(method: str, path: str) -> RouteGroup:
    """The group of a request."""
    first, _, rest = path[1:].partition("/")
    group = _GROUPS.get(first)
    if group is None:
        return _of_api(method, rest.split("/")[1:]) if first == "api" else RouteGroup.OTHER
    return group


def _of_api(method: str, parts: Sequence[str]) -> RouteGroup:
    """`parts`: those behind the version of the API."""
    match parts:
        case ["live"] | ["games", _, "live"]:
            return RouteGroup.STREAM
        case ["export", *_] | ["bots", _, "transcript"]:
            return RouteGroup.EXPORT
        case ["openapi.json"]:
            return RouteGroup.DOCS
    return RouteGroup.API_READ if method in _READING else RouteGroup.API_ACT


def kind_of(group: RouteGroup, path: str) -> StreamKind | None:
    """What an answer is that lasts as long as its reader stays; None for any other."""
    if group is RouteGroup.STREAM:
        return StreamKind.GAME if "/games/" in path else StreamKind.VENUE
    return StreamKind.EXPORT if group is RouteGroup.EXPORT else None


class Measuring:
    """Wraps the application.

    :param clock: nanoseconds of a monotonic clock
    """

    def __init__(self, app: ASGIApp, metrics: WebMetrics, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        self._app = app
        self._metrics = metrics
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _Measured(self._metrics, scope, send, self._clock).answer(self._app, receive)
        else:
            await self._app(scope, receive, send)


class _Measured:
    """One request."""

    __slots__ = ("_began", "_clock", "_kind", "_meter", "_metrics", "_open", "_scope", "_send", "_status")

    def __init__(self, metrics: WebMetrics, scope: Scope, send: Send, clock: Callable[[], int]) -> None:
        group = group_of(scope["method"], scope["path"])
        self._metrics = metrics
        self._scope = scope
        self._send = send
        self._clock = clock
        self._began = clock()
        self._meter = metrics.routes[group]
        self._kind = kind_of(group, scope["path"])
        self._status = 0
        self._open: StreamKind | None = None

    async def answer(self, app: ASGIApp, receive: Receive) -> None:
        """Have it answered."""
        try:
            await app(self._scope, receive, self._pass)
        except Exception:
            self._without_answer("5xx")
            raise
        else:
            self._without_answer("4xx")
        finally:
            if self._open is not None:
                self._metrics.streams[self._open] -= 1

    async def _pass(self, message: Message) -> None:
        """The next message of the application's."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._meter.answered[STATUSES[self._status // 100 - 2]] += 1
            if self._kind is not None and self._status == 200:
                self._open = self._kind
                self._metrics.streams[self._kind] += 1
        await self._send(message)
        if self._kind is None and message["type"] == "http.response.body" and not message.get("more_body", False):
            self._meter.duration.observe((self._clock() - self._began) // 1000)

    def _without_answer(self, status: str) -> None:
        if not self._status:
            self._meter.answered[status] += 1
