"""The API against its own description: whatever is asked, answers conform to it and nothing fails (schemathesis).

Questions are drawn by a fixed seed and asked in one event loop, as the connections of the database want it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx2
import msgspec
import pytest
from hypothesis import given
from support.web.described_api import ANSWERS, Case, Schema, checks, described, drawn, sent
from support.web.past import NOW

from cgos_protocol.api.route import Limit
from cgos_server.presentation.settings import VenueSettings, WebSettings
from cgos_server.service.commands.registry import Refusal
from cgos_server.storage.reading.history import History
from cgos_server.web.api import openapi
from cgos_server.web.api.operations import ROUTES
from cgos_server.web.application import create_app
from cgos_server.web.server import OneServer

EXAMPLES = 12
SETTINGS = WebSettings(
    venues={"9x9": VenueSettings(port=6809), "13x13": VenueSettings(port=6813), "19x19": VenueSettings(port=6819)},
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
    "question": [1, 2],
}
"""Names and numbers that there are: otherwise most questions would be about nothing."""
CHECKED = (*ANSWERS, "negative_data_rejection")
ASKED = [route for route in ROUTES if route.limit is not Limit.STREAMS]
"""Streams have no end."""


async def refusing(_line: bytes) -> bytes:
    """A live server to which nobody is known: what it does for those who are is tested where it is made."""
    return msgspec.json.encode(Refusal("not-signed-in", "This token is not valid."))


@pytest.fixture(scope="module")
def schema() -> Schema:
    return described(KNOWN, others=True)


@pytest.mark.slow
@pytest.mark.parametrize("route", ASKED, ids=lambda route: route.id)
def test_answers_conform(database: Path, schema: Schema, route: openapi.Operation) -> None:
    operation = schema[openapi.PREFIX + route.path][route.method]
    held = checks(CHECKED)
    statuses: set[int] = set()

    with asyncio.Runner() as runner:
        history = History(database)
        app = create_app(history, SETTINGS, lambda: NOW, server=OneServer(refusing))
        web = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://x")

        @drawn(EXAMPLES)
        @given(case=operation.as_strategy())
        def ask(case: Case) -> None:
            response = runner.run(web.request(**sent(case, "http://x")))
            statuses.add(response.status_code)
            case.validate_response(response, checks=held)

        ask()
        runner.run(web.aclose())
        runner.run(history.close())
    assert statuses, "nothing was asked"
