"""Looking for games: every filter against the games themselves, paging both ways, and what makes no sense."""

from __future__ import annotations

from urllib.parse import urlencode, urljoin

import httpx2
import pytest
from support.web.past import BOTS, FRESH, NOW
from web.test_pages import Page, get, web  # noqa: F401

from cgos_protocol.api.games import Game
from cgos_server.presentation.words import day
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History


def numbers(page: Page) -> list[int]:
    """The games in the table."""
    return [int(row[0]) for row in page.rows if row and row[0].isdigit()]


async def walk(web: httpx2.AsyncClient, path: str, rel: str = "next") -> list[list[int]]:  # noqa: F811
    """The games of all pages from this one on."""
    pages: list[list[int]] = []
    following: str | None = path
    while following is not None:
        page = await get(web, following)
        pages.append(numbers(page))
        link = page.attribute("a", "href", rel=rel)
        following = urljoin(path, link) if link else None
    return pages


YESTERDAY = day(NOW - 86_400_000)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({"venue": "13x13"}, lambda game: game.venue == "13x13"),
        ({"bot": "amigo"}, lambda game: "amigo" in (game.black, game.white)),
        (
            {"bot": "amigo", "opponent": "Tengen.bot"},
            lambda game: {"amigo", "Tengen.bot"} == {game.black, game.white},
        ),
        ({"opponent": "amigo"}, lambda game: "amigo" in (game.black, game.white)),
        ({"reason": "time"}, lambda game: game.reason == "time"),
        ({"reason": "illegal move", "bot": "amigo"}, lambda game: game.reason == "illegal move" and
            "amigo" in (game.black, game.white)),
        ({"result": "B"}, lambda game: (game.result or "").startswith("B+")),
        ({"result": "none"}, lambda game: game.result in ("Abort", "Void")),
        ({"running": "yes"}, lambda game: game.result is None),
        ({"running": "no"}, lambda game: game.result is not None),
        ({"min_moves": "60", "max_moves": "90"}, lambda game: game.result is not None and 60 <= game.moves <= 90),
        ({"since": YESTERDAY, "until": YESTERDAY}, lambda game: day(game.started_at) == YESTERDAY),
        ({"venue": "", "bot": " ", "reason": ""}, lambda game: game.id > 0),
    ],
)  # fmt: skip
async def test_a_filter_shows_what_it_says(web: httpx2.AsyncClient, history: History, query, wanted) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    every: list[Game] = await history.games.find(GameFilter(), 1000)
    expected = [game.id for game in every if wanted(game)]
    assert expected
    pages = await walk(web, f"/games?{urlencode(query)}")
    assert [game for page in pages for game in page] == expected


async def test_paging_forth_and_back_shows_the_same(web: httpx2.AsyncClient) -> None:  # noqa: F811
    forth = await walk(web, "/games")
    assert [game for page in forth for game in page] == list(range(FRESH, 0, -1))
    back = await walk(web, f"/games?before={forth[-1][0] + 1}", rel="prev")
    assert sorted(game for page in back for game in page) == list(range(1, FRESH + 1))
    assert all(page == sorted(page, reverse=True) for page in back)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("venue=8x8", "There is no venue '8x8'. The venues are 9x9, 13x13, 19x19."),
        ("bot=nobody", "There is no bot of this name (nobody)."),
        ("bot=amigo&opponent=%3Cb%3E", "There is no bot of this name (amigo or <b>)."),
        ("reason=boredom", "No game ends by 'boredom'. Choose from: score,"),
        ("result=X", "No result is called 'X'."),
        ("since=31.1.2026", "'31.1.2026' is no date. Dates are written as 2026-01-31."),
        ("until=2026-02-30", "'2026-02-30' is no date."),
        ("min_moves=-3", "The fewest moves should be a whole number"),
        ("max_moves=many", "The most moves should be a whole number"),
        ("running=perhaps", "Running is yes or no."),
        ("before=x", "A page of games begins before or after the number of a game."),
    ],
)
async def test_what_makes_no_sense_is_said_and_can_be_put_right(
    web: httpx2.AsyncClient,  # noqa: F811
    query: str,
    sentence: str,
) -> None:
    page = await get(web, f"/games?{query}", 400)
    assert sentence in page.text
    assert page.attribute("form", "method") == "get"
    assert numbers(page) == []


async def test_nothing_found_says_what_was_looked_for(web: httpx2.AsyncClient) -> None:  # noqa: F811
    page = await get(web, "/games?bot=amigo&reason=forfeit&min_moves=10")
    assert "There are no games of amigo that ended by forfeit of 10 moves and more." in page.text
    assert "There are no further games" in (await get(web, "/games?before=1")).text


async def test_the_form_remembers_what_was_asked(web: httpx2.AsyncClient) -> None:  # noqa: F811
    page = await get(web, "/games?bot=amigo&result=W&min_moves=5&since=2026-01-01")
    assert page.attribute("input", "value", name="bot") == "amigo"
    assert page.attribute("input", "value", name="min_moves") == "5"
    assert page.attribute("input", "value", name="since") == "2026-01-01"
    assert page.attribute("option", "selected", value="W") is None  # there without a value
    assert ("option", {"value": "W", "selected": None}) in page.tags


async def test_a_bots_own_results_are_told_from_its_side(web: httpx2.AsyncClient, history: History) -> None:  # noqa: F811
    page = await get(web, f"/games?bot={BOTS[0]}&running=no")
    for row in page.rows[1:]:
        game = await history.games.detail(int(row[0]))
        if game.winner is not None:
            won = (game.winner == "black") == (game.game.black == BOTS[0])
            assert row[4].split()[-1] == ("won" if won else "lost")
