"""What every finished answer gains on its way out: an ETag, 304 where the reader has it already, compression.

ETags are weak: the same content goes out compressed or not, and no ranges of it are served. Static files bring their
own. Streams are never held back: one without a length passes as it comes, and is compressed a piece at a time where it
is a download, so that a live one reaches its reader at once. Answers to signed-in people are not compressed, since
their length could tell secrets that stand beside what somebody else wrote (BREACH: Gluck, Harris and Prado 2013).
Must not know: pages, the API.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import zlib
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEAST: Final = 500
"""Bytes below which compression gains nothing."""

LEVEL: Final = 5
_IN_A_THREAD: Final = 100_000
"""Bytes from which on compression is not done in the loop."""

_TEXT: Final = (
    "text/",
    "application/json",
    "application/problem+json",
    "application/x-ndjson",
    "image/svg+xml",
    "application/x-go-sgf",
    "application/atom+xml",
    "text/javascript",
    "application/x-tar",
)
_NOT_IN_304: Final = ("content-length", "content-type", "content-encoding", "content-disposition")


class Caching:
    """Wraps the application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        await self._app(scope, receive, _Answer(scope, send).take)
        return None


class _Answer:
    """One answer on its way."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._send = send
        headers = Headers(scope=scope)
        self._head = scope["method"] == "HEAD"
        self._reads = scope["method"] in ("GET", "HEAD")
        self._known = headers.get("if-none-match", "")
        static = scope["path"].startswith("/static/")
        secret = not static and ("cookie" in headers or "authorization" in headers)
        self._compress = accepts_gzip(headers.get("accept-encoding", "")) and not secret and "range" not in headers
        self._start: Message = {}
        self._body = bytearray()
        self._piecewise: zlib._Compress | None = None
        self._whole = False

    async def take(self, message: Message) -> None:
        """The next message of the application's."""
        if message["type"] == "http.response.start":
            await self._begun(message)
        elif message["type"] != "http.response.body":
            await self._send(message)
        elif self._whole:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._finished()
        else:
            await self._passed(message)

    async def _begun(self, message: Message) -> None:
        self._start = message
        headers = MutableHeaders(scope=message)
        textual = headers.get("content-type", "").startswith(_TEXT)
        if textual:
            headers.add_vary_header("Accept-Encoding")
        encoded = "content-encoding" in headers or message["status"] == 206
        self._compress = self._compress and textual and not encoded
        self._whole = "content-length" in headers and message["status"] not in (204, 206, 304)
        if self._whole:
            return
        if self._compress and "content-disposition" in headers and message["status"] == 200:
            headers["Content-Encoding"] = "gzip"
            self._piecewise = zlib.compressobj(LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
        await self._send(message)

    async def _passed(self, message: Message) -> None:
        if self._head:
            message = {**message, "body": b""}
        elif self._piecewise is not None:
            more = message.get("more_body", False)
            body = self._piecewise.compress(message.get("body", b""))
            message = {**message, "body": body if more else body + self._piecewise.flush()}
            if more and not body:
                return
        await self._send(message)

    async def _finished(self) -> None:
        body, status = bytes(self._body), self._start["status"]
        headers = MutableHeaders(scope=self._start)
        if self._reads and status == 200 and headers.get("cache-control") != "no-store":
            tag = headers.setdefault("ETag", etag(body)) if body or not self._head else headers.get("etag", "")
            if self._known and tag and matches(self._known, tag):
                for name in _NOT_IN_304:
                    del headers[name]
                await self._send({**self._start, "status": 304})
                return await self._send({"type": "http.response.body", "body": b""})
        if self._compress and len(body) >= LEAST:
            size = len(body)
            body = await asyncio.to_thread(_gzipped, body) if size >= _IN_A_THREAD else _gzipped(body)
            headers["Content-Encoding"] = "gzip"
            headers["Content-Length"] = str(len(body))
            if validator := headers.get("etag"):
                headers["ETag"] = weak(validator)
        await self._send(self._start)
        return await self._send({"type": "http.response.body", "body": b"" if self._head else body})


def etag(body: bytes) -> str:
    """A weak validator of this content."""
    return f'W/"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'


def weak(tag: str) -> str:
    """The same validator without its promise that bytes are the same."""
    return tag if tag.startswith("W/") else f"W/{tag}"


def matches(known: str, tag: str) -> bool:
    """Whether ``If-None-Match`` names this validator (weak comparison, RFC 9110)."""
    bare = tag.removeprefix("W/")
    return any(each in ("*", bare) for each in (part.strip().removeprefix("W/") for part in known.split(",")))


def accepts_gzip(accepted: str) -> bool:
    """Whether ``Accept-Encoding`` takes gzip."""
    liked = weights(accepted)
    return liked.get("gzip", liked.get("*", 0.0)) > 0


def weights(accepted: str) -> dict[str, float]:
    """What a header such as ``Accept`` takes, in small letters, and how gladly; 0: not at all (RFC 9110, 12.4.2)."""
    weight_by_name: dict[str, float] = {}
    for part in accepted.lower().split(","):
        name, _, rest = part.partition(";")
        key, _, value = rest.strip().partition("=")
        try:
            weight_by_name[name.strip()] = float(value) if key.strip() == "q" else 1.0
        except ValueError:
            weight_by_name[name.strip()] = 0.0
    return weight_by_name


def _gzipped(body: bytes) -> bytes:
    return gzip.compress(body, LEVEL, mtime=0)
