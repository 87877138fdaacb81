"""The game page and the wall: what stands on them without any script."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from sgfmill.sgf import Sgf_game
from support.storage.rated_past import VOIDED
from support.web.past import NOW, RUNNING, Builder, write

from cgos_protocol.api.live import Analysis
from cgos_protocol.games.base import Color
from cgos_server.presentation import game_lines
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.presentation.stored_game import StoredGame
from cgos_server.storage import schema
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing.records import AnalysisAdded
from cgos_server.web.application import create_app
from cgos_server.web.pages.game import SAID_AT_ONCE

EVIL = '</pre><script>alert(1)</script>"onload="x'
DELAY_S = 150.0
"""Of the running game's 31 moves, made every two seconds until 118 s ago, some are older and some younger."""


@pytest.fixture(scope="module")
def analyzed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("analyzed") / "cgos.sqlite"
    schema.prepare(path)
    records = Builder().build()
    analysis = {
        "winrate": 0.75, "score": 4.5, "visits": 12345, "comment": EVIL, "ownership": "+" * 40 + "A" * 41,
        "moves": [{"move": "E5", "winrate": 0.8, "visits": 9000, "pv": "D4 C3"}, {"move": EVIL}],
    }  # fmt: skip
    records += [AnalysisAdded(RUNNING, ply, json.dumps(analysis)) for ply in (1, 2, 3, 4, 20)]
    asyncio.run(write(path, records))
    return path


@pytest.fixture
async def history(analyzed: Path) -> AsyncIterator[History]:
    async with History(analyzed) as opened:
        yield opened


def client(history: History, delay_s: float = 0.0, settings: WebSettings | None = None) -> httpx2.AsyncClient:
    settings = settings or WebSettings(venues={"9x9": VenueSettings(delay_s=delay_s), "13x13": VenueSettings()})
    transport = httpx2.ASGITransport(create_app(history, settings, lambda: NOW), raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://go.example.org")


@pytest.fixture
async def web(history: History) -> AsyncIterator[httpx2.AsyncClient]:
    async with client(history) as opened:
        yield opened


async def page(web: httpx2.AsyncClient, path: str) -> str:
    answer = await web.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


async def test_what_the_bot_thought_stands_beside_its_move(web: httpx2.AsyncClient) -> None:
    text = await page(web, f"/game/{RUNNING}?ply=3")
    assert "win rate 75.0 %, score +4.5, visits 12 345" in text
    assert '<td class="pv">D4 C3</td>' in text
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert" not in text
    nothing = await page(web, f"/game/{RUNNING}?ply=6")
    assert re.search(r'<section id="said"[^>]* hidden>', nothing)


async def test_figures_are_rounded_as_by_the_script(history: History) -> None:
    game = StoredGame(await history.games.detail(RUNNING))
    for winrate, score, shown in ((0.3125, 3.25, "31.3 %, score +3.3"), (0.5, -3.25, "50.0 %, score -3.3")):
        analysis_line = game_lines.said_with(game, 1, Analysis(winrate=winrate, score=score))
        assert analysis_line is not None
        assert analysis_line.figures.endswith(f"win rate {shown}")


async def test_the_board_shows_what_is_asked_for(web: httpx2.AsyncClient) -> None:
    plain = await page(web, f"/game/{RUNNING}?ply=2")
    assert 'class="proposal' in plain
    assert '<g class="numbers" font-size="15" text-anchor="middle" aria-hidden="true"></g>' in plain
    chosen = await page(web, f"/game/{RUNNING}?ply=2&shown=1&numbers=on&ownership=on")
    assert 'class="proposal best"' not in chosen
    assert re.search(r'<g class="owners" aria-hidden="true"><rect', chosen)
    assert chosen.count('class="b" x=') + chosen.count('class="b now" x=') >= 1


async def test_a_figure_alone_is_something_that_was_said(history: History, tmp_path: Path) -> None:
    """The script shows what was said with the moves that are marked, as the page does without it."""
    path = tmp_path / "cgos.sqlite"
    schema.prepare(path)
    await write(path, [*Builder().build(), AnalysisAdded(RUNNING, 2, '{"winrate":0.4}')])
    async with History(path) as other, client(other) as web:
        text = await page(web, f"/game/{RUNNING}?ply=2")
        assert "win rate 40.0 %" in text
        assert re.search(r'data-w="0.6" data-a><td class="n soft">2<', text)
        assert json.loads(await page(web, f"/game/{RUNNING}/said?from=2"))["2"] == {"winrate": 0.4}


async def test_a_corrected_game_says_what_it_counts_as(rated: History) -> None:
    detail = await rated.games.detail(VOIDED)
    assert detail.winner is not None
    async with client(rated) as web:
        text = await page(web, f"/game/{VOIDED}")
        victor = detail.game.black if detail.winner == "black" else detail.game.white
        assert f"{detail.game.result}</strong> {victor} won" in text
        assert "It counts as Void now." in text
        assert not re.search(r'class="player"><span class="disc ."></span><strong>', text), "nobody won"
        assert "It counts as Void now." in await page(web, f"/embed/game/{VOIDED}")
    settings = WebSettings(venues={"9x9": VenueSettings(rated=Rated(("cgos-elo", "bayes")))})
    async with client(rated, settings=settings) as web:
        assert 'data-system="cgos-elo"' in await page(web, "/game/1")


async def test_curves_are_of_both_sides_seen_from_black(web: httpx2.AsyncClient) -> None:
    text = await page(web, f"/game/{RUNNING}")
    assert 'data-w="0.75"' in text  # Black's
    assert 'data-w="0.25"' in text  # White's
    assert re.search(r'class="apart" d="M[\d.]', text)
    empty = await page(web, "/game/2")
    assert re.search(r'<div id="curves" hidden>', empty)


async def test_analyses_come_in_portions(web: httpx2.AsyncClient) -> None:
    analyses = json.loads(await page(web, f"/game/{RUNNING}/said?from=1"))
    assert sorted(analyses, key=int) == ["1", "2", "3", "4", "5"]
    assert analyses["1"]["moves"] == [{"move": "E5", "winrate": 0.8, "visits": 9000, "pv": ["D4", "C3"]}]
    assert analyses["1"]["comment"] == EVIL
    assert list(json.loads(await page(web, f"/game/{RUNNING}/said?from={1 + SAID_AT_ONCE}"))) == ["20"]
    assert json.loads(await page(web, f"/game/{RUNNING}/said?from=99999999999999999999")) == {}
    assert (await web.get(f"/game/{RUNNING}/said?from=x")).status_code == 400
    assert (await web.get("/game/999/said")).status_code == 404


async def test_positions_can_be_copied(web: httpx2.AsyncClient, history: History) -> None:
    text = await page(web, "/game/1?ply=20")
    gtp, diagram, sgf = (
        re.search(rf'<pre data-text="{kind}"[^>]*>(.*?)</pre>', text, re.DOTALL)[1]  # type: ignore[index]
        for kind in ("gtp", "diagram", "sgf")
    )
    game = StoredGame(await history.games.detail(1))
    position = game.position(20)
    assert gtp.splitlines()[:3] == ["boardsize 9", "clear_board", "komi 7"]
    assert [line.split()[2] for line in gtp.splitlines()[3:]] == [row.move for row in game.detail.moves[:20]]
    assert diagram.count("X") == sum(color is Color.BLACK for color in position.stones.values())
    assert diagram.count("O") == sum(color is Color.WHITE for color in position.stones.values())
    assert sgf.count("[") == 5 + len(position.stones)
    assert Sgf_game.from_string(sgf).get_size() == 9


async def test_young_moves_of_a_running_game_are_nowhere(history: History) -> None:
    moves = (await history.games.detail(RUNNING)).moves
    old = [row for row in moves if row.at <= NOW - 1000 * DELAY_S]
    assert 0 < len(old) < len(moves)
    async with client(history, DELAY_S) as web:
        text = await page(web, f"/game/{RUNNING}")
        assert f"Move {len(old)} of {len(old)}" in text
        assert "150 s after they were played" in text
        assert text.count('href="?ply=') == len(old)
        assert (await page(web, f"/game/{RUNNING}.sgf")).count(";") - 1 == len(old)
        assert list(json.loads(await page(web, f"/game/{RUNNING}/said?from=17"))) == []
        assert f"move {len(old)}<" in await page(web, "/wall")


async def test_the_wall_has_a_board_for_each_running_game(web: httpx2.AsyncClient) -> None:
    text = await page(web, "/wall")
    assert re.findall(r'<li data-game="(\d+)"', text) == ["72", "71"]
    assert text.count("<template ") == 3
    assert "move 31<" in text
    assert re.findall(r'<li data-game="(\d+)"', await page(web, "/wall?venue=13x13")) == ["72"]
    assert "Nothing is played" in await page(web, "/wall?venue=19x19")
    assert (await web.get("/wall?venue=nowhere")).status_code == 404


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/api/v1/games/1/live?since=2", "text/event-stream"),
        ("/api/v1/games/1/live?format=ndjson", "application/x-ndjson"),
    ],
)
async def test_an_ended_game_is_streamed_whole(web: httpx2.AsyncClient, history: History, path: str, kind: str) -> None:
    answer = await web.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].split(";")[0] == kind
    assert "content-encoding" not in answer.headers
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if "{" in line]
    messages = [json.loads(line) for line in lines]
    moves = (await history.games.detail(1)).moves
    assert [message["move"] for message in messages[:-1]] == [row.move for row in moves[2 if "since" in path else 0 :]]
    assert messages[-1]["event"] == "end"
    assert len(messages[-1]["ratings"]) == 2


async def test_a_returning_browser_goes_on_where_it_was(web: httpx2.AsyncClient, history: History) -> None:
    last = len((await history.games.detail(1)).moves)
    answer = await web.get("/api/v1/games/1/live?since=0", headers={"Last-Event-ID": str(last)})
    assert re.findall("event: (.*)", answer.text) == ["end"]


@pytest.mark.parametrize("path", ["/api/v1/games/999/live", "/api/v1/live?venue=nowhere"])
async def test_a_stream_of_nothing_is_refused_before_it_begins(web: httpx2.AsyncClient, path: str) -> None:
    answer = await web.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
