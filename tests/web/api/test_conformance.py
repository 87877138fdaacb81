"""The API against its own description: whatever is asked, answers conform to it and nothing fails (schemathesis).

Questions are drawn by a fixed seed and asked in one event loop, as the connections of the database want it.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from pathlib import Path

import httpx2
import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from web.past import NOW

from cgos_server.protocol import openapi
from cgos_server.protocol.api_route import Limit
from cgos_server.protocol.api_routes import ROUTES
from cgos_server.service.requests import Refusal
from cgos_server.storage.history import History
from cgos_server.web.application import create_app
from cgos_server.web.settings import VenueSettings, WebSettings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own dependencies, when it is imported
    import schemathesis
    from schemathesis.checks import CHECKS

EXAMPLES = 12
SETTINGS = WebSettings(
    venues={"9x9": VenueSettings(6809), "13x13": VenueSettings(6813), "19x19": VenueSettings(6819)},
    requests_per_minute=1_000_000,
)
KNOWN = {
    "venue": ["9x9", "13x13"],
    "bot": ["amigo", "Kogo_mcts"],
    "version": ["amigo", "Kogo_mcts"],
    "one": ["amigo"],
    "other": ["Kogo_mcts"],
    "game": [1, 71, 72],
    "round": [1],
}
"""Names and numbers that there are: otherwise most questions would be about nothing."""
CHECKED = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
)
ASKED = [route for route in ROUTES if route.limit is not Limit.STREAMS]
"""Streams have no end."""


async def refusing(_line: bytes) -> bytes:
    """A live server to which nobody is known: what it does for those who are is tested where it is made."""
    return msgspec.json.encode(Refusal("not-signed-in", "This token is not valid."))


def description() -> dict[str, object]:
    """As it is served, with examples of what there is among the values of its paths."""
    told = openapi.document()
    for place in told["paths"].values():
        for operation in place.values():
            for param in operation.get("parameters", ()):
                if param["in"] == "path" and param["name"] in KNOWN:
                    schema = param["schema"]
                    param["schema"] = {"anyOf": [{"enum": KNOWN[param["name"]]}, schema]}
    found: dict[str, object] = json.loads(json.dumps(told))
    return found


@pytest.fixture(scope="module")
def schema() -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_dict(description())


@pytest.mark.slow
@pytest.mark.parametrize("route", ASKED, ids=lambda route: route.id)
def test_answers_conform(database: Path, schema: schemathesis.BaseSchema, route: openapi.Operation) -> None:
    operation = schema[openapi.PREFIX + route.path][route.method]
    checks = [check for check in CHECKS.get_all() if check.__name__ in CHECKED]
    assert len(checks) == len(CHECKED)
    statuses: set[int] = set()

    with asyncio.Runner() as runner:
        history = History(database)
        app = create_app(history, SETTINGS, lambda: NOW, call=refusing)
        web = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://x")

        @seed(20_261_122)
        @settings(
            max_examples=EXAMPLES, database=None, deadline=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy())
        def ask(case: schemathesis.Case) -> None:
            told = case.as_transport_kwargs(base_url="http://x")
            kinds = ("params", "headers", "json", "content", "data")
            given_ = {name: value for name, value in told.items() if name in kinds and value is not None}
            response = runner.run(web.request(told["method"], told["url"], **given_))
            statuses.add(response.status_code)
            case.validate_response(response, checks=checks)

        ask()
        runner.run(web.aclose())
        runner.run(history.close())
    assert statuses, "nothing was asked"
