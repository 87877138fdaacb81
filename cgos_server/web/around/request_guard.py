"""Turns away who asks too often, or asks what no database takes or no address is: before anything is looked up, as a
problem under ``/api``, as a page elsewhere.

Static files do not count: they are read once and kept for a year. Must not know: what is asked for.
"""

from __future__ import annotations

import math
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cgos_protocol.api.route import Limit
from cgos_server.web.api.framework import CORS
from cgos_server.web.around.limiting import TooMuch
from cgos_server.web.around.problems import Wrong, failed
from cgos_server.web.site import Site

LONGEST: Final = 2_000
"""Characters of a path. A number of more than 4,300 digits, for one, is none that Python reads."""


class RequestGuard:
    """Wraps the application."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app = app
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith("/static/"):
            return await self._app(scope, receive, send)
        try:
            self._site.limits.spend(Limit.REQUESTS, self._site.visitor(Request(scope)))
            if "\0" in scope["path"] or b"%00" in scope["query_string"]:
                raise Wrong("address", "No address here holds the character NUL.")
            if len(scope["path"]) > LONGEST:
                raise Wrong("address", f"No address here has a path of more than {LONGEST} characters.")
        except (TooMuch, Wrong) as refusal:
            self._site.refused(refusal)
            return await self._refused(scope, refusal)(scope, receive, send)
        return await self._app(scope, receive, send)

    def _refused(self, scope: Scope, refusal: TooMuch | Wrong) -> Response:
        if scope["path"] == "/api" or scope["path"].startswith("/api/"):
            response = failed(refusal)
            if scope["method"] in ("GET", "HEAD"):
                response.headers.update(CORS)
            return response
        if isinstance(refusal, Wrong):
            return self._site.render("failure.html", refusal.status, title="Not so", sentence=refusal.sentence)
        response = self._site.render("failure.html", 429, title="Too often", sentence=refusal.sentence)
        response.headers["Retry-After"] = str(max(1, math.ceil(refusal.retry_after_s or 1)))
        return response
