"""The public pages in a browser: phone width, both color schemes, keyboard, with and without scripts, weight."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from playwright.async_api import Page, Route
from support.web.pages_server import serving as serving_pages
from support.web.past import NOW, write
from support.web.questions import ACCEPTED, CALLED, EMPTY, OPEN, PLACED, REJECTED, written

from cgos_server.presentation.settings import VenueSettings, WebSettings
from cgos_server.storage import schema

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
    shown: list[str] = await page.eval_on_selector_all(
        "tr[data-name]", "rows => rows.filter(row => row.checkVisibility()).map(row => row.dataset.name)"
    )
    return shown


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


_LONGEST = """() => {  // every bot gets the longest name of the widest letters
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replace(/Random|Greedy/g, "W".repeat(18));
}"""


async def test_the_longest_names_fit_a_phone(visitors: Visitors) -> None:
    visitor = await visitors(viewport={"width": 360, "height": 700})
    visitor.allowed.append("status of 400")
    page = await visitor.open(PATHS[0])
    for path in (*PATHS, "/game/1"):
        await page.goto(visitor.url + path)
        await page.evaluate(_LONGEST)
        assert await page.evaluate("document.documentElement.scrollWidth") <= 360, path
        cut = "words => words.filter(word => word.scrollWidth > word.clientWidth).map(word => word.textContent)"
        assert await page.locator("dt, dd").evaluate_all(cut) == [], path
        narrow = "links => links.filter(link => link.textContent.includes('WWW') && link.offsetWidth < 60).length"
        assert await page.locator(".player a").evaluate_all(narrow) == 0, path


async def test_pages_of_questions_fit_a_phone(visitors: Visitors, tmp_path: Path) -> None:
    """With text to paste and a badge, which is as wide as its words."""
    path = tmp_path / "cgos.sqlite"
    schema.prepare(path)
    await write(path, written())
    settings = WebSettings(venues={"9x9": VenueSettings()})
    with serving_pages(path, settings, lambda: NOW) as url:
        page = await (await visitors(viewport={"width": 360, "height": 700})).open("/questions", url)
        for question in (OPEN, ACCEPTED, REJECTED, PLACED, CALLED, EMPTY):
            await page.goto(f"{url}/questions/{question}")
            assert await page.evaluate("document.documentElement.scrollWidth") <= 360, question


async def test_on_paper_everything_is_light_and_stones_keep_their_colors(visitors: Visitors) -> None:
    visitor = await visitors(color_scheme="dark")
    page = await visitor.open("/game/1")
    await page.get_by_role("button", name="Light").click()
    light = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    await page.get_by_role("button", name="Dark").click()
    await page.locator("#board[data-ready]").wait_for()
    await page.emulate_media(media="print")
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == light
    for hidden in (".steps", "#show", "#help", "#copy", ".theme", ".top nav"):
        assert not await page.locator(hidden).is_visible(), hidden
    exact = "discs => discs.every(disc => getComputedStyle(disc).printColorAdjust === 'exact')"
    assert await page.locator("#moves .disc").evaluate_all(exact)


async def test_whoever_goes_by_keyboard_sees_where_they_are(visitors: Visitors) -> None:
    visitor = await visitors(viewport={"width": 1000, "height": 800})
    page = await visitor.open("/")
    focus_script = """() => {
      const at = document.activeElement, box = at.getBoundingClientRect(), style = getComputedStyle(at);
      return [at === document.body ? "" : at.outerHTML.slice(0, 80),
              style.outlineStyle !== "none" && box.width > 0 && box.bottom > 0 && box.top < innerHeight];
    }"""
    for path in ("/", "/venue/9x9", "/game/1", "/games", "/sign-in"):
        await page.goto(visitor.url + path)
        for _ in range(40):
            await page.keyboard.press("Tab")
            where, well = await page.evaluate(focus_script)
            if not where:
                break
            assert well, (path, where)


async def test_the_position_is_copied_and_the_button_is_ready_again(visitors: Visitors) -> None:
    visitor = await visitors(permissions=["clipboard-read", "clipboard-write"])
    page = await visitor.open("/game/1?ply=4")
    await page.locator("#copy summary").click()
    button = page.locator("[data-copy=gtp]")
    await button.click()
    await page.locator("[data-copy=gtp]", has_text="Copied").wait_for()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied == await page.locator("[data-text=gtp]").text_content()
    assert copied.count("play ") == 4
    await page.locator("[data-copy=gtp]", has_text="Copy").filter(has_not_text="Copied").wait_for()


async def test_the_menu_of_venues_closes_by_escape_and_beside_it(visitors: Visitors) -> None:
    visitor = await visitors()
    page = await visitor.open("/connect")

    async def with_menu(route: Route) -> None:  # as where there are more venues than here
        answer = await route.fetch()
        nav, made = '<nav aria-label="Pages">', '<details class="menu"><summary>Venues</summary><ul></ul></details>'
        await route.fulfill(response=answer, body=(await answer.text()).replace(nav, nav + made))

    await page.route("**/games", with_menu)
    await page.goto(visitor.url + "/games")
    menu = page.locator("details.menu")
    for close in (lambda: page.keyboard.press("Escape"), lambda: page.locator("h1").click()):
        await menu.locator("summary").click()
        assert await menu.evaluate("menu => menu.open")
        await close()
        assert not await menu.evaluate("menu => menu.open")


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
    requests_before = visitor.fetched()
    await page.get_by_role("link", name="Bot", exact=True).click()
    assert await names(page) == sorted(everybody, key=str.lower)
    await page.get_by_role("link", name="Bot", exact=True).press("Enter")
    assert await names(page) == sorted(everybody, key=str.lower, reverse=True)
    assert await page.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    await page.get_by_label("Name").fill("greed")
    assert await names(page) == ["Greedy"]
    assert await page.locator("#found").text_content() == "One bot."
    assert visitor.fetched() == requests_before


async def test_without_scripts_the_server_sorts_and_searches(visitors: Visitors) -> None:
    visitor = await visitors(java_script_enabled=False)
    page = await visitor.open("/venue/9x9")
    everybody = await names(page)
    async with page.expect_navigation():
        await page.get_by_role("link", name="Bot", exact=True).click()
    assert await names(page) == sorted(everybody, key=str.lower)
    await page.get_by_label("Name").fill("greed")
    async with page.expect_navigation():
        await page.get_by_label("Name").press("Enter")
    assert await names(page) == ["Greedy"]
    assert await page.get_by_role("button", name="Dark").count() == 0


async def test_the_keyboard_reaches_the_content_first(visitors: Visitors) -> None:
    page = await (await visitors()).open("/venue/9x9")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.textContent") == "To the content"
    await page.keyboard.press("Enter")
    await page.wait_for_url("**#main")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.closest('main') !== null")


async def test_commands_have_a_button_that_copies_them(visitors: Visitors) -> None:
    visitor = await visitors(permissions=["clipboard-read", "clipboard-write"])
    page = await visitor.open("/connect")
    block = page.locator(".copied").nth(2)
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
