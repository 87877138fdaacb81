"""An event's page in a real browser: it follows the event from its announcement to its end; keys reach all of it."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import Any

import pytest
from browser.conftest import PATIENCE_MS, Visitors
from browser.test_people import PASSWORD, press
from playwright.async_api import expect


async def by_command(serving: Any, *words: str) -> None:
    await asyncio.to_thread(partial(serving.process.command, "event", *words))


async def test_a_page_that_is_open_follows_the_event_to_its_end(visitor, serving) -> None:
    await by_command(serving, "create", "Followed", "round-robin", "--venue", "9x9")
    page = await visitor.open("/events/Followed")
    await page.evaluate("window.sameLoad = true")
    await expect(page.locator("#entrants")).to_contain_text("Nobody has entered yet.")
    await expect(page.locator("#standings")).to_be_empty()
    await by_command(serving, "open", "Followed")
    for version in ("Random", "Greedy"):
        await by_command(serving, "enter", "Followed", version)
    await expect(page.locator("#entrants")).to_contain_text("Greedy", timeout=2 * PATIENCE_MS)
    await by_command(serving, "start", "Followed")
    await expect(page.locator("#standings h2")).to_have_text("Standings", timeout=2 * PATIENCE_MS)
    await expect(page.locator("#crosstable svg")).to_be_visible()
    await expect(page.locator("#entrants")).to_be_empty()
    await expect(page.locator("#state")).to_contain_text("Over after 1 round", timeout=6 * PATIENCE_MS)
    await expect(page.locator("#doing")).to_be_empty()
    assert await page.evaluate("window.sameLoad")


async def test_operators_rule_by_keys_alone(visitors: Visitors, serving) -> None:
    await asyncio.to_thread(serving.process.command, "account", "add", "Keyed", "--admin", stdin=f"{PASSWORD}\n")
    await by_command(serving, "create", "By-keys", "swiss", "--venue", "9x9")
    visitor = await visitors()
    page = await visitor.open("/sign-in?next=/events/By-keys")
    await press(page, "Sign in", Name="Keyed", Password=PASSWORD)
    await page.wait_for_url(re.compile("/events/By-keys$"))
    summary = page.locator("summary", has_text="Call it off")
    await summary.focus()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await page.keyboard.type("nobody comes")
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Yes, do it").press("Enter")
    await expect(page.locator("#state")).to_contain_text("It is cancelled. Nobody comes.")


@pytest.mark.parametrize("width", [1280, 375])
async def test_forms_fit_where_they_are_unfolded(visitors: Visitors, serving, width: int) -> None:
    name = f"Wide-{width}"
    await asyncio.to_thread(serving.process.command, "account", "add", name, "--admin", stdin=f"{PASSWORD}\n")
    visitor = await visitors(viewport={"width": width, "height": 800})
    page = await visitor.open("/sign-in?next=/admin/events")
    await press(page, "Sign in", Name=name, Password=PASSWORD)
    await page.wait_for_url(re.compile("/admin/events$"))
    assert await page.locator("form.deed > .field").count() == 5
    await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
