"""Standings: sorted, searched, filtered, as of the past, and in portions."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urljoin

import httpx2
import pytest
from support.rated_past import NAMES, T0, VENUE, alter
from web.test_pages import Page, client, get

from cgos_server.storage.history import History
from cgos_server.web.pages import venue as module
from cgos_server.web.settings import Rated, VenueSettings, WebSettings

SETTINGS = WebSettings(venues={VENUE: VenueSettings(6809, Rated(("bayes", "cgos-elo")))})
STANDINGS = f"/venue/{VENUE}"


@pytest.fixture
async def web(rated: History) -> AsyncIterator[httpx2.AsyncClient]:
    async with client(rated, SETTINGS) as opened:
        yield opened


def shown(page: Page) -> list[str]:
    """The names in the table, from the top."""
    return [attributes["data-name"] or "" for tag, attributes in page.tags if tag == "tr" and "data-name" in attributes]


@pytest.mark.parametrize("column", list(module.COLUMNS))
@pytest.mark.parametrize("down", [False, True])
async def test_every_column_sorts_both_ways(web: httpx2.AsyncClient, rated: History, column: str, down: bool) -> None:
    rows = {row.version: row for row in await rated.standings(VENUE, "bayes")}
    ranks = {name: rank for rank, name in enumerate(rows, 1)}
    page = await get(web, f"{STANDINGS}?sort={'-' if down else ''}{column}")
    key = module.COLUMNS[column][0]
    values = [key(module.Row(ranks[name], rows[name], False)) for name in shown(page)]
    assert len(values) == len(NAMES)
    assert values == sorted(values, reverse=down)
    heads = [attributes for tag, attributes in page.tags if tag == "th" and attributes.get("aria-sort")]
    assert [head["aria-sort"] for head in heads] == ["descending" if down else "ascending"]


async def test_the_link_of_a_head_turns_its_order(web: httpx2.AsyncClient) -> None:
    page = await get(web, f"{STANDINGS}?sort=games")
    assert f"{STANDINGS}?sort=-games" in list(page.links())
    assert f"{STANDINGS}?sort=-rating" in list(page.links())


async def test_a_search_finds_parts_of_names_whatever_the_case(web: httpx2.AsyncClient) -> None:
    page = await get(web, f"{STANDINGS}?q=E")
    assert set(shown(page)) == {name for name in NAMES if "e" in name.lower()}
    assert f"{len(shown(page))} of {len(NAMES)} bots." in page.text
    nobody = await get(web, f"{STANDINGS}?q=%3Cscript%3E")
    assert shown(nobody) == []
    assert "No bot is like this." in nobody.text
    assert nobody.attribute("input", "value", name="q") == "<script>"


async def test_places_stay_those_among_all(web: httpx2.AsyncClient) -> None:
    everybody = shown(await get(web, STANDINGS))
    page = await get(web, f"{STANDINGS}?q=ant")
    (row,) = (row for row in page.rows if row[1:2] == ["Ant"] and "±" in row[2])
    assert int(row[0]) == everybody.index("Ant") + 1


async def test_filters_leave_out_the_provisional_and_the_retired(
    rated_past: Path, tmp_path: Path, rated: History
) -> None:
    provisional = {row.version for row in await rated.standings(VENUE, "bayes") if row.provisional}
    assert provisional
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    now = T0 + 40 * 86_400_000
    alter(data, "UPDATE games SET ended_at = ?, started_at = ? WHERE black_id = 2 OR white_id = 2", now, now)
    async with History(data / "cgos.sqlite") as history:
        seen = {row.version for row in await history.standings(VENUE, "bayes") if (row.last_game_at or 0) == now}
        async with client(history, SETTINGS, now) as web:
            settled = await get(web, f"{STANDINGS}?settled=1")
            active = await get(web, f"{STANDINGS}?active=1")
    assert set(shown(settled)) == set(NAMES) - provisional
    assert set(shown(active)) == seen
    assert 0 < len(seen) <= len(NAMES)


async def test_a_newcomer_that_has_not_played_is_not_retired(rated_past: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    alter(data, "INSERT INTO versions SELECT 99, bot_id, 'New', 'new', 'new', '', '', '', 0 FROM versions WHERE id = 2")
    alter(
        data,
        "INSERT INTO ratings SELECT venue_id, system, 99, mean, spread, 0, 1, 0, seq FROM ratings WHERE version_id = 2",
    )
    async with History(data / "cgos.sqlite") as history, client(history, SETTINGS, T0) as web:
        assert "New" in shown(await get(web, f"{STANDINGS}?active=1"))


async def test_as_of_a_day_is_as_of_its_last_entry(web: httpx2.AsyncClient, rated: History) -> None:
    page = await get(web, f"{STANDINGS}?on=2023-11-14")
    entry = await rated.entry_at(VENUE, T0 + 106 * 60_000 + 40_000 - 1)  # midnight
    assert f"after result {entry}, at the end of 2023-11-14." in page.text
    assert shown(page) == [row.version for row in await rated.standings(VENUE, "bayes", entry)]
    before = await get(web, f"{STANDINGS}?on=2020-01-01")
    assert "Nobody was rated after result 0." in before.text


async def test_an_empty_form_asks_for_everything(web: httpx2.AsyncClient) -> None:
    page = await get(web, f"{STANDINGS}?q=&system=bayes&as_of=&on=")
    assert shown(page) == shown(await get(web, STANDINGS))


async def test_portions_show_every_version_once(web: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    everybody = shown(await get(web, STANDINGS))
    assert (await get(web, STANDINGS)).attribute("table", "data-search") == "search"
    monkeypatch.setattr(module, "ROWS", 4)
    found: list[str] = []
    path: str | None = f"{STANDINGS}?sort=name"
    while path is not None:
        page = await get(web, path)
        found += shown(page)
        assert page.attribute("table", "data-search") is None  # a part must not pretend to be the whole
        following = page.attribute("a", "href", rel="next")
        path = urljoin(path, following) if following else None
    assert found == sorted(everybody, key=str.lower)


async def test_games_of_a_venue_are_games_with_a_filter(web: httpx2.AsyncClient) -> None:
    response = await web.get(f"{STANDINGS}/games")
    assert (response.status_code, response.headers["location"]) == (307, f"/games?venue={VENUE}")
