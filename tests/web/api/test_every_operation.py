"""Every route of the API has a handler, is on the page of documentation, and is asked for here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.web.past import BOTS, ENDED, NOW

from cgos_protocol.api.messages import Problem
from cgos_protocol.api.route import JSON, LARGEST, PREFIX, PROBLEM, Limit, Needs, Operation, Param
from cgos_protocol.options import Choice, Number
from cgos_server.presentation import words
from cgos_server.presentation.settings import VenueSettings, WebSettings
from cgos_server.storage.reading.bulk import ROWS_AT_ONCE
from cgos_server.storage.reading.history import History
from cgos_server.web.api import openapi
from cgos_server.web.api.addresses import handlers
from cgos_server.web.api.operations import BY_ID, ROUTES
from cgos_server.web.application import Application, create_app
from cgos_server.web.live.hub import Hub
from cgos_server.web.site import Site

SETTINGS = WebSettings(
    server_name="Riverside <Go> & Co",
    venues={"9x9": VenueSettings(port=6809), "13x13": VenueSettings(port=6813), "19x19": VenueSettings(port=6819)},
)

ASKED = {
    "index": "",
    "openapi": "/openapi.json",
    "status": "/status",
    "venues": "/venues",
    "venue": "/venues/9x9",
    "standings": "/venues/9x9/standings",
    "crosstable": "/venues/9x9/crosstable?top=4",
    "pair": "/venues/9x9/pairs/amigo/Kogo_mcts",
    "ledger": "/venues/9x9/ledger?after=70",
    "metrics": "/venues/9x9/metrics",
    "rounds": "/venues/9x9/rounds?limit=3",
    "bots": "/bots?limit=2",
    "bot": "/bots/amigo",
    "version": "/versions/amigo",
    "history": "/versions/amigo/history?limit=3",
    "ranks": "/versions/amigo/ranks?limit=3",
    "opponents": "/versions/amigo/opponents",
    "figures": "/versions/amigo/figures",
    "games": "/games?bot=amigo",
    "game": "/games/1",
    "game_sgf": "/games/1.sgf",
    "moves": "/games/1/moves",
    "pairing": "/games/1/pairing",
    "round": "/rounds/1",
    "events": "/events",
    "event": "/events/Autumn",
    "event_standings": "/events/Autumn/standings",
    "event_crosstable": "/events/Autumn/crosstable",
    "event_rounds": "/events/Autumn/rounds",
    "event_round": "/events/Autumn/rounds/1",
    "event_games": "/events/Autumn/games",
    "event_forecast": "/events/Autumn/forecast",
    "event_log": "/events/Autumn/log?limit=5",
    "event_export_json": "/events/Autumn/export.json",
    "event_export_trf": "/events/Autumn/export.trf?edition=trf-2026",
    "event_export_csv": "/events/Autumn/export.csv",
    "event_export_text": "/events/Autumn/export.txt",
    "bot_events": "/bots/gnugo-3.8-L1/events",
    "questions": "/questions?bot=Sakura-5k",
    "question": "/questions/1",
    "question_games": "/questions/1/games",
    "question_text": "/questions/1/text",
    "live": "/live",
    "game_live": "/games/1/live",
    "export_games_ndjson": "/export/games.ndjson?bot=amigo",
    "export_games_csv": "/export/games.csv?bot=amigo",
    "export_games_tar": "/export/games.tar?bot=amigo",
    "export_games_sgf": "/export/events/Autumn/games.sgf",
    "export_games_zip": "/export/events/Autumn/games.zip",
    "export_ratings_ndjson": "/export/venues/9x9/ratings.ndjson",
    "export_ratings_csv": "/export/venues/9x9/ratings.csv",
    "export_refits_ndjson": "/export/venues/9x9/refits.ndjson",
    "export_ranks_ndjson": "/export/venues/9x9/ranks.ndjson",
    "export_ranks_csv": "/export/venues/9x9/ranks.csv",
    "export_ledger_ndjson": "/export/venues/9x9/ledger.ndjson",
    "export_ledger_csv": "/export/venues/9x9/ledger.csv",
}
"""What anybody may read -> what is asked. What needs a token is asked without one; with one, where it is made."""

ENDLESS = ("live",)
"""Asked for their head alone."""


def site(history: History) -> Site:
    return Site(history, SETTINGS, "x", lambda: NOW, Hub(history, SETTINGS, lambda: NOW))


def app(history: History) -> Application:
    return create_app(history, SETTINGS, lambda: NOW)


@pytest.fixture
async def web(history: History) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app(history), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://go.example.org:8080") as opened:
        yield opened


def test_every_operation_has_a_handler_and_every_handler_an_operation(history: History) -> None:
    assert set(handlers(site(history))) == set(BY_ID)


def test_everything_that_anybody_may_read_is_asked_here() -> None:
    assert set(ASKED) == {route.id for route in ROUTES if route.needs is Needs.NOTHING and route.reads}


def typed(operation: Operation, answer: bytes) -> Any:
    """The answer as one of the operation's types, which is to be what it says: encoded again it is the same."""
    problems = []
    for kind in openapi.answers(operation):
        try:
            decoded_answer = msgspec.json.decode(answer, type=kind)
        except msgspec.ValidationError as error:
            problems.append(error)
            continue
        assert msgspec.json.decode(msgspec.json.encode(decoded_answer)) == msgspec.json.decode(answer)
        return decoded_answer
    raise AssertionError(problems)


@pytest.mark.parametrize(
    "operation", [BY_ID[name] for name in ASKED if name not in ENDLESS], ids=lambda operation: operation.id
)
async def test_answers_are_of_their_type(web: httpx2.AsyncClient, operation: Operation) -> None:
    response = await web.get(PREFIX + ASKED[operation.id])
    assert response.status_code == operation.status, response.text
    kind = response.headers["content-type"].partition(";")[0]
    assert kind in operation.media
    assert response.headers["access-control-allow-origin"] == "*"
    no_refits = ("export_refits_ndjson", "export_ranks_ndjson")
    assert response.content or operation.id in no_refits, "only that past has no refits"
    if kind == JSON:
        typed(operation, response.content)
    if operation.limit is Limit.BULK and operation.answer is not None:
        for line in response.text.splitlines():
            typed(operation, line.encode())


@pytest.mark.parametrize("operation", [BY_ID[name] for name in ASKED], ids=lambda operation: operation.id)
async def test_a_head_is_the_answer_without_its_body(web: httpx2.AsyncClient, operation: Operation) -> None:
    async with asyncio.timeout(20):
        response = await web.head(PREFIX + ASKED[operation.id])
    assert response.status_code == operation.status
    assert response.content == b""
    assert response.headers["content-type"].partition(";")[0] in operation.media
    if not operation.streams:
        whole = await web.get(PREFIX + ASKED[operation.id])
        assert response.headers.get("etag") == whole.headers.get("etag")


@pytest.mark.parametrize(
    "operation", [route for route in ROUTES if route.needs is not Needs.NOTHING], ids=lambda operation: operation.id
)
async def test_what_needs_a_token_asks_for_one(web: httpx2.AsyncClient, operation: Operation) -> None:
    path = operation.path
    for param in operation.in_path:
        option = param.option
        value = "1" if isinstance(option, Number) else "admin" if isinstance(option, Choice) else "amigo"
        path = path.replace(f"{{{param.name}}}", value)
    response = await web.request(operation.method, PREFIX + path)
    assert response.status_code == 401
    assert response.headers["content-type"] == PROBLEM
    assert response.headers["www-authenticate"] == "Bearer"
    assert "access-control-allow-origin" not in response.headers
    assert msgspec.json.decode(response.content, type=Problem).code == "no-token"


NUMBERS = [
    (operation, param)
    for operation in (BY_ID[name] for name in ASKED if name not in ENDLESS)
    for param in (*operation.in_path, *operation.query)
    if isinstance(param.option, Number)
]
"""Every number that anybody may give."""
MAY_REFUSE = {"event_forecast": (422, 429)}
"""An event that runs has its entrants, and not everything is rehearsed as often as somebody likes."""
EDGES = (LARGEST - 1, LARGEST, LARGEST + 1, 2**63 - ROWS_AT_ONCE, 2**63 - 3, 2**63 - 1, 2**63, 2**64, 10**40)


@pytest.mark.parametrize(("operation", "param"), NUMBERS, ids=lambda case: getattr(case, "id", None) or case.name)
def test_numbers_beyond_what_a_database_holds_are_answered(database: Path, operation: Operation, param: Param) -> None:
    """To the last byte: an answer that has begun can only break off."""
    with asyncio.Runner() as runner:
        history = History(database)
        opened = httpx2.AsyncClient(transport=httpx2.ASGITransport(app(history)), base_url="http://x")

        @settings(max_examples=12, derandomize=True, deadline=None)
        @given(st.sampled_from(EDGES) | st.integers(0, 2**65))
        def ask(number: int) -> None:
            path, _, query = (PREFIX + ASKED[operation.id]).partition("?")
            parameters = dict(part.split("=") for part in query.split("&") if part)
            if param in operation.query:
                parameters |= {param.name: str(number)}
            else:
                path = PREFIX + operation.path.replace(f"{{{param.name}}}", str(number))
            response = runner.run(opened.get(path, params=parameters))
            assert isinstance(param.option, Number)
            in_range = param.option.least <= number <= param.option.most
            refused = MAY_REFUSE.get(operation.id, ())
            assert response.status_code in ((200, 404, *refused) if in_range else (400,))

        ask()
        runner.run(opened.aclose())
        runner.run(history.close())


PAGES_WITH_NUMBERS = (
    *("/venue/9x9?as_of={}", "/venue/9x9?page={}", "/venue/9x9/crosstable?top={}", "/venue/9x9/rounds?before={}"),
    *("/games?before={}", "/games?after={}", "/games?min_moves={}", "/games?max_moves={}", "/game/{}", "/game/{}.sgf"),
    *("/game/1?ply={}", "/game/1/said?from={}", "/game/{}/pairing", "/round/{}", "/embed/game/{}", "/og/game/{}.png"),
    *("/bot/amigo?before={}", "/venue/9x9?show={}"),
)


@pytest.mark.parametrize("address", PAGES_WITH_NUMBERS)
async def test_pages_answer_such_numbers_too(history: History, address: str) -> None:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app(history)), base_url="http://x") as opened:
        for number in EDGES:
            assert (await opened.get(address.format(number))).status_code in (200, 400, 404), number


# -- the page of documentation


class Ids(HTMLParser):
    """Collects ids, targets of links, and tags; checks that tags close in order."""

    VOID = ("meta", "link", "br", "img", "input")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            assert name != "style"
            if name == "id":
                self.ids.append(str(value))
            if name == "href" and str(value).startswith("#"):
                self.targets.append(str(value)[1:])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


async def test_every_operation_is_documented_with_an_example_for_this_server(web: httpx2.AsyncClient) -> None:
    response = await web.get("/docs/api")
    assert response.status_code == 200
    page = Ids(response.text)
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.targets) <= set(page.ids)
    for operation in ROUTES:
        assert operation.id in page.ids
        section = response.text.split(f'id="{operation.id}"')[1].split("</section>")[0]
        assert PREFIX + operation.path in section
        assert "http://go.example.org:8080/api/v1" in section
        assert all(f"<code>{param.name}</code>" in section for param in operation.query)
    for name in ("Problem", "Standings", "GameDetail", "LiveMove"):
        assert f"type-{name}" in page.ids
    assert "Riverside &lt;Go&gt; &amp; Co" in response.text
    assert "<Go>" not in response.text


# -- what answers say


async def get(web: httpx2.AsyncClient, path: str) -> Any:
    response = await web.get(PREFIX + path)
    assert response.status_code == 200, response.text
    return response.json()


async def test_standings_are_those_of_the_database(web: httpx2.AsyncClient, history: History) -> None:
    standings = await get(web, "/venues/9x9/standings")
    rows = await history.ratings.standings("9x9", "cgos-elo")
    assert [(line["rank"], line["version"], line["mean"]) for line in standings["items"]] == [
        (rank, row.version, row.mean) for rank, row in enumerate(rows, 1)
    ]
    assert standings["system"] == "cgos-elo"
    earlier = await get(web, "/venues/9x9/standings?as_of=20")
    assert earlier["seq"] == 20
    at = (await history.ledger.named("9x9", 19, 1))[0].at
    assert (await get(web, f"/venues/9x9/standings?at={at}"))["items"] == earlier["items"]
    assert earlier["items"] != standings["items"]
    last = await history.ledger.last_entry("9x9")
    at = (await history.ledger.named("9x9", last - 1, 1))[0].at
    day, midnight = words.day(at), at - at % 86_400_000
    assert (await get(web, f"/venues/9x9/standings?on={day}"))["seq"] == last
    before = words.day(midnight - 1)
    assert (await get(web, f"/venues/9x9/standings?on={before}"))["seq"] == await history.ledger.entry_at(
        "9x9", midnight - 1
    )
    assert len((await get(web, "/venues/9x9/standings?limit=2"))["items"]) == 2


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/venues/nowhere", 404, "no-venue"),
        ("/venues/9x9/standings?system=whist", 404, "no-system"),
        ("/venues/9x9/standings?as_of=77000", 404, "no-entry"),
        ("/venues/9x9/standings?as_of=7&at=0", 400, "invalid"),
        ("/venues/9x9/standings?as_of=7&on=2026-01-31", 400, "invalid"),
        ("/venues/9x9/standings?on=yesterday", 400, "invalid"),
        ("/venues/9x9/pairs/amigo/amigo", 400, "invalid"),
        ("/versions/Nobody/history", 404, "no-version"),
        ("/bots/Nobody", 404, "no-bot"),
        ("/games/4711", 404, "no-game"),
        ("/rounds/4711", 404, "no-round"),
        ("/events/Nothing", 404, "no-event"),
        ("/events/Autumn/rounds/4711", 404, "no-round"),
        ("/events?venue=nowhere", 404, "no-venue"),
        ("/questions/4711", 404, "no-question"),
        ("/questions/4711/games", 404, "no-question"),
        ("/questions/4711/text", 404, "no-question"),
        ("/questions?venue=nowhere", 404, "no-venue"),
        ("/questions?owner=Nobody", 404, "no-account"),
        ("/questions?bot=Nobody", 404, "no-bot"),
        ("/questions?state=merry", 400, "invalid"),
        ("/games?event=Nothing", 404, "no-event"),
        ("/bots/Nobody/events", 404, "no-bot"),
        ("/versions/Sakura-5k/history?venue=9x9&points=9&after=1.0", 400, "invalid"),
        ("/versions/Sakura-5k/history", 400, "invalid"),
        ("/versions/Sakura-5k/history?venue=9x9&after=x", 400, "invalid"),
    ],
)
async def test_what_is_not_there_is_said_so(web: httpx2.AsyncClient, path: str, status: int, code: str) -> None:
    response = await web.get(PREFIX + path)
    problem = msgspec.json.decode(response.content, type=Problem)
    assert (response.status_code, problem.status, problem.code) == (status, status, code)
    assert response.headers["content-type"] == PROBLEM
    assert problem.detail.endswith(".")


@pytest.mark.parametrize("moment", [1_790_000_000, 1_790_000_000_000_000], ids=["seconds", "microseconds"])
@pytest.mark.parametrize(
    "path", ["/venues/9x9/standings?at=", "/games?since=", "/games?until=", "/export/games.ndjson?since="]
)
async def test_a_moment_in_another_unit_is_refused(web: httpx2.AsyncClient, path: str, moment: int) -> None:
    problem = (await web.get(f"{PREFIX}{path}{moment}")).json()
    assert (problem["status"], problem["parameter"]) == (400, path.rpartition("?")[2].removesuffix("="))
    assert "must be a Unix time in milliseconds" in problem["detail"]
    for possible in (0, 1_790_000_000_000):
        assert (await web.get(f"{PREFIX}{path}{possible}")).status_code == 200


async def test_the_beginning_may_have_a_slash_behind_it(web: httpx2.AsyncClient) -> None:
    assert (await web.get(f"{PREFIX}/")).json()["server"] == (await web.get(PREFIX)).json()["server"]
    assert (await web.get(f"{PREFIX}/venues/")).status_code == 404


async def paged(web: httpx2.AsyncClient, path: str, cursor: str) -> list[Any]:
    """All items of a list, page by page."""
    items: list[Any] = []
    following: Any = None
    while True:
        more = "" if following is None else f"&{cursor}={following}"
        page = await get(web, f"{path}{more}")
        items += page["items"]
        following = page["next"]
        if following is None:
            return items


@pytest.mark.parametrize(
    ("path", "cursor", "all_of_them"),
    [
        ("/games?venue=9x9&limit=9", "before", "/games?venue=9x9&limit=500"),
        ("/games?bot=amigo&limit=4", "before", "/games?bot=amigo&limit=500"),
        ("/venues/9x9/rounds?limit=9", "before", "/venues/9x9/rounds?limit=200"),
        ("/venues/9x9/ledger?limit=11", "after", "/venues/9x9/ledger?limit=1000"),
        ("/events/Autumn/log?limit=4", "after", "/events/Autumn/log?limit=1000"),
        ("/bots?limit=1", "after", "/bots?limit=1000"),
        ("/versions/amigo/history?limit=4", "after", "/versions/amigo/history?limit=1000"),
    ],
)
async def test_pages_together_are_the_list(web: httpx2.AsyncClient, path: str, cursor: str, all_of_them: str) -> None:
    whole = await get(web, all_of_them)
    assert whole["next"] is None
    assert len(whole["items"]) > 4
    assert await paged(web, path, cursor) == whole["items"]


async def test_moves_come_with_clocks_and_what_was_said(web: httpx2.AsyncClient, history: History) -> None:
    detail = await history.games.detail(1)
    body = await get(web, "/games/1/moves")
    assert [(move["ply"], move["move"], move["main_us"]) for move in body["items"]] == [
        (row.ply, row.move, row.main_us) for row in detail.moves
    ]
    assert body["items"][4]["analysis"] == {"comment": "winrate <b>0.51</b>"}
    assert [move["color"] for move in body["items"][:3]] == ["black", "white", "black"]
    assert (await get(web, "/games/1/moves?after=7"))["items"] == body["items"][7:]


async def test_the_two_sides_of_a_pair_mirror_each_other(web: httpx2.AsyncClient) -> None:
    record = (await get(web, "/venues/9x9/pairs/amigo/Kogo_mcts"))["record"]
    other = (await get(web, "/venues/9x9/pairs/Kogo_mcts/amigo"))["record"]
    assert record["games"] == other["games"] == record["wins"] + record["losses"] + record["draws"] + record["none"]
    assert (record["wins_as_black"], record["wins_as_white"]) == (other["losses_as_white"], other["losses_as_black"])
    assert (record["wins"], record["losses"]) == (other["losses"], other["wins"])
    table = await get(web, "/venues/9x9/crosstable?versions=amigo,Kogo_mcts")
    assert table["pairs"] == [record]


async def test_the_whole_candidate_picture(web: httpx2.AsyncClient) -> None:
    explanation = await get(web, "/games/1/pairing")
    assert explanation["game"]["game"] == 1
    assert explanation["replay"]["sentence"]
    assert (await get(web, "/rounds/1"))["game"] is None


async def test_a_game_that_was_stopped(web: httpx2.AsyncClient) -> None:
    detail = await get(web, f"/games/{ENDED}")
    assert detail["game"]["reason"] == "abort"
    assert detail["ratings"] == []
    assert detail["winner"] is None
    assert detail["game"]["black"] in BOTS


async def test_a_running_game_of_a_venue_with_delay_shows_old_moves_only(history: History) -> None:
    late = WebSettings(venues={"9x9": VenueSettings(port=6809, delay_s=150.0)})
    transport = httpx2.ASGITransport(create_app(history, late, lambda: NOW))
    async with httpx2.AsyncClient(transport=transport, base_url="http://x") as web:
        body = await get(web, "/games/71/moves")
    everything = (await history.games.detail(71)).moves
    assert body["items"]
    assert len(body["items"]) < len(everything)
    assert all(move["at"] <= NOW - 150_000 for move in body["items"])


async def test_a_new_server_has_empty_answers(empty_history: History) -> None:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app(empty_history)), base_url="http://x") as web:
        assert (await get(web, "/venues"))["items"] == []
        assert (await get(web, "/games"))["items"] == []
        assert (await get(web, "/bots"))["items"] == []
        status = await get(web, "/status")
    assert (status["live"], status["bots"], status["playing"]) == (False, 0, None)
