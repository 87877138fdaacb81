"""For each file a server with two bots that always play; one Chromium; pages that count what should not happen.

What a browser may never meet here, in any test: an error on the console, an exception of a script, a violation of the
content policy, a request to another host.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    async_playwright,
    expect,
)
from support.e2e.processes import ServerProcess, bots, free_port, server, until

from cgos_server.web.around.response_cache import REMEMBER_S

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-proxy-server",
]  # fmt: skip
PATIENCE_MS = 15_000

_TELL_VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`violation of the content policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`));
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.e2e)
            # One loop for all of them, because there is one browser.
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason="there is no Chromium"))


@dataclass
class Serving:
    """The server under test.

    :ivar url: where its pages are
    :ivar quiet_port: where bots of the venue ``quiet`` connect: 9x9, nobody plays there but the test's own
    :ivar small_port: likewise of the venue ``small``: 5x5
    :ivar opened: address -> when a visitor opened it last (monotonic seconds)
    """

    process: ServerProcess
    quiet_port: int
    small_port: int
    opened: dict[str, float] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.process.web_port}"


@pytest.fixture(scope="module")  # not longer: its bots play without a pause, beside the tests that come after these
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server whose venue ``9x9`` has the bots Random and Greedy, and at least one ended game."""
    quiet, small = free_port(), free_port()
    more = "".join(
        f'[[venue]]\nname = "{name}"\nport = {port}\nsize = {size}\nkomi = 7.0\n'
        'time = { system = "absolute", main = "5m" }\n'
        "pairing = { interval_s = 0.1, patience_s = 0.2, settle_s = 0.05 }\n"
        # The headline comes after the view by its name.
        'rating = { system = "cgos-elo", views = "bayes" }\n'
        for name, port, size in (("quiet", quiet, 9), ("small", small, 5))
    )
    directory = tmp_path_factory.mktemp("browser")
    with server(directory, settings=more) as process:
        players = {"Random": (["bot", "random"], ()), "Greedy": (["bot", "greedy"], ())}
        with bots(process, players):
            until(lambda: process.query("select 1 from games where ended_at is not null"), 60, "no game has ended")
            assert process.page("/")[0] == 200
            yield Serving(process=process, quiet_port=quiet, small_port=small)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        await opened.close()


@dataclass
class Visitor:
    """Opens pages and writes down what happens on them.

    :ivar url: the address that paths belong to
    :ivar opened: as of the server
    :ivar faults: what must not have happened; checked when the test ends
    :ivar allowed: patterns of faults that this test brings about itself
    """

    context: BrowserContext
    url: str
    opened: dict[str, float]
    faults: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)

    async def open(self, path: str, url: str | None = None) -> Page:
        """A page at this path, as it is now: no answer that the server remembers from a moment ago."""
        address = (url or self.url) + path
        await asyncio.sleep(self.opened.get(address, 0.0) + REMEMBER_S - time.monotonic())
        page = await self.context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(f"exception of a script: {error}"))
        page.on("request", self._asked)
        page.on("response", self._answered)
        await page.goto(address)
        self.opened[address] = time.monotonic()
        return page

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.faults.append(f"console: {message.text} ({message.location.get('url')})")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "data:")):
            self.faults.append(f"request to another host: {request.url}")

    def _answered(self, response: Response) -> None:
        self.responses.append(response)

    def unexpected(self) -> list[str]:
        return [fault for fault in self.faults if not any(re.search(pattern, fault) for pattern in self.allowed)]

    def fetched(self) -> list[str]:
        """What has been asked for so far, without the icon, which browsers fetch when they please."""
        return [response.url for response in self.responses if "/icon." not in response.url]

    async def weight(self) -> int:
        """Bytes that have been transferred, heads included."""
        total = 0
        for response in self.responses:
            sizes = await response.request.sizes()
            total += sizes["responseBodySize"] + sizes["responseHeadersSize"]
        return total


Visitors = Callable[..., Awaitable[Visitor]]


@pytest_asyncio.fixture(loop_scope="session")
async def visitors(browser: Browser, serving: Serving) -> AsyncIterator[Visitors]:
    """Makes visitors; options as of :meth:`playwright.async_api.Browser.new_context`."""
    made: list[Visitor] = []

    async def visitor(**options: Any) -> Visitor:
        context = await browser.new_context(**options)
        if options.get("java_script_enabled", True):
            await context.add_init_script(_TELL_VIOLATIONS)
        made.append(Visitor(context=context, url=serving.url, opened=serving.opened))
        return made[-1]

    yield visitor
    for each_visitor in made:
        await each_visitor.context.close()
    assert [each_visitor.unexpected() for each_visitor in made] == [[] for _ in made]


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(visitors: Visitors) -> Visitor:
    """Somebody with an ordinary browser."""
    return await visitors()


async def aside(function: Callable[..., Any], *arguments: Any) -> Any:
    """Do something that blocks, such as a bot's move, while the browser goes on."""
    return await asyncio.to_thread(function, *arguments)
