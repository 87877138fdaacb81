"""axe-core finds nothing on any kind of page: in both color schemes, at the width of a desk and of a phone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from browser.test_people import PASSWORD, press
from playwright.async_api import Page
from support.e2e.npm import installed
from support.e2e.processes import until

Visitors = Callable[..., Awaitable[Any]]

PUBLIC = (
    "/", "/events", "/events/Cup", "/events/Cup/standings", "/events/Cup/crosstable", "/events/Cup/rounds",
    "/events/Cup/rounds/1", "/events/Cup/games?n=1", "/events/Cup/entrants", "/events/Cup/log", "/events/Later",
    "/questions", "/venue/9x9", "/venue/9x9/crosstable", "/venue/9x9/odds?a=Random&b=Greedy", "/venue/9x9/rules",
    "/venue/9x9/pair?a=Random&b=Greedy", "/venue/9x9/rounds", "/games", "/games?bot=nobody", "/bot/Greedy", "/round/1",
    "/game/1", "/game/1/pairing", "/embed/game/1", "/wall", "/connect", "/docs/api", "/sign-in", "/register",
    "/nowhere", "/questions/1",
)  # fmt: skip
SIGNED_IN = (
    "/account", "/account/password", "/account/bot/Random", "/account/bot/Random/transcript", "/admin", "/admin/bots",
    "/admin/bots/Random", "/admin/connections", "/admin/games", "/admin/venues", "/admin/events", "/admin/accounts",
    "/admin/audit", "/questions", "/questions/1", "/events", "/events/Cup", "/events/Cup/rounds/1", "/events/Later",
)  # fmt: skip
WIDTHS = (1280, 390)
SCHEMES: dict[str, dict[str, Any]] = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
"""Scheme -> which rules are looked at: what the other one changes is colors."""

_VIOLATIONS = """(only) => axe.run(document, {resultTypes: ["violations"], ...only}).then((result) =>
  result.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")} ${node.html}`)))"""

_FEWER = """() => [...document.querySelectorAll("section.operation")].forEach((each, at) => at % 10 && each.remove())"""
"""The page about the API has two hundred sections, made by one loop: a tenth of them takes a tenth of the time."""


_UNFOLD = """() => document.querySelectorAll("main details").forEach((each) => { each.open = true; })"""
"""Forms that are folded up are looked at as well."""


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(tmp_path_factory.mktemp("axe"), "axe-core") / "axe-core" / "axe.min.js"


async def violations(page: Page, path: str) -> list[str]:
    """What axe-core finds on the page that is open, as it is seen in all four ways."""
    findings = []
    await page.evaluate(_FEWER)
    await page.evaluate(_UNFOLD)
    for width in WIDTHS:
        await page.set_viewport_size({"width": width, "height": 800})
        for scheme, only in SCHEMES.items():
            await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            findings += [f"{path} {width} {scheme}: {line[:300]}" for line in await page.evaluate(_VIOLATIONS, only)]
    return findings


def hold_events(serving: Any) -> None:
    """A cup that runs, with its bracket, and an event that comes."""
    event = partial(serving.process.command, "event")
    event("create", "Cup", "double-elimination", "--venue", "9x9", "--enter", "Random", "--enter", "Greedy")
    event("open", "Cup")
    event("start", "Cup")
    event("create", "Later", "swiss", "--venue", "9x9", "--rounds", "3", "--enter", "Random", "--check-in-s", "600",
          "--starts-at", "now+10m")  # fmt: skip
    event("open", "Later")
    until(lambda: serving.process.query("select 1 from event_log where kind = 'began'"), 30, "no game of it began")


def ask_a_question(serving: Any) -> None:
    """A test that decides after a few pairs of games, since one of the two hardly ever wins."""
    serving.process.command("ask", "test", "Greedy", "Random", "--venue", "9x9", "--upper", "400")


async def test_axe_finds_nothing_on_any_page(visitors: Visitors, serving: Any, axe: Path) -> None:
    await asyncio.to_thread(serving.process.command, "account", "add", "Operator-3", "--admin", stdin=f"{PASSWORD}\n")
    await asyncio.to_thread(ask_a_question, serving)
    await asyncio.to_thread(hold_events, serving)
    visitor = await visitors()
    visitor.allowed.append("status of 40[04]")
    await visitor.context.add_init_script(path=axe)
    findings = []
    page = await visitor.open(PUBLIC[0])
    for path in PUBLIC:
        await page.goto(serving.url + path)
        assert await page.locator("h1").count() == 1, path
        findings += await violations(page, path)
    await page.goto(serving.url + "/sign-in?next=/account")
    await press(page, "Sign in", Name="Operator-3", Password=PASSWORD)
    for path in SIGNED_IN:
        await page.goto(serving.url + path)
        assert await page.locator("h1").count() == 1, path
        findings += await violations(page, path)
    assert not findings, "\n".join(findings)
