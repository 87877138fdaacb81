"""What needs a token against its own description, asked by an operator and done on a real database: whatever is sent,
answers conform and nothing fails (schemathesis)."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from web.api.deeds_server import DeedsServer, deeds_server

from cgos_server.protocol import openapi
from cgos_server.protocol.api_acting import ADMINS, OWNERS
from cgos_server.service import requests as deeds

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own dependencies, when it is imported
    import schemathesis
    from schemathesis.checks import CHECKS

EXAMPLES = 5
THERE = {
    "venue": ["9x9"],
    "bot": ["Newbot"],
    "version": ["Newbot"],
    "game": [1],
    "token": [1, 2],
    "webhook": [1],
    "account": ["Anna"],
}
CHECKED = {
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
}
ASKED = [*OWNERS, *ADMINS]


def description() -> dict[str, Any]:
    """As it is served, with names and numbers that there are."""
    told: dict[str, Any] = json.loads(json.dumps(openapi.document()))
    for place in told["paths"].values():
        for operation in place.values():
            for param in operation.get("parameters", ()):
                if param["in"] == "path" and param["name"] in THERE:
                    param["schema"] = {"enum": THERE[param["name"]]}
    return told


@pytest.fixture(scope="module")
def schema() -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_dict(description())


async def populated(server: DeedsServer) -> None:
    await server.admin.handle(deeds.AccountAdd(name="Oper", password="secret", admin=True))
    await server.admin.handle(deeds.AccountAdd(name="Anna", password="secret"))
    await server.admin.handle(deeds.BotAdd(name="Newbot", password="secret"))
    await server.admin.handle(deeds.BotOwn(bot="Newbot", account="Oper"))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[asyncio.Runner, DeedsServer]]:
    """One for all operations, as one server lives through them all."""
    with asyncio.Runner() as runner:
        opened = deeds_server(Path(tmp_path_factory.mktemp("house")))
        server = runner.run(opened.__aenter__())
        runner.run(populated(server))
        yield runner, server
        runner.run(opened.__aexit__(None, None, None))


@pytest.mark.slow
@pytest.mark.parametrize("route", ASKED, ids=lambda route: route.id)
def test_answers_to_operators_conform(
    house: tuple[asyncio.Runner, DeedsServer], schema: schemathesis.BaseSchema, route: openapi.Operation
) -> None:
    runner, server = house
    operation = schema[openapi.PREFIX + route.path][route.method]
    checks = [check for check in CHECKS.get_all() if check.__name__ in CHECKED]
    assert len(checks) == len(CHECKED)
    statuses: set[int] = set()

    async def asked(told: dict[str, Any]) -> Any:
        server.clock_ms += 60_000  # limits a minute are not what is looked for
        signed = await server.admin.handle(deeds.SignIn(name="Oper", password="secret", address="198.51.100.9"))
        assert isinstance(signed, deeds.SignedIn)
        kinds = ("params", "headers", "json", "content", "data")
        sent = {name: value for name, value in told.items() if name in kinds and value is not None}
        sent["headers"] = {**dict(sent.get("headers", ())), "Authorization": f"Bearer {signed.session}"}
        return await server.client.request(told["method"], told["url"], **sent)

    @seed(20_261_122)
    @settings(
        max_examples=EXAMPLES, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy())
    def ask(case: schemathesis.Case) -> None:
        response = runner.run(asked(case.as_transport_kwargs(base_url="https://go.example.org")))
        statuses.add(response.status_code)
        case.validate_response(response, checks=checks)

    ask()
    # Whoever asks is known, and may; signing in itself is asked with other people's words.
    assert statuses
    assert route.id == "sign_in" or 401 not in statuses
