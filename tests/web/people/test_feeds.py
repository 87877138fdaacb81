"""Feeds: valid Atom, whatever names say."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import datetime

import pytest
from support.web.past import ENDED
from web.people.conftest import HOSTILE, House

from cgos_server.web.people.feeds import ATOM, ENTRIES

NAMES = {"a": ATOM}


async def feed(house: House, path: str, **settings: str) -> ET.Element:
    answer = await house.browser(**settings).get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    root = ET.fromstring(answer.content)
    assert root.tag == f"{{{ATOM}}}feed"
    for element in (root, *root.findall("a:entry", NAMES)):
        for needed in ("id", "title", "updated"):
            assert (element.findtext(f"a:{needed}", namespaces=NAMES) or "") != "", needed
        assert datetime.fromisoformat(element.findtext("a:updated", namespaces=NAMES) or "").tzinfo is not None
    identities = [entry.findtext("a:id", namespaces=NAMES) for entry in root.findall("a:entry", NAMES)]
    assert len(set(identities)) == len(identities)
    return root


async def test_a_venue_and_its_ended_games(house: House) -> None:
    root = await feed(house, "/venue/9x9/feed.atom", public_url="https://go.example.net")
    entries = root.findall("a:entry", NAMES)
    assert len(entries) == min(ENTRIES, ENDED)
    assert entries[0].findtext("a:id", namespaces=NAMES) == f"https://go.example.net/game/{ENDED}"
    links = {link.get("rel"): link.get("href") for link in root.findall("a:link", NAMES)}
    assert links == {
        "self": "https://go.example.net/venue/9x9/feed.atom", "alternate": "https://go.example.net/venue/9x9",
    }  # fmt: skip


async def test_a_bot_and_its_ended_games(house: House) -> None:
    root = await feed(house, "/bot/amigo/feed.atom")
    titles = [entry.findtext("a:title", namespaces=NAMES) or "" for entry in root.findall("a:entry", NAMES)]
    assert titles
    assert all("amigo" in title for title in titles)


async def test_a_feed_without_games(house: House) -> None:
    root = await feed(house, "/venue/19x19/feed.atom")
    assert root.findall("a:entry", NAMES) == []


@pytest.mark.parametrize(
    "path", ["/bot/nobody/feed.atom", "/venue/nowhere/feed.atom", f"/bot/{'%22%3E%3Cx'}/feed.atom"]
)
async def test_there_is_no_such_feed(house: House, path: str) -> None:
    assert (await house.browser().get(path)).status_code == 404


async def test_hostile_names_are_harmless(house: House) -> None:
    root = await feed(house, "/venue/9x9/feed.atom", server_name=f"{HOSTILE}\x00\x0b]]>")
    assert f"{HOSTILE}]]>" in (root.findtext("a:title", namespaces=NAMES) or "")


async def test_what_is_known_is_not_sent_again(house: House) -> None:
    browser = house.browser()
    tag = (await browser.get("/bot/amigo/feed.atom")).headers["etag"]
    assert (await browser.get("/bot/amigo/feed.atom", headers={"If-None-Match": tag})).status_code == 304
