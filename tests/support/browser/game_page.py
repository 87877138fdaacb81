"""What stands on a game's page in a browser."""

from __future__ import annotations

from playwright.async_api import Page, expect


async def listed(page: Page) -> list[str]:
    """The moves on the page's list."""
    return await page.locator("#moves tbody tr td:nth-child(2)").all_text_contents()


async def at(page: Page, words: str) -> None:
    await expect(page.locator("#at")).to_have_text(words)
