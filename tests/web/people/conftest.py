"""A whole server without a port: the real services on a real database, and the pages over it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from argon2 import PasswordHasher
from support.service import acting
from support.web.names import literals
from support.web.past import NOW, Builder, write

from cgos_protocol.api.people import BotNow, EndedGame, GameNow, Previewed, PreviewedPair, VenueNow
from cgos_protocol.errors import Code, NotFound, Unavailable
from cgos_protocol.games.base import Color
from cgos_server.core.rating.registry import rating_system
from cgos_server.presentation.settings import VenueSettings, WebSettings, networks
from cgos_server.service.admin import Admin
from cgos_server.service.commands.accounts import AccountAdd, AccountGrant
from cgos_server.service.commands.bots import BotPasswd
from cgos_server.service.control import ServerStatus
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.failures import Failures
from cgos_server.service.people.passwords import Passwords
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage import schema
from cgos_server.storage.opening import open_store
from cgos_server.storage.reading.history import History
from cgos_server.storage.store import Store
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.web.application import Application, create_app
from cgos_server.web.people.outside import Outside
from cgos_server.web.server import OneServer

HOSTILE = "\"'><script>alert(1)</script>&amp;"
BASE = "http://go.example.org"
PASSWORD = "correct-horse"


class Clock:
    """Unix milliseconds that move when a test says so."""

    def __init__(self) -> None:
        self.ms = NOW

    def __call__(self) -> int:
        return self.ms


class Live(acting.Live):
    """A live server that notes what is asked of it."""

    def status(self) -> ServerStatus:
        return ServerStatus(
            pid=1,
            version="0",
            up_s=3661.0,
            ready=True,
            draining=False,
            venues=[VenueNow(name="9x9", port=6809, playing=1, idle=1, owing=0, games=1, paused=False)],
            games=[
                GameNow(
                    game=71, venue="9x9", black="amigo", white="Kogo_mcts", ply=31, black_here=True, white_here=True
                )
            ],
            bots=[
                BotNow(
                    name="amigo",
                    venue="9x9",
                    state="playing",
                    address="192.0.2.9",
                    client=HOSTILE,
                    game=71,
                    suspended="",
                    paused=False,
                    connection=0,
                    since=0.0,
                )
            ],
            moves=5,
            ended={"score": 3},
            warnings=0,
            errors=0,
            web="",
            health="",
        )

    def ratings(self, venue: str) -> VenueRatings | None:
        return VenueRatings(1, rating_system("cgos-elo", 1800.0, {})) if venue == "9x9" else None

    def ratings_changed(self, venue: str) -> None:
        self.calls.append(("ratings changed", venue))

    def drain(self) -> None:
        self.calls.append(("drain",))

    def match(self, *what: Any, **named: Any) -> Any:
        raise NotFound(Code.NO_WHITE, "White is not here.")

    def end_game(self, game: int, winner: Color | None, detail: str) -> EndedGame:
        self.calls.append(("end", game, winner, detail))
        if game != 71:
            raise NotFound(Code.NO_GAME, f"No game {game} is running.")
        return EndedGame(game=game, venue="9x9", white="Kogo_mcts", black="amigo", result="Abort")

    def pause(self, venue: str, paused: bool) -> None:
        self.calls.append(("pause", venue, paused))

    def kick(self, name: str, sentence: str) -> int:
        self.calls.append(("kick", name, sentence))
        return 1 if name == "amigo" else 0

    def recall(self, venue: str | None, versions: Any) -> dict[str, list[int]]:
        return {}

    async def preview(self, venue: str, method: str | None, options: Any) -> Previewed:
        pair = PreviewedPair(high="amigo", low="Kogo_mcts", reason=HOSTILE, detail={})
        return Previewed(
            venue=venue,
            policy="rolling",
            method="information",
            options={},
            ready=["amigo"],
            pairs=[pair],
            sits_out={"Tengen.bot": HOSTILE},
            notes=[],
            total=None,
        )

    async def reload(self) -> list[str]:
        return [f"{HOSTILE} changed."]


class House:
    """The server, with browsers that come to it."""

    def __init__(self, history: History, store: Store, admin: Admin, live: Live, clock: Clock, data: Path) -> None:
        self.history = history
        self.store = store
        self.admin = admin
        self.live = live
        self.clock = clock
        self.data = data
        self.reachable = True
        self._apps: dict[str, Application] = {}

    async def call(self, line: bytes) -> bytes:
        if not self.reachable:
            raise Unavailable(Code.NO_SERVER, "The server that plays does not answer just now.")
        return await self.admin.answer(line)

    def app(self, **settings: Any) -> Application:
        """One for the same settings, so that its templates are read once."""
        if repr(settings) not in self._apps:
            self._apps[repr(settings)] = self._app(settings)
        return self._apps[repr(settings)]

    def _app(self, settings: dict[str, Any]) -> Application:
        options: dict[str, Any] = {
            "venues": {name: VenueSettings() for name in ("9x9", "13x13", "19x19")},
            "requests_per_minute": 10_000,
        } | settings
        there = WebSettings(**options)
        outside = Outside(networks(there.webhooks_to), literals)
        return create_app(self.history, there, self.clock, server=OneServer(self.call, self.data), outside=outside)

    def browser(self, base: str = BASE, address: str = "192.0.2.7", **settings: Any) -> Browser:
        return Browser(self.app(**settings), base, address)

    async def account(self, name: str, admin: bool = False) -> None:
        await self.admin.handle(AccountAdd(name=name, password=PASSWORD, admin=admin))

    async def signed_in(self, name: str, *, admin: bool = False, owns: str = "", **settings: Any) -> Browser:
        """A browser of a new account, which has claimed a bot."""
        await self.account(name, admin)
        browser = self.browser(**settings)
        await browser.sign_in(name)
        if owns:
            await self.admin.handle(BotPasswd(bot=owns, password="bots-own"))
            answer = await browser.send("/account", "bot claim", bot=owns, secret="bots-own")
            assert answer.status_code == 303, answer.text
        return browser

    async def grant(self, name: str) -> None:
        await self.admin.handle(AccountGrant(account=name, right="admin"))


class Browser:
    """Keeps cookies and sends forms as a browser does. Follows no redirects."""

    def __init__(self, app: Application, base: str = BASE, address: str = "192.0.2.7") -> None:
        transport = httpx2.ASGITransport(app, client=(address, 1), raise_app_exceptions=True)
        self.web = httpx2.AsyncClient(transport=transport, base_url=base)
        self.base = base

    async def get(self, path: str, **more: Any) -> httpx2.Response:
        return await self.web.get(path, **more)

    async def csrf(self, path: str) -> str:
        """The mark in the forms of a page."""
        page = (await self.get(path)).text
        return page.split('name="csrf" value="', 1)[1].split('"', 1)[0]

    async def post(self, path: str, fields: Any, **headers: str) -> httpx2.Response:
        all_headers = {"Origin": self.base, "Content-Type": "application/x-www-form-urlencoded"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return await self.web.post(path, content=urlencode(fields, doseq=True), headers=all_headers)

    async def send(self, path: str, deed: str, **fields: Any) -> httpx2.Response:
        """A form of the page, all confirmed."""
        filled = {"csrf": await self.csrf(path), "deed": deed, "form": f"{deed}:"} | fields
        return await self.post(path, filled)

    async def sign_in(self, name: str, password: str = PASSWORD, following: str = "") -> httpx2.Response:
        fields = {
            "csrf": await self.csrf("/sign-in"),
            "form": "sign in:",
            "name": name,
            "password": password,
        }
        return await self.post(f"/sign-in?{urlencode({'next': following})}", fields)

    async def notice(self, path: str) -> str:
        """What the next page tells of what was done."""
        page = (await self.get(path)).text
        return page.split('<p class="said" role="status">', 1)[1].split("</p>", 1)[0]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a past, to be copied."""
    path = tmp_path_factory.mktemp("people") / "cgos.sqlite"
    schema.prepare(path)
    asyncio.run(write(path, Builder().build()))
    return path


@pytest.fixture
async def house(past: Path, tmp_path: Path, clock: Callable[[], int]) -> AsyncIterator[House]:
    path = tmp_path / "cgos.sqlite"
    path.write_bytes(past.read_bytes())
    faults: list[Exception] = []
    store = await open_store(path, CommitListener(failed=faults.append, on_error=faults.append))
    live = Live()
    with Passwords(100, PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)) as passwords:
        ids = Ids(await store.history.server.next_ids())
        accounts = Accounts(store, ids, passwords, "open", clock, Failures(3, 60_000, clock))
        admin = Admin(accounts, live)
        async with History(path) as history:
            yield House(history, store, admin, live, clock, tmp_path)  # type: ignore[arg-type]
    await store.close()
    assert faults == []
