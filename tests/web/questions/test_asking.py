"""Asking by the forms of the pages, on a whole server without its live part; and what is shown of what is live."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.service.question_desk import QuestionNotes
from web.people.conftest import Clock, House
from web.test_pages import Page

from cgos_protocol.api.questions import QuestionCost, QuestionNow
from cgos_protocol.errors import Code, Unavailable
from cgos_protocol.ids import QuestionId
from cgos_server.core.questions.asked import Challenge, Test
from cgos_server.service.questions.managing import QuestionLook
from cgos_server.web.questions.costs import Cost, cost_lines, costs_sentence, time_of
from cgos_server.web.questions.now import FRESH_MS, QuestionsNow

ASK = {"version": "Kogo_mcts", "against": "Kogo_mcts-2", "venue": "9x9", "lower": "0", "upper": "100", "scale": "nelo"}
MORE = {"alpha": "0.05", "beta": "0.05", "most_games": "4000", "priority": "-3"}


@pytest.fixture
def desk(house: House) -> QuestionNotes:
    desk = QuestionNotes()
    house.live.questions = desk  # type: ignore[attr-defined]
    return desk


async def owner(house: House) -> Any:
    return await house.signed_in("alice", owns="Kogo_mcts")


async def test_strangers_see_how_to_begin(house: House) -> None:
    text = (await house.browser().get("/questions")).text
    assert 'href="/sign-in?next=/questions"' in text
    assert 'name="deed"' not in text


async def test_without_a_bot_there_is_nothing_to_ask(house: House) -> None:
    browser = await house.signed_in("bob")
    text = (await browser.get("/questions")).text
    assert "You have no bot yet" in text
    assert 'value="ask test"' not in text


async def test_an_owner_finds_a_form_for_each_kind_with_its_own_bots(house: House) -> None:
    browser = await owner(house)
    text = (await browser.get("/questions?venue=13x13")).text
    page = Page(text)
    deeds = [attributes["value"] for tag, attributes in page.tags if tag == "input" and attributes.get("name") == "deed"]
    assert [deed for deed in deeds if str(deed).startswith("ask")] == ["ask test", "ask gauntlet", "ask challenge"]
    assert text.count('<details class="folded" name="ask" open>') == 1
    assert '<option value="Kogo_mcts" selected>Kogo_mcts</option>' in text
    assert '<option value="13x13" selected>13x13</option>' in text
    assert 'name="upper" value="50"' in text
    assert 'name="alpha" value="0.05"' in text
    assert 'name="most_games" value="20000"' in text


async def test_what_it_would_cost_is_said_before_it_is_asked(house: House, desk: QuestionNotes) -> None:
    browser = await owner(house)
    answer = await browser.send("/questions", "ask test", **ASK | MORE | {"against": "amigo", "dry": "yes"})
    assert answer.status_code == 422
    assert "amigo does not belong to you and has not agreed." in answer.text
    await house.admin.accounts  # noqa: B018
