"""Standings: sorted, searched, filtered, as of the past, and in portions."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urljoin

import httpx2
import pytest
from click.testing import CliRunner
from support.storage.rated_past import NAMES, T0, VENUE, alter
from web.test_pages import Page, client, get

from cgos_server.cli.main import main
from cgos_server.presentation import ranks
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.web.pages import venue as module

SETTINGS = WebSettings(venues={VENUE: VenueSettings(port=6809, rated=Rated(("bayes", "cgos-elo")))})
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
    rows = {row.version: row for row in await rated.ratings.standings(VENUE, "bayes")}
    page = await get(web, f"{STANDINGS}?sort={'-' if down else ''}{column}")
    key = module.COLUMNS[column][0]
    values = [key(rows[name]) for name in shown(page)]
    assert len(values) == len(NAMES)
    assert values == sorted(values, reverse=down)
    heads = [attributes for tag, attributes in page.tags if tag == "th" and attributes.get("aria-sort")]
    assert [head["aria-sort"] for head in heads] == ["descending" if down else "ascending"]


async def test_ranks_say_how_sure_they_are(web: httpx2.AsyncClient, rated: History) -> None:
    rows = {row.version: row for row in await rated.ratings.standings(VENUE, "bayes")}
    page = await get(web, STANDINGS)
    columns = len(next(row for row in page.rows if row[:3] == ["#", "95 % two-sided", "Bot"]))
    cells = {row[2]: row[1] for row in page.rows if len(row) == columns and row[2] in rows}
    assert cells == {name: ranks.interval(row) for name, row in rows.items()}
    said = await rated.ranks.summary(VENUE, "bayes")
    assert said is not None
    for sentence in ranks.sentences(said):
        assert sentence in page.text
    apart = ranks.alike(said, list(rows))
    ruled = {attributes["data-name"] for tag, attributes in page.tags if tag == "tr" and attributes.get("class")}
    assert ruled == {name for name, alike in apart.items() if alike.apart}
    elsewhere = await get(web, f"{STANDINGS}?system=cgos-elo")
    assert "neighbors" not in elsewhere.text


async def test_a_rule_stands_only_where_everybody_stands_by_place(web: httpx2.AsyncClient) -> None:
    page = await get(web, f"{STANDINGS}?sort=games")
    assert not [attributes for tag, attributes in page.tags if tag == "tr" and attributes.get("class") == "apart"]


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
    (row,) = (row for row in page.rows if row[2:3] == ["Ant"] and "±" in row[3])
    assert int(row[0]) == everybody.index("Ant") + 1


async def test_the_provisional_can_be_left_out(web: httpx2.AsyncClient, rated: History) -> None:
    provisional = {row.version for row in await rated.ratings.standings(VENUE, "bayes") if row.provisional}
    assert provisional
    assert set(shown(await get(web, f"{STANDINGS}?settled=1"))) == set(NAMES) - provisional


@pytest.mark.parametrize("system", ["bayes", "cgos-elo"])
async def test_the_past_says_what_was_provisional(web: httpx2.AsyncClient, rated: History, system: str) -> None:
    """Whatever has changed since: on the page, in the API and by the command."""
    last = await rated.ledger.last_entry(VENUE)
    for as_of in range(14, last + 1, 9):
        stored = {row.version: row for row in await rated.ratings.standings(VENUE, system, as_of)}
        path = f"/api/v1/venues/{VENUE}/standings?system={system}&as_of={as_of}"
        for line in (await web.get(path)).json()["items"]:
            row = stored[line["version"]]
            sure = 1.96 * row.spread <= 100 if system == "bayes" else row.spread <= 16
            assert line["provisional"] is (not sure and not row.anchor), (as_of, line)
    ran = await asyncio.to_thread(
        CliRunner().invoke,
        main,
        ["standings", "--data", str(rated.source.location.parent), "--venue", VENUE, "--as-of", "20"],
    )
    assert "provisional" in ran.stdout
    assert "?" in ran.stdout


async def test_who_is_retired_or_has_no_game_is_shown_on_request(rated_past: Path, tmp_path: Path) -> None:
    """The same on the page, in the API and by the command; places are those among all that have a rated game."""
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    later = T0 + 40 * 86_400_000
    alter(data, "UPDATE games SET ended_at = ? WHERE id = (SELECT max(id) FROM games)", later)
    alter(data, "INSERT INTO versions SELECT 99, bot_id, 'New', 'new', 'New', '', '', '', 0 FROM versions WHERE id = 2")
    alter(
        data,
        "INSERT INTO ratings SELECT venue_id, system, 99, 9999, spread, 0, 1, 0, seq, 9900, 10098 FROM ratings "
        "WHERE version_id = 2",
    )
    async with History(data / "cgos.sqlite") as history:
        rows = await history.ratings.standings(VENUE, "bayes")
        async with client(history, SETTINGS, T0) as web:
            active, everybody = await get(web, STANDINGS), await get(web, f"{STANDINGS}?show=all")
            items = (await web.get(f"/api/v1/venues/{VENUE}/standings")).json()["items"]
            all_told = (await web.get(f"/api/v1/venues/{VENUE}/standings?show=all")).json()["items"]
            best = (await web.get(f"/api/v1/venues/{VENUE}/crosstable?top=2")).json()["versions"]
            place = (await web.get("/api/v1/versions/New")).json()["ratings"][0]["standing"]["rank"]
    assert rows[0].version == "New"
    playing = [row.version for row in rows if row.last_game_at == later]
    assert len(playing) == 2
    ranks = {row.version: rank for rank, row in enumerate(rows)} | {"New": None}
    assert shown(active) == [line["version"] for line in items] == best == playing
    assert {line["version"]: line["rank"] for line in items} == {name: ranks[name] for name in playing}
    assert shown(everybody) == [*(row.version for row in rows[1:]), "New"], "what has no place stands last"
    assert {line["version"]: line["rank"] for line in all_told} == ranks
    assert place is None
    for options, names in (((), playing), (("--all",), [row.version for row in rows])):
        command = ["standings", "--data", str(data), "--venue", VENUE, "--json", *options]
        ran = await asyncio.to_thread(CliRunner().invoke, main, command)
        lines = json.loads(ran.stdout)[VENUE]
        assert [(line["version"], line["rank"]) for line in lines] == [(name, ranks[name]) for name in names]


async def test_as_of_a_day_is_as_of_its_last_entry(web: httpx2.AsyncClient, rated: History) -> None:
    page = await get(web, f"{STANDINGS}?on=2023-11-14")
    entry = await rated.ledger.entry_at(VENUE, T0 + 106 * 60_000 + 40_000 - 1)  # midnight
    games = await rated.ledger.games_at(VENUE, entry)
    assert f"after {games} games (entry {entry}), at the end of 2023-11-14." in page.text
    assert shown(page) == [row.version for row in await rated.ratings.standings(VENUE, "bayes", entry)]
    before = await get(web, f"{STANDINGS}?on=2020-01-01")
    assert "Nobody was rated after 0 games (entry 0)." in before.text


async def test_an_empty_form_asks_for_everything(web: httpx2.AsyncClient) -> None:
    page = await get(web, f"{STANDINGS}?q=&system=bayes&as_of=&on=")
    assert shown(page) == shown(await get(web, STANDINGS))


async def test_portions_show_every_version_once(web: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    everybody = shown(await get(web, STANDINGS))
    assert (await get(web, STANDINGS)).attribute("table", "data-search") == "search"
    monkeypatch.setattr(module, "ROWS", 4)
    names: list[str] = []
    path: str | None = f"{STANDINGS}?sort=name"
    while path is not None:
        page = await get(web, path)
        names += shown(page)
        assert page.attribute("table", "data-search") is None  # a part must not pretend to be the whole
        following = page.attribute("a", "href", rel="next")
        path = urljoin(path, following) if following else None
    assert names == sorted(everybody, key=str.lower)


async def test_games_of_a_venue_are_games_with_a_filter(web: httpx2.AsyncClient) -> None:
    response = await web.get(f"{STANDINGS}/games")
    assert (response.status_code, response.headers["location"]) == (307, f"/games?venue={VENUE}")
