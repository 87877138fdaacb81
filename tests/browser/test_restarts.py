"""A page that follows a game goes on by itself: the web process dies, the server dies, nobody looks for a while."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.browser.duel import Duel
from support.browser.game_page import at, listed
from support.e2e.line_bot import LineBot
from support.e2e.processes import ServerProcess, server, until

COMES_BACK_MS = 30_000


@pytest.fixture
def stack() -> Iterator[contextlib.ExitStack]:
    with contextlib.ExitStack() as opened:
        yield opened


def web_process(serving: ServerProcess) -> int:
    """The web process's id; 0 while there is none."""
    assert serving.process is not None
    for children in Path(f"/proc/{serving.process.pid}/task").glob("*/children"):
        for child in children.read_text().split():
            with contextlib.suppress(OSError):
                if b"cgos_server.web" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
    return 0


async def test_nothing_is_missed_when_the_web_process_dies(visitor, serving, stack) -> None:
    visitor.allowed.append("ERR_|Failed to load")
    duel = await asyncio.to_thread(Duel, serving.quiet_port, stack)
    await duel.play("D4")
    page = await visitor.open(f"/game/{duel.game}")
    wall = await visitor.open("/wall?venue=quiet")
    await page.evaluate("window.sameLoad = true")
    await duel.play("E5")
    await at(page, "Move 2 of 2")
    gone = web_process(serving.process)
    os.kill(gone, signal.SIGKILL)
    await duel.play("C3", "C4")
    await asyncio.to_thread(until, lambda: web_process(serving.process) not in (0, gone), 20, "no new web process")
    await duel.play("C5")
    page.set_default_timeout(COMES_BACK_MS)
    await page.locator("#at", has_text="Move 5 of 5").wait_for()
    assert await listed(page) == duel.moves
    assert await page.evaluate("window.sameLoad")
    await wall.locator(f"#wall li[data-game='{duel.game}'] .ply", has_text="move 5").wait_for()
    await duel.play("resign")


async def test_a_hidden_page_lets_go_and_misses_nothing(visitor, serving, stack) -> None:
    duel = await asyncio.to_thread(Duel, serving.quiet_port, stack)
    await duel.play("D4")
    page = await visitor.open(f"/game/{duel.game}")
    await duel.play("E5")
    await at(page, "Move 2 of 2")

    async def hidden(word: str) -> None:
        await page.evaluate(
            f"Object.defineProperty(document, 'hidden', {{ value: {word}, configurable: true }});"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )

    await hidden("true")
    other = await visitor.open(f"/game/{duel.game}")
    await duel.play("C3", "C4", "C5")
    await at(other, "Move 5 of 5")
    await at(page, "Move 2 of 2")
    await hidden("false")
    await at(page, "Move 5 of 5")
    assert await listed(page) == duel.moves
    await duel.play("resign")


async def test_a_game_and_its_page_survive_the_death_of_the_server(visitors, tmp_path, stack) -> None:
    visitor = await visitors()
    visitor.allowed.append("ERR_|Failed to load")
    process: ServerProcess = await asyncio.to_thread(stack.enter_context, server(tmp_path))
    await asyncio.to_thread(until, lambda: process.get("/", process.web_port)[0] == 200, 20, "no pages")
    duel = await asyncio.to_thread(Duel, process.port, stack)
    await duel.play("D4", "E5")
    page = await visitor.open(f"/game/{duel.game}", f"http://127.0.0.1:{process.web_port}")
    await page.evaluate("window.sameLoad = true")
    await duel.play("C3")
    await at(page, "Move 3 of 3")
    await asyncio.to_thread(process.kill)
    await asyncio.to_thread(process.start)
    duel.sides = tuple(stack.enter_context(LineBot(process.port, bot.name)) for bot in duel.sides)
    await duel.play("C4", "C5")
    page.set_default_timeout(COMES_BACK_MS)
    await page.locator("#at", has_text="Move 5 of 5").wait_for()
    assert await listed(page) == duel.moves
    assert await page.evaluate("window.sameLoad")
    await duel.play("resign")
    await page.locator("#state .result", has_text="+Resign").wait_for()
