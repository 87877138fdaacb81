"""Games in a real browser: followed to the end, through cuts, stepped through by keys, and hostile ones."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterator

import pytest
from playwright.async_api import Page, expect
from support.browser.duel import Duel
from support.browser.game_page import at, listed
from support.net.cutting_proxy import CuttingProxy, Kind


@pytest.fixture
def stack() -> Iterator[contextlib.ExitStack]:
    with contextlib.ExitStack() as opened:
        yield opened


async def stones(page: Page) -> int:
    return await page.locator("svg.board .stones circle:not(.last)").count()


async def test_a_game_is_followed_to_its_end_without_loading(visitor, serving, stack) -> None:
    duel = await asyncio.to_thread(Duel, serving.quiet_port, stack)
    await duel.play("D4", "E5")
    page = await visitor.open(f"/game/{duel.game}")
    await page.evaluate("window.sameLoad = true")
    await duel.play("C3")
    await at(page, "Move 3 of 3")
    await duel.play("F6", "pass", "G7")
    await at(page, "Move 6 of 6")
    assert await stones(page) == 5
    assert await listed(page) == ["D4", "E5", "C3", "F6", "pass", "G7"]
    await expect(page.locator("#state")).to_have_text("In progress: Black to play move 7.")
    await expect(page.locator("svg.board .last")).to_have_count(1)
    await duel.play("resign")
    await expect(page.locator("#state")).to_contain_text("resigned")
    await expect(page.locator("#state .result")).to_have_text("W+Resign")
    await expect(page.locator("#side-w .change")).to_contain_text("→")
    assert await page.evaluate("window.sameLoad")
    # What was built move by move is what the server shows.
    live = await page.locator("svg.board .stones").inner_html()
    fresh = await visitor.open(f"/game/{duel.game}")
    count_of = "svg.board .stones circle"
    assert await fresh.locator(count_of).count() == await page.locator(count_of).count()
    assert sorted(live.split("<circle")) == sorted(
        (await fresh.locator("svg.board .stones").inner_html()).split("<circle")
    )
    assert await listed(fresh) == duel.moves[:-1]
    for side in ("#side-b .change", "#side-w .change"):
        change = await fresh.locator(side).text_content()
        assert "±" not in change, "the headline says no interval"
        await expect(page.locator(side)).to_have_text(change)


async def test_a_cut_stream_comes_back_without_missing_a_move(visitor, serving, stack) -> None:
    duel = await asyncio.to_thread(Duel, serving.quiet_port, stack)
    await duel.play("D4")
    visitor.allowed.append("ERR_|Failed to load")
    with CuttingProxy(serving.process.web_port, 1) as proxy:
        port = proxy.port_for("viewer")
        page = await visitor.open(f"/game/{duel.game}", f"http://127.0.0.1:{port}")
        await page.evaluate("window.sameLoad = true")
        await duel.play("E5")
        await at(page, "Move 2 of 2")
        for moves in (("C3", "C4", "C5"), ("D6", "E6")):
            assert proxy.cut_somebody((Kind.BREAK,)) is not None
            await duel.play(*moves)
            await at(page, f"Move {len(duel.moves)} of {len(duel.moves)}")
        assert await listed(page) == duel.moves
        assert await page.evaluate("window.sameLoad")
    await duel.play("resign")


async def test_keys_and_links_step_through_a_game(visitor, serving, stack) -> None:
    duel = await asyncio.to_thread(Duel, serving.small_port, stack)
    # Black takes the stone at A2, then White resigns.
    await duel.play("A1", "A2", "B2", "E5", "A3", "E4", "resign")
    page = await visitor.open(f"/game/{duel.game}")
    await expect(page.locator("#state .result")).to_have_text("W+Resign")
    await at(page, "Move 6 of 6")
    await page.locator("#board[data-ready]").wait_for()
    await page.keyboard.press("Tab")
    focused = page.locator(":focus")
    await expect(focused).to_have_text("To the content")
    assert await focused.evaluate("element => getComputedStyle(element).outlineStyle") != "none"
    assert (await focused.bounding_box())["x"] >= 0
    for key, words, there in (
        ("Home", "Before move 1", 0),
        ("ArrowRight", "Move 1 of 6", 1),
        ("ArrowRight", "Move 2 of 6", 2),
        ("End", "Move 6 of 6", 5),
        ("ArrowLeft", "Move 5 of 6", 4),
        ("PageUp", "Before move 1", 0),
        ("PageDown", "Move 6 of 6", 5),
    ):
        await page.keyboard.press(key)
        await at(page, words)
        assert await stones(page) == there
        step = words.split()[1] if words.startswith("Move") else "0"
        assert page.url == f"{visitor.url}/game/{duel.game}?ply={step}", "whoever loads it again stands there"
    await expect(page.locator("#side-b .captures")).to_have_text("1")
    await page.get_by_role("link", name="Previous").click()
    await at(page, "Move 5 of 6")
    await page.reload()
    await at(page, "Move 5 of 6")
    await page.locator("#board[data-ready]").wait_for()
    await page.keyboard.press("n")
    await expect(page.locator("svg.board .numbers text")).to_have_text(["1", "3", "4", "5"], use_inner_text=False)
    await page.keyboard.press("?")
    await expect(page.locator("#keys")).to_be_visible()
    await page.locator("#copy summary").click()
    gtp = await page.locator("[data-text=gtp]").text_content()
    assert gtp.split("\n")[-2:] == ["play w E5", "play b A3"]
    # What the script writes is what the server writes.
    plain = await visitor.context.request.get(f"{visitor.url}/game/{duel.game}?ply=5")
    html = await plain.text()
    for kind in ("diagram", "sgf"):
        assert await page.locator(f"[data-text={kind}]").text_content() in html


async def test_a_game_without_script(visitors, serving, stack) -> None:
    duel = await asyncio.to_thread(Duel, serving.small_port, stack)
    analysis = {"winrate": 0.6, "moves": [{"move": "E1", "winrate": 0.61, "visits": 10, "pv": "C3"}]}
    await duel.play("B2", "D4", "C3", analysis=analysis)
    visitor = await visitors(java_script_enabled=False)
    wall = await visitor.open("/wall?venue=small")
    await expect(wall.locator(f"#wall li[data-game='{duel.game}'] .stones circle:not(.last)")).to_have_count(3)
    await duel.play("resign")
    page = await visitor.open(f"/game/{duel.game}")
    assert await stones(page) == 3
    async with page.expect_navigation():
        await page.get_by_role("link", name="Previous").click()
    await at(page, "Move 2 of 3")
    assert await stones(page) == 2
    await expect(page.locator(".candidates tbody tr")).to_have_count(1)
    await expect(page.locator("svg.board .proposal")).to_have_count(1)
    await page.get_by_label("Move numbers").check()
    await page.get_by_role("button", name="Show").click()
    await expect(page.locator("svg.board .numbers text")).to_have_count(2)
    await at(page, "Move 2 of 3")


async def test_what_bots_think_is_shown(visitor, serving, stack) -> None:
    duel = await asyncio.to_thread(Duel, serving.small_port, stack)

    def analysis_of(winrate: float) -> object:
        moves = [
            {"move": "C2", "winrate": 0.7, "score": 2.5, "visits": 1500, "pv": "C4 D2"},
            {"move": "D5", "winrate": 0.4, "visits": 10},
        ]
        return {
            "winrate": winrate, "score": 3.25, "visits": 1510, "comment": "hm <b>", "moves": moves,
            "ownership": "+" * 10 + "A" * 15,
        }  # fmt: skip

    page = await visitor.open(f"/game/{duel.game}")
    await duel.play("B2", analysis=analysis_of(0.7))
    await duel.play("D4", analysis=analysis_of(0.6))
    await duel.play("B3", analysis=analysis_of(0.8))
    await at(page, "Move 3 of 3")
    box = page.locator("#said")
    await expect(box.locator(".figures")).to_have_text("Black B3, win rate 80.0 %, score +3.3, visits 1 510")
    await expect(box.locator(".comment")).to_have_text("hm <b>")
    await expect(page.locator("svg.board .proposal")).to_have_count(2)
    await expect(page.locator("svg.board .proposal.best")).to_have_text("A70.0")
    await box.locator("tbody tr").first.focus()
    await expect(page.locator("svg.board .numbers text")).to_have_text(["1", "2", "3"], use_inner_text=False)
    await page.keyboard.press("o")
    await expect(page.locator("svg.board .owners rect").first).to_be_attached()
    await duel.play("E1", analysis=analysis_of(0.3))
    await duel.play("D1", analysis={"winrate": 0.4})
    await expect(box.locator(".figures")).to_have_text("Black D1, win rate 40.0 %")
    await duel.play("resign")
    await expect(page.locator("#state .result")).to_have_text("B+Resign")
    fresh = await visitor.open(f"/game/{duel.game}")
    for kind in ("winrate", "score"):
        assert "L" in await fresh.locator(f".curves.{kind} .curve.b").get_attribute("d")
    live = await page.locator(".curves.winrate .apart").get_attribute("d")
    assert live
    assert live == await fresh.locator(".curves.winrate .apart").get_attribute("d")
    await expect(fresh.locator("#said .figures")).to_have_text("Black D1, win rate 40.0 %")
    await fresh.keyboard.press("ArrowLeft")
    await expect(fresh.locator("#said .figures")).to_have_text("White E1, win rate 30.0 %, score +3.3, visits 1 510")
    await fresh.keyboard.press("ArrowLeft")
    await expect(fresh.locator("#said .figures")).to_have_text("Black B3, win rate 80.0 %, score +3.3, visits 1 510")


async def test_hostile_analysis_is_harmless(visitor, serving, stack) -> None:
    duel = await asyncio.to_thread(Duel, serving.small_port, stack)
    evil = '</pre><img src=x onerror="window.evil=1"><script>window.evil=1</script>'
    page = await visitor.open(f"/game/{duel.game}")
    await duel.play("A1", analysis={"comment": evil, "winrate": "0.5", "visits": -1})
    await duel.play("B1", analysis={"moves": [{"move": evil}, {"move": "C3", "pv": evil, "visits": 1e300}, 7]})
    await duel.play("C1", analysis="[" * 500 + "]" * 500)
    await duel.play("D1", analysis={"ownership": evil, "score": 1e308, "winrate": 7, "moves": {"a": 1}})
    await duel.play("E1", analysis='{"winrate":1e999}')
    await at(page, "Move 5 of 5")
    for _ in range(5):
        await page.keyboard.press("ArrowLeft")
    await at(page, "Before move 1")
    await page.keyboard.press("ArrowRight")
    await expect(page.locator("#said .comment")).to_have_text(evil)
    fresh = await visitor.open(f"/game/{duel.game}?ply=1")
    await expect(fresh.locator("#said .comment")).to_have_text(evil)
    for each_page in (page, fresh):
        assert await each_page.evaluate("window.evil") is None
        assert await each_page.locator("main img, main script").count() == 0
    await duel.play("resign")


async def test_the_wall_moves(visitor, serving, stack) -> None:
    page = await visitor.open("/wall?venue=quiet")
    await expect(page.locator("#quiet")).to_be_visible(timeout=20_000)  # a game of before may just have ended
    await page.locator("#wall[data-ready]").wait_for(state="attached")
    duel = await asyncio.to_thread(Duel, serving.quiet_port, stack)
    place = page.locator(f"#wall li[data-game='{duel.game}']")
    await expect(place).to_be_visible()
    await duel.play("D4", "E5", "F6")
    await expect(place.locator(".ply")).to_have_text("move 3")
    await expect(place.locator(".stones circle:not(.last)")).to_have_count(3)
    late = await visitor.open("/wall")
    plies = [each_page.locator(f"#wall li[data-game='{duel.game}'] .ply") for each_page in (page, late)]
    await expect(plies[1]).to_have_text("move 3")
    await duel.play("D6")
    for ply in plies:  # on the late page only its stream can have told: from here on it follows
        await expect(ply).to_have_text("move 4")
    # The ended game is not there for long.
    await asyncio.gather(duel.play("resign"), *(expect(ply).to_have_text("W+Resign") for ply in plies))
    await place.locator("a").focus()
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"**/game/{duel.game}")


@pytest.mark.parametrize(("path", "most"), [("/", 60_000), ("/game/{game}", 120_000)])
async def test_pages_are_light(visitors, serving, path: str, most: int) -> None:
    ((game, _),) = serving.process.query(
        "select game_id, count(*) from moves group by game_id order by count(*) desc limit 1"
    )
    visitor = await visitors()
    page = await visitor.open(path.format(game=game))
    await page.wait_for_load_state("load")
    assert 1000 < await visitor.weight() <= most


async def test_the_script_takes_the_stones_that_the_server_takes(visitor, serving) -> None:
    ((game, plies),) = serving.process.query(
        "select game_id, count(*) from moves join games on games.id = game_id where ended_at is not null"
        " group by game_id order by count(*) desc limit 1"
    )
    page = await visitor.open(f"/game/{game}")
    await expect(page.locator("#at")).to_contain_text(f"Move {plies} of {plies}")
    await page.locator("#board[data-ready]").wait_for()
    for ply in (plies - 1, plies * 2 // 3, plies // 2, plies // 4):
        await page.locator(f"#moves a[href='?ply={ply}#board']").click()
        await expect(page.locator("#at")).to_contain_text(f"Move {ply} of {plies}")
        html = await (await visitor.context.request.get(f"{visitor.url}/game/{game}?ply={ply}")).text()
        for kind in ("gtp", "diagram", "sgf"):
            assert f">{await page.locator(f'[data-text={kind}]').text_content()}</pre>" in html
        captures = re.findall(r'captures">(\d+)<', html)
        assert await page.locator(".captures").all_text_contents() == captures
