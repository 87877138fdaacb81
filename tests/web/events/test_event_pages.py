"""Pages of events: what stands on them, where their links and pictures lead, and that they are sound and safe."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path
from unittest.mock import AsyncMock, patch
from urllib.parse import urljoin

import httpx2
import pytest
from support.storage.storage_sample import put
from support.tournaments.held_events import HeldEvent
from support.web.held import COMING, NAMES, OVER, RUNNING, write_held
from support.web.past import NINE, NOW
from web.test_pages import assert_harmless, client, get

from cgos_server.presentation.words import moment
from cgos_server.storage.reading.history import History
from cgos_server.storage.reading.stored import Incarnation
from cgos_server.tournaments.base import BLACK_WINS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings, Times
from cgos_server.tournaments.tournament import standings

SUB_PAGES = ("standings", "crosstable", "rounds", "rounds/1", "games?n=1&n=2", "entrants", "log")
PAGES = (
    "/events",
    "/",
    "/game/1",
    "/bot/amigo",
    *(f"/events/{name}" for name in (*RUNNING, *COMING, *OVER)),
    *(f"/events/Autumn-Open/{page}" for page in SUB_PAGES),
    *(f"/events/Someday/{page}" for page in ("standings", "crosstable", "rounds", "entrants", "log")),
)


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_is_sound_and_safe(web: httpx2.AsyncClient, path: str) -> None:
    page = await get(web, path)
    assert_harmless(page)
    assert sum(tag == "h1" for tag, _ in page.tags) == 1
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert all(lower <= upper + 1 for upper, lower in itertools.pairwise(levels)), "no level of headings is left out"
    identities = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(identities) == len(set(identities))
    live = [attributes for _, attributes in page.tags if "data-live" in attributes]
    assert all("id" in attributes for attributes in live), "what is renewed is found again by its id"


@pytest.mark.parametrize("path", PAGES[4:])
async def test_every_link_leads_somewhere(web: httpx2.AsyncClient, path: str) -> None:
    for link in set((await get(web, path)).links()):
        target = urljoin(path, link.split("#")[0])
        if re.fullmatch(r"/game/[5-7]\d\d\d", target):
            continue  # of events whose games are not in this database
        answer = await web.get(target)
        assert answer.status_code in ((303,) if target == "/account" else (200,)), link


async def test_the_list_says_what_is_on_what_comes_and_what_is_over(web: httpx2.AsyncClient) -> None:
    page = await get(web, "/events")
    names = (*reversed(RUNNING), *COMING, *reversed(OVER))
    rows = [next(name for name in names if row[0].startswith(name)) for row in page.rows if row[0] != "Event"]
    assert tuple(rows) == names
    assert [row[-1] for row in page.rows if row[0] == "Event"] == ["Started", "Starts", "Ended"]
    assert "It is cancelled. Nobody has time." in page.text


async def test_the_front_page_shows_running_events_first(web: httpx2.AsyncClient) -> None:
    page = await get(web, "/")
    rows = [row[0] for row in page.rows if row]
    assert rows[1:4] == ["Bubble", "Double", "Cup-2026"], "the latest three"
    assert page.text.index("Winter-Cup") < page.text.index("Playing now")
    assert "All events" in page.text, "there are more than three"


async def test_standings_are_those_of_the_library(web: httpx2.AsyncClient, held: dict[str, HeldEvent]) -> None:
    table = standings(held["Autumn-Open"].state.event)
    page = await get(web, "/events/Autumn-Open")
    rows = [row for row in page.rows if len(row) == len(table.order) + 3 and row[0].isdigit()]
    assert [(int(row[0]), row[1]) for row in rows] == [(row.place, row.name) for row in table.rows]
    assert [float(row[2]) for row in rows] == [row.values[0] for row in table.rows]
    assert "buchholz" in page.text


async def test_rounds_say_why_two_meet_and_lead_to_games(web: httpx2.AsyncClient, held: dict[str, HeldEvent]) -> None:
    state = held["Autumn-Open"].state
    page = await get(web, "/events/Autumn-Open/rounds/3")
    for game in state.event.rounds[2].games:
        row = next(row for row in page.rows if row and row[0] == str(game.id))
        assert row[2] == state.seats[game.black].name
        assert game.reason in row[5]
        played_as = state.played_as.get(game.id)
        assert row[1] == (str(played_as) if played_as else "–")
        if played_as:
            assert page.attribute("a", "href", href=f"/game/{played_as}")
    assert "Void" in page.text
    assert "The server was stopped" in page.text
    await get(web, "/events/Autumn-Open/rounds/4", 404)
    await get(web, "/events/Autumn-Open/rounds/none", 404)


async def test_a_ruling_and_its_reason_are_seen(web: httpx2.AsyncClient) -> None:
    assert "Ruling: the loser's engine <had> crashed" in (await get(web, "/events/Autumn-Open/rounds/1")).text
    log = await get(web, "/events/Autumn-Open/log")
    assert "The loser's engine <had> crashed." in log.text
    assert log.text.index("crashed") < log.text.index("It has started with 10 entrants.")


async def test_cells_of_the_crosstable_lead_to_games(web: httpx2.AsyncClient, held: dict[str, HeldEvent]) -> None:
    state = held["Autumn-Open"].state
    answer = await web.get("/events/Autumn-Open")
    drawn = re.findall(r'<svg class="picture".*?</svg>', answer.text, re.DOTALL)
    assert len(drawn) == 1
    root = ET.fromstring(drawn[0])
    targets = [link.get("href") for link in root.iter("a")]
    pairs: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for _, game in state.event.games:
        pairs[game.pair].append(game.id)
    assert {len(ids) for ids in pairs.values()} == {1, 2}, "a void game was paired again"
    expected = {
        f"/game/{state.played_as[ids[0]]}"
        if len(ids) == 1 and ids[0] in state.played_as
        else "/events/Autumn-Open/games?" + "&".join(f"n={id_}" for id_ in ids)
        for ids in pairs.values()
    }
    assert sorted(map(str, targets)) == sorted([*expected, *expected]), "each of them from both sides"
    first = state.event.rounds[0].games[0]
    names = (state.seats[first.black].name, state.seats[first.white].name)
    cell = next(link for link in root.iter("a") if link.get("href") == f"/game/{state.played_as[first.id]}")
    assert all(name in "".join(cell.itertext()) for name in names)
    assert root.get("role") == "group"
    assert "style=" not in drawn[0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Cup-2026", ("Quarterfinals", "nobody", "Final")),
        ("Double", ("Unbeaten", "With one loss", "passes")),
        ("Bubble", ("in the active set", "parked")),
    ],
)
async def test_pictures_of_systems_without_rounds(web: httpx2.AsyncClient, name: str, words: tuple[str, ...]) -> None:
    text = (await web.get(f"/events/{name}")).text
    drawn = re.findall(r'<svg class="picture".*?</svg>', text, re.DOTALL)
    assert len(drawn) == 2, "its own picture, and the crosstable"
    shown = "".join(ET.fromstring(drawn[0]).itertext())
    assert all(word in shown for word in words), shown
    for picture in drawn:
        ET.fromstring(picture)


async def test_before_the_start_it_says_what_it_will_be(web: httpx2.AsyncClient) -> None:
    page = await get(web, "/events/Winter-Cup")
    assert "Entry is open: 4 entrants so far. It closes on 2026-11-21 17:00 UTC." in page.text
    assert "Whoever owns a bot enters it here: sign in." in page.text
    assert ["2", NAMES[1], "", "–", "checked in", "2 h ago"] in page.rows
    assert [row[4] for row in page.rows if len(row) == 6 and row[0] in ("5", "6")] == ["waiting", "waiting"]
    assert "at most 4 entrants; who comes later waits for a place" in page.text
    assert ["Start", "2026-11-21 18:00", ""] in page.rows
    assert "Standings" not in [row[0] for row in page.rows if row]
    assert "Rated: it is played on the terms of 9x9" in page.text


async def test_what_is_played_and_who_is_next(web: httpx2.AsyncClient, held: dict[str, HeldEvent]) -> None:
    state = held["Autumn-Open"].state
    page = await get(web, "/events/Autumn-Open")
    for _, game in state.open_games:
        sides = [state.seats[game.black].name, state.seats[game.white].name]
        assert any(row[-3:-1] == sides for row in page.rows)
    assert "who is away has 5 min to come" in page.text
    assert page.attribute("meta", "content", **{"http-equiv": "refresh"}) == "10"
    over = await get(web, "/events/All-meet")
    assert over.attribute("meta", "content", **{"http-equiv": "refresh"}) is None
    assert "Games that wait for their players" not in over.text
    off = await get(web, "/events/Called-off")
    assert "Games that wait for their players" not in off.text
    assert "not ended" in off.text


async def test_a_bot_has_its_events_and_a_game_its_event(web: httpx2.AsyncClient, held: dict[str, HeldEvent]) -> None:
    table = standings(held["All-meet"].state.event)
    place = next(row.place for row in table.rows if row.name == "amigo")
    bot = await get(web, "/bot/amigo")
    row = next(row for row in bot.rows if row[:1] == ["All-meet"])
    assert row[1:4] == ["amigo", str(place), "6"]
    game = await get(web, "/game/1")
    assert "Round 1 of Autumn-Open" in game.text
    assert game.attribute("a", "href", href="/events/Autumn-Open/rounds/1#n1")
    assert "Autumn-Open" not in (await get(web, "/game/60")).text


async def test_feeds_tell_what_happened(web: httpx2.AsyncClient) -> None:
    atom = "{http://www.w3.org/2005/Atom}"
    answer = await web.get("/events.atom")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    titles = [str(title.text) for title in ET.fromstring(answer.content).iter(f"{atom}title")]
    assert {"Autumn-Open has started", "All-meet is over", "Called-off is cancelled", "Someday is announced"} < set(
        titles
    )
    one = ET.fromstring((await web.get("/events/Autumn-Open/feed.atom")).content)
    entries = one.findall(f"{atom}entry")
    assert str(entries[0].findtext(f"{atom}title")) == "Autumn-Open: ruled"
    assert "Game 3 of round 1" in str(entries[0].findtext(f"{atom}summary"))
    ids = {entry.findtext(f"{atom}id") for entry in entries}
    assert len(ids) == len(entries)
    restored = AsyncMock(return_value=Incarnation("0002", 5_000_000))
    with patch("cgos_server.storage.reading.server.Server.incarnation", restored):
        again = ET.fromstring((await web.get("/events/Autumn-Open/feed.atom?again=1")).content)
    assert {entry.findtext(f"{atom}id") for entry in again.findall(f"{atom}entry")} == {f"{one}-0002" for one in ids}


@pytest.mark.parametrize("path", ["", "/standings", "/crosstable", "/rounds", "/log", "/feed.atom", "/rounds/1"])
async def test_an_event_that_is_not_there(web: httpx2.AsyncClient, path: str) -> None:
    assert "There is no event of this name" in (await get(web, f"/events/autumn-open{path}", 404)).text


async def test_a_page_follows_the_log(tmp_path: Path) -> None:
    held = HeldEvent(EventSettings(name="Moving", venue="9x9", system="dutch", rounds=2), first_game=1)
    held.start(NAMES[:4])
    path = tmp_path / "cgos.sqlite"
    write_held(path, [held])
    written = len(held.records(1, NINE))
    async with History(path) as history, client(history) as web:
        before = await get(web, "/events/Moving")
        held.play_round(lambda _: BLACK_WINS)
        new = [record for record in held.records(1, NINE) if record not in held.records(1, NINE)[:2]]
        put(path, new[written - 2 :])
        after = await get(web, "/events/Moving")
    assert "MWM dutch in" in before.text
    assert "FIDE" not in before.text
    assert "Round 1 of 2" in before.text
    assert "Round 2 of 2" in after.text
    assert "Round 1 of 2" not in after.text


async def test_an_event_that_nobody_opened_in_time_does_not_come(tmp_path: Path) -> None:
    hour = 3_600_000
    events = [
        HeldEvent(EventSettings(name=name, venue="9x9", system="dutch", rounds=2, times=Times(starts_at=NOW + at)))
        for name, at in (("Late", -hour), ("Soon", hour))
    ]
    path = tmp_path / "cgos.sqlite"
    write_held(path, events)
    async with History(path) as history, client(history) as web:
        page, front = await get(web, "/events"), await get(web, "/")
    assert "Soon" in page.text.partition("Not opened in time")[0]
    assert "Late" not in page.text.partition("Not opened in time")[0]
    assert "Late" in page.text.partition("Not opened in time")[2]
    assert f"Entry is not open yet. The event's start is set for {moment(NOW - hour)} UTC." in page.text
    assert ("Soon" in front.text, "Late" in front.text) == (True, False)


async def test_who_withdrew_stays_one_of_the_field(tmp_path: Path) -> None:
    held = HeldEvent(EventSettings(name="Six", venue="9x9", system="dutch", rounds=2), first_game=7000)
    held.start(NAMES[:6])
    held.play_round(lambda _: BLACK_WINS)
    held.say(log.Withdrawn(entrant=6, by="operator"), "operator")
    held.advance()
    path = tmp_path / "cgos.sqlite"
    write_held(path, [held], games=False)
    async with History(path) as history, client(history) as web:
        page, bot = await get(web, "/events/Six"), await get(web, f"/bot/{NAMES[0]}")
        summary = (await web.get("/api/v1/events/Six")).json()["summary"]
        (listed,) = [row for row in (await get(web, "/events")).rows if row[0].startswith("Six")]
    assert "6 entrants" in " ".join(page.text.split())
    assert listed[3] == "6"
    assert next(row[3] for row in bot.rows if row[0] == "Six") == "6"
    assert (summary["field"], summary["entrants"]) == (6, 5)
