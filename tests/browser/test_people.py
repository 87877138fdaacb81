"""What owners and operators do, in a real browser; without scripts, because it must work so."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

import pytest
from playwright.async_api import Page, expect
from support.browser.duel import Duel

PASSWORD = "correct-horse"


@pytest.fixture
def stack() -> Iterator[contextlib.ExitStack]:
    with contextlib.ExitStack() as opened:
        yield opened


async def press(page: Page, button: str, **fields: str) -> None:
    """Fill in the form with this button, send it, and wait for the page that answers."""
    form = page.locator("form.deed").filter(has=page.get_by_role("button", name=button, exact=True)).first
    for label, value in fields.items():
        await form.get_by_label(label.replace("_", " "), exact=False).first.fill(value)
    async with page.expect_navigation():
        await form.get_by_role("button", name=button, exact=True).click()


async def test_an_owner_registers_claims_pauses_and_reads_the_wire(visitors, serving, stack) -> None:
    duel = await asyncio.to_thread(Duel, serving.quiet_port, stack)
    await duel.play("D4", "E5", "C3")
    bot = duel.sides[0].name
    person = await visitors(java_script_enabled=False)
    person.allowed.append("status of 422")
    page = await person.open("/account")
    await page.get_by_role("link", name="Make one").click()
    await press(page, "Make the account", Name="Owner-1", New_password=PASSWORD, Once_more=PASSWORD)
    await expect(page.get_by_role("heading", level=1)).to_have_text("Owner-1")

    await press(page, "Claim it", Its_name=bot, Its_password="wrong-one")
    await expect(page.get_by_role("alert")).to_be_visible()
    assert await page.get_by_label("Its name").input_value() == bot, "the field was kept"
    await press(page, "Claim it", Its_password=f"secret-{bot}")
    await expect(page.get_by_role("status")).to_contain_text(bot)

    await page.get_by_role("link", name=bot, exact=True).click()
    await page.get_by_role("button", name="Pause", exact=True).click()
    await expect(page.locator(".lead")).to_contain_text("Paused")
    await page.get_by_role("button", name="Resume", exact=True).click()
    await press(page, "Make a token", What_it_is_for="<b>laptop</b>")
    await expect(page.get_by_role("status").locator("code")).to_contain_text("cgos_")
    await expect(page.get_by_role("cell", name="<b>laptop</b>", exact=True)).to_be_visible()

    async with page.expect_navigation():
        await page.get_by_role("link", name="Transcript").first.click()
    lines = page.locator(".wire tr.from-bot code")
    for _ in range(50):  # it is written down about once a second
        if "C3" in await lines.all_text_contents():
            break
        await asyncio.sleep(0.2)
        await page.reload()
    words = await page.locator(".wire code").all_text_contents()
    assert any(word.startswith("setup ") for word in words)
    assert {"D4", "C3"} <= set(await lines.all_text_contents())
    assert not any("secret-" in word for word in words), "a password is never written down"

    await page.goto(f"{serving.url}/account")
    async with page.expect_navigation():
        await page.get_by_role("button", name="Sign out").click()
    await page.goto(f"{serving.url}/account/bot/{bot}")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    await duel.play("resign")


async def test_an_operator_kicks_aborts_and_finds_it_in_the_audit(visitors, serving, stack) -> None:
    made = await asyncio.to_thread(
        serving.process.command, "account", "add", "Operator-1", "--admin", stdin=f"{PASSWORD}\n"
    )
    assert made.returncode == 0, made.stderr
    duel = await asyncio.to_thread(Duel, serving.quiet_port, stack)
    person = await visitors(java_script_enabled=False)
    page = await person.open("/admin")
    await press(page, "Sign in", Name="Operator-1", Password=PASSWORD)
    await expect(page.get_by_role("heading", level=1)).to_have_text("Server")

    await page.get_by_role("link", name="Games", exact=True).last.click()
    await press(page, "End it", Game=str(duel.game), Reason="by <i>mistake</i>")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Are you sure?")
    await page.get_by_role("button", name="Yes, do it").click()
    await expect(page.get_by_role("status")).to_contain_text("ended: Abort")

    bot = duel.sides[0].name
    await page.goto(f"{serving.url}/admin/connections?search={bot}")
    await page.get_by_role("row", name=bot).get_by_role("link", name="Kick").click()
    await press(page, "Kick", Reason="it is stuck")
    await page.get_by_role("button", name="Yes, do it").click()
    await expect(page.get_by_role("status")).to_contain_text(f"of {bot}")
    await expect(page.get_by_text("0 signed in")).to_be_visible()

    async with page.expect_navigation():
        await page.get_by_role("link", name="Audit", exact=True).click()
    rows = await page.locator("tbody tr").all_text_contents()
    assert "kick" in rows[0]
    assert "it is stuck" in rows[0]
    assert "abort" in rows[1]
    assert "by <i>mistake</i>" in rows[1]
    assert "Operator-1" in rows[0]


async def test_pages_of_people_keep_the_content_policy_and_fit_a_phone(visitors, serving) -> None:
    await asyncio.to_thread(serving.process.command, "account", "add", "Operator-2", "--admin", stdin=f"{PASSWORD}\n")
    person = await visitors(viewport={"width": 390, "height": 800})
    page = await person.open("/sign-in?next=/account")
    await press(page, "Sign in", Name="Operator-2", Password=PASSWORD)
    for path in ("/account", "/account/password", "/account/bot/Random", "/admin", "/admin/bots", "/admin/bots/Random",
                 "/admin/connections", "/admin/games", "/admin/venues", "/admin/accounts", "/admin/audit"):  # fmt: skip
        await page.goto(f"{serving.url}{path}")
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        width = await page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390, path
