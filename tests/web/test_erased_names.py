"""What a web process keeps of former reads names nobody any more who was erased meanwhile."""

from __future__ import annotations

import asyncio
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from support.storage.rated_past import VENUE, alter
from support.web.past import BOTS, EVENT, NOW

from cgos_protocol.facts import NamesErased
from cgos_server.live.processes.web_process import WebProcess
from cgos_server.presentation.events.reading import ReadEvents
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.presentation.strengths import StrengthsOf
from cgos_server.service.admin import Admin
from cgos_server.service.fact_notices import notices
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.passwords import Passwords
from cgos_server.service.personal.commands import BotErase
from cgos_server.storage.copying import copy
from cgos_server.storage.location import Location, PostgresUrl
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.opening import open_store
from cgos_server.storage.postgres.listening import Teller
from cgos_server.storage.reading.history import History
from cgos_server.storage.sharing import FACTS, TOLD_MOST
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.web.application import create_app
from cgos_server.web.command_line import Cluster, command, environment
from cgos_server.web.live.hub import Hub

SETTINGS = WebSettings(venues={"9x9": VenueSettings(port=6809, rated=Rated(("cgos-elo",)))})
API = "/api/v1"
PLACES = (
    f"/events/{EVENT}",
    f"{API}/events",
    f"{API}/events/{EVENT}/forecast",
    f"{API}/rounds/71",
    "/questions/1",
    f"{API}/questions/1",
    f"{API}/venues/9x9/standings?recomputed=true&show=all",
)


@pytest.fixture
def passwords() -> Passwords:
    return Passwords(1)


async def erase(location: Location, name: str, passwords: Passwords) -> None:
    """As `bot erase` does it while no server plays."""

    def failed(error: Exception) -> None:
        raise error

    with passwords, DatabaseLock(location, "a test") as lock:
        store = await open_store(location, CommitListener(failed=failed, on_error=failed), lock=lock)
        ids = Ids(await store.history.server.next_ids())
        accounts = Accounts(store, ids, passwords, "open", lambda: NOW)
        await Admin(accounts).handle(BotErase(bot=name, reason="its author's wish"))
        await store.close()


async def naming(web: httpx2.AsyncClient, name: str) -> list[str]:
    """Where the name stands."""
    there = []
    for place in PLACES:
        answer = await web.get(place)
        assert answer.status_code == 200, (place, answer.text)
        there += [place] if name in answer.text else []
    return there


async def test_a_fact_of_it_reaches_all_that_is_kept(database: Path, tmp_path: Path, passwords: Passwords) -> None:
    path = Path(shutil.copyfile(database, tmp_path / "cgos.sqlite"))
    async with History(path) as history:
        hub = Hub(history, SETTINGS, lambda: NOW)
        app = create_app(history, SETTINGS, lambda: NOW, hub=hub)
        await hub.look()
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://x") as web:
            assert set(await naming(web, BOTS[0])) == set(PLACES)
            await erase(path, BOTS[0], passwords)
            app.heard(NamesErased())
            await hub.look()
            assert await naming(web, BOTS[0]) == []
            assert await naming(web, "deleted-2")


async def test_a_read_that_began_before_is_not_kept(database: Path, tmp_path: Path, passwords: Passwords) -> None:
    path = Path(shutil.copyfile(database, tmp_path / "cgos.sqlite"))
    async with History(path) as history:
        events = ReadEvents(history)
        ask = history.events.bots

        async def erased_meanwhile(event: int) -> object:
            answer = await ask(event)  # type: ignore[arg-type]
            await erase(path, BOTS[0], passwords)
            history.forget_names()
            return answer

        history.events.bots = erased_meanwhile  # type: ignore[method-assign,assignment]
        await events.named(EVENT)
        history.events.bots = ask  # type: ignore[method-assign]
        seats = (await events.named(EVENT)).state.seats.values()
        assert BOTS[0] not in [seat.name for seat in seats]


async def test_strengths_are_loaded_again(rated_past: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    settings = WebSettings(venues={VENUE: VenueSettings(port=6809, rated=Rated(("bayes", "cgos-elo")))})
    async with History(data / "cgos.sqlite") as history:
        strengths = StrengthsOf(history, settings)
        known = await strengths.venue(VENUE)
        assert known is not None
        assert "Fox" in known.ids
        alter(data, "UPDATE versions SET wire_name = 'deleted-12' WHERE wire_name = 'Fox'")
        history.forget_names()
        known = await strengths.venue(VENUE)
        assert known is not None
        assert "Fox" not in known.ids


@asynccontextmanager
async def pages_of_cluster(data: Path, url: PostgresUrl) -> AsyncIterator[httpx2.AsyncClient]:
    """The web process of a cluster, without a node beside it."""
    cluster = Cluster(name="cgos-server web, w", node="", key="", ttl_s=2.5)
    line = command(data, SETTINGS, log_format="json", log_level="warning", cluster=cluster)
    assert line[0] == sys.executable
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        web = WebProcess(line, {"--listen-fd": sock}, environment(url), restarted=lambda: None)
        address = f"http://127.0.0.1:{sock.getsockname()[1]}"
        async with asyncio.TaskGroup() as group, httpx2.AsyncClient(base_url=address, timeout=30) as client:
            group.create_task(web.run())
            yield client
            web.stop()


async def test_web_nodes_of_a_cluster_are_told(
    database: Path, tmp_path: Path, new_url: Callable[..., PostgresUrl], passwords: Passwords
) -> None:
    url = new_url(empty=True)
    await asyncio.to_thread(copy, database, url, lambda *_: None)
    page = f"/events/{EVENT}"
    async with asyncio.timeout(60), pages_of_cluster(tmp_path, url) as web:
        assert BOTS[0] in (await web.get(page)).text
        await erase(url, BOTS[0], passwords)
        teller = Teller(url, "a node", FACTS)  # as FactNotices tells it
        await teller.tell(notices([NamesErased()], TOLD_MOST))
        teller.close()
        while BOTS[0] in (answer := await web.get(page)).text:  # noqa: ASYNC110 - another process goes on
            await asyncio.sleep(0.1)
        assert answer.status_code == 200
