"""What those see who watch over the server: is it alive, is it ready, its metrics.

Runs in the game process's own loop: if `/livez` answers, that loop turns. Must not know what the probes look at, nor
what the metrics mean.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from cgos_protocol.errors import Refused
from cgos_server.observability.exposition import Form, form_of, rendered

Probe = Callable[[], tuple[bool, str]]
"""Answers at once: (is it well, a sentence in plain words). Called in the event loop."""

_NO_STORE = {"Cache-Control": "no-store"}


Scrape = Callable[[Form], Awaitable[bytes]]
"""Brings the metrics of another process. Raises Refused."""


def health_app(
    probes: Mapping[str, Probe], registry: CollectorRegistry, web_metrics: Scrape | None = None
) -> Starlette:
    """``/livez``, ``/readyz`` (503 with the reasons while any probe fails; ``?verbose`` lists all), ``/metrics``, and
    where there are any ``/metrics/web``, those of the process that serves the pages."""

    async def livez(_request: Request) -> Response:
        return PlainTextResponse("alive\n", headers=_NO_STORE)

    async def readyz(request: Request) -> Response:
        answers = [(name, *probe()) for name, probe in probes.items()]
        well = all(ok for _, ok, _ in answers)
        lines = ["ready" if well else "not ready"]
        verbose = "verbose" in request.query_params
        lines += [
            f"{name}: {text}" if not ok else f"{name}: ok, {text}" for name, ok, text in answers if verbose or not ok
        ]
        return PlainTextResponse("\n".join(lines) + "\n", 200 if well else 503, _NO_STORE)

    async def metrics(request: Request) -> Response:
        form = form_of(request.headers.get("accept", ""))
        return _scraped(rendered(registry, form), form)

    async def of_the_pages(request: Request) -> Response:
        form = form_of(request.headers.get("accept", ""))
        assert web_metrics is not None
        try:
            return _scraped(await web_metrics(form), form)
        except Refused as refusal:
            return PlainTextResponse(f"{refusal.sentence}\n", refusal.status, _NO_STORE)

    routes = [Route("/livez", livez), Route("/readyz", readyz), Route("/metrics", metrics)]
    if web_metrics is not None:
        routes.append(Route("/metrics/web", of_the_pages))
    return Starlette(routes=routes)


def _scraped(body: bytes, form: Form) -> Response:
    return Response(body, headers={"Content-Type": form.content_type, **_NO_STORE})
