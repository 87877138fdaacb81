"""The pages and the API as one ASGI application: addresses, static files, and the headers that go with every answer.

Runs in a process of its own (:mod:`cgos_server.web.__main__`) or inside another program. Must not know: what stands on
a page.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import structlog
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cgos_protocol.errors import StoreError
from cgos_protocol.facts import AnyFact, NamesErased
from cgos_server.presentation.settings import WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.web.api import addresses as api
from cgos_server.web.around.caching import Caching
from cgos_server.web.around.measuring import Measuring
from cgos_server.web.around.request_guard import RequestGuard
from cgos_server.web.around.response_cache import ResponseCache
from cgos_server.web.events import addresses as events
from cgos_server.web.live.hub import Hub
from cgos_server.web.pages import (
    api_docs,
    bot,
    connect,
    crosstable,
    embeds,
    failures,
    front,
    game,
    games,
    pair,
    rounds,
    rules,
    venue,
    wall,
)
from cgos_server.web.people import addresses as people
from cgos_server.web.people import feeds, own_bot
from cgos_server.web.people.outside import Outside
from cgos_server.web.questions import addresses as questions
from cgos_server.web.server import Server
from cgos_server.web.site import Site, Work, wall_ms

log = structlog.get_logger(__name__)

_AGAIN_S: Final = 5.0
"""Before work that failed begins again."""

STATIC: Final = Path(__file__).parent / "static"

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""Only our own scripts run, nothing frames these pages or comes from elsewhere. An answer's own headers win."""

_FOR_A_YEAR: Final = "public, max-age=31536000, immutable"


def create_app(
    history: History,
    settings: WebSettings,
    now_ms: Callable[[], int] = wall_ms,
    *,
    hub: Hub | None = None,
    server: Server | None = None,
    outside: Outside | None = None,
    remember_s: float = 0.0,
) -> Application:
    """The application. `history` stays the caller's to close.

    :param now_ms: Unix time in milliseconds
    :param hub: told the facts of the live server by the caller
    :param server: whoever plays; None where nobody does
    :param outside: the way to where webhooks are sent; None: the one that the settings permit
    :param remember_s: seconds for which everybody who asks for the same gets the same answer
    """
    hub = hub or Hub(history, settings, now_ms)
    site = Site(
        history=history,
        settings=settings,
        static_version=_version_of(STATIC),
        now_ms=now_ms,
        hub=hub,
        server=server,
        outside=outside,
    )
    handlers: dict[Any, Any] = {
        HTTPException: partial(failures.refused, site),
        StoreError: partial(failures.unreadable, site),
        Exception: partial(failures.failed, site),
    }
    inner = Starlette(routes=addresses(site), exception_handlers=handlers)
    guarded = RequestGuard(ResponseCache(inner, remember_s), site)
    return Application(site, Measuring(Caching(_WithHeaders(guarded, settings.hsts_s)), site.metrics))


def addresses(site: Site) -> list[BaseRoute]:
    """All addresses, each module's own in its order."""
    modules = (front, venue, rules, crosstable, pair, rounds, games, bot, game, wall, connect, api_docs, feeds, own_bot)
    return [
        *(Route(path, partial(answer, site)) for module in modules for path, answer in module.PAGES.items()),
        *embeds.routes(site),
        *events.routes(site),
        *questions.routes(site),
        *people.routes(site),
        *api.routes(site),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]


class Application:
    """Answers requests (ASGI), and has work of its own besides.

    Whoever serves it runs :meth:`run` in a task group as long, tells :meth:`heard` what happens, and calls :meth:`stop`
    when it begins to stop serving.

    :ivar metrics: what is counted of all this
    """

    def __init__(self, site: Site, app: ASGIApp) -> None:
        self.metrics = site.metrics
        self._site = site
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def heard(self, fact: AnyFact | NamesErased | None) -> None:
        """The next fact of the live server; None where some are missing. Returns at once."""
        if isinstance(fact, NamesErased):
            fact = None  # as from another process: everything is to be read anew
        elif fact is None:
            self.metrics.facts_missed += 1
        for hear in self._site.hearers:
            hear(fact)

    async def run(self) -> None:
        """Do what there is to do besides answering, until cancelled. What fails is begun again after a pause."""
        async with asyncio.TaskGroup() as group:
            for work in self._site.works:
                group.create_task(_lasting(work))

    def stop(self) -> None:
        """Nothing more will be served: streams end."""
        self._site.hub.stop()


async def _lasting(work: Work) -> None:
    while True:
        try:
            return await work()
        except Exception as error:
            log.error("our fault in work behind the pages; it begins again", exc_info=error)
        await asyncio.sleep(_AGAIN_S)


class _WithHeaders:
    """Adds what every answer carries, failures included.

    :param hsts_s: see :class:`WebSettings`
    """

    def __init__(self, app: ASGIApp, hsts_s: int) -> None:
        self._app = app
        self._hsts_s = hsts_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The listener's own word: nothing that a proxy says changes it.
        encrypted = scope.get("scheme") == "https"
        lasting = scope["type"] == "http" and scope["path"].startswith("/static/") and scope["query_string"]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if encrypted and self._hsts_s:
                    headers.setdefault("Strict-Transport-Security", f"max-age={self._hsts_s}")
                # The addresses of static files name their version; everything else may change at any time.
                headers.setdefault("Cache-Control", _FOR_A_YEAR if lasting and message["status"] < 400 else "no-cache")
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _version_of(folder: Path) -> str:
    """A word that changes when a file in `folder` does."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:10]
