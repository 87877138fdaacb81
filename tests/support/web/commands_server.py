"""The API on a real database with the service that does its deeds, and a live server that notes what is asked of it."""

from __future__ import annotations

import functools
import shutil
import tempfile
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from argon2 import PasswordHasher

from cgos_protocol.api.people import EndedGame, Previewed, PreviewedPair, Upgraded
from cgos_protocol.games.base import Color
from cgos_protocol.terms import encode_terms
from cgos_server.core.rating.registry import rating_system
from cgos_server.presentation.settings import VenueSettings, WebSettings
from cgos_server.service.admin import Admin
from cgos_server.service.control import ArrangedGame, ServerStatus
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.passwords import Passwords
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage import schema
from cgos_server.storage.opening import open_store
from cgos_server.storage.reading.history import History
from cgos_server.storage.store import Store
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import (
    BotAdded,
    GameAdded,
    GameEnded,
    Record,
    RoundAdded,
    VenueAdded,
    VersionAdded,
)
from cgos_server.web.application import create_app
from cgos_server.web.people.outside import Outside
from cgos_server.web.server import OneServer
from support.service import acting
from support.web.names import literals
from support.web.past import NOW, terms

FIXED = '{"game":"go","size":9}'
PREVIEW = Previewed(
    venue="9x9",
    policy="rolling",
    method="optimal",
    options={"x": 1},
    ready=["Newbot"],
    pairs=[PreviewedPair(high="A", low="B", reason="close", detail={"gap": 3})],
    sits_out={"C": "it waits"},
    notes=["a note"],
    total=7,
)


class Live(acting.Live):
    """A live server that does nothing but note it."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = VenueRatings(1, rating_system("cgos-elo", 1800.0, {}))

    def status(self) -> ServerStatus:
        return ServerStatus(
            pid=1,
            version="0",
            up_s=1.0,
            ready=True,
            draining=False,
            venues=[],
            games=[],
            bots=[],
            moves=5,
            ended={"score": 2},
            warnings=0,
            errors=0,
            web="",
            health="",
        )

    def ratings(self, venue: str) -> VenueRatings | None:
        return self.pool if venue == "9x9" else None

    def ratings_changed(self, venue: str) -> None:
        pass

    def drain(self) -> None:
        self.calls.append(("drain",))

    def match(self, venue: str, *, white: str, black: str, **more: Any) -> ArrangedGame:
        self.calls.append(("match", venue, white, black))
        return ArrangedGame(
            game=17, venue=venue, white=white, white_label="1800", black=black, black_label="1750?", rated=True, plies=0
        )

    def end_game(self, game: int, winner: Color | None, detail: str) -> EndedGame:
        self.calls.append(("end", game, winner, detail))
        return EndedGame(
            game=game, venue="9x9", white="White", black="Black", result="Abort" if winner is None else "B+Forfeit"
        )

    def pause(self, venue: str, paused: bool) -> None:
        self.calls.append(("pause", venue, paused))

    def kick(self, name: str, sentence: str) -> int:
        self.calls.append(("kick", name, sentence))
        return 1

    def recall(self, venue: str | None, versions: Collection[int]) -> dict[str, list[int]]:
        self.calls.append(("recall", venue))
        return {"9x9": list(versions)}

    async def preview(self, venue: str, method: str | None, options: Mapping[str, Any]) -> Previewed:
        self.calls.append(("preview", venue, method, dict(options)))
        return PREVIEW

    async def check_upgrade(self, program: str | None) -> Upgraded:
        self.calls.append(("check upgrade", program))
        return Upgraded(before="0.1.0", after="0.2.0", notes=[])

    def upgrade(self) -> None:
        self.calls.append(("upgrade",))

    async def reload(self) -> list[str]:
        return ["9x9 is paired by another method."]


class DeedsServer:
    """The API, its store and its live server.

    :ivar clock_ms: Unix milliseconds; a test may move it
    """

    def __init__(self, store: Store, history: History, data: Path, passwords: Passwords, ids: Ids) -> None:
        self.store, self.history, self.data, self.live = store, history, data, Live()
        self.clock_ms = NOW
        self.live.events.now_ms = self.now_ms
        accounts = Accounts(store, ids, passwords, "open", self.now_ms)
        self.admin = Admin(accounts, self.live)  # type: ignore[arg-type]
        settings = WebSettings(server_name="Test", venues={"9x9": VenueSettings(port=6809)})
        outside = Outside((), literals)
        app = create_app(history, settings, self.now_ms, server=OneServer(self.admin.answer, data), outside=outside)
        self.site = app._site
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        self.client = httpx2.AsyncClient(transport=transport, base_url="https://go.example.org")

    def now_ms(self) -> int:
        return self.clock_ms

    async def ask(
        self, method: str, path: str, body: Any = None, token: str = "", status: int | None = None
    ) -> httpx2.Response:
        """Ask the API; with `status` the answer must have it."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = await self.client.request(method, f"/api/v1{path}", json=body, headers=headers)
        if status is not None:
            assert answer.status_code == status, answer.text
        return answer

    async def played(self, game: int, black: int, white: int) -> None:
        """Two versions, by their ids, have played; Black won."""
        pool = self.live.pool
        records: list[Record] = [
            RoundAdded(game, 1, game, NOW, "rolling", "birk", "{}", "1", '{"candidates":[]}', "{}", "[]"),
            GameAdded(game, 1, game, black, white, "1800?", "1800?", encode_terms(terms(1)), "", NOW),
            GameEnded(NOW, 0, "resignation", None, "", "B+Resign", 2, 2, game),
        ]
        for version in (black, white):
            if not pool.knows(version):
                records += pool.enter(version, 1800.0, NOW).records
        records += pool.game(game, black, white, 2, NOW).records
        await self.store.commit(records)

    async def waiting(self, number: int, name: str) -> None:
        """A bot that registered itself and waits."""
        await self.store.commit(
            [
                BotAdded(number, name, name.lower(), "no hash", "pending", NOW),
                VersionAdded(number, number, name, name.lower(), "", "", "", "", NOW),
            ]
        )

    async def sign_in(self, name: str, password: str = "long-secret") -> str:
        """A session's text."""
        answer = await self.ask("POST", "/sign-in", {"name": name, "password": password}, status=200)
        return str(answer.json()["session"])


@functools.cache
def _new_database() -> tempfile.TemporaryDirectory[str]:
    """Where a database is to be copied from: making one takes most of a second. Gone at the end of the process."""
    folder = tempfile.TemporaryDirectory()
    schema.prepare(Path(folder.name) / "cgos.sqlite")
    return folder


@asynccontextmanager
async def deeds_server(folder: Path) -> AsyncIterator[DeedsServer]:
    """One on a new database in `folder`."""

    def failed(error: Exception) -> None:
        raise error

    path = folder / "cgos.sqlite"
    shutil.copy(Path(_new_database().name) / path.name, path)
    store = await open_store(path, CommitListener(failed=failed, on_error=failed))
    await store.commit([VenueAdded(1, "9x9", FIXED, NOW)])
    with Passwords(100, hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)) as passwords:
        async with History(path) as history:
            server = DeedsServer(store, history, folder, passwords, Ids(await store.history.server.next_ids()))
            async with server.client:
                yield server
    await store.close()
