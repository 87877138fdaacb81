"""What other sites show: badges, framed boards, pictures for links."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from support.web.past import BOTS, ENDED, EVENT, NOW, RUNNING

from cgos_protocol.games.base import Color
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.web.application import create_app
from cgos_server.web.drawing import card_png
from cgos_server.web.drawing.badge_svg import COLORS, LONGEST, STYLES, badge_svg
from cgos_server.web.pages import embeds

SETTINGS = WebSettings(
    server_name='Go & "Bots" <b>',
    venues={
        name: VenueSettings(rated=Rated(("cgos-elo",)), delay_s=100 if name == "9x9" else 0)
        for name in ("9x9", "13x13", "19x19")
    },
)
SVG = "{http://www.w3.org/2000/svg}"
_LOC = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"


@pytest.fixture
async def client(history: History) -> AsyncIterator[httpx2.AsyncClient]:
    app = create_app(history, SETTINGS, lambda: NOW)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://test") as opened:
        yield opened


def words(svg: str) -> list[str]:
    return [node.text or "" for node in ET.fromstring(svg).iter(f"{SVG}text")]


async def test_a_badge_says_the_rating(client: httpx2.AsyncClient, history: History) -> None:
    (row,) = [row for row in await history.ratings.standings("9x9", "cgos-elo") if row.version == "amigo"]
    answer = await client.get("/badge/9x9/amigo.svg")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert "max-age=300" in answer.headers["cache-control"]
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    left, right = words(answer.text)
    assert left == "9x9"
    assert right.rstrip("?") == f"{row.mean:.0f}"
    again = await client.get("/badge/9x9/amigo.svg", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


async def test_a_badge_for_whom_nobody_knows_is_still_a_picture(client: httpx2.AsyncClient) -> None:
    for path in ("/badge/9x9/Nobody.svg", "/badge/8x8/amigo.svg", "/badge/9x9/%3Cscript%3E.svg"):
        answer = await client.get(path)
        assert answer.status_code == 404
        assert words(answer.text)[1] == "unknown"
    assert words((await client.get("/badge/13x13/amigo.svg")).text)[1] == "not rated"
    assert (await client.get("/badge/9x9/amigo.svg?style=neon")).status_code == 400


async def test_badges_differ_by_style_and_label(client: httpx2.AsyncClient) -> None:
    pictures = {(await client.get(f"/badge/9x9/amigo.svg?style={style}")).text for style in STYLES}
    assert len(pictures) == len(STYLES)
    assert (await client.get("/badge/9x9/amigo.svg", params={"label": "\x00"})).status_code == 400
    hostile = "</text><script>alert(1)</script>\u202e\x01"
    answer = await client.get("/badge/9x9/amigo.svg", params={"label": hostile})
    root = ET.fromstring(answer.text)
    assert not [node for node in root.iter() if "script" in node.tag.lower()]
    assert words(answer.text)[0].startswith("</text><script>")
    assert answer.headers["content-security-policy"] == "default-src 'none'"


@given(st.text(), st.text(), st.sampled_from([*COLORS, "red"]), st.sampled_from(STYLES))
def test_any_words_make_a_badge(left: str, right: str, color: str, style: str) -> None:
    root = ET.fromstring(badge_svg(left, right, color, style))
    shown = [node.text or "" for node in root.iter(f"{SVG}text")]
    assert len(shown) == (1 if style == "plain" else 2)
    assert all(0 < len(word) <= LONGEST for word in shown)
    assert {node.tag.removeprefix(SVG) for node in root.iter()} <= {"svg", "title", "clipPath", "rect", "g", "text"}


async def test_any_site_may_frame_a_board(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/embed/game/1")
    policy = answer.headers["content-security-policy"]
    assert "frame-ancestors *" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "x-frame-options" not in answer.headers
    assert "style=" not in answer.text
    assert "<b>" not in answer.text
    assert "embed.js" not in answer.text
    assert (await client.get("/embed/game/999")).status_code == 404
    assert "frame-ancestors 'none'" in (await client.get("/game/1")).headers["content-security-policy"]


async def test_a_running_board_shows_no_move_too_early(client: httpx2.AsyncClient, history: History) -> None:
    answer = await client.get(f"/embed/game/{RUNNING}")
    assert "/static/embed.js" in answer.text
    detail = await history.games.detail(RUNNING)
    moves = [move.move for move in detail.moves if move.at <= NOW - 100_000]
    assert 0 < len(moves) < len(detail.moves) or len(moves) == len(detail.moves)
    assert f'data-moves="{" ".join(moves)}"' in answer.text


@pytest.mark.parametrize(
    "path",
    ["/og/game/1.png", f"/og/game/{RUNNING}.png", "/og/bot/amigo.png", "/og/venue/9x9.png", "/og/venue/19x19.png"],
)
async def test_pictures_for_links(client: httpx2.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/png"
    with Image.open(io.BytesIO(answer.content)) as picture:
        assert picture.size == (1200, 630)
        assert len(picture.convert("RGB").getcolors(1 << 20) or ()) > 3
    assert len(answer.content) < 60_000


async def test_no_picture_of_what_is_not_there(client: httpx2.AsyncClient) -> None:
    for path in ("/og/game/999.png", "/og/bot/Nobody.png", "/og/venue/8x8.png"):
        assert (await client.get(path)).status_code == 404


async def test_pages_name_their_pictures(client: httpx2.AsyncClient) -> None:
    for page, picture in (
        (f"/game/{ENDED}", f"/og/game/{ENDED}.png"),
        (f"/bot/{BOTS[0]}", f"/og/bot/{BOTS[0]}.png"),
        ("/venue/9x9", "/og/venue/9x9.png"),
        (f"/events/{EVENT}", "/og/venue/9x9.png"),
        ("/questions/1", "/og/venue/9x9.png"),
    ):
        text = (await client.get(page)).text
        assert f'<meta property="og:image" content="http://test{picture}">' in text
        assert f'<meta property="og:url" content="http://test{page}">' in text
        assert (await client.get(picture)).status_code == 200
    front = (await client.get("/")).text
    assert '<meta property="og:description" content="Game engines meet here' in front
    assert "og:image" not in front


async def test_what_search_engines_read(client: httpx2.AsyncClient) -> None:
    robots = (await client.get("/robots.txt")).text.splitlines()
    assert robots[0] == "User-agent: *"
    assert "Disallow: /account" in robots
    assert robots[-1] == "Sitemap: http://test/sitemap.xml"
    listed = [url.text or "" for url in ET.fromstring((await client.get("/sitemap.xml")).text).iter(_LOC)]
    paths = [url.removeprefix("http://test") for url in listed]
    assert {"/", "/venue/9x9", f"/events/{EVENT}", f"/bot/{BOTS[0]}"} <= set(paths)
    for path in paths:
        assert (await client.get(path)).status_code == 200, path
    icon = await client.get("/favicon.ico", follow_redirects=True)
    assert (icon.status_code, icon.headers["content-type"]) == (200, "image/svg+xml")


async def test_pages_of_what_is_over_stay_the_same(history: History) -> None:
    tags = []
    for now in (NOW, NOW + 61_000, NOW + 3_600_000):
        transport = httpx2.ASGITransport(create_app(history, WebSettings(), lambda now=now: now))
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as web:
            paths = (f"/game/{ENDED}", f"/game/{ENDED}?ply=3", "/game/1/pairing", "/round/1", "/venue/9x9/rules")
            tags.append([(await web.get(path)).headers["etag"] for path in paths])
    assert tags[0] == tags[1] == tags[2]


def test_tags_hold_any_words() -> None:
    tags = embeds.social("/venue/a%2Fb", 'x" onload="', "<b>", "http://test")
    assert 'onload="' not in tags
    assert "<b>" not in tags
    assert "/og/venue/a%2Fb.png" in tags


@given(st.text())
def test_letters_are_those_of_the_font(name: str) -> None:
    font = card_png._font(20)
    missing = bytes(font.getmask("\U0010fffe"))
    shown = card_png.plain(name)
    assert all(letter == " " or bytes(font.getmask(letter)) != missing for letter in set(shown))


@pytest.mark.parametrize("size", [2, 9, 19, 25])
def test_boards_of_all_sizes(size: int) -> None:
    data = card_png.board_card(size, {"A1": Color.BLACK, "B2": Color.WHITE}, "B2", ["x" * 300], ["\u202e"], "p")
    with Image.open(io.BytesIO(data)) as picture:
        assert picture.size == (1200, 630)


async def test_a_picture_is_drawn_once_and_few_are_kept() -> None:
    pictures, drawn = embeds.Pictures(), []

    def draw(number: int) -> bytes:
        drawn.append(number)
        return b"%d" % number

    for number in [*range(embeds.KEPT + 10), *range(20, embeds.KEPT + 10)]:
        assert await pictures.get((number,), lambda number=number: draw(number)) == b"%d" % number  # type: ignore[misc]
    assert len(drawn) == embeds.KEPT + 10
    await pictures.get((0,), lambda: draw(0))
    assert drawn[-1] == 0
