"""Gives everybody who asks for the same within a second the same answer, so that many viewers cost as one.

Only finished answers to people who are nobody in particular: no cookie, no token. Bounded in number and size; what is
oldest goes first. Must not know: pages, the API.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

REMEMBER_S: Final = 1.0
"""How old a page may be for strangers."""

KEPT: Final = 200
LARGEST: Final = 300_000
"""Bytes of an answer that is kept."""

Key = tuple[str, str, str, bytes]
"""Scheme, host (answers name it), path, query."""


class Known(NamedTuple):
    """An answer as it was first sent, and until when it holds (seconds of the clock)."""

    until: float
    start: Message
    body: bytes


class ResponseCache:
    """Wraps the application.

    :param for_s: how long an answer holds, in seconds; 0: nothing is kept
    :param clock: seconds of a monotonic clock
    """

    def __init__(self, app: ASGIApp, for_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._for_s = for_s
        self._clock = clock
        self._known: OrderedDict[Key, Known] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = _key(scope) if self._for_s > 0 else None
        if key is None:
            return await self._app(scope, receive, send)
        known = self._known.get(key)
        if known is not None and self._clock() < known.until:
            await send({**known.start, "headers": list(known.start["headers"])})  # whoever adds to it adds to a copy
            return await send({"type": "http.response.body", "body": known.body})
        kept: Message = {}
        body = bytearray()

        async def watched(message: Message) -> None:
            nonlocal kept
            if message["type"] == "http.response.start" and _may_be_kept(message):
                kept = {**message, "headers": list(message["headers"])}
            elif message["type"] == "http.response.body" and kept:
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    self._keep(key, kept, bytes(body))
            await send(message)

        return await self._app(scope, receive, watched)

    def _keep(self, key: Key, start: Message, body: bytes) -> None:
        self._known.pop(key, None)
        self._known[key] = Known(self._clock() + self._for_s, start, body)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)


def _key(scope: Scope) -> Key | None:
    if scope["type"] != "http" or scope["method"] != "GET" or scope["path"].startswith("/static/"):
        return None
    headers = Headers(scope=scope)
    if any(name in headers for name in ("cookie", "authorization", "range")):
        return None
    return scope.get("scheme", ""), headers.get("host", ""), scope["path"], scope.get("query_string", b"")


def _may_be_kept(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    size = headers.get("content-length", "")
    finished = size.isdecimal() and int(size) <= LARGEST
    return start["status"] == 200 and finished and "set-cookie" not in headers and "cache-control" not in headers
