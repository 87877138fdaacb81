"""Turns away who asks too often: before anything is looked up, as a problem under ``/api``, as a page elsewhere.

Static files do not count: they are read once and kept for a year. Must not know: what is asked for.
"""

from __future__ import annotations

import math

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from cgos_server.protocol.api_route import Limit
from cgos_server.web.api.framework import CORS
from cgos_server.web.limiting import TooMuch
from cgos_server.web.problems import failed
from cgos_server.web.site import Site


class Admitting:
    """Wraps the application."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app = app
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith("/static/"):
            return await self._app(scope, receive, send)
        try:
            self._site.limits.spend(Limit.REQUESTS, self._site.visitor(Request(scope)))
        except TooMuch as refusal:
            if scope["path"].startswith("/api/"):
                response = failed(refusal)
                if scope["method"] in ("GET", "HEAD"):
                    response.headers.update(CORS)
            else:
                response = self._site.render("failure.html", 429, title="Too often", sentence=refusal.sentence)
                response.headers["Retry-After"] = str(max(1, math.ceil(refusal.retry_after_s or 1)))
            return await response(scope, receive, send)
        return await self._app(scope, receive, send)
