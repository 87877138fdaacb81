"""What those see who watch over the server: is it alive, is it ready, its metrics.

Runs in the game process's own loop: if `/livez` answers, that loop turns. Must not know what the probes look at, nor
what the metrics mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

Probe = Callable[[], tuple[bool, str]]
"""Answers at once: (is it well, a sentence in plain words). Called in the event loop."""

_NO_STORE = {"Cache-Control": "no-store"}


def health_app(probes: Mapping[str, Probe], registry: CollectorRegistry) -> Starlette:
    """``/livez``, ``/readyz`` (503 with the reasons while any probe fails; ``?verbose`` lists all) and ``/metrics``."""

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
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), headers={"Content-Type": content_type, **_NO_STORE})

    return Starlette(routes=[Route("/livez", livez), Route("/readyz", readyz), Route("/metrics", metrics)])
