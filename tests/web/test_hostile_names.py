"""Whatever stands in the database stands on the pages as text: names, reasons, analysis, results, openings."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from support.storage.rated_past import VENUE, alter
from web.test_pages import Page, assert_harmless, client

from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.storage.reading.history import History

EVIL = "\"><script>alert(1)</script>'{{7*7}}&amp;"
CODED = quote(EVIL, safe="")
SETTINGS = WebSettings(server_name=EVIL, venues={VENUE: VenueSettings(port=6809, rated=Rated(("bayes", "cgos-elo")))})


@pytest.fixture
async def web(rated_past: Path, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    alter(data, "UPDATE versions SET wire_name = ?, engine = ?, author = ?, label = ? WHERE id = 6", *[EVIL] * 4)
    alter(data, 'UPDATE versions SET parameters = \'{"<img src=x>": "<b>"}\' WHERE id = 6')
    alter(data, "UPDATE bots SET name = ?, reason = ?, state = 'disabled' WHERE id = 6", EVIL, EVIL)
    alter(data, "UPDATE games SET detail = ?, opening = ?, result = ?", EVIL, EVIL, EVIL)
    alter(data, "INSERT INTO pairings SELECT id, round_id, black_id, white_id, ?, ?, '{}' FROM games", EVIL, EVIL)
    alter(data, "INSERT INTO suspensions VALUES (1, 6, 5, 1, ?, 1700000000000)", EVIL)
    async with History(data / "cgos.sqlite") as history, client(history, SETTINGS) as opened:
        yield opened


@pytest.mark.parametrize(
    "path",
    [
        "/", f"/venue/{VENUE}", f"/venue/{VENUE}?q={CODED}", f"/venue/{VENUE}?on=2023-11-14&q={CODED}",
        f"/venue/{VENUE}/crosstable", f"/venue/{VENUE}/odds", f"/venue/{VENUE}/pair?a={CODED}&b=Ant",
        f"/venue/{VENUE}/rounds", "/round/1", "/game/1/pairing", "/games", f"/games?bot={CODED}",
        f"/games?venue={CODED}&reason={CODED}&result={CODED}&since={CODED}", f"/games?bot={CODED}&opponent=x",
        f"/bot/{CODED}", "/bot/Ant", f"/bot/{CODED}?over=games", f"/connect?venue={CODED}", "/game/1",
        f"/venue/{CODED}", f"/venue/{VENUE}?system={CODED}", f"/venue/{VENUE}/crosstable?bots={CODED}",
    ],
)  # fmt: skip
async def test_hostile_text_does_no_harm(web: httpx2.AsyncClient, path: str) -> None:
    response = await web.get(path)
    assert response.status_code in (200, 400, 404)
    page = Page(response.text)  # tags close in order: nothing broke out
    assert_harmless(page)
    assert "<script>alert" not in response.text
    assert "49" not in page.text.split("alert(1)", 1)[-1][:20]
    assert not [tag for tag, attributes in page.tags if tag == "img" and attributes.get("src") == "x"]


async def test_it_can_be_read_and_followed_all_the_same(web: httpx2.AsyncClient) -> None:
    page = Page((await web.get(f"/venue/{VENUE}")).text)
    links = [link for link in page.links() if link.startswith("/bot/%22")]
    assert links
    assert EVIL in Page((await web.get(links[0])).text).text
