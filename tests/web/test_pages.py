"""The pages over a real database: what stands on them, what they refuse, and what they must never do."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from collections.abc import AsyncIterator, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx2
import pytest
from support.web.past import BOTS, ENDED, FRESH, NOW, OPENING, RUNNING

from cgos_protocol.verdict import Reason
from cgos_server.presentation.settings import VenueSettings, WebSettings
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History
from cgos_server.web.application import STATIC, create_app
from cgos_server.web.pages.requests import PAGE_SIZE

SETTINGS = WebSettings(
    server_name="Riverside <Go> & Co",
    venues={"9x9": VenueSettings(port=6809), "13x13": VenueSettings(port=6813), "19x19": VenueSettings(port=6819)},
    refresh_s=10,
)
LIVE = ("/", "/venue/9x9", "/venue/19x19", f"/game/{RUNNING}", f"/game/{FRESH}")
PAGES = (*LIVE, "/game/1", "/game/1?ply=3", "/game/1?ply=0", f"/game/{RUNNING}?ply=3", f"/game/{ENDED}",
         "/bot/Kogo_mcts", "/bot/Kogo_mcts?over=games&opponents=all", "/venue/9x9?as_of=40",
         "/venue/9x9?q=go&sort=-games", "/games?before=30",
         "/venue/9x9/rules", "/venue/9x9/crosstable", "/venue/9x9/odds", "/venue/9x9/pair?a=amigo&b=Kogo_mcts",
         "/venue/9x9/rounds", "/round/1", "/game/1/pairing", "/games", "/games?bot=amigo&reason=time",
         "/connect", "/nothing")  # fmt: skip


def client(history: History, settings: WebSettings = SETTINGS, now: int = NOW) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(create_app(history, settings, lambda: now), raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://go.example.org:8080")


@pytest.fixture
async def web(history: History) -> AsyncIterator[httpx2.AsyncClient]:
    async with client(history) as opened:
        yield opened


class Page(HTMLParser):
    """Checks that tags close in order, and collects text, tags and links. `table` is the text of its cells by row."""

    VOID = ("meta", "link", "br", "img", "input", "hr", "wbr")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def links(self) -> Iterator[str]:
        for tag, attributes in self.tags:
            target = attributes.get("href")
            if tag in ("a", "link") and target is not None:
                yield target

    def attribute(self, tag: str, wanted: str, /, **where: str) -> str | None:
        for kind, attributes in self.tags:
            if kind == tag and all(attributes.get(key) == value for key, value in where.items()):
                return attributes.get(wanted)
        return None


async def get(web: httpx2.AsyncClient, path: str, status: int = 200) -> Page:
    response = await web.get(path)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    return Page(response.text)


def assert_harmless(page: Page) -> None:
    """Nothing that our policy forbids: scripts of our own files only, no styles in the page, forms that only ask."""
    assert not [tag for tag, _ in page.tags if tag in ("style", "iframe", "object", "embed", "base")]
    assert not [key for _, attributes in page.tags for key in attributes if key == "style" or key.startswith("on")]
    for tag, attributes in page.tags:
        if tag == "script":
            assert re.fullmatch(r"/static/[a-z_]+\.js\?v=[0-9a-f]+", attributes["src"] or "")
        if tag == "form":
            assert attributes["method"] == "get"
            assert (attributes["action"] or "").startswith("/")
        if tag == "img":
            assert "alt" in attributes
            assert (attributes["src"] or "").startswith("/")


# -- every page


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_is_sound_and_safe(web: httpx2.AsyncClient, path: str) -> None:
    response = await web.get(path)
    page = Page(response.text)
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "same-origin"
    assert response.headers["cache-control"] == "no-cache"
    assert_harmless(page)
    assert page.attribute("html", "lang") == "en"
    assert page.attribute("meta", "content", name="viewport") == "width=device-width, initial-scale=1"
    assert sum(tag == "h1" for tag, _ in page.tags) == 1
    assert sum(tag == "main" for tag, _ in page.tags) == 1
    assert "Riverside <Go> & Co" in page.text
    assert all(urlsplit(urljoin("http://go.example.org", link)).netloc == "go.example.org" for link in page.links())
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(lower <= upper + 1 for upper, lower in itertools.pairwise(levels)), "no level of headings is left out"
    identities = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(identities) == len(set(identities))


async def test_every_link_leads_somewhere(web: httpx2.AsyncClient) -> None:
    visited: set[str] = set()
    waiting = ["/"]
    while waiting:
        path = waiting.pop().split("#")[0]
        if path in visited or re.search(r"\?ply=|/game/[1-5]?[0-9]\b", path):
            continue  # enough of a kind
        visited.add(path)
        response = await web.get(path)
        if path == "/account":  # nobody is signed in
            assert response.status_code == 303
            continue
        assert response.status_code == 200, path
        if response.headers["content-type"].startswith("text/html"):
            waiting += [urljoin(path, link) for link in Page(response.text).links()]
    assert {"/connect", "/venue/9x9", f"/game/{RUNNING}", "/bot/amigo", "/venue/9x9/rules"} <= visited
    assert any(path.endswith(".sgf") for path in visited)


@pytest.mark.parametrize("path", [*PAGES[:-1], "/game/1.sgf", "/static/style.css"])
async def test_head_answers_as_get_does(web: httpx2.AsyncClient, path: str) -> None:
    plain = {"Accept-Encoding": "identity"}
    answer, head = await web.get(path, headers=plain), await web.head(path, headers=plain)
    assert head.status_code == 200
    assert head.headers["content-length"] == answer.headers["content-length"]
    assert head.headers["content-type"] == answer.headers["content-type"]


@pytest.mark.parametrize("path", PAGES)
async def test_only_pages_about_now_load_themselves_again(web: httpx2.AsyncClient, path: str) -> None:
    page = Page((await web.get(path)).text)
    expected = "10" if path in LIVE else None
    assert page.attribute("meta", "content", **{"http-equiv": "refresh"}) == expected


async def test_without_refresh_nothing_loads_itself_again(history: History) -> None:
    async with client(history, WebSettings(refresh_s=0)) as web:
        page = await get(web, "/")
    assert page.attribute("meta", "content", **{"http-equiv": "refresh"}) is None


# -- front page and venues


async def test_the_front_page_shows_venues_in_order_with_standings_and_games(web: httpx2.AsyncClient) -> None:
    page = await get(web, "/")
    places = [
        page.text.index(f"{name} {size}×{size}, komi") for name, size in (("9x9", 9), ("13x13", 13), ("19x19", 19))
    ]
    assert places == sorted(places)
    assert "9×9, komi 7, 5 min, positional superko" in page.text
    assert [f"{RUNNING}", "9x9", BOTS[0], BOTS[1], "31"] in page.rows
    assert "2 games running 72 games so far 8 ratings in 3 venues" in page.text
    assert "No bot has played here yet." in page.text


async def test_a_venue_that_is_not_configured_any_more_is_shown_as_closed(history: History) -> None:
    async with client(history, WebSettings(venues={"13x13": VenueSettings(port=6813)})) as web:
        page = await get(web, "/")
        closed = await get(web, "/venue/9x9")
    assert page.text.index("13×13, komi") < page.text.index("9×9, komi")
    assert "9×9, komi 7, 5 min, positional superko. Closed at present." in page.text
    assert "Closed at present." in closed.text


async def test_standings_are_those_of_the_history(web: httpx2.AsyncClient, history: History) -> None:
    page = await get(web, "/venue/9x9")
    standings = await history.ratings.standings("9x9")
    expected = [
        [
            str(rank),
            row.version,
            f"{row.mean:.0f}{'=' if row.anchor else '?' if row.provisional else ''}",
            str(row.games),
        ]
        for rank, row in enumerate(standings, 1)
    ]
    assert len(standings) == len(BOTS)
    assert [row[:4] for row in page.rows if len(row) == 5 and row[0].isdigit()] == expected
    assert "6 bots." in page.text
    assert [row.mean for row in standings] == sorted((row.mean for row in standings), reverse=True)
    assert any(row.anchor for row in standings)


async def test_a_venue_without_bots_says_so(web: httpx2.AsyncClient) -> None:
    text = (await get(web, "/venue/19x19")).text
    assert "Nobody is rated yet." in text
    assert "No game has ended here yet." in text
    assert "Bots connect to port 6819" in text


async def test_paging_shows_every_game_once(web: httpx2.AsyncClient) -> None:
    shown: list[int] = []
    path: str | None = "/games?venue=9x9&running=no"
    while path is not None:
        page = await get(web, path)
        shown += [int(row[0]) for row in page.rows if row and row[0].isdigit() and len(row) == 6]
        following = page.attribute("a", "href", rel="next")
        path = urljoin(path, following) if following else None
    assert shown == list(range(ENDED, 0, -1))


async def test_the_winner_stands_out(web: httpx2.AsyncClient, history: History) -> None:
    body = (await web.get("/games?venue=9x9")).text
    for game in await history.games.find(GameFilter(venue="9x9"), PAGE_SIZE):
        row = re.search(rf'<tr><td><a href="/game/{game.id}">.*?</tr>', body)
        if game.result is None or row is None:
            continue
        strong = re.findall(r'<strong><a href="[^"]*">([^<]*)', row[0])
        assert strong == {"B+": [game.black], "W+": [game.white]}.get(game.result[:2], [])


# -- games


async def test_a_finished_game_tells_how_and_why(web: httpx2.AsyncClient, history: History) -> None:
    endings: set[str] = set()
    for number in range(1, ENDED + 1):
        detail = await history.games.detail(number)
        game = detail.game
        assert game.reason is not None
        if game.reason in endings:
            continue
        endings.add(game.reason)
        page = await get(web, f"/game/{number}")
        assert f"{game.black} – {game.white}" in page.text
        assert f"{game.result} " in page.text
        assert f"Move {game.moves} of {game.moves}" in page.text
        assert "drew 3 of 5 & met the strongest of them <drawn>. Black by lot." in page.text
        for change in detail.ratings:
            assert f"{change.before_mean:.0f} → {change.after_mean:.0f}" in page.text
        board = re.findall(r'<svg class="board".*?</svg>', (await web.get(f"/game/{number}")).text)
        assert len(board) == 1
        ET.fromstring(board[0])
    assert endings == {"score", "resignation", "time", "illegal move", "abort"}
    assert endings < set(Reason)


async def test_stepping_through_a_game(web: httpx2.AsyncClient, history: History) -> None:
    moves = (await history.games.detail(1)).moves
    page = await get(web, "/game/1?ply=0")
    assert "Before move 1" in page.text
    assert page.attribute("a", "href", rel="prev") is None
    for ply in (1, 2, 3):
        path = page.attribute("a", "href", rel="next")
        assert path == f"/game/1?ply={ply}#board"
        page = await get(web, path)
        assert f"Move {ply} of {len(moves)}" in page.text
        stones = [tag for tag, attributes in page.tags if tag == "circle" and attributes.get("class") in ("b", "w")]
        assert len(stones) == ply
        now = [row for row in page.rows if row[:2] == [str(ply), moves[ply - 1].move]]
        assert len(now) == 1
    assert page.attribute("a", "href", rel="prev") == "/game/1?ply=2#board"
    last = await get(web, f"/game/1?ply={len(moves)}")
    assert last.attribute("a", "href", rel="next") is None


@pytest.mark.parametrize("ply", ["999", "9" * 25])
async def test_a_ply_beyond_the_end_is_the_last(web: httpx2.AsyncClient, ply: str) -> None:
    assert (await get(web, f"/game/1?ply={ply}")).text == (await get(web, "/game/1?ply=999")).text
    assert "Next Last" in (await get(web, f"/game/1?ply={ply}")).text


async def test_a_running_game_says_who_is_to_move(web: httpx2.AsyncClient) -> None:
    assert "In progress: White to play move 32." in (await get(web, f"/game/{RUNNING}")).text
    fresh = (await get(web, f"/game/{FRESH}")).text
    assert "In progress: Black to play move 1." in fresh
    assert "None yet." in fresh


async def test_the_file_of_a_game(web: httpx2.AsyncClient) -> None:
    response = await web.get("/game/1.sgf")
    assert response.headers["content-type"] == "application/x-go-sgf; charset=utf-8"
    assert response.headers["content-disposition"] == 'attachment; filename="1.sgf"'
    assert response.text.startswith("(;GM[1]FF[4]")
    assert "PC[Riverside <Go> & Co]" in response.text
    assert f"ON[{OPENING}]" in response.text
    assert "ON[" not in (await web.get("/game/2.sgf")).text


async def test_a_game_names_its_opening(web: httpx2.AsyncClient) -> None:
    assert f"Opening{OPENING}" in (await get(web, "/game/1")).text.replace("\n", "")
    assert "Opening" not in (await get(web, "/game/2")).text


# -- bots


async def test_a_bot_with_its_ratings_and_games(web: httpx2.AsyncClient, history: History) -> None:
    page = await get(web, f"/bot/{BOTS[0]}")
    rated = {row[0]: row[1] for row in page.rows if row[0] in ("9x9", "13x13") and len(row) == 4}
    assert set(rated) == {"9x9", "13x13"}
    games = await history.games.find(GameFilter(bot=BOTS[0]), 15)
    listed = [row for row in page.rows if len(row) == 7 and row[0].isdigit()]
    assert [int(row[0]) for row in listed] == [game.id for game in games]
    for game, row in zip(games, listed, strict=True):
        won = {"B+": game.black == BOTS[0], "W+": game.white == BOTS[0]}.get((game.result or "")[:2])
        expected = {True: " won", False: " lost", None: ""}[won]
        assert " ".join(row[4].split()) == f"{game.result or 'in progress'}{expected}"


# -- connecting


async def test_the_commands_name_this_very_server(web: httpx2.AsyncClient) -> None:
    page = await get(web, "/connect")
    assert "cgos-client run --server go.example.org:6809 --name MyBot --password-file mybot.password" in page.text
    assert ["19x19", "go.example.org:6819", "show"] in page.rows
    other = await get(web, "/connect?venue=19x19")
    assert "cgos-client run --server go.example.org:6819 --name MyBot" in other.text
    assert "nc go.example.org 6819" in other.text
    assert "a name that is new here is yours" in page.text


async def test_the_websocket_port_is_named_where_there_is_one(history: History) -> None:
    async with client(history, WebSettings(venues={"9x9": VenueSettings(port=6809)}, websocket=7868)) as web:
        text = (await get(web, "/connect")).text
    assert "cgos-client run --server ws://go.example.org:7868 --venue 9x9 --slots 2" in text
    async with client(history, WebSettings(venues={"9x9": VenueSettings(port=6809)})) as web:
        assert "WebSocket" not in (await get(web, "/connect")).text


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("[::1]:8080", "[::1]:6809"),
        ("example.org", "example.org:6809"),
        ('x"><script>alert(1)</script>', "localhost:6809"),
        ("a b", "localhost:6809"),
    ],
)
async def test_a_strange_host_header_does_no_harm(web: httpx2.AsyncClient, host: str, shown: str) -> None:
    response = await web.get("/connect", headers={"Host": host})
    page = Page(response.text)
    assert f"--server {shown} " in page.text
    assert_harmless(page)
    assert "alert" not in page.text


@pytest.mark.parametrize(
    ("bots_host", "shown"), [("bots.example.org", "bots.example.org:6809"), ("::1", "[::1]:6809"),
                             ("0.0.0.0", "go.example.org:6809"), ("::", "go.example.org:6809")]
)  # fmt: skip
async def test_a_configured_address_for_bots_goes_first(history: History, bots_host: str, shown: str) -> None:
    async with client(history, WebSettings(venues={"9x9": VenueSettings(port=6809)}, bots_host=bots_host)) as web:
        assert f"--server {shown} " in (await get(web, "/connect")).text


async def test_public_addresses_are_shown_instead_of_the_ports(history: History) -> None:
    settings = WebSettings(
        venues={
            "9x9": VenueSettings(port=16210, public_address="cgos.example.org:6809"),
            "13x13": VenueSettings(port=16211),
        },
        websocket=16268,
        websocket_url="wss://bots.example.org",
        public_url="https://go.example.org",
    )
    async with client(history, settings) as web:
        page, other = await get(web, "/connect"), await get(web, "/connect?venue=13x13")
        venues = {item["name"]: item for item in (await web.get("/api/v1/venues")).json()["items"]}
        assert "Bots connect to cgos.example.org:6809" in (await get(web, "/venue/9x9")).text
    for port in ("16210", "16268"):
        assert port not in page.text
    assert ["9x9", "cgos.example.org:6809", "below"] in page.rows
    assert "cgos-client bot greedy --server wss://bots.example.org --venue 9x9 --name MyBot" in page.text
    assert "nc cgos.example.org 6809" in page.text
    assert "the password travels encrypted" in page.text
    assert "pip install cgos_protocol-" in page.text
    assert "nc go.example.org 16211" in other.text
    assert (venues["9x9"]["address"], venues["9x9"]["websocket"]) == ("cgos.example.org:6809", "wss://bots.example.org")
    assert venues["13x13"]["address"] == "go.example.org:16211"
    assert (venues["19x19"]["address"], venues["19x19"]["websocket"]) == ("", "")


@pytest.mark.parametrize(
    ("registration", "sentence"),
    [("approval", "An operator then has to approve"), ("closed", "New names are not admitted at present")],
)
async def test_registration_is_explained_as_it_is(history: History, registration: str, sentence: str) -> None:
    async with client(history, WebSettings(registration=registration)) as web:
        assert sentence in (await get(web, "/connect")).text


# -- refusals and failures


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/nothing", "There is no page at this address."),
        ("/game/9999", "There is no game of this number"),
        (f"/game/{2**63}", "There is no game of this number"),
        (f"/game/{10**40}.sgf", "There is no game of this number"),
        ("/game/0", "There is no game of this number"),
        ("/game/one", "There is no page at this address."),
        ("/bot/nobody", "There is no bot of this name"),
        ("/bot/%3Cscript%3E", "There is no bot of this name"),
        ("/venue/99x99", "There is no venue of this name"),
        ("/venue/9x9?as_of=99999", "The ledger of this venue has fewer entries."),
        ("/venue/9x9/pair?a=amigo&b=nobody", "There is no bot of one of these names"),
        ("/venue/99x99/crosstable", "There is no venue of this name"),
        ("/venue/99x99/rounds", "There is no venue of this name"),
        ("/venue/99x99/rules", "There is no venue of this name"),
        ("/venue/9x9/crosstable?bots=amigo,nobody", "is not rated here: nobody."),
        ("/round/99999", "There is no round of this number"),
        (f"/round/{10**40}", "There is no round of this number"),
        ("/game/99999/pairing", "There is no game of this number"),
        ("/bot/amigo?venue=19x19", "This bot is not rated in a venue of this name."),
        ("/static/../pages.py", "There is no page at this address."),
        ("/static/nothing.css?v=1", "There is no page at this address."),
    ],
)
async def test_what_is_not_there_is_a_sentence(web: httpx2.AsyncClient, path: str, sentence: str) -> None:
    page = await get(web, path, 404)
    assert sentence in page.text


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/venue/9x9?as_of=x", "Where this address should have a number"),
        ("/venue/9x9?as_of=-1", "Where this address should have a number"),
        ("/venue/9x9?on=yesterday", "Where this address should have a date"),
        ("/venue/9x9?on=0000-01-01", "Where this address should have a date"),
        ("/venue/9x9?sort=luck", "Standings cannot be sorted by this."),
        ("/venue/9x9/rounds?before=x", "Where this address should have a number"),
        ("/game/1?ply=٣", "Where this address should have a number"),
        ("/venue/9x9/pair?a=amigo", "Name two different bots."),
        ("/venue/9x9/pair?a=amigo&b=amigo", "Name two different bots."),
        ("/badge/9x9/amigo.svg?style=neon", "There is no such style."),
        ("/questions?state=odd", "No question is 'odd'."),
    ],
)
async def test_a_query_that_cannot_be_read_is_a_bad_request(web: httpx2.AsyncClient, path: str, sentence: str) -> None:
    page = await get(web, path, 400)
    assert sentence in page.text


async def test_two_bots_are_asked_for_where_none_is_named(web: httpx2.AsyncClient) -> None:
    page = await get(web, "/venue/9x9/pair")
    assert {attributes["name"] for tag, attributes in page.tags if tag == "input"} >= {"a", "b"}
    assert page.attribute("form", "action", **{"aria-label": "Two bots"}) == "/venue/9x9/pair"
    assert "Name two different bots." not in page.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_pages_can_only_be_read(web: httpx2.AsyncClient, method: str) -> None:
    response = await web.request(method, "/venue/9x9")
    assert response.status_code == 405
    assert "Nothing can be sent to this page." in response.text


async def test_a_new_server_is_not_an_empty_page(empty_history: History) -> None:
    async with client(empty_history) as web:
        assert "There are no venues yet." in (await get(web, "/")).text
        assert "go.example.org:6809" in (await get(web, "/connect")).text
        await get(web, "/venue/9x9", 404)
        await get(web, "/bot/amigo", 404)


async def test_a_database_that_cannot_be_read_is_not_the_visitors_fault(tmp_path: Path) -> None:
    async with History(tmp_path / "missing.sqlite") as history, client(history) as web:
        response = await web.get("/")
        page = Page(response.text)
        assert response.status_code == 503
        assert "cannot be read just now" in page.text
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert (await web.get("/connect")).status_code == 200


async def test_a_fault_of_ours_is_admitted_and_keeps_its_secrets(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken() -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr(history.server, "venues", broken)
    async with client(history) as web:
        response = await web.get("/")
    assert response.status_code == 500
    assert "that is our fault" in Page(response.text).text
    assert "hunter2" not in response.text
    assert "default-src 'none'" in response.headers["content-security-policy"]


# -- static files


async def test_static_files_are_kept_by_browsers(web: httpx2.AsyncClient) -> None:
    page = await get(web, "/")
    sheet = page.attribute("link", "href", rel="stylesheet")
    assert sheet is not None
    first = await web.get(sheet)
    assert first.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert first.headers["content-type"].startswith("text/css")
    again = await web.get(sheet, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert (await web.get("/static/style.css")).headers["cache-control"] == "no-cache"


def test_the_sheet_serves_dark_rooms_and_needs_nobody_else() -> None:
    sheet = (STATIC / "style.css").read_text(encoding="utf-8")
    assert "color-scheme: light dark" in sheet
    assert "url(" not in sheet
    assert "@import" not in sheet


def test_the_sheet_knows_every_class_that_the_templates_use() -> None:
    templates = (STATIC.parent / "templates").rglob("*.html")
    used = {
        word
        for path in templates
        for group in re.findall(r'class="([^"]*)"', path.read_text(encoding="utf-8"))
        for word in re.sub(r"{{.*?}}|{%.*?%}", " ", group).split()
    }
    known = set(re.findall(r"\.([a-z][\w-]*)", (STATIC / "style.css").read_text(encoding="utf-8")))
    for script in STATIC.glob("*.js"):  # a class may be a script's handle
        known |= set(re.findall(r"[.\"' ]([a-z][\w-]*)", script.read_text(encoding="utf-8")))
    assert used - known == set()
