"""Of a running game nobody learns what is younger than the venue's delay: two servers, one of which does not have those
moves at all, answer everything alike."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from starlette.routing import Route
from support.web.past import NOW, RUNNING
from web.api.test_every_operation import ASKED, SETTINGS

from cgos_protocol.api.route import PREFIX
from cgos_protocol.facts import GameStarted, MovePlayed
from cgos_server.presentation.settings import VenueSettings, WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.web.application import Application, addresses, create_app
from cgos_server.web.live.framing import Form
from cgos_server.web.live.streams import Streams

DELAY_S = 150
BEGAN_MS = NOW - 180_000
SHOWN = 15
"""Moves of the game that are old enough; as many again are not."""

LATE = WebSettings(venues=SETTINGS.venues | {"9x9": VenueSettings(port=6809, delay_s=float(DELAY_S))}, refresh_s=10)

PAGES = {
    "/": ["/"],
    "/venue/{name}": ["/venue/9x9", "/venue/9x9?q=go"],
    "/venue/{name}/games": ["/venue/9x9/games"],
    "/venue/{name}/rules": ["/venue/9x9/rules"],
    "/venue/{name}/crosstable": ["/venue/9x9/crosstable"],
    "/venue/{name}/pair": ["/venue/9x9/pair?a=Sakura-5k&b=gnugo-3.8-L1"],
    "/venue/{name}/odds": ["/venue/9x9/odds"],
    "/venue/{name}/rounds": ["/venue/9x9/rounds"],
    "/round/{id:int}": [f"/round/{RUNNING}"],
    "/game/{id:int}/pairing": [f"/game/{RUNNING}/pairing"],
    "/games": [
        "/games",
        "/games?bot=Sakura-5k",
        "/games?running=yes",
        "/games?after=60",
        "/games?min_moves=1",
        "/games?max_moves=40",
    ],
    "/bot/{name}": ["/bot/Sakura-5k", "/bot/gnugo-3.8-L1?opponents=all"],
    "/game/{id:int}.sgf": [f"/game/{RUNNING}.sgf"],
    "/game/{id:int}": [f"/game/{RUNNING}{query}" for query in ("", "?ply=3", "?ply=15", "?ply=16", "?ply=31")],
    "/game/{id:int}/said": [f"/game/{RUNNING}/said{query}" for query in ("", "?from=1", "?from=16", "?ply=16")],
    "/wall": ["/wall", "/wall?venue=9x9"],
    "/connect": ["/connect"],
    "/docs/api": ["/docs/api"],
    "/robots.txt": ["/robots.txt"],
    "/sitemap.xml": ["/sitemap.xml"],
    "/favicon.ico": ["/favicon.ico"],
    "/badge/{venue}/{version}.svg": ["/badge/9x9/Sakura-5k.svg"],
    "/embed/game/{id:int}": [f"/embed/game/{RUNNING}"],
    "/og/game/{id:int}.png": [f"/og/game/{RUNNING}.png"],
    "/og/bot/{name}.png": ["/og/bot/Sakura-5k.png"],
    "/og/venue/{venue}.png": ["/og/venue/9x9.png"],
    "/bot/{name}/feed.atom": ["/bot/Sakura-5k/feed.atom"],
    "/venue/{name}/feed.atom": ["/venue/9x9/feed.atom"],
    "/events": ["/events"],
    "/events.atom": ["/events.atom"],
    "/events/{event}": ["/events/Autumn"],
    **{f"/events/{{event}}/{part}": [f"/events/Autumn/{part}"] for part in ("standings", "crosstable", "rounds")},
    **{f"/events/{{event}}/{part}": [f"/events/Autumn/{part}"] for part in ("entrants", "log", "feed.atom")},
    "/events/{event}/games": ["/events/Autumn/games?n=1"],
    "/events/{event}/rounds/{round}": ["/events/Autumn/rounds/1"],
    "/questions": ["/questions"],
    "/questions.atom": ["/questions.atom"],
    "/questions/{question:int}": ["/questions/1"],
    "/questions/{question:int}/badge.svg": ["/questions/1/badge.svg"],
}
"""Every page for everybody that there is -> where it is asked."""

PRIVATE = ("/sign-in", "/register", "/account", "/admin")
"""For people who have signed in; of running games they show what their own bots said and heard, and operators all."""

API = [
    # A forecast is computed for so long, and says how often it was.
    *(path for name, path in ASKED.items() if not name.endswith(("live", "forecast"))),
    "/games",
    "/games?running=true",
    "/games?bot=Sakura-5k",
    "/games?min_moves=1",
    f"/games/{RUNNING}",
    f"/games/{RUNNING}.sgf",
    f"/games/{RUNNING}/moves",
    f"/games/{RUNNING}/moves?after=15",
    f"/games/{RUNNING}/pairing",
    "/bots/Sakura-5k",
    "/versions/Sakura-5k",
    "/versions/Sakura-5k/opponents?venue=9x9",
    "/versions/Sakura-5k/history?venue=9x9",
    "/venues/9x9/pairs/Sakura-5k/gnugo-3.8-L1",
    "/export/games.ndjson",
    "/export/games.csv",
    "/export/games.tar",
]


@pytest.fixture(scope="module")
def knowing(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose running game has moves that are old enough and moves that are not, with what bots said."""
    path = tmp_path_factory.mktemp("knowing") / "cgos.sqlite"
    shutil.copyfile(database, path)
    with sqlite3.connect(path) as connection:
        analyses = [
            (RUNNING, ply, f'{{"winrate": 0.{ply}, "comment": "of move {ply}"}}') for ply in (10, 11, 20, 21, 31)
        ]
        connection.executemany("INSERT INTO analysis (game_id, ply, text) VALUES (?, ?, ?)", analyses)
    connection.close()
    return path


@pytest.fixture(scope="module")
def ignorant(knowing: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without the moves that are too young."""
    path = tmp_path_factory.mktemp("ignorant") / "cgos.sqlite"
    shutil.copyfile(knowing, path)
    with sqlite3.connect(path) as connection:
        for table in ("analysis", "moves"):
            connection.execute(f"DELETE FROM {table} WHERE game_id = ? AND ply > ?", (RUNNING, SHOWN))
        assert connection.execute("SELECT changes()").fetchone()[0] > SHOWN
    connection.close()
    return path


@asynccontextmanager
async def served(path: Path) -> AsyncIterator[tuple[Application, httpx2.AsyncClient]]:
    async with History(path) as history:
        app = create_app(history, LATE, lambda: NOW)
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://go.example.org") as web:
            yield app, web


def test_every_address_is_asked(history: History) -> None:
    site = create_app(history, LATE)._site
    there = {route.path for route in addresses(site) if isinstance(route, Route) and "GET" in (route.methods or ())}
    there = {path for path in there if not path.startswith(PRIVATE)}
    assert there == set(PAGES)


async def test_answers_are_those_of_a_server_that_does_not_know(knowing: Path, ignorant: Path) -> None:
    async with served(knowing) as (_, first), served(ignorant) as (_, other):
        for path in [*(path for section in PAGES.values() for path in section), *(PREFIX + path for path in API)]:
            actual, right = await first.get(path), await other.get(path)
            assert actual.status_code == right.status_code, path
            assert right.status_code in (200, 307), path
            assert actual.content == right.content, path


async def streamed(app: Application, form: Form) -> list[bytes]:
    """What the live streams say at first, and after the next moves were heard of."""
    site = app._site
    streams = Streams(site.hub)
    pieces = []
    for moves in (False, True):
        sources = [streams.venue_chunks("9x9", moves, place, form) for place in (None, 0)]
        sources += [streams.game_chunks(RUNNING, since, form) for since in (0, SHOWN, SHOWN + 1, 40)]
        for source in sources:
            async with aclosing(source) as chunks:
                pieces.append(await anext(chunks))
                for ply in range(SHOWN + 1, 32):
                    app.heard(MovePlayed(venue="9x9", game=RUNNING, ply=ply, move="A9", left_ms=ply))
                await site.hub.look()
                pieces.append(await anext(chunks, b""))
                pieces.append(await anext(chunks, b""))
    return [re.sub(rb"[0-9a-f]{8}-\d+", b"", chunk) for chunk in pieces]


@pytest.mark.parametrize("form", list(Form))
async def test_streams_are_those_of_a_server_that_does_not_know(
    knowing: Path, ignorant: Path, form: Form, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cgos_server.web.live.streams.HEARTBEAT_S", 0.001)
    async with served(knowing) as (first, _), served(ignorant) as (other, _):
        actual, right = await streamed(first, form), await streamed(other, form)
    assert actual == right
    assert any(b'"ply":15' in chunk for chunk in actual)


async def test_when_a_move_is_old_enough_it_is_shown(knowing: Path) -> None:
    async with History(knowing) as history:
        app = create_app(history, LATE, lambda: NOW + 4000)
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://x") as web:
            moves = (await web.get(f"{PREFIX}/games/{RUNNING}/moves")).json()["items"]
            rows = (await web.get(f"{PREFIX}/games?running=true&venue=9x9")).json()["items"]
    assert [len(moves), *(row["moves"] for row in rows)] == [SHOWN + 2] * 2


async def test_a_game_that_begins_tells_no_young_move(knowing: Path, ignorant: Path) -> None:
    news_texts = []
    for path in (knowing, ignorant):
        async with served(path) as (app, _):
            hub = app._site.hub
            hub.followers += 1
            await hub.look()
            place = hub.news.head
            app.heard(
                GameStarted(venue="9x9", game=RUNNING, black="Sakura-5k", white="gnugo-3.8-L1", at=BEGAN_MS / 1000)
            )
            await hub.look()
            news_texts.append(repr(hub.news.since(place, "9x9", True, Form.NDJSON)))
    assert news_texts[0] == news_texts[1]
    assert '"event":"started"' in news_texts[0]
