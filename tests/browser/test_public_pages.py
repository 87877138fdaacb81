"""The public pages in a browser: phone width, both colour schemes, keyboard, with and without scripts, weight."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import Page

Visitors = Callable[..., Awaitable[Any]]

PATHS = ("/", "/venue/9x9", "/venue/9x9/crosstable", "/venue/9x9/odds", "/venue/9x9/pair?a=Random&b=Greedy",
         "/venue/9x9/rounds", "/venue/9x9/rules", "/games", "/games?bot=nobody", "/bot/Greedy", "/round/1",
         "/game/1/pairing", "/connect")  # fmt: skip

_CONTRASTS = """() => {
  const pixel = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgb = (color) => {  // whatever notation the browser computes, as it paints it
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = color;
    pixel.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color[3] === 1) return color;
    }
    return [255, 255, 255, 1];
  };
  const found = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own || node.closest("svg, .skip") || !node.checkVisibility()) continue;
    const [one, other] = [rgb(getComputedStyle(node).color), behind(node)].map(luminance);
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const words = node.textContent.trim();
    if (contrast < 4.5) found.push(`${node.tagName}.${node.className} ${contrast.toFixed(2)} ${words}`);
  }
  return found;
}"""


async def names(page: Page) -> list[str]:
    """Of the standings, those that can be seen, from the top."""
    found: list[str] = await page.eval_on_selector_all(
        "tr[data-name]", "rows => rows.filter(row => row.checkVisibility()).map(row => row.dataset.name)"
    )
    return found


async def test_every_page_fits_a_phone_and_can_be_read_in_both_schemes(visitors: Visitors) -> None:
    visitor = await visitors(viewport={"width": 360, "height": 700})
    visitor.allowed.append("status of 400")
    page = await visitor.open(PATHS[0])
    for path in PATHS:
        await page.goto(visitor.url + path)
        assert await page.evaluate("document.documentElement.scrollWidth") <= 360, path
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            assert await page.evaluate(_CONTRASTS) == [], (path, scheme)


async def test_the_switch_of_the_scheme_is_remembered(visitors: Visitors) -> None:
    visitor = await visitors(color_scheme="light")
    page = await visitor.open("/venue/9x9/rules")
    paper = "getComputedStyle(document.body).backgroundColor"
    before = await page.evaluate(paper)
    await page.get_by_role("button", name="Dark").click()
    dark = await page.evaluate(paper)
    assert dark != before
    await page.goto(visitor.url + "/connect")
    assert await page.evaluate(paper) == dark
    await page.get_by_role("button", name="Light").click()
    assert await page.evaluate(paper) == before


async def test_standings_sort_and_search_without_a_request(visitors: Visitors) -> None:
    visitor = await visitors()
    page = await visitor.open("/venue/9x9")
    everybody = await names(page)
    assert len(everybody) >= 2
    asked = visitor.fetched()
    await page.get_by_role("link", name="Bot", exact=True).click()
    assert await names(page) == sorted(everybody, key=str.lower)
    await page.get_by_role("link", name="Bot", exact=True).press("Enter")
    assert await names(page) == sorted(everybody, key=str.lower, reverse=True)
    assert await page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    await page.get_by_label("Name").fill("greed")
    assert await names(page) == ["Greedy"]
    assert await page.locator("#found").text_content() == "One bot."
    assert visitor.fetched() == asked


async def test_without_scripts_the_server_sorts_and_searches(visitors: Visitors) -> None:
    visitor = await visitors(java_script_enabled=False)
    page = await visitor.open("/venue/9x9")
    everybody = await page.locator("tr[data-name]").evaluate_all("rows => rows.map(row => row.dataset.name)")
    await page.get_by_role("link", name="Bot", exact=True).click()
    assert await page.locator("tr[data-name]").evaluate_all("rows => rows.map(row => row.dataset.name)") == sorted(
        everybody, key=str.lower
    )
    await page.get_by_label("Name").fill("greed")
    await page.get_by_label("Name").press("Enter")
    await page.wait_for_url("**q=greed**")
    assert await page.locator("tr[data-name]").evaluate_all("rows => rows.map(row => row.dataset.name)") == ["Greedy"]
    assert await page.get_by_role("button", name="Dark").count() == 0


async def test_the_keyboard_reaches_the_content_first(visitors: Visitors) -> None:
    page = await (await visitors()).open("/venue/9x9")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.textContent") == "To the content"
    await page.keyboard.press("Enter")
    assert page.url.endswith("#main")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.closest('main') !== null")


async def test_commands_have_a_button_that_copies_them(visitors: Visitors) -> None:
    visitor = await visitors(permissions=["clipboard-read", "clipboard-write"])
    page = await visitor.open("/connect")
    block = page.locator(".copied").nth(1)
    await block.get_by_role("button").click()
    await block.get_by_role("button", name="Copied").wait_for()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied == await block.locator("code").text_content()
    assert copied.startswith("cgos-client run --server 127.0.0.1:")


async def test_the_front_page_renews_itself_in_place(visitors: Visitors) -> None:
    visitor = await visitors()
    page = await visitor.open("/connect")
    await page.clock.install()
    await page.goto(visitor.url)
    before = await page.locator("#now").text_content()
    await page.locator("#now a").first.focus()
    await page.evaluate("document.body.dataset.mine = '1'")
    async with asyncio.timeout(20):  # an answer may be a second old, and a game may take some
        while await page.locator("#now").text_content() == before:
            await page.clock.fast_forward(11_000)
            await asyncio.sleep(0.3)
    assert await page.evaluate("document.body.dataset.mine") == "1"


async def test_the_front_page_is_light(visitors: Visitors) -> None:
    visitor = await visitors()
    page = await visitor.open("/")
    await page.wait_for_load_state("networkidle")
    assert await visitor.weight() <= 60 * 1024
