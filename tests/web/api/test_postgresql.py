"""The same past in SQLite and, copied, in PostgreSQL: every route that anybody may read, every page, says the same."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from support.storage.rated_past import T0, VENUE
from support.storage.storage_sample import execute, query
from support.web.past import NOW
from web.api.test_every_operation import ASKED, ENDLESS, SETTINGS

from cgos_protocol.api.route import PREFIX
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.storage import DATABASE, copying
from cgos_server.storage.location import Location, PostgresUrl
from cgos_server.storage.reading.history import History
from cgos_server.web.application import create_app
from cgos_server.web.command_line import DATABASE_VARIABLE

RATED = WebSettings(venues={VENUE: VenueSettings(rated=Rated(("bayes", "cgos-elo")))}, requests_per_minute=100_000)
OF_THE_RATED = (
    f"/api/v1/venues/{VENUE}/standings?system=bayes&as_of=30",
    f"/api/v1/venues/{VENUE}/standings?system=cgos-elo&recomputed=true",
    f"/api/v1/venues/{VENUE}/standings?at={T0 + 20 * 60_000}",
    f"/api/v1/venues/{VENUE}/pairs/Fox/Bee",
    f"/api/v1/venues/{VENUE}/crosstable",
    f"/api/v1/venues/{VENUE}/metrics",
    "/api/v1/versions/Fox/history?limit=7&after=9.0",
    "/api/v1/versions/Fox/history?points=8",
    "/api/v1/versions/Fox/opponents",
    "/api/v1/bots?limit=2&after=bee",
    "/api/v1/games?bot=Fox&opponent=Bee&result=B&running=false",
    "/api/v1/games?result=none",
    "/api/v1/games/3",
    f"/api/v1/export/venues/{VENUE}/refits.ndjson",
    f"/api/v1/export/venues/{VENUE}/ratings.csv?after=20",
    f"/venue/{VENUE}/pair?a=Fox&b=Bee",
    f"/venue/{VENUE}/odds",
)
FIRST_PAGES = ("/", "/games", "/wall", "/connect", "/docs/api", "/venue/9x9/crosstable", "/venue/9x9/rules")
_LINK = re.compile(r'href="(/(?!static/|api/|og/|sign|account|admin)[^"#]*)"')
MOST_PAGES = 30
BY_TIME = {"event_forecast"}
"""Answers that a slow machine computes less exactly, since nobody waits for ever."""


async def crawled(location: Location, settings: WebSettings, now: int, paths: list[str], follow: int) -> dict[str, str]:
    """Path -> answer, of these and of pages to which they lead."""
    pages: dict[str, str] = {}
    async with History(location) as history:
        transport = httpx2.ASGITransport(create_app(history, settings, lambda: now), raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://x", timeout=60) as web:
            for path in paths:
                if path in pages:
                    continue
                answer = await web.get(path)
                assert answer.status_code == 200, (path, answer.text[:300])
                pages[path] = answer.content.hex() if path.endswith((".tar", ".png")) else answer.text
                if answer.headers["content-type"].startswith("text/html"):
                    links = (link.replace("&amp;", "&") for link in _LINK.findall(answer.text))
                    paths += [link for link in links if link not in paths][: max(0, follow - len(paths))]
    return pages


@pytest.mark.parametrize("which", ["made up", "rated"])
def test_both_say_the_same(
    which: str, database: Path, rated_past: Path, new_url: Callable[..., PostgresUrl], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    source = tmp_path / DATABASE
    shutil.copy(database if which == "made up" else rated_past / DATABASE, source)
    target = new_url(empty=True)
    copying.copy(source, target, lambda *_: None)
    ((word,),) = query(source, "SELECT incarnation FROM server")
    execute(target, f"UPDATE server SET incarnation = '{word}', numbers_above = 0")
    monkeypatch.delenv(DATABASE_VARIABLE, raising=False)
    if which == "made up":
        settings, now = SETTINGS, NOW
        paths = [PREFIX + path for name, path in ASKED.items() if name not in {*ENDLESS, *BY_TIME}] + list(FIRST_PAGES)
    else:
        settings, now, paths = RATED, T0 + 86_400_000, [*OF_THE_RATED, f"/venue/{VENUE}", "/bot/Fox", "/game/3"]
    follow = len(paths) + MOST_PAGES
    first = asyncio.run(crawled(source, settings, now, list(paths), follow))
    other = asyncio.run(crawled(target, settings, now, list(paths), follow))
    assert len(first) > len(paths)
    assert list(first) == list(other)
    for path, text in first.items():
        assert other[path] == text, path
    assert DATABASE_VARIABLE not in os.environ
