"""What needs a token against its own description, asked by an operator and done on a real database: whatever is sent,
answers conform and nothing fails (schemathesis)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from support.web.commands_server import DeedsServer, deeds_server
from support.web.described_api import ANSWERS, Case, Schema, checks, described, drawn, sent

from cgos_protocol.api.people import Session
from cgos_server.service.commands.accounts import AccountAdd
from cgos_server.service.commands.bots import BotAdd
from cgos_server.service.commands.ownership import BotOwn
from cgos_server.service.commands.sessions import SignIn
from cgos_server.web.api import openapi
from cgos_server.web.api.operations import ROUTES
from cgos_server.web.api.reading.operators import ADMIN
from cgos_server.web.api.reading.own import OWN, OWN_BOTS

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
ASKED = [operation for operation in ROUTES if operation.group in (OWN, OWN_BOTS, ADMIN)]


@pytest.fixture(scope="module")
def schema() -> Schema:
    return described(THERE, others=False)


async def populated(server: DeedsServer) -> None:
    await server.admin.handle(AccountAdd(name="Oper", password="long-secret", admin=True))
    await server.admin.handle(AccountAdd(name="Anna", password="long-secret"))
    await server.admin.handle(BotAdd(name="Newbot", password="long-secret"))
    await server.admin.handle(BotOwn(bot="Newbot", account="Oper"))


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
    house: tuple[asyncio.Runner, DeedsServer], schema: Schema, route: openapi.Operation
) -> None:
    runner, server = house
    operation = schema[openapi.PREFIX + route.path][route.method]
    held = checks(ANSWERS)
    statuses: set[int] = set()

    async def answer_to(request: dict[str, Any]) -> Any:
        server.clock_ms += 60_000  # limits a minute are not what is looked for
        signed = await server.admin.handle(SignIn(name="Oper", password="long-secret", address="198.51.100.9"))
        assert isinstance(signed, Session)
        request["headers"] = {**dict(request.get("headers", ())), "Authorization": f"Bearer {signed.session}"}
        return await server.client.request(**request)

    @drawn(EXAMPLES)
    @given(case=operation.as_strategy())
    def ask(case: Case) -> None:
        response = runner.run(answer_to(sent(case, "https://go.example.org")))
        statuses.add(response.status_code)
        case.validate_response(response, checks=held)

    ask()
    # Whoever asks is known, and may; signing in itself is asked with other people's words.
    assert statuses
    assert route.id == "sign_in" or 401 not in statuses
