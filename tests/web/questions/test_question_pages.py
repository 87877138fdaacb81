"""Pages of questions: what stands on them, where their links lead, and that they are sound and safe."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace
from typing import Any
from urllib.parse import urljoin

import httpx2
import pytest
from support.web.questions import ACCEPTED, CALLED, EMPTY, OPEN, PLACED, REJECTED
from web.test_pages import assert_harmless, get

from cgos_server.presentation.questions.paste import NO_ESTIMATE
from cgos_server.presentation.questions.record import QuestionRecord
from cgos_server.web.questions.question_page import GAMES, faults

NUMBERS = (OPEN, ACCEPTED, REJECTED, PLACED, CALLED, EMPTY)
PAGES = (
    "/questions",
    "/questions?venue=9x9&bot=Kogo_mcts&state=open",
    "/questions?before=3",
    *(f"/questions/{number}" for number in NUMBERS),
    f"/questions/{ACCEPTED}?page=2",
    f"/game/{1000 + 100 * OPEN}",
    "/bot/Kogo_mcts",
)


async def test_every_page_is_sound_and_safe(web: httpx2.AsyncClient) -> None:
    for path in PAGES:
        page = await get(web, path)
        assert_harmless(page)
        assert sum(tag == "h1" for tag, _ in page.tags) == 1, path
        levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
        assert all(lower <= upper + 1 for upper, lower in itertools.pairwise(levels)), f"{path} leaves out a level"
        identities = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
        assert len(identities) == len(set(identities)), path
        assert all("id" in attributes for _, attributes in page.tags if "data-live" in attributes), path


async def test_every_link_leads_somewhere(web: httpx2.AsyncClient) -> None:
    links = {urljoin(path, link.split("#")[0]) for path in PAGES[:6] for link in (await get(web, path)).links()}
    for link in links:
        assert (await web.get(link)).status_code == (303 if link.startswith("/account") else 200), link


async def test_the_list_has_what_goes_on_before_what_has_ended(web: httpx2.AsyncClient) -> None:
    page = await get(web, "/questions")
    rows = [row for row in page.rows if row[0].isdigit()]
    assert [int(row[0]) for row in rows] == [EMPTY, OPEN, CALLED, PLACED, REJECTED, ACCEPTED]
    assert [row[4] for row in rows] == ["goes on", "goes on", "stopped", "answered", "rejected", "accepted"]
    assert rows[1][1] == "Is Kogo_mcts stronger than gnugo-3.8-L1?"
    assert "Whoever owns a bot here can ask" in page.text


FOUND = {
    "state=rejected": [REJECTED],
    "bot=amigo": [PLACED],
    "bot=Sakura-5k": [EMPTY, CALLED, PLACED],
    "bot=Sakura-5k&state=open": [EMPTY],
    "venue=19x19": [],
    "before=3": [ACCEPTED, OPEN],
}
"""What is asked for -> what is found."""


async def test_questions_are_found(web: httpx2.AsyncClient) -> None:
    for query, numbers in FOUND.items():
        page = await get(web, f"/questions?{query}")
        assert sorted(int(row[0]) for row in page.rows if row[0].isdigit()) == sorted(numbers), query
        assert ("There are no such questions." in page.text) == (not numbers)


async def test_what_is_not_there_is_said(web: httpx2.AsyncClient) -> None:
    for query in ("bot=nobody", "owner=nobody", "venue=nowhere"):
        assert_harmless(await get(web, f"/questions?{query}", 404))
    for query in ("state=odd", "before=x"):
        assert_harmless(await get(web, f"/questions?{query}", 400))
    for number in ("99", "99999999999999999999", "x", "-1"):
        await get(web, f"/questions/{number}", 404)


async def test_a_test_that_goes_on_shows_its_ratio_and_what_is_left(web: httpx2.AsyncClient) -> None:
    text = (await web.get(f"/questions/{OPEN}")).text
    drawn = [ET.fromstring(each) for each in re.findall(r'<svg class="picture".*?</svg>', text, re.DOTALL)]
    labels = [each.get("aria-label") or "" for each in drawn]
    assert [label.split(".")[0] for label in labels] == ["Log-likelihood ratio", "Pairs by points"]
    assert "After 5 pairs" in labels[0]
    assert "0 of 0, 1 of ½, 2 of 1, 1 of 1½, 1 of 2" in labels[1]
    page = await get(web, f"/questions/{OPEN}")
    assert "1 pair repeated an earlier one move by move and counts for nothing." in page.text
    assert "left, on average" in page.text
    assert f"{NO_ESTIMATE.capitalize()}." in page.text
    assert "What decides: its own games" in page.text
    assert 'http-equiv="refresh"' in text
    assert next(row[0] for row in page.rows if row[-1] == "" and row[0].isdigit()) == "7", "the latest pair first"
    assert "running" in page.text


async def test_a_question_that_has_ended_stands_still(web: httpx2.AsyncClient) -> None:
    text = (await web.get(f"/questions/{ACCEPTED}")).text
    assert 'http-equiv="refresh"' not in text
    assert "Accepted: " in text
    assert "median-unbiased" in text


async def test_what_the_ladder_knows_stands_beside_what_decides(
    web: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Beside it" not in (await get(web, f"/questions/{OPEN}")).text
    monkeypatch.setattr(QuestionRecord, "superiority", lambda _record, _strengths: 0.931)
    text = (await get(web, f"/questions/{OPEN}")).text
    assert text.index("What decides") < text.index("Beside it: all that the ladder knows")
    assert "with a probability of 93 % (Bayesian)" in text
    assert "It decides nothing." in text


async def test_games_come_in_portions(web: httpx2.AsyncClient) -> None:
    first, second = [await get(web, f"/questions/{ACCEPTED}?page={page}") for page in (1, 2)]
    pairs = [[int(row[0]) for row in page.rows if row[0].isdigit()] for page in (first, second)]
    assert [len(each) for each in pairs] == [GAMES, 4]
    assert (together := [*pairs[0], *pairs[1]]) == sorted(together, reverse=True)


def test_faults_are_said_of_whose_they_are() -> None:
    known: Any = SimpleNamespace(
        version="B-2",
        against=["B-1"],
        answer=SimpleNamespace(faults={"time": (2, 1), "illegal move": (0, 1), "forfeit": (1, 0)}),
    )
    assert faults(known) == [
        "B-2 lost 2 games on time.",
        "B-1 lost 1 game on time.",
        "B-1 lost 1 game by an illegal move.",
        "B-2 lost 1 game by forfeit.",
    ]
    known.against = []
    assert "Its opponents lost 1 game on time." in faults(known)


async def test_six_lines_and_a_badge_are_ready_to_copy(web: httpx2.AsyncClient) -> None:
    page = await get(web, f"/questions/{ACCEPTED}")
    lines = (await web.get(f"/api/v1/questions/{ACCEPTED}/text")).text
    assert len(lines.splitlines()) == 6
    assert " ".join(lines.split()) in " ".join(page.text.split())
    base = "http://go.example.org:8080"
    assert f"({base}/questions/{ACCEPTED}/badge.svg)]({base}/questions/{ACCEPTED})" in page.text


BADGES = {
    OPEN: r"Kogo_mcts against gnugo-3.8-L1: LLR -?\d\.\d\d, goes on",
    ACCEPTED: r"Kogo_mcts against gnugo-3.8-L1: accepted, \d+\.\d.* Elo",
    REJECTED: r"Kogo_mcts against gnugo-3.8-L1: rejected, .* Elo",
    PLACED: r"Sakura-5k among 2 others: answered",  # of five pairs
    CALLED: r"Sakura-5k against whoever accepts: won 4, drew 2, lost 2 of 8",
}
"""What the badge of a question says."""


async def test_badges(web: httpx2.AsyncClient) -> None:
    for number, words in BADGES.items():
        answer = await web.get(f"/questions/{number}/badge.svg")
        assert re.fullmatch(words, ET.fromstring(answer.text).get("aria-label") or ""), answer.text
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert (await web.get("/questions/99/badge.svg")).status_code == 404
    assert (await web.get(f"/questions/{OPEN}/badge.svg?style=odd")).status_code == 400


async def test_a_gauntlet_and_an_open_challenge_show_each_opponent(web: httpx2.AsyncClient) -> None:
    placed = await get(web, f"/questions/{PLACED}")
    assert [row[:5] for row in placed.rows if row[0] in ("gnugo-3.8-L1", "amigo")] == [
        ["gnugo-3.8-L1", "1900", "4", "0", "2"],
        ["amigo", "1700", "2", "1", "1"],
    ]
    called = await get(web, f"/questions/{CALLED}")
    assert ["Tengen.bot", "2", "0", "2"] in called.rows
    assert ["random-walk", "2", "2", "0"] in called.rows


async def test_a_game_says_for_which_question_it_was_played(web: httpx2.AsyncClient) -> None:
    page = await get(web, f"/game/{1000 + 100 * OPEN + 2}")
    assert page.attribute("a", "href", href=f"/questions/{OPEN}")
    assert "question 1, pair 2" in " ".join(page.text.split())
    assert "Played for" not in (await get(web, "/game/1")).text


async def test_the_feed_tells_what_was_asked_and_how_it_ended(web: httpx2.AsyncClient) -> None:
    answer = await web.get("/questions.atom")
    titles = [each.text for each in ET.fromstring(answer.text).iter("{http://www.w3.org/2005/Atom}title")]
    assert "Asked: Is Kogo_mcts stronger than gnugo-3.8-L1?" in titles
    assert "Rejected: Is Kogo_mcts stronger than gnugo-3.8-L1?" in titles
    assert len(titles) == 1 + 6 + 4
