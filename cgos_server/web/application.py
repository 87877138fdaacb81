"""The pages as one ASGI application: addresses, static files, and the headers that go with every answer.

Runs in a process of its own (:mod:`cgos_server.web.__main__`) or inside another program. Must not know: what stands on
a page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cgos_server.errors import StoreError
from cgos_server.storage.history import History
from cgos_server.web.pages import Pages, wall_ms
from cgos_server.web.settings import WebSettings

STATIC: Final = Path(__file__).parent / "static"

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "interest-cohort=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Nothing on these pages runs, frames, or comes from elsewhere."""

_FOR_A_YEAR: Final = "public, max-age=31536000, immutable"


def create_app(history: History, settings: WebSettings, now_ms: Callable[[], int] = wall_ms) -> ASGIApp:
    """The application. `history` stays the caller's to close.

    :param now_ms: Unix time in milliseconds
    """
    pages = Pages(history, settings, _version_of(STATIC), now_ms)
    routes = [
        Route("/", pages.front),
        Route("/venue/{name}", pages.venue),
        Route("/venue/{name}/odds", pages.odds),
        Route("/game/{id:int}.sgf", pages.game_sgf),
        Route("/game/{id:int}", pages.game),
        Route("/bot/{name}", pages.bot),
        Route("/connect", pages.connect),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    handlers = {HTTPException: pages.refused, StoreError: pages.unreadable, Exception: pages.failed}
    return _WithHeaders(Starlette(routes=routes, exception_handlers=handlers))


class _WithHeaders:
    """Adds what every answer carries, failures included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        lasting = scope["type"] == "http" and scope["path"].startswith("/static/") and scope["query_string"]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                # The addresses of static files name their version; everything else may change at any time.
                headers["Cache-Control"] = _FOR_A_YEAR if lasting and message["status"] < 400 else "no-cache"
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _version_of(folder: Path) -> str:
    """A word that changes when a file in `folder` does."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:10]
